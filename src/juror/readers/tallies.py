"""How often each value of a column occurs, from which its labels and intervals are found.

Tallies of two pieces of a column add up to that of the whole, by value. If there are too many distinct numbers,
neighbours are tallied together (:attr:`Tally.dropped`); the result does not depend on the order of the pieces.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any

import numpy as np

from juror.errors import DataError, Message, shortlist
from juror.readers.calendars import Calendar, Unit, finer, united_calendar
from juror.readers.columns import MISSING, Column, Form, united
from juror.readers.exact_numbers import as_number
from juror.readers.scans import Part, Scan
from juror.readers.weights import WeightSums, take_weights
from juror.readers.written_values import ODD, written_values
from juror.runners.local import Runner

# The most distinct numbers of a column to keep when pieces are merged
_MOST_NUMBERS = 2**18
_SIGN = np.int64(-(2**63))


@dataclass(frozen=True)
class Tally:
    """The distinct values of a column, and how often each counts.

    Attributes
    ----------
    name, form, ordered
        As in :class:`juror.readers.Column`.
    values : list or numpy.ndarray, (n_values,)
        The distinct values; numbers are sorted.
    counts : numpy.ndarray, (n_values,)
        The weight of the rows that hold each.
    dropped : int
        How many low bits are ignored: numbers that differ only in these are tallied as the lowest of them.
    highest : float, optional
        The largest number.
    infinite : (float, str), optional
        A number that is not finite, and a description of the first row that holds it.
    calendar : Calendar, optional
        How the numbers stand for dates or times, if they do.
    needed : {"D", "s", "ms", "us", "ns"}, optional
        The coarsest unit in which all dates or times are whole; see :meth:`in_needed_unit`.
    """

    name: str
    form: Form
    values: Any
    counts: np.ndarray
    ordered: bool = False
    dropped: int = 0
    highest: float | None = None
    infinite: tuple[float, str] | None = None
    calendar: Calendar | None = None
    needed: Unit | None = None

    @classmethod
    def of(cls, column: Column, weights: np.ndarray | None = None) -> Tally:
        """Tally a piece of a column; rows with weights (n_rows,) of zero do not count.

        >>> tally = Tally.of(Column("a", "text", ["x", "y"], np.array([1, 0, 1, -1])))
        >>> tally.values, tally.counts.tolist()
        (['x', 'y'], [1.0, 2.0])
        """
        seen = column.index >= 0
        index = column.index if np.all(seen) else column.index[seen]
        weights = weights if weights is None or len(index) == len(seen) else weights[seen]
        counts = np.bincount(index, weights, minlength=len(column.values)).astype(float)
        tally = cls(column.name, column.form, column.values, counts, column.ordered)
        if column.form != "number":
            return tally
        held = counts > 0
        numbers = np.asarray(column.values)
        if not np.all(held):
            numbers, counts = numbers[held], counts[held]
        finite = np.isfinite(numbers)
        infinite = None
        if not np.all(finite):
            value = float(numbers[~finite][0])
            infinite = value, column.first_row_of(int(np.flatnonzero(np.asarray(column.values) == value)[0]))
        highest = numbers[-1].item() if len(numbers) else None
        needed = None if column.calendar is None else column.calendar.coarsest(numbers)
        return replace(
            tally,
            values=numbers,
            counts=counts,
            highest=highest,
            infinite=infinite,
            calendar=column.calendar,
            needed=needed,
        )

    def in_needed_unit(self, least: Unit = "D") -> Tally:
        """Return the same dates or times in the coarsest unit in which they are whole; other numbers as they are.

        The unit is not coarser than ``least``.

        >>> midnight = Column("at", "number", np.array([0, 86_400]), np.array([0, 1, 1]), calendar=Calendar("s"))
        >>> days = Tally.of(midnight).in_needed_unit()
        >>> days.values.tolist(), days.calendar
        ([0, 1], Calendar(unit='D', zone=None, stored='s'))
        """
        needed = finer(self.needed, least)
        if self.calendar is None or needed == self.calendar.unit:
            return self
        # numbers that were grouped are lowest of their groups, which may fall on the same unit
        values, where = np.unique(self.calendar.converted(self.values, needed), return_inverse=True)
        highest = self.highest
        if highest is not None:
            highest = self.calendar.converted(np.array([highest]), needed)[0].item()
        calendar = self.calendar.within(needed)
        return replace(self, values=values, counts=np.bincount(where, self.counts), highest=highest, calendar=calendar)

    def __add__(self, other: Tally) -> Tally:
        """Add the tally of another piece of the same column, by value."""
        if not len(other.values):
            return self
        if not len(self.values):
            return other
        if self.form != other.form and {self.form, other.form} != {"text", "category"}:
            fact = f"Column {self.name!r} holds {self.form} in some rows and {other.form} in others."
            raise DataError(f"{fact} Convert it to one type.")
        if self.form == "number":
            return _added_numbers(self, other)
        # declared categories keep their order only if all pieces declare the same categories
        form: Form = self.form if self.form == other.form else "text"
        values = united(self.name, self.values, other.values, self.ordered and other.ordered)
        position = {value: i for i, value in enumerate(values)}
        counts = np.zeros(len(values))
        for tally in (self, other):
            counts[[position[value] for value in tally.values]] += tally.counts
        return replace(self, form=form, values=values, counts=counts, ordered=self.ordered and other.ordered)


def tally_columns(columns: Sequence[Column], weights: np.ndarray | None) -> list[Tally]:
    """Tally columns in memory, of rows with weights (n_rows,) above zero, as far as their labels need it."""
    return [_seen_codes(column) if column.form == "code" else Tally.of(column, weights) for column in columns]


def _seen_codes(column: Column) -> Tally:
    # the labels are 0 up to the highest code, so it does not matter how often each occurs, only that one does
    is_seen = column.index.max(initial=MISSING) > MISSING
    return Tally(column.name, "code", column.values, np.full(len(column.values), float(is_seen)))


def check_labels(seen: Tally, most: float) -> None:
    """Refuse more than ``most`` labels as soon as they are seen. Numbers may be cut into intervals."""
    n_labels = np.count_nonzero(seen.counts > 0) if seen.form == "text" else len(seen.values)
    if seen.form in ("text", "category") and n_labels > most:
        raise DataError(
            "{fact}, above {max_levels: = {most:g}}. {way_out}",
            fact=f"Column {seen.name!r} has {n_labels} distinct labels or more, such as "
            f"{shortlist(list(seen.values)[:3])}",
            most=most,
            way_out=way_out_of_labels(seen.values),
        )


def way_out_of_labels(labels: Sequence[Any]) -> Message:
    """Say what to do about a column of too many labels."""
    written = written_values(labels)
    if written is not None and not written.may_be_names:
        return Message(
            "All of these are {are}, such as {example!r}. {way_out}",
            are=written.are,
            example=written.example,
            way_out=written.way_out,
        )
    odd = next((label for label in labels if isinstance(label, str) and ODD.match(label)), None)
    if odd is not None and all(isinstance(label, str) and as_number(label) is not None for label in labels):
        return Message(
            "It looks like numbers, but is read as text because {odd!r} is not only a number. Drop it if it is an "
            "identifier, or pass a frame in which it holds numbers.",
            odd=odd,
        )
    return Message("Drop it if it is an identifier, group its labels, or raise {Domain.infer.max_levels}.")


def _in_one_unit(one: Tally, other: Tally) -> tuple[Tally, Tally]:
    """Return two tallies of a column with the same calendar, if they have one."""
    calendar = united_calendar(one.name, one.calendar, other.calendar)
    if calendar is None or one.calendar == other.calendar:
        return one, other
    needed = finer(one.needed, other.needed)
    both = []
    for tally in (one, other):
        assert tally.calendar is not None
        ends = np.append(tally.values, np.int64(tally.highest))  # type: ignore[arg-type]
        *values, highest = tally.calendar.converted(ends, calendar.unit, tally.name).tolist()
        numbers = np.array(values, dtype=np.int64)
        both.append(replace(tally, values=numbers, highest=highest, calendar=calendar, needed=needed))
    return both[0], both[1]


def _added_numbers(one: Tally, other: Tally) -> Tally:
    one, other = _in_one_unit(one, other)
    dropped = max(one.dropped, other.dropped)
    a, b = as_comparable(one.name, [one.values, other.values])
    keys = np.concatenate([_key(a), _key(b)]) >> dropped
    counts = np.concatenate([one.counts, other.counts])
    more = _to_drop(np.sort(keys))
    keys, where = np.unique(keys >> more, return_inverse=True)
    dropped += more
    return replace(
        one,
        values=_number(keys << dropped, a.dtype),
        counts=np.bincount(where, counts),
        dropped=dropped,
        highest=max(one.highest, other.highest),  # type: ignore[type-var]
        infinite=one.infinite or other.infinite,
        needed=None if one.calendar is None else finer(one.needed, other.needed),
    )


def as_comparable(name: str, pieces: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the numbers of pieces of a column, all as int64 or all as float64, with equal values."""
    exact = [_comparable(name, np.asarray(numbers)) for numbers in pieces]
    if len({numbers.dtype for numbers in exact if len(numbers)}) < 2:
        return exact
    return [_comparable(name, numbers, float) for numbers in exact]


