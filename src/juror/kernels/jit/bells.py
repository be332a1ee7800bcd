"""Columns of hidden states drawn to bells or to the marginal; :mod:`juror.kernels.reference.bells` has the definition.

The distribution function of a bell is interpolated: a call of ``erf`` takes as long as twenty products. Between grid
points it is the cubic with the right values and slopes at both, whose error is below 1e-9.
"""

from __future__ import annotations

import math

import numpy as np

from juror.kernels.jit.compiling import kernel, part

# Beyond ±8 the function is 0 or 1 to double precision. The second number is that of grid points in a unit.
_FAR, _FINE = 8.0, 64


def _cubics() -> np.ndarray:
    """Return the coefficients of the cubic between any two neighbours on the grid, in parts of a step, (steps, 4)."""
    grid = np.arange(-int(_FAR) * _FINE, int(_FAR) * _FINE + 1) / _FINE
    values = np.array([0.5 * math.erfc(-score / math.sqrt(2.0)) for score in grid])
    slopes = np.exp(-(grid**2) / 2) / math.sqrt(2.0 * math.pi) / _FINE
    rise, first, last = np.diff(values), slopes[:-1], slopes[1:]
    return np.stack([values[:-1], first, 3 * rise - 2 * first - last, first + last - 2 * rise], axis=1)


_CUBICS = _cubics()


@part
def _below(score):
    """Return the mass of the standard normal distribution below a score."""
    place = (score + _FAR) * _FINE
    if place <= 0.0:
        return 0.0
    if place >= len(_CUBICS):
        return 1.0
    step = int(place)
    part = place - step
    cubic = _CUBICS[step]
    return cubic[0] + part * (cubic[1] + part * (cubic[2] + part * cubic[3]))


def bells(ends, means, spreads):
    """Return the mass of normal distributions in every interval, (I', K)."""
    masses = np.empty((len(ends) - 1, len(means)))
    _fill_bells(ends, means, spreads, np.empty(len(means)), masses)
    return masses


@kernel
def _fill_bells(ends, means, spreads, before, masses):
    """Fill masses (I', K); before (K,) is scratch."""
    for i in range(ends.shape[0]):
        for y in range(means.shape[0]):
            below = _below((ends[i] - means[y]) / spreads[y])
            if i > 0:
                masses[i - 1, y] = max(below - before[y], 0.0)
            before[y] = below


def drawn_columns(counts, starts, n_inside, ends, middles, marginal, prior):
    """Return the columns of states drawn to bells or to the marginal, (L, K); those of every variable sum to one."""
    aims, by_state, masses = np.empty_like(counts), np.empty((6, counts.shape[1])), np.empty(counts.shape)
    _draw(counts, starts, n_inside, ends, middles, marginal, *prior, *by_state, masses, aims)
    return aims


@kernel
def _draw(
    counts,
    starts,
    n_inside,
    ends,
    middles,
    marginal,
    of_labels,
    prior_rows,
    least_spread,
    spread_rows,
    leak,
    rows,
    means,
    spreads,
    totals,
    present,
    before,
    masses,
    aims,
):
    """Fill aims (L, K) for one variable after the other; the six arrays (K,) and the masses (L, K) are scratch."""
    for n in range(n_inside.shape[0]):
        first, last, inside = starts[n], starts[n + 1], n_inside[n]
        own, aim, margin = counts[first:last], aims[first:last], marginal[first:last]
        _add_up(own, totals)
        if inside == 0:
            for i in range(last - first):
                for y in range(totals.shape[0]):
                    aim[i, y] = (own[i, y] + of_labels * margin[i]) / (totals[y] + of_labels)
            continue
        _summarise(own[:inside], middles[first:last], least_spread, spread_rows, rows, means, spreads)
        for y in range(totals.shape[0]):
            present[y] = 1.0
        for i in range(inside, last - first):
            for y in range(totals.shape[0]):
                present[y] -= (own[i, y] + margin[i]) / (totals[y] + 1.0)
        _fill_bells(ends[first + n : first + n + inside + 1], means, spreads, before, masses)
        for i in range(last - first):
            for y in range(totals.shape[0]):
                drawn = masses[i, y] * present[y] if i < inside else (own[i, y] + margin[i]) / (totals[y] + 1.0)
                drawn = (1.0 - leak) * drawn + leak * margin[i]
                # The drawn column sums to one.
                aim[i, y] = (own[i, y] + prior_rows * drawn) / (totals[y] + prior_rows)


@part
def _add_up(counts, totals):
    """Fill totals (K,) with the sums of counts (I, K)."""
    for y in range(totals.shape[0]):
        totals[y] = 0.0
    for i in range(counts.shape[0]):
        for y in range(totals.shape[0]):
            totals[y] += counts[i, y]


@part
def _summarise(counts, middles, least_spread, spread_rows, rows, means, spreads):
    """Fill the rows, the mean and the spread of every state, (K,) each, from the counts of intervals, (I', K)."""
    _add_up(counts, rows)
    for y in range(rows.shape[0]):
        means[y] = spreads[y] = 0.0
    for i in range(counts.shape[0]):
        for y in range(rows.shape[0]):
            means[y] += middles[i] * counts[i, y]
    for y in range(rows.shape[0]):
        means[y] = means[y] / rows[y] if rows[y] > 0 else 0.0
    for i in range(counts.shape[0]):
        for y in range(rows.shape[0]):
            spreads[y] += counts[i, y] * (middles[i] - means[y]) ** 2
    for y in range(rows.shape[0]):
        spreads[y] = math.sqrt((spreads[y] + spread_rows * least_spread**2) / (rows[y] + spread_rows))
