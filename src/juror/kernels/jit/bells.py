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


@kernel
def bells(ends, means, spreads):
    """Return the mass of normal distributions in every interval, (I', K)."""
    n_intervals, n_states = len(ends) - 1, len(means)
    masses, before = np.empty((n_intervals, n_states)), np.empty(n_states)
    for i in range(n_intervals + 1):
        for y in range(n_states):
            below = _below((ends[i] - means[y]) / spreads[y])
            if i > 0:
                masses[i - 1, y] = max(below - before[y], 0.0)
            before[y] = below
    return masses


@kernel
def drawn_to_bells(counts, ends, middles, marginal, prior):
    """Return the columns of states drawn to bells with the mean and spread of their rows, (I, K)."""
    n_labels, n_states = counts.shape
    n_inside = len(middles)
    rows, means, spreads, totals = np.zeros(n_states), np.zeros(n_states), np.zeros(n_states), np.zeros(n_states)
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
        spreads[y] = math.sqrt((spreads[y] + prior.spread_rows * prior.spread**2) / (rows[y] + prior.spread_rows))
    for i in range(n_inside, n_labels):
        for y in range(n_states):
            totals[y] += counts[i, y]
    present = np.ones(n_states)
    for i in range(n_inside, n_labels):
        for y in range(n_states):
            present[y] -= (counts[i, y] + marginal[i]) / (totals[y] + 1.0)
    masses = bells(ends, means, spreads)
    aims = np.empty_like(counts)
    for i in range(n_labels):
        for y in range(n_states):
            drawn = masses[i, y] * present[y] if i < n_inside else (counts[i, y] + marginal[i]) / (totals[y] + 1.0)
            drawn = (1.0 - prior.leak) * drawn + prior.leak * marginal[i]
            # The drawn column sums to one.
            aims[i, y] = (counts[i, y] + prior.rows * drawn) / (totals[y] + prior.rows)
    return aims
