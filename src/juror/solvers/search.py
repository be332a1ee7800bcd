"""EM from a start that sampling found, or from random ones: ``method="em"``; and from SPA's factors, ``"spa-em"``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.errors import ParameterError
from juror.rows.distinct import WeightedRows
from juror.rows.far import FarRows
from juror.rows.stacking import Stacking
from juror.solvers import spa
from juror.solvers.diagnosis import diagnose, empty_classes
from juror.solvers.em import FarObjective, Objective, Run, ascend
from juror.solvers.pair_tables import PairTables
from juror.solvers.parameters import Factored, Parameters
from juror.solvers.sampled_starts import TYPICAL_PASSES, sampled_start
from juror.solvers.solution import Context, Solution, check_search
from juror.solvers.starts import random_start, seeded_start

# What is left at zero by SPA, or by a sample, EM cannot raise, so a start is mixed with this much of the marginals
_MARGIN = 0.05
# How many random starts there are where a search is out of the question
_RANDOM_STARTS = 3


@dataclass(frozen=True)
class EMOptions:
    """What a user may set about EM, checked; see :func:`juror.fit`."""

    n_init: int | None = None
    smoothing: float = 0.1
    accelerate: bool = True
    max_iter: int = 1000
    tol: float = 1e-6
    init: Factored | None = None
    ensemble: int | str = 1
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_search(self)
        counted = isinstance(self.ensemble, (int, np.integer)) and not isinstance(self.ensemble, bool)
        if self.ensemble != "auto" and not (counted and int(self.ensemble) >= 1):
            raise ParameterError(
                f"ensemble must be 'auto' or an int in the range [1, inf). Got {self.ensemble!r} instead."
            )
        if self.init is not None and self.ensemble != 1:
            raise ParameterError("init is where a single fit starts, so it does not go with ensemble. Leave one out.")


@dataclass(frozen=True)
class SPAEMOptions:
    """What a user may set about EM after SPA, checked; see :func:`juror.fit`."""

    split: Sequence[str] | None = None
    smoothing: float = 0.1
    accelerate: bool = True
    max_iter: int = 1000
    tol: float = 1e-6
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        check_search(self)


def solve_em(
    rows: WeightedRows,
    domain: Domain,
    rank: int,
    options: EMOptions,
    context: Context,
    found: Sequence[Parameters] = (),
    far: FarRows | None = None,
) -> Solution:
    """Ascend from every start, or from the given one, and return the best.

    Parameters
    ----------
    rows : WeightedRows
        What to fit, or to look for starts in.
    domain : Domain
        Its variables.
    rank : int
        How many classes.
    options : EMOptions
        How to search.
    context : Context
        Seed, runner, progress and time.
    found : sequence of Parameters
        Where to start in place of a search: what the choice of the rank found on its way.
    far : FarRows, optional
        What to fit, where the rows are a sample of it.
    """
    stacking = Stacking(domain.cardinalities)
    objective = Objective(rows, stacking, options.smoothing, context.runner)
    by_sample = far is not None and options.init is None and rows.n_counted < far.n_counted
    everything = rows if far is None else far
    ascent = _Ascent(_objective_of(rows, far, domain, options, context), everything, domain, options, by_sample)
    # starts are scattered around the marginals of all rows
    objective.marginals = ascent.objective.marginals
    if options.init is not None:
        starts = [Parameters.of(options.init.weights, options.init.factors, stacking)]
    elif options.n_init is not None:
        starts = _random_starts(objective, rank, options.n_init, context.seed)
    elif found:
        starts = list(found)
    elif options.max_iter < TYPICAL_PASSES or not options.accelerate:
        # the search takes more passes than these, and long steps
        starts = _random_starts(objective, rank, _RANDOM_STARTS, context.seed)
    else:
        return _searched(objective, rank, ascent, context)
    return ascent.best(starts, context)


def _objective_of(
    rows: WeightedRows, far: FarRows | None, domain: Domain, options: EMOptions | SPAEMOptions, context: Context
) -> Objective:
    stacking = Stacking(domain.cardinalities)
    if far is not None:
        return FarObjective(far, stacking, options.smoothing)
    return Objective(rows, stacking, options.smoothing, context.runner)


def _searched(objective: Objective, rank: int, ascent: _Ascent, context: Context) -> Solution:
    """Ascend from what sampling found, and count the passes of the search."""
    spent = 0

    def report(n_passes: int, log_likelihood: float) -> None:
        nonlocal spent
        spent = n_passes
        most = max(TYPICAL_PASSES, n_passes)
        context.tell(rank, 1, 1, n_passes, most, log_likelihood=log_likelihood / objective.total)

    rng = np.random.default_rng([context.seed, rank, 0])
    start = sampled_start(objective, rank, rng, report, context.until)
    solution = ascent.best([start], context)
    return replace(solution, n_iter=solution.n_iter + spent)


def solve_spa_em(
    rows: WeightedRows,
    domain: Domain,
    rank: int,
    options: SPAEMOptions,
    context: Context,
    far: FarRows | None = None,
) -> Solution:
    """Ascend from SPA's factors; arguments as in :func:`solve_em`."""
    stacking = Stacking(domain.cardinalities)
    objective = _objective_of(rows, far, domain, options, context)
    split = spa.read_split(domain, options.split)
    spa.check_rank(rank, domain, split)
    counts = PairCounts.of_rows(rows, domain, context.runner.n_jobs) if far is None else PairCounts.of_far(far)
    lam, factors = spa.solve(PairTables.of(counts), rank, split)
    start = mixed_with_marginals(Parameters.of(lam, factors, stacking), objective.marginals)
    best = _Ascent(objective, rows if far is None else far, domain, options).best([start], context)
    return replace(best, complaints=spa.fewer(rank, len(lam)) + best.complaints)


