"""Columns of frames and mappings, which are converted to Arrow first."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import narwhals as nw
import pyarrow as pa

from juror.errors import DataError
from juror.readers.arrow import from_arrow
from juror.readers.columns import Column, check_column_names
from juror.readers.exact_numbers import plain
from juror.readers.scans import Choose

# What pyarrow raises for values it has no type for
_UNREADABLE = (pa.ArrowException, TypeError, ValueError, OverflowError)


def column_names(frame: Any) -> list[Any]:
    """Return the names of a frame's columns, of any kind of frame."""
    return list(frame.column_names if hasattr(frame, "column_names") else frame.columns)


def open_frame(frame: Any, missing: Collection[object], choose: Choose | None = None) -> list[Column]:
    """Open a pandas, polars or pyarrow frame, or any other that narwhals takes; all columns or those chosen."""
    names = column_names(frame)
    check_column_names(names)
    if choose is not None:
        names = list(choose(names))
    if isinstance(frame, pa.Table):
        # not converted, as every chunk may have its own categories
        return [from_arrow(name, frame.column(name), missing) for name in names]
    wrapped = nw.from_native(frame, eager_only=True)
    return [from_arrow(name, _frame_column(wrapped, name), missing) for name in names]


def _frame_column(frame: nw.DataFrame[Any], name: str) -> pa.Array:
    native = frame[name].to_native()
    try:
        # pandas.get_dummies(sparse=True) makes columns that Arrow does not take
        return pa.array(native.sparse.to_dense()) if hasattr(native, "sparse") else frame[name].to_arrow()
    except _UNREADABLE as error:
        raise _unreadable(name, frame[name].to_list(), error) from None


def open_mapping(mapping: Mapping[str, Any], missing: Collection[object], choose: Choose | None) -> list[Column]:
    """Open a dict of columns, or of single values that are one row; all columns or those chosen."""
    check_column_names(list(mapping))
    if is_one_row(mapping):
        mapping = {name: [value] for name, value in mapping.items()}
    names = list(mapping) if choose is None else choose(list(mapping))
    return [read_column(name, mapping[name], missing) for name in names]


def is_one_row(mapping: Mapping[str, Any]) -> bool:
    """Tell whether a dict holds single values, which are one row."""
    return bool(mapping) and not any(_is_column(values) for values in mapping.values())


def read_column(name: str, values: Any, missing: Collection[object]) -> Column:
    """Factorise a sequence of values: a list, an array or a series."""
    return from_arrow(name, _as_arrow(name, values), missing)


def _as_arrow(name: str, values: Any) -> pa.Array:
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
    """Return the name of a value's type in Python, whichever library it comes from."""
    return type(plain(value)).__name__
