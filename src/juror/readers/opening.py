"""Open the data that a user passes: arrays, dicts of columns, files, frames in memory or on a cluster, streams."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from juror.errors import DataError, ParameterError
from juror.readers.columns import Column, Floats, from_codes, read_markers
from juror.readers.described import Files, Query
from juror.readers.joining import read_whole
from juror.readers.scans import Choose, Scan, only_columns, scan_columns
from juror.readers.weights import read_weights

# The name of the column for weights that are passed beside a table; no other column can have it
_WEIGHTS = "\0weights"
_BLOCK_ROWS = 2**12
_PATHS = (str, os.PathLike)


@dataclass(frozen=True)
class Expected:
    """What is known about the columns before they are opened.

    Attributes
    ----------
    names : sequence of str, optional
        Names for the columns of an array, which has none of its own; ``x0, x1, …`` otherwise.
    floats : {"codes", "values"}, optional
        What an array of floats holds. By default its numbers decide: codes if all are whole. An array of integers
        always holds codes.
    numbers : collection of str
        Columns of intervals or fractions. In an array of floats they hold values, also if the others hold codes.
    unclear : collection of str
        Columns whose labels are numbers other than their codes. An array of floats that has them is refused.
    text : collection of str
        Columns of a CSV file whose labels are text, even if they look like numbers or booleans.
    choose : callable, optional
        Which columns to read, of those whose names it is given; the others may hold anything. By default all.
    """

    names: Sequence[str] | None = None
    floats: Floats | None = None
    numbers: Collection[str] = ()
    unclear: Collection[str] = ()
    text: Collection[str] = ()
    choose: Choose | None = None


def open_source(data: Any, missing: Collection[object] = ()) -> list[Column]:
    """Turn data into factorised columns of one length; arguments as in :func:`open_scan`."""
    return read_whole(open_scan(data, missing))


def open_scan(data: Any, missing: Collection[object] = (), expected: Expected | None = None) -> Scan:
    """Turn data into a table in parts: files and streams as they are read, all else as one part in memory.

    Parameters
    ----------
    data : frame, mapping, 2-D array or path
        A pandas, polars or pyarrow frame (anything narwhals takes), a dict of columns (or of single values: one
        row), a 2-D array of integer codes with −1 or NaN for missing, paths of files, streams, or frames of a cluster.
    missing : collection
        Markers that stand for a missing value, such as ``["?"]``.
    expected : Expected, optional
        What is known about the columns before they are opened.
    """
    markers = read_markers(missing)
    expected = expected or Expected()
    scan = _open(data, markers, expected)
    return scan if expected.choose is None else only_columns(scan, expected.choose(scan.names))


def _open(data: Any, markers: tuple[Any, ...], expected: Expected) -> Scan:
    if isinstance(data, Scan):
        return data
    if isinstance(data, np.ndarray):
        return _open_array(data, markers, expected)
    if _is_list_of(Column, data):
        return scan_columns(data)
    if isinstance(data, _PATHS) or _is_list_of(_PATHS, data):
        data = Files(data)
    if isinstance(data, (Files, Query)):
        return data.scan(markers, expected.text)
    return _open_other(data, markers, expected.choose)


def _open_other(data: Any, markers: tuple[Any, ...], choose: Choose | None) -> Scan:
    """Open dicts, frames and streams, whose readers are imported here: they take long, and codes do not need them."""
    import narwhals as nw

    from juror.readers.frame_types import FrameType
    from juror.readers.frames import column_names, open_frame, open_mapping

    if isinstance(data, Mapping):
        return scan_columns(open_mapping(data, markers, choose), all_names=list(data))
    # frames in memory come first, as they are more frequent than the others
    if nw.dependencies.is_into_dataframe(data):
        scan = scan_columns(open_frame(data, markers, choose), all_names=column_names(data))
        return replace(scan, frame=FrameType.of(data))

    from juror.readers.dask_frames import is_dask_frame, scan_dask_frame
    from juror.readers.spark_frames import is_spark_frame, scan_spark_frame
    from juror.readers.streams import is_stream, scan_stream

    if is_dask_frame(data):
        return scan_dask_frame(data, markers)
    if is_spark_frame(data):
        return scan_spark_frame(data, markers)
    if is_stream(data):
        return scan_stream(data, markers)
    raise DataError(
        f"Cannot read data of type {type(data).__name__}. Pass a pandas, polars or pyarrow frame, a dict of "
        "columns, a 2-D array of integer codes, the path of a .csv or .parquet file, or a stream of Arrow batches."
    )


def open_weighted(
    data: Any, missing: Collection[object], expected: Expected, sample_weight: Any
) -> tuple[Scan, str | None]:
    """Open a table with the weights of its rows; return it and the name of the column that holds them, if any.

    Weights that are not a column of the table become one, for which all rows must be in memory.
    """
    if isinstance(sample_weight, str) and expected.choose is not None:
        expected = replace(expected, choose=partial(_besides, expected.choose, sample_weight))
    if sample_weight is None or isinstance(sample_weight, str):
        scan = open_scan(data, missing, expected)
        if isinstance(sample_weight, str) and (sample_weight not in scan.names or len(scan.names) == 1):
            raise ParameterError("{sample_weight} names no column beside others: {name!r}.", name=sample_weight)
        return scan, sample_weight
    scan = open_scan(data, missing, expected)
    columns = read_whole(scan)
    weights = read_weights(sample_weight, len(columns[0].index))
    column = Column(_WEIGHTS, "number", weights, np.arange(len(weights), dtype=np.int32))
    return replace(scan_columns([*columns, column], scan.floats, scan.all_names), frame=scan.frame), _WEIGHTS


def _besides(choose: Choose, weight: str, names: Sequence[str]) -> Sequence[str]:
    """Choose columns, and that of the weights besides."""
    chosen = {*choose([name for name in names if name != weight]), weight}
    return [name for name in names if name in chosen]


def _open_array(array: np.ndarray, missing: Collection[object], expected: Expected) -> Scan:
    if array.ndim != 2:
        raise DataError(
            f"An array of data must have 2 dimensions, rows and variables. Got {array.ndim} instead. "
            "Use array.reshape(1, -1) for one row or array.reshape(-1, 1) for one variable."
        )
    names = expected.names or [f"x{n}" for n in range(array.shape[1])]
    if len(names) != array.shape[1]:
        raise DataError(f"The array has {array.shape[1]} columns where {len(names)} variables are expected.")
    array = _by_column(_without_mask(array) if isinstance(array, np.ma.MaskedArray) else np.asarray(array))
    floats = (expected.floats or _held(array)) if array.dtype.kind == "f" else None
    columns = []
    for name, cells in zip(names, array.T, strict=True):
        if array.dtype.kind in "iu" or (floats == "codes" and name not in expected.numbers):
            if floats is not None and name in expected.unclear:
                _check_clear(name, cells)
            columns.append(from_codes(name, cells, missing))
        else:
            from juror.readers.frames import read_column

            columns.append(read_column(name, cells, missing))
    return scan_columns(columns, floats)


def _without_mask(array: np.ma.MaskedArray[Any, Any]) -> np.ndarray:
    """Replace masked cells by NaN in arrays of numbers and by None in others."""
    numbers = array.dtype.kind in "iuf"
    cells = np.asarray(array.astype(float if numbers else object)).copy()
    cells[np.ma.getmaskarray(array)] = np.nan if numbers else None
    return cells


def _by_column(array: np.ndarray) -> np.ndarray:
    """Return an array whose columns are contiguous, as each is read several times."""
    if array.strides[0] == array.itemsize:
        return array
    copy = np.empty_like(array, order="F")
    # a block at a time, so that it stays in the processor's cache
    for start in range(0, len(array), _BLOCK_ROWS):
        copy[start : start + _BLOCK_ROWS] = array[start : start + _BLOCK_ROWS]
    return copy


def _held(array: np.ndarray) -> Floats:
    """Return what an array of floats holds, if no domain says it: codes if all are whole, with NaN for missing."""
    whole = np.isnan(array) | (np.isfinite(array) & (array == np.floor(array)))
    return "codes" if np.all(whole) else "values"


def _check_clear(name: str, cells: np.ndarray) -> None:
    """Refuse floats that may be codes or labels. Nothing is unclear about a column of missing cells only."""
    if not np.all(np.isnan(cells)):
        raise DataError(
            f"The array of floats may hold codes of {name!r} or its labels, which are other numbers. Pass codes as "
            "integers, −1 for missing, and values as a frame or a dict of columns."
        )


def _is_list_of(kinds: type | tuple[type, ...], data: Any) -> bool:
    return isinstance(data, (list, tuple)) and bool(data) and all(isinstance(item, kinds) for item in data)
