"""Draw labels at random, or take the most probable ones."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.vectors import add, load, multiply, spread, store
from juror.kernels.reference import drawing as reference

# Up to this many classes the kernel works row by row; beyond, matrix products are faster.
_MOST_BY_ROWS = 512


@part(inline="always")
def _first_above(sums, u):
    """Return the first position at which cumulative sums (K,) exceed u times the last one; 0 if none does."""
    last = sums.shape[0] - 1
    level = u * sums[last]
    # Counting over all entries avoids branches that the processor would mispredict.
    below = 0
    for k in range(last):
        below += sums[k] <= level
    return below if sums[below] > level else 0


@kernel
def draw_columns(probabilities, uniform):
    """Draw a column for every row, (rows,)."""
    rows, K = probabilities.shape
    columns = np.empty(rows, dtype=np.int64)
    sums = np.empty(K)
    for i in range(rows):
        total = 0.0
        for k in range(K):
            total += probabilities[i, k]
            sums[k] = total
        columns[i] = _first_above(sums, uniform[i])
    return columns


@kernel
def draw_labels(classes, cumulative, uniform, column):
    """Fill the holes of a column of codes with labels drawn from the distribution of each row's class."""
    for i in range(column.shape[0]):
        if column[i] < 0:
            column[i] = _first_above(cumulative[classes[i]], uniform[i])


@kernel
def draw_holes(codes, classes, stack, starts, sizes, parents, order, uniform):
    """Fill the holes of rows with labels drawn from their joint distribution in each row's class, along a forest."""
    N, widest = sizes.shape[0], sizes.max()
    values, below, ladder = np.zeros((N, widest)), np.zeros(N, dtype=np.bool_), np.empty(widest)
    for i in range(codes.shape[0]):
        row, f = codes[i], classes[i]
        values[:] = 0.0
        below[:] = False
        for place in range(N - 1, -1, -1):
            v = order[place]
            above = parents[v]
            if above < 0 or row[above] >= 0 or (row[v] < 0 and not below[v]):
                continue
            below[above] = True
            for r in range(sizes[above]):
                first = starts[v] + r * sizes[v]
                if row[v] >= 0:
                    values[above, r] += np.log(stack[first + row[v], f])
                else:
                    values[above, r] += _log_message(stack, first, sizes[v], f, values[v])
        for place in range(N):
            v = order[place]
            if row[v] >= 0:
                continue
            first, top, reached = starts[v] + (row[parents[v]] * sizes[v] if parents[v] >= 0 else 0), -np.inf, 0.0
            for x in range(sizes[v]):
                ladder[x] = np.log(stack[first + x, f]) + values[v, x]
                top = max(top, ladder[x])
            for x in range(sizes[v]):
                reached += np.exp(ladder[x] - top)
                ladder[x] = reached
            row[v] = _first_above(ladder[: sizes[v]], uniform[i, v])


@part
def _log_message(stack, first, size, f, values):
    """Return log Σ_x T[x] e^values[x], the table T in rows of the stack from first on."""
    top, whole = -np.inf, 0.0
    for x in range(size):
        top = max(top, np.log(stack[first + x, f]) + values[x])
    if top == -np.inf:
        return top
    for x in range(size):
        whole += np.exp(np.log(stack[first + x, f]) + values[x] - top)
    return top + np.log(whole)


def most_probable(R, stack, starts, codes):
    """Fill every hole with its most probable label."""
    fill = _most_probable if R.shape[1] <= _MOST_BY_ROWS else reference.most_probable
    fill(R, stack, starts, codes)


@kernel
def _most_probable(R, stack, starts, codes):
    panels, firsts, widest = _panels(stack, starts)
    chances = np.empty(widest)
    for i in range(codes.shape[0]):
        for n in range(codes.shape[1]):
            if codes[i, n] < 0:
                _add_up(R[i], panels, firsts[n], firsts[n + 1], chances)
                best, top = 0, chances[0]
                for x in range(1, starts[n + 1] - starts[n]):
                    best, top = (x, chances[x]) if chances[x] > top else (best, top)
                codes[i, n] = best


@part
def _panels(stack, starts):
    """Return the factors in panels of eight labels, (F, 8) each, the last panel of a factor padded with zeros.

    The panels are concatenated in one dimension. Also returned: the position of the first panel of each factor, and the
    padded number of labels of the widest factor.
    """
    N, F = starts.shape[0] - 1, stack.shape[1]
    firsts, widest = np.zeros(N + 1, dtype=np.int64), 0
    for n in range(N):
        padded = (starts[n + 1] - starts[n] + 7) // 8 * 8
        firsts[n + 1] = firsts[n] + padded * F
        widest = max(widest, padded)
    panels = np.zeros(firsts[N])
    for n in range(N):
        for x in range(starts[n + 1] - starts[n]):
            for f in range(F):
                panels[firsts[n] + x // 8 * 8 * F + f * 8 + x % 8] = stack[starts[n] + x, f]
    return panels, firsts, widest


@part
def _add_up(r, panels, first, end, chances):
    """Fill chances with Σ_f r_f A[x, f] for the labels x of the panels from first to end."""
    F = r.shape[0]
    for panel in range((end - first) // (8 * F)):
        place = first + panel * 8 * F
        eight = spread(0.0, 8)
        for f in range(F):
            eight = add(eight, multiply(spread(r[f], 8), load(panels, place + 8 * f, 8)))
        store(chances, 8 * panel, eight)
