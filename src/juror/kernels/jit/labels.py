"""What rows say about the labels of one more variable."""

from __future__ import annotations

import numpy as np
from numba import njit

from juror.kernels.jit.logs import row_joint
from juror.kernels.jit.products import SAFE, aligned, multiply_chunk, padded
from juror.kernels.jit.vectors import add, fold, for_widths, load, multiply, store

# Few enough rows that the sums of their labels stay near
_BLOCK = 256


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


_add_labels_8, _add_labels_16 = for_widths(_add)


@njit(cache=True, nogil=True)
def label_probabilities(cells, tables, factor):
    """Return Σ_f R[i, f] A[y, f] for a factor A (I, F), (rows, I); zeros for an impossible row."""
    rows, n_labels, F, W, P = cells.shape[0], factor.shape[0], factor.shape[1], tables.width, padded(tables)
    A, out = aligned(n_labels * P), np.empty((rows, n_labels))
    for y in range(n_labels):
        for f in range(P):
            A[y * P + f] = factor[y, f] if f < F else 0.0
    products, sums, by_label = aligned(_BLOCK * W), np.empty(_BLOCK), aligned(_BLOCK * n_labels * 4)
    joint = np.empty(F)
    for first in range(0, rows, _BLOCK):
        n = min(_BLOCK, rows - first)
        sums[:] = 0.0
        by_label[:] = 0.0
        for f in range(0, tables.scaled_lam.shape[0], W):
            multiply_chunk(cells, first, n, tables, f, products, 0, W, sums)
            if W == 16:
                _add_labels_16(products, n, A, f, P, by_label)
            else:
                _add_labels_8(products, n, A, f, P, by_label)
        for i in range(n):
            if sums[i] >= SAFE:
                for y in range(n_labels):
                    of = by_label[(i * n_labels + y) * 4 :]
                    out[first + i, y] = ((of[0] + of[1]) + (of[2] + of[3])) / sums[i]
                continue
            over, _ = row_joint(cells, first + i, tables.lam, tables.stack, tables.parts, joint)
            for y in range(n_labels):
                whole = 0.0
                for f in range(F):
                    whole += joint[f] * factor[y, f]
                out[first + i, y] = whole / over if over > 0.0 else 0.0
    return out
