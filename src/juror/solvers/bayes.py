"""``method="bayes"``: the mean of draws of λ and the factors under a prior whose strength is learned.

The kept draws of all chains (:mod:`juror.solvers.gibbs`) side by side, each with an equal share of the weight, are one
model: their mean, exactly. With forests (:mod:`juror.solvers.forest_gibbs`) every draw is a block of this model;
without edges all draws are one CPD.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from juror.errors import Complaint, Message, ParameterError, check_count, wrong
from juror.kernels import are_few_to_draw
from juror.kernels.random_streams import Stream
from juror.printing import numbered
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters, side_by_side
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.bell_edges import BellEdges
from juror.solvers.forest_gibbs import CLASSES_FIRST, ForestSampler
from juror.solvers.gibbs import Sampler
from juror.solvers.mixing import Mixing, mixing
from juror.solvers.probes import log_left_out, log_of_mean
from juror.solvers.running_chains import FEWEST, FEWEST_IN_TIME, RunningChain
from juror.solvers.solver import Context, Options, Solution

# Chains have mixed if split-R-hat is at most this, and the effective sample size at least this.
_MOST_RHAT, _LEAST_SIZE = 1.1, 20
# The sweeps that measure the pace, with a budget of time
_PACE = 10
# Defaults: the sweeps of a chain, the share of these that is forgotten, and the draws of all chains together
_SWEEPS, _BURNT, _DRAWS = 1000, 0.4, 100
# How often chains that have not mixed may be doubled, and the most numbers that their sweeps may pass over for it: some
# seconds
_MOST_ROUNDS, _MOST_PASSED = 1, 6e9


@dataclass(frozen=True)
class BayesOptions(Options):
    """What may be set about Gibbs sampling."""

    chains: int = 2
    sweeps: int | None = None
    burnt: int | None = None
    draws: int | None = None
    sparse: bool | None = None
    forest: bool | str = "auto"
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_count("chains", self.chains)
        if self.sweeps is not None:
            check_count("sweeps", self.sweeps, least=1 if self.burnt is not None else FEWEST)
        if self.draws is not None:
            check_count("draws", self.draws)
        if self.burnt is not None:
            check_count("burnt", self.burnt, least=0)
        if self.n_burnt > self.n_sweeps - FEWEST:
            raise ParameterError(
                "{burnt} must leave at least {fewest} of the {sweeps}, {all}. Got {got} instead.",
                fewest=FEWEST,
                all=self.n_sweeps,
                got=self.n_burnt,
            )
        most = self.chains * (self.n_sweeps - self.n_burnt)
        if self.draws is not None and self.draws > most:
            raise wrong("draws", f"in the range [1, {most}], the sweeps kept", self.draws)
        if self.sparse not in (None, True, False):
            raise wrong("sparse", "True, False or None", self.sparse)
        if not (self.forest == "auto" or isinstance(self.forest, (bool, np.bool_))):
            raise wrong("forest", "'auto', True or False", self.forest)
        object.__setattr__(self, "forest", bool(self.forest))

    @property
    def n_sweeps(self) -> int:
        """The sweeps of a chain, before it goes on because chains have not mixed."""
        return _SWEEPS if self.sweeps is None else self.sweeps

    @property
    def n_burnt(self) -> int:
        """How many of the sweeps to forget: two fifths, unless it was given."""
        share = int(_BURNT * self.n_sweeps)
        return max(min(share, self.n_sweeps - FEWEST), 0) if self.burnt is None else self.burnt

    @property
    def n_draws(self) -> int:
        """How many draws to keep of all chains."""
        return min(_DRAWS, self.chains * (self.n_sweeps - self.n_burnt)) if self.draws is None else self.draws

    def for_open_rank(self) -> Self:
        """Return options whose prior favours few classes, unless that is set."""
        return replace(self, sparse=True) if self.sparse is None else self


def solve(
    table: Table, rank: int, options: BayesOptions, context: Context, start: Parameters | None = None
) -> Solution:
    """Sample, and return the mean over the draws as one model of rank draws × F."""
    n_effective, table = table.n_effective, _of_weight_one(table)
    bells, running = _better_bells(table, rank, options, context)
    planned, options = options, _in_time(table, rank, options, context, bells)
    began = context.seconds_left
    if _may_go_on(running, planned, context):
        for chain, share in zip(running, _shares(options), strict=True):
            chain.go_on(share, context)
        chains = [chain.run(options.n_sweeps - len(chain.log_likelihoods), 0) for chain in running]
    else:
        running = _begun(table, rank, options, context, bells)
        chains = [chain.run(options.n_sweeps, options.n_burnt) for chain in running]
    followed = mixing([chain.followed for chain in chains])
    while not _has_mixed(followed) and (more := _more_sweeps(running, planned, began, context)):
        chains = [chain.run(more, 0) for chain in running]
        followed = mixing([chain.followed for chain in chains])
    draws = [draw for chain in chains for draw in chain.draws]
    occupied = _spread(np.concatenate([chain.occupied for chain in chains]))
    n_sweeps = [len(chain.log_likelihoods) for chain in running]
    record = FitRecord(
        trace=tuple(running[0].log_likelihoods),
        stopped=_stopped(n_sweeps, planned) + _why_no_forest(table, options) + _bells_in_words(bells),
        n_iter=sum(n_sweeps),
        starts=tuple(float(chain.followed[:, 0].mean()) for chain in chains),
        n_draws=len(draws),
        occupied=occupied,
        log_likelihood=_log_likelihood(draws, table, context),
        widening=1.0 if n_effective is None else max(1.0, (table.total / n_effective) ** 0.5),
        mixing={
            "log-likelihood": (float(followed.rhat[0]), float(followed.size[0])),
            "probabilities of rows": (float(followed.rhat[1:].max()), float(followed.size[1:].min())),
        },
    )
    in_time = options.n_sweeps < planned.n_sweeps or (planned.sweeps is None and np.isfinite(context.until))
    longer = _twice_the_time(planned) if in_time else _twice_the_sweeps(max(n_sweeps), options)
    complaints = _complaints(followed, longer) + _full(occupied, rank, options)
    return Solution(side_by_side(draws), record, complaints)


def _log_likelihood(draws: Sequence[Parameters], table: Table, context: Context) -> float | None:
    """Return the log-likelihood of the fit, if that needs no compiled kernels as sampling needs none, else None."""
    if not (isinstance(table, MemoryTable) and table.n_effective is None and are_few_to_draw(table.rows.codes.size)):
        return None
    return log_of_mean(draws, table.rows, table.domain.cardinalities, context.runner)


def _begun(table: Table, rank: int, options: BayesOptions, context: Context, bells: BellEdges) -> list[RunningChain]:
    """Return the chains, each with its share of the draws to keep. Chains that would keep no draw are left out."""
    found = []
    for number, share in enumerate(_shares(options)):
        if not share:
            continue
        key, sparse = (context.seed, rank, number), bool(options.sparse)
        sampler = _sampler(table, rank, Stream.CHAIN, key, options, bells, sparse=sparse)
        found.append(RunningChain(table, rank, number, share, options.chains, sampler, context))
    return found


def _shares(options: BayesOptions) -> list[int]:
    """Return how many draws each chain keeps."""
    return [int(share) for share in np.diff(np.arange(options.chains + 1) * options.n_draws // options.chains)]


def _may_go_on(running: Sequence[RunningChain], planned: BayesOptions, context: Context) -> bool:
    """Whether the chains of a comparison can go on as those of the fit, which forget all sweeps that they have made.

    Enough sweeps must be left for all draws. If there is a budget of time, or the number of sweeps to forget is given,
    chains begin anew.
    """
    if np.isfinite(context.until) or planned.burnt is not None or len(running) < planned.chains:
        return False
    shares = zip(running, _shares(planned), strict=True)
    return all(0 < share <= planned.n_sweeps - len(chain.log_likelihoods) - FEWEST for chain, share in shares)


def _better_bells(
    table: Table, rank: int, options: BayesOptions, context: Context
) -> tuple[BellEdges, list[RunningChain]]:
    """Return the edges between the scores of numbers if rows that are left out are more probable with them.

    Such edges find in a hundred rows what free tables find in a thousand. But they leave little for classes, which are
    better where all numbers depend on a hidden one. So shorter chains, of half the sweeps, are run with and without
    these edges. Those of the better kind are returned too.
    """
    none = BellEdges.none()
    if not (options.forest and ForestSampler.takes(table)):
        return none, []
    plain = Stacking(table.domain.cardinalities)
    marginals = [own.ravel() for own in plain.tables(plain.marginals(table.label_counts))]
    bells = BellEdges.of(table.domain, marginals, table.rows)
    if not bells.pairs:
        return none, []
    half = replace(options, sweeps=max(options.n_sweeps // 2, 2 * FEWEST), burnt=None, draws=None)
    if half.n_draws < 2:
        return none, []
    of_fit = options.chains * (options.n_sweeps / half.n_sweeps - 1.0)
    found: list[tuple[float, BellEdges, list[RunningChain]]] = []
    for tried, share, n_later in ((none, 0.25, options.chains + of_fit), (bells, 1 / 3, of_fit)):
        trying = replace(context.with_share(share), stage="comparing kinds of edges", n_later=n_later)
        shorter = _in_time(table, rank, half, trying, tried)
        chains = _begun(table, rank, shorter, trying, tried)
        draws = [draw for chain in chains for draw in chain.run(shorter.n_sweeps, shorter.n_burnt).draws]
        left_out = log_left_out(draws, table.rows, table.domain.cardinalities, context.runner)
        found.append((left_out, tried, chains))
    without, with_bells = found
    return with_bells[1:] if with_bells[0] > without[0] else without[1:]


def _of_weight_one(table: Table) -> Table:
    """Return rows in memory whose weights, if they have fractions, are one on average.

    Every row draws a class. If the weights summed to another number of rows, more or fewer classes would be drawn than
    rows are counted, and dependence would be lost.
    """
    if table.n_effective is None or not isinstance(table, MemoryTable):
        return table
    scale, rows = table.n_rows / table.total, table.rows
    squares = None if rows.squares is None else rows.squares * scale**2
    return replace(table, rows=replace(rows, weights=rows.weights * scale, squares=squares))


def _more_sweeps(running: Sequence[RunningChain], planned: BayesOptions, began: float, context: Context) -> int:
    """Return how many sweeps to add to chains that have not mixed: as many as they have, or none.

    All earlier sweeps are then forgotten. No sweeps are added if their number was given. Without a budget of time,
    chains go on once, unless that passes over too many numbers; with a budget, until it is spent.
    """
    n_sweeps = len(running[0].log_likelihoods)
    if planned.sweeps is not None:
        return 0
    if not np.isfinite(context.until):
        n_passed = 2 * n_sweeps * sum(chain.n_numbers for chain in running)
        return n_sweeps if n_sweeps < _SWEEPS * 2**_MOST_ROUNDS and n_passed <= _MOST_PASSED else 0
    pace = (began - context.seconds_left) / sum(len(chain.log_likelihoods) for chain in running)
    # A coarse clock may not have moved.
    allowed = int(context.seconds_left / (pace * len(running))) if pace > 0 else n_sweeps
    # Fewer sweeps than before would follow less, and their draws would be more alike.
    return n_sweeps if allowed >= n_sweeps else 0


def _sampler(
    table: Table,
    rank: int,
    stream: Stream,
    key: Sequence[int],
    options: BayesOptions,
    bells: BellEdges,
    *,
    sparse: bool,
) -> Sampler | ForestSampler:
    """Return a chain that has not begun, with the generator of a stream."""
    stacking = Stacking(table.domain.cardinalities)
    counts, rng = table.label_counts, stream.generator(*key)
    if options.forest and ForestSampler.takes(table):
        return ForestSampler(table, rank, rng, sparse=sparse, first=options.n_burnt // CLASSES_FIRST, bells=bells)
    return Sampler(table, stacking.marginals(counts), stacking, rank, rng, sparse=sparse)


def _in_time(table: Table, rank: int, options: BayesOptions, context: Context, bells: BellEdges) -> BayesOptions:
    """Shorten the chains to what the time allows, by the pace of a few sweeps; without a budget leave them alone."""
    if not np.isfinite(context.until):
        return options
    chain = _sampler(table, rank, Stream.PACE, (context.seed, rank), replace(options, burnt=0), bells, sparse=True)
    chain.sweep()
    left = context.seconds_left
    for _ in range(_PACE):
        chain.sweep()
    pace = (left - context.seconds_left) / _PACE
    # A coarse clock may not have moved.
    allowed = context.seconds_left / (pace * options.chains) if pace > 0 else options.n_sweeps
    sweeps = max(FEWEST_IN_TIME, int(allowed))
    if sweeps >= options.n_sweeps:
        return options
    burnt = min(sweeps * options.n_burnt // options.n_sweeps, sweeps - FEWEST)
    return replace(options, sweeps=sweeps, burnt=burnt, draws=min(options.n_draws, options.chains * (sweeps - burnt)))


def _stopped(n_sweeps: Sequence[int], planned: BayesOptions) -> str:
    made = " and ".join(str(n) for n in sorted(set(n_sweeps)))
    taken = f"took {numbered(len(n_sweeps), 'chain')} of {made} sweeps"
    if min(n_sweeps) < planned.n_sweeps:
        return f"{taken}, not {planned.n_sweeps}, in {planned.max_seconds:g} s"
    return taken if min(n_sweeps) == planned.n_sweeps else f"{taken}, and forgot the first half"


def _why_no_forest(table: Table, options: BayesOptions) -> str:
    """Say why the draws have no forest, if one was asked for."""
    if not options.forest or ForestSampler.takes(table):
        return ""
    if isinstance(table, MemoryTable):
        return ", without forests, as there are too many rows with missing cells"
    return ", without forests, as the rows are not in memory"


def _bells_in_words(bells: BellEdges) -> str:
    """Say that there may be edges between normal scores of numbers, if there may."""
    return ", with correlations of normal scores as edges between numbers" if bells.pairs else ""


def _spread(occupied: np.ndarray) -> tuple[float, float, float]:
    """Return the posterior's 5, 50 and 95 per cent points of the number of classes that hold a row."""
    low, middle, high = np.quantile(occupied, [0.05, 0.5, 0.95])
    return float(low), float(middle), float(high)


