"""Expectation–maximisation for the CPD, by maximum likelihood or maximum a posteriori.

For rows x_i with weights w_i, class weights λ (F,) and factors A_n (I_n, F), the objective is

    J(λ, A) = Σ_i w_i log Σ_f λ_f Π_{n seen in i} A_n[x_in, f]  +  α (Σ_f log λ_f + Σ_{n,x,f} I_n m_n[x] log A_n[x, f])

where α is the named smoothing, zero for maximum likelihood: a pseudo-count of α per cell on average, spread over the
labels of a variable as its marginal m_n is. A pass over the rows gives the expected counts of every label in every
class; adding the pseudo-counts and scaling to the simplex gives the next point, and J never falls. A missing cell takes
no part in its row, and so adds to no count; a class in which a variable is never seen has the variable's marginal.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np

from juror.errors import Message, ParameterError
from juror.kernels.logarithms import log_of
from juror.rows.expected import ExpectedCounts
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Countable
from juror.solvers.squarem import extrapolate
from juror.solvers.stopping import Stop, Stopped


@dataclass(frozen=True)
class Point:
    """Parameters with what a pass over the rows found there."""

    parameters: Parameters
    counts: ExpectedCounts
    objective: float

    @property
    def log_likelihood(self) -> float:
        """Σ_i w_i log p(x_i), without the smoothing term."""
        return self.counts.log_likelihood


@dataclass(frozen=True)
class Run:
    """One ascent from one start: the last point, the objective at the start and after every step, and why it stopped.

    ``n_passes`` counts EM updates and trial evaluations: passes over the rows after the first.
    """

    point: Point
    trace: tuple[float, ...]
    stopped: Stopped
    n_passes: int


R = TypeVar("R", bound=Countable)


@dataclass(frozen=True, eq=False)
class Objective(Generic[R]):
    """J for given rows and smoothing.

    Attributes
    ----------
    rows, stacking : Countable, Stacking
        The rows to pass over, and the positions of their variables in the stack.
    smoothing : float
        The pseudo-count α of a cell, on average.
    marginals, pseudo_counts : numpy.ndarray, (stacked rows, 1)
        m_n[x], the distribution of a variable in a class that does not show it, and α I_n m_n[x].
    total : float
        The sum of the row weights.
    """

    rows: R
    stacking: Stacking
    smoothing: float
    marginals: np.ndarray
    pseudo_counts: np.ndarray
    total: float

    @classmethod
    def of(cls, rows: R, stacking: Stacking, smoothing: float) -> Objective[R]:
        """Make the objective of some rows."""
        marginals = stacking.marginals(rows.label_counts)
        return cls(rows, stacking, smoothing, marginals, stacking.pseudo_counts(smoothing, marginals), rows.total)

    def over(self, rows: R) -> Objective[R]:
        """Return the objective of other rows with the same marginals and pseudo-counts."""
        return replace(self, rows=rows, total=rows.total)

    def with_smoothing(self, smoothing: float) -> Objective[R]:
        """Return the objective with another smoothing."""
        pseudo_counts = self.stacking.pseudo_counts(smoothing, self.marginals)
        return replace(self, smoothing=smoothing, pseudo_counts=pseudo_counts)

    def at(self, parameters: Parameters) -> Point:
        """Pass over the rows."""
        counts = self.rows.expected(parameters.lam, parameters.stack)
        penalty = 0.0
        if self.smoothing > 0:
            # The stack's rows of ones have logarithm zero and so add nothing.
            penalty = self.smoothing * float(log_of(parameters.lam).sum())
            penalty += float((self.pseudo_counts * log_of(parameters.stack)).sum())
        return Point(parameters, counts, counts.log_likelihood + penalty)

    def update(self, point: Point) -> Parameters:
        """Take the EM step from a point."""
        lam = point.counts.classes + self.smoothing
        unseen = np.broadcast_to(self.marginals, point.counts.cells.shape)
        stack = self.stacking.normalise(point.counts.cells + self.pseudo_counts, otherwise=unseen)
        return Parameters(lam / lam.sum(), stack, self.stacking.forest)


def ascend(
    objective: Objective[Any],
    start: Parameters,
    *,
    max_iter: int,
    tol: float,
    accelerate: bool,
    until: float = np.inf,
    report: Callable[[int, float], None] = lambda n_passes, log_likelihood: None,
) -> Run:
    """Climb from a start until a step gains at most ``tol`` a row, or ``max_iter`` passes are spent.

    Parameters
    ----------
    objective, start : Objective, Parameters
        What to climb, and the first point.
    max_iter : int
        The most passes over the rows; without acceleration this is the number of EM steps.
    tol : float
        The least gain of a step, in nats per row.
    accelerate : bool
        Whether to try SQUAREM's long steps. One is taken only where J is no lower for it.
    until : float
        The deadline by ``time.monotonic``: after it, no step but the first begins.
    report : callable
        Called after each step with the number of passes and the log-likelihood.
    """
    plain, long = PlainStep(objective), LongStep(objective)
    point = objective.at(start)
    if point.log_likelihood == -np.inf and objective.smoothing == 0:
        text = Message(
            "The start gives some row probability zero, and without smoothing EM cannot mend that. Pass {smoothing} "
            "above zero, or an {init} whose cells are all above zero."
        )
        raise ParameterError(text)
    trace, n_passes = [point.objective], 0
    stopped = Stopped(Stop.MAX_ITER, max_iter)
    while n_passes < max_iter:
        if n_passes > 0 and time.monotonic() > until:
            stopped = Stopped(Stop.MAX_SECONDS)
            break
        # The first step is plain: it sets labels without any count to zero, where a leap would leave them above zero.
        step = long if accelerate and n_passes > 0 else plain
        point, spent = step(point, max_iter - n_passes)
        n_passes += spent
        gain = point.objective - trace[-1]
        trace.append(point.objective)
        report(n_passes, point.log_likelihood)
        if gain <= tol * objective.total:
            stopped = Stopped(Stop.GAIN_A_ROW, tol)
            break
    return Run(point, tuple(trace), stopped, n_passes)


@dataclass(frozen=True)
class PlainStep:
    """One EM step."""

    objective: Objective[Any]

    def __call__(self, point: Point, budget: int) -> tuple[Point, int]:
        """Return the next point, and the passes it took of those in the budget."""
        return self.objective.at(self.objective.update(point)), 1


@dataclass
class LongStep:
    """Two EM steps and a leap along them; the second step itself where the leap would lower J."""

    objective: Objective[Any]
    _longest: float = 4.0

    def __call__(self, point: Point, budget: int) -> tuple[Point, int]:
        """Return the next point, and the passes it took of those in the budget."""
        objective = self.objective
        first = objective.at(objective.update(point))
        if budget < 3:
            return first, 1
        second = objective.update(first)
        leap, length = extrapolate(point.parameters, first.parameters, second, self._longest)
        if leap is None:
            return objective.at(second), 2
        landed = objective.at(replace(leap, stack=objective.stacking.normalise(leap.stack, otherwise=second.stack)))
        if landed.objective >= first.objective:
            if length >= self._longest:
                self._longest *= 4.0
            return landed, 2
        self._longest = max(4.0, length / 2.0)
        return objective.at(second), 3
