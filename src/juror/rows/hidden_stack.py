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
class HiddenTables:
    """The tables of a hidden tree, or counts for them; :mod:`juror.kernels.reference.hidden_passes` describes both.

    All tables are stacked, so that a step of a fit takes a few calls for all variables. Python's lock is held for each.

    Attributes
    ----------
    columns : numpy.ndarray, (L + 1, K)
        A line for every label of every variable. The last line is that of missing cells.
    follows : numpy.ndarray, (N, K, K)
        For every hidden node the states that follow each state; at a root the first line alone counts.
    """

    columns: np.ndarray
    follows: np.ndarray

    @classmethod
    def stacked(cls, tables: Sequence[np.ndarray]) -> HiddenTables:
        """Stack tables (I_pa or 1, I_n), those of the N variables first and then those of their hidden nodes."""
        n_nodes = len(tables) // 2
        seen, hidden = tables[:n_nodes], tables[n_nodes:]
        n_states = len(seen[0])
        columns = np.vstack([table.T for table in seen] + [np.ones((1, n_states))])
        follows = np.zeros((n_nodes, n_states, n_states), dtype=np.float32)
        for n, table in enumerate(hidden):
            follows[n, : len(table)] = table
        # Kernels are compiled for one layout.
        return cls(columns.astype(np.float32, order="C", copy=False), follows)


@dataclass(frozen=True, eq=False)
class HiddenNodes:
    """Where the tables of every variable and of its hidden node are.

    Attributes
    ----------
    above, order : numpy.ndarray, (N,)
        The hidden node above each one, −1 for roots, and the nodes, those above before those below.
    starts : numpy.ndarray, (N + 1,)
        The line of every variable's first label in the stacked columns, and L.
    """

    above: np.ndarray
    order: np.ndarray
    starts: np.ndarray

    @classmethod
    def of(cls, forest: Forest, sizes: Sequence[int]) -> HiddenNodes:
        """Lay out N variables of some sizes; the forest is over them and their hidden nodes."""
        n_nodes = len(sizes)
        parents = forest.parents[n_nodes:]
        above = np.array([NO_PARENT if parent == NO_PARENT else parent - n_nodes for parent in parents])
        order = np.array([n - n_nodes for n in forest.order if n >= n_nodes])
        return cls(above, order, np.cumsum([0, *sizes]))

    def lines(self, n: int) -> slice:
        """Return the lines of a variable's labels in the stacked columns."""
        return slice(self.starts[n], self.starts[n + 1])

    def tables(self, stacked: HiddenTables) -> list[np.ndarray]:
        """Return the tables (I_pa or 1, I_n) that are stacked."""
        seen = [stacked.columns[self.lines(n)].T for n in range(len(self.above))]
        both = zip(stacked.follows, self.above, strict=True)
        return seen + [table[:1] if above == NO_PARENT else table for table, above in both]

    def counts(self, stacked: HiddenTables, codes: np.ndarray, weights: np.ndarray) -> HiddenTables:
        """Return the expected counts of rows of codes (rows, N), stacked as the tables are."""
        passed = stacked.columns, stacked.follows, self.above, self.order
        return HiddenTables(*kernels().hidden_counts(self.cells(codes), weights.astype(np.float32), *passed))

    def logs(self, stacked: HiddenTables, codes: np.ndarray) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        found = kernels().hidden_logs(self.cells(codes), stacked.columns, stacked.follows, self.above, self.order)
        return np.asarray(found)

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the line of every cell of codes (rows, N), in one layout whatever that of the codes."""
        return np.ascontiguousarray(np.where(codes < 0, self.starts[-1], codes + self.starts[:-1]))
