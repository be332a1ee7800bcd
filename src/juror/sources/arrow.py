"""Columns of Arrow arrays, by way of which frames, lists and files are read."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from juror.errors import DataError
from juror.sources.columns import MISSING, Column, Form, is_marked, is_missing


def from_arrow(name: str, array: pa.Array, missing: Collection[object] = ()) -> Column:
    """Factorise an Arrow array.

    Parameters
    ----------
    name : str
        The column's name, for the column and for messages.
    array : pyarrow.Array or pyarrow.ChunkedArray, (n_rows,)
        The values.
    missing : collection
        Markers that stand for a missing value besides null and NaN.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    for applies, read in _READERS:
        if applies(array.type):
            return read(name, array, missing)
    raise DataError(
        f"Column {name!r} holds values of type {array.type}, which have no distribution over labels. "
        "Convert it to text, numbers or booleans, or drop it."
    )


def _to_numpy(array: pa.Array) -> np.ndarray:
    """Return numbers without nulls as an array of NumPy's; ``np.asarray`` would import pandas for it."""
    return np.from_dlpack(array)


def _is_known(array: pa.Array) -> np.ndarray:
    """Return which slots are not null; what null slots hold is whatever the producer left there, and never read."""
    return _to_numpy(pc.is_valid(array).cast(pa.uint8())).astype(bool)


def _read_number(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    known = _is_known(array)
    numbers = _to_numpy(array.drop_null())
    kept = ~is_marked(numbers, missing)
    if pa.types.is_floating(array.type):
        numbers = numbers.astype(np.float64, copy=False)
        kept &= ~np.isnan(numbers)
    known[known] = kept
    values, positions = np.unique(numbers[kept], return_inverse=True)
    index = np.full(len(known), MISSING, dtype=np.int32)
    index[known] = positions
    return Column(name, "number", values, index)


def _read_decimal(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    floats = array.cast(pa.float64())
    if not floats.cast(array.type, safe=False).equals(array):
        raise DataError(
            f"Column {name!r} holds decimals of more digits than a float can tell apart ({array.type}). Round them, or "
            "convert them to text."
        )
    return _read_number(name, floats, missing)


def _read_distinct(form: Form) -> Callable[[str, pa.Array, Collection[object]], Column]:
    def read(name: str, array: pa.Array, missing: Collection[object]) -> Column:
        encoded = array.dictionary_encode(null_encoding="encode")
        return _without_missing(name, form, encoded, missing)

    return read


def _read_category(name: str, array: pa.DictionaryArray, missing: Collection[object]) -> Column:
    inner = array.dictionary.type
    if not (pa.types.is_dictionary(inner) or any(applies(inner) for applies, _ in _READERS)):
        raise DataError(
            f"Column {name!r} holds categories of type {inner}, which juror cannot label. "
            "Convert them to text, numbers or booleans."
        )
    return _without_missing(name, "category", array, missing, ordered=bool(array.type.ordered))


def _read_nothing(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    return Column(name, "text", [], np.full(len(array), MISSING, dtype=np.int32))


def _refuse_date(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    raise DataError(
        f"Column {name!r} holds dates or times ({array.type}), which juror does not bin by itself. "
        "Convert it to a number (a year, a month, days since a start) or to text, or drop it."
    )


def _without_missing(
    name: str, form: Form, encoded: pa.DictionaryArray, missing: Collection[object], ordered: bool = False
) -> Column:
    """Map the dictionary's own nulls, NaN and markers to −1 and close the gaps they leave."""
    values = encoded.dictionary.to_pylist()
    kept = [i for i, value in enumerate(values) if not is_missing(value, missing)]
    renumber = np.full(len(values), MISSING, dtype=np.int32)
    renumber[kept] = np.arange(len(kept))
    indices = encoded.indices
    index = renumber[_to_numpy(indices.drop_null())]
    if indices.null_count:
        index, known = np.full(len(indices), MISSING, dtype=np.int32), index
        index[_is_known(indices)] = known
    return Column(name, form, [values[i] for i in kept], index, ordered)


_Reader = Callable[[str, Any, Collection[object]], Column]
_READERS: tuple[tuple[Callable[[pa.DataType], bool], _Reader], ...] = (
    (pa.types.is_null, _read_nothing),
    (pa.types.is_temporal, _refuse_date),
    (pa.types.is_boolean, _read_distinct("boolean")),
    (pa.types.is_integer, _read_number),
    # half floats have next to no kernels in Arrow
    (pa.types.is_float16, lambda name, array, missing: _read_number(name, array.cast(pa.float32()), missing)),
    (pa.types.is_floating, _read_number),
    (pa.types.is_decimal, _read_decimal),
    (pa.types.is_string, _read_distinct("text")),
    (pa.types.is_large_string, _read_distinct("text")),
    (
        pa.types.is_string_view,
        lambda name, array, missing: from_arrow(name, array.cast(pa.string()), missing),
    ),
    (pa.types.is_dictionary, _read_category),
)
