"""Fill the holes of a frame, column by column, with the functions of the frame's own library."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from juror.answers.holes import Fill
from juror.readers.arrow import from_arrow, to_decimals

if TYPE_CHECKING:
    import polars as pl

is_frame = nw.dependencies.is_into_dataframe


def fill_frame(data: Any, fills: Sequence[Fill]) -> Any:
    """Return a frame of the same kind with the holes of some columns filled."""
    frame = nw.from_native(data, eager_only=True)
    return frame.with_columns(*(_fill_series(frame[fill.name], fill).alias(fill.name) for fill in fills)).to_native()


def _fill_series(series: nw.Series[Any], fill: Fill) -> nw.Series[Any]:
    """Fill a column and read it back, to detect a column type that silently changes a label."""
    native = series.to_native()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            filled = nw.from_native(_FILLERS[series.implementation](native, fill), series_only=True)
            read = fill.variable.encode(from_arrow(fill.name, filled[fill.rows].to_arrow()), "missing")
    except (pa.ArrowException, ArithmeticError, TypeError, ValueError, Warning, *_polars_errors()):
        raise fill.no_room(series.dtype) from None
    # a column of shorter floats rounds numbers
    if not fill.is_number and not np.array_equal(read, fill.codes):
        raise fill.no_room(series.dtype)
    return filled


def _fill_pandas(series: Any, fill: Fill) -> Any:
    if fill.is_rebuilt and (fill.is_empty_column or series.dtype != object):
        values, positions = fill.whole_column()
        made = type(series)(values, dtype=None if fill.is_empty_column else series.dtype)
        return made.iloc[positions].set_axis(series.index).rename(series.name)
    if series.dtype == "category" and not series.cat.ordered:
        series = series.cat.add_categories([label for label in fill.labels if label not in series.cat.categories])
    filled, type_ = series.copy(), getattr(series.dtype, "pyarrow_dtype", None)
    if series.dtype == object and fill.column.form == "number":
        # objects may be decimals, to which no float can be added
        type_ = pa.array(series, from_pandas=True).type
    labels = _digits_of(fill, type_) if type_ is not None and pa.types.is_decimal(type_) else fill.labels
    filled.iloc[fill.rows] = type(series)(labels, dtype=series.dtype).array.take(fill.positions)
    return filled


def _digits_of(fill: Fill, type_: pa.DataType) -> list[Any]:
    """Return labels as decimals with the digits of a type: libraries take over those of floats that mean nothing."""
    return list(to_decimals(fill.labels, type_).to_pylist())


def _fill_polars(series: pl.Series, fill: Fill) -> pl.Series:
    import polars as pl

    if fill.is_rebuilt:
        values, positions = fill.whole_column()
        return pl.Series(series.name, values, None if fill.is_empty_column else series.dtype).gather(positions)
    if series.dtype == pl.Categorical:
        # Older polars warns when it joins categories with separate numberings.
        cells = np.array(series.to_list(), dtype=object)
        cells[fill.rows] = np.array(fill.labels, dtype=object)[fill.positions]
        return pl.Series(series.name, cells.tolist(), series.dtype)
    dtype = series.dtype
    labels = _digits_of(fill, pa.decimal128(38, dtype.scale)) if isinstance(dtype, pl.Decimal) else fill.labels
    return series.clone().append(pl.Series(series.name, labels, dtype)).gather(_places_after(fill))


def _fill_pyarrow(array: pa.ChunkedArray, fill: Fill) -> pa.ChunkedArray:
    if fill.is_rebuilt:
        values, positions = fill.whole_column()
        made = pa.array(values, None if fill.is_empty_column else array.type)
        return pa.chunked_array([made.take(pa.array(positions))])
    if pa.types.is_dictionary(array.type):
        return _fill_dictionary(array.unify_dictionaries().combine_chunks(), fill)
    labels = _digits_of(fill, array.type) if pa.types.is_decimal(array.type) else fill.labels
    longer = pa.concat_arrays([*array.chunks, pa.array(labels, array.type)])
    return pa.chunked_array([longer.take(pa.array(_places_after(fill)))])


def _places_after(fill: Fill) -> np.ndarray:
    """Return, for each row, the position of its cell in the column with the labels appended."""
    n_rows = len(fill.column.index)
    places = np.arange(n_rows)
    places[fill.rows] = n_rows + fill.positions
    return places


def _fill_dictionary(array: pa.DictionaryArray, fill: Fill) -> pa.ChunkedArray:
    """Fill an Arrow column of categories; labels that are not yet categories are added."""
    known = array.dictionary.to_pylist()
    labels = [*known, *(label for label in fill.labels if label not in known)]
    indices = np.asarray(array.indices.fill_null(0)).astype(np.int64)
    indices[fill.rows] = np.array([labels.index(label) for label in fill.labels])[fill.positions]
    still_missing = np.isin(np.arange(len(indices)), fill.left)
    dictionary = pa.array(labels, array.type.value_type)
    filled = pa.DictionaryArray.from_arrays(
        pa.array(indices, array.type.index_type, mask=still_missing), dictionary, ordered=array.type.ordered
    )
    return pa.chunked_array([filled])


_FILLERS: dict[nw.Implementation, Callable[[Any, Fill], Any]] = {
    nw.Implementation.PANDAS: _fill_pandas,
    nw.Implementation.MODIN: _fill_pandas,
    nw.Implementation.POLARS: _fill_polars,
    nw.Implementation.PYARROW: _fill_pyarrow,
}


def _polars_errors() -> tuple[type[Exception], ...]:
    """Return the error types of polars if it is imported; it is an optional dependency."""
    polars = sys.modules.get("polars")
    return (polars.exceptions.PolarsError,) if polars is not None else ()
