"""All factors as one matrix, so that kernels need to know neither variables nor missing cells.

The factors A_n of shape (I_n, F) stand on top of each other, each followed by one row of ones: the row that a missing
cell selects. A table of codes becomes a table of *cells*, row numbers in this stack; the probability of a row of
the table given class f is the product of the stacked rows its cells name, and a missing cell multiplies by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_AT_ONCE = 4096


def cell_type(n: int) -> type[np.uint16 | np.int32]:
    """Return the type of cells that name one of n rows: the smaller of the two that kernels are compiled for."""
    return np.uint16 if n <= 1 << 16 else np.int32


@dataclass(frozen=True)
class Stacking:
    """Where each variable stands in the stack."""

    cardinalities: tuple[int, ...]

    @cached_property
    def starts(self) -> np.ndarray:
        """The first stacked row of every variable, and one past the last, (N + 1,)."""
        return np.concatenate([[0], np.cumsum(np.asarray(self.cardinalities) + 1)]).astype(np.int32)

    @property
    def n_rows(self) -> int:
        """The height of the stack, Σ (I_n + 1)."""
        return int(self.starts[-1])

    @cached_property
    def missing_rows(self) -> np.ndarray:
        """The rows of ones, (N,)."""
        return self.starts[1:] - 1

    def rows(self, n: int) -> slice:
        """Return the stacked rows of variable n, without its row of ones."""
        return slice(int(self.starts[n]), int(self.missing_rows[n]))

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the stacked row of every code, (n_rows, N), uint16 or int32; −1 selects the row of ones."""
        cells = np.empty(codes.shape, dtype=cell_type(self.n_rows))
        # A few rows at a time, whose intermediate results stay in the cache.
        for first in range(0, len(codes), _AT_ONCE):
            some = codes[first : first + _AT_ONCE]
            cells[first : first + _AT_ONCE] = np.where(some < 0, self.missing_rows, some + self.starts[:-1])
        return cells

    def stack(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Stack factors (I_n, F) into one matrix (n_rows, F)."""
        stacked = np.ones((self.n_rows, factors[0].shape[1]))
        for n, factor in enumerate(factors):
            stacked[self.rows(n)] = factor
        return stacked

    def unstack(self, stacked: np.ndarray) -> tuple[np.ndarray, ...]:
        """Take a stack apart again into its factors."""
        return tuple(stacked[self.rows(n)].copy() for n in range(len(self.cardinalities)))

    def n_parameters(self, rank: int) -> int:
        """Count the free parameters of a model: (F − 1) + F Σ (I_n − 1).

        >>> Stacking((2, 3)).n_parameters(2)
        7
        """
        return rank - 1 + rank * sum(size - 1 for size in self.cardinalities)

    def marginals(self, label_counts: np.ndarray) -> np.ndarray:
        """Return one-way marginals from counts of labels, (n_rows, 1) both, with one count more per variable."""
        share = np.repeat(1.0 / np.asarray(self.cardinalities), np.asarray(self.cardinalities) + 1)
        smoothed = label_counts + share[:, None]
        return self.normalise(smoothed, otherwise=np.ones_like(smoothed))

    def pseudo_counts(self, smoothing: float, marginals: np.ndarray) -> np.ndarray:
        """Return α I_n m_n[x] of every stacked row, (n_rows, 1): α per cell on average, spread as the marginals are."""
        sizes = np.asarray(self.cardinalities)
        return np.asarray(smoothing * np.repeat(sizes, sizes + 1)[:, None] * marginals)

    def normalise(self, counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Scale every factor's columns to sum one; a column without any count is taken from another stack.

        Parameters
        ----------
        counts : numpy.ndarray, (n_rows, F)
            Non-negative; the values in the rows of ones are ignored.
        otherwise : numpy.ndarray, (n_rows, F)
            A normalised stack.
        """
        counts = counts.copy()
        counts[self.missing_rows] = 0.0
        totals = np.add.reduceat(counts, self.starts[:-1], axis=0)
        totals = np.repeat(totals, np.asarray(self.cardinalities) + 1, axis=0)
        stacked = np.divide(counts, totals, out=otherwise.copy(), where=totals > 0)
        stacked[self.missing_rows] = 1.0
        return stacked
