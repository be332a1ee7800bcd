"""EM as one would write it in numba at once: for rows, for classes, for columns, in double precision and logarithms."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def plain_pass(cells, log_lam, log_stack):
    """Return Σ ℓ, class counts (F,) and counts of every label in every class (stacked rows, F).

    ``cells`` (rows, N) are the rows of the stack (stacked rows, F) that each row selects; a missing cell selects one
    whose logarithms are zero.
    """
    n_rows, n_columns = cells.shape
    F = log_lam.shape[0]
    classes, counts = np.zeros(F), np.zeros(log_stack.shape)
    joint = np.empty(F)
    log_likelihood = 0.0
    for i in range(n_rows):
        top = -np.inf
        for f in range(F):
            value = log_lam[f]
            for n in range(n_columns):
                value += log_stack[cells[i, n], f]
            joint[f] = value
            if value > top:
                top = value
        total = 0.0
        for f in range(F):
            joint[f] = np.exp(joint[f] - top)
            total += joint[f]
        log_likelihood += top + np.log(total)
        for f in range(F):
            share = joint[f] / total
            classes[f] += share
            for n in range(n_columns):
                counts[cells[i, n], f] += share
    return log_likelihood, classes, counts


@njit(cache=True)
def plain_pass_by_column(cells, log_lam, log_stack):
    """Do the same with columns outside and classes inside, which reads the stack in order."""
    n_rows, n_columns = cells.shape
    F = log_lam.shape[0]
    classes, counts = np.zeros(F), np.zeros(log_stack.shape)
    joint = np.empty(F)
    log_likelihood = 0.0
    for i in range(n_rows):
        for f in range(F):
            joint[f] = log_lam[f]
        for n in range(n_columns):
            row = cells[i, n]
            for f in range(F):
                joint[f] += log_stack[row, f]
        top = joint[0]
        for f in range(F):
            top = max(top, joint[f])
        total = 0.0
        for f in range(F):
            joint[f] = np.exp(joint[f] - top)
            total += joint[f]
        log_likelihood += top + np.log(total)
        for f in range(F):
            joint[f] /= total
            classes[f] += joint[f]
        for n in range(n_columns):
            row = cells[i, n]
            for f in range(F):
                counts[row, f] += joint[f]
    return log_likelihood, classes, counts
