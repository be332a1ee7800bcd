"""Columns whose values stand in the names of folders, ``key=value``."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import pyarrow as pa

from juror.errors import DataError
from juror.readers.paths import Found

# What Hive, Spark and pyarrow name the folder of rows without a value
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# A number that is written like 007 is a label
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})")

Keys = tuple[tuple[str, pa.Scalar], ...]


def read_keys(
    files: Sequence[Found], names: Collection[str], text: Collection[str] = ()
) -> tuple[dict[str, Keys], list[pa.Field]]:
    """Return the values of every file, and the columns they make.

    A key is an integer where all its values are, text otherwise. Keys that are columns of the files are left to these.

    Parameters
    ----------
    files : sequence of Found
        The files and what the names of their folders say.
    names : collection of str
        The columns that stand in the files.
    text : collection of str
        Keys to read as text whatever they look like.

    >>> _, fields = read_keys([Found("a", (("year", "2024"),)), Found("b", (("year", "2025"),))], [])
    >>> fields
    [pyarrow.Field<year: int64>]
    """
    pairs = {found.path: {key: value for key, value in found.keys if key not in names} for found in files}
    first = files[0].path
    for path, values in pairs.items():
        odd = set(values) ^ set(pairs[first])
        if odd:
            here, there = (path, first) if set(pairs[first]) & odd else (first, path)
            raise DataError(
                f"The file {here!r} is in no folder named {min(odd)}=…, and {there!r} is. Give all files the same "
                "keys, or name only those files that have them."
            )
    types = {key: _type_of([values[key] for values in pairs.values()], key in text) for key in pairs[first]}
    keys = {
        path: tuple((key, pa.scalar(_value(values[key], type_), type_)) for key, type_ in types.items())
        for path, values in pairs.items()
    }
    return keys, [pa.field(key, type_) for key, type_ in types.items()]


def _type_of(values: Sequence[str], is_text: bool) -> pa.DataType:
    whole = all(value == _NO_VALUE or _WHOLE_NUMBER.fullmatch(value) for value in values)
    return pa.int64() if whole and not is_text else pa.string()


def _value(written: str, type_: pa.DataType) -> int | str | None:
    if written == _NO_VALUE:
        return None
    return int(written) if pa.types.is_integer(type_) else written