def _comparable(name: str, numbers: np.ndarray, kind: type | None = None) -> np.ndarray:
    """Return numbers as int64 or float64, with equal values."""
    target = np.dtype(kind or (np.float64 if numbers.dtype.kind == "f" else np.int64))
    converted = numbers.astype(target)
    if not np.array_equal(converted, numbers) or (target.kind == "f" and np.any(np.abs(converted) > 2.0**53)):
        if numbers.dtype.kind == "f":
            return converted
        fact = f"Column {name!r} holds whole numbers too large to be compared with those of other parts."
        raise DataError(f"{fact} Convert it to text.")
    return converted


def _key(numbers: np.ndarray) -> np.ndarray:
    """Return integers in the same order as the numbers; neighbouring floats have neighbouring integers."""
    if numbers.dtype.kind == "i":
        return numbers
    bits = (numbers + 0.0).view(np.int64)  # no negative zero
    return np.where(bits < 0, _SIGN - bits, bits)


def _number(keys: np.ndarray, kind: np.dtype[Any]) -> np.ndarray:
    if kind.kind == "i":
        return keys
    return np.where(keys < 0, _SIGN - keys, keys).view(np.float64)


def _to_drop(keys: np.ndarray) -> int:
    """Return how many low bits to drop from sorted keys so that at most ``_MOST_NUMBERS`` are distinct."""
    low, high = 0, 64
    if 1 + np.count_nonzero(np.diff(keys)) <= _MOST_NUMBERS:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        few = 1 + np.count_nonzero(np.diff(keys >> middle)) <= _MOST_NUMBERS
        low, high = (low, middle) if few else (middle, high)
    return high


