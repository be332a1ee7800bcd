"""Open whatever a person has: frames, dicts of columns, integer arrays, paths to CSV and Parquet files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from juror.errors import DataError, shortlist
from juror.sources.columns import MISSING, Column, from_arrow, from_codes, read_markers
from juror.sources.files import read_table

# What pyarrow raises for values it has no type for
_UNREADABLE = (pa.ArrowException, TypeError, ValueError, OverflowError)


@dataclass(frozen=True)
class Expected:
    """What is known about the columns before they are opened.

    Attributes
    ----------
    names : sequence of str, optional
        Names for the columns of an array, which has none of its own; ``x0, x1, …`` otherwise.
    numbers : collection of str
        Columns that are intervals or fractions: in an array of floats they hold these numbers, also where all happen to
        be whole. An array of integers holds codes, always.
    text : collection of str
        Columns of a CSV file whose labels are text, also where they look like numbers or booleans.
    """

    names: Sequence[str] | None = None
    numbers: Collection[str] = ()
    text: Collection[str] = ()


def open_source(data: Any, missing: Collection[object] = (), expected: Expected | None = None) -> list[Column]:
    """Turn data into factorised columns of one length.

    Parameters
    ----------
    data : frame, mapping, 2-D array or path
        A pandas, polars or pyarrow frame (anything narwhals takes), a dict of columns (or of single values: one
        row), a 2-D array of integer codes with −1 or NaN for missing, or the path of a ``.csv`` or
        ``.parquet`` file.
    missing : collection
        Markers that stand for a missing value, such as ``["?"]``.
    expected : Expected, optional
        What is known about the columns before.
    """
    markers = read_markers(missing)
    for accepts, opener in _OPENERS:
        if accepts(data):
            columns = opener(data, markers, expected or Expected())
            _check_shape(columns)
            return columns
    raise DataError(
        f"Cannot read data of type {type(data).__name__}. Pass a pandas, polars or pyarrow frame, a dict of "
        "columns, a 2-D array of integer codes, or the path of a .csv or .parquet file."
    )


def column_names(frame: Any) -> list[Any]:
    """Return the names of a frame's columns, of any kind of frame."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def _open_frame(frame: Any, missing: Collection[object], expected: Expected) -> list[Column]:
    if nw.dependencies.is_polars_lazyframe(frame):
        raise DataError(
            f"A {type(frame).__name__} is lazy: its rows are not there yet. Collect it first, "
            "for example with frame.collect()."
        )
    names = column_names(frame)
    _check_names(names)
    wrapped = nw.from_native(frame, eager_only=True)
    return [from_arrow(name, _frame_column(wrapped, name), missing) for name in names]


