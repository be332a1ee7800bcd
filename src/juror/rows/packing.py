"""Columns of a table joined, several into one, so that a pass over the rows has fewer of them to look up.

Where two columns together show few combinations of labels, one column of these combinations says the same. A *packed*
row stands for a combination: it is the product of the stacked rows (:mod:`juror.rows.stacking`) that are its *parts*,
and what is counted for it is counted for each of them. So a pass over packed cells and the packed stack gives, once
folded, what the cells themselves would, to rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType
from typing import Self

import numpy as np

from juror.kernels import kernels_for
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.regions import Regions, find_regions
from juror.rows.stacking import Stacking, cell_type

# The most combinations of joined columns: their tables should stay in the cache during a pass.
_MOST_JOINED = 128
# The most messages of a sheet, and the rows below which it is not cut.
_MOST_MESSAGES, _FEWEST_ROWS = 1 << 15, 512
# Columns are joined if at least this many rows of the table share a combination, on average.
_ROWS_EACH = 16
# In a forest, columns are joined as long as they have at most this many combinations.
_MOST_IN_FOREST = 2048
# A combination costs about as much time as this many rows of the table.
_ROWS_A_COMBINATION = 8
# Combinations are first counted in at most this many rows, and not counted if there may be more than the second number.
_ROWS_TRIED, _MOST_PAIRED = 8192, 1 << 22
# Up to this many columns, any two may be joined; of more columns, those near each other in the forest.
_FEW_COLUMNS = 16
# How many columns rows are sorted by
_SORTED_BY = 3


@dataclass(frozen=True)
class PackedCells:
    """The cells of a table, packed.

    Attributes
    ----------
    packed : numpy.ndarray of uint16 or int32, (rows, n_groups)
        The packed row of every group of columns.
    parts : numpy.ndarray of int32, (packed rows, width)
        The stacked rows that each packed row joins, −1 where there are fewer.
    n_stacked : int
        How many stacked rows there are.
    regions : Regions, optional
        Missing regions in a forest; their messages in use stand below the stack.
    in_forest : bool
        Whether variables have parents.
    n_of_table : int, optional
        How many packed cells the table has that this is a sheet of; None for a whole table.
    """

    packed: np.ndarray
    parts: np.ndarray
    n_stacked: int
    regions: Regions | None = None
    in_forest: bool = False
    n_of_table: int | None = None

    @classmethod
    def of(cls, codes: np.ndarray, stacking: Stacking) -> Self:
        """Pack a table of codes (rows, N), −1 for missing.

        >>> cells = PackedCells.of(np.array([[0, 1, 0], [1, 1, -1]] * 40), Stacking((2, 2, 2)))
        >>> cells.packed.shape, cells.unpacked(np.arange(2)).tolist()
        ((80, 1), [[0, 4, 6], [1, 4, 8]])
        """
        return cls._joined(*find_regions(codes, stacking), stacking)

    @classmethod
    def in_sheets(
        cls, codes: np.ndarray, stacking: Stacking, *, once: bool = False, target: int | None = None
    ) -> tuple[Self, ...]:
        """Cut a table of codes into sheets, whose messages take a limited memory; pack each, unless it is read once.

        With a target, see :func:`juror.rows.regions.find_regions`, tables are left as they are.
        """
        sheets = cls._cut(codes, stacking, once=once, target=target)
        n_cells = sum(sheet.packed.size for sheet in sheets)
        return sheets if len(sheets) == 1 else tuple(replace(sheet, n_of_table=n_cells) for sheet in sheets)

    @classmethod
    def _cut(cls, codes: np.ndarray, stacking: Stacking, *, once: bool, target: int | None) -> tuple[Self, ...]:
        cells, regions = find_regions(codes, stacking, target)
        once |= target is not None
        if regions is not None and regions.n_messages > _MOST_MESSAGES and len(codes) > _FEWEST_ROWS:
            halves = codes[: len(codes) // 2], codes[len(codes) // 2 :]
            return sum((cls._cut(half, stacking, once=once, target=target) for half in halves), ())
        return ((cls._apart if once else cls._joined)(cells, regions, stacking),)

    @classmethod
    def _joined(cls, cells: np.ndarray, regions: Regions | None, stacking: Stacking) -> Self:
        most = min(_MOST_JOINED, len(cells) // _ROWS_EACH)
        groups = _join_in_forest(cells, stacking) if stacking.forest else _join(cells, stacking, most)
        if len(groups) == cells.shape[1]:
            return cls._apart(cells, regions, stacking)
        n_packed = [len(group.parts) for group in groups]
        starts = np.concatenate([[0], np.cumsum(n_packed)])
        parts = np.full((starts[-1], max(len(group.columns) for group in groups)), -1, dtype=np.int32)
        packed = np.empty((len(cells), len(groups)), dtype=cell_type(int(starts[-1])))
        for g, group in enumerate(groups):
            packed[:, g] = group.index
            packed[:, g] += packed.dtype.type(starts[g])
            parts[starts[g] : starts[g + 1], : len(group.columns)] = group.parts
        return cls(packed, parts, stacking.n_rows, regions, stacking.forest is not None)

    @classmethod
    def plain(cls, codes: np.ndarray, stacking: Stacking) -> Self:
        """Leave a table of codes as it is: for a single pass packing does not pay."""
        return cls._apart(*find_regions(codes, stacking), stacking)

    @classmethod
    def _apart(cls, cells: np.ndarray, regions: Regions | None, stacking: Stacking) -> Self:
        n_rows = stacking.n_rows + (0 if regions is None else len(regions.used))
        # One layout for all, as kernels are compiled for each
        cells = cells.astype(cell_type(n_rows), order="C", copy=False)
        parts = np.arange(n_rows, dtype=np.int32)[:, None]
        return cls(cells, parts, stacking.n_rows, regions, stacking.forest is not None)

    def __len__(self) -> int:
        return len(self.packed)

    @property
    def n_packed(self) -> int:
        """The height of the packed stack."""
        return len(self.parts)

    @property
    def kernels(self) -> ModuleType:
        """The kernels that pass over these cells: compiled ones unless the table has few.

        A sheet of few rows may have long tables and many messages, over which the kernels for few rows are slow.
        """
        return kernels_for(self._n_passed)

    @property
    def _n_passed(self) -> int:
        return self.packed.size if self.n_of_table is None else self.n_of_table

    def rows(self, chosen: np.ndarray | slice) -> PackedCells:
        """Return the cells of some rows."""
        return replace(self, packed=self.packed[chosen])

    def order(self) -> np.ndarray:
        """Return the rows sorted by the columns with most packed rows, (rows,): neighbours then share these."""
        spread = np.ptp(self.packed, axis=0) if len(self) else np.zeros(self.packed.shape[1])
        return np.lexsort([self.packed[:, g] for g in np.argsort(spread, kind="stable")[-_SORTED_BY:]])

    def unpacked(self, chosen: np.ndarray | slice) -> np.ndarray:
        """Return the stacked rows of some rows of the table, (chosen rows, N), columns in the order of the stack.

        A message stands for the row of ones of its node.
        """
        packed = self.packed[chosen]
        parts = self.parts[packed].reshape(len(packed), packed.shape[1] * self.parts.shape[1])
        # A group has the same number of parts in every row.
        parts = parts[:, np.all(parts >= 0, axis=0)]
        if self.regions is not None:
            message = parts >= self.n_stacked
            parts[message] = self.regions.ones[parts[message] - self.n_stacked]
        return np.sort(parts, axis=1)

    @property
    def n_below(self) -> int:
        """How many messages stand below the stack."""
        return 0 if self.regions is None else len(self.regions.used)

    def joined(self, log_stack: np.ndarray) -> np.ndarray:
        """Return the packed log stack, (packed rows, F), of the log stack and messages, (stacked rows + n_below, F)."""
        return np.asarray(self.kernels.joined(self.parts, log_stack))

    def folded(self, counts: np.ndarray) -> np.ndarray:
        """Return counts of stacked rows and messages, (stacked rows + n_below, F), from those of packed rows."""
        fold = kernels_for(min(self._n_passed, self.parts.size)).folded
        return np.asarray(fold(self.parts, counts, self.n_stacked + self.n_below))


@dataclass(frozen=True)
class FixedPacking:
    """How columns are joined if not all rows can be read first: by the combinations that are possible."""

    stacking: Stacking

    @cached_property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The columns of every group: those of few labels are joined while they have few combinations."""
        sizes = self.stacking.cardinalities
        groups: list[list[int]] = []
        for n in np.argsort(sizes, kind="stable").tolist():
            if groups and math.prod(sizes[m] + 1 for m in (*groups[-1], n)) <= _MOST_JOINED:
                groups[-1].append(n)
            else:
                groups.append([n])
        return tuple(map(tuple, groups))

    @cached_property
    def starts(self) -> np.ndarray:
        """The first packed row of every group, and one past the last, (n_groups + 1,)."""
        sizes = self.stacking.cardinalities
        return np.cumsum([0, *(math.prod(sizes[n] + 1 for n in group) for group in self.groups)])

    @property
    def row_bytes(self) -> int:
        """How much a packed row of the table takes."""
        return len(self.groups) * np.dtype(cell_type(int(self.starts[-1]))).itemsize

    @cached_property
    def parts(self) -> np.ndarray:
        """The stacked rows that each packed row joins, as in :class:`PackedCells`."""
        parts = np.full((self.starts[-1], max(map(len, self.groups))), -1, dtype=np.int32)
        for g, group in enumerate(self.groups):
            shape = [self.stacking.cardinalities[n] + 1 for n in group]
            levels = np.stack(np.unravel_index(np.arange(math.prod(shape)), shape), axis=1)
            parts[self.starts[g] : self.starts[g + 1], : len(group)] = levels + self.stacking.starts[list(group)]
        return parts

    def pack(self, codes: np.ndarray) -> np.ndarray:
        """Return the packed rows of codes (rows, N), −1 for missing, (rows, n_groups).

        >>> packing = FixedPacking(Stacking((2, 3)))
        >>> packed = packing.pack(np.array([[1, 2], [-1, 0]]))
        >>> packed.tolist(), packing.unpack(packed).tolist()
        ([[6], [8]], [[1, 2], [-1, 0]])
        """
        packed = np.empty((len(codes), len(self.groups)), dtype=cell_type(int(self.starts[-1])))
        for g, group in enumerate(self.groups):
            joined: np.ndarray = np.zeros(len(codes), dtype=packed.dtype)
            for n in group:
                size = self.stacking.cardinalities[n]
                joined *= packed.dtype.type(size + 1)
                joined += np.where(codes[:, n] < 0, size, codes[:, n]).astype(packed.dtype)
            packed[:, g] = joined + packed.dtype.type(self.starts[g])
        return packed

    def unpack(self, packed: np.ndarray) -> np.ndarray:
        """Return the codes of packed rows, (rows, N), of the shortest integers, with contiguous columns."""
        sizes = self.stacking.cardinalities
        kind = next(t for t in (np.int8, np.int16, np.int32) if max(sizes) < np.iinfo(t).max)
        codes = np.empty((len(packed), len(sizes)), dtype=kind, order="F")
        for g, group in enumerate(self.groups):
            for place, n in enumerate(group):
                level = self.parts[:, place] - self.stacking.starts[n]
                # The entries of other groups are never looked up.
                code = np.where(level == sizes[n], -1, np.clip(level, -1, sizes[n])).astype(kind)
                np.take(code, packed[:, g], out=codes[:, n])
        return codes

    def cells(self, packed: np.ndarray) -> PackedCells:
        """Return packed rows as what passes go over."""
        return PackedCells(packed, self.parts, self.stacking.n_rows)


