"""Count a table whose labels are not known yet, in one pass.

Every piece is counted over the labels that it shows, in any order, and its counts include these labels. Counts of two
pieces add up by label. Only columns of numbers need a pass before, as their intervals depend on all rows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from juror.counts.counting import count_tables
from juror.counts.plans import Positions
from juror.domain.discovery import Discovery
from juror.domain.domain import Domain, discover
from juror.domain.variable import Label, Strangers, Variable, code_type
from juror.errors import DataError
from juror.readers.columns import MISSING, Column
from juror.readers.scans import Part, Scan
from juror.readers.tallies import Tally, check_labels
from juror.readers.weights import WeightSums, counted_rows
from juror.rows.pieces import Reading
from juror.runners.local import LocalRunner, Runner, check_any_rows

Tables = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class LabelledCounts:
    """Tables of counts, and the labels along their sides.

    ``sides`` are the labels of every column (for numbers, their intervals), and how often each occurs. There is one
    table per group of columns, (labels of the first, labels of the second, …). ``n_rows`` counts all rows, and
    ``weights`` are the sums of their weights.
    """

    sides: tuple[Tally, ...]
    tables: Tables
    n_rows: int = 0
    weights: WeightSums = field(default_factory=WeightSums)

    def added(self, other: LabelledCounts, groups: Sequence[Positions], most_labels: int) -> LabelledCounts:
        """Return the counts of both pieces together."""
        if not self.sides or not other.sides:
            return self if self.sides else other
        sides = tuple(a + b for a, b in zip(self.sides, other.sides, strict=True))
        for side in sides:
            check_labels(side, most_labels)
        return LabelledCounts(
            sides,
            tuple(a + b for a, b in zip(self._over(sides, groups), other._over(sides, groups), strict=True)),
            self.n_rows + other.n_rows,
            self.weights + other.weights,
        )

    def _over(self, sides: Sequence[Tally], groups: Sequence[Positions]) -> Tables:
        places = [places_of(mine.values, side.values) for mine, side in zip(self.sides, sides, strict=True)]
        return placed(self.tables, groups, places, [len(side.values) for side in sides])


def places_of(labels: Sequence[Any], among: Sequence[Any]) -> np.ndarray | None:
    """Return the positions of labels among others, (n_labels,), −1 if absent; None if both are the same."""
    if len(labels) == len(among) and all(a == b for a, b in zip(labels, among, strict=True)):
        return None
    place = {label: n for n, label in enumerate(among)}
    return np.array([place.get(label, -1) for label in labels], dtype=np.int64)


def placed(
    tables: Sequence[np.ndarray], groups: Sequence[Positions], places: Sequence[np.ndarray | None], sizes: Sequence[int]
) -> Tables:
    """Move the cells of tables, one per group of columns, to other labels along their sides; new cells are zero.

    ``places`` are the new positions of the labels of every column, −1 to drop one, or None if they do not move;
    ``sizes`` are the new numbers of labels of every column.
    """
    both = zip(tables, groups, strict=True)
    return tuple(_placed(table, [places[n] for n in group], [sizes[n] for n in group]) for table, group in both)


def _placed(table: np.ndarray, places: Sequence[np.ndarray | None], sizes: Sequence[int]) -> np.ndarray:
    if all(place is None for place in places):
        return table
    whole = [np.arange(size) if place is None else place for place, size in zip(places, sizes, strict=True)]
    kept = np.ix_(*[place >= 0 for place in whole])
    moved = np.zeros(sizes)
    moved[np.ix_(*[place[place >= 0] for place in whole])] = table[kept]
    # only labels that no row shows may be dropped
    assert abs(moved.sum() - table.sum()) <= 1e-9 * table.sum()
    return moved


@dataclass(frozen=True)
class _Count:
    """How a part of a table is counted: the groups of columns, and the variables of the columns of numbers."""

    groups: tuple[Positions, ...]
    known: Mapping[str, Variable]
    weight: str | None
    most_labels: int

    def of_part(self, part: Part) -> LabelledCounts:
        return reduce(self.merge, (self.of_chunk(columns) for columns in part.chunks()), LabelledCounts((), ()))

    def merge(self, one: LabelledCounts, other: LabelledCounts) -> LabelledCounts:
        return one.added(other, self.groups, self.most_labels)

    def of_chunk(self, columns: list[Column]) -> LabelledCounts:
        n_rows = len(columns[0].index)
        columns, weights, _ = counted_rows(columns, self.weight)
        columns = [self._over_intervals(column) for column in columns]
        # leave out labels that no row shows, as tables could become large
        columns = [_shown(column) if len(column.values) > self.most_labels else column for column in columns]
        for column in columns:
            if len(column.values) > self.most_labels:
                check_labels(Tally.of(column), self.most_labels)
        # a column of missing values has no labels, but a table needs at least one
        sizes = [max(1, len(column.values)) for column in columns]
        codes = np.array([column.index for column in columns], dtype=code_type(max(sizes))).T
        groups = (*self.groups, *((n,) for n in range(len(columns))))
        tables = [
            table[tuple(slice(len(columns[n].values)) for n in group)]
            for table, group in zip(count_tables(codes, sizes, groups, weights, LocalRunner(1)), groups, strict=True)
        ]
        sides = zip(columns, tables[len(self.groups) :], strict=True)
        return LabelledCounts(
            tuple(Tally(c.name, c.form, c.values, counts, c.ordered) for c, counts in sides),
            tuple(tables[: len(self.groups)]),
            n_rows,
            WeightSums.of_rows(weights, len(codes)),
        )

    def _over_intervals(self, column: Column) -> Column:
        """Turn a column of numbers into the intervals that were found in all rows."""
        if column.name not in self.known:
            if column.form == "number":
                raise DataError(
                    f"Column {column.name!r} holds numbers where it was said to hold none. Convert it to one type."
                )
            return column
        variable = self.known[column.name]
        codes, _ = variable.encode_piece(column, kind=np.int32)
        return replace(column, form="category", values=variable.labels, index=codes, ordered=True, calendar=None)


def _shown(column: Column) -> Column:
    """Return a column of text with only those values that occur in its rows."""
    if column.form != "text":
        return column
    shown = np.unique(column.index[column.index >= 0])
    renumber = np.full(len(column.values) + 1, MISSING, dtype=np.int32)
    renumber[shown] = np.arange(len(shown))
    return replace(column, values=[column.values[n] for n in shown], index=renumber[column.index])


def count_labelled(
    scan: Scan,
    missing: Collection[Label],
    weight: str | None,
    choose: Callable[[Sequence[str]], Sequence[Positions]],
    runner: Runner,
) -> tuple[Domain, tuple[Positions, ...], Tables, float]:
    """Count groups of columns of a table whose labels are not known, and find its variables.

    ``choose`` returns the groups to count, given the names of the variables. Returns the domain, the groups, the table
    of every group over the labels of the domain, and the weight of all rows.
    """
    names = [name for name in scan.names if name != weight]
    groups, options = tuple(choose(names)), Discovery()
    numbers = [name for name in names if name in scan.numbers]
    known: dict[str, Variable] = {}
    if numbers:
        some = replace(scan, names=(*numbers, *([weight] if weight else [])))
        known = {variable.name: variable for variable in discover(some, options, missing, runner, weight)}
    count = _Count(groups, known, weight, options.max_levels)
    counts = runner.map_reduce(partial(_Count.of_part, count), scan.parts, partial(_Count.merge, count))
    check_any_rows(counts.n_rows)
    if weight is not None and not numbers:
        counts.weights.check()
    others = options.variables([side for side in counts.sides if side.name not in known])
    variables = {variable.name: variable for variable in others} | known
    domain = Domain(tuple(variables[name] for name in names), tuple(missing), scan.floats, frame=scan.frame)
    places = [places_of(side.values, variable.labels) for side, variable in zip(counts.sides, domain, strict=True)]
    return domain, groups, placed(counts.tables, groups, places, domain.cardinalities), counts.weights.total


@dataclass(frozen=True)
class _KnownCounts:
    """Tables over a domain, the unknown labels of the rows behind them, and the number of rows."""

    tables: Tables
    strangers: Strangers
    n_rows: int = 0
    weights: WeightSums = field(default_factory=WeightSums)

    def __add__(self, other: _KnownCounts) -> _KnownCounts:
        return _KnownCounts(
            tuple(a + b for a, b in zip(self.tables, other.tables, strict=True)),
            self.strangers + other.strangers,
            self.n_rows + other.n_rows,
            self.weights + other.weights,
        )


def count_known(scan: Scan, reading: Reading, groups: Sequence[Positions], runner: Runner) -> tuple[Tables, float]:
    """Count groups of variables of a table over a known domain; warn of unknown labels.

    Returns the tables and the weight of all rows.
    """
    counts = runner.map_reduce(partial(_known_of_part, reading, tuple(groups)), scan.parts, _KnownCounts.__add__)
    check_any_rows(counts.n_rows)
    if reading.weight is not None:
        counts.weights.check()
    counts.strangers.warn()
    return counts.tables, counts.weights.total


def _known_of_part(reading: Reading, groups: Sequence[Positions], part: Part) -> _KnownCounts:
    sizes = reading.domain.cardinalities
    counts = _KnownCounts(tuple(np.zeros([sizes[n] for n in group]) for group in groups), Strangers())
    for columns in part.chunks():
        codes, weights, strangers = reading.encoded(columns)
        tables = count_tables(codes, sizes, groups, weights, LocalRunner(1))
        sums = WeightSums.of_rows(weights, len(codes))
        counts += _KnownCounts(tuple(tables), strangers, len(columns[0].index), sums)
    return counts
