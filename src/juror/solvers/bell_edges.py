"""Edges between two numbers or ordered labels, whose tables are drawn to those of two normal scores with a correlation.

A table of ten by ten intervals has 81 free numbers. If all of these are learned, two hundred rows cannot tell a
correlation of 0.3 from chance. A correlation r is a single number. With the ends z of the intervals in normal scores,

    m_r[y | x] = mean over scores u in [z_x, z_{x+1}) of  Φ((z_{y+1} − r u) / √(1 − r²)) − Φ((z_y − r u) / √(1 − r²))

is the table of r. Labels that have an order, such as answers from 1 to 7, count as intervals here. An edge may have
columns Dirichlet(b m_r[· | x]), for one of a few r and b, which all classes share or each class has for itself, just
as the columns of other edges are Dirichlet(b m_n) (:mod:`juror.solvers.forest_gibbs`).

The ends are found from the shares of the intervals in the rows. Where cells are missing, most observed ones may be low,
and then m_r has too few high ones. So the ends follow the labels that are drawn for missing cells, but only during
sweeps that are forgotten. After these they are constant, as the sampler does not draw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from juror.domain import Domain
from juror.kernels.few_edges import Rises, cells_of_pairs, rises_of_columns
from juror.rows.distinct import WeightedRows

_CORRELATIONS = np.array([-0.95, -0.85, -0.7, -0.5, -0.25, 0.25, 0.5, 0.7, 0.85, 0.95])
# The values of b: tables that only resemble those of normal scores, and tables that are nearly these
_STRENGTHS = np.array([8.0, 64.0])
N_BELLS = len(_STRENGTHS) * len(_CORRELATIONS)
# The scores of an interval over which columns are averaged
_SCORES = 8
# Entries of tables are positive.
_LEAST = 1e-9
# The most entries of the tables of all pairs. These are kept, and read whenever the forest is drawn. If there are more,
# the pairs with the strongest correlations have such edges: a forest of n columns has fewer than n edges.
_MOST_NUMBERS = 1_000_000
# Most cells hold few rows: below this many, values of the Gamma function are kept.
_MOST_LOOKED_UP = 7

Pair = tuple[int, int]


@dataclass(frozen=True, eq=False)
class BellEdges:
    """The numbers of a table that edges of this kind may join.

    Attributes
    ----------
    ends : dict of int to numpy.ndarray, (I_n + 1,)
        By variable, the ends of its intervals in normal scores, from −inf to inf.
    couples : tuple of pairs of int
        The variables that may be joined, each in the order of ``ends``.
    """

    ends: dict[int, np.ndarray]
    couples: tuple[Pair, ...]

    @classmethod
    def none(cls) -> BellEdges:
        """Return no such edges."""
        return cls({}, ())

    @classmethod
    def of(cls, domain: Domain, marginals: list[np.ndarray], rows: WeightedRows) -> BellEdges:
        """Join the variables of a domain that are cut into intervals, whose shares are ``marginals``, (I_n,) each.

        Intervals hold about as many rows each by their making. Shares of labels would be learned from the same rows.
        """
        ends = {
            n: _scores_of(shares)
            for n, (variable, shares) in enumerate(zip(domain, marginals, strict=True))
            if variable.edges is not None and variable.missing_label is None and variable.cardinality > 2
        }
        couples = list(combinations(ends, 2))
        n_numbers = np.array([2 * N_BELLS * (len(ends[i]) - 1) * (len(ends[j]) - 1) for i, j in couples])
        if n_numbers.sum() > _MOST_NUMBERS:
            strongest = np.argsort(-_strengths(ends, couples, rows), kind="stable")
            few = strongest[np.cumsum(n_numbers[strongest]) <= _MOST_NUMBERS]
            couples = [couples[place] for place in sorted(few)]
        return cls(ends, tuple(couples))

    def following(self, codes: np.ndarray, weights: np.ndarray) -> BellEdges:
        """Return edges with the ends of complete rows (rows, N), of which each has a weight."""
        sizes = {n: len(ends) - 1 for n, ends in self.ends.items()}
        rows = {n: 0.5 + np.bincount(codes[:, n], weights, minlength=size) for n, size in sizes.items()}
        return replace(self, ends={n: _scores_of(each / each.sum()) for n, each in rows.items()})

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs, the parent first: the couples, then the couples in the other direction."""
        return [*self.couples, *((j, i) for i, j in self.couples)]

    @cached_property
    def _alpha(self) -> dict[Pair, np.ndarray]:
        """The pseudo-counts b m_r of every pair, (kinds, I_p, I_n)."""
        found = {}
        for above, n in self.pairs:
            tables = _tables(self.ends[above], self.ends[n])
            found[above, n] = (_STRENGTHS[:, None, None, None] * tables).reshape(N_BELLS, *tables.shape[1:])
        return found

    @cached_property
    def _cells(self) -> _PairCells:
        return _PairCells.of({n: len(ends) - 1 for n, ends in self.ends.items()}, self.couples, self._alpha)

    def alpha(self, above: int, n: int, bell: int) -> np.ndarray:
        """Return the pseudo-counts b m_r of an edge, (I_p, I_n); bells are numbered by b, then by r."""
        return np.asarray(self._alpha[above, n][bell])

    def evidence(self, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the log evidence of all edges, (pairs, 2 · kinds): those with shared columns, then those of classes.

        Parameters
        ----------
        codes : numpy.ndarray, (rows, N)
            Labels without missing cells.
        classes : numpy.ndarray of int, (rows,)
            The class of every row.
        weights : numpy.ndarray, (rows,)
            How often each row counts.
        """
        if not self.couples:
            return np.empty((0, 2 * N_BELLS))
        _, own = np.unique(classes, return_inverse=True)
        columns = np.ascontiguousarray(codes[:, list(self.ends)].T)
        shared = self._cells.evidence(columns, np.zeros_like(own), weights)
        # in one class both are the same
        each = self._cells.evidence(columns, own.reshape(-1), weights) if own.any() else shared
        return np.concatenate([shared, each], axis=1)


@dataclass(frozen=True, eq=False)
class _PairCells:
    """The cells of the tables of all couples, one after the other; a couple has edges in both directions.

    Attributes
    ----------
    pairs : numpy.ndarray of int, (n, 2)
        The couples, as places among the numbers.
    sizes : numpy.ndarray of int
        The intervals of every number.
    first : numpy.ndarray of int, (n + 1,)
        The first cell of every pair, and one past the last.
    rises : Rises
        Of the pseudo-counts of every cell, (cells, 2 · kinds): from the first number to the other, and back.
    """

    pairs: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    rises: Rises

    @classmethod
    def of(cls, sizes: dict[int, int], couples: Sequence[Pair], alpha: dict[Pair, np.ndarray]) -> _PairCells:
        """Lay out tables (kinds, I_p, I_n) of numbers with these intervals."""
        place = {n: at for at, n in enumerate(sizes)}
        cells = []
        for i, j in couples:
            there, back = alpha[i, j], alpha[j, i].swapaxes(1, 2)
            cells.append(np.concatenate([there, back]).reshape(2 * N_BELLS, -1).T)
        return cls(
            np.array([(place[i], place[j]) for i, j in couples], dtype=np.int64),
            np.array(list(sizes.values()), dtype=np.int64),
            np.cumsum([0, *map(len, cells)]),
            Rises.of(np.ascontiguousarray(np.concatenate(cells)), _MOST_LOOKED_UP),
        )

    def evidence(self, columns: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the log evidence of every kind of every pair's edge, (pairs, kinds), apart for groups of rows."""
        found = np.zeros((len(self.pairs), 2 * N_BELLS))
        for counted in cells_of_pairs(columns, groups, weights, self.pairs, self.sizes):
            cell = self.first[counted.pair] + counted.x * self.sizes[self.pairs[counted.pair, 1]] + counted.y
            found[counted.pairs] += counted.summed(self.rises.over(cell, counted.counts))
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        of_columns = np.repeat(
            rises_of_columns(columns, groups, weights, starts, _STRENGTHS), len(_CORRELATIONS), axis=1
        )
        there, back = found[:, :N_BELLS], found[:, N_BELLS:]
        return np.concatenate([there - of_columns[self.pairs[:, 0]], back - of_columns[self.pairs[:, 1]]])


def _scores_of(shares: np.ndarray) -> np.ndarray:
    """Return the ends of intervals with these shares in normal scores, (I + 1,)."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(np.concatenate([[0.0], np.cumsum(shares[:-1]), [1.0]]), 0.0, 1.0)))


def _strengths(ends: dict[int, np.ndarray], couples: Sequence[Pair], rows: WeightedRows) -> np.ndarray:
    """Return the absolute correlation of the middle scores of couples, (couples,), in the rows that have both."""
    from scipy.special import ndtr, ndtri

    found, squares, seen = {}, {}, {}
    for n, own in ends.items():
        levels, code = ndtr(own), rows.codes[:, n]
        seen[n] = code >= 0
        found[n] = np.where(seen[n], ndtri((levels[:-1] + levels[1:]) / 2)[code], 0.0)
        squares[n] = found[n] ** 2 * rows.weights

    def correlation(i: int, j: int) -> float:
        # Sums of NumPy have the same bits for any number of threads, unlike products of matrices.
        both, own, other = (
            (rows.weights * found[i] * found[j]).sum(),
            squares[i][seen[j]].sum(),
            squares[j][seen[i]].sum(),
        )
        return abs(both) / np.sqrt(max(own * other, _LEAST))

    return np.array([correlation(i, j) for i, j in couples])


def _tables(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return m_r for every correlation, (R, I_p, I_n), from the ends of both variables.

    >>> halves = np.array([-np.inf, 0.0, np.inf])
    >>> _tables(halves, halves)[-1].round(2).tolist()
    [[0.9, 0.1], [0.1, 0.9]]
    """
    from scipy.special import ndtr, ndtri

    levels = ndtr(above)
    inside = levels[:-1, None] + np.diff(levels)[:, None] * (np.arange(_SCORES) + 0.5) / _SCORES
    r = _CORRELATIONS[:, None, None, None]
    reached = ndtr((below - r * ndtri(inside)[..., None]) / np.sqrt(1.0 - r * r)).mean(axis=2)
    tables = np.maximum(np.diff(reached, axis=-1), _LEAST)
    return np.asarray(tables / tables.sum(axis=-1, keepdims=True))
