"""Rows on disk or with the workers of a cluster: passes visit them there, and only sums come back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from typing import NamedTuple

import numpy as np

from juror.counts.counting import count_tables
from juror.counts.plans import Positions
from juror.domain import Domain
from juror.kernels import kernels
from juror.kernels.random_streams import Stream
from juror.readers.weights import WeightSums
from juror.rows.distinct import Chunk, WeightedRows
from juror.rows.drawn import RowsToDraw
from juror.rows.expected import ExpectedCounts, log_prob_of_codes, tables_of
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.packing import FixedPacking, PackedCells
from juror.rows.parameters import Parameters
from juror.rows.pieces import Piece, Window
from juror.rows.sheets import together
from juror.rows.stacking import Stacking
from juror.rows.table import Countable
from juror.runners.local import Kept, LocalRunner


class OutOfCoreTable:
    """Rows over a domain that are not in the memory of this process; a :class:`juror.rows.table.Table`.

    Parameters
    ----------
    kept, packing : Kept, FixedPacking
        The pieces of the table, and how their rows are packed.
    domain : Domain
        The variables.
    reason : str
        Why the rows are not held in memory.
    local, most_sampled : LocalRunner, int
        What passes over a sample of the rows, and about how many rows it may have.
    """

    def __init__(
        self, kept: Kept, packing: FixedPacking, domain: Domain, reason: str, local: LocalRunner, most_sampled: int
    ):
        self._kept = kept
        self._packing = packing
        self._local = local
        self._samples: dict[int, MemoryTable] = {}
        self._counted: tuple[tuple[Positions, ...], list[np.ndarray]] = ((), [])
        self.domain = domain
        self.reason = reason
        self.most_sampled = most_sampled

    @cached_property
    def _facts(self) -> _Facts:
        return self._kept.map_reduce(partial(_facts_of, self._packing), _Facts.add)

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return self._facts.n_rows

    @property
    def total(self) -> float:
        """The sum of their weights."""
        return self._facts.weights.total

    @property
    def n_counted(self) -> float:
        """The number of rows, or the sum of their weights if that is more."""
        return max(self.total, float(self.n_rows))

    @property
    def n_effective(self) -> float | None:
        """How many independent rows fractional weights are worth."""
        return self._facts.weights.n_effective

    @property
    def label_counts(self) -> np.ndarray:
        """The weight of every label."""
        return self._facts.labels

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Count under a model."""
        return self._kept.map_reduce(partial(_expected_of, self._packing, lam, stack), ExpectedCounts.__add__)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes and count; the random number of a row depends on the row's number."""
        key = rng.integers(2**64, dtype=np.uint64)
        return self._kept.map_reduce(partial(_drawn_of, self._packing, lam, stack, key), ExpectedCounts.__add__)

    def along(self, forest: Forest) -> Countable:
        """Return the rows for passes along a forest; the cells of every window are found anew in each pass."""
        return _RowsAlong(self._kept, self._packing, Stacking(self.domain.cardinalities, forest), self.total)

    def log_prob(self, parts: Sequence[Parameters]) -> float:
        """Return the log-likelihood."""
        if len(parts) == 1 and parts[0].forest is None:
            (part,) = parts
            return self._kept.map_reduce(partial(_log_prob_of, self._packing, part.lam, part.stack), float.__add__)
        return self._kept.map_reduce(partial(_log_prob_of_parts, self._packing, tuple(parts)), float.__add__)

    def joint_counts(self, groups: Sequence[Positions]) -> list[np.ndarray]:
        """Count groups of variables; the last tables are kept, as a fit may want the pairs again at its end."""
        wanted = tuple(groups)
        if self._counted[0] != wanted:
            tables = self._kept.map_reduce(partial(_tables_of, self._packing, wanted), _added_tables)
            self._counted = (wanted, tables)
        return list(self._counted[1])

    def sample(self, seed: int) -> MemoryTable:
        """Return about ``most_sampled`` rows drawn at random, or all if there are no more; equal rows are merged."""
        if seed not in self._samples:
            share = min(1.0, self.most_sampled / max(self.n_rows, 1))
            chunks = self._kept.map_reduce(partial(_sample_of, self._packing, share, seed), tuple.__add__)
            self._samples[seed] = MemoryTable(WeightedRows.of_chunks(chunks), self.domain, self._local)
        return self._samples[seed]


@dataclass(frozen=True, eq=False)
class _RowsAlong:
    """Rows that are not in memory, for passes along a forest; a :class:`juror.rows.table.Countable`."""

    kept: Kept
    packing: FixedPacking
    stacking: Stacking
    total: float

    @cached_property
    def label_counts(self) -> np.ndarray:
        """The weight of every label with its parent's."""
        return self.kept.map_reduce(partial(_label_counts_along, self.packing, self.stacking), np.add)

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Count under a model."""
        count = partial(_expected_along, self.packing, self.stacking, lam, stack)
        return self.kept.map_reduce(count, ExpectedCounts.__add__)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes and missing labels, and count; random numbers depend on the numbers of the rows."""
        key = rng.integers(2**64, dtype=np.uint64)
        draw = partial(_drawn_along, self.packing, self.stacking, lam, stack, key)
        return self.kept.map_reduce(draw, ExpectedCounts.__add__)


