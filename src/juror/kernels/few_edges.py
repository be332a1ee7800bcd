"""The evidence of edges in a few rows: all pairs of variables in a few calls of NumPy, by cells that hold rows.

:mod:`juror.kernels.reference.edges` has the definition. log Γ(v + C) − log Γ(v) = Σ_{t < C} log(v + t) is looked up
for counts C of a few rows, which most cells have.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

# Values of the Gamma function are looked up for counts below this.
_MOST_LOOKED_UP = 32
# log Γ has a series for numbers from this one on.
_FEWEST_BY_SERIES, _HALF_LOG_TWO_PI = 6.0, 0.9189385332046727
# The most cells of all pairs that are counted at a time, and the most of a pair, beyond which its rows are sorted
_MOST_CELLS, _MOST_OF_PAIR = 1 << 20, 1 << 16


def edge_evidence(
    columns: np.ndarray,
    bounds: np.ndarray,
    weights: np.ndarray,
    pairs: np.ndarray,
    bases: np.ndarray,
    starts: np.ndarray,
    strengths: np.ndarray,
) -> np.ndarray:
    """Return log E(p → n) of pairs in both directions, (2, K, N, N): shared columns, columns of every class."""
    N = len(columns)
    out = np.full((2, len(strengths), N, N), -np.inf)
    classes = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    values, i, j = strengths * bases[:, None], *pairs.T
    rise = Rises.of(values)
    found = np.zeros((2, len(pairs), len(strengths)))
    for scope, in_class in enumerate((np.zeros_like(classes), classes)):
        totals = rises_of_columns(columns, in_class, weights, starts, strengths)
        for counted in cells_of_pairs(columns, in_class, weights, pairs, np.diff(starts)):
            of_pair = counted.pair
            for direction, label in enumerate((starts[j][of_pair] + counted.y, starts[i][of_pair] + counted.x)):
                found[direction, counted.pairs] = counted.summed(rise.over(label, counted.counts))
        out[scope][:, i, j] = (found[0] - totals[i]).T
        out[scope][:, j, i] = (found[1] - totals[j]).T
    return out


class CountedPairs(NamedTuple):
    """Cells of several pairs of variables that hold rows, in the order of the pairs.

    Attributes
    ----------
    pairs : slice
        Which pairs these are.
    pair : numpy.ndarray of int, (cells,)
        The pair of every cell.
    x, y : numpy.ndarray of int, (cells,)
        The labels of both variables.
    counts : numpy.ndarray, (cells,)
        The rows of every cell.
    """

    pairs: slice
    pair: np.ndarray
    x: np.ndarray
    y: np.ndarray
    counts: np.ndarray

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Return the sums over the cells of every pair, (pairs, K), of values (cells, K)."""
        n_pairs = self.pairs.stop - self.pairs.start
        if not len(values):
            return np.zeros((n_pairs, values.shape[1]))
        # All rows have all variables, so every pair has a cell.
        firsts = np.searchsorted(self.pair, np.arange(self.pairs.start, self.pairs.stop))
        return np.asarray(np.add.reduceat(values, firsts, axis=0))


def cells_of_pairs(
    columns: np.ndarray, groups: np.ndarray, weights: np.ndarray, pairs: np.ndarray, sizes: np.ndarray
) -> Iterator[CountedPairs]:
    """Yield the cells of pairs of variables that hold rows, apart for every group of rows.

    Parameters
    ----------
    columns : numpy.ndarray of int, (N, rows)
        Codes without missing cells.
    groups : numpy.ndarray of int, (rows,)
        The group of every row.
    weights : numpy.ndarray, (rows,)
        How often each row counts, more than zero.
    pairs : numpy.ndarray of int, (n_pairs, 2)
        Pairs of variables.
    sizes : numpy.ndarray of int, (N,)
        The number of labels of every variable.
    """
    n_groups = int(groups.max(initial=0)) + 1
    # The places of all cells of a pair, for every group
    n_cells = sizes[pairs[:, 0]].astype(np.int64) * sizes[pairs[:, 1]] * n_groups
    for some in _at_once(n_cells):
        i, j = pairs[some].T
        first = np.cumsum(n_cells[some]) - n_cells[some]
        places = (groups * sizes[i, None] + columns[i]) * sizes[j, None] + columns[j] + first[:, None]
        each = np.broadcast_to(weights, places.shape).ravel()
        if len(i) == 1 and n_cells[some.start] > _MOST_OF_PAIR:
            cells, inverse = np.unique(places.ravel(), return_inverse=True)
            counts = np.bincount(inverse.reshape(-1), each)
        else:
            table = np.bincount(places.ravel(), each, minlength=int(n_cells[some].sum()))
            cells = np.flatnonzero(table)
            counts = table[cells]
        pair = np.searchsorted(first, cells, side="right") - 1
        rest, y = np.divmod(cells - first[pair], sizes[j][pair])
        yield CountedPairs(some, pair + some.start, rest % sizes[i][pair], y, counts)


