"""Rows that are passed over on a card: sent once, then read there in every pass."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, reduce
from typing import Any

import numpy as np

from juror.kernels import card_kernels
from juror.rows.distinct import WeightedRows
from juror.rows.expected import ExpectedCounts, Prepared
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.sheets import together
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner


def pack(rows: WeightedRows, stacking: Stacking, runner: LocalRunner) -> PackedRows:
    """Return distinct rows for passes by a runner, on a card or not."""
    if runner.card(rows.codes.size) is None:
        return PackedRows.of(rows, stacking, runner)
    # A card multiplies by all cells of a column, so columns are not joined.
    return CardRows(together(PackedCells.in_sheets(rows.codes, stacking, once=True)), rows.weights, runner)


class CardRows(PackedRows):
    """Packed rows whose passes are made on a card. What is not a pass over rows is done as by the base class."""

    @cached_property
    def _placed(self) -> tuple[tuple[PackedCells, Any], ...]:
        place = card_kernels().Placed.of
        return tuple((cells, place(cells.packed, weights, cells.n_packed)) for cells, weights in self.sheets)

    def expected(self, lam: Any, stack: Any) -> ExpectedCounts:
        """Count under a model; if this is on the card, the counts stay there."""
        card, found, stays = card_kernels(), [], not isinstance(lam, np.ndarray)
        for (cells, placed), (_, weights) in zip(self._placed, self.sheets, strict=True):
            if stays and cells.regions is None:
                tables = card.tables(lam, stack, cells.parts, *cells.packed.shape)
                found.append(ExpectedCounts(*card.counts_on_card(placed, weights, tables)))
                continue
            prepared = Prepared.of(cells, card.as_array(lam), card.as_array(stack), card)
            counts = prepared.settled(ExpectedCounts(*card.expected_counts(placed, weights, prepared.tables)))
            if stays:
                counts = replace(counts, classes=card.as_tensor(counts.classes), cells=card.as_tensor(counts.cells))
            found.append(counts)
        return reduce(ExpectedCounts.__add__, found)

    def log_prob(self, lam: Any, stack: Any) -> np.ndarray:
        """Return the log-probability of every row, (rows,)."""
        card, found = card_kernels(), []
        for cells, placed in self._placed:
            if cells.regions is None:
                tables = card.tables(lam, stack, cells.parts, *cells.packed.shape)
            else:
                tables = Prepared.of(cells, card.as_array(lam), card.as_array(stack), card).tables
            found.append(card.log_prob(placed, tables))
        return np.concatenate(found)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes, and missing labels that connect observed ones in a forest, and count."""
        drawn = (rows.draw(lam, stack, rng, self.runner, card_kernels()) for rows in self._to_draw)
        return reduce(ExpectedCounts.__add__, drawn)

    def scattered(self, rank: int, power: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Share every row among classes at random, by numbers that are drawn on the card."""
        lam, counts = np.zeros(rank), np.zeros((self._placed[0][0].n_stacked, rank))
        for cells, placed in self._placed:
            key, scatter = rng.integers(2**64, dtype=np.uint64), card_kernels().scatter_classes
            classes, found = scatter(placed, int(key), power, rank, cells.parts, cells.n_stacked + cells.n_below)
            # Cells whose parent is missing take no part yet.
            lam, counts = lam + classes, counts + found[: cells.n_stacked]
        return lam, counts

    def in_order(self) -> PackedRows:
        """Return the rows themselves: on a card, their order does not matter."""
        return self