@dataclass(frozen=True)
class Census:
    """The tallies of all columns, and the number of rows behind them.

    ``n_rows`` counts all rows, and ``weights`` are the sums of their weights.
    """

    tallies: tuple[Tally, ...]
    n_rows: int
    weights: WeightSums

    def __add__(self, other: Census) -> Census:
        if not self.tallies or not other.tallies:
            return self if self.tallies else other
        return Census(
            tuple(a + b for a, b in zip(self.tallies, other.tallies, strict=True)),
            self.n_rows + other.n_rows,
            self.weights + other.weights,
        )


def take_census(
    scan: Scan, runner: Runner, most_labels: float, names: Collection[str] | None = None, weight: str | None = None
) -> Census:
    """Tally the columns of a table, or only the named ones, but not the column of row weights.

    Columns of text with more than ``most_labels`` distinct values are refused as soon as they are seen.
    """
    merge = partial(_added, most_labels)
    return runner.map_reduce(partial(_census_of_part, most_labels, names, weight), scan.parts, merge)


def _added(most_labels: float, one: Census, other: Census) -> Census:
    both = one + other
    for tally in both.tallies:
        check_labels(tally, most_labels)
    return both


def _census_of_part(most_labels: float, names: Collection[str] | None, weight: str | None, part: Part) -> Census:
    if names is not None and weight is not None:
        names = {*names, weight}
    pieces = (_census_of_chunk(columns, weight) for columns in part.chunks(names))
    return reduce(partial(_added, most_labels), pieces, Census((), 0, WeightSums()))


def _census_of_chunk(columns: list[Column], weight: str | None) -> Census:
    n_rows = len(columns[0].index)
    weights = None
    if weight is not None:
        columns, weights = take_weights(columns, weight)
    tallies = tuple(Tally.of(column, weights) for column in columns)
    return Census(tallies, n_rows, WeightSums.of_rows(weights, n_rows))
