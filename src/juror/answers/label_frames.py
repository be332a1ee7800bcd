"""Answers as pandas, polars or pyarrow frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.domain.variable import Label, Variable
from juror.errors import MissingDependencyError, check_choice
from juror.readers.exact_numbers import as_float

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from juror.readers.calendars import Calendar

FRAMES = ("pandas", "polars", "pyarrow")


class AsFrame:
    """An answer that is a table: what gives its columns can be a frame of pandas or polars."""

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns by name."""
        raise NotImplementedError

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with a row for each line of the table; see :meth:`to_dict`."""
        return to_frame(self.to_dict(), "pandas")

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame with a row for each line of the table; see :meth:`to_dict`."""
        return to_frame(self.to_dict(), "polars")


def free_name(name: str, taken: Collection[str]) -> str:
    """Return a name with as many underscores behind it as it takes to be a new one.

    >>> free_name("rows", ["x"]), free_name("rows", ["rows", "rows_"])
    ('rows', 'rows__')
    """
    while name in taken:
        name += "_"
    return name


def to_frame(columns: Mapping[str, Sequence[Any]], kind: str) -> Any:
    """Make a frame of a library, pandas, polars or pyarrow, from columns by name."""
    return _to_narwhals(columns, kind).to_native()


def gather_frame(columns: Mapping[str, Gathered | NumberCells], kind: str) -> Any:
    """Make the same frame as :func:`to_frame` from distinct values and the position of each row's value.

    Each distinct value is converted once, not row by row.

    >>> gather_frame({"size": Gathered(["S", "L"], np.array([1, 1, 0]))}, "pandas")["size"].tolist()
    ['L', 'L', 'S']
    """
    import narwhals as nw

    gathered = {name: column.as_series(name, kind) for name, column in columns.items()}
    return nw.from_dict({name: nw.maybe_reset_index(column) for name, column in gathered.items()}).to_native()


class Gathered:
    """A column as distinct values and, for every row, the position of its value, (rows,).

    Values that no row has are left out, as they must not affect the type of the column. The others are in order of
    first occurrence.
    """

    def __init__(self, values: Sequence[Any], positions: np.ndarray):
        first_rows = np.full(len(values), len(positions))
        # Assigned from the last row to the first: the last write, which stays, is the first row of a value.
        first_rows[positions[::-1]] = np.arange(len(positions))[::-1]
        order = np.argsort(first_rows, kind="stable")[: np.count_nonzero(first_rows < len(positions))]
        renumber = np.zeros(len(values), dtype=np.int64)
        renumber[order] = np.arange(len(order))
        self.values = [values[position] for position in order]
        self.positions = renumber[positions]

    def as_series(self, name: str, kind: str) -> Any:
        """Return a series of a frame library."""
        return _to_narwhals({name: self.values}, kind)[name][self.positions]


def decode_frame(variables: Sequence[Variable], codes: np.ndarray, numbers: Mapping[int, np.ndarray], kind: str) -> Any:
    """Turn codes (rows, N), none of them −1, into a frame of labels, and of numbers (rows,) where these are given.

    Cells with the label of missing cells are missing in the frame, as they are in the table that was fitted.
    """
    columns: dict[str, Gathered | NumberCells] = {}
    for n, variable in enumerate(variables):
        if n in numbers:
            is_missing = codes[:, n] == len(variable.present_labels)
            columns[variable.name] = NumberCells(numbers[n], is_missing, variable.calendar)
            continue
        labels: list[Any] = list(variable.present_labels)
        if variable.missing_label is not None:
            labels.append(None)
        columns[variable.name] = Gathered(labels, codes[:, n])
    return gather_frame(columns, kind)


@dataclass(frozen=True)
class NumberCells:
    """A column of numbers (rows,), which of its cells are missing, and the calendar of dates and times."""

    numbers: np.ndarray
    is_missing: np.ndarray
    calendar: Calendar | None = None

    def as_series(self, name: str, kind: str) -> Any:
        """Return a series of a frame library; pandas has whole numbers with missing cells as floats."""
        check_choice("frame", kind, FRAMES)
        if self.calendar is not None:
            return _dates(name, self.calendar.to_arrow(self.numbers, self.is_missing), kind)
        values: Any = self.numbers
        if np.any(self.is_missing):
            values = [None if gone else x for x, gone in zip(values.tolist(), self.is_missing, strict=True)]
        elif values.dtype == object:
            values = values.tolist()
        return _to_narwhals({name: values}, kind)[name]


def _dates(name: str, dates: pa.Array, kind: str) -> Any:
    """Return dates or times as a series of a frame library; pandas has days as dates of Python."""
    import narwhals as nw
    import pyarrow as pa

    if kind == "polars":
        return nw.from_arrow(pa.table({name: dates}), backend="polars")[name]
    native = dates.to_pandas().rename(name) if kind == "pandas" else pa.chunked_array([dates])
    return nw.from_native(native, series_only=True).alias(name)


def _to_narwhals(columns: Mapping[str, Sequence[Any]], kind: str) -> nw.DataFrame[Any]:
    check_choice("frame", kind, FRAMES)
    import narwhals as nw  # slow to import, and few answers need it

    if all(isinstance(values, np.ndarray) for values in columns.values()):
        columns = dict(columns)
    elif kind != "pandas":
        # Columns of polars and pyarrow have one type; a pandas column may hold any objects.
        columns = {name: _of_one_type(values) for name, values in columns.items()}
    else:
        columns = {name: _exact(values) for name, values in columns.items()}
    try:
        return nw.from_dict(dict(columns), backend=kind)  # type: ignore[arg-type]
    except ModuleNotFoundError:
        raise MissingDependencyError(
            f"{kind} is not installed. Install it with: pip install 'juror[{kind}]', or ask for another frame."
        ) from None


def label_array(labels: Sequence[Label]) -> np.ndarray:
    """Return labels as an array of their common type, or of objects if there is none."""
    if len({type(label) for label in labels}) == 1:
        array = np.array(labels)
        # NumPy cuts NULs off the end of text, and rounds some large integers
        if array.tolist() == list(labels):
            return array
    return _as_objects(labels)


def _as_objects(values: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _exact(values: Sequence[Any]) -> Any:
    """Return values such that pandas does not round large integers beside floats or missing cells."""
    return _as_objects(values) if _would_round(values) else values


def _would_round(values: Sequence[Any]) -> bool:
    """Tell whether there are integers that no float can represent beside floats or missing cells."""
    kinds = {type(value) for value in values}
    return int in kinds and kinds != {int} and any(type(v) is int and as_float(v) != v for v in values)


def _of_one_type(values: Sequence[Any]) -> Any:
    """Turn labels of several types into text, as well as numbers too large for one type; mixed others into floats."""
    types = {type(value) for value in values if value is not None}
    whole = [value for value in values if value is not None] if types == {int} else [0]
    if len(types) < 2 and min(whole) >= -(2**63) and max(whole) < 2**63:
        return values
    if len(types) < 2 and min(whole) >= 0 and max(whole) < 2**64:
        import pyarrow as pa

        # both libraries take whole numbers of Python for signed ones
        return pa.array(values, pa.uint64())
    if types == {int, float} and not _would_round(values):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
