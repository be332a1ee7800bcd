"""The Bayesian estimator: Gibbs sampling of λ and the factors under a prior whose strength is learned.

A sweep draws a class for every row given (λ, A), the prior given the classes (:mod:`juror.solvers.hyper`), and (λ, A)
given both: λ ~ Dirichlet(a + classes), A_n(:, f) ~ Dirichlet(c_n m_n + C_n(:, f)). A missing cell takes no part.

The kept draws of all chains side by side, each with an equal share of the weight, are one CPD: their mean, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.domain import Domain
from juror.errors import ParameterError, check_count
from juror.kernels import kernels
from juror.logs import log_of
from juror.solvers.hyper import Hyper, first_hyper, next_hyper
from juror.solvers.mixing import Mixing, mixing
from juror.solvers.parameters import Parameters
from juror.solvers.solution import Context, Solution
from juror.solvers.starts import random_start, smoothed_marginals
from juror.stacking import Stacking
from juror.statistics.drawn import RowsToDraw
from juror.statistics.rows import WeightedRows

# Log-probabilities of so many training rows are followed beside the likelihood
_PROBES = 5
# The prior moves slowly and costs as much to draw as a thousand rows
_PRIOR_EVERY = 5
_MOST_RHAT, _LEAST_SIZE = 1.1, 50
_TINY = 1e-300
# halves of a chain need two sweeps each to be compared
_FEWEST = 4


@dataclass(frozen=True)
class BayesOptions:
    """What a user may set about Gibbs sampling, checked; see :func:`juror.fit`."""

    chains: int = 2
    sweeps: int = 2000
    burnt: int = 1000
    draws: int = 100
    sparse: bool | None = None

    def __post_init__(self) -> None:
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


def solve_bayes(rows: WeightedRows, domain: Domain, rank: int, options: BayesOptions, context: Context) -> Solution:
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
        Seed, runner and progress.
    """
    shares = np.diff(np.arange(options.chains + 1) * options.draws // options.chains)
    chains = [
        _run_chain(rows, domain, rank, number, int(share), options, context)
        for number, share in enumerate(shares)
        if share
    ]
    draws = [draw for chain in chains for draw in chain.draws]
    lam = np.concatenate([draw.lam for draw in draws]) / len(draws)
    followed = mixing([chain.followed for chain in chains])
    return Solution(
        Parameters(lam, np.hstack([draw.stack for draw in draws])),
        trace=chains[0].log_likelihoods,
        reason=f"took {len(chains)} chains of {len(chains[0].log_likelihoods)} sweeps",
        n_iter=sum(len(chain.log_likelihoods) for chain in chains),
        starts=tuple(float(chain.followed[:, 0].mean()) for chain in chains),
        complaints=_complaints(followed),
        n_draws=len(draws),
        occupied=_spread(np.concatenate([chain.occupied for chain in chains])),
        mixing={
            "log-likelihood": (float(followed.rhat[0]), float(followed.size[0])),
            "probabilities of rows": (float(followed.rhat[1:].max()), float(followed.size[1:].min())),
        },
    )


def _run_chain(
    rows: WeightedRows,
    domain: Domain,
    rank: int,
    number: int,
    n_draws: int,
    options: BayesOptions,
    context: Context,
) -> Chain:
    """Sweep from a random start of its own."""
    stacking = Stacking(domain.cardinalities)
    cells = stacking.cells(rows.codes)
    to_draw = RowsToDraw.of(cells, rows.weights)
    rng = np.random.default_rng([context.seed, rank, number, 2])
    start = random_start(smoothed_marginals(cells, rows.weights, stacking), rank, stacking, rng)
    # the same for all chains, which are compared by them
    chosen = np.random.default_rng([context.seed, rank, 3]).choice(len(cells), min(_PROBES, len(cells)), replace=False)
    probes = cells[chosen]
    hyper = first_hyper(domain.cardinalities)
    point = start
    n_kept = options.sweeps - options.burnt
    wanted = set((options.burnt + (np.arange(1, n_draws + 1) * n_kept) // n_draws - 1).tolist())
    draws: list[Parameters] = []
    followed, likelihoods, occupied = [], [], []
    for sweep in range(options.sweeps):
        counts = to_draw.draw(point.lam, point.stack, (context.seed, rank, number, sweep), context.runner)
        if sweep % _PRIOR_EVERY == 0:
            scale = 2.0 / rank if options.sparse else 1.0
            hyper = next_hyper(hyper, counts.classes, stacking.unstack(counts.cells), rng, scale)
        point = _draw_point(counts.classes, counts.cells, hyper, stacking, rng)
        likelihoods.append(counts.log_likelihood)
        if sweep >= options.burnt:
            inside = kernels().log_prob(probes, log_of(point.lam), log_of(point.stack))
            followed.append([counts.log_likelihood, *inside])
            occupied.append(np.count_nonzero(counts.classes >= 1.0))
        if sweep in wanted:
            draws.append(point)
        context.tell(
            rank, number + 1, options.chains, sweep + 1, options.sweeps, log_likelihood=likelihoods[-1] / rows.total
        )
    return Chain(draws, np.array(followed), tuple(likelihoods), np.array(occupied))


def _draw_point(
    classes: np.ndarray, cells: np.ndarray, hyper: Hyper, stacking: Stacking, rng: np.random.Generator
) -> Parameters:
    """Draw λ and the factors given the counts and the prior."""
    blocks = [np.append(c * m, 1.0) for c, m in zip(hyper.c, hyper.m, strict=True)]
    prior = np.concatenate(blocks)[:, None]
    # draws from Dirichlet distributions; where all floats are too large for one it is the smallest, and not impossible
    gamma = np.maximum(rng.standard_gamma(cells + prior), _TINY)
    lam = np.maximum(rng.standard_gamma(classes + hyper.a), _TINY)
    # with the floor no column is without a count, so that nothing is taken from elsewhere
    return Parameters(lam / lam.sum(), stacking.normalise(gamma, otherwise=np.ones_like(gamma)))


def _spread(occupied: np.ndarray) -> tuple[float, float, float]:
    """Return the posterior's 5, 50 and 95 per cent points of the number of classes that hold a row."""
    low, middle, high = np.quantile(occupied, [0.05, 0.5, 0.95])
    return float(low), float(middle), float(high)


def _complaints(followed: Mixing) -> tuple[str, ...]:
    # Answers are probabilities. The likelihood, which classes trade among each other, often goes its way more slowly.
    rhat, size = float(followed.rhat[1:].max()), float(followed.size[1:].min())
    if rhat <= _MOST_RHAT and size >= _LEAST_SIZE:
        return ()
    return (
        f"The chains have not mixed well: of the probabilities of {len(followed.rhat) - 1} rows, split-R-hat is "
        f"{rhat:.2f} at worst (at most {_MOST_RHAT:g} is well) and the effective sample size {size:.0f} at least "
        f"({_LEAST_SIZE}). Raise sweeps and burnt.",
    )
