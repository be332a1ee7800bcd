"""Why a search stopped: a fact that code asks for, and the words for people."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from juror.errors import Complaint


class Stop(Enum):
    """A reason, with its words; ``limit`` is the threshold that ended the search, ``count`` a number of steps."""

    MAX_ITER = "reached max_iter = {limit}"
    MAX_SECONDS = "spent max_seconds"
    GAIN_A_ROW = "converged: the last step gained at most tol = {limit:g} a row"
    GAIN_OF_SWEEP = "converged: the last sweep gained at most tol = {limit:g} of the objective"
    GAIN_OF_STEPS = "converged: the last {count} steps gained at most tol = {limit:g} of the objective each"
    CHANGE_OF_ROUND = "converged: the last round changed J1 by at most tol = {limit:g} of it"
    SMALL_MISFIT = "converged: the misfit is below {limit:g} of the tables' own square"
    SMALL_OBJECTIVE = "converged: the objective is below {limit:.3g}, nothing beside the data's own square"
    NO_LOWER_ROUND = "stopped: {count} rounds brought no lower J1"
    NO_WAY_DOWN = "stopped: no step along the gradient goes down any more"
    NO_STEPS = "SPA has no steps to converge"
    CLOSED_FORM = "counted along the edges, in closed form"


@dataclass(frozen=True)
class Stopped:
    """The end of one search.

    >>> str(Stopped(Stop.MAX_ITER, 1000))
    'reached max_iter = 1000'
    """

    by: Stop
    limit: float = 0.0
    count: int = 0

    def __str__(self) -> str:
        return self.by.value.format(limit=self.limit, count=self.count)


def not_converged(what: str, stopped: Stopped) -> tuple[Complaint, ...]:
    """Complain if a search took all the steps that it may."""
    if stopped.by is not Stop.MAX_ITER:
        return ()
    complaint = Complaint(
        "max-iter",
        "{what} reached {max_iter: = {limit}} before it converged. Raise {max_iter} or {tol}.",
        what=what,
        limit=stopped.limit,
    )
    return (complaint,)