def _frame_column(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    try:
        return frame[name].to_arrow()
    except _UNREADABLE as error:
        raise _unreadable(name, frame[name].to_list(), error) from None


def _open_mapping(mapping: Mapping[str, Any], missing: Collection[object], expected: Expected) -> list[Column]:
    _check_names(list(mapping))
    if mapping and not any(_is_column(values) for values in mapping.values()):
        mapping = {name: [value] for name, value in mapping.items()}
    return [from_arrow(name, _mapped_column(name, values), missing) for name, values in mapping.items()]


def _mapped_column(name: str, values: Any) -> pa.Array:
    if not _is_column(values):
        raise DataError(
            f"Column {name!r} is the single value {values!r} beside columns of many values. Give every column "
            "as a list, or every one as a single value for one row."
        )
    if isinstance(values, (set, frozenset, Mapping)):
        raise DataError(f"Column {name!r} is a {type(values).__name__}, which has no order of rows. Give a list.")
    if getattr(values, "ndim", 1) != 1:
        raise DataError(f"Column {name!r} is an array of {values.ndim} dimensions; a column has one.")
    try:
        # from_pandas reads NaN among text as null
        return values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
    except _UNREADABLE as error:
        raise _unreadable(name, list(values), error) from None


def _is_column(values: object) -> bool:
    return isinstance(values, Iterable) and not isinstance(values, (str, bytes))


def _open_array(array: np.ndarray, missing: Collection[object], expected: Expected) -> list[Column]:
    if array.ndim != 2:
        raise DataError(
            f"An array of data must have 2 dimensions, rows and variables. Got {array.ndim} instead. "
            "Use array.reshape(1, -1) for one row or array.reshape(-1, 1) for one variable."
        )
    names = expected.names or [f"x{n}" for n in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns where {len(names)} variables are expected.")
    if isinstance(array, np.ma.MaskedArray):
        array = _without_mask(array)
    as_values: Collection[str] = expected.numbers if array.dtype.kind == "f" else ()
    if not _holds_codes(array):
        as_values = names
    return [
        from_arrow(name, _mapped_column(name, array[:, n]), missing)
        if name in as_values
        else from_codes(name, _as_codes(array[:, n]), missing)
        for n, name in enumerate(names)
    ]


def _without_mask(array: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    """Write masked cells as NaN among numbers and as None among all else."""
    numbers = array.dtype.kind in "iuf"
    cells = np.asarray(array.astype(float if numbers else object)).copy()
    cells[np.ma.getmaskarray(array)] = np.nan if numbers else None
    return cells


def _holds_codes(array: np.ndarray) -> bool:
    """Tell whether an array is of whole numbers, with NaN for missing; all else are values."""
    if array.dtype.kind in "iu":
        return True
    return array.dtype.kind == "f" and bool(np.all(np.isnan(array) | (np.isfinite(array) & (array == np.floor(array)))))


def _as_codes(column: np.ndarray) -> np.ndarray:
    return np.nan_to_num(column.astype(np.float64), nan=MISSING) if column.dtype.kind == "f" else column


def _open_path(path: str | os.PathLike[str], missing: Collection[object], expected: Expected) -> list[Column]:
    table = read_table(Path(path), missing, expected.text)
    _check_names(table.column_names)
    return [from_arrow(n, c, missing) for n, c in zip(table.column_names, table.columns, strict=True)]


def _check_names(names: Sequence[object]) -> None:
    for position, name in enumerate(names):
        if not isinstance(name, str):
            raise DataError(
                f"Column {position} is named {name!r}, which is not text. Rename it, for example with "
                "frame.columns = [str(c) for c in frame.columns]."
            )
        if not name.strip():
            raise DataError(
                f"Column {position} has an empty name. Give it one, or drop it if it holds the row numbers of a frame."
            )
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(f"Column names must be unique; {shortlist(repeated)} occur more than once. Rename them.")


def _check_shape(columns: Sequence[Column]) -> None:
    if not columns:
        raise DataError("The data have no columns. juror needs at least one.")
    lengths = {column.name: len(column.index) for column in columns}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise DataError(
            f"Columns differ in length: {short!r} has {lengths[short]} rows and {long!r} has {lengths[long]}. "
            "All must have the same."
        )


def _unreadable(name: str, values: Sequence[object], error: Exception) -> DataError:
    kinds = sorted({_kind_of(value) for value in values if value is not None})
    if len(kinds) > 1:
        return DataError(
            f"Column {name!r} mixes values of type {' and '.join(kinds)}. Convert it to one type, for example to "
            "text with str."
        )
    return DataError(
        f"Column {name!r} cannot be read as text, numbers or booleans ({str(error).splitlines()[0]}). Convert it, for "
        "example to text with str, or drop it."
    )


def _kind_of(value: object) -> str:
    """Name a value's type as Python does, whichever library it came from."""
    return type(value.item() if isinstance(value, np.generic) else value).__name__


def _is_frame(data: Any) -> bool:
    return nw.dependencies.is_into_dataframe(data) or nw.dependencies.is_polars_lazyframe(data)


def _is_opened(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(column, Column) for column in data)


_Opener = Callable[[Any, Collection[object], Expected], list[Column]]
_OPENERS: tuple[tuple[Callable[[Any], bool], _Opener], ...] = (
    (lambda data: isinstance(data, (str, os.PathLike)), _open_path),
    (lambda data: isinstance(data, np.ndarray), _open_array),
    (lambda data: isinstance(data, Mapping), _open_mapping),
    (_is_frame, _open_frame),
    (_is_opened, lambda columns, missing, expected: columns),
)
