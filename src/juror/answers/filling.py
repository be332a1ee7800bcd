"""Put labels into the holes of a table, and leave all else of it as it was: cells, types, index, kind of frame."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from juror.answers.frames import to_frame
from juror.answers.posterior import CPD
from juror.answers.rows import fill_at_random, fill_most_probable, generator
from juror.errors import DataError, check_count, shortlist
from juror.sources import Column
from juror.sources.columns import from_arrow
from juror.variable import Unknown, Variable, as_number


def impute(cpd: CPD, data: Any, draws: int | None, seed: int, unknown: Unknown) -> Any:
    """Fill the holes of a table with their most probable labels, or at random once or more often."""
    columns = cpd.domain.open(data)
    codes = cpd.domain.encode_columns(columns, unknown)
    positions = [cpd.domain.position(column.name) for column in columns]
    variables = [cpd.domain[n] for n in positions]
    if draws is None:
        return fill_holes(data, columns, variables, fill_most_probable(cpd, codes)[:, positions])
    check_count("draws", draws)
    rng = generator(seed)
    filled = [fill_holes(data, columns, variables, fill_at_random(cpd, codes, rng)[:, positions]) for _ in range(draws)]
    return filled[0] if draws == 1 else filled


def fill_holes(data: Any, columns: Sequence[Column], variables: Sequence[Variable], codes: np.ndarray) -> Any:
    """Return data like the given, its missing cells replaced by what codes say and all others as they were.

    Parameters
    ----------
    data : frame, mapping, array or path
        What the user gave. An array comes back as an array, a frame as a frame of its kind, all else as pandas.
    columns : sequence of Column
        The same data, opened.
    variables : sequence of Variable
        The variable of each column.
    codes : numpy.ndarray, (rows, n_columns)
        Codes to fill in, looked at only where the column is missing.
    """
    fills = [_Fill(c, v, codes[:, n]) for n, (c, v) in enumerate(zip(columns, variables, strict=True))]
    if isinstance(data, np.ndarray):
        return _fill_array(data, fills)
    if nw.dependencies.is_into_dataframe(data):
        frame = nw.from_native(data, eager_only=True)
        return frame.with_columns(
            *(_fill_series(frame[fill.name], fill).alias(fill.name) for fill in fills if fill)
        ).to_native()
    return to_frame({fill.name: fill.whole_column() for fill in fills}, "pandas")


class _Fill:
    """What goes into the holes of one column, in the type of the cells around them."""

    def __init__(self, column: Column, variable: Variable, codes: np.ndarray):
        self.column = column
        self.variable = variable
        self.name = column.name
        self.rows = np.flatnonzero(column.index < 0)
        self.codes = codes[self.rows]

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    @property
    def is_empty_column(self) -> bool:
        """Whether the column has no value of its own, and so no type that must be kept."""
        return len(self.rows) == len(self.column.index)

    def labels(self) -> list[Any]:
        """Return a label for each hole."""
        if self.column.form == "code":
            return self.codes.tolist()
        numbers = self.column.form == "number" or self.is_empty_column
        labels = self.variable.decode(self.codes, numbers=numbers)
        if self.is_empty_column:
            return labels
        convert = _CONVERSIONS[self.column.form]
        return [convert(self, label, code) for label, code in zip(labels, self.codes.tolist(), strict=True)]

    def own_value(self, label: Any, code: int) -> Any:
        """Return the column's own way to write a label, where it has one."""
        candidates = (False, True) if self.column.form == "boolean" else self.column.values
        return next((value for value in candidates if self.variable.find(value) == code), label)

    def whole_column(self) -> list[Any]:
        """Return the cells of the column, holes filled."""
        cells = np.empty(len(self.column.index), dtype=object)
        seen = self.column.index >= 0
        cells[seen] = np.asarray(self.column.values, dtype=object)[self.column.index[seen]]
        cells[self.rows] = self.labels()
        return cells.tolist()

    def no_room(self, dtype: object) -> DataError:
        wanted = shortlist(dict.fromkeys(self.variable.decode(self.codes)))
        return DataError(
            f"Column {self.name!r} has the type {dtype}, which has no room for {wanted} in its holes. Convert it first."
        )


