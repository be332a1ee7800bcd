"""Passes on the card; :mod:`juror.kernels.reference.passes` has the definitions in NumPy.

Posteriors are stored in half precision for many rows that count once, where their rounding averages out, else in
single precision. Sums over rows are in single precision, sums over parts of the table in double. Tests ask for ℓ to
1e-6 and for expected counts to 2e-5 of their norm; ``docs/gpu.md`` has the errors that were measured.

Cells are arrays, or rows that were placed on the card before (:class:`juror.kernels.cuda.placed.Placed`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

import numpy as np
import torch
import triton

from juror.kernels import kernels
from juror.kernels.cuda import tiles
from juror.kernels.cuda.card import as_array, as_tensor, device, on_own_stream
from juror.kernels.cuda.card_tables import CardTables, HostTables
from juror.kernels.cuda.card_tables import tables as tables_of
from juror.kernels.cuda.placed import CardPiece, Placed
from juror.kernels.cuda.shapes import ROWS, ROWS_A_RUN

Cells = Placed | np.ndarray
Tables = CardTables | HostTables

# Bytes of the posteriors in memory at once
_POSTERIOR_BYTES = 1 << 31
# From this many rows on, posteriors of rows that count once are stored in half precision.
_MANY_ROWS = 1 << 18
# Groups of 32 rows that are marked by a program
_GROUPS = 8
# Rows of a tile for which classes are drawn
_ROWS_DRAWN = 64
# Programs of a kernel that fill a card, and the most bytes of the sums that they write
_ENOUGH_PROGRAMS, _MOST_SUMS = 1056, 1 << 28


@cache
def _bits() -> torch.Tensor:
    """Return the words that have one bit, (32,)."""
    return torch.from_numpy((1 << np.arange(32, dtype=np.int64)).astype(np.uint32).view(np.int32)).to(device())


class _Weighed(NamedTuple):
    """Posteriors of a piece: E (padded rows, padded F) times a share per tile of classes, (chunks, padded rows).

    ``marks`` has words that mark the rows of every cell, (padded rows / 32, padded cells).
    """

    piece: CardPiece
    marks: torch.Tensor
    E: torch.Tensor
    share: torch.Tensor

    def posterior(self, F: int) -> torch.Tensor:
        """Return R, (rows, F)."""
        R = self.E.float().reshape(len(self.E), len(self.share), -1) * self.share.t()[:, :, None]
        return R.reshape(self.E.shape)[: self.piece.rows, :F]


class _Pass:
    """A pass over rows: ℓ of all rows, Σ w ℓ, and posteriors and counts, piece by piece.

    Posteriors are in half precision, or ``exact``: in single precision; or they are not kept.
    """

    def __init__(self, cells: Cells, weights: np.ndarray | None, tables: CardTables, *, exact: bool, keep: bool = True):
        self.placed = cells if isinstance(cells, Placed) else Placed.of(cells, weights, len(tables.given.parts))
        self.tables, self.half, self.keep = tables, not exact, keep
        order, tall = self.placed.order, tables.tiling.counting.cells
        self.high, self.low, self.scales = (table[order] for table in (tables.high, tables.low, tables.scales))
        self.n_counted = max(1, -(-self.placed.n_cells // tall)) * tall
        self._logs: list[torch.Tensor] = []
        self._totals: list[torch.Tensor] = []
        self._counts: torch.Tensor | None = None

    @property
    def logs(self) -> np.ndarray:
        """ℓ of the rows so far, (rows,)."""
        return torch.cat([torch.empty(0, device=device()), *self._logs]).double().cpu().numpy()

    @property
    def log_likelihood(self) -> float:
        """Σ w ℓ over the rows so far."""
        return float(torch.stack(self._totals).sum()) if self._totals else 0.0

    @property
    def at_once(self) -> int:
        """How many rows make a piece."""
        bytes_a_row = (2 if self.half else 4) * self.high.shape[1] + self.n_counted // 4
        return max(1, _POSTERIOR_BYTES // (bytes_a_row * ROWS)) * ROWS

    def __iter__(self) -> Iterator[_Weighed]:
        kind, P = torch.float16 if self.half else torch.float32, self.high.shape[1]
        for piece in self.placed.pieces(self.at_once):
            yield self._weigh(piece, torch.empty((piece.n_padded if self.keep else 0, P), dtype=kind, device=device()))

    def _marked(self, piece: CardPiece) -> tuple[torch.Tensor, torch.Tensor]:
        """Return words that mark the cells of rows, (words, rows), and the rows of cells, (words, cells), if read."""
        n_words, n_groups = self.n_counted // 32, piece.n_padded // 32 if self.keep else 0
        by_row = torch.empty((n_words, piece.n_padded), dtype=torch.int32, device=device())
        by_cell = torch.empty((n_groups, self.n_counted), dtype=torch.int32, device=device())
        tiles.mark_rows[piece.n_padded // ROWS, n_words](
            piece.columns, self.placed.owner, self.placed.starts, by_row,
            piece.columns.stride(0), piece.n_padded, piece.rows, self.placed.n_cells, ROWS,
        )  # fmt: skip
        if n_groups:
            tiles.mark_cells[n_groups // _GROUPS, n_words](by_row, by_cell, piece.n_padded, self.n_counted, _GROUPS)
        return by_row, by_cell

    def _weigh(self, piece: CardPiece, E: torch.Tensor) -> _Weighed:
        columns, rows, (classes, tile, _) = piece.columns, piece.n_padded, self.tables.tiling
        n_chunks, (by_row, by_cell) = self.high.shape[1] // classes, self._marked(piece)
        top, total, share = (torch.empty((n_chunks, rows), device=device()) for _ in range(3))
        tiles.weigh_classes[rows // tile.rows, n_chunks](
            by_row, _bits(), self.high, self.low, self.tables.log_lam, E, top, total,
            rows, self.placed.n_cells, self.high.shape[1], self.keep,
            tile.rows, classes, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        logs, totals = torch.empty(rows, device=device()), torch.empty(rows // ROWS, device=device())
        weights = self.placed.weights
        tiles.join_classes[rows // ROWS,](
            columns, self.placed.starts, self.scales, top, total,
            logs if weights is None else weights[piece.first :], share, logs, totals,
            columns.stride(0), rows, piece.rows, len(columns), n_chunks, weights is not None, ROWS,
        )  # fmt: skip
        self._logs.append(logs[: piece.rows])
        self._totals.append(totals.double().sum())
        return _Weighed(piece, by_cell, E, share)

    def count(self, weighed: _Weighed, drawn: torch.Tensor | None = None) -> None:
        """Add the counts of a piece: of posteriors, or of classes drawn for its rows."""
        rows, P, (classes, _, tile) = weighed.piece.n_padded, self.high.shape[1], self.tables.tiling
        half = self.half or drawn is not None
        run = max(1, ROWS_A_RUN["half" if half else "single"] // tile.rows)
        n_tiles, n_chunks, n_blocks = self.n_counted // tile.cells, P // classes, rows // tile.rows
        most = min(_ENOUGH_PROGRAMS // (n_tiles * n_chunks), _MOST_SUMS // (4 * self.n_counted * P))
        per_part = triton.cdiv(triton.cdiv(n_blocks, max(1, most)), run) * run
        n_parts = triton.cdiv(n_blocks, per_part)
        sums = torch.empty((n_parts, self.n_counted, P), device=device())
        tiles.count_cells[n_tiles, n_chunks, n_parts](
            weighed.marks, _bits(), weighed.E if drawn is None else drawn, weighed.share, sums,
            rows, self.n_counted, P, n_blocks, per_part, drawn is not None, half,
            tile.rows, tile.cells, classes, run, num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
        found = sums.sum(0, dtype=torch.float64)
        self._counts = found if self._counts is None else self._counts + found

    def folded(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the class counts (F,) and the counts of stacked rows (stacked rows, F) of all pieces so far."""
        given, n_cells = self.tables.given, self.placed.n_cells
        every = torch.zeros((len(given.parts), len(given.lam)), dtype=torch.float64, device=device())
        if self._counts is not None:
            every = every.index_add(0, self.placed.order[:n_cells], self._counts[:n_cells, : len(given.lam)])
        # Every row of the table was counted once per column.
        classes = every.sum(0) / len(self.placed.columns)
        if self.tables.is_plain:
            return classes, every
        return classes, as_tensor(kernels().folded(given.parts, as_array(every), len(given.stack)))


