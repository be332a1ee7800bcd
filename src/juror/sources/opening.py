"""Open whatever a person has: frames, dicts of columns, integer arrays, paths to CSV and Parquet files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from juror.errors import DataError, shortlist
from juror.sources.columns import Column, from_arrow, from_codes
from juror.sources.files import read_table


def open_source(data: Any, missing: Collection[object] = (), names: Sequence[str] | None = None) -> list[Column]:
    """Turn data into factorised columns of one length.

    Parameters
    ----------
    data : frame, mapping, 2-D array or path
        A pandas, polars or pyarrow frame (anything narwhals takes), a dict of columns (or of single values: one
        row), a 2-D array of integer codes with −1 or NaN for missing, or the path of a ``.csv`` or
        ``.parquet`` file.
    missing : collection
        Markers that stand for a missing value, such as ``["?"]``.
    names : sequence of str, optional
        Names for the columns of an array, which has none of its own; ``x0, x1, …`` otherwise.
    """
    for accepts, opener in _OPENERS:
        if accepts(data):
            columns = opener(data, missing, names)
            _check_shape(columns)
            return columns
    raise DataError(
        f"Cannot read data of type {type(data).__name__}. Pass a pandas, polars or pyarrow frame, a dict of "
        "columns, a 2-D array of integer codes, or the path of a .csv or .parquet file."
    )


def _open_frame(frame: Any, missing: Collection[object], names: Sequence[str] | None) -> list[Column]:
    try:
        wrapped = nw.from_native(frame, eager_only=True)
        labels = list(wrapped.columns)
    except nw.exceptions.DuplicateError:
        raise _duplicates(frame.columns) from None
    except TypeError:
        raise DataError(
            f"A {type(frame).__name__} is lazy: its rows are not there yet. Collect it first, "
            "for example with frame.collect()."
        ) from None
    _check_names(labels)
    return [from_arrow(name, _frame_column(wrapped, name), missing) for name in labels]


def _frame_column(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    try:
        return frame[name].to_arrow()
    except pa.ArrowException as error:
        raise _mixed(name, frame[name].to_list(), error) from None


def _open_mapping(mapping: Mapping[str, Any], missing: Collection[object], names: Sequence[str] | None) -> list[Column]:
    _check_names(list(mapping))
    if mapping and all(_is_scalar(value) for value in mapping.values()):
        mapping = {name: [value] for name, value in mapping.items()}
    columns = []
    for name, values in mapping.items():
        if _is_scalar(values):
            raise DataError(
                f"Column {name!r} is the single value {values!r} beside columns of many values. Give every column "
                "as a list, or every one as a single value for one row."
            )
        if isinstance(values, np.ndarray) and values.ndim != 1:
            raise DataError(f"Column {name!r} is an array of {values.ndim} dimensions; a column has one.")
        try:
            # from_pandas reads NaN among text as null
            array = values.to_arrow() if hasattr(values, "to_arrow") else pa.array(values, from_pandas=True)
        except pa.ArrowException as error:
            raise _mixed(name, list(values), error) from None
        columns.append(from_arrow(name, array, missing))
    return columns


def _open_array(array: np.ndarray, missing: Collection[object], names: Sequence[str] | None) -> list[Column]:
    if array.ndim != 2:
        raise DataError(
            f"An array of data must have 2 dimensions, rows and variables. Got {array.ndim} instead. "
            "Use array.reshape(1, -1) for one row or array.reshape(-1, 1) for one variable."
        )
    if names is not None and len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns where {len(names)} variables are expected.")
    labels = list(names) if names is not None else [f"x{n}" for n in range(array.shape[1])]
    codes = _as_codes(array)
    if codes is not None:
        return [from_codes(name, codes[:, n]) for n, name in enumerate(labels)]
    return _open_mapping({name: array[:, n] for n, name in enumerate(labels)}, missing, None)


def _as_codes(array: np.ndarray) -> np.ndarray | None:
    """Return integer codes, or None when the array holds values: numbers with fractions, text, objects."""
    if np.issubdtype(array.dtype, np.integer):
        return array
    if not np.issubdtype(array.dtype, np.floating):
        return None
    holes = np.isnan(array)
    if not np.all(holes | (np.isfinite(array) & (array == np.floor(array)))):
        return None
    return np.where(holes, -1, array).astype(np.int64)


def _open_path(path: str | os.PathLike[str], missing: Collection[object], names: Any) -> list[Column]:
    table = read_table(Path(path), missing)
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
            raise DataError(f"Column {position} has an empty name. Give it one.")
    if len(set(names)) < len(names):
        raise _duplicates(names)


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


def _duplicates(names: Sequence[object]) -> DataError:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    return DataError(f"Column names must be unique; {shortlist(repeated)} occur more than once. Rename them.")


def _mixed(name: str, values: Sequence[object], error: pa.ArrowException) -> DataError:
    types = sorted({type(v).__name__ for v in values if v is not None and v == v})
    if len(types) > 1:
        return DataError(
            f"Column {name!r} mixes values of type {' and '.join(types)}. Convert it to one type, for example to "
            "text with str."
        )
    return DataError(f"Column {name!r} cannot be read as text, numbers or booleans: {error}.")


def _is_scalar(value: object) -> bool:
    return value is None or isinstance(value, (str, bytes, bool, int, float, np.generic))


def _is_frame(data: Any) -> bool:
    return nw.dependencies.is_into_dataframe(data) or nw.dependencies.is_polars_lazyframe(data)


def _is_opened(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(column, Column) for column in data)


_Opener = Callable[[Any, Collection[object], Sequence[str] | None], list[Column]]
_OPENERS: tuple[tuple[Callable[[Any], bool], _Opener], ...] = (
    (lambda data: isinstance(data, (str, os.PathLike)), _open_path),
    (lambda data: isinstance(data, np.ndarray), _open_array),
    (lambda data: isinstance(data, Mapping), _open_mapping),
    (_is_frame, _open_frame),
    (_is_opened, lambda columns, missing, names: columns),
)
