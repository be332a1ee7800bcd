"""Columns of hidden states drawn to bells; :mod:`juror.kernels.reference.bells` has the definition.

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


def drawn_to_bells(counts, ends, middles, marginal, prior):
    """Return the columns of states drawn to bells with the mean and spread of their rows, (I, K)."""
    aims, by_state, masses = np.empty_like(counts), np.zeros((6, counts.shape[1])), np.empty_like(counts, dtype=float)
    _draw(counts, ends, middles, marginal, *prior, *by_state, masses, aims)
    return aims


@kernel
def _draw(
    counts,
    ends,
    middles,
    marginal,
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
    """Fill aims (I, K); the six arrays of zeros (K,) and the masses (I, K) are scratch."""
    n_labels, n_states = counts.shape
    n_inside = middles.shape[0]
    for i in range(n_inside):
        for y in range(n_states):
            rows[y] += counts[i, y]
            means[y] += middles[i] * counts[i, y]
    for y in range(n_states):
        means[y] = means[y] / rows[y] if rows[y] > 0 else 0.0
        totals[y] = rows[y]
    for i in range(n_inside):
        for y in range(n_states):
            spreads[y] += counts[i, y] * (middles[i] - means[y]) ** 2
    for y in range(n_states):
        spreads[y] = math.sqrt((spreads[y] + spread_rows * least_spread**2) / (rows[y] + spread_rows))
    for i in range(n_inside, n_labels):
        for y in range(n_states):
            totals[y] += counts[i, y]
    for y in range(n_states):
        present[y] = 1.0
    for i in range(n_inside, n_labels):
        for y in range(n_states):
            present[y] -= (counts[i, y] + marginal[i]) / (totals[y] + 1.0)
    _fill_bells(ends, means, spreads, before, masses)
    for i in range(n_labels):
        for y in range(n_states):
            drawn = masses[i, y] * present[y] if i < n_inside else (counts[i, y] + marginal[i]) / (totals[y] + 1.0)
            drawn = (1.0 - leak) * drawn + leak * marginal[i]
            # The drawn column sums to one.
            aims[i, y] = (counts[i, y] + prior_rows * drawn) / (totals[y] + prior_rows)