def _at_once(n_cells: np.ndarray) -> Iterator[slice]:
    """Yield consecutive pairs whose cells are counted together; pairs of many cells are alone."""
    first, held = 0, 0
    for p, more in enumerate(n_cells.tolist()):
        if p > first and (held + more > _MOST_CELLS or more > _MOST_OF_PAIR):
            yield slice(first, p)
            first, held = p, 0
        held += more
        if more > _MOST_OF_PAIR:
            yield slice(first, p + 1)
            first, held = p + 1, 0
    if first < len(n_cells):
        yield slice(first, len(n_cells))


class Rises(NamedTuple):
    """log Γ(v + C) − log Γ(v) for values v (labels, K).

    Attributes
    ----------
    values, log_gamma : numpy.ndarray, (labels, K)
        v and log Γ(v).
    table : numpy.ndarray, (C, labels, K)
        What is looked up, for few rows C.
    """

    values: np.ndarray
    log_gamma: np.ndarray
    table: np.ndarray

    @classmethod
    def of(cls, values: np.ndarray, most: int = _MOST_LOOKED_UP) -> Rises:
        """Prepare positive values; look up counts below ``most``, which is 7 or more."""
        table = np.zeros((most, *values.shape))
        np.cumsum(np.log(values + np.arange(most - 1)[:, None, None]), axis=0, out=table[1:])
        return cls(values, _log_gamma(values + (most - 1)) - table[-1], table)

    def over(self, label: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Return it for some labels and counts, (n,) each, (n, K)."""
        whole = counts.astype(np.int64)
        known = (whole < len(self.table)) & (whole == counts)
        n_labels, K = self.values.shape
        flat = self.table.reshape(-1, K)
        if known.all():
            return np.asarray(flat.take(whole * n_labels + label, axis=0))
        found = flat.take(np.where(known, whole, 0) * n_labels + label, axis=0)
        others = np.flatnonzero(~known)
        of = label[others]
        found[others] = _log_gamma(self.values[of] + counts[others, None]) - self.log_gamma[of]
        return np.asarray(found)


def _log_gamma(x: np.ndarray) -> np.ndarray:
    """Return log Γ(x): by Stirling's series, to 1e-10, which takes a fifth of the time, where it is exact enough."""
    if x.min(initial=_FEWEST_BY_SERIES) < _FEWEST_BY_SERIES:
        from scipy.special import gammaln

        return np.asarray(gammaln(x))
    y = 1.0 / (x * x)
    series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x
    return np.asarray((x - 0.5) * np.log(x) - x + _HALF_LOG_TWO_PI + series)


def rises_of_columns(
    columns: np.ndarray, groups: np.ndarray, weights: np.ndarray, starts: np.ndarray, strengths: np.ndarray
) -> np.ndarray:
    """Return Σ (log Γ(b + C) − log Γ(b)) over the labels of every variable in every group of rows, (N, K)."""
    n_groups, rise = int(groups.max(initial=0)) + 1, Rises.of(strengths[None])
    places = (columns + starts[:-1, None]) * n_groups + groups
    each = np.broadcast_to(weights, places.shape).ravel()
    counts = np.bincount(places.ravel(), each, minlength=int(starts[-1]) * n_groups)
    values = rise.over(np.zeros(len(counts), dtype=np.int64), counts)
    return np.asarray(np.add.reduceat(values, starts[:-1] * n_groups, axis=0))
