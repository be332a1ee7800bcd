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
# Most cells hold few rows: for up to this many, values of the Gamma function are kept.
_MOST_KEPT = 6

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
        """The pseudo-counts b m_r of every pair, (I_p · I_n, kinds)."""
        found = {}
        for above, n in self.pairs:
            tables = _tables(self.ends[above], self.ends[n])
            alpha = _STRENGTHS[:, None, None, None] * tables
            found[above, n] = np.ascontiguousarray(alpha.reshape(N_BELLS, -1).T)
        return found

    @cached_property
    def _log_gamma(self) -> dict[Pair, np.ndarray]:
        """The logarithm of Γ(b m_r + k) of every pair for k = 0 … 6 rows, (7, I_p · I_n, kinds)."""
        from scipy.special import gammaln

        rows = np.arange(_MOST_KEPT + 1)[:, None, None]
        return {pair: gammaln(alpha + rows) for pair, alpha in self._alpha.items()}

    def alpha(self, above: int, n: int, kind: int) -> np.ndarray:
        """Return the pseudo-counts b m_r of an edge, (I_p, I_n)."""
        of_kind = self._alpha[above, n][:, kind % N_BELLS]
        return np.asarray(of_kind.reshape(-1, len(self.ends[n]) - 1))

    def evidence(self, codes: np.ndarray, classes: np.ndarray, weights: np.ndarray) -> dict[Pair, np.ndarray]:
        """Return the log evidence of all edges by pair: those with shared columns, then those of every class.

        Parameters
        ----------
        codes : numpy.ndarray, (rows, N)
            Labels without missing cells.
        classes : numpy.ndarray of int, (rows,)
            The class of every row.
        weights : numpy.ndarray, (rows,)
            How often each row counts.

        Returns
        -------
        dict of pair to numpy.ndarray, (2 · kinds,)
        """
        _, own = np.unique(classes, return_inverse=True)
        found = {}
        for above, n in self.pairs:
            shared = self._evidence(above, n, codes, np.zeros_like(own), weights)
            # in one class both are the same
            each = self._evidence(above, n, codes, own, weights) if own.any() else shared
            found[above, n] = np.concatenate([shared, each])
        return found

    def _evidence(self, above: int, n: int, codes: np.ndarray, groups: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Return the log evidence of every kind of an edge, (kinds,), with separate columns for each group of rows."""
        from scipy.special import gammaln

        n_above, n_below = len(self.ends[above]) - 1, len(self.ends[n]) - 1
        column = groups * n_above + codes[:, above].astype(np.int64)
        counts = np.bincount(column * n_below + codes[:, n], weights)
        in_columns = np.bincount(column, weights)
        (some,) = np.nonzero(counts)
        cells, held, kept = some % (n_above * n_below), counts[some], self._log_gamma[above, n]
        are_kept = (held <= _MOST_KEPT) & (held == np.floor(held))
        seen = kept[np.where(are_kept, held, 0).astype(np.int64), cells]
        seen[~are_kept] = gammaln(self._alpha[above, n][cells[~are_kept]] + held[~are_kept, None])
        seen -= kept[0, cells]
        totals = gammaln(_STRENGTHS)[:, None] - gammaln(_STRENGTHS[:, None] + in_columns[in_columns > 0])
        return np.asarray(seen.sum(axis=0) + np.repeat(totals.sum(axis=1), len(_CORRELATIONS)))


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
