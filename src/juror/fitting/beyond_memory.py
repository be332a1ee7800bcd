"""Forests for rows that do not fit in memory: found on a sample of the rows, then climbed over all of them.

The pairs of all rows are counted in one pass, and give the forest. A member of an ensemble is fitted along it to the
sample, which also chooses rank and smoothing; EM steps over all rows lead on from there.
"""

from __future__ import annotations

from juror.counts.counts import PairCounts
from juror.fitting.choose import Chosen
from juror.fitting.held_out import Trial
from juror.fitting.members import climb_along
from juror.record import FitRecord
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.ascent import ascend
from juror.solvers.chow_liu import edge_gains, strongest_forest
from juror.solvers.em import EMOptions
from juror.solvers.shared_forest import SharedForest
from juror.solvers.solver import Solution

# Steps that gain less than this, in nats a row, are not worth a pass over all rows.
_LEAST_GAIN = 1e-4


def fit_beyond_memory(table: Table, trial: Trial, options: EMOptions, chosen: Chosen) -> Solution:
    """Fit all rows along the forest of their pairs, from a fit to the sample that the trial is about."""
    context, domain = trial.context, trial.domain
    forest = strongest_forest(edge_gains(PairCounts.of_rows(table)))
    start = climb_along(trial, options, chosen.setting, forest)
    stacking = Stacking(domain.cardinalities, forest)
    objective = SharedForest.along(table.along(forest), stacking, chosen.smoothing)

    def report(n_passes: int, log_likelihood: float) -> None:
        context.tell(chosen.rank, 1, 1, n_passes, options.max_iter, log_likelihood=log_likelihood / objective.total)

    tol = max(options.tol, _LEAST_GAIN)
    run = ascend(
        objective, start, max_iter=options.max_iter, tol=tol, accelerate=False, until=context.until, report=report
    )
    record = FitRecord(
        trace=run.trace,
        stopped=str(run.stopped),
        n_iter=run.n_passes,
        starts=(run.point.objective,),
        log_likelihood=run.point.log_likelihood,
        forests="one for all classes",
    )
    return Solution((run.point.parameters,), record)
