"""EM from several starts: the solver that ``method="em"`` names."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from juror.errors import ParameterError, check_count
from juror.progress import Progress, ProgressCallback
from juror.solvers.diagnosis import empty_classes
from juror.solvers.em import Objective, Run, ascend
from juror.solvers.parameters import Parameters
from juror.solvers.starts import random_start, seeded_start
from juror.sources.runners import LocalRunner
from juror.stacking import Stacking
from juror.statistics.rows import WeightedRows


@dataclass(frozen=True)
class Options:
    """What a user may set about the search, checked; see :func:`juror.fit`."""

    n_init: int
    smoothing: float
    accelerate: bool
    max_iter: int
    tol: float
    seed: int
    progress: ProgressCallback | None

    def __post_init__(self) -> None:
        check_count("n_init", self.n_init)
        check_count("max_iter", self.max_iter)
        check_count("seed", self.seed, least=0)
        for name in ("smoothing", "tol"):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
                raise ParameterError(f"{name} must be a number in the range [0, inf). Got {value!r} instead.")


def solve(
    rows: WeightedRows,
    stacking: Stacking,
    rank: int,
    options: Options,
    runner: LocalRunner,
    *,
    stage: str = "fitting",
    init: Parameters | None = None,
) -> list[Run]:
    """Ascend from every start, or from the given one.

    Parameters
    ----------
    rows : WeightedRows
        What to fit.
    stacking : Stacking
        Where variables stand in the stack.
    rank : int
        How many classes.
    options : Options
        How to search.
    runner : LocalRunner
        Who passes over the rows.
    stage : str
        What to call this in progress reports.
    init : Parameters, optional
        Where to start, in place of random starts.
    """
    objective = Objective(rows, stacking, options.smoothing, runner)
    starts = [init] if init is not None else _random_starts(objective, rank, options)

    def report(start: int, n_passes: int, log_likelihood: float) -> None:
        if options.progress is not None:
            mean = log_likelihood / objective.total
            options.progress(Progress(stage, rank, start, len(starts), n_passes, options.max_iter, mean))

    return [
        ascend(
            objective,
            start,
            max_iter=options.max_iter,
            tol=options.tol,
            accelerate=options.accelerate,
            report=partial(report, number),
        )
        for number, start in enumerate(starts, 1)
    ]


def _random_starts(objective: Objective, rank: int, options: Options) -> list[Parameters]:
    """Draw scattered and seeded starts in turn, each from the seed, the rank and its own number."""
    starts = []
    for number in range(1 if rank == 1 else options.n_init):
        rng = np.random.default_rng([options.seed, rank, number])
        shared = (objective.marginals, rank, objective.stacking, rng)
        if number % 2 == 0:
            starts.append(random_start(*shared))
        else:
            starts.append(seeded_start(objective.cells, objective.weights, *shared))
    return starts


def without_empty_classes(
    run: Run, rows: WeightedRows, stacking: Stacking, options: Options, runner: LocalRunner
) -> Run:
    """Leave out classes that hold nothing and climb on from there, for where the rank was ours to choose."""
    parameters = run.point.parameters
    held = ~empty_classes(parameters, rows.total)
    if np.all(held) or not np.any(held):
        return run
    start = Parameters(parameters.lam[held] / parameters.lam[held].sum(), parameters.stack[:, held])
    (more,) = solve(rows, stacking, start.rank, options, runner, init=start)
    return Run(more.point, run.trace + more.trace, more.reason, run.n_passes + more.n_passes)
