"""The evidence of edges: rows are counted first, and only cells that hold rows are visited."""

from __future__ import annotations

import math

import numpy as np

from juror.kernels.jit.compiling import kernel, part

# Products are turned into logarithms before they leave the range of floats.
_SMALL, _LARGE = 1e-150, 1e150
# Up to this count, Γ(v + C) / Γ(v) is the product v (v + 1) … (v + C − 1).
_MOST_FACTORS = 6
_HALF_LOG_TWO_PI = 0.9189385332046727


@part(inline="always")
def _log_gamma(x):
    """Return log Γ(x): by Stirling's series, to 1e-10, where that is faster."""
    if x < 6.0:
        return math.lgamma(x)
    y = 1.0 / (x * x)
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
    return (x - 0.5) * math.log(x) - x + _HALF_LOG_TWO_PI + series


@part
def _logs_of(values):
    """Return log Γ of some numbers."""
    logs = np.empty(values.shape[0])
    for i in range(values.shape[0]):
        logs[i] = math.lgamma(values[i])
    return logs


@part
def _risen(values, log_values, labels, counts, n):
    """Return Σ (Γ(v + C) − Γ(v)) over n counts C > 0, with v and log Γ(v) of their labels."""
    log, product = 0.0, 1.0
    for t in range(n):
        value, c = values[labels[t]], counts[t]
        if c == 1.0:
            product *= value
        elif c <= _MOST_FACTORS and c == math.floor(c):
            rise = value
            for i in range(1, int(c)):
                rise *= value + i
            product *= rise
        else:
            log += _log_gamma(value + c) - log_values[labels[t]]
        if product < _SMALL or product > _LARGE:
            log += math.log(product)
            product = 1.0
    return log + math.log(product)


@part
def _totals(columns, bounds, weights, starts, strengths):
    """Return Σ (Γ(b + C) − Γ(b)) over the labels of every variable, of all rows and by class, (2, K, N)."""
    N, F, K = columns.shape[0], bounds.shape[0] - 1, strengths.shape[0]
    out, logs = np.zeros((2, K, N)), _logs_of(strengths)
    for n in range(N):
        size = starts[n + 1] - starts[n]
        shared, own, some, nothing = np.zeros(size), np.zeros(size), np.empty(size), np.zeros(size, dtype=np.int64)
        for f in range(F):
            for r in range(bounds[f], bounds[f + 1]):
                own[columns[n, r]] += weights[r]
            for x in range(size):
                shared[x] += own[x]
            seen = _take_all(own, some)
            for k in range(K):
                out[1, k, n] += _risen(strengths[k : k + 1], logs[k : k + 1], nothing, some, seen)
        seen = _take_all(shared, some)
        for k in range(K):
            out[0, k, n] = _risen(strengths[k : k + 1], logs[k : k + 1], nothing, some, seen)
    return out


@part
def _take_all(table, counts):
    """Move the counts above zero from a table (I,) to a list; return how many there are."""
    n = 0
    for x in range(table.shape[0]):
        if table[x] > 0.0:
            counts[n] = table[x]
            n += 1
            table[x] = 0.0
    return n


@part
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


@part
def _add(scope, out, totals, values, log_values, i, j, starts, left, right, counts, n):
    """Fill in both directions of a pair, from n cells that hold rows."""
    of_i, of_j = slice(starts[i], starts[i + 1]), slice(starts[j], starts[j + 1])
    for k in range(values.shape[0]):
        to_j = _risen(values[k, of_j], log_values[k, of_j], right, counts, n)
        to_i = _risen(values[k, of_i], log_values[k, of_i], left, counts, n)
        out[scope, k, i, j] = to_j - totals[scope, k, i]
        out[scope, k, j, i] = to_i - totals[scope, k, j]


@kernel
def edge_evidence(columns, bounds, weights, pairs, bases, starts, strengths):
    """Return log E(p → n) of pairs in both directions, (2, K, N, N): shared columns, columns of every class."""
    N, F, K, M = columns.shape[0], bounds.shape[0] - 1, strengths.shape[0], columns.shape[1]
    out = np.empty((2, K, N, N))
    out[:] = -np.inf
    totals = _totals(columns, bounds, weights, starts, strengths)
    largest = 0
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        largest = max(largest, (starts[i + 1] - starts[i]) * (starts[j + 1] - starts[j]))
    values, log_values = np.empty((K, bases.shape[0])), np.empty((K, bases.shape[0]))
    for k in range(K):
        for x in range(bases.shape[0]):
            values[k, x] = strengths[k] * bases[x]
            log_values[k, x] = math.lgamma(values[k, x])
    shared, own = np.zeros(largest), np.zeros(largest)
    left, right, counts = np.empty(M, dtype=np.int64), np.empty(M, dtype=np.int64), np.empty(M)
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        size = starts[j + 1] - starts[j]
        # Cells of all classes, one after the other
        n = 0
        for f in range(F):
            for r in range(bounds[f], bounds[f + 1]):
                cell = columns[i, r] * size + columns[j, r]
                own[cell] += weights[r]
                shared[cell] += weights[r]
            n += _take(own, columns, i, j, bounds[f], bounds[f + 1], size, left[n:], right[n:], counts[n:])
        _add(1, out, totals, values, log_values, i, j, starts, left, right, counts, n)
        n = _take(shared, columns, i, j, 0, M, size, left, right, counts)
        _add(0, out, totals, values, log_values, i, j, starts, left, right, counts, n)
    return out
