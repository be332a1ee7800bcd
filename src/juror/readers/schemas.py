"""One schema for many files: the columns in the files, and those in the names of their folders, ``key=value``."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce

import pyarrow as pa

from juror.errors import DataError
from juror.readers.arrow import is_date, is_text
from juror.readers.calendars import Calendar, finer
from juror.readers.columns import check_column_names
from juror.readers.paths import Found

# A number that is written like 007 is a label
_WHOLE_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,17})")
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")

Keys = tuple[tuple[str, pa.Scalar], ...]


def without_row_numbers(schema: pa.Schema) -> pa.Schema:
    """Leave out the unnamed index of a pandas frame, which is not a column of the table."""
    return pa.schema([field for field in schema if not _UNNAMED_INDEX.fullmatch(field.name)], schema.metadata)


def check_names(names_of: Mapping[str, Sequence[str]]) -> None:
    """Refuse invalid names, and files whose names differ, given the names in each file."""
    for names in names_of.values():
        check_column_names(names)
    first, *others = names_of
    for path in others:
        for here, there in ((path, first), (first, path)):
            found = set(names_of[here])
            for name in names_of[there]:
                if name not in found:
                    raise DataError(
                        f"The file {here!r} has no column {name!r}, which {there!r} has. Give all files the same "
                        "columns, or name only those files that have them."
                    )


def join_schemas(schemas: Mapping[str, pa.Schema]) -> pa.Schema:
    """Return one schema for all files, given that of each.

    Numbers may differ in width, text may be joined with categories, and a column of nulls with any type. A column is
    a category only if it is one in all files.
    """
    check_names({path: schema.names for path, schema in schemas.items()})
    first, *others = schemas.values()
    # the notes of a library about its types hold only if all files have the same types
    if all(schema.equals(first, check_metadata=True) for schema in others):
        return first
    fields = []
    for name in first.names:
        types = {path: schema.field(name).type for path, schema in schemas.items()}
        known = {path: type_ for path, type_ in types.items() if not pa.types.is_null(type_)}
        _check_alike(name, known)
        fields.append(pa.field(name, _joined(set(known.values())) if known else pa.null()))
    return pa.schema(fields)


def _check_alike(name: str, types: Mapping[str, pa.DataType]) -> None:
    kinds = {path: _kind_of(type_) for path, type_ in types.items()}
    for path, kind in kinds.items():
        first = next(iter(kinds))
        if kind != kinds[first]:
            raise DataError(
                f"Column {name!r} holds {kinds[first]} ({types[first]}) in {first!r} and {kind} ({types[path]}) in "
                f"{path!r}. Write it alike in all files, or drop it."
            )


def _kind_of(type_: pa.DataType) -> str:
    """Return what the values of a type are, in words."""
    if pa.types.is_dictionary(type_):
        return _kind_of(type_.value_type)
    return next((kind for applies, kind in _KINDS if applies(type_)), f"values of type {type_}")


def is_number(type_: pa.DataType) -> bool:
    """Tell whether a type is one of numbers, or of dates, which are read as numbers; a category of numbers is not."""
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    return is_date(plain) or (_kind_of(type_) == "numbers" and type_ is plain)


def _joined(types: Collection[pa.DataType]) -> pa.DataType:
    """Return a type that holds the values of some types of one kind."""
    if len(types) == 1:
        return next(iter(types))
    plain = {type_.value_type if pa.types.is_dictionary(type_) else type_ for type_ in types}
    if all(map(pa.types.is_dictionary, types)):
        return pa.dictionary(pa.int32(), _joined(plain), all(type_.ordered for type_ in types))
    # pyarrow joins neither all types of text nor decimals with short floats without loss
    if any(map(is_text, plain)):
        return pa.string()
    if any(pa.types.is_floating(type_) or pa.types.is_decimal(type_) for type_ in plain):
        return pa.float64()
    if any(map(pa.types.is_date, plain)):
        return pa.date32()
    if any(map(pa.types.is_timestamp, plain)):
        zones = {type_.tz for type_ in plain}
        return pa.timestamp(reduce(finer, (type_.unit for type_ in plain)), zones.pop() if len(zones) == 1 else "UTC")
    one_each = [pa.schema([("values", type_)]) for type_ in plain]
    return pa.unify_schemas(one_each, promote_options="permissive").field("values").type


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "booleans"),
    (pa.types.is_integer, "numbers"),
    (pa.types.is_floating, "numbers"),
    (pa.types.is_decimal, "numbers"),
    (is_text, "text"),
    (pa.types.is_date, "dates"),
    (lambda type_: pa.types.is_timestamp(type_) and type_.tz is None, "times"),
    (pa.types.is_timestamp, "times with a time zone"),
    (pa.types.is_temporal, "durations or times of day"),
)


# pyarrow.dataset reads such folders, too, but takes 007 for the number 7, and is slow to import
def read_keys(
    files: Sequence[Found], names: Collection[str], text: Collection[str] = ()
) -> tuple[dict[str, Keys], list[pa.Field]]:
    """Return the values in the names of every file's folders, and the columns that these make.

    A key is an integer or a date where all its values are, text otherwise, and always text if ``text`` names it. Keys
    that are also ``names`` of columns in the files are ignored.

    >>> _, fields = read_keys([Found("a", (("year", "2024"),)), Found("b", (("year", "2025"),))], [])
    >>> fields
    [pyarrow.Field<year: int64>]
    """
    found = {file.path: {key: value for key, value in file.keys if key not in names} for file in files}
    first = files[0].path
    for path, values in found.items():
        odd = set(values) ^ set(found[first])
        if odd:
            here, there = (path, first) if set(found[first]) & odd else (first, path)
            raise DataError(
                f"The file {here!r} is in no folder named {min(odd)}=…, and {there!r} is. Give all files the same "
                "keys, or name only those files that have them."
            )
    fields = []
    for key in found[first]:
        written = [values[key] for values in found.values()]
        fields.append(pa.field(key, pa.string() if key in text else _type_of_keys(written)))
    keys = {
        path: tuple((field.name, pa.scalar(values[field.name], pa.string()).cast(field.type)) for field in fields)
        for path, values in found.items()
    }
    return keys, fields


def _type_of_keys(written: Sequence[str | None]) -> pa.DataType:
    values = [value for value in written if value is not None]
    if all(map(_WHOLE_NUMBER.fullmatch, values)):
        return pa.int64()
    # 2024-02-30 looks like a date
    are_days = all(_DAY.fullmatch(value) and Calendar("D").number(value) is not None for value in values)
    return pa.date32() if are_days else pa.string()
