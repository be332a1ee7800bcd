"""One column of a source: its distinct values, and for every row which of them it holds.

Missing is decided here and nowhere else: nulls, NaN and the user's markers get the index −1.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from juror.errors import DataError, ParameterError

MISSING = -1
# Codes count labels, and no variable has two thousand million of them
_MOST_CODES = 2**31

Form = Literal["text", "boolean", "number", "category", "code"]


@dataclass(frozen=True)
class Column:
    """A named column, factorised.

    Attributes
    ----------
    name : str
        The column's name.
    form : {"text", "boolean", "number", "category", "code"}
        What the values are. A ``code`` is already a position among a variable's labels.
    values : list or numpy.ndarray, (n_values,)
        The distinct values; sorted when they are numbers, in declared order when they are categories.
    index : numpy.ndarray, (n_rows,)
        For every row the position of its value in ``values``, −1 where it is missing.
    ordered : bool
        Whether the categories were declared as ordered.
    """

    name: str
    form: Form
    values: Any
    index: np.ndarray
    ordered: bool = False

    def first_row_of(self, value_position: int) -> int:
        """Return the first row that holds the value at a position."""
        return int(np.argmax(self.index == value_position))


def read_markers(missing: Any) -> tuple[Any, ...]:
    """Return the user's markers as plain Python values."""
    if isinstance(missing, (str, bytes)):
        raise ParameterError(
            f"missing must be a list of markers. Got the text {missing!r}; write missing=[{missing!r}]."
        )
    if not isinstance(missing, (Collection, np.ndarray)):
        raise ParameterError(f"missing must be a list of markers, like ['?']. Got {missing!r} instead.")
    plain = tuple(marker.item() if isinstance(marker, np.generic) else marker for marker in missing)
    for marker in plain:
        if not isinstance(marker, (str, int, float, bool)) or marker != marker:
            raise ParameterError(
                f"A marker is text, a number or a boolean. Got {marker!r}; null and NaN are missing anyway."
            )
    return plain


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


def from_codes(name: str, codes: np.ndarray, missing: Collection[object] = ()) -> Column:
    """Take a vector of integer codes, −1 where missing, as it is."""
    codes = np.where(_is_marked(codes, missing), MISSING, codes)
    wrong = np.flatnonzero((codes < MISSING) | (codes >= _MOST_CODES))
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"Column {name!r} holds the code {int(codes[row])} in row {row}; codes must be 0, 1, 2, … with −1 "
            "for missing. Pass a frame or a dict of columns if these are values and not codes."
        )
    codes = codes.astype(np.int64)
    return Column(name, "code", range(int(codes.max(initial=MISSING)) + 1), codes)


def _read_number(name: str, array: pa.Array, missing: Collection[object]) -> Column:
    known = np.asarray(pc.is_valid(array))
    # null slots hold whatever the producer left there, so they are overwritten before they are read
    numbers = np.asarray(pc.fill_null(array, 0))
    if pa.types.is_floating(array.type):
        numbers = numbers.astype(np.float64, copy=False)
        known &= ~np.isnan(numbers)
    known &= ~_is_marked(numbers, missing)
    values, positions = np.unique(numbers[known], return_inverse=True)
    index = np.full(len(numbers), MISSING, dtype=np.int64)
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
        encoded = array.dictionary_encode()
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
    return Column(name, "text", [], np.full(len(array), MISSING, dtype=np.int64))


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
    kept = [i for i, value in enumerate(values) if not _is_missing(value, missing)]
    # one slot more than there are values: the last one catches null indices
    renumber = np.full(len(values) + 1, MISSING, dtype=np.int64)
    renumber[kept] = np.arange(len(kept))
    positions = np.asarray(pc.fill_null(encoded.indices.cast(pa.int64()), len(values)))
    return Column(name, form, [values[i] for i in kept], renumber[positions], ordered)


def _is_missing(value: object, missing: Collection[object]) -> bool:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return True
    return any(as_text(value) == as_text(marker) for marker in missing)


def _is_marked(numbers: np.ndarray, missing: Collection[object]) -> np.ndarray:
    """Return which numbers equal a marker; like labels, markers are compared as they are written."""
    marked = np.zeros(len(numbers), dtype=bool)
    for marker in missing:
        number = _number_of(marker)
        if number is not None:
            marked |= numbers == number
    return marked


def _number_of(marker: object) -> int | float | None:
    if isinstance(marker, bool):
        return None
    for convert in (int, float):
        try:
            # 9 and "9" are the same marker, and whole numbers stay whole: floats cannot tell the largest apart
            if as_text(convert(as_text(marker))) == as_text(marker):
                return convert(as_text(marker))
        except ValueError:
            continue
    return None


def as_text(label: object) -> str:
    """Write a label as people do: 4.0 as 4."""
    if isinstance(label, float) and np.isfinite(label) and label == int(label):
        return str(int(label))
    return str(label)


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