def _on_host(cells: Cells) -> np.ndarray:
    return cells.cells if isinstance(cells, Placed) else cells


@on_own_stream
def log_prob(cells: Cells, tables: Tables) -> np.ndarray:
    """Return ℓ, the log-probability of every row, (rows,)."""
    if isinstance(tables, HostTables):
        return np.asarray(kernels().log_prob(_on_host(cells), tables.on_host))
    found = _Pass(cells, None, tables, exact=False, keep=False)
    for _ in found:
        pass
    return found.logs


@on_own_stream
def posterior(cells: Cells, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    if isinstance(tables, HostTables):
        return tuple(kernels().posterior(_on_host(cells), tables.on_host))
    found, F = _Pass(cells, None, tables, exact=True), len(tables.given.lam)
    R = [np.empty((0, F)), *(weighed.posterior(F).double().cpu().numpy() for weighed in found)]
    return found.logs, np.concatenate(R)


@on_own_stream
def likeliest_classes(cells: Cells, tables: Tables) -> np.ndarray:
    """Return the class of every row that is the most probable, (rows,)."""
    if isinstance(tables, HostTables):
        return np.asarray(kernels().posterior(_on_host(cells), tables.on_host)[1].argmax(axis=1))
    found, F = _Pass(cells, None, tables, exact=True), len(tables.given.lam)
    return np.concatenate([np.empty(0, dtype=np.int64), *(as_array(w.posterior(F).argmax(1)) for w in found)])


@on_own_stream
def label_probabilities(cells: Cells, tables: Tables, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and Σ_f R[i, f] A[y, f] for a factor A (I, F), (rows, I); zeros for an impossible row."""
    if isinstance(tables, HostTables):
        return tuple(kernels().label_probabilities(_on_host(cells), tables.on_host, factor))
    found, F = _Pass(cells, None, tables, exact=True), len(tables.given.lam)
    labels = as_tensor(factor, torch.float32).t()
    masses = [np.empty((0, len(factor))), *((w.posterior(F) @ labels).double().cpu().numpy() for w in found)]
    return found.logs, np.concatenate(masses)


def label_logs(cells: Cells, tables: Tables, column: int, n_labels: int) -> np.ndarray:
    """Return ℓ of every row with each of n_labels labels in a column, (rows, n_labels)."""
    cells = _on_host(cells).copy()
    logs = np.empty((len(cells), n_labels))
    for label in range(n_labels):
        logs[:, label] = log_prob(cells, tables)
        cells[:, column] += 1
    return logs


@on_own_stream
def expected_counts(cells: Cells, weights: np.ndarray, tables: Tables) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F).

    Rows that were placed have their own weights.
    """
    log_likelihood, classes, counts = counts_on_card(cells, weights, tables)
    return log_likelihood, as_array(classes), as_array(counts)


@on_own_stream
def counts_on_card(cells: Cells, weights: np.ndarray, tables: Tables) -> tuple[float, torch.Tensor, torch.Tensor]:
    """Return what :func:`expected_counts` does, with counts that stay on the card."""
    if isinstance(tables, HostTables):
        log_likelihood, classes, cell_counts = kernels().expected_counts(_on_host(cells), weights, tables.on_host)
        return log_likelihood, as_tensor(classes), as_tensor(cell_counts)
    placed = cells if isinstance(cells, Placed) else Placed.of(cells, weights, len(tables.given.parts))
    found = _Pass(placed, None, tables, exact=placed.weights is not None or len(placed) < _MANY_ROWS)
    for weighed in found:
        found.count(weighed)
    return found.log_likelihood, *found.folded()


def row_sums(cells: Cells, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and what :func:`counts_given` needs of every row, (rows,): the first of two passes."""
    if isinstance(tables, HostTables):
        return tuple(kernels().row_sums(_on_host(cells), tables.on_host))
    logs = log_prob(cells, tables)
    return logs, logs


def counts_given(cells: Cells, weights: np.ndarray, sums: np.ndarray, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return the class counts (F,) and the expected counts C (stacked rows, F): the second of two passes."""
    if isinstance(tables, HostTables):
        return tuple(kernels().counts_given(_on_host(cells), weights, sums, tables.on_host))
    _, classes, counts = expected_counts(cells, weights, tables)
    return classes, counts


@on_own_stream
def draw_classes(cells: Cells, key: int, first_number: int, tables: Tables) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts."""
    if isinstance(tables, HostTables):
        return tuple(kernels().draw_classes(_on_host(cells), key, first_number, tables.on_host))
    found = _Pass(cells, None, tables, exact=True)
    key_there = as_tensor(np.array([key], dtype=np.uint64).view(np.int64))
    for weighed in found:
        drawn = torch.empty(weighed.piece.n_padded, dtype=torch.int32, device=device())
        tiles.draw_of_posterior[len(drawn) // _ROWS_DRAWN,](
            weighed.E, weighed.share, key_there, drawn, first_number + weighed.piece.first, len(drawn),
            weighed.E.shape[1], len(weighed.share), _ROWS_DRAWN, tables.tiling.classes,
        )  # fmt: skip
        found.count(weighed, drawn)
    classes, cell_counts = found.folded()
    return float(found.logs.sum()), as_array(classes), as_array(cell_counts)


@on_own_stream
def scatter_classes(
    cells: Cells, key: int, power: int, rank: int, parts: np.ndarray, n_stacked: int
) -> tuple[np.ndarray, np.ndarray]:
    """Share every row among classes by random numbers to a power; return class counts (F,) and counts of stacked rows.

    The number of row i and class f is i · rank + f.
    """
    even = tables_of(np.full(rank, 1.0 / rank), np.ones((n_stacked, rank)), parts, 0, 1)
    assert isinstance(even, CardTables)
    found = _Pass(cells, None, even, exact=True)
    weights, key_there = found.placed.weights, as_tensor(np.array([key], dtype=np.uint64).view(np.int64))
    for piece in found.placed.pieces(found.at_once):
        n, P = piece.n_padded, found.high.shape[1]
        E, total = torch.empty((n, P), device=device()), torch.empty((P // even.tiling.classes, n), device=device())
        tiles.share_at_random[n // _ROWS_DRAWN, len(total)](
            key_there, E, total, piece.first, n, P, rank, power, _ROWS_DRAWN, even.tiling.classes
        )
        share = torch.zeros_like(total)
        own = 1.0 if weights is None else weights[piece.first :][: piece.rows]
        share[:, : piece.rows] = own / total.sum(0)[: piece.rows]
        found.count(_Weighed(piece, found._marked(piece)[1], E, share))
    classes, cells_counted = found.folded()
    return as_array(classes), as_array(cells_counted)