def _as_number(fill: _Fill, label: Any, code: int) -> Any:
    number = as_number(label) if isinstance(label, str) else None
    if number is None:
        return label
    return int(number) if number.is_integer() else number


_CONVERSIONS: dict[str, Callable[[_Fill, Any, int], Any]] = {
    "text": lambda fill, label, code: str(label),
    "number": _as_number,
    "category": _Fill.own_value,
    "boolean": _Fill.own_value,
}


def _fill_array(array: np.ndarray, fills: Sequence[_Fill]) -> np.ndarray:
    filled = array.copy()
    if array.dtype.kind == "U":
        # text of fixed width would be cut to it
        width = max([array.dtype.itemsize // 4, *(len(str(label)) for fill in fills for label in fill.labels())])
        filled = array.astype(f"<U{width}")
    for n, fill in enumerate(fills):
        try:
            filled[fill.rows, n] = fill.labels()
        except (OverflowError, TypeError, ValueError):
            raise fill.no_room(array.dtype) from None
        if array.dtype.kind in "iu" and not np.array_equal(filled[fill.rows, n], fill.labels()):
            raise fill.no_room(array.dtype)
    return filled


def _fill_series(series: nw.Series[Any], fill: _Fill) -> nw.Series[Any]:
    """Fill a frame's column, and read it back: a type that cannot hold a label must not change it unseen."""
    native = series.to_native()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            filled = nw.from_native(_FILLERS[series.implementation](native, fill), series_only=True)
            read = fill.variable.encode(from_arrow(fill.name, filled.to_arrow()), "missing")[fill.rows]
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError, Warning, *_polars_errors()):
        raise fill.no_room(series.dtype) from None
    if not np.array_equal(read, fill.codes):
        raise fill.no_room(series.dtype)
    return filled


def _fill_pandas(series: Any, fill: _Fill) -> Any:
    if fill.is_empty_column:
        return type(series)(fill.labels(), index=series.index, name=series.name)
    if series.dtype == "category" and not series.cat.ordered:
        new = [label for label in dict.fromkeys(fill.labels()) if label not in series.cat.categories]
        series = series.cat.add_categories(new)
    filled = series.copy()
    filled.iloc[fill.rows] = fill.labels()
    return filled


def _fill_polars(series: Any, fill: _Fill) -> Any:
    return type(series)(
        series.name, _fill_list(series.to_list(), fill), dtype=None if fill.is_empty_column else series.dtype
    )


def _fill_pyarrow(array: pa.ChunkedArray, fill: _Fill) -> pa.ChunkedArray:
    values = _fill_list(array.to_pylist(), fill)
    if fill.is_empty_column:
        return pa.chunked_array([pa.array(values)])
    if not pa.types.is_dictionary(array.type):
        return pa.chunked_array([pa.array(values, type=array.type)])
    known = array.unify_dictionaries().chunk(0).dictionary.to_pylist()
    labels = list(dict.fromkeys([*known, *values]))
    indices = pa.array([labels.index(value) for value in values], array.type.index_type)
    dictionary = pa.array(labels, array.type.value_type)
    return pa.chunked_array([pa.DictionaryArray.from_arrays(indices, dictionary, ordered=array.type.ordered)])


def _fill_list(values: list[Any], fill: _Fill) -> list[Any]:
    for row, label in zip(fill.rows, fill.labels(), strict=True):
        values[row] = label
    return values


_FILLERS: dict[nw.Implementation, Callable[[Any, _Fill], Any]] = {
    nw.Implementation.PANDAS: _fill_pandas,
    nw.Implementation.MODIN: _fill_pandas,
    nw.Implementation.POLARS: _fill_polars,
    nw.Implementation.PYARROW: _fill_pyarrow,
}


def _polars_errors() -> tuple[type[Exception], ...]:
    """Return the errors of polars, when it is there: it is not among our dependencies."""
    polars = sys.modules.get("polars")
    return (polars.exceptions.PolarsError,) if polars is not None else ()
