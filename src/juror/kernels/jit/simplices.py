"""Projections onto simplices and least squares over them; see the definitions in NumPy."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part


@part
def _project(points, out):
    """Fill out with the nearest point of the simplex for every column of points, (I, F)."""
    for f in range(points.shape[1]):
        top = points[:, f].max()
        falling = -np.sort(top - points[:, f])
        excess, theta = -1.0, 0.0
        for i in range(falling.shape[0]):
            excess += falling[i]
            if falling[i] * (i + 1) > excess:
                theta = excess / (i + 1)
            else:
                break
        for i in range(points.shape[0]):
            out[i, f] = max(points[i, f] - top - theta, 0.0)


@kernel
def project_columns(points):
    """Return the nearest point of the simplex for every column, (I, F)."""
    out = np.empty(points.shape)
    _project(points, out)
    return out


@part
def _steepest(gram):
    steepest = 0.0
    for f in range(gram.shape[0]):
        steepest = max(steepest, np.abs(gram[f]).sum())
    return steepest


@part
def _follow(ahead, moved, x, momentum):
    """Set x to moved and ahead beyond it; return the next momentum and the largest change of an entry."""
    uphill, furthest = 0.0, 0.0
    for i in range(x.shape[0]):
        for f in range(x.shape[1]):
            step = moved[i, f] - x[i, f]
            uphill += (ahead[i, f] - moved[i, f]) * step
            furthest = max(furthest, abs(step))
    if uphill > 0.0:
        momentum = 1.0
    following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
    share = (momentum - 1.0) / following
    for i in range(x.shape[0]):
        for f in range(x.shape[1]):
            ahead[i, f] = moved[i, f] + share * (moved[i, f] - x[i, f])
            x[i, f] = moved[i, f]
    return following, furthest


@kernel
def least_squares_factor(gram, right, start, max_iter, tol):
    """Minimise ½ tr(A K Aᵗ) − tr(A rᵗ) over matrices A (I, F) with columns on the simplex."""
    steepest = _steepest(gram)
    x, ahead, trial, moved = start.copy(), start.copy(), np.empty(start.shape), np.empty(start.shape)
    momentum = 1.0
    for _ in range(max_iter if steepest > 0.0 else 0):
        for i in range(x.shape[0]):
            row = trial[i]
            for f in range(x.shape[1]):
                row[f] = right[i, f]
            for g in range(x.shape[1]):
                share, along = ahead[i, g], gram[g]
                for f in range(x.shape[1]):
                    row[f] -= share * along[f]
            for f in range(x.shape[1]):
                row[f] = ahead[i, f] + row[f] / steepest
        _project(trial, moved)
        momentum, furthest = _follow(ahead, moved, x, momentum)
        if furthest <= tol:
            break
    return x


@kernel
def least_squares_weights(gram, right, start, max_iter, tol):
    """Minimise ½ λᵗ K λ − rᵗ λ over the simplex, (F,)."""
    steepest = _steepest(gram)
    F = start.shape[0]
    x, ahead = start.copy().reshape(F, 1), start.copy().reshape(F, 1)
    trial, moved = np.empty((F, 1)), np.empty((F, 1))
    momentum = 1.0
    for _ in range(max_iter if steepest > 0.0 else 0):
        for f in range(F):
            slope = -right[f]
            for g in range(F):
                slope += gram[f, g] * ahead[g, 0]
            trial[f, 0] = ahead[f, 0] - slope / steepest
        _project(trial, moved)
        momentum, furthest = _follow(ahead, moved, x, momentum)
        if furthest <= tol:
            break
    return x[:, 0].copy()