@dataclass(frozen=True)
class _Group:
    """Columns joined: which, the combination of every row (rows,), and its stacked rows (combinations, columns)."""

    columns: tuple[int, ...]
    index: np.ndarray
    parts: np.ndarray


def _join(cells: np.ndarray, stacking: Stacking, most: int) -> list[_Group]:
    """Join columns one after the other, those of few labels first, while at most ``most`` combinations are seen."""
    groups: list[_Group] = []
    for n in np.argsort(stacking.heights, kind="stable"):
        column = _column(cells, stacking, int(n))
        both = _both(groups[-1], column, most) if groups else None
        if both is None:
            groups.append(column)
        else:
            groups[-1] = both
    return groups


def _column(cells: np.ndarray, stacking: Stacking, n: int) -> _Group:
    """Return a column as a group of its own; missing is its last label."""
    own = np.arange(stacking.starts[n], stacking.starts[n + 1], dtype=np.int32)
    return _Group((n,), (cells[:, n] - own[0]).astype(cell_type(len(own))), own[:, None])


def _join_in_forest(cells: np.ndarray, stacking: Stacking) -> list[_Group]:
    """Join the two columns that save most, again and again; columns near each other in a forest share labels.

    Joining saves a look-up for every row of the table, and costs the combinations that are added to the tables.
    """
    forest = stacking.forest
    assert forest is not None
    groups = {n: _seen_column(cells[:, n], n) for n in range(cells.shape[1])}
    some = np.linspace(0, len(cells) - 1, min(len(cells), _ROWS_TRIED)).astype(np.int64)
    few = {n: group.index[some] for n, group in groups.items()}
    savings: dict[tuple[int, int], float] = {}
    near = _near(forest)
    fresh = set(groups)
    while True:
        others = ((n, groups if len(near) <= _FEW_COLUMNS else near[n] & groups.keys()) for n in fresh)
        for a, b in sorted({(min(n, m), max(n, m)) for n, beside in others for m in beside if m != n}):
            n_both = _n_combinations(few[a], few[b], len(groups[a].parts), len(groups[b].parts))
            added = n_both - len(groups[a].parts) - len(groups[b].parts)
            savings[a, b] = len(cells) - _ROWS_A_COMBINATION * added
        fresh = set()
        for a, b in sorted(savings, key=lambda pair: -savings[pair]):
            if savings[a, b] <= 0:
                return list(groups.values())
            both = _combined(groups[a], groups[b])
            added = len(both.parts) - len(groups[a].parts) - len(groups[b].parts)
            if _ROWS_A_COMBINATION * added < len(cells) and len(both.parts) <= _MOST_IN_FOREST:
                break
            savings[a, b] = 0.0
        else:
            return list(groups.values())
        groups[a], few[a] = both, both.index[some]
        near[a] |= near[b]
        for c in near:
            near[c] = near[c] | {a} if b in near[c] else near[c]
        del groups[b], few[b]
        savings = {pair: saved for pair, saved in savings.items() if not {a, b} & set(pair)}
        fresh = {a}


