"""Probabilities of the labels of one more variable, given each row."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.products import NONE, SAFE, aligned, log_of_sum, multiply_chunk, padded, row_in_logs
from juror.kernels.jit.vectors import add, fold, for_widths, load, multiply, store, total

# Rows in a block, and sums over labels in it, few enough to stay in the cache.
_BLOCK = 256
_MOST_SUMS = 1 << 15


def _add(W):
    def add_labels(products, n, factor, f, P, sums):
        n_labels = factor.shape[0] // P
        for i in range(n):
            product = load(products, i * W, W)
            for y in range(n_labels):
                of = fold(multiply(product, load(factor, y * P + f, W)))
                place = (i * n_labels + y) * 4
                store(sums, place, add(load(sums, place, 4), of))

    return add_labels


def _multiply(W):
    def multiply_labels(cells, first, n, lam, stack, f, L, column, n_labels, sums):
        at = f * L
        for i in range(n):
            row = cells[first + i]
            product = load(lam, f, W)
            for g in range(row.shape[0]):
                if g != column:
                    product = multiply(product, load(stack, at + np.int64(row[g]) * W, W))
            place = at + np.int64(row[column]) * W
            for y in range(n_labels):
                sums[i * n_labels + y] += total(multiply(product, load(stack, place + y * W, W)))

    return multiply_labels


_add_labels_8, _add_labels_16 = for_widths(_add)
_multiply_labels_8, _multiply_labels_16 = for_widths(_multiply)


@kernel
def label_logs(cells, tables, column, n_labels):
    """Return ℓ of every row with each of n_labels labels in a column, (rows, n_labels)."""
    t, rows, L = tables, cells.shape[0], tables.parts.shape[0]
    block = max(1, min(max(_BLOCK, L), rows, _MOST_SUMS // n_labels))
    logs, sums = np.empty((rows, n_labels)), np.empty(block * n_labels)
    joint, bits, one = np.empty(t.lam.shape[0]), np.empty(t.lam.shape[0]), np.empty((1, cells.shape[1]), np.int64)
    for first in range(0, rows, block):
        n = min(block, rows - first)
        sums[:] = 0.0
        for f in range(0, t.scaled_lam.shape[0], t.width):
            if t.width == 16:
                _multiply_labels_16(cells, first, n, t.scaled_lam, t.scaled, f, L, column, n_labels, sums)
            else:
                _multiply_labels_8(cells, first, n, t.scaled_lam, t.scaled, f, L, column, n_labels, sums)
        for i in range(n):
            for g in range(cells.shape[1]):
                one[0, g] = cells[first + i, g]
            for y in range(n_labels):
                if sums[i * n_labels + y] >= SAFE:
                    logs[first + i, y] = log_of_sum(one, 0, t, sums[i * n_labels + y])
                else:
                    logs[first + i, y] = row_in_logs(one, 0, t, joint, bits)[1]
                one[0, column] += 1
    return logs


@kernel
def label_probabilities(cells, tables, factor):
    """Return ℓ (rows,) and Σ_f R[i, f] A[y, f] for a factor A (I, F), (rows, I); zeros for an impossible row."""
    rows, n_labels, F, W, P = cells.shape[0], factor.shape[0], factor.shape[1], tables.width, padded(tables)
    A, logs, out = aligned(n_labels * P), np.empty(rows), np.empty((rows, n_labels))
    for y in range(n_labels):
        for f in range(P):
            A[y * P + f] = factor[y, f] if f < F else 0.0
    block = max(1, min(_BLOCK, rows, _MOST_SUMS // n_labels))
    products, sums, by_label = aligned(block * W), np.empty(block), aligned(block * n_labels * 4)
    joint, bits = np.empty(F), np.empty(F)
    for first in range(0, rows, block):
        n = min(block, rows - first)
        sums[:] = 0.0
        by_label[:] = 0.0
        for f in range(0, tables.scaled_lam.shape[0], W):
            multiply_chunk(cells, first, n, tables, f, products, NONE, W, sums)
            if W == 16:
                _add_labels_16(products, n, A, f, P, by_label)
            else:
                _add_labels_8(products, n, A, f, P, by_label)
        for i in range(n):
            if sums[i] >= SAFE:
                logs[first + i] = log_of_sum(cells, first + i, tables, sums[i])
                for y in range(n_labels):
                    of = by_label[(i * n_labels + y) * 4 :]
                    out[first + i, y] = ((of[0] + of[1]) + (of[2] + of[3])) / sums[i]
                continue
            over, logs[first + i] = row_in_logs(cells, first + i, tables, joint, bits)
            for y in range(n_labels):
                whole = 0.0
                for f in range(F):
                    whole += joint[f] * factor[y, f]
                out[first + i, y] = whole / over if over > 0.0 else 0.0
    return logs, out
