"""The numba twins of :mod:`juror.kernels.reference`: same names, same arguments, same results to rounding.

No ``fastmath``: with it the log-sum-exp of all −inf becomes nan. Kernels release the GIL, so that threads may
share the blocks of a table.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _row_posterior(cells, i, log_lam, log_stack, out):
    """Fill out (F,) with exp(L[i] − ℓ_i) and return ℓ_i; all zero and −inf for an impossible row."""
    F = log_lam.shape[0]
    for f in range(F):
        out[f] = log_lam[f]
    for n in range(cells.shape[1]):
        log_factor = log_stack[cells[i, n]]
        for f in range(F):
            out[f] += log_factor[f]
    top = -np.inf
    for f in range(F):
        top = max(top, out[f])
    if top == -np.inf:
        out[:] = 0.0
        return top
    total = 0.0
    for f in range(F):
        out[f] = np.exp(out[f] - top)
        total += out[f]
    for f in range(F):
        out[f] /= total
    return top + np.log(total)


@njit(cache=True, nogil=True)
def log_prob(cells, log_lam, log_stack):
    """Return ℓ, the log-probability of every row, (rows,)."""
    rows = cells.shape[0]
    total = np.empty(rows)
    scratch = np.empty(log_lam.shape[0])
    for i in range(rows):
        total[i] = _row_posterior(cells, i, log_lam, log_stack, scratch)
    return total


@njit(cache=True, nogil=True)
def posterior(cells, log_lam, log_stack):
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    rows = cells.shape[0]
    total = np.empty(rows)
    R = np.empty((rows, log_lam.shape[0]))
    for i in range(rows):
        total[i] = _row_posterior(cells, i, log_lam, log_stack, R[i])
    return total, R


@njit(cache=True, nogil=True)
def expected_counts(cells, weights, log_lam, log_stack):
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F)."""
    F = log_lam.shape[0]
    class_counts = np.zeros(F)
    counts = np.zeros(log_stack.shape)
    scratch = np.empty(F)
    log_likelihood = 0.0
    for i in range(cells.shape[0]):
        log_likelihood += weights[i] * _row_posterior(cells, i, log_lam, log_stack, scratch)
        for f in range(F):
            scratch[f] *= weights[i]
            class_counts[f] += scratch[f]
        for n in range(cells.shape[1]):
            row = counts[cells[i, n]]
            for f in range(F):
                row[f] += scratch[f]
    return log_likelihood, class_counts, counts


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def project_columns(points):
    """Return the nearest point of the simplex for every column, (I, F)."""
    out = np.empty(points.shape)
    _project(points, out)
    return out


@njit(cache=True, nogil=True)
def _steepest(gram):
    steepest = 0.0
    for f in range(gram.shape[0]):
        steepest = max(steepest, np.abs(gram[f]).sum())
    return steepest


@njit(cache=True, nogil=True)
def _follow(ahead, moved, x, momentum):
    """Move x to moved and set ahead of it; return the next momentum and how far the furthest entry went."""
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


@njit(cache=True, nogil=True)
def least_squares_factor(gram, right, start, max_iter, tol):
    """Minimise ½ tr(A K Aᵗ) − tr(A rᵗ) over matrices A (I, F) with columns on the simplex."""
    steepest = _steepest(gram)
    x, ahead, trial, moved = start.copy(), start.copy(), np.empty(start.shape), np.empty(start.shape)
    momentum = 1.0
    for _ in range(max_iter if steepest > 0.0 else 0):
        for i in range(x.shape[0]):
            row = trial[i]
            row[:] = right[i]
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


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def draw_classes(cells, uniform, log_lam, log_stack):
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts."""
    F = log_lam.shape[0]
    class_counts = np.zeros(F)
    counts = np.zeros(log_stack.shape)
    scratch = np.empty(F)
    log_likelihood = 0.0
    for i in range(cells.shape[0]):
        log_prob_of_row = _row_posterior(cells, i, log_lam, log_stack, scratch)
        log_likelihood += log_prob_of_row
        if log_prob_of_row == -np.inf:
            continue
        whole = 0.0
        for f in range(F):
            whole += scratch[f]
        reached, chosen = 0.0, F - 1
        for f in range(F):
            reached += scratch[f]
            if uniform[i] * whole < reached:
                chosen = f
                break
        class_counts[chosen] += 1.0
        for n in range(cells.shape[1]):
            counts[cells[i, n], chosen] += 1.0
    return log_likelihood, class_counts, counts
