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
    aligned_room,
    block_size,
    log_of_sum,
    multiply_chunk,
)
from juror.kernels.jit.rows_in_logs import count_lost, fill_logs
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


def row_sums(cells, tables):
    """Return ℓ (rows,) and the sums over the classes of scaled products, (rows,), tiny or zero if they underflow."""
    rows = len(cells)
    logs, sums, lost = np.empty(rows), np.zeros(rows), np.empty(rows, dtype=np.int64)
    n_lost = _add_up_rows(cells, tables, logs, sums, aligned_room(tables.width), lost)
    if n_lost:
        fill_logs(cells, lost[:n_lost], tables, logs)
    return logs, sums


@kernel
def _add_up_rows(cells, tables, logs, sums, products, lost):
    """Fill logs and sums, (rows,) each; list the rows that are lost, which need log space, and return how many."""
    t, rows, n_lost = tables, cells.shape[0], 0
    # The tables are read once for many rows.
    block = max(block_size(cells, t.width), min(4 * t.parts.shape[0], _MOST_ROWS))
    for first in range(0, rows, block):
        n = min(block, rows - first)
        for f in range(0, t.scaled_lam.shape[0], t.width):
            multiply_chunk(cells, first, n, t, f, products, NONE, NONE, sums[first:])
    for i in range(rows):
        if sums[i] >= SAFE:
            logs[i] = log_of_sum(cells, i, t, sums[i])
        else:
            lost[n_lost] = i
            n_lost += 1
    return n_lost


def counts_given(cells, weights, sums, tables):
    """Return the class counts (F,) and the expected counts C (stacked rows, F), given the sums of all rows."""
    n_stacked, F = tables.stack.shape
    classes, counts = np.zeros(-(-F // tables.width) * tables.width), np.zeros((n_stacked, F))
    lost = np.empty(len(cells), dtype=np.int64)
    W = tables.width
    scratch = np.empty(len(cells)), aligned_room(len(tables.parts) * W), aligned_room(n_stacked * W)
    n_lost = _count_all(cells, weights, sums, tables, *scratch, classes, counts, lost)
    if n_lost:
        count_lost(cells, weights, lost[:n_lost], tables, classes, counts)
    return classes[:F].copy(), counts


@kernel
def _count_all(cells, weights, sums, tables, shares, chunk, stacked, classes, counts, lost):
    """Fill classes (chunks · W,) and counts with all rows but those that are lost; list these, return how many."""
    t, flat, n_lost = tables, counts.reshape(counts.size), 0
    for i in range(cells.shape[0]):
        if sums[i] >= SAFE:
            shares[i] = weights[i] / sums[i]
        else:
            shares[i], lost[n_lost] = 0.0, i
            n_lost += 1
    for f in range(0, t.scaled_lam.shape[0], t.width):
        _count_chunk(cells, shares, t, f, chunk, classes)
        _fold_chunk(chunk, t, f, stacked, flat)
    return n_lost


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
