"""Packed rows in pieces: read and encoded once, then passed over again and again.

A *window* is some thousand packed rows in memory. A *piece* gives windows: those that a worker of a cluster holds, or
one in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from juror.domain import Domain
from juror.domain.variable import Strangers, Unknown
from juror.readers.columns import Column
from juror.readers.scans import CHUNK_ROWS, Part
from juror.readers.weights import counted_rows
from juror.rows.packing import FixedPacking
from juror.rows.stacking import Stacking

# Rows are numbered part by part, so that random numbers by row number do not depend on which worker reads a part.
ROWS_A_PART = 2**40


@dataclass(frozen=True)
class Window:
    """Rows in memory.

    Attributes
    ----------
    packed : numpy.ndarray, (rows, n_groups)
        As :class:`juror.rows.packing.FixedPacking` packs them.
    weights : numpy.ndarray, (rows,), optional
        How often each counts, above zero; once each if there are none.
    number : int
        The number of the first row in the table.
    """

    packed: np.ndarray
    weights: np.ndarray | None
    number: int

    @property
    def all_weights(self) -> np.ndarray:
        """How often each row counts, (rows,)."""
        return np.ones(len(self.packed)) if self.weights is None else self.weights


@dataclass(frozen=True)
class Encoded:
    """Rows as codes: the codes (rows, N), their weights (rows,) if any, and the number of the first row."""

    codes: np.ndarray
    weights: np.ndarray | None
    number: int

    def packed(self, packing: FixedPacking) -> Window:
        """Pack the rows."""
        return Window(packing.pack(self.codes), self.weights, self.number)


class Piece(Protocol):
    """Anything that yields windows."""

    def windows(self) -> Iterator[Window]:
        """Yield the rows, window after window."""
        ...


@dataclass(frozen=True)
class HeldPiece:
    """Windows in memory, and the labels that were not known, by column."""

    held: tuple[Window, ...]
    strangers: Strangers

    def windows(self) -> Iterator[Window]:
        """Yield them."""
        yield from self.held


@dataclass(frozen=True)
class Reading:
    """How rows are read: over which variables, what to do with unknown labels, and which column holds the weights."""

    domain: Domain
    unknown: Unknown = "error"
    weight: str | None = None

    @cached_property
    def packing(self) -> FixedPacking:
        """How rows are packed."""
        return FixedPacking(Stacking(self.domain.cardinalities))

    def chunks(self, part: Part) -> Iterator[tuple[Encoded, Strangers]]:
        """Yield the rows of a part that count, as codes, and the labels that were not known."""
        first = getattr(part, "number", 0) * ROWS_A_PART
        for columns in part.chunks():
            codes, weights, strangers = self.encoded(columns)
            for start in range(0, len(codes), CHUNK_ROWS):
                rows = slice(start, start + CHUNK_ROWS)
                yield Encoded(codes[rows], None if weights is None else weights[rows], first), strangers
                first += len(codes[rows])
                strangers = Strangers()

    def encoded(self, columns: list[Column]) -> tuple[np.ndarray, np.ndarray | None, Strangers]:
        """Return the codes of the rows that count, their weights, and the labels that were not known."""
        columns, weights, _ = counted_rows(columns, self.weight)
        self.domain.check_all_there(columns)
        codes, strangers = self.domain.encode_chunk(columns, self.unknown)
        return codes, weights, strangers

    def load(self, part: Part) -> HeldPiece:
        """Read a part whole, and pack it."""
        found = list(self.chunks(part))
        windows = tuple(chunk.packed(self.packing) for chunk, _ in found)
        return HeldPiece(windows, sum((strangers for _, strangers in found), Strangers()))
