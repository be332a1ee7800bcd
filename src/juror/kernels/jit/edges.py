"""The evidence of edges: rows are counted first, and only cells that hold rows are visited."""

from __future__ import annotations

import math

import numpy as np

from juror.kernels.jit.compiling import kernel

# Products are turned into logarithms before they leave the range of floats.
_SMALL, _LARGE = 1e-150, 1e150
# Up to this count, Γ(v + C) / Γ(v) is the product v (v + 1) … (v + C − 1).
_MOST_FACTORS = 6


@kernel
def _risen(b, bases, labels, counts, n):
    """Return Σ (Γ(b m + C) − Γ(b m)) over n counts C > 0, with their labels' entries m of the base measure."""
    log, product = 0.0, 1.0
    for t in range(n):
        value, c = b * bases[labels[t]], counts[t]
        if c == 1.0:
            product *= value
        elif c <= _MOST_FACTORS and c == math.floor(c):
            # The factors after the first are at most the length of this loop plus b.
            rise = value
            for i in range(1, int(c)):
                rise *= value + i
            product *= rise
        else:
            log += math.lgamma(value + c) - math.lgamma(value)
        if product < _SMALL or product > _LARGE:
            log += math.log(product)
            product = 1.0
    return log + math.log(product)


@kernel
def _totals(columns, bounds, weights, starts, strengths):
    """Return Σ (Γ(b + C) − Γ(b)) over the labels of every variable, of all rows and by class, (2, K, N)."""
    N, F, K = columns.shape[0], bounds.shape[0] - 1, strengths.shape[0]
    out = np.zeros((2, K, N))
    for n in range(N):
        size = starts[n + 1] - starts[n]
        shared, one, nothing = np.zeros(size), np.ones(1), np.zeros(size, dtype=np.int64)
        for f in range(F):
            own = np.zeros(size)
            for r in range(bounds[f], bounds[f + 1]):
                own[columns[n, r]] += weights[r]
            shared += own
            some = own[own > 0]
            for k in range(K):
                out[1, k, n] += _risen(strengths[k], one, nothing, some, some.shape[0])
        some = shared[shared > 0]
        for k in range(K):
            out[0, k, n] = _risen(strengths[k], one, nothing, some, some.shape[0])
    return out


@kernel
def _take(table, columns, i, j, first, last, size, left, right, counts):
    """Move the counts of the cells of some rows from a table (I_i I_j,) to lists; return how many cells hold rows."""
    n = 0
    for r in range(first, last):
        x, y = columns[i, r], columns[j, r]
        c = table[x * size + y]
        if c > 0.0:
            left[n], right[n], counts[n] = x, y, c
            n += 1
            table[x * size + y] = 0.0
    return n


@kernel
def edge_evidence(columns, bounds, weights, pairs, bases, starts, strengths):
    """Return log E(p → n) of pairs in both directions, (2, K, N, N): shared columns, columns of every class."""
    N, F, K, M = columns.shape[0], bounds.shape[0] - 1, strengths.shape[0], columns.shape[1]
    out = np.full((2, K, N, N), -np.inf)
    totals = _totals(columns, bounds, weights, starts, strengths)
    largest = 0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        largest = max(largest, (starts[i + 1] - starts[i]) * (starts[j + 1] - starts[j]))
    shared, own = np.zeros(largest), np.zeros(largest)
    left, right, counts = np.empty(M, dtype=np.int64), np.empty(M, dtype=np.int64), np.empty(M)
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        size = starts[j + 1] - starts[j]
        of_i, of_j = bases[starts[i] : starts[i + 1]], bases[starts[j] : starts[j + 1]]
        # Cells of all classes, one after the other
        n = 0
        for f in range(F):
            for r in range(bounds[f], bounds[f + 1]):
                cell = columns[i, r] * size + columns[j, r]
                own[cell] += weights[r]
                shared[cell] += weights[r]
            n += _take(own, columns, i, j, bounds[f], bounds[f + 1], size, left[n:], right[n:], counts[n:])
        for k in range(K):
            out[1, k, i, j] = _risen(strengths[k], of_j, right, counts, n) - totals[1, k, i]
            out[1, k, j, i] = _risen(strengths[k], of_i, left, counts, n) - totals[1, k, j]
        n = _take(shared, columns, i, j, 0, M, size, left, right, counts)
        for k in range(K):
            out[0, k, i, j] = _risen(strengths[k], of_j, right, counts, n) - totals[0, k, i]
            out[0, k, j, i] = _risen(strengths[k], of_i, left, counts, n) - totals[0, k, j]
    return out
