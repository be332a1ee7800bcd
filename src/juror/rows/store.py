"""A store for rows on this machine: in memory while they fit a budget, else in a file without a name."""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from types import TracebackType
from typing import IO, Any, Self

import numpy as np

from juror.domain.variable import Strangers
from juror.errors import DataError
from juror.rows.distinct import WeightedRows
from juror.rows.packing import FixedPacking
from juror.rows.pieces import Encoded, HeldPiece, Piece, Window

# The most memory that merging equal rows takes in addition to the codes, per row
_MERGING_BYTES = 56
# The share of the budget that packed rows may take; searches need the rest.
_SHARE_FOR_ROWS = 0.5
# A search passes over its rows some hundred times, and finds nothing better with more rows than this.
_SHARE_FOR_SEARCH = 0.25
_FEWEST_SEARCHED, MOST_SEARCHED = 2**14, 2**20


class RowStore:
    """Rows put in by several threads: as codes while all can be merged in memory, packed from then on.

    Parameters
    ----------
    packing : FixedPacking
        How rows are packed.
    memory : int
        How many bytes rows and what is made of them may take in memory.
    """

    def __init__(self, packing: FixedPacking, memory: int):
        self._packing = packing
        self._memory = memory
        self._lock = Lock()
        self._chunks: list[Encoded] = []
        self._pieces: list[tuple[int, Piece]] = []
        self._held_bytes = 0
        self._spill: _Spill | None = None
        self.n_rows = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._chunks, self._pieces = [], []
        if self._spill is not None:
            self._spill.close()

    def put(self, chunk: Encoded) -> None:
        """Take rows in."""
        if not len(chunk.codes):
            return
        with self._lock:
            self.n_rows += len(chunk.codes)
            self._chunks.append(chunk)
            if self.can_merge:
                return
            waiting, self._chunks = self._chunks, []
        for each in waiting:
            self._put_packed(each.packed(self._packing))

    def _put_packed(self, window: Window) -> None:
        with self._lock:
            self._held_bytes += _size(window)
            if self._spill is None and self._held_bytes > self._memory * _SHARE_FOR_ROWS:
                self._spill = _Spill()
                self._pieces = [(number, self._spill.write(only(piece))) for number, piece in self._pieces]
            spill = self._spill
            if spill is None:
                self._pieces.append((window.number, HeldPiece((window,), Strangers())))
        if spill is not None:
            piece = spill.write(window)
            with self._lock:
                self._pieces.append((window.number, piece))

    @property
    def can_merge(self) -> bool:
        """Whether all codes fit into the budget with what it takes to merge equal rows."""
        return self.n_rows * merging_bytes(len(self._packing.stacking.cardinalities)) <= self._memory

    def merged(self) -> WeightedRows:
        """Return all rows, equal ones merged, whichever thread put them in; for a store that can merge."""
        chunks = sorted(self._chunks, key=lambda chunk: chunk.number)
        return WeightedRows.of_chunks([(chunk.codes, chunk.weights) for chunk in chunks])

    @property
    def pieces(self) -> list[Piece]:
        """The rows in the order of their numbers, whichever thread put them in."""
        return [piece for _, piece in sorted(self._pieces, key=lambda pair: pair[0])]

    @property
    def spilled_bytes(self) -> int:
        """How much is in the file."""
        return 0 if self._spill is None else self._spill.size


def merging_bytes(n_variables: int) -> int:
    """Return what a row takes at most while equal ones are merged: packed, as codes, and as a key."""
    return 4 * n_variables + _MERGING_BYTES


def rows_to_search(n_variables: int, memory: int) -> int:
    """Return how many rows a search for a start may look at, where all are too many."""
    return int(np.clip(memory * _SHARE_FOR_SEARCH / merging_bytes(n_variables), _FEWEST_SEARCHED, MOST_SEARCHED))


def only(piece: Piece) -> Window:
    """Return the single window of a piece."""
    (window,) = piece.windows()
    return window


def _size(window: Window) -> int:
    return window.packed.nbytes + (0 if window.weights is None else window.weights.nbytes)


class _Spill:
    """A file that has no name, so that nothing is left of it however the process ends."""

    def __init__(self) -> None:
        self.size = 0
        self._lock = Lock()
        try:
            self._file: IO[bytes] = tempfile.TemporaryFile(prefix="juror-")  # noqa: SIM115
        except OSError as error:
            raise self._failure(error, 0) from None

    def _failure(self, error: OSError, written: int) -> DataError:
        try:
            folder = repr(tempfile.gettempdir())
        except OSError:
            folder = "a temporary folder"
        return DataError(
            "The rows do not fit into {memory:=}, and writing them aside failed after {written:.0f} MB ({reason}). "
            "Make room in {folder}, name a larger one in the environment variable TMPDIR, or raise {memory:=}.",
            written=written / 1e6,
            reason=error.strerror,
            folder=folder,
        )

    def close(self) -> None:
        self._file.close()

    def write(self, window: Window) -> _SpilledPiece:
        """Write a window behind the others."""
        place = self.size
        try:
            with self._lock:
                place = self.size
                # A memory map begins at a page, and ends within the file.
                self.size += -(-_size(window) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
                os.ftruncate(self._file.fileno(), self.size)
            offset = place
            for array in (window.packed, window.weights):
                if array is not None:
                    self._write_all(np.ascontiguousarray(array).data.cast("B"), offset)
                    offset += array.nbytes
        except OSError as error:
            raise self._failure(error, place) from None
        packed = window.packed
        return _SpilledPiece(self, place, packed.shape, packed.dtype, window.weights is not None, window.number)

    def _write_all(self, content: memoryview, offset: int) -> None:
        while content:
            written = os.pwrite(self._file.fileno(), content, offset)
            content, offset = content[written:], offset + written

    def map(self, place: int, size: int) -> mmap.mmap:
        """Map a range of the file, private to the caller."""
        return mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_COPY, offset=place)


@dataclass(frozen=True)
class _SpilledPiece:
    """A window in a file, mapped while it is read."""

    spill: _Spill
    place: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    has_weights: bool
    number: int

    def windows(self) -> Iterator[Window]:
        n_rows, n_groups = self.shape
        n_packed = n_rows * n_groups * self.dtype.itemsize
        mapped = self.spill.map(self.place, n_packed + (8 * n_rows if self.has_weights else 0))
        packed = np.frombuffer(mapped, self.dtype, n_rows * n_groups).reshape(self.shape)
        # Weights may begin at any byte, but floats need an aligned address.
        weights = np.frombuffer(bytes(mapped[n_packed:]), float).copy() if self.has_weights else None
        yield Window(packed, weights, self.number)
