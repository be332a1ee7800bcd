"""Join intervals of a table that is shown: hundreds of fine ones say less than a dozen that a reader can take in.

Where a column is still cut after joining is chosen near round numbers: multiples of 1, 2 or 5 times a power of ten, or
1, 2, 5, 10, 20, … for numbers of many sizes; of the two, whichever spreads the probability more evenly over the lines.
Where both leave most of it in few lines, as of numbers of dozens of sizes or of times within a microsecond, all lines
have about the same probability. Every line is a sum of intervals that the table has, so it is as exact as they are.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from juror.domain.binning import with_edges
from juror.domain.variable import Variable
from juror.readers.exact_numbers import as_float

# A table is shown with about this many lines and columns: if there are more intervals, neighbours are joined.
MOST_LINES, MOST_COLUMNS = 12, 6
# What lies outside is joined to the first and the last line
_OUTSIDE = 0.005
# An interval with at least this probability, such as that of a number that recurs, stays as it is.
_STANDS_ALONE = 0.1
# How far from a round number a cut may be, in steps
_NEAR = 0.3
# Round numbers must spread the probability at least this well: a share of the entropy of lines of equal probability
_WELL = 0.5
_MANTISSAS = (1.0, 2.0, 5.0)

Groups = tuple[np.ndarray, ...]


def groups_shown(variables: Sequence[Variable], probabilities: np.ndarray) -> Groups:
    """Return for every axis of a table the codes with which its lines begin when it is shown."""
    groups = []
    for axis, variable in enumerate(variables):
        other_axes = tuple(n for n in range(len(variables)) if n != axis)
        most = MOST_COLUMNS if axis else MOST_LINES
        groups.append(_starts(variable, probabilities.sum(axis=other_axes), most))
    return tuple(groups)


def joined(variable: Variable, starts: np.ndarray) -> Variable:
    """Return a variable with fewer intervals, each of which begins where a given one of its intervals does."""
    if len(starts) == variable.cardinality or variable.edges is None:
        return variable
    n_intervals = len(variable.present_labels)
    return with_edges(variable, (*(variable.edges[n] for n in starts if n < n_intervals), variable.edges[-1]))


def summed(numbers: np.ndarray, groups: Groups) -> np.ndarray:
    """Return the sums of a table over the intervals that are joined, one axis for each variable.

    >>> summed(np.array([[1, 2, 3], [4, 5, 6]]), (np.array([0]), np.array([0, 2]))).tolist()
    [[12, 9]]
    """
    for axis, starts in enumerate(groups):
        numbers = np.add.reduceat(numbers, starts, axis=axis)
    return numbers


def _starts(variable: Variable, p: np.ndarray, most: int) -> np.ndarray:
    """Return the codes of the intervals with which lines begin, and that of missing cells."""
    n_intervals = len(variable.present_labels)
    everything = np.arange(variable.cardinality)
    if variable.edges is None or n_intervals <= (most if most == MOST_COLUMNS else 2 * most):
        return everything
    p = p[:n_intervals]
    total = p.sum()
    if not total > 0:
        return everything
    below = np.cumsum(p)[:-1] / total
    inner = np.flatnonzero((below > _OUTSIDE) & (below < 1.0 - _OUTSIDE)) + 1
    heavy = np.flatnonzero(p >= _STANDS_ALONE * total)
    fixed = np.union1d(heavy, heavy + 1)
    fixed = fixed[(fixed > 0) & (fixed < n_intervals)]
    if len(inner) >= most:
        edges = np.array([as_float(edge) for edge in variable.edges])
        near = [_nearest(edges, inner, ticks) for ticks in _round_numbers(edges[inner], most)]
        inner = _most_even(p, fixed, near, _of_equal_probability(below, inner, most))
    return np.concatenate([np.union1d([0], np.union1d(inner, fixed)), everything[n_intervals:]])


def _round_numbers(within: np.ndarray, most: int) -> list[np.ndarray]:
    """Return evenly spaced round numbers between the first and the last of some, and 1, 2, 5, 10, … if they fit."""
    low, high = within[0], within[-1]
    # Large integers may be the same float, and large floats further apart than any float.
    if not 0.0 < float(high) - float(low) < math.inf:
        return []
    exponent = math.floor(math.log10((high - low) / most))
    step = next(
        step for k in (exponent, exponent + 1) for m in _MANTISSAS if (step := m * 10.0**k) * (most - 1) >= high - low
    )
    found = [step * np.arange(math.ceil(low / step), math.floor(high / step) + 1)]
    if low > 0:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for mantissas in (_MANTISSAS, (1.0, 3.0), (1.0,)):
            ticks = np.array([m * 10.0**k for k in decades for m in mantissas])
            ticks = ticks[(ticks >= low) & (ticks <= high)]
            if len(ticks) < most:
                return [*found, ticks]
    return found


def _nearest(edges: np.ndarray, inner: np.ndarray, ticks: np.ndarray) -> np.ndarray:
    """Return the codes of the intervals that begin nearest to round numbers, and near enough."""
    if not len(ticks):
        return ticks.astype(np.int64)
    starts = inner[np.abs(edges[inner][:, None] - ticks).argmin(axis=0)]
    steps = np.diff(ticks) if len(ticks) > 1 else np.array([np.inf])
    steps = np.append(steps, steps[-1])[: len(ticks)]
    return np.unique(starts[np.abs(edges[starts] - ticks) <= _NEAR * steps])


def _of_equal_probability(below: np.ndarray, inner: np.ndarray, most: int) -> np.ndarray:
    """Return the codes of the intervals that begin nearest to equal shares of the probability."""
    shares = np.arange(1, most) / most
    return np.unique(inner[np.abs(below[inner - 1][:, None] - shares).argmin(axis=0)])


def _most_even(p: np.ndarray, fixed: np.ndarray, near: Sequence[np.ndarray], equal: np.ndarray) -> np.ndarray:
    """Return the cuts near round numbers whose groups have the largest entropy; those of equal ones if it is small."""

    def entropy(cuts: np.ndarray) -> float:
        masses = np.add.reduceat(p, np.unique([0, *cuts, *fixed])) / p.sum()
        held = masses[masses > 0]
        return float(-held @ np.log(held))

    best = max(near, key=entropy, default=equal)
    return best if entropy(best) >= _WELL * entropy(equal) else equal
