"""Rows and the tables of a hidden tree as the kernels of :mod:`juror.kernels` want them.

Fits of hidden trees (:mod:`juror.solvers.hidden_tree`) pass over rows thousands of times, in single precision. Answers
need neither that speed nor its rounding: they send messages by :mod:`juror.rows.row_messages`, along any forest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels
from juror.rows.forest import NO_PARENT, Forest


@dataclass(frozen=True, eq=False)
class HiddenPasses:
    """The tables of a hidden tree, stacked; see :mod:`juror.kernels.reference.hidden_passes` for the arrays."""

    columns: np.ndarray
    follows: np.ndarray
    above: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, forest: Forest, tables: Sequence[np.ndarray]) -> HiddenPasses:
        """Stack tables (I_pa or 1, I_n), those of the N variables first and then those of their hidden nodes."""
        n_nodes = len(tables) // 2
        seen, hidden = tables[:n_nodes], tables[n_nodes:]
        n_states = len(seen[0])
        columns = np.vstack([table.T for table in seen] + [np.ones((1, n_states))])
        # Kernels are compiled for one layout.
        columns = columns.astype(np.float32, order="C", copy=False)
        follows = np.zeros((n_nodes, n_states, n_states), dtype=np.float32)
        for n, table in enumerate(hidden):
            follows[n, : len(table)] = table
        parents = forest.parents[n_nodes:]
        above = np.array([NO_PARENT if parent == NO_PARENT else parent - n_nodes for parent in parents])
        order = np.array([n - n_nodes for n in forest.order if n >= n_nodes])
        starts = np.cumsum([0, *(table.shape[1] for table in seen)])
        return cls(columns, follows, above, order, starts)

    def counts(self, codes: np.ndarray, weights: np.ndarray) -> list[np.ndarray]:
        """Return the expected counts of rows of codes (rows, N), in the shapes of the tables."""
        of_columns, of_follows = kernels().hidden_counts(
            self._cells(codes), weights.astype(np.float32), self.columns, self.follows, self.above, self.order
        )
        seen = [of_columns[first:last].T for first, last in zip(self.starts, self.starts[1:], strict=False)]
        hidden = [table[:1] if above < 0 else table for table, above in zip(of_follows, self.above, strict=True)]
        return seen + hidden

    def logs(self, codes: np.ndarray) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        found = kernels().hidden_logs(self._cells(codes), self.columns, self.follows, self.above, self.order)
        return np.asarray(found)

    def _cells(self, codes: np.ndarray) -> np.ndarray:
        # in one layout, whatever that of the codes
        return np.ascontiguousarray(np.where(codes < 0, self.starts[-1], codes + self.starts[:-1]))
