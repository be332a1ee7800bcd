"""Projected gradient over λ and the factors: monotone, with a step that adapts and momentum that is given up uphill.

A step goes from y against the gradient and back onto the simplices,

    x⁺ = Π(y − η D ∇J(y)),

where D scales every block by how steep J can be along it. η is halved until J at x⁺ lies below the parabola that a
step of this length assumes, and grows a little after every success. y is ahead of x by a share of the last step; where
that would raise J, the step is taken from x itself, which cannot.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels
from juror.solvers.stopping import Stop, Stopped

Factors = tuple[np.ndarray, ...]
# J and its gradients by λ and by every factor
Objective = Callable[[np.ndarray, Sequence[np.ndarray]], tuple[float, np.ndarray, Factors]]

# A step that lowers J makes the next one longer by the first factor; one that does not is shortened by the second.
_GROW, _SHRINK = 1.3, 0.5
# The descent ends after this many steps in a row that gain next to nothing: one may, after lost momentum.
_PATIENCE = 3
# The shortest step, as a share of the first step tried
_LEAST_STEP = 1e-15


@dataclass(frozen=True)
class Descent:
    """The last point of a descent, J at the start and after every step, which never rises, and why it stopped."""

    lam: np.ndarray
    factors: Factors
    trace: tuple[float, ...]
    stopped: Stopped


def descend(
    objective: Objective,
    lam: np.ndarray,
    factors: Sequence[np.ndarray],
    *,
    max_iter: int,
    tol: float,
    good_enough: float = 0.0,
    accelerate: bool = True,
    report: Callable[[int, float], None] = lambda step, value: None,
) -> Descent:
    """Go down from a point until steps gain less than ``tol`` of J, or ``max_iter`` steps are spent.

    The first point, λ (F,) and factors (I_n, F), lies on the simplices. The descent also stops when J is at most
    ``good_enough``. With ``accelerate`` it uses momentum. ``report`` is called after every step with the number of
    steps and J.
    """
    point = _Blocks((lam, *factors))
    value, gradient = _evaluate(objective, point)
    trace = [value]
    before, momentum, idle = point, 1.0, 0
    # The first step is as long as the point itself. That is too long, and is shortened.
    step = longest = point.length() / max(gradient.length(_scales(point)), np.finfo(float).tiny)
    least = _LEAST_STEP * longest
    stopped = Stopped(Stop.MAX_ITER, max_iter)
    for number in range(1, max_iter + 1):
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        share = (momentum - 1.0) / following if accelerate else 0.0
        ahead, ahead_value, ahead_gradient = point, value, gradient
        if share > 0.0:
            ahead = point.towards(before, -share)
            ahead_value, ahead_gradient = _evaluate(objective, ahead)
        moved, moved_value, moved_gradient, step = _step(objective, ahead, ahead_value, ahead_gradient, step, least)
        if moved_value > value and share > 0.0:
            following = 1.0
            moved, moved_value, moved_gradient, step = _step(objective, point, value, gradient, step, least)
        if moved_value > value or step < least:
            stopped = Stopped(Stop.NO_WAY_DOWN)
            break
        before, momentum = point, following
        gain = value - moved_value
        point, value, gradient = moved, moved_value, moved_gradient
        trace.append(value)
        report(number, value)
        idle = idle + 1 if gain <= tol * value else 0
        if idle == _PATIENCE:
            stopped = Stopped(Stop.GAIN_OF_STEPS, tol, _PATIENCE)
            break
        if value <= good_enough:
            stopped = Stopped(Stop.SMALL_OBJECTIVE, good_enough)
            break
    return Descent(point.blocks[0], tuple(point.blocks[1:]), tuple(trace), stopped)


@dataclass(frozen=True)
class _Blocks:
    """λ and the factors, or gradients of their shapes."""

    blocks: tuple[np.ndarray, ...]

    def towards(self, other: _Blocks, share: float) -> _Blocks:
        """Return self + share · (other − self)."""
        return _Blocks(tuple(a + share * (b - a) for a, b in zip(self.blocks, other.blocks, strict=True)))

    def length(self, scales: Sequence[np.ndarray] | None = None) -> float:
        """Return the Euclidean length, of blocks scaled if scales are given."""
        scales = [np.array(1.0)] * len(self.blocks) if scales is None else scales
        return float(np.sqrt(sum(np.sum((d * x) ** 2) for d, x in zip(scales, self.blocks, strict=True))))


def _evaluate(objective: Objective, point: _Blocks) -> tuple[float, _Blocks]:
    value, by_lam, by_factor = objective(point.blocks[0], point.blocks[1:])
    return value, _Blocks((by_lam, *by_factor))


def _project(block: np.ndarray) -> np.ndarray:
    """Return the nearest point on the simplex of λ (F,), or of every column of a factor (I_n, F)."""
    if block.ndim == 1:
        return kernels().project_columns(block[:, None])[:, 0]
    return kernels().project_columns(block)


def _scales(point: _Blocks) -> list[np.ndarray]:
    """Return D: along a column of a factor J, quadratic in it, is as steep as the class is heavy, squared."""
    lam = np.maximum(point.blocks[0], 0.0)
    heavy = (lam + 0.1 / len(lam)) ** 2
    return [np.array(1.0)] + [1.0 / heavy] * (len(point.blocks) - 1)


def _step(
    objective: Objective, point: _Blocks, value: float, gradient: _Blocks, step: float, shortest: float
) -> tuple[_Blocks, float, _Blocks, float]:
    """Return the point after a step that fits its parabola, J and gradient there, and the next length to try."""
    scales = _scales(point)
    while True:
        trial = _Blocks(
            tuple(_project(x - step * d * g) for x, d, g in zip(point.blocks, scales, gradient.blocks, strict=True))
        )
        slope, length = 0.0, 0.0
        for x, t, d, g in zip(point.blocks, trial.blocks, scales, gradient.blocks, strict=True):
            moved = t - x
            slope += float(np.vdot(moved, g))
            length += float(np.sum(moved * moved / d))
        trial_value, trial_gradient = _evaluate(objective, trial)
        rounding = 1e-14 * abs(value)
        if trial_value <= value + slope + length / (2.0 * step) + rounding or step < shortest:
            return trial, trial_value, trial_gradient, step * _GROW
        step *= _SHRINK
