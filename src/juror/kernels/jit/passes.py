"""Passes over the rows of a table; :mod:`juror.kernels.reference.passes` has the definitions in NumPy."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.products import (
    NONE,
    SAFE,
    add_block,
    aligned,
    aligned_room,
    block_size,
    find_classes,
    fold_counts,
    log_of_sum,
    multiply_block,
    multiply_chunk,
    padded,
)
from juror.kernels.jit.random_numbers import uniform
from juror.kernels.jit.rows_in_logs import count_lost
from juror.kernels.jit.two_passes import row_sums


def log_prob(cells, tables):
    """Return ℓ, the log-probability of every row, (rows,)."""
    return row_sums(cells, tables)[0]


@kernel
def posterior(cells, tables):
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    rows, F, W, P = cells.shape[0], tables.lam.shape[0], tables.width, padded(tables)
    # Write products into R directly, unless F is padded.
    in_place, block = P == F, block_size(cells, W if P == F else P)
    logs, sums, R = np.empty(rows), np.empty(block), np.empty((rows, F))
    products = R.reshape(rows * F) if in_place else aligned(block * P)
    for first in range(0, rows, block):
        n = min(block, rows - first)
        place = first * P if in_place else 0
        multiply_block(cells, first, n, tables, products, place, P, W, sums, logs[first:])
        for i in range(n):
            row, share = R[first + i], 1.0 / sums[i] if sums[i] > 0.0 else 0.0
            of = products[place + i * P : place + i * P + F]
            for f in range(F):
                row[f] = of[f] * share
    return logs, R


def expected_counts(cells, weights, tables):
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F)."""
    (n_stacked, F), P = tables.stack.shape, padded.py_func(tables)
    block = block_size.py_func(cells, P)
    sums, products, counts = np.empty(block), aligned_room(block * P), aligned_room(len(tables.parts) * P)
    counts[:] = 0.0
    lost, classes, table = np.empty(len(cells), dtype=np.int64), np.empty(F), np.empty((n_stacked, F))
    scratch = sums, products, counts, np.zeros(P * n_stacked), np.zeros(P)
    log_likelihood, n_lost = _count_all(cells, weights, tables, *scratch, classes, table, lost)
    if n_lost:
        log_likelihood += count_lost(cells, weights, lost[:n_lost], tables, classes, table)
    return log_likelihood, classes, table


@kernel
def _count_all(cells, weights, tables, sums, products, counts, stacked, every, classes, table, lost):
    """Fill class counts and the table with all rows but those that are lost, which need log space.

    List these; return Σ w ℓ of the others, and how many are lost.
    """
    t, block, W = tables, sums.shape[0], tables.width
    log_likelihood, n_lost, in_logs = 0.0, 0, t.scaled_lam.shape[0] == 0
    for first in range(0, cells.shape[0], block):
        n = min(block, cells.shape[0] - first)
        for i in range(n):
            sums[i] = 0.0
        for f in range(0, t.scaled_lam.shape[0], W):
            multiply_chunk(cells, first, n, t, f, products, f * block, W, sums)
        for i in range(n):
            if sums[i] >= SAFE:
                log_likelihood += weights[first + i] * log_of_sum(cells, first + i, t, sums[i])
                sums[i] = weights[first + i] / sums[i]
            else:
                sums[i], lost[n_lost] = 0.0, first + i
                n_lost += 1
        if not in_logs:
            add_block(cells, first, n, t, block, products, sums, counts)
    fold_counts(counts, t, cells.shape[1], stacked, every, classes, table)
    return log_likelihood, n_lost


@kernel
def draw_classes(cells, key, first_number, tables):
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts."""
    L, F, W, P = tables.parts.shape[0], tables.lam.shape[0], tables.width, padded(tables)
    block = block_size(cells, P)
    sums, logs, products = np.empty(block), np.empty(block), aligned(block * P)
    classes, counts = np.empty(block, dtype=np.int64), np.zeros(P * L)
    log_likelihood = 0.0
    for first in range(0, cells.shape[0], block):
        n = min(block, cells.shape[0] - first)
        multiply_block(cells, first, n, tables, products, NONE, W, block * W, sums, logs)
        for i in range(n):
            log_likelihood += logs[i]
            sums[i] *= uniform(key, first_number + first + i)
        find_classes(products, n, block, F, W, sums, classes)
        for i in range(n):
            if classes[i] >= 0:
                row, at = cells[first + i], classes[i] // W * W * L + classes[i] % W
                for g in range(row.shape[0]):
                    counts[at + np.int64(row[g]) * W] += 1.0
    n_stacked = tables.stack.shape[0]
    class_counts, cell_counts = np.empty(F), np.empty((n_stacked, F))
    fold_counts(counts, tables, cells.shape[1], np.zeros(P * n_stacked), np.zeros(P), class_counts, cell_counts)
    return log_likelihood, class_counts, cell_counts


@kernel
def add_counts(cells, drawn, counts):
    """For every row i and class f, add drawn[i, f] to the counts (L, F) of the row's cells."""
    for i in range(cells.shape[0]):
        for f in range(drawn.shape[1]):
            # Most rows were drawn in few classes.
            if drawn[i, f] > 0.0:
                for n in range(cells.shape[1]):
                    counts[cells[i, n], f] += drawn[i, f]


def folded(parts, counts, n_stacked):
    """Return counts of stacked rows, (n_stacked, F), from counts of packed rows, (L, F)."""
    out = np.zeros((n_stacked, counts.shape[1]))
    _fold(parts, counts, out)
    return out


@kernel
def _fold(parts, counts, out):
    """Add counts of packed rows to those of stacked rows."""
    for row in range(parts.shape[0]):
        of = counts[row]
        for number in range(parts.shape[1]):
            part = parts[row, number]
            if part >= 0:
                into = out[part]
                for f in range(of.shape[0]):
                    into[f] += of[f]
