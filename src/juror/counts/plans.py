"""How columns are joined before they are counted together.

Columns of few levels are joined into *packs*: numbers with one digit per column. A digit is the code plus one, so that
missing is a level, too. Counting the joint codes of two packs counts all pairs of their columns at once. The table of a
pair is what remains when the other digits are summed out and the level for missing is removed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations

import numpy as np

Positions = tuple[int, ...]
Packs = tuple[Positions, ...]

# The widest pack to try, in steps that all columns of one size fill well
_WIDTHS = (1, 12, 16, 23, 32, 41, 64, 91, 128, 182, 256)
# Cells of a joint table, and the cost of a row in ns: small tables fit into the fastest cache
_COSTS = ((2**13, 0.42), (2**14, 0.55), (2**15, 0.7), (2**16, 0.85), (2**18, 1.3), (2**20, 2.0), (math.inf, 5.0))
# Joint codes above this need four bytes instead of two, and a row then costs more by this factor.
_MOST_SHORT, _LONG_COST = 2**16, 1.3
# The cost in ns to clear and fold a cell of a joint table, and the fixed cost of a joint table
_CELL_COST, _TABLE_COST = 1.2, 300.0
# The fewest and the most rows that are packed at once, and the joint codes that this makes
_LEAST_ROWS, _MOST_ROWS = 2**17, 2**19
_PACKED_AT_ONCE = 2**21
# Rows and cells of joint tables that a kernel counts in one call, which cannot be interrupted: less than half a second
_IN_ONE_CALL = 2**26


@dataclass(frozen=True)
class CountingPlan:
    """Which columns are joined into packs, which packs are counted together, and which tables are folded from these.

    Attributes
    ----------
    sizes : numpy.ndarray, (N,)
        The labels I_n of every column.
    members : numpy.ndarray, (N,)
        The columns, pack after pack.
    bounds : numpy.ndarray, (n_packs + 1,)
        Where each pack begins among the members.
    widths : numpy.ndarray, (n_packs,)
        The levels of a pack, Π (I_n + 1).
    groups : numpy.ndarray, (n_groups, 3)
        Packs to count together, −1 in front where there are fewer than three.
    fold_bounds : numpy.ndarray, (n_groups + 1,)
        Where the folds of each group begin.
    folds : numpy.ndarray, (n_tables, 4)
        For every table the maps of its group's packs, and where it begins among all cells.
    digits : numpy.ndarray
        All maps in sequence: for every level of a pack the cell along some of its columns, −1 if one is missing.
        Map 0 takes all levels to one cell.
    starts, map_sizes : numpy.ndarray, (n_maps,)
        Where every map begins, and how many cells it has.
    tables : tuple of (place, shape, axes)
        For every wanted table, in order: where it begins, its shape as folded, and the axes in rising order.
    n_cells : int
        The cells of all tables.
    """

    sizes: np.ndarray
    members: np.ndarray
    bounds: np.ndarray
    widths: np.ndarray
    groups: np.ndarray
    fold_bounds: np.ndarray
    folds: np.ndarray
    digits: np.ndarray
    starts: np.ndarray
    map_sizes: np.ndarray
    tables: tuple[tuple[int, Positions, Positions], ...]
    n_cells: int

    @property
    def code_type(self) -> type[np.unsignedinteger]:
        """The type of joint codes."""
        cells = self._most_joint_cells
        return np.uint16 if cells <= _MOST_SHORT else np.uint32 if cells <= 2**32 else np.uint64

    @property
    def _most_joint_cells(self) -> int:
        return int(np.where(self.groups >= 0, self.widths[self.groups], 1).prod(axis=1).max(initial=0))

    @property
    def rows_at_once(self) -> int:
        """The number of rows to pack and count at once, before tables are folded."""
        packed = _PACKED_AT_ONCE // len(self.widths)
        # merging the tables of parts must be cheap compared with counting
        return max(min(max(packed, _LEAST_ROWS), _MOST_ROWS), 4 * self.n_cells)

    def calls(self, n_rows: int) -> Iterator[slice]:
        """Yield the groups to count in one call of a kernel. Tables belong to one group, so sums do not change."""
        step = max(1, _IN_ONE_CALL // (n_rows + self._most_joint_cells))
        for start in range(0, len(self.groups), step):
            yield slice(start, min(start + step, len(self.groups)))

    def take_apart(self, cells: np.ndarray) -> list[np.ndarray]:
        """Return the wanted tables in order, from all cells (n_cells,)."""
        return [
            np.ascontiguousarray(cells[place : place + math.prod(shape)].reshape(shape).transpose(axes), dtype=float)
            for place, shape, axes in self.tables
        ]


@lru_cache(maxsize=4)
def plan_counting(cardinalities: tuple[int, ...], wanted: tuple[Positions, ...], n_rows: int) -> CountingPlan:
    """Choose how to count groups of one to three columns each, rising; for few rows, joint tables are small."""
    sizes = np.asarray(cardinalities, dtype=np.int64)
    three = np.array([columns + columns[-1:] * (3 - len(columns)) for columns in wanted])
    ways = dict.fromkeys(_fill_packs(sizes, width) for width in _WIDTHS)
    packs = min(ways, key=lambda packs: _cost(packs, sizes, three, n_rows))
    pack_of = {n: p for p, pack in enumerate(packs) for n in pack}
    needed = [tuple(sorted({pack_of[n] for n in columns})) for columns in wanted]
    groups, holder = _cover(needed)
    maps = _Maps(packs, sizes)
    places, folds, tables = 0, [], []
    for columns, together in zip(wanted, needed, strict=True):
        group = holder[together]
        within = [tuple(n for n in columns if pack_of[n] == p) for p in groups[group]]
        order = tuple(n for some in within for n in some)
        shape = tuple(int(sizes[n]) for n in order)
        chosen = [maps.of(p, some) for p, some in zip(groups[group], within, strict=True)]
        folds.append((group, *[0] * (3 - len(chosen)), *chosen, places))
        tables.append((places, shape, tuple(order.index(n) for n in columns)))
        places += math.prod(shape)
    folds.sort()
    return CountingPlan(
        sizes=sizes,
        members=np.array([n for pack in packs for n in pack]),
        bounds=np.cumsum([0, *map(len, packs)]),
        widths=maps.widths,
        groups=np.array([(-1,) * (3 - len(group)) + group for group in groups], dtype=np.int64).reshape(-1, 3),
        fold_bounds=np.searchsorted([fold[0] for fold in folds], np.arange(len(groups) + 1)),
        folds=np.array([fold[1:] for fold in folds], dtype=np.int64).reshape(-1, 4),
        digits=np.concatenate(maps.digits),
        starts=np.cumsum([0, *map(len, maps.digits)])[:-1],
        map_sizes=np.array(maps.sizes),
        tables=tuple(tables),
        n_cells=places,
    )


def _fill_packs(sizes: np.ndarray, most: int) -> Packs:
    """Put columns into as few packs as can be that are no wider than most, unless a column alone is: best fit first."""
    packs: list[list[int]] = []
    room: list[int] = []
    for n in np.argsort(-sizes, kind="stable").tolist():
        levels = int(sizes[n]) + 1
        fitting = [p for p, left in enumerate(room) if left >= levels]
        if fitting:
            p = min(fitting, key=lambda p: room[p])
            packs[p].append(n)
            room[p] //= levels
        else:
            packs.append([n])
            room.append(most // levels)
    return tuple(tuple(sorted(pack)) for pack in packs)


def _cost(packs: Packs, sizes: np.ndarray, wanted: np.ndarray, n_rows: int) -> float:
    """Return about how long counting takes, in ns; wanted (n_tables, 3) names a column again where there are fewer."""
    widths = np.array([math.prod(int(sizes[n]) + 1 for n in pack) for pack in packs], dtype=float)
    pack_of = np.empty(len(sizes), dtype=np.int64)
    pack_of[[n for pack in packs for n in pack]] = np.repeat(np.arange(len(packs)), [len(pack) for pack in packs])
    together = np.sort(pack_of[wanted], axis=1)
    _, first_of_each = np.unique(together @ np.array([len(packs) ** 2, len(packs), 1]), return_index=True)
    together = together[first_of_each]
    again = np.diff(together, axis=1, prepend=-1) == 0
    # groups of fewer packs are mostly folded from larger groups
    largest = again.sum(axis=1) == again.sum(axis=1).min()
    cells = np.where(again, 1.0, widths[together])[largest].prod(axis=1)
    per_row = np.array([cost for _, cost in _COSTS])[np.searchsorted([most for most, _ in _COSTS], cells)]
    if cells.max() > _MOST_SHORT:
        per_row *= _LONG_COST
    n_parts = max(1.0, n_rows / _MOST_ROWS)
    return float(n_rows * per_row.sum() + n_parts * (_CELL_COST * cells.sum() + _TABLE_COST * len(cells)))


def _cover(needed: Iterable[Positions]) -> tuple[list[Positions], dict[Positions, int]]:
    """Return groups of packs to count such that each needed one is within some, and which that is."""
    groups: list[Positions] = []
    holder: dict[Positions, int] = {}
    for together in sorted(set(needed), key=lambda packs: (-len(packs), packs)):
        if together not in holder:
            for n in range(1, len(together) + 1):
                for within in combinations(together, n):
                    holder.setdefault(within, len(groups))
            groups.append(together)
    return groups, holder


class _Maps:
    """The maps from the levels of packs to the cells along some of their columns, each made once."""

    def __init__(self, packs: Packs, sizes: np.ndarray):
        self._packs = packs
        self._labels = sizes
        self.widths = np.array([math.prod(int(sizes[n]) + 1 for n in pack) for pack in packs])
        self.digits = [np.zeros(self.widths.max(), dtype=np.int32)]
        self.sizes = [1]
        self._numbers: dict[tuple[int, Positions], int] = {}

    def of(self, pack: int, columns: Positions) -> int:
        """Return the number of the map of a pack to the cells of some of its columns, the first for none."""
        if not columns:
            return 0
        if (pack, columns) not in self._numbers:
            self._numbers[pack, columns] = len(self.digits)
            self.digits.append(self._map(pack, columns))
            self.sizes.append(math.prod(int(self._labels[n]) for n in columns))
        return self._numbers[pack, columns]

    def _map(self, pack: int, columns: Positions) -> np.ndarray:
        shape = [int(self._labels[n]) + 1 for n in self._packs[pack]]
        codes = dict(zip(self._packs[pack], np.unravel_index(np.arange(math.prod(shape)), shape), strict=True))
        cells = np.zeros(math.prod(shape), dtype=np.int32)
        for n in columns:
            cells = cells * np.int32(self._labels[n]) + (codes[n] - 1)
        return np.where(np.all([codes[n] > 0 for n in columns], axis=0), cells, -1).astype(np.int32)
