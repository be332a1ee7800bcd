"""Rows whose scaled products underflow, in log space.

Most fits have none. So these kernels are compiled when the first such row is met, and not with those of every fit.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.products import row_in_logs


@kernel
def fill_logs(cells, lost, tables, logs):
    """Fill logs (rows,) with ℓ of the rows that are lost."""
    joint, bits = np.empty(tables.lam.shape[0]), np.empty(tables.lam.shape[0])
    for i in lost:
        logs[i] = row_in_logs(cells, i, tables, joint, bits)[1]


@kernel
def count_lost(cells, weights, lost, tables, classes, counts):
    """Add the rows that are lost to class counts (F,) and counts (stacked rows, F); return their Σ w ℓ."""
    F, log_likelihood = tables.lam.shape[0], 0.0
    joint, bits = np.empty(F), np.empty(F)
    for i in lost:
        over, log = row_in_logs(cells, i, tables, joint, bits)
        log_likelihood += weights[i] * log
        if over == 0.0:
            # An impossible row is in no class.
            continue
        for f in range(F):
            joint[f] *= weights[i] / over
            classes[f] += joint[f]
        _add_row(cells, i, tables, joint, counts)
    return log_likelihood


@part
def _add_row(cells, i, t, joint, counts):
    """Add joint (F,) to the counts of all stacked rows of a row of the table."""
    for g in range(cells.shape[1]):
        for number in range(t.parts.shape[1]):
            part = t.parts[cells[i, g], number]
            if part >= 0:
                row = counts[part]
                for f in range(joint.shape[0]):
                    row[f] += joint[f]