def _full(occupied: tuple[float, float, float], rank: int, options: BayesOptions) -> tuple[Complaint, ...]:
    """Complain that there may be more classes, if the number in use is to be learned and all are in use."""
    if not options.sparse or rank == 1 or occupied[0] < rank:
        return ()
    complaint = Complaint(
        "all-classes-full",
        "All {F} classes hold rows all the time, so that there may be more. Pass {rank:={more}} or more.",
        F=rank,
        more=2 * rank,
    )
    return (complaint,)


def _has_mixed(followed: Mixing) -> bool:
    rhat, size = followed.worst_of_rows
    return rhat <= _MOST_RHAT and size >= _LEAST_SIZE


def _twice_the_time(planned: BayesOptions) -> Message:
    if planned.max_seconds is None:
        return Message("Raise {max_seconds}")
    return Message("Pass {max_seconds:={more}} or more", more=f"{2 * planned.max_seconds:g}")


def _twice_the_sweeps(n_sweeps: int, options: BayesOptions) -> Message:
    # Chains that went on have forgotten their first half.
    n_burnt = options.n_burnt if n_sweeps == options.n_sweeps else n_sweeps // 2
    longer = {"sweeps": 2 * n_sweeps, "burnt": 2 * n_burnt}
    return Message("Pass {fit.sweeps:={sweeps}} and {fit.burnt:={burnt}} for chains of twice as many sweeps", **longer)


def _complaints(followed: Mixing, longer: Message) -> tuple[Complaint, ...]:
    if _has_mixed(followed):
        return ()
    rhat, size = followed.worst_of_rows
    found = []
    if not rhat <= _MOST_RHAT:
        found.append(f"split-R-hat is up to {rhat:.3f} (it should be at most {_MOST_RHAT:g})")
    if not size >= _LEAST_SIZE:
        found.append(f"the effective sample size is down to {size:.0f} (it should be at least {_LEAST_SIZE})")
    complaint = Complaint(
        "poor-mixing",
        "The chains have not mixed well, so that another seed may give other answers: of the probabilities of {n} "
        "rows, {found}. {longer}.",
        n=len(followed.rhat) - 1,
        found=" and ".join(found),
        longer=longer,
    )
    return (complaint,)
