"""The members of an ensemble: EM fits that are stopped early.

A fit that is stopped when rows it has not seen become less probable is no worse than one that has converged, takes a
tenth of the time, and differs from others of its kind. Each member holds out rows of its own to stop by.
Labels are predicted about as well along most of the way, and every row helps, so that members made to predict hold out
none and stop when their steps become small.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juror.errors import ParameterError
from juror.fitting.choose import Trial
from juror.rows.distinct import WeightedRows
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.em import LongStep, Objective, PlainStep, ascend
from juror.solvers.parameters import Parameters
from juror.solvers.search import EMOptions, random_start_of

# To tell when to stop so many rows are enough; of few rows this share is held out.
_ENOUGH_HELD_OUT, _MOST_HELD_OUT = 4000, 0.1
# A member stops when so many steps in a row brought no higher score. Before the first look classes are hardly apart.
_PATIENCE = 3
_FIRST_LOOK = 4
# Who has not stopped by now has many rows for its classes, and a long way to go.
_PLAIN = 20
# Members made to predict stop at a step that gains no more than this, in nats a row.
_ROUGH_TOL = 1e-3


@dataclass(frozen=True)
class Member:
    """One fit of an ensemble: where it stopped, the mean log-probability of its rows there, and its passes over them.

    The rows are those that it held out to stop by, or all where it held out none. ``cut`` names the option that ended
    it before it would have stopped by itself.
    """

    parameters: Parameters
    score: float
    n_passes: int
    by_held_out: bool
    cut: str = ""


def held_out_share(rows: WeightedRows) -> float:
    """Return the share of the rows that each member holds out to stop by."""
    return min(_MOST_HELD_OUT, _ENOUGH_HELD_OUT / rows.total)


def fit_members(trial: Trial, options: EMOptions, rank: int, smoothing: float, numbers: Sequence[int]) -> list[Member]:
    """Fit some members side by side, one a thread.

    Parameters
    ----------
    trial : Trial
        Rows, domain, target and context.
    options : EMOptions
        The most passes of each; after the context's moment none begins another.
    rank, smoothing : int, float
        F and α of each.
    numbers : sequence of int
        Which members: a number stands for a start and for the rows held out, and so for the same member always.
    """

    def fit(number: int) -> Member:
        return _fit_member(trial, options, rank, smoothing, number)

    return list(trial.context.runner.map(fit, numbers))


def _fit_member(trial: Trial, options: EMOptions, rank: int, smoothing: float, number: int) -> Member:
    rng = np.random.default_rng([trial.context.seed, rank, number, 4])
    kept, held = trial.rows.split(held_out_share(trial.rows), rng)
    # of a handful of rows none may be left on one side; a single class has nothing to learn too well
    by_held_out = trial.target is None and rank > 1 and kept.total > 0 and held.total > 0
    rows = kept if by_held_out else trial.rows
    objective = Objective(rows, Stacking(trial.domain.cardinalities), smoothing, LocalRunner(1))
    start = random_start_of(objective, rank, number, rng)
    if by_held_out:
        return _climb_while_held_out_gain(trial, objective, start, held, options.max_iter)
    until = trial.context.until
    run = ascend(objective, start, max_iter=options.max_iter, tol=_ROUGH_TOL, accelerate=False, until=until)
    cut = {"reached": "max_iter", "spent": "max_seconds"}.get(run.reason.split()[0], "")
    return Member(run.point.parameters, run.point.log_likelihood / objective.total, run.n_passes, False, cut)


def _climb_while_held_out_gain(
    trial: Trial, objective: Objective, parameters: Parameters, held: WeightedRows, most: int
) -> Member:
    """Take EM steps until the rows held out become no more probable: plain ones first, long ones after a while."""
    plain, long = PlainStep(objective), LongStep(objective)
    point = objective.at(parameters)
    best, score, stale, n_passes = parameters, -np.inf, 0, 0
    cut = ""
    while stale < _PATIENCE and not cut:
        point, spent = (plain if n_passes < _PLAIN else long)(point, most - n_passes)
        n_passes += spent
        if n_passes >= most:
            cut = "max_iter"
        elif trial.context.seconds_left < 0:
            cut = "max_seconds"
        if n_passes < _FIRST_LOOK and not cut:
            continue
        found = trial.score(point.parameters, held)
        if found > score:
            best, score, stale = point.parameters, found, 0
        else:
            stale += 1
    if score == -np.inf:
        raise ParameterError(
            f"smoothing is {objective.smoothing:g}, and some row that a member of the ensemble held out has "
            "probability zero, so that it cannot tell when to stop. Pass smoothing above zero."
        )
    return Member(best, score, n_passes, True, cut if stale < _PATIENCE else "")
