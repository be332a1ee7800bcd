"""Rows placed on the card, or beside it: pinned in the host's memory and sent piece by piece in every pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import pad

from juror.kernels.cuda.card import as_tensor, device, is_interpreted
from juror.kernels.cuda.shapes import CELLS, ROWS

# Rows that take more than this share of the card's free memory are sent in every pass.
_MOST_RESIDENT = 0.4
# Rows whose labels are found at once
_ROWS_PLACED = 1 << 20
# Rows that are sent at once
_ROWS_SENT = 1 << 21
# The types of labels, and how many labels each has
_KINDS = ((torch.uint8, 256), (torch.int16, 1 << 15), (torch.int32, 1 << 31))


@dataclass(frozen=True, eq=False)
class CardPiece:
    """Some rows on the card: columns (N, …) of which ``rows`` count; in the table they begin at ``first``."""

    columns: torch.Tensor
    first: int
    rows: int

    @property
    def n_padded(self) -> int:
        """The number of rows, padded to whole tiles."""
        return -(-self.rows // ROWS) * ROWS


@dataclass(frozen=True, eq=False)
class Placed:
    """Rows for passes on the card.

    Attributes
    ----------
    cells : numpy.ndarray, (rows, N)
        The rows as kernels on the CPU read them.
    columns : torch.Tensor of uint8, int16 or int32, (N, padded rows)
        The label of every row in every column, counted from zero among those that the column has.
    n_cells : int
        The number of labels of all columns, L.
    order : torch.Tensor of int64, (padded L,)
        The cell of every label, column after column.
    owner : torch.Tensor of int32, (padded L,)
        The column of each of them.
    starts : torch.Tensor of int32, (N,)
        The first of every column.
    weights : torch.Tensor, (rows,), optional
        The weight of every row, none if all are one.
    resident : bool
        Whether the rows stay on the card.
    """

    cells: np.ndarray
    columns: torch.Tensor
    n_cells: int
    order: torch.Tensor
    owner: torch.Tensor
    starts: torch.Tensor
    weights: torch.Tensor | None
    resident: bool

    @classmethod
    def of(cls, cells: np.ndarray, weights: np.ndarray | None, n_cells: int, resident: bool | None = None) -> Placed:
        """Place cells (rows, N) of uint16 or int32, all below n_cells, and weights (rows,).

        By default rows are resident if they fit.
        """
        if resident is None:
            resident = is_interpreted() or cells.size * 4 <= _MOST_RESIDENT * torch.cuda.mem_get_info()[0]
        place = device() if resident else torch.device("cpu")
        table = torch.from_numpy(np.require(_signed(cells).T, requirements=["C", "W"])).to(place)
        seen = torch.zeros((cells.shape[1], n_cells), dtype=torch.bool, device=place)
        for some in table.split(_ROWS_PLACED, 1):
            seen.scatter_(1, _unsigned(some), True)
        sizes = seen.sum(1)
        kind = next(kind for kind, most in _KINDS if max(sizes.tolist(), default=0) <= most)
        n_padded = -(-len(cells) // ROWS) * ROWS
        columns = torch.zeros((len(seen), n_padded), dtype=kind, device=place)
        label_of = (seen.cumsum(1) - 1).to(kind)
        pieces = columns[:, : len(cells)].split(_ROWS_PLACED, 1), table.split(_ROWS_PLACED, 1)
        for into, some in zip(*pieces, strict=True):
            into.copy_(label_of.gather(1, _unsigned(some)))
        owner, order = (found.to(device()) for found in seen.nonzero(as_tuple=True))
        starts = (sizes.cumsum(0) - sizes).to(device())
        padding = (0, -(-max(1, len(owner)) // CELLS) * CELLS - len(owner))
        placed = cls(
            cells,
            columns if resident or is_interpreted() else columns.pin_memory(),
            len(owner),
            pad(order, padding),
            pad(owner.int(), padding),
            starts.int(),
            None if weights is None or np.all(weights == 1.0) else as_tensor(weights, torch.float32),
            resident,
        )
        if not is_interpreted():
            # Other threads read this on streams of their own.
            torch.cuda.synchronize()
        return placed

    def __len__(self) -> int:
        return len(self.cells)

    def pieces(self, most: int) -> Iterator[CardPiece]:
        """Yield at most ``most`` rows at a time, whole tiles; rows that are not resident are sent on the way."""
        if not self.resident:
            yield from self._sent(min(most, _ROWS_SENT))
            return
        for first in range(0, len(self), most):
            yield CardPiece(self.columns[:, first:], first, min(most, len(self) - first))

    def _sent(self, most: int) -> Iterator[CardPiece]:
        """Send rows from pinned memory, each piece while the one before is in use."""
        if is_interpreted():
            for first in range(0, len(self), most):
                piece = self.columns[:, first : first + most].clone()
                yield CardPiece(piece, first, min(most, len(self) - first))
            return
        copying, computing = torch.cuda.Stream(), torch.cuda.current_stream()
        buffers = torch.empty((2, len(self.columns), most), dtype=self.columns.dtype, device=device())
        sent, used = ([torch.cuda.Event() for _ in range(2)] for _ in range(2))
        starts = range(0, len(self), most)

        def send(number: int) -> None:
            first, place = starts[number], number % 2
            with torch.cuda.stream(copying):
                copying.wait_event(used[place])
                for into, column in zip(buffers[place], self.columns[:, first : first + most], strict=True):
                    into[: len(column)].copy_(column, non_blocking=True)
                sent[place].record(copying)

        for event in used:
            event.record(computing)
        for number, first in enumerate(starts):
            if number == 0:
                send(0)
            if number + 1 < len(starts):
                send(number + 1)
            computing.wait_event(sent[number % 2])
            yield CardPiece(buffers[number % 2], first, min(most, len(self) - first))
            used[number % 2].record(computing)
        buffers.record_stream(copying)


def _signed(cells: np.ndarray) -> np.ndarray:
    """Return cells as signed integers of the same length: PyTorch has few functions for unsigned ones."""
    return cells.view(np.int16) if cells.dtype == np.uint16 else cells.astype(np.int32, copy=False)


def _unsigned(cells: torch.Tensor) -> torch.Tensor:
    """Return what numbers of 16 bits were before, as numbers that select."""
    return cells.long() & 0xFFFF if cells.dtype == torch.int16 else cells.long()
