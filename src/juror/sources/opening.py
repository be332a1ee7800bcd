"""Open whatever a person has: frames, dicts of columns, integer arrays, paths to CSV and Parquet files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.errors import DataError
from juror.sources.columns import MISSING, Column, from_codes, read_markers


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
        _open_values(name, array[:, n], missing)
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


def _is_opened(data: Any) -> bool:
    return isinstance(data, list) and bool(data) and all(isinstance(column, Column) for column in data)


# Tables of values are read by narwhals and pyarrow, which take long to import and are not needed for codes: those
# modules wait until they are called for.
def _is_frame(data: Any) -> bool:
    import narwhals as nw

    return nw.dependencies.is_into_dataframe(data) or nw.dependencies.is_polars_lazyframe(data)


def _open_frame(frame: Any, missing: Collection[object], expected: Expected) -> list[Column]:
    from juror.sources.tables import open_frame

    return open_frame(frame, missing)


def _open_mapping(mapping: Mapping[str, Any], missing: Collection[object], expected: Expected) -> list[Column]:
    from juror.sources.tables import open_mapping

    return open_mapping(mapping, missing)


def _open_path(path: str | os.PathLike[str], missing: Collection[object], expected: Expected) -> list[Column]:
    from juror.sources.tables import open_path

    return open_path(path, missing, expected.text)


def _open_values(name: str, values: np.ndarray, missing: Collection[object]) -> Column:
    from juror.sources.tables import read_column

    return read_column(name, values, missing)


_Opener = Callable[[Any, Collection[object], Expected], list[Column]]
_OPENERS: tuple[tuple[Callable[[Any], bool], _Opener], ...] = (
    (lambda data: isinstance(data, (str, os.PathLike)), _open_path),
    (lambda data: isinstance(data, np.ndarray), _open_array),
    (lambda data: isinstance(data, Mapping), _open_mapping),
    (_is_opened, lambda columns, missing, expected: columns),
    (_is_frame, _open_frame),
)
