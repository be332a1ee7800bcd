"""Edges between two numbers whose tables are drawn to those of two normal scores with a correlation.

A table of ten by ten intervals has 81 free numbers. If all of these are learned, two hundred rows cannot tell a
correlation of 0.3 from chance. A correlation r is a single number. With the ends z of the intervals in normal scores,

    m_r[y | x] = mean over scores u in [z_x, z_{x+1}) of  Φ((z_{y+1} − r u) / √(1 − r²)) − Φ((z_y − r u) / √(1 − r²))

is the table of r. An edge may have columns Dirichlet(b m_r[· | x]), for one of a few r and b, which all classes share
or each class has for itself, just as the columns of other edges are Dirichlet(b m_n)
(:mod:`juror.solvers.forest_gibbs`).

The ends are found from the shares of the intervals in the rows. Where cells are missing, most observed ones may be low,
and then m_r has too few high ones. So the ends follow the labels that are drawn for missing cells, but only during
sweeps that are forgotten. After these they are constant, as the sampler does not draw them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.domain import Domain
from juror.kernels.few_edges import Rises, counted_pairs, rises_of_columns

_CORRELATIONS = np.array([-0.95, -0.85, -0.7, -0.5, -0.25, 0.25, 0.5, 0.7, 0.85, 0.95])
# The values of b: tables that only resemble those of normal scores, and tables that are nearly these
_STRENGTHS = np.array([8.0, 64.0])
N_BELLS = len(_STRENGTHS) * len(_CORRELATIONS)
# The scores of an interval over which columns are averaged
_SCORES = 8
# Entries of tables are positive.
_LEAST = 1e-9
# The most entries of the tables of all pairs. These are kept, and read whenever the forest is drawn.
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
    """

    ends: dict[int, np.ndarray]

    @classmethod
    def none(cls) -> BellEdges:
        """Return no such edges."""
        return cls({})

    @classmethod
    def of(cls, domain: Domain, marginals: list[np.ndarray]) -> BellEdges:
        """Join the variables of a domain that are cut into intervals, whose shares are ``marginals``, (I_n,) each."""
        ends = {
            n: _scores_of(shares)
            for n, (variable, shares) in enumerate(zip(domain, marginals, strict=True))
            if variable.edges is not None and variable.missing_label is None and variable.cardinality > 2
        }
        n_numbers = N_BELLS * sum(len(each) - 1 for each in ends.values()) ** 2
        return cls(ends) if len(ends) >= 2 and n_numbers <= _MOST_NUMBERS else cls.none()

    def following(self, codes: np.ndarray, weights: np.ndarray) -> BellEdges:
        """Return edges with the ends of complete rows (rows, N), of which each has a weight."""
        sizes = {n: len(ends) - 1 for n, ends in self.ends.items()}
        rows = {n: 0.5 + np.bincount(codes[:, n], weights, minlength=size) for n, size in sizes.items()}
        return BellEdges({n: _scores_of(each / each.sum()) for n, each in rows.items()})

    @cached_property
    def pairs(self) -> list[Pair]:
        """All pairs, the parent first."""
        return [(above, n) for above in self.ends for n in self.ends if above != n]

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
        return _PairCells.of({n: len(ends) - 1 for n, ends in self.ends.items()}, self._alpha)

    def alpha(self, above: int, n: int, kind: int) -> np.ndarray:
        """Return the pseudo-counts b m_r of an edge, (I_p, I_n)."""
        return np.asarray(self._alpha[above, n][kind % N_BELLS])

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
        if not self.ends:
            return np.empty((0, 2 * N_BELLS))
        _, own = np.unique(classes, return_inverse=True)
        columns = np.ascontiguousarray(codes[:, list(self.ends)].T)
        shared = self._cells.evidence(columns, np.zeros_like(own), weights)
        # in one class both are the same
        each = self._cells.evidence(columns, own.reshape(-1), weights) if own.any() else shared
        return np.concatenate([shared, each], axis=1)


@dataclass(frozen=True, eq=False)
class _PairCells:
    """The cells of the tables of all pairs of numbers, one pair after the other; a pair has edges in both directions.

    Attributes
    ----------
    pairs : numpy.ndarray of int, (n, 2)
        Pairs of places among the numbers, the lower first.
    sizes : numpy.ndarray of int
        The intervals of every number.
    first : numpy.ndarray of int, (n + 1,)
        The first cell of every pair, and one past the last.
    rises : Rises
        Of the pseudo-counts of every cell, (cells, 2 · kinds): from the lower number to the other, and back.
    order : numpy.ndarray of int
        Among the edges of all pairs from the lower number, then those back, the place of every pair of
        :attr:`BellEdges.pairs`.
    """

    pairs: np.ndarray
    sizes: np.ndarray
    first: np.ndarray
    rises: Rises
    order: np.ndarray

    @classmethod
    def of(cls, sizes: dict[int, int], alpha: dict[Pair, np.ndarray]) -> _PairCells:
        """Lay out tables (kinds, I_p, I_n) of numbers with these intervals."""
        numbers = list(sizes)
        pairs = [(i, j) for i in range(len(numbers)) for j in range(i + 1, len(numbers))]
        cells = []
        for i, j in pairs:
            there, back = alpha[numbers[i], numbers[j]], alpha[numbers[j], numbers[i]].swapaxes(1, 2)
            cells.append(np.concatenate([there, back]).reshape(2 * N_BELLS, -1).T)
        places = {(numbers[i], numbers[j]): place for place, (i, j) in enumerate(pairs)}
        places |= {(j, i): place + len(pairs) for (i, j), place in places.items()}
        return cls(
            np.array(pairs, dtype=np.int64).reshape(-1, 2),
            np.array(list(sizes.values()), dtype=np.int64),
            np.cumsum([0, *map(len, cells)]),
            Rises.of(np.ascontiguousarray(np.concatenate(cells)), _MOST_LOOKED_UP),
            np.array([places[pair] for pair in alpha]),
        )

    def evidence(self, columns: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the log evidence of every kind of the edge of every pair, (pairs, kinds), apart for groups of rows."""
        found = np.zeros((len(self.pairs), 2 * N_BELLS))
        for counted in counted_pairs(columns, groups, weights, self.pairs, self.sizes):
            cell = self.first[counted.pair] + counted.x * self.sizes[self.pairs[counted.pair, 1]] + counted.y
            found[counted.pairs] += counted.summed(self.rises.over(cell, counted.counts))
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        of_columns = np.repeat(
            rises_of_columns(columns, groups, weights, starts, _STRENGTHS), len(_CORRELATIONS), axis=1
        )
        there, back = found[:, :N_BELLS], found[:, N_BELLS:]
        both = [there - of_columns[self.pairs[:, 0]], back - of_columns[self.pairs[:, 1]]]
        return np.asarray(np.concatenate(both)[self.order])


def _scores_of(shares: np.ndarray) -> np.ndarray:
    """Return the ends of intervals with these shares in normal scores, (I + 1,)."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.clip(np.concatenate([[0.0], np.cumsum(shares[:-1]), [1.0]]), 0.0, 1.0)))


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