def mixed_with_marginals(start: Parameters, marginals: np.ndarray) -> Parameters:
    """Mix a start with a little of the marginals (stacked rows, 1), so that nothing in it is impossible."""
    stack = (1 - _MARGIN) * start.stack + _MARGIN * marginals
    return Parameters((1 - _MARGIN) * start.lam + _MARGIN / start.rank, stack)


@dataclass(frozen=True)
class _Ascent:
    """How to climb: what, with which rows behind it, over which variables, by which options."""

    objective: Objective
    rows: WeightedRows | FarRows
    domain: Domain
    options: EMOptions | SPAEMOptions
    by_sample: bool = False

    def best(self, starts: Sequence[Parameters], context: Context) -> Solution:
        """Ascend from every start and return the best, with what is odd about it."""
        options, total = self.options, self.objective.total
        if self.by_sample and options.smoothing == 0:
            # a sample may lack labels, and what is zero EM cannot raise
            starts = [mixed_with_marginals(start, self.objective.marginals) for start in starts]

        def report(start: int, n_passes: int, log_likelihood: float) -> None:
            mean = log_likelihood / total
            context.tell(starts[0].rank, start, len(starts), n_passes, options.max_iter, log_likelihood=mean)

        runs: list[Run] = []
        for number, start in enumerate(starts, 1):
            if runs and context.seconds_left < 0:
                break
            run = ascend(
                self.objective,
                start,
                max_iter=options.max_iter,
                tol=options.tol,
                accelerate=options.accelerate,
                until=context.until,
                report=partial(report, number),
            )
            runs.append(run)
        best = max(runs, key=lambda run: run.point.objective)
        complaints = diagnose(best, self.rows.n_counted, self.domain)
        return _solution(best, complaints, tuple(run.point.objective for run in runs))


def _solution(run: Run, complaints: tuple[str, ...], starts: tuple[float, ...]) -> Solution:
    return Solution(
        parameters=run.point.parameters,
        trace=run.trace,
        reason=run.reason,
        n_iter=run.n_passes,
        starts=starts,
        complaints=complaints,
        log_likelihood=run.point.log_likelihood,
    )


def _random_starts(objective: Objective, rank: int, n_init: int, seed: int) -> list[Parameters]:
    """Draw starts, each from the seed, the rank and its own number."""
    return [
        random_start_of(objective, rank, number, np.random.default_rng([seed, rank, number]))
        for number in range(1 if rank == 1 else n_init)
    ]


def random_start_of(objective: Objective, rank: int, number: int, rng: np.random.Generator) -> Parameters:
    """Draw a start, scattered and seeded ones in turn."""
    shared = (objective.marginals, rank, objective.stacking, rng)
    if number % 2 == 0:
        return random_start(*shared)
    return seeded_start(objective.cells, objective.weights, *shared)


def without_empty_classes(
    solution: Solution,
    rows: WeightedRows,
    domain: Domain,
    options: EMOptions,
    context: Context,
    far: FarRows | None = None,
) -> Solution:
    """Leave out classes that hold nothing and climb on from there, for where the rank was ours to choose."""
    parameters, everything = solution.parameters, rows if far is None else far
    held = ~empty_classes(parameters, everything.total)
    if np.all(held) or not np.any(held):
        return solution
    objective = _objective_of(rows, far, domain, options, context)
    start = Parameters(parameters.lam[held] / parameters.lam[held].sum(), parameters.stack[:, held])
    more = _Ascent(objective, everything, domain, options).best([start], context)
    return replace(
        more, trace=solution.trace + more.trace, n_iter=solution.n_iter + more.n_iter, starts=solution.starts
    )
