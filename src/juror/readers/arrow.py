"""Columns from Arrow arrays, into which frames, lists and files are converted first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import compress
from typing import Any

import numpy as np
import pyarrow as pa

from juror.errors import DataError
from juror.readers.calendars import Calendar
from juror.readers.columns import MISSING, Column, Form, is_marked, united, without_marked

# In longer dictionaries of text, only the values that occur in the rows are converted: readers let dictionaries grow
# from chunk to chunk, so that a column of identifiers has far more values than a chunk has rows
_LONG_DICTIONARY = 4096
# ``pa.scalar`` would import pandas
_MISSING = pa.Array.from_buffers(pa.int32(), 1, [None, pa.py_buffer(np.int32(MISSING).tobytes())])[0]
# What to do about types that only pandas has
_WAYS_OUT = {
    "pandas.interval": "Write them as text with .cat.rename_categories(str), which keeps their order, or pass the "
    "numbers: juror cuts them by itself.",
    "pandas.period": "Convert them to dates with .dt.to_timestamp(), or to text with .astype(str).",
}
# The number of rows to look at to see whether numbers repeat
_SAMPLE = 4096


def from_arrow(
    name: str, array: pa.Array, missing: Collection[object] = (), category: bool = True, first_row: int = 0
) -> Column:
    """Factorise an Arrow array, which may be chunked and may be the piece of a column that begins at ``first_row``.

    A dictionary is a category that the user declared if ``category``; otherwise it is only the way text is stored.
    """
    if isinstance(array, pa.ChunkedArray) and not pa.types.is_dictionary(array.type):
        array = array.chunk(0) if array.num_chunks == 1 else array.combine_chunks()
    readers = _READERS if category else ((pa.types.is_dictionary, _read_stored), *_READERS)
    for applies, read in readers:
        if applies(array.type):
            column = read(name, array, missing)
            return replace(column, first_row=first_row) if first_row else column
    raise DataError(
        f"Column {name!r} holds values of type {_type_in_words(array.type)}, which have no distribution over labels. "
        + _WAYS_OUT.get(_type_in_words(array.type), "Convert it to text, numbers or booleans, or drop it.")
    )


def _type_in_words(type_: pa.DataType) -> str:
    """Return the name of a type; those of pandas alone by their own name."""
    name = str(getattr(type_, "extension_name", ""))
    return name if name.startswith("pandas.") else str(type_)


def _to_numpy(array: pa.Array) -> np.ndarray:
    """Return numbers without nulls as an array of NumPy's; ``np.asarray`` would import pandas for it."""
    return np.from_dlpack(array)


def _to_arrow(positions: np.ndarray) -> pa.Array:
    """Return positions as an array of Arrow's; ``pa.array`` would import pandas for it."""
    return pa.Array.from_buffers(pa.int64(), len(positions), [None, pa.py_buffer(positions.astype(np.int64))])


def _is_valid(array: pa.Array) -> np.ndarray:
    """Return which slots are not null. Null slots may hold any value, which is never read."""
    return _to_numpy(array.is_valid().cast(pa.uint8())).astype(bool)


def _index_of(indices: pa.Array) -> np.ndarray:
    """Return the indices of a dictionary as int32, −1 for null. The values in null slots are never read.

    Nothing is copied if there are no nulls and the indices are int32, as in Parquet and CSV files.
    """
    indices = indices.cast(pa.int32())
    return _to_numpy(indices.fill_null(_MISSING) if indices.null_count else indices)


