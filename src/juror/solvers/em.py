"""``method="em"``: climb the likelihood from a start that a search found, or from random starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np

from juror.errors import Message, Option, ParameterError, wrong
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.parameters import Factored, Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.ascent import Objective, Run, ascend
from juror.solvers.diagnosis import diagnose, empty_classes
from juror.solvers.sampled_starts import TYPICAL_PASSES, sampled_start
from juror.solvers.solver import Context, Growth, Options, Solution
from juror.solvers.splitting import grown
from juror.solvers.starts import random_start, seeded_start

# EM cannot raise a cell from zero, so a start that may have zeros is mixed with this much of the marginals.
_MARGIN = 0.05
# The number of random starts where a search would take too long
_RANDOM_STARTS = 3
# On small tables, up to this many random starts follow the search, as long as all takes about a second. The second is
# counted in operations, so that results are the same on any machine: half a nanosecond for each cell of the distinct
# rows in each class, and for each pass a tenth of a millisecond, as much as for the last number of cells.
_STARTS_BESIDE, _CELLS_IN_A_SECOND, _CELLS_OF_A_PASS = 20, 2e9, 2e5
# With a budget of time random starts go on until this many in a row have come no higher.
_STARTS_IN_VAIN = 20
# Ends that differ by no more than this, in nats per row, are the same: steps end a little before the maximum.
_SAME_END = 1e-5
# To compare ranks, steps that gain this much per row are enough; smaller ones would blur what decides.
_ROUGH_TOL = 1e-5


@dataclass(frozen=True)
class AscentOptions(Options):
    """What may be set about climbing by EM steps."""

    smoothing: float = 0.1
    accelerate: bool = True
    max_iter: int = 1000
    tol: float = 1e-6
    max_seconds: float | None = None


@dataclass(frozen=True)
class EMOptions(AscentOptions):
    """What may be set about EM."""

    n_init: int | None = None
    init: Factored | None = None
    ensemble: int | str = 1
    forest: bool | str = "auto"

    def __post_init__(self) -> None:
        super().__post_init__()
        counted = isinstance(self.ensemble, (int, np.integer)) and not isinstance(self.ensemble, bool)
        if self.ensemble != "auto" and not (counted and int(self.ensemble) >= 1):
            raise wrong("ensemble", "'auto' or an int in the range [1, inf)", self.ensemble)
        if not (self.forest == "auto" or isinstance(self.forest, (bool, np.bool_))):
            raise wrong("forest", "'auto', True or False", self.forest)
        object.__setattr__(self, "forest", self.forest if self.forest == "auto" else bool(self.forest))
        if self.init is not None and self.has_members:
            other = Option("ensemble" if self.ensemble != 1 else "forest")
            text = Message(
                "{init} is where a single fit starts, so it does not go with {other}. Leave one out.", other=other
            )
            raise ParameterError(text)

    @property
    def has_members(self) -> bool:
        """Whether there are several fits, or one with a forest."""
        return self.ensemble != 1 or self.forest is True

    def rough(self) -> Self:
        """Return options for a single fit with a larger tolerance."""
        return replace(self, tol=max(self.tol, _ROUGH_TOL), ensemble=1, forest=False)


def solve(table: Table, rank: int, options: EMOptions, context: Context, start: Parameters | None = None) -> Solution:
    """Climb from the given start, or from all that are searched or drawn, and return the best."""
    objective = Objective.of(table, Stacking(table.domain.cardinalities), options.smoothing)
    if options.init is not None:
        init = Parameters.of(options.init.weights, options.init.factors, objective.stacking)
        return climb(objective, table, [init], options, context)
    near = table.sample(context.seed)
    # Starts are scattered around the marginals of all rows.
    search = replace(Objective.of(near.packed, objective.stacking, options.smoothing), marginals=objective.marginals)
    # A sample may lack labels, and EM cannot raise what is zero.
    lacks = options.smoothing == 0 and near.n_counted < table.n_counted
    starts, n_passes, beside = ([] if start is None else [start]), 0, None
    if not starts and options.n_init is None and options.accelerate and options.max_iter >= TYPICAL_PASSES:
        found, n_passes = _searched(search, rank, context)
        starts = [found]
        beside = _Beside(search, rank, n_passes, context) if near.n_counted == table.n_counted else None
    elif not starts:
        # Without long steps, or in few passes, a search would not end.
        starts = _random_starts(search, rank, options.n_init or _RANDOM_STARTS, context.seed)
    if lacks:
        starts = [mixed_with_marginals(each, objective.marginals) for each in starts]
    solution = climb(objective, table, starts, options, context, beside)
    return replace(solution, record=replace(solution.record, n_iter=solution.record.n_iter + n_passes))


def _searched(objective: Objective[PackedRows], rank: int, context: Context) -> tuple[Parameters, int]:
    """Return the start that a search finds, and the passes that it took."""
    spent = 0

    def report(n_passes: int, log_likelihood: float) -> None:
        nonlocal spent
        spent = n_passes
        most = max(TYPICAL_PASSES, n_passes)
        context.tell(rank, 1, 1, n_passes, most, log_likelihood=log_likelihood / objective.total)

    rng = Stream.SEARCH.generator(context.seed, rank)
    return sampled_start(objective, rank, rng, report, context.until), spent


@dataclass(frozen=True)
class _Beside:
    """Random starts beside a search that has taken some passes: on a small table, or in a budget of time."""

    objective: Objective[PackedRows]
    rank: int
    n_searched: int
    context: Context

    @property
    def most(self) -> int:
        """The largest number of them, as far as it is known."""
        return 0 if self.rank == 1 or self._in_time else _STARTS_BESIDE

    @property
    def _in_time(self) -> bool:
        return bool(np.isfinite(self.context.until))

    def start(self, number: int) -> Parameters:
        """Draw one, the same that ``n_init`` would."""
        rng = Stream.START.generator(self.context.seed, self.rank, number)
        return random_start_of(self.objective, self.rank, number, rng)

    def go_on(self, runs: Sequence[Run]) -> bool:
        """Say whether another is worth its work, or may still come higher in the time that is left."""
        if self.rank == 1:
            return False
        if self._in_time:
            return self.context.seconds_left > 0 and not self.are_in_vain(runs)
        rows = self.objective.rows
        cells = len(rows) * len(self.objective.stacking.cardinalities) * self.rank + _CELLS_OF_A_PASS
        n_passes = self.n_searched + sum(run.n_passes for run in runs)
        return len(runs) <= _STARTS_BESIDE and n_passes * cells < _CELLS_IN_A_SECOND

    def are_in_vain(self, runs: Sequence[Run]) -> bool:
        """Say whether, in a budget of time, many in a row have come no higher."""
        return self._in_time and len(runs) - 1 - _best(runs, self.objective.total) >= _STARTS_IN_VAIN


def _best(runs: Sequence[Run], total: float) -> int:
    """Return the position of the run that came highest; of those that came equally high, the first."""
    highest = max(run.point.objective for run in runs)
    return next(place for place, run in enumerate(runs) if run.point.objective >= highest - _SAME_END * total)


def climb(
    objective: Objective[Any],
    table: Table,
    starts: Sequence[Parameters],
    options: AscentOptions,
    context: Context,
    beside: _Beside | None = None,
) -> Solution:
    """Climb from every start while there is time, and from more beside them; return the best end, with complaints."""
    total, runs = objective.total, list[Run]()
    rise = partial(ascend, objective, max_iter=options.max_iter, tol=options.tol, accelerate=options.accelerate)

    def report(start: int, n_passes: int, log_likelihood: float) -> None:
        mean, most = log_likelihood / total, len(starts) + (0 if beside is None else beside.most)
        context.tell(starts[0].rank, start, max(start, most), n_passes, options.max_iter, log_likelihood=mean)

    for number, start in enumerate(starts, 1):
        if runs and context.seconds_left < 0:
            break
        runs.append(rise(start, until=context.until, report=partial(report, number)))
    best, ended = max(runs, key=lambda run: run.point.objective), ""
    if beside is not None:
        while beside.go_on(runs):
            more = partial(report, len(runs) + 1)
            runs.append(rise(beside.start(len(runs) - len(starts)), until=context.until, report=more))
        best = runs[_best(runs, total)]
        ended = f"; {_STARTS_IN_VAIN} more starts came no higher" if beside.are_in_vain(runs) else ""
    record = FitRecord(
        trace=best.trace,
        stopped=f"{best.stopped}{ended}",
        n_iter=best.n_passes,
        starts=tuple(run.point.objective for run in runs),
        log_likelihood=best.point.log_likelihood,
    )
    return Solution((best.point.parameters,), record, diagnose(best, table.n_counted, table.domain))


def mixed_with_marginals(start: Parameters, marginals: np.ndarray) -> Parameters:
    """Mix a start with a little of the marginals (stacked rows, 1), so that nothing in it is impossible."""
    stack = (1 - _MARGIN) * start.stack + _MARGIN * marginals
    return Parameters((1 - _MARGIN) * start.lam + _MARGIN / start.rank, stack)


def _random_starts(objective: Objective[PackedRows], rank: int, n_init: int, seed: int) -> list[Parameters]:
    """Draw starts, each from the seed, the rank and its own number."""
    return [
        random_start_of(objective, rank, number, Stream.START.generator(seed, rank, number))
        for number in range(1 if rank == 1 else n_init)
    ]


def random_start_of(objective: Objective[PackedRows], rank: int, number: int, rng: np.random.Generator) -> Parameters:
    """Draw a start, scattered and seeded ones in turn."""
    shared = (objective.marginals, rank, objective.stacking, rng)
    return random_start(*shared) if number % 2 == 0 else seeded_start(objective.rows, *shared)


def grow(
    last: Parameters | None, table: MemoryTable, rank: int, options: EMOptions, rng: np.random.Generator
) -> Parameters:
    """Return a start of a rank: classes of the last fit are split; the first fit has one class."""
    objective = Objective.of(table.packed, Stacking(table.domain.cardinalities), options.smoothing)
    return grown(last or Parameters(np.ones(1), objective.marginals), rank, objective, rng)


def finish(table: Table, rank: int, options: EMOptions, context: Context, found: Parameters) -> Solution:
    """Fit all rows from the rough fit of the chosen rank; leave out classes that hold nothing, and climb on."""
    solution = solve(table, rank, options, context, None if options.n_init is not None else found)
    parameters = solution.parameters
    held = ~empty_classes(parameters, table.total)
    if np.all(held) or not np.any(held):
        return solution
    objective = Objective.of(table, Stacking(table.domain.cardinalities), options.smoothing)
    start = Parameters(parameters.lam[held] / parameters.lam[held].sum(), parameters.stack[:, held])
    more, before = climb(objective, table, [start], options, context), solution.record
    trace, n_iter = before.trace + more.record.trace, before.n_iter + more.record.n_iter
    return replace(more, record=replace(more.record, trace=trace, n_iter=n_iter, starts=before.starts))


GROWTH = Growth(grow, finish)