def _near(forest: Forest) -> dict[int, set[int]]:
    """Return, for every node, its parent, its children, and its siblings."""
    near = {}
    for n, parent in enumerate(forest.parents):
        near[n] = {*forest.children[n], *((parent, *forest.children[parent]) if parent != NO_PARENT else ())}
    return near


def _seen_column(column: np.ndarray, n: int) -> _Group:
    """Return a column as a group of its own, with the rows of the stack that it selects, or messages below it."""
    seen = np.zeros(int(column.max(initial=0)) + 1, dtype=bool)
    seen[column] = True
    parts = np.flatnonzero(seen).astype(np.int32)
    number = np.cumsum(seen) - 1
    return _Group((n,), number[column].astype(cell_type(len(parts))), parts[:, None])


def _n_combinations(one: np.ndarray, other: np.ndarray, n_one: int, n_other: int) -> int:
    if n_one * n_other > _MOST_PAIRED:
        return n_one * n_other
    seen = np.zeros(n_one * n_other, dtype=bool)
    seen[one.astype(np.int32) * n_other + other] = True
    return int(np.count_nonzero(seen))


def _combined(group: _Group, other: _Group) -> _Group:
    """Join two groups, with the combinations that are seen."""
    keys = group.index.astype(np.int32) * len(other.parts) + other.index
    joined = _seen_column(keys, 0)
    left, right = np.divmod(joined.parts[:, 0], len(other.parts))
    parts = np.hstack([group.parts[left], other.parts[right]])
    return _Group((*group.columns, *other.columns), joined.index, parts)


def _both(group: _Group, column: _Group, most: int) -> _Group | None:
    """Join a column to a group, or return None if together they show more than ``most`` combinations."""
    if max(len(group.parts), len(column.parts)) > most + 1:
        return None
    seen = np.zeros((len(group.parts), len(column.parts)), dtype=bool)
    seen[group.index, column.index] = True
    left, right = np.nonzero(seen)
    if len(left) > most:
        return None
    number = np.zeros(seen.shape, dtype=np.uint16)
    number[left, right] = np.arange(len(left))
    parts = np.hstack([group.parts[left], column.parts[right]])
    return _Group((*group.columns, *column.columns), number[group.index, column.index], parts)