class _Facts(NamedTuple):
    n_rows: int
    labels: np.ndarray
    weights: WeightSums

    def add(self, other: _Facts) -> _Facts:
        return _Facts(self.n_rows + other.n_rows, self.labels + other.labels, self.weights + other.weights)


def _facts_of(packing: FixedPacking, piece: Piece) -> _Facts:
    n_rows, packed_counts, weights = 0, np.zeros(len(packing.parts)), WeightSums()
    for window in piece.windows():
        n_rows += len(window.packed)
        weights += WeightSums.of_rows(window.weights, len(window.packed))
        for column in window.packed.T:
            packed_counts += np.bincount(column, window.weights, minlength=len(packing.parts))
    labels = packing.cells(np.empty((0, len(packing.groups)), dtype=np.uint16)).folded(packed_counts[:, None])
    return _Facts(n_rows, labels, weights)


def _nothing(lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
    return ExpectedCounts(0.0, np.zeros(len(lam)), np.zeros_like(stack))


def _expected_of(packing: FixedPacking, lam: np.ndarray, stack: np.ndarray, piece: Piece) -> ExpectedCounts:
    counts = _nothing(lam, stack)
    for window in piece.windows():
        tables = tables_of(packing.cells(window.packed), lam, stack, kernels())
        counts += ExpectedCounts(*kernels().expected_counts(window.packed, window.all_weights, tables))
    return counts


def _drawn_of(
    packing: FixedPacking, lam: np.ndarray, stack: np.ndarray, key: np.uint64, piece: Piece
) -> ExpectedCounts:
    counts = _nothing(lam, stack)
    for window in piece.windows():
        cells = packing.cells(window.packed)
        if window.weights is None:
            drawn = kernels().draw_classes(window.packed, key, window.number, tables_of(cells, lam, stack, kernels()))
            counts += ExpectedCounts(*drawn)
        else:
            rng = Stream.WINDOW.generator(int(key), window.number)
            counts += RowsToDraw.of(cells, window.weights).draw(lam, stack, rng, LocalRunner(1))
    return counts


def _log_prob_of(packing: FixedPacking, lam: np.ndarray, stack: np.ndarray, piece: Piece) -> float:
    total = 0.0
    for window in piece.windows():
        tables = tables_of(packing.cells(window.packed), lam, stack, kernels())
        total += float(window.all_weights @ kernels().log_prob(window.packed, tables))
    return total


def _log_prob_of_parts(packing: FixedPacking, parts: Sequence[Parameters], piece: Piece) -> float:
    total, runner = 0.0, LocalRunner(1)
    for window in piece.windows():
        codes = packing.unpack(window.packed)
        logs = [log_prob_of_codes(codes, packing.stacking.cardinalities, part, runner) for part in parts]
        total += float(window.all_weights @ reduce(np.logaddexp, logs))
    return total


def _windows_along(packing: FixedPacking, stacking: Stacking, piece: Piece) -> Iterator[tuple[Window, PackedRows]]:
    """Yield windows with their rows as passes along a forest read them."""
    for window in piece.windows():
        cells = PackedCells.in_sheets(packing.unpack(window.packed), stacking, once=True)
        yield window, PackedRows(together(cells), window.all_weights, LocalRunner(1))


def _label_counts_along(packing: FixedPacking, stacking: Stacking, piece: Piece) -> np.ndarray:
    counts = np.zeros((stacking.n_rows, 1))
    for _, rows in _windows_along(packing, stacking, piece):
        counts += rows.label_counts
    return counts


def _expected_along(
    packing: FixedPacking, stacking: Stacking, lam: np.ndarray, stack: np.ndarray, piece: Piece
) -> ExpectedCounts:
    counts = _nothing(lam, stack)
    for _, rows in _windows_along(packing, stacking, piece):
        counts += rows.expected(lam, stack)
    return counts


def _drawn_along(
    packing: FixedPacking, stacking: Stacking, lam: np.ndarray, stack: np.ndarray, key: np.uint64, piece: Piece
) -> ExpectedCounts:
    counts = _nothing(lam, stack)
    for window, rows in _windows_along(packing, stacking, piece):
        counts += rows.draw(lam, stack, Stream.WINDOW.generator(int(key), window.number))
    return counts


def _tables_of(packing: FixedPacking, groups: Sequence[Positions], piece: Piece) -> list[np.ndarray]:
    sizes = packing.stacking.cardinalities
    tables = [np.zeros([sizes[n] for n in group]) for group in groups]
    for window in piece.windows():
        codes = packing.unpack(window.packed)
        tables = _added_tables(tables, count_tables(codes, sizes, groups, window.weights, LocalRunner(1)))
    return tables


def _added_tables(one: list[np.ndarray], other: list[np.ndarray]) -> list[np.ndarray]:
    return [a + b for a, b in zip(one, other, strict=True)]


def _sample_of(packing: FixedPacking, share: float, seed: int, piece: Piece) -> tuple[Chunk, ...]:
    found = []
    for window in piece.windows():
        chosen: np.ndarray | slice = slice(None)
        if share < 1.0:
            chosen = Stream.SAMPLE_OF_ROWS.generator(seed, window.number).random(len(window.packed)) < share
        weights = None if window.weights is None else window.weights[chosen]
        found.append((packing.unpack(window.packed[chosen]), weights))
    return tuple(found)
