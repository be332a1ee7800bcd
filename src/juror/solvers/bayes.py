"""The Bayesian estimator: the mean of draws of λ and the factors under a prior whose strength is learned.

The kept draws of all chains (:mod:`juror.solvers.gibbs`) side by side, each with an equal share of the weight, are one
CPD: their mean, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.domain import Domain
from juror.errors import ParameterError, check_count
from juror.rows.distinct import WeightedRows
from juror.rows.drawn import RowsToDraw
from juror.rows.expected import log_prob_of_cells
from juror.rows.far import FarRows
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.solvers.gibbs import Sampler
from juror.solvers.mixing import Mixing, mixing
from juror.solvers.parameters import Parameters, side_by_side
from juror.solvers.solution import Context, Solution, check_search
from juror.solvers.starts import smoothed_marginals, smoothed_shares

# Log-probabilities of so many training rows are followed beside the likelihood
_PROBES = 5
_MOST_RHAT, _LEAST_SIZE = 1.1, 20
# halves of a chain need two sweeps each to be compared
_FEWEST = 4
# of so many sweeps the pace is measured where time is short, and so many are made in any case
_PACE, _FEWEST_IN_TIME = 5, 20


@dataclass(frozen=True)
class BayesOptions:
    """What a user may set about Gibbs sampling, checked; see :func:`juror.fit`."""

    chains: int = 2
    sweeps: int = 1000
    burnt: int = 400
    draws: int = 100
    sparse: bool | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_search(self)
        for name in ("chains", "sweeps", "draws"):
            check_count(name, getattr(self, name))
        check_count("burnt", self.burnt, least=0)
        if self.burnt > self.sweeps - _FEWEST:
            raise ParameterError(
                f"burnt must leave at least {_FEWEST} of the sweeps, {self.sweeps}. Got {self.burnt} instead."
            )
        most = self.chains * (self.sweeps - self.burnt)
        if self.draws > most:
            raise ParameterError(f"draws must be in the range [1, {most}], the sweeps kept. Got {self.draws} instead.")
        if self.sparse not in (None, True, False):
            raise ParameterError(f"sparse must be True, False or None. Got {self.sparse!r} instead.")


@dataclass(frozen=True)
class Chain:
    """One chain: kept draws, and what was followed along its kept sweeps.

    Attributes
    ----------
    draws : list of Parameters
        Evenly spaced.
    followed : numpy.ndarray, (n_kept, 1 + probes)
        The log-likelihood and the log-probabilities of a few rows.
    log_likelihoods : tuple of float
        Along all sweeps.
    occupied : numpy.ndarray, (n_kept,)
        How many classes held a row or more.
    """

    draws: list[Parameters]
    followed: np.ndarray
    log_likelihoods: tuple[float, ...]
    occupied: np.ndarray


def solve_bayes(
    rows: WeightedRows,
    domain: Domain,
    rank: int,
    options: BayesOptions,
    context: Context,
    far: FarRows | None = None,
) -> Solution:
    """Sample, and return the mean over the draws as one CPD of rank draws × F.

    Parameters
    ----------
    rows : WeightedRows
        What to fit.
    domain : Domain
        Its variables.
    rank : int
        F, the classes of one draw.
    options : BayesOptions
        How long, how many chains, how many draws.
    context : Context
        Seed, runner, progress and time.
    far : FarRows, optional
        What to fit, where the rows are a sample of it.
    """
    table = _Table.of(rows, Stacking(domain.cardinalities), far)
    planned, options = options, _in_time(table, rank, options, context)
    shares = np.diff(np.arange(options.chains + 1) * options.draws // options.chains)
    chains = [
        _run_chain(table, rank, number, int(share), options, context) for number, share in enumerate(shares) if share
    ]
    draws = [draw for chain in chains for draw in chain.draws]
    followed = mixing([chain.followed for chain in chains])
    occupied = _spread(np.concatenate([chain.occupied for chain in chains]))
    return Solution(
        side_by_side(draws),
        trace=chains[0].log_likelihoods,
        reason=_reason([len(chain.log_likelihoods) for chain in chains], planned),
        n_iter=sum(len(chain.log_likelihoods) for chain in chains),
        starts=tuple(float(chain.followed[:, 0].mean()) for chain in chains),
        complaints=_complaints(followed, in_time=options.sweeps < planned.sweeps) + _full(occupied, rank, options),
        n_draws=len(draws),
        occupied=occupied,
        mixing={
            "log-likelihood": (float(followed.rhat[0]), float(followed.size[0])),
            "probabilities of rows": (float(followed.rhat[1:].max()), float(followed.size[1:].min())),
        },
    )


@dataclass(frozen=True)
class _Table:
    """Rows laid out for drawing, their one-way marginals, and a few of them to follow."""

    rows: RowsToDraw | FarRows
    marginals: np.ndarray
    seen: np.ndarray
    total: float
    stacking: Stacking

    @classmethod
    def of(cls, rows: WeightedRows, stacking: Stacking, far: FarRows | None) -> _Table:
        if far is not None:
            return cls(far, smoothed_shares(far.label_counts, stacking), rows.codes, far.total, stacking)
        cells = PackedCells.of(rows.codes, stacking)
        marginals = smoothed_marginals(cells, rows.weights, stacking)
        return cls(RowsToDraw.of(cells, rows.weights), marginals, rows.codes, rows.total, stacking)

    def sampler(self, rank: int, rng: np.random.Generator, context: Context, *, sparse: bool) -> Sampler:
        return Sampler(self.rows, self.marginals, self.stacking, rank, rng, context.runner, sparse=sparse)


def _in_time(table: _Table, rank: int, options: BayesOptions, context: Context) -> BayesOptions:
    """Shorten the chains to what the time allows, by the pace of a few sweeps; without a budget leave them alone."""
    if not np.isfinite(context.until):
        return options
    chain = table.sampler(rank, np.random.default_rng([context.seed, rank, 6]), context, sparse=True)
    chain.sweep()
    left = context.seconds_left
    for _ in range(_PACE):
        chain.sweep()
    pace = (left - context.seconds_left) / _PACE
    # a coarse clock may not have moved meanwhile
    allowed = context.seconds_left / (pace * options.chains) if pace > 0 else options.sweeps
    sweeps = max(_FEWEST_IN_TIME, int(allowed))
    if sweeps >= options.sweeps:
        return options
    burnt = min(sweeps * options.burnt // options.sweeps, sweeps - _FEWEST)
    return replace(options, sweeps=sweeps, burnt=burnt, draws=min(options.draws, options.chains * (sweeps - burnt)))


def _reason(n_sweeps: Sequence[int], planned: BayesOptions) -> str:
    chains = "1 chain" if len(n_sweeps) == 1 else f"{len(n_sweeps)} chains"
    if min(n_sweeps) == planned.sweeps:
        return f"took {chains} of {planned.sweeps} sweeps"
    made = " and ".join(str(n) for n in sorted(set(n_sweeps)))
    return f"took {chains} of {made} sweeps, not {planned.sweeps}, in max_seconds = {planned.max_seconds:g}"


def _run_chain(
    table: _Table,
    rank: int,
    number: int,
    n_draws: int,
    options: BayesOptions,
    context: Context,
) -> Chain:
    """Sweep from a random start of its own."""
    rng = np.random.default_rng([context.seed, rank, number, 2])
    chain = table.sampler(rank, rng, context, sparse=bool(options.sparse))
    # the same for all chains, which are compared by them
    n_seen = len(table.seen)
    chosen = np.random.default_rng([context.seed, rank, 3]).choice(n_seen, min(_PROBES, n_seen), replace=False)
    probes = PackedCells.plain(table.seen[chosen], table.stacking)
    n_kept = options.sweeps - options.burnt
    wanted = set((options.burnt + (np.arange(1, n_draws + 1) * n_kept) // n_draws - 1).tolist())
    draws: list[Parameters] = []
    followed, likelihoods, occupied = [], [], []
    for sweep in range(options.sweeps):
        counts = chain.sweep()
        likelihoods.append(counts.log_likelihood)
        if sweep >= options.burnt:
            inside = log_prob_of_cells(probes, chain.point.lam, chain.point.stack, context.runner)
            followed.append([counts.log_likelihood, *inside])
            occupied.append(np.count_nonzero(counts.classes >= 1.0))
        # the pace may fall below what was measured
        late = sweep >= max(options.burnt + _FEWEST, _FEWEST_IN_TIME) and context.seconds_left < 0
        if sweep in wanted or (late and not draws):
            draws.append(chain.point)
        if late:
            break
        context.tell(
            rank, number + 1, options.chains, sweep + 1, options.sweeps, log_likelihood=likelihoods[-1] / table.total
        )
    return Chain(draws, np.array(followed), tuple(likelihoods), np.array(occupied))


def _spread(occupied: np.ndarray) -> tuple[float, float, float]:
    """Return the posterior's 5, 50 and 95 per cent points of the number of classes that hold a row."""
    low, middle, high = np.quantile(occupied, [0.05, 0.5, 0.95])
    return float(low), float(middle), float(high)


def _full(occupied: tuple[float, float, float], rank: int, options: BayesOptions) -> tuple[str, ...]:
    """Say that there may be more classes, where the number of those in use is to be learned and all are."""
    if not options.sparse or rank == 1 or occupied[0] < rank:
        return ()
    return (f"All {rank} classes hold rows all the time, so that there may be more. Pass rank={2 * rank} or more.",)


def _complaints(followed: Mixing, *, in_time: bool) -> tuple[str, ...]:
    # Answers are probabilities. The likelihood, which classes trade among each other, often goes its way more slowly.
    rhat, size = float(followed.rhat[1:].max()), float(followed.size[1:].min())
    if rhat <= _MOST_RHAT and size >= _LEAST_SIZE:
        return ()
    return (
        f"The chains have not mixed well: of the probabilities of {len(followed.rhat) - 1} rows, split-R-hat is "
        f"{rhat:.2f} at worst (at most {_MOST_RHAT:g} is well) and the effective sample size {size:.0f} at least "
        f"({_LEAST_SIZE}). Raise {'max_seconds' if in_time else 'sweeps and burnt'}.",
    )
