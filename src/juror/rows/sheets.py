"""Rows in a forest, cut into sheets: the messages of one sheet at a time are in memory."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from juror.rows.packing import PackedCells


def together(sheets: tuple[PackedCells, ...]) -> PackedCells | SheetedCells:
    """Return sheets of consecutive rows as the cells of one table."""
    return sheets[0] if len(sheets) == 1 else SheetedCells(sheets)


@dataclass(frozen=True)
class SheetedCells:
    """The cells of a table as sheets of consecutive rows, each with missing regions of its own."""

    sheets: tuple[PackedCells, ...]

    def __len__(self) -> int:
        return sum(map(len, self.sheets))

    @property
    def spans(self) -> list[slice]:
        """The rows of every sheet."""
        starts = np.cumsum([0, *map(len, self.sheets)]).tolist()
        return [slice(first, end) for first, end in itertools.pairwise(starts)]

    def rows(self, chosen: np.ndarray | slice) -> SheetedCells:
        """Return the cells of some rows, which must be in order."""
        chosen = np.arange(len(self))[chosen]
        assert np.all(np.diff(chosen) > 0)
        parts = [sheet.rows(self._here(chosen, rows)) for rows, sheet in zip(self.spans, self.sheets, strict=True)]
        return SheetedCells(tuple(part for part in parts if len(part)) or tuple(parts[:1]))

    def unpacked(self, chosen: np.ndarray | slice) -> np.ndarray:
        """Return the stacked rows of some rows, as :meth:`juror.rows.packing.PackedCells.unpacked` does."""
        chosen = np.arange(len(self))[chosen]
        pairs = zip(self.spans, self.sheets, strict=True)
        some = [(rows, sheet) for rows, sheet in pairs if np.any(self._is_here(chosen, rows))]
        found = [sheet.unpacked(self._here(chosen, rows)) for rows, sheet in some]
        places = [np.flatnonzero(self._is_here(chosen, rows)) for rows, _ in some]
        return np.concatenate(found)[np.argsort(np.concatenate(places))]

    def _is_here(self, chosen: np.ndarray, rows: slice) -> np.ndarray:
        return (chosen >= rows.start) & (chosen < rows.stop)

    def _here(self, chosen: np.ndarray, rows: slice) -> np.ndarray:
        return chosen[self._is_here(chosen, rows)] - rows.start
