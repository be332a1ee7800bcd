"""One column of a source: its distinct values, and for every row the position of its value.

Missing is decided here and nowhere else: nulls, NaN and the user's markers get the index −1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from juror.errors import DataError, Option, ParameterError, shortlist
from juror.readers.calendars import Calendar
from juror.readers.exact_numbers import as_number, equal_to, plain

MISSING = -1
# Codes number labels, and no variable has two billion labels
_MOST_CODES = 2**31

_INDEX_TYPES: tuple[np.dtype[Any], ...] = tuple(map(np.dtype, ("int8", "int16", "int32")))

Form = Literal["text", "boolean", "number", "category", "code"]
# What an array of floats holds
Floats = Literal["codes", "values"]


@dataclass(frozen=True)
class Column:
    """A named column, factorised.

    Attributes
    ----------
    name : str
        The column's name.
    form : {"text", "boolean", "number", "category", "code"}
        What the values are. A ``code`` is already a position among a variable's labels.
    values : list or numpy.ndarray, (n_values,)
        The distinct values; sorted when they are numbers, in declared order when they are categories.
    index : numpy.ndarray of signed integers, (n_rows,)
        For every row the position of its value in ``values``, −1 where it is missing. To read only: codes are the
        user's own array.
    ordered : bool
        Whether the categories were declared as ordered.
    first_row : int
        The number of the first row, if the column is a piece of a longer one; for messages.
    origin : str
        The file it comes from, if there are several; for messages.
    calendar : Calendar, optional
        How the numbers stand for dates or times, if they do; they are int64 then.
    """

    name: str
    form: Form
    values: Any
    index: np.ndarray
    ordered: bool = False
    first_row: int = 0
    origin: str = ""
    calendar: Calendar | None = None

    def first_row_of(self, value_position: int) -> str:
        """Describe the first row that holds the value at a position."""
        return self.row_in_words(int(np.argmax(self.index == value_position)))

    def row_in_words(self, row: int) -> str:
        """Describe a row of this piece by its number in the whole table."""
        return f"row {self.first_row + row}" + (f" of {self.origin!r}" if self.origin else "")


def check_column_names(names: Sequence[object]) -> None:
    """Refuse a table without columns, and names that are not text, empty or not unique."""
    if not names:
        raise DataError("The data have no columns. juror needs at least one.")
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(
                f"Column {position} is named {name!r}, which is not text. Rename it, for example with "
                "frame.set_axis([str(name) for name in frame], axis=1)."
            )
        if not name.strip():
            raise DataError(
                f"Column {position} has an empty name. Give it one, or write the data without it if it holds the row "
                "numbers of a frame: with index=False in pandas, row.names=FALSE in R."
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"Column names must be unique; {shortlist(repeated)} occur more than once. Rename them.")


def read_markers(missing: Any) -> tuple[Any, ...]:
    """Return the user's markers as plain Python values."""
    if isinstance(missing, (str, bytes)):
        raise ParameterError(
            "{missing} must be a list of markers. Got the text {got!r}; write {marker}.",
            got=missing,
            marker=Option("missing", (missing,), f"=[{missing!r}]"),
        )
    if not isinstance(missing, (Collection, np.ndarray)):
        raise ParameterError("{missing} must be a list of markers, like ['?']. Got {got!r} instead.", got=missing)
    markers = tuple(map(plain, missing))
    for marker in markers:
        if not isinstance(marker, (str, int, float, bool)) or marker != marker:
            raise ParameterError(
                f"A marker is text, a number or a boolean. Got {marker!r}; null and NaN are missing anyway."
            )
    return markers


def from_codes(name: str, codes: np.ndarray, missing: Collection[object] = ()) -> Column:
    """Take a vector of codes, −1 or NaN where missing, as it is: signed integers of up to 32 bits are not copied."""
    marked = is_marked(codes, missing) if missing else np.zeros(1, dtype=bool)
    if marked.any():
        # a marker may be a number that no code can be, and unsigned integers have no −1
        codes = np.where(marked, 0, codes)
    if codes.dtype.kind == "f":
        codes = _whole(name, codes)
    highest = int(codes.max()) if len(codes) else MISSING
    if highest >= _MOST_CODES or codes.min(initial=0) < MISSING:
        row = int(np.argmax((codes < MISSING) | (codes >= _MOST_CODES)))
        raise DataError(
            f"Column {name!r} holds the code {int(codes[row])} in row {row}; codes must be 0, 1, 2, … with −1 "
            "for missing. Pass a frame or a dict of columns if these are values and not codes."
        )
    index = codes if codes.dtype in _INDEX_TYPES else codes.astype(np.int32)
    if marked.any():
        index[marked] = MISSING
        highest = int(index.max())
    return Column(name, "code", range(highest + 1), index)


def _whole(name: str, codes: np.ndarray) -> np.ndarray:
    """Return codes that are written as floats, −1 for NaN; refuse fractions and infinity."""
    codes = np.where(np.isnan(codes), MISSING, codes.astype(np.float64))
    wrong = ~np.isfinite(codes) | (codes != np.floor(codes))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"Column {name!r} holds {codes[row]:g} in row {row}, but arrays of floats hold codes here, as in the table "
            "that the labels come from: 0, 1, 2, … with NaN for missing. Pass values as a frame or a dict of columns."
        )
    return codes


def is_marked(numbers: np.ndarray, missing: Collection[object]) -> np.ndarray:
    """Return which numbers equal a marker, however that is written: −9, "-9" and "-9.0" are the same."""
    marked = np.zeros(len(numbers), dtype=bool)
    for marker in missing:
        number = as_number(marker)
        if number is not None:
            marked |= equal_to(numbers, number)
    return marked


def without_marked(values: Iterable[Any], missing: Collection[object]) -> Iterator[bool]:
    """Tell of each value whether it is no marker. Numbers are compared as values, all else as text."""
    texts = {as_text(marker) for marker in missing}
    numbers = {number for number in map(as_number, missing) if number is not None}
    for value in values:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        yield value not in numbers if is_number else as_text(value) not in texts


def as_text(label: object) -> str:
    """Write a label as text, whole floats without a fraction: 4.0 as 4."""
    if isinstance(label, float) and np.isfinite(label) and label == int(label):
        return str(int(label))
    return str(label)


def united(name: str, one: Sequence[Any], other: Sequence[Any], ordered: bool = False) -> Sequence[Any]:
    """Return the labels of both: unchanged if they are equal, else sorted, or in their common order if ordered.

    >>> united("colour", ["red", "blue"], ["teal", "red"])
    ['blue', 'red', 'teal']
    >>> united("size", ["S", "L"], ["S", "M", "L"], ordered=True)
    ['S', 'M', 'L']
    """
    if list(one) == list(other):
        return one
    if not ordered:
        return sorted({*one, *other}, key=lambda label: (isinstance(label, str), label))
    after: dict[Any, set[Any]] = {label: set() for label in (*one, *other)}
    for low, high in (*pairwise(one), *pairwise(other)):
        after[high].add(low)
    order: list[Any] = []
    while len(order) < len(after):
        ready = [label for label, before in after.items() if label not in order and before <= set(order)]
        if len(ready) != 1:
            raise DataError(
                "Column {column!r} has the ordered labels {one} in one part and {other} in another, which are of no "
                "one order. Name all of them in their order with {Domain.infer.levels:=…}.",
                column=name,
                one=shortlist(one),
                other=shortlist(other),
            )
        order += ready
    return order
