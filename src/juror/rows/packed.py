"""Packed rows in memory with their weights: what solvers pass over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, reduce

import numpy as np

from juror.kernels.reference.random_numbers import uniform
from juror.rows.distinct import WeightedRows
from juror.rows.drawn import RowsToDraw
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.rows.sheets import SheetedCells, together
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner, partitions

_ROWS_AT_ONCE = 4096


@dataclass(frozen=True, eq=False)
class PackedRows:
    """Rows to pass over, with their weights, (rows,); a :class:`juror.rows.table.Countable`."""

    cells: PackedCells | SheetedCells
    weights: np.ndarray
    runner: LocalRunner

    @classmethod
    def of(cls, rows: WeightedRows, stacking: Stacking, runner: LocalRunner) -> PackedRows:
        """Pack distinct rows."""
        return cls(together(PackedCells.in_sheets(rows.codes, stacking)), rows.weights, runner)

    def __len__(self) -> int:
        return len(self.cells)

    @cached_property
    def sheets(self) -> tuple[tuple[PackedCells, np.ndarray], ...]:
        """The cells and weights of every sheet, only one unless there are many missing regions in a forest."""
        if isinstance(self.cells, PackedCells):
            return ((self.cells, self.weights),)
        pairs = zip(self.cells.sheets, self.cells.spans, strict=True)
        return tuple((sheet, self.weights[rows]) for sheet, rows in pairs)

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def label_counts(self) -> np.ndarray:
        """The weight of every label; in a forest, of every label with its parent's, where both are observed."""
        return reduce(np.add, [_label_counts(*sheet) for sheet in self.sheets])

    @cached_property
    def _to_draw(self) -> list[RowsToDraw]:
        return [RowsToDraw.of(*sheet) for sheet in self.sheets]

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Count under a model."""
        found = (ExpectedCounts.of(*sheet, lam, stack, self.runner) for sheet in self.sheets)
        return reduce(ExpectedCounts.__add__, found)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes, and missing labels that connect observed ones in a forest, and count."""
        return reduce(ExpectedCounts.__add__, (rows.draw(lam, stack, rng, self.runner) for rows in self._to_draw))

    def log_prob(self, lam: np.ndarray, stack: np.ndarray) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        return np.concatenate([log_prob_of_cells(cells, lam, stack, self.runner) for cells, _ in self.sheets])

    def part(self, chosen: np.ndarray, weights: np.ndarray) -> PackedRows:
        """Return some of the rows with other weights."""
        return replace(self, cells=self.cells.rows(chosen), weights=weights)

    def weighted(self, weights: np.ndarray) -> PackedRows:
        """Return the same rows with other weights (rows,)."""
        return replace(self, weights=weights)

    def in_order(self) -> PackedRows:
        """Return the same rows in an order in which neighbours share cells, so that these are still in the cache."""
        orders = [cells.order() for cells, _ in self.sheets]
        cells = tuple(sheet.rows(order) for (sheet, _), order in zip(self.sheets, orders, strict=True))
        weights = np.concatenate([some[order] for (_, some), order in zip(self.sheets, orders, strict=True)])
        return replace(self, cells=together(cells), weights=weights)

    def scattered(self, rank: int, power: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Share every row among ``rank`` classes at random; return the class counts (F,) and counts of stacked rows.

        The shares are random numbers to a power: with higher powers, classes are further apart. The number of row i
        and class f is i · rank + f, by a key for every sheet, so that a card draws the same.
        """
        counts, lam = np.zeros((self.sheets[0][0].n_stacked, rank)), np.zeros(rank)
        for cells, weights in self.sheets:
            packed, key = np.zeros((cells.n_packed, rank)), int(rng.integers(2**64, dtype=np.uint64))
            for some in partitions(len(cells), _ROWS_AT_ONCE):
                drawn = uniform(key, np.arange(some.start * rank, some.stop * rank)).reshape(-1, rank)
                shares = drawn.copy()
                for _ in range(power - 1):
                    shares *= drawn
                shares *= weights[some, None] / shares.sum(axis=1, keepdims=True)
                cells.kernels.add_counts(cells.packed[some], shares, packed)
                lam += shares.sum(axis=0)
            # Cells whose parent is missing take no part yet.
            counts += cells.folded(packed)[: cells.n_stacked]
        return lam, counts


def _label_counts(cells: PackedCells, weights: np.ndarray) -> np.ndarray:
    packed = np.zeros(cells.n_packed)
    for column in cells.packed.T:
        packed += np.bincount(column, weights, minlength=cells.n_packed)
    return cells.folded(packed[:, None])[: cells.n_stacked]
