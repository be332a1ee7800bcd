"""One schema for many files: the same columns in each, of types that go together."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import pyarrow as pa

from juror.errors import DataError
from juror.readers.arrow import is_text
from juror.readers.columns import check_column_names

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")


def without_row_numbers(schema: pa.Schema) -> pa.Schema:
    """Leave out the row numbers of a pandas frame whose index had no name: no column of anybody's table."""
    return pa.schema([field for field in schema if not _UNNAMED_INDEX.fullmatch(field.name)], schema.metadata)


def check_names(names_of: Mapping[str, Sequence[str]]) -> None:
    """Refuse names that cannot be used, and files that differ in them, given the names in each file."""
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

    Numbers go with numbers of other widths, text with categories, and a column of nulls with all. A column is a
    category where it is one in all files.
    """
    check_names({path: schema.names for path, schema in schemas.items()})
    first, *others = schemas.values()
    # what a library notes about its types holds for files that all have them
    if all(schema.equals(first, check_metadata=True) for schema in others):
        return first
    fields = []
    for name in first.names:
        types = {path: schema.field(name).type for path, schema in schemas.items()}
        known = {path: type_ for path, type_ in types.items() if not pa.types.is_null(type_)}
        _check_alike(name, known)
        fields.append(pa.field(name, reduce(_join, known.values()) if known else pa.null()))
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
    """Say what the values of a type are."""
    if pa.types.is_dictionary(type_):
        return _kind_of(type_.value_type)
    return next((kind for applies, kind in _KINDS if applies(type_)), f"values of type {type_}")


def is_number(type_: pa.DataType) -> bool:
    """Tell whether a type, not that of a category, is one of numbers."""
    return not pa.types.is_dictionary(type_) and _kind_of(type_) == "numbers"


def _join(one: pa.DataType, other: pa.DataType) -> pa.DataType:
    """Return a type that holds what two types of one kind hold."""
    if one == other:
        return one
    if pa.types.is_dictionary(one) and pa.types.is_dictionary(other):
        return pa.dictionary(pa.int32(), _join(one.value_type, other.value_type), one.ordered and other.ordered)
    if pa.types.is_dictionary(one) or pa.types.is_dictionary(other):
        return _join(*(type_.value_type if pa.types.is_dictionary(type_) else type_ for type_ in (one, other)))
    if _kind_of(one) == "text":
        return pa.string()
    if pa.types.is_integer(one) and pa.types.is_integer(other):
        return pa.uint64() if _is_unsigned(one) and _is_unsigned(other) else pa.int64()
    return pa.float64()


def _is_unsigned(type_: pa.DataType) -> bool:
    return pa.types.is_unsigned_integer(type_)


_KINDS: tuple[tuple[Callable[[pa.DataType], bool], str], ...] = (
    (pa.types.is_boolean, "booleans"),
    (pa.types.is_integer, "numbers"),
    (pa.types.is_floating, "numbers"),
    (pa.types.is_decimal, "numbers"),
    (is_text, "text"),
    (pa.types.is_temporal, "dates or times"),
)
