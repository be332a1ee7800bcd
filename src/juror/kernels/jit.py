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
