"""Expected counts if the log-probabilities of all rows are known, chunk after chunk of classes.

This is the second of two passes over rows whose tables are larger than the cache, as those of forests are: the tables
and the counts of one chunk at a time should stay in it.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.products import SAFE, aligned, padded, row_in_logs
from juror.kernels.jit.vectors import add, for_widths, load, multiply, spread, store

_LOG_SAFE = np.log(SAFE)


def _count(W):
    def count_vectors(cells, shares, lam, stack, f, L, counts, classes):
        at, every = f * L, spread(0.0, W)
        for i in range(cells.shape[0]):
            row = cells[i]
            share = multiply(load(lam, f, W), spread(shares[i], W))
            for g in range(row.shape[0]):
                share = multiply(share, load(stack, at + np.int64(row[g]) * W, W))
            every = add(every, share)
            for g in range(row.shape[0]):
                cell = np.int64(row[g]) * W
                store(counts, cell, add(load(counts, cell, W), share))
        store(classes, f, every)

    return count_vectors


def _fold_into(W):
    def fold_into(counts, parts, f, F, table):
        for row in range(parts.shape[0]):
            counted = load(counts, row * W, W)
            for number in range(parts.shape[1]):
                part = parts[row, number]
                if part >= 0:
                    place = np.int64(part) * F + f
                    store(table, place, add(load(table, place, W), counted))

    return fold_into


_count_8, _count_16 = for_widths(_count)
_fold_into_8, _fold_into_16 = for_widths(_fold_into)


@kernel
def counts_given(cells, weights, logs, totals, tables):
    """Return the class counts (F,) and the expected counts C (stacked rows, F), given ℓ of all rows under a model."""
    t, (n_stacked, F), W = tables, tables.stack.shape, tables.width
    shares, slow = _find_shares(cells, weights, logs, totals, t)
    classes, counts, chunk = np.zeros(padded(t)), np.zeros((n_stacked, F)), aligned(t.parts.shape[0] * W)
    flat = counts.reshape(n_stacked * F)
    for f in range(0, t.scaled_lam.shape[0], W):
        _count_chunk(cells, shares, t, f, chunk, classes)
        _fold_chunk(chunk, t, f, flat)
    joint, bits = np.empty(F), np.empty(F)
    for i in slow:
        over, log = row_in_logs(cells, i, t, joint, bits)
        share = weights[i] * np.exp(log - totals[i]) / over
        for f in range(F):
            joint[f] *= share
            classes[f] += joint[f]
        for g in range(cells.shape[1]):
            for number in range(t.parts.shape[1]):
                part = t.parts[cells[i, g], number]
                if part >= 0:
                    row = counts[part]
                    for f in range(F):
                        row[f] += joint[f]
    return classes[:F].copy(), counts


@kernel
def _find_shares(cells, weights, logs, totals, t):
    """Return what scaled products of every row are multiplied by, (rows,), and the rows that need log space."""
    rows, L = cells.shape[0], t.parts.shape[0]
    shares, slow, n_slow = np.zeros(rows), np.empty(rows, dtype=np.int64), 0
    for i in range(rows):
        if logs[i] == -np.inf:
            continue
        scale = -np.inf
        if t.log_scales.shape[0] > 0:
            scale = t.log_scales[L]
            for g in range(cells.shape[1]):
                scale += t.log_scales[cells[i, g]]
        # The sum of the scaled products is e^(ℓ − scale).
        if scale == -np.inf or logs[i] - scale < _LOG_SAFE:
            slow[n_slow] = i
            n_slow += 1
        else:
            shares[i] = weights[i] * np.exp(scale - totals[i])
    return shares, slow[:n_slow]


@kernel
def _count_chunk(cells, shares, t, f, counts, classes):
    """Fill counts (L · W,) with the products of all rows, each times its share; add them up in classes, (chunks · W,).

    The products of one chunk are computed again: all of them would not stay in the cache.
    """
    counts[:] = 0.0
    if t.width == 16:
        _count_16(cells, shares, t.scaled_lam, t.scaled, f, t.parts.shape[0], counts, classes)
    else:
        _count_8(cells, shares, t.scaled_lam, t.scaled, f, t.parts.shape[0], counts, classes)


@kernel
def _fold_chunk(counts, t, f, table):
    """Add the counts of one chunk, (L · W,), to those of stacked rows, (stacked rows · F,)."""
    F, W = t.lam.shape[0], t.width
    if f + W <= F and W == 16:
        _fold_into_16(counts, t.parts, f, F, table)
    elif f + W <= F:
        _fold_into_8(counts, t.parts, f, F, table)
    else:
        for row in range(t.parts.shape[0]):
            for number in range(t.parts.shape[1]):
                part = np.int64(t.parts[row, number])
                if part >= 0:
                    for lane in range(F - f):
                        table[part * F + f + lane] += counts[row * W + lane]
