"""Expected counts in two passes: the sum of every row over the classes, then the counts, chunk after chunk of classes.

If the tables are larger than the cache, as those of forests are, this is faster than one pass: the tables and the
counts of one chunk at a time stay in it.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.products import (
    NONE,
    SAFE,
    aligned,
    block_size,
    log_of_sum,
    multiply_chunk,
    padded,
    row_in_logs,
)
from juror.kernels.jit.vectors import add, for_widths, load, multiply, spread, store

# The most rows for which tables are read once
_MOST_ROWS = 1 << 15


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


def _fold(W):
    def fold_vectors(counts, parts, stacked):
        for row in range(parts.shape[0]):
            counted = load(counts, row * W, W)
            for number in range(parts.shape[1]):
                part = parts[row, number]
                if part >= 0:
                    place = np.int64(part) * W
                    store(stacked, place, add(load(stacked, place, W), counted))

    return fold_vectors


_count_8, _count_16 = for_widths(_count)
_fold_8, _fold_16 = for_widths(_fold)


@kernel
def row_sums(cells, tables):
    """Return ℓ (rows,) and the sums over the classes of scaled products, (rows,), tiny or zero if they underflow."""
    t, rows = tables, cells.shape[0]
    # The tables are read once for many rows.
    block = max(block_size(cells, t.width), min(4 * t.parts.shape[0], _MOST_ROWS))
    logs, sums, products = np.empty(rows), np.zeros(rows), aligned(t.width)
    joint, bits = np.empty(t.lam.shape[0]), np.empty(t.lam.shape[0])
    for first in range(0, rows, block):
        n = min(block, rows - first)
        for f in range(0, t.scaled_lam.shape[0], t.width):
            multiply_chunk(cells, first, n, t, f, products, NONE, NONE, sums[first:])
    for i in range(rows):
        if sums[i] >= SAFE:
            logs[i] = log_of_sum(cells, i, t, sums[i])
        else:
            logs[i] = row_in_logs(cells, i, t, joint, bits)[1]
    return logs, sums


@kernel
def counts_given(cells, weights, sums, tables):
    """Return the class counts (F,) and the expected counts C (stacked rows, F), given the sums of all rows."""
    t, (n_stacked, F), W, rows = tables, tables.stack.shape, tables.width, cells.shape[0]
    classes, counts, shares = np.zeros(padded(t)), np.empty((n_stacked, F)), np.empty(rows)
    chunk, stacked = aligned(t.parts.shape[0] * W), aligned(n_stacked * W)
    flat, joint, bits = counts.reshape(n_stacked * F), np.empty(F), np.empty(F)
    if t.scaled_lam.shape[0] == 0:
        counts[:] = 0.0
    for i in range(rows):
        shares[i] = weights[i] / sums[i] if sums[i] >= SAFE else 0.0
    for f in range(0, t.scaled_lam.shape[0], W):
        _count_chunk(cells, shares, t, f, chunk, classes)
        _fold_chunk(chunk, t, f, stacked, flat)
    for i in range(rows):
        if sums[i] < SAFE:
            over, _ = row_in_logs(cells, i, t, joint, bits)
            if over == 0.0:
                # An impossible row is in no class.
                continue
            for f in range(F):
                joint[f] *= weights[i] / over
                classes[f] += joint[f]
            _add_row(cells, i, t, joint, counts)
    return classes[:F].copy(), counts


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


@part
def _count_chunk(cells, shares, t, f, counts, classes):
    """Fill counts (L · W,) with the products of all rows, each times its share; add them up in classes, (chunks · W,).

    The products of one chunk are computed again: all of them would not stay in the cache.
    """
    counts[:] = 0.0
    if t.width == 16:
        _count_16(cells, shares, t.scaled_lam, t.scaled, f, t.parts.shape[0], counts, classes)
    else:
        _count_8(cells, shares, t.scaled_lam, t.scaled, f, t.parts.shape[0], counts, classes)


@part
def _fold_chunk(counts, t, f, stacked, table):
    """Fill one chunk of the counts of stacked rows, (stacked rows · F,), with those of packed rows, (L · W,)."""
    F, W, n_stacked = t.lam.shape[0], t.width, t.stack.shape[0]
    stacked[:] = 0.0
    if W == 16:
        _fold_16(counts, t.parts, stacked)
    else:
        _fold_8(counts, t.parts, stacked)
    for row in range(n_stacked):
        if f + W <= F:
            for lane in range(0, W, 8):
                store(table, row * F + f + lane, load(stacked, row * W + lane, 8))
        else:
            for lane in range(F - f):
                table[row * F + f + lane] = stacked[row * W + lane]
