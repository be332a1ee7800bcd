"""Packed rows in memory with their weights: what solvers pass over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from juror.rows.distinct import WeightedRows
from juror.rows.drawn import RowsToDraw
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows to pass over, with their weights, (rows,); a :class:`juror.rows.table.Countable`."""

    cells: PackedCells
    weights: np.ndarray
    runner: LocalRunner

    @classmethod
    def of(cls, rows: WeightedRows, stacking: Stacking, runner: LocalRunner) -> PackedRows:
        """Pack distinct rows."""
        return cls(PackedCells.of(rows.codes, stacking), rows.weights, runner)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def label_counts(self) -> np.ndarray:
        """The weight of every label."""
        packed = np.zeros(self.cells.n_packed)
        for column in self.cells.packed.T:
            packed += np.bincount(column, self.weights, minlength=self.cells.n_packed)
        return self.cells.folded(packed[:, None])[: self.cells.n_stacked]

    @cached_property
    def _to_draw(self) -> RowsToDraw:
        return RowsToDraw.of(self.cells, self.weights)

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Count under a model."""
        return ExpectedCounts.of(self.cells, self.weights, lam, stack, self.runner)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes and count."""
        return self._to_draw.draw(lam, stack, rng, self.runner)

    def log_prob(self, lam: np.ndarray, stack: np.ndarray) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        return log_prob_of_cells(self.cells, lam, stack, self.runner)

    def part(self, chosen: np.ndarray, weights: np.ndarray) -> PackedRows:
        """Return some of the rows with other weights."""
        return PackedRows(self.cells.rows(chosen), weights, self.runner)

    def weighted(self, weights: np.ndarray) -> PackedRows:
        """Return the same rows with other weights (rows,)."""
        return replace(self, weights=weights)

    def alone(self) -> PackedRows:
        """Return the same rows, passed over by one thread: for tasks that run side by side."""
        return replace(self, runner=LocalRunner(1))