def _read_number(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    numbers, index = _distinct(array)
    kept = ~is_marked(numbers, missing)
    if pa.types.is_floating(array.type):
        # turn −0.0 into 0.0, which is the same number
        numbers = _as_written(numbers) + 0.0
        kept &= ~np.isnan(numbers)
    if not kept.all():
        index = _renumber(kept)[index]
    return Column(name, "number", numbers[kept], index)


def _as_written(floats: np.ndarray) -> np.ndarray:
    """Return floats in 64 bits, shorter ones with the digits that tell them apart: 0.1 in 32 bits is 0.10000000149….

    >>> _as_written(np.array([0.1, 16777216.0, np.inf], dtype=np.float32)).tolist()
    [0.1, 16777216.0, inf]
    """
    if floats.dtype == np.float64:
        return floats
    return np.asarray(pa.array(floats).cast(pa.string()).cast(pa.float64()).to_numpy(zero_copy_only=False))


def _distinct(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct numbers of an array, sorted, and the position of every row's number, −1 for null."""
    if len(array[:_SAMPLE].unique()) < _SAMPLE // 4:
        encoded = array.dictionary_encode()
        numbers, order = np.unique(_to_numpy(encoded.dictionary), return_inverse=True)
        return numbers, np.append(order, MISSING).astype(np.int32)[_index_of(encoded.indices)]
    # measurements: if most numbers occur once, sorting is faster than hashing
    numbers, positions = np.unique(_to_numpy(array.drop_null()), return_inverse=True)
    index = np.full(len(array), MISSING, dtype=np.int32)
    index[_is_valid(array)] = positions
    return numbers, index


def _renumber(kept: np.ndarray) -> np.ndarray:
    """Return the new position of every value, −1 if it is not kept, with that of −1 at the end, (n_values + 1,)."""
    positions = np.full(len(kept) + 1, MISSING, dtype=np.int32)
    positions[np.flatnonzero(kept)] = np.arange(kept.sum())
    return positions


def _read_decimal(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    """Read decimals as the floats that are written with the same digits, which Arrow's own floats are only nearly."""
    encoded = array.dictionary_encode()
    floats = encoded.dictionary.cast(pa.string()).cast(pa.float64())
    if not _are_same(floats, encoded.dictionary):
        raise DataError(
            f"Column {name!r} holds decimals of more digits than a float can tell apart ({array.type}). Round them, or "
            "convert them to text."
        )
    return _read_number(name, floats.take(encoded.indices), missing)


def _are_same(floats: pa.Array, decimals: pa.Array) -> bool:
    try:
        return bool(floats.cast(pa.string()).cast(decimals.type).equals(decimals))
    except pa.ArrowInvalid:
        return False


def to_decimals(numbers: Sequence[float | None], type_: pa.DataType) -> pa.Array:
    """Return numbers as decimals of an Arrow type, rounded to its digits.

    >>> to_decimals([0.07, 3, None], pa.decimal128(38, 18)).cast(pa.decimal128(9, 3)).to_pylist()
    [Decimal('0.070'), Decimal('3.000'), None]
    """
    digits = (None if number is None else str(round(number, type_.scale)) for number in numbers)
    return pa.array([None if text is None else Decimal(text) for text in digits], type_)


def _read_distinct(form: Form) -> Callable[[str, pa.Array, Collection[object]], Column]:
    def read(name: str, array: pa.Array, missing: Collection[object]) -> Column:
        return _without_missing(name, form, _coded(array.dictionary_encode()), missing)

    return read


def _read_category(name: str, array: pa.DictionaryArray | pa.ChunkedArray, missing: Collection[object]) -> Column:
    inner = array.type.value_type
    if not (pa.types.is_dictionary(inner) or any(applies(inner) for applies, _ in _READERS)):
        raise DataError(
            f"Column {name!r} holds categories of type {_type_in_words(inner)}, which juror cannot label. "
            + _WAYS_OUT.get(_type_in_words(inner), "Convert them to text, numbers or booleans.")
        )
    if pa.types.is_temporal(inner):
        return from_arrow(name, array.cast(inner), missing)
    ordered = bool(array.type.ordered)
    chunks = [array] if isinstance(array, pa.DictionaryArray) else array.chunks
    if len(chunks) < 2 or all(chunk.dictionary.equals(chunks[0].dictionary) for chunk in chunks):
        return _without_missing(name, "category", _coded(array), missing, ordered)
    return _join_categories([_without_missing(name, "category", _coded(c), missing, ordered) for c in chunks])


def _join_categories(pieces: Sequence[Column]) -> Column:
    """Join pieces whose categories differ; ordered ones must have one common order."""
    name, ordered = pieces[0].name, pieces[0].ordered
    values: Sequence[Any] = pieces[0].values
    for piece in pieces[1:]:
        values = united(name, values, piece.values, ordered)
    place = {value: n for n, value in enumerate(values)}
    index = [
        np.array([*(place[value] for value in piece.values), MISSING], dtype=np.int32)[piece.index] for piece in pieces
    ]
    return Column(name, "category", list(values), np.concatenate(index), ordered)


def _read_stored(name: str, array: pa.DictionaryArray | pa.ChunkedArray, missing: Collection[object]) -> Column:
    """Read a dictionary that is only a way to store values, not a declared category."""
    if not is_text(array.type.value_type):
        return from_arrow(name, array.cast(array.type.value_type), missing)
    values, index = _coded(array)
    if len(values) > _LONG_DICTIONARY:
        seen = np.zeros(len(values) + 1, dtype=bool)
        seen[index] = True
        values, index = values.take(_to_arrow(np.flatnonzero(seen[:-1]))), _renumber(seen[:-1])[index]
    return _without_missing(name, "text", (values, index), missing)


def _coded(array: pa.DictionaryArray | pa.ChunkedArray) -> tuple[pa.Array, np.ndarray]:
    """Return the values of a dictionary, which may include null, and the position of every row's value, −1 for null.

    The dictionaries of chunks may differ: positions are those in the joined dictionary.
    """
    chunks = [array] if isinstance(array, pa.DictionaryArray) else array.chunks or [array.combine_chunks()]
    if len(chunks) == 1:
        return chunks[0].dictionary, _index_of(chunks[0].indices)
    joined = pa.concat_arrays([chunk.dictionary for chunk in chunks]).dictionary_encode()
    positions = _index_of(joined.indices)
    starts = np.cumsum([0, *(len(chunk.dictionary) for chunk in chunks)])
    pieces = [
        np.append(positions[start:stop], np.int32(MISSING))[_index_of(chunk.indices)]
        for chunk, start, stop in zip(chunks, starts, starts[1:], strict=False)
    ]
    return joined.dictionary, np.concatenate(pieces)


def is_text(type_: pa.DataType) -> bool:
    """Tell whether a type is one of text."""
    return bool(pa.types.is_string(type_) or pa.types.is_large_string(type_) or pa.types.is_string_view(type_))


def _read_nothing(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    return Column(name, "text", [], np.full(len(array), MISSING, dtype=np.int32))


def is_date(type_: pa.DataType) -> bool:
    """Tell whether a type is one of dates or times that are read as numbers."""
    return bool(pa.types.is_date(type_) or pa.types.is_timestamp(type_))


def _read_date(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    """Read dates and times as whole numbers of their calendar."""
    calendar = Calendar.of_type(array.type)
    days = array.cast(pa.date32()).cast(pa.int32()) if calendar.unit == "D" else array
    markers = [number for number in map(calendar.number, missing) if number is not None]
    return replace(_read_number(name, days.cast(pa.int64()), markers), calendar=calendar)


def _refuse_duration(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    raise DataError(
        f"Column {name!r} holds durations or times of day ({array.type}), which juror does not read. Convert it to a "
        "number, such as hours, or to text, or drop it."
    )


def _without_missing(
    name: str, form: Form, coded: tuple[pa.Array, np.ndarray], missing: Collection[object], ordered: bool = False
) -> Column:
    """Remove null, NaN and markers from the values, and give their rows the index −1."""
    values, index = coded[0].to_pylist(), coded[1]
    kept = _is_known(values, missing)
    if not kept.all():
        values, index = list(compress(values, kept)), _renumber(kept)[index]
    return Column(name, form, values, index, ordered)


def _is_known(values: Sequence[Any], missing: Collection[object]) -> np.ndarray:
    """Return which values are neither null nor NaN nor a marker."""
    known = np.fromiter((value is not None and value == value for value in values), dtype=bool, count=len(values))
    if missing:
        known &= np.fromiter(without_marked(values, missing), dtype=bool, count=len(values))
    return known


_Reader = Callable[[str, Any, Collection[object]], Column]
_READERS: tuple[tuple[Callable[[pa.DataType], bool], _Reader], ...] = (
    (pa.types.is_null, _read_nothing),
    (is_date, _read_date),
    (pa.types.is_temporal, _refuse_duration),
    (pa.types.is_boolean, _read_distinct("boolean")),
    (pa.types.is_integer, _read_number),
    # Arrow has hardly any kernels for half floats
    (pa.types.is_float16, lambda name, array, missing: _read_number(name, array.cast(pa.float32()), missing)),
    (pa.types.is_floating, _read_number),
    (pa.types.is_decimal, _read_decimal),
    (pa.types.is_string_view, lambda name, array, missing: from_arrow(name, array.cast(pa.string()), missing)),
    (is_text, _read_distinct("text")),
    (pa.types.is_dictionary, _read_category),
)
