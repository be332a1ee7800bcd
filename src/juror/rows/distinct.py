"""Distinct rows with their weights: a table of N_s rows of a few variables often has far fewer distinct ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.readers.columns import MISSING

# Codes (rows, N), and how often each row counts, (rows,); without weights every row counts once.
Chunk = tuple[np.ndarray, np.ndarray | None]

# A distinct row is divided into at most this many rows.
_MOST_ROWS = 2**53
# NumPy draws without replacement from at most this many rows.
_MOST_DEALT = 10**9


@dataclass(frozen=True)
class WeightedRows:
    """Distinct rows of codes and how often each counts.

    Attributes
    ----------
    codes : numpy.ndarray, (n_distinct, N)
        Codes with −1 for missing, sorted, no two rows equal.
    weights : numpy.ndarray, (n_distinct,)
        Positive weights.
    n_merged : numpy.ndarray, (n_distinct,)
        How many rows of the table each stands for; to read only.
    squares : float, optional
        The sum of the squared weights of all rows before they were merged; None if all weights are whole, and for
        parts of a table.
    """

    codes: np.ndarray
    weights: np.ndarray
    n_merged: np.ndarray
    squares: float | None = None

    @classmethod
    def of(cls, codes: np.ndarray, weights: np.ndarray | None = None) -> WeightedRows:
        """Merge equal rows and add up their weights; rows of weight zero go.

        >>> merged = WeightedRows.of(np.array([[1, 0], [0, 1], [1, 0]]))
        >>> merged.codes.tolist(), merged.weights.tolist()
        ([[0, 1], [1, 0]], [1.0, 2.0])
        """
        if weights is not None and not np.all(weights > 0):
            codes, weights = codes[weights > 0], weights[weights > 0]
        keys, joined = _join_columns(codes)
        if weights is None:
            keys.sort()
            starts = _run_starts(keys)
            rows, n_merged = joined.take_apart(keys[starts]), _run_lengths(starts, len(keys))
            return cls(rows, n_merged.astype(np.float64), n_merged)
        # A stable sort: the weights of equal rows are added up in the order of the rows.
        order = np.argsort(keys, kind="stable")
        keys, weights = keys[order], weights[order].astype(np.float64, copy=False)
        del order
        squares = None if np.all(weights == np.floor(weights)) else float(weights @ weights)
        starts = _run_starts(keys)
        n_merged = _run_lengths(starts, len(keys))
        if len(starts) < len(keys):
            weights = np.bincount(np.repeat(np.arange(len(starts)), n_merged), weights)
        return cls(joined.take_apart(keys[starts]), weights, n_merged, squares)

    @classmethod
    def of_chunks(cls, chunks: Sequence[Chunk]) -> WeightedRows:
        """Merge the rows of several chunks, in their order."""
        weights = None if chunks[0][1] is None else np.concatenate([weights for _, weights in chunks])
        return cls.of(np.asfortranarray(np.concatenate([codes for codes, _ in chunks])), weights)

    @property
    def total(self) -> float:
        """The sum of the weights: how many rows there were."""
        return float(self.weights.sum())

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[WeightedRows, WeightedRows]:
        """Hold out a fraction of the rows at random; return what is kept and what is held out.

        A distinct row stands for the rows that were merged into it, or for as many as its weight if that is more. Each
        of these rows goes to one of the sides, with its share of the weight. So whole weights are held out like
        repeated rows.
        """
        n = self._n_rows()
        n_held = rng.binomial(n, fraction)
        return self._part(n - n_held, n), self._part(n_held, n)

    def folds(self, n: int, rng: np.random.Generator) -> list[tuple[WeightedRows, WeightedRows]]:
        """Deal the rows out at random into n parts as even as can be; return what all others hold, and each itself.

        As in :meth:`split`, every row that was merged is dealt by itself.
        """
        n_rows = self._n_rows()
        total = int(n_rows.sum())
        if total < _MOST_DEALT:
            left, parts = n_rows, []
            for size in np.diff(np.arange(n + 1) * total // n)[:-1]:
                parts.append(rng.multivariate_hypergeometric(left, size, method="marginals"))
                left = left - parts[-1]
            parts.append(left)
        else:
            # With this many rows, parts that are drawn independently are even too.
            parts = list(rng.multinomial(n_rows, np.full(n, 1.0 / n)).T)
        return [(self._part(n_rows - part, n_rows), self._part(part, n_rows)) for part in parts]

    def _n_rows(self) -> np.ndarray:
        """How many rows each distinct row stands for, (n_distinct,)."""
        return np.maximum(self.n_merged, np.minimum(np.floor(self.weights), _MOST_ROWS)).astype(np.int64)

    def _part(self, n_part: np.ndarray, n: np.ndarray) -> WeightedRows:
        some = n_part > 0
        codes = np.empty((np.count_nonzero(some), self.codes.shape[1]), dtype=self.codes.dtype, order="F")
        for into, column in zip(codes.T, self.codes.T, strict=True):
            into[:] = column[some]
        # Multiply before dividing: whole weights then divide without rounding.
        return WeightedRows(codes, (self.weights * n_part / n)[some], n_part[some])


@dataclass
class _Joined:
    """How the columns of a table were joined into one key a row.

    ``levels`` counts the levels of every column, including missing. ``ranked`` has the keys by rank, for every column
    before which keys were replaced by their ranks.
    """

    dtype: np.dtype[Any]
    levels: list[int]
    ranked: dict[int, np.ndarray]

    def take_apart(self, keys: np.ndarray) -> np.ndarray:
        """Return the codes that keys (n,) stand for, (n, N)."""
        codes = np.empty((len(keys), len(self.levels)), dtype=self.dtype, order="F")
        for n in range(len(self.levels) - 1, -1, -1):
            rest = keys // self.levels[n]
            np.subtract(keys, rest * self.levels[n] - MISSING, out=codes[:, n], casting="unsafe")
            keys = self.ranked[n][rest] if n in self.ranked else rest
        return codes


def _join_columns(codes: np.ndarray) -> tuple[np.ndarray, _Joined]:
    """Return one integer a row, equal exactly where rows are equal and ordered as the rows are, and how to go back.

    Columns are joined by multiplication until the next one might overflow. Then the keys are replaced by their ranks,
    of which there are no more than rows.
    """
    joined = _Joined(codes.dtype, [int(column.max(initial=MISSING)) + 2 for column in codes.T], {})
    keys: np.ndarray = np.zeros(len(codes), dtype=np.int32 if math.prod(joined.levels) < 2**31 else np.int64)
    size = 1
    for n, levels in enumerate(joined.levels):
        if size > np.iinfo(np.int64).max // levels:
            joined.ranked[n], keys = np.unique(keys, return_inverse=True)
            size = len(joined.ranked[n])
        # In the type of the keys: that of the codes may be as short as a byte.
        keys *= levels
        keys += codes[:, n]
        keys += 1
        size *= levels
    return keys, joined


def _run_starts(keys: np.ndarray) -> np.ndarray:
    """Return where each run of equal sorted keys begins."""
    return np.flatnonzero(np.append(len(keys) > 0, keys[1:] != keys[:-1]))[: len(keys)]


def _run_lengths(starts: np.ndarray, n: int) -> np.ndarray:
    # If all runs have length one, a single number is stored.
    return np.broadcast_to(np.int64(1), n) if len(starts) == n else np.diff(starts, append=n)
