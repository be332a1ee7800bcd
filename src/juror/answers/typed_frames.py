"""Give drawn columns the types that they had in the frame that was fitted.

A type that cannot hold what was drawn, such as whole numbers beside a missing cell, is not used.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.domain.variable import Variable
from juror.readers.frame_types import FrameType

if TYPE_CHECKING:
    import pyarrow as pa

# How pyarrow writes the type of a column of categories: the types of the categories and of the codes
_DICTIONARY = re.compile(r"dictionary<values=([^,]+), indices=(\w+), ordered=[01]>")
# What pyarrow and polars write for decimals: how many digits, and how many of them after the point
_DECIMALS = re.compile(r"decimal(32|64|128|256)\((\d+), (-?\d+)\)")
_POLARS_DECIMALS = re.compile(r"Decimal\(precision=(\d+), scale=(\d+)\)")
# What pandas appends to the names of Arrow's types
_OF_ARROW = "[pyarrow]"
# Drawn numbers have few decimals, so shorter floats round them by less than this, relatively.
_ROUNDING = 1e-6


def library_of(frame: FrameType | None) -> str:
    """Return the library of the frames to draw: that of the frame that was fitted, if it is installed, else pandas."""
    if frame is None or importlib.util.find_spec(frame.library) is None:
        return "pandas"
    return frame.library


def with_types(drawn: Any, variables: Sequence[Variable], frame: FrameType | None) -> Any:
    """Return drawn rows with the types of the frame that was fitted, if both are of one library."""
    import narwhals as nw  # slow to import, and few answers need it

    wrapped = nw.from_native(drawn, eager_only=True)
    if frame is None or frame.library != wrapped.implementation.value:
        return drawn
    columns = []
    for variable in variables:
        native, dtype = wrapped[variable.name].to_native(), frame.dtypes.get(variable.name, "")
        labels = None if variable.edges is not None else variable.present_labels
        cast = _CASTS[frame.library](native, dtype, labels, variable.is_ordered)
        columns.append(nw.from_native(cast, series_only=True).alias(variable.name))
    return wrapped.with_columns(*columns).to_native()


def _as_pandas(series: Any, dtype: str, labels: Sequence[Any] | None, is_ordered: bool) -> Any:
    import pandas as pd

    if dtype == "category":
        return series if labels is None else series.astype(pd.CategoricalDtype(list(labels), is_ordered))
    if dtype.endswith(_OF_ARROW):
        import pyarrow as pa

        array = pa.chunked_array([pa.Array.from_pandas(series)])
        array = _as_pyarrow(array, dtype.removesuffix(_OF_ARROW), labels, is_ordered)
        if f"{array.type}{_OF_ARROW}" == dtype:
            return pd.Series(pd.arrays.ArrowExtensionArray(array), index=series.index, name=series.name)
    if dtype == "decimal":
        cells = [None if pd.isna(cell) else Decimal(str(cell)) for cell in series.tolist()]
        return pd.Series(cells, dtype=object, index=series.index, name=series.name)
    try:
        cast = series.astype(dtype or series.dtype)
    except (ArithmeticError, NotImplementedError, TypeError, ValueError):
        return series
    seen = ~series.isna()
    before, after = series[seen], cast[seen]
    if pd.api.types.is_numeric_dtype(before) and pd.api.types.is_numeric_dtype(after):
        # in a cast of pandas, whole numbers may overflow
        is_same = _are_near(after.to_numpy(np.float64), before.to_numpy(np.float64))
    else:
        is_same = bool(before.tolist() == after.tolist())
    return cast if is_same and cast.isna().equals(~seen) else series


def _as_polars(series: Any, dtype: str, labels: Sequence[Any] | None, is_ordered: bool) -> Any:
    import polars as pl

    known = getattr(pl, dtype, None)
    if dtype.startswith("Enum") and labels is not None:
        known = pl.Enum([str(label) for label in labels])
    if digits := _POLARS_DECIMALS.fullmatch(dtype):
        # polars writes the digits of floats that mean nothing
        decimals = _as_pyarrow(series.to_arrow(), f"decimal128({digits[1]}, {digits[2]})", labels, is_ordered)
        return pl.Series(series.name, decimals)
    is_type = isinstance(known, pl.DataType) or (isinstance(known, type) and issubclass(known, pl.DataType))
    try:
        cast = series.cast(known) if is_type else series
        # a cast of polars may drop fractions and times of day: then the column keeps its type
        return cast if cast.dtype.is_float() or cast.cast(series.dtype).equals(series) else series
    except pl.exceptions.PolarsError:
        return series


def _as_pyarrow(array: Any, dtype: str, labels: Sequence[Any] | None, is_ordered: bool) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    dictionary = _DICTIONARY.fullmatch(dtype)
    try:
        if dictionary is not None and labels is not None:
            of_values, of_places = map(pa.type_for_alias, dictionary.groups())
            categories = pa.array(labels).cast(of_values)
            places = [pc.index_in(chunk.cast(of_values), categories).cast(of_places) for chunk in array.chunks]
            made = [pa.DictionaryArray.from_arrays(each, categories, ordered=is_ordered) for each in places]
            return pa.chunked_array(made, pa.dictionary(of_places, of_values, is_ordered))
        if digits := _DECIMALS.fullmatch(dtype):
            return _as_decimals(array, getattr(pa, f"decimal{digits[1]}")(int(digits[2]), int(digits[3])))
        return array.cast(pa.type_for_alias(dtype))
    except (pa.ArrowException, ValueError):
        return array


def _as_decimals(array: pa.ChunkedArray, type_: pa.DataType) -> pa.ChunkedArray:
    """Return numbers as decimals of a type; the array as it is if they need more digits."""
    import pyarrow as pa

    from juror.readers.arrow import to_decimals  # slow to import

    decimals = to_decimals(array.to_pylist(), type_)
    known = decimals.drop_null().cast("string").cast("float64").to_numpy()
    is_same = _are_near(known, array.drop_null().to_numpy())
    return pa.chunked_array([decimals]) if is_same else array


def _are_near(cast: Any, cells: Any) -> bool:
    return bool(np.allclose(cast, cells, rtol=_ROUNDING, atol=0))


_CASTS: dict[str, Callable[[Any, str, Sequence[Any] | None, bool], Any]] = {
    "pandas": _as_pandas,
    "polars": _as_polars,
    "pyarrow": _as_pyarrow,
}
