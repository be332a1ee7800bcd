"""Projections onto simplices and least squares over them.

Least squares uses projected gradient steps with momentum; the momentum is reset whenever it points uphill. The step
length is one over the largest row sum of |K|, which bounds its largest eigenvalue.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def project_columns(points: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex for every column.

    The nearest point is max(v − θ, 0) with the θ that makes it sum to one; θ follows from the sorted values.

    Parameters
    ----------
    points : numpy.ndarray, (I, F)
        Finite numbers.

    Examples
    --------
    >>> project_columns(np.array([[2.0, 0.5], [0.0, 0.5]])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    # A constant added to a column does not change the result; near zero less is lost to rounding.
    points = points - points.max(axis=0)
    falling = -np.sort(-points, axis=0)
    excess = np.cumsum(falling, axis=0) - 1.0
    size = np.arange(1, len(points) + 1)[:, None]
    # The support ends where the sorted values fall to θ.
    support = np.count_nonzero(falling * size > excess, axis=0)
    theta = np.take_along_axis(excess, support[None] - 1, axis=0) / support
    return np.maximum(points - theta, 0.0)


def least_squares_factor(
    gram: np.ndarray, right: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """Minimise ½ tr(A K Aᵗ) − tr(A rᵗ) over matrices A (I, F) with columns on the simplex.

    Parameters
    ----------
    gram : numpy.ndarray, (F, F)
        K, positive semi-definite.
    right : numpy.ndarray, (I, F)
        r.
    start : numpy.ndarray, (I, F)
        The first point.
    max_iter : int
        The maximum number of steps.
    tol : float
        Stop when no entry moves further than this in a step.
    """
    return _least_squares(lambda A: A @ gram - right, gram, start, max_iter, tol)


def least_squares_weights(
    gram: np.ndarray, right: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """Minimise ½ λᵗ K λ − rᵗ λ over the simplex, (F,); arguments as in :func:`least_squares_factor`, r (F,)."""
    return _least_squares(lambda lam: gram @ lam - right[:, None], gram, start[:, None], max_iter, tol)[:, 0]


def _least_squares(
    gradient: Callable[[np.ndarray], np.ndarray], gram: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    steepest = np.abs(gram).sum(axis=1).max()
    if steepest == 0.0:
        return start.copy()
    x, ahead, momentum = start.copy(), start, 1.0
    for _ in range(max_iter):
        moved = project_columns(ahead - gradient(ahead) / steepest)
        step = moved - x
        if np.vdot(ahead - moved, step) > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        x, ahead, momentum = moved, moved + ((momentum - 1.0) / following) * step, following
        if np.abs(step).max() <= tol:
            break
    return x
