"""The labels that fill the holes of one column, in the type of its other cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from juror.answers.label_frames import Gathered
from juror.answers.numbers import as_cells
from juror.domain.variable import Variable
from juror.errors import DataError, shortlist
from juror.readers import Column
from juror.readers.calendars import finer
from juror.readers.columns import as_text
from juror.readers.exact_numbers import as_number


class Fill:
    """The labels that fill the holes of one column, from codes (n_rows,) for all its rows, or from numbers (n_rows,).

    A column that holds codes or labels of intervals gets these even if there are numbers.

    A missing cell whose code is that of the label for missing cells is no hole: it stays missing.

    Attributes
    ----------
    rows, codes, positions : numpy.ndarray, (n_holes,)
        The rows with a hole, the code for each hole, and the position of its label in ``labels``.
    left : numpy.ndarray
        The rows whose cells stay missing.
    """

    def __init__(self, column: Column, variable: Variable, codes: np.ndarray, numbers: np.ndarray | None = None):
        self.column = column
        self.variable = variable
        self.name = column.name
        missing = np.flatnonzero(column.index < 0)
        stays = (codes[missing] == variable.missing_code) & (variable.missing_label is not None)
        self.rows, self.left = missing[~stays], missing[stays]
        self.codes = codes[self.rows]
        self.is_number = numbers is not None and not _holds_labels(column, variable)
        if numbers is not None and self.is_number:
            distinct, self.positions = np.unique(numbers[self.rows], return_inverse=True)
            self._numbers: list[Any] = distinct.tolist()
            return
        gathered = Gathered(range(variable.cardinality), self.codes)
        self.positions = gathered.positions
        self._codes = np.array(gathered.values, dtype=np.int64)

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    @property
    def is_empty_column(self) -> bool:
        """Whether all cells are missing, so that there is no type to keep."""
        return len(self.rows) + len(self.left) == len(self.column.index)

    @property
    def is_rebuilt(self) -> bool:
        """Whether the column is rebuilt from its distinct values: faster, and safe for text."""
        return self.column.form == "text" or self.is_empty_column

    @cached_property
    def labels(self) -> list[Any]:
        """The distinct labels of the holes, in the order of the rows, in the column's own form."""
        if self.is_number:
            is_text = self.column.form in ("text", "category") and not self.is_empty_column
            return as_cells(self._variable_of_column, self._numbers, is_text)
        if self.column.form == "code":
            return self._codes.tolist()
        labels = self.variable.decode(self._codes)
        if self.is_empty_column:
            return labels
        convert = _CONVERSIONS[self.column.form]
        return [convert(self, label, code) for label, code in zip(labels, self._codes.tolist(), strict=True)]

    @property
    def _variable_of_column(self) -> Variable:
        """The variable, whose dates are cells of the column's type if that has room for them: times for midnights."""
        calendar, own = self.variable.calendar, self.column.calendar
        if calendar is None or own is None or finer(calendar.unit, own.stored) != own.stored:
            return self.variable
        return replace(self.variable, calendar=replace(calendar, stored=own.stored))

    def own_value(self, label: Any, code: int) -> Any:
        """Return the column's own value for a label, if it has one."""
        candidates = (False, True) if self.column.form == "boolean" else self.column.values
        return next((value for value in candidates if self.variable.find(value) == code), label)

    def whole_column(self) -> tuple[list[Any], np.ndarray]:
        """Return the column's values followed by the labels, and the position of every row's cell in that list.

        If cells stay missing, None is the last value.
        """
        own = self._own_cells
        positions = self.column.index.astype(np.int64)
        positions[self.rows] = len(own) + self.positions
        values = [*own, *self.labels]
        positions[self.left] = len(values)
        return [*values, None] if len(self.left) else values, positions

    @property
    def _own_cells(self) -> list[Any]:
        """The column's distinct values, as its cells hold them."""
        calendar = self.column.calendar
        if calendar is None:
            return np.asarray(self.column.values, dtype=object).tolist()
        return calendar.to_python(np.asarray(self.column.values, dtype=np.int64))

    def no_room(self, dtype: object) -> DataError:
        """Return the error for a column type that cannot hold the labels."""
        if self.is_number:
            wanted = shortlist(as_cells(self.variable, self._numbers, is_text=self.variable.calendar is not None))
        else:
            wanted = shortlist(self.variable.decode(self._codes))
        return DataError(
            f"Column {self.name!r} has the type {dtype}, which has no room for {wanted} in its holes. Convert it first."
        )


def _holds_labels(column: Column, variable: Variable) -> bool:
    """Tell whether a column of a binned variable holds codes or labels of intervals, and not numbers."""
    if column.form not in ("text", "category"):
        return column.form == "code"
    labels = {as_text(label) for label in variable.present_labels}
    return any(as_text(value) in labels for value in column.values)


def _as_number(fill: Fill, label: Any, code: int) -> Any:
    number = as_number(label) if isinstance(label, str) else None
    if number is None:
        return label
    return int(number) if isinstance(number, float) and number.is_integer() else number


_CONVERSIONS: dict[str, Callable[[Fill, Any, int], Any]] = {
    "text": lambda fill, label, code: str(label),
    "number": _as_number,
    "category": Fill.own_value,
    "boolean": Fill.own_value,
}
