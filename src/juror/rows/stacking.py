"""All tables as one matrix, so that kernels need to know neither variables nor missing cells.

The factors A_n of shape (I_n, F) stand on top of each other, each followed by one row of ones: the row that a missing
cell selects. A table of codes becomes a table of *cells*, row numbers in this stack; the probability of a row of
the table given class f is the product of the stacked rows its cells name, and a missing cell multiplies by one.

In a forest (:mod:`juror.rows.forest`) a variable with its parent is one column of joint codes x_pa · I_n + x_n: its
table (I_pa, I_n, F) is stacked as I_pa · I_n rows, and every I_n of them sum to one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from juror.rows.forest import NO_PARENT, Forest

# Pseudo-counts by which the tables of a forest are drawn to the variables' marginals
_WEAK = 1.0
# Rows whose cells are found at once
_AT_ONCE = 1 << 14


def cell_type(n: int) -> type[np.uint16 | np.int32]:
    """Return the type of cells that name one of n rows: the smaller of the two that kernels are compiled for."""
    return np.uint16 if n <= 1 << 16 else np.int32


@dataclass(frozen=True)
class Stacking:
    """Where each variable stands in the stack; without a forest, variables have no parents."""

    cardinalities: tuple[int, ...]
    forest: Forest | None = None

    @cached_property
    def heights(self) -> tuple[int, ...]:
        """The number of stacked rows of every variable without its row of ones, I_pa · I_n."""
        return self.cardinalities if self.forest is None else self.forest.joint_sizes(self.cardinalities)

    @cached_property
    def starts(self) -> np.ndarray:
        """The first stacked row of every variable, and one past the last, (N + 1,)."""
        return np.concatenate([[0], np.cumsum(np.asarray(self.heights) + 1)]).astype(np.int32)

    @property
    def n_rows(self) -> int:
        """The height of the stack, Σ (I_pa I_n + 1)."""
        return int(self.starts[-1])

    @cached_property
    def missing_rows(self) -> np.ndarray:
        """The rows of ones, (N,)."""
        return self.starts[1:] - 1

    def rows(self, n: int) -> slice:
        """Return the stacked rows of variable n, without its row of ones."""
        return slice(int(self.starts[n]), int(self.missing_rows[n]))

    def cells(
        self, codes: np.ndarray, dtype: type[np.integer[Any]] | None = None, order: Literal["C", "F"] = "C"
    ) -> np.ndarray:
        """Return the stacked row of every code and its parent's, (n_rows, N); the row of ones where either is −1.

        By default they are uint16 or int32, in the layout that kernels are compiled for.

        >>> Stacking((2, 3), Forest((-1, 0))).cells(np.array([[1, 2], [-1, 2]])).tolist()
        [[1, 8], [2, 9]]
        """
        cells = np.empty(codes.shape, dtype=dtype or cell_type(self.n_rows), order=order)
        parents = Forest.empty(codes.shape[1]).parents if self.forest is None else self.forest.parents
        # A few rows at a time, whose columns stay in the cache.
        for first in range(0, len(codes), _AT_ONCE):
            some, into = codes[first : first + _AT_ONCE], cells[first : first + _AT_ONCE]
            for n, parent in enumerate(parents):
                column = some[:, n].astype(np.int32)
                is_missing = column < 0
                if parent != NO_PARENT:
                    column += np.multiply(some[:, parent], self.cardinalities[n], dtype=np.int32)
                    is_missing |= some[:, parent] < 0
                into[:, n] = np.where(is_missing, self.missing_rows[n], column + self.starts[n])
        return cells

    def stack(self, tables: Sequence[np.ndarray]) -> np.ndarray:
        """Stack factors (I_n, F), or tables (I_pa or 1, I_n, F), into one matrix (n_rows, F)."""
        stacked = np.ones((self.n_rows, tables[0].shape[-1]))
        for n, table in enumerate(tables):
            stacked[self.rows(n)] = table.reshape(-1, table.shape[-1])
        return stacked

    def unstack(self, stacked: np.ndarray) -> tuple[np.ndarray, ...]:
        """Take a stack of factors apart again, (I_n, F) each."""
        return tuple(stacked[self.rows(n)].copy() for n in range(len(self.cardinalities)))

    def tables(self, stacked: np.ndarray) -> tuple[np.ndarray, ...]:
        """Take a stack apart into tables, (I_pa or 1, I_n, F) each."""
        sizes = zip(self.unstack(stacked), self.cardinalities, strict=True)
        return tuple(table.reshape(-1, size, table.shape[-1]) for table, size in sizes)

    @cached_property
    def _columns(self) -> tuple[np.ndarray, np.ndarray]:
        """The first stacked row of every column that sums to one, rows of ones by themselves, and their lengths."""
        lengths = np.concatenate(
            [
                np.append(np.full(height // size, size), 1)
                for height, size in zip(self.heights, self.cardinalities, strict=True)
            ]
        )
        return np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths

    def marginals(self, label_counts: np.ndarray) -> np.ndarray:
        """Return one-way marginals from counts of labels, (n_rows, 1) both, with one count more per variable.

        In a forest they are the forest's own tables: counts of joint labels, drawn a little to the marginals.
        """
        share = np.repeat(1.0 / np.asarray(self.heights), np.asarray(self.heights) + 1)
        if self.forest is not None:
            share = self._drawn_to(label_counts[:, 0], self.forest)
        smoothed = label_counts + share[:, None]
        return self.normalise(smoothed, otherwise=np.ones_like(smoothed))

    def _drawn_to(self, label_counts: np.ndarray, forest: Forest) -> np.ndarray:
        """Return pseudo-counts of joint labels, (n_rows,): a row for each label of the parent, as the marginal is."""
        share = np.zeros(self.n_rows)
        for n, (size, parent) in enumerate(zip(self.cardinalities, forest.parents, strict=True)):
            counted = label_counts[self.rows(n)].reshape(-1, size).sum(axis=0)
            once = (counted + 1.0 / size) / (counted.sum() + 1.0)
            share[self.rows(n)] = np.tile(_WEAK * once, self.heights[n] // size) if parent != NO_PARENT else 1.0 / size
        return share

    def pseudo_counts(self, smoothing: float, marginals: np.ndarray) -> np.ndarray:
        """Return α I_n m_n[x] of every stacked row, (n_rows, 1): α per cell on average, spread as the marginals are."""
        sizes = np.asarray(self.cardinalities)
        return np.asarray(smoothing * np.repeat(sizes, np.asarray(self.heights) + 1)[:, None] * marginals)

    def normalise(self, counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
        """Scale every column of every table to sum one; a column without any count is taken from another stack.

        Parameters
        ----------
        counts : numpy.ndarray, (n_rows, F)
            Non-negative; the values in the rows of ones are ignored.
        otherwise : numpy.ndarray, (n_rows, F)
            A normalised stack.
        """
        counts = counts.copy()
        counts[self.missing_rows] = 0.0
        first, lengths = self._columns
        totals = np.repeat(np.add.reduceat(counts, first, axis=0), lengths, axis=0)
        stacked = np.divide(counts, totals, out=otherwise.copy(), where=totals > 0)
        stacked[self.missing_rows] = 1.0
        return stacked
