"""The types of the columns of CSV files, decided by all rows of all files.

They are what pyarrow would infer for one table of all rows, without holding these in memory: the first of integers,
booleans, dates, numbers and text as which all cells can be read. But a column of numbers is text if it has an
identifier, which is not its number: 007, 0x10, or whole digits that no number of the column's type can represent.
"""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Mapping, Sequence
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from juror.errors import DataWarning, warn
from juror.readers.csv_dialects import BLOCK_BYTES, Dialect
from juror.readers.csv_quotes import check_closed
from juror.readers.paths import ending_of, not_text, reading

# A file of up to this size is parsed as one block to find its types
SMALL_FILE = 1 << 25
# A usual compression factor of text
_COMPRESSED = 8
_LEADING_ZERO = r"^\s*[-+]?0[0-9xX]"
# Floats represent all whole numbers of fifteen digits
_LONG = r"^\s*[-+]?[0-9]{16,}"
# The time of day, and a zone that is not UTC
_OFFSET = r"[ T]\d\d[^+-]*[+-](0[1-9]|[1-9]\d|00:?(0[1-9]|[1-5]\d))"
# In the order in which pyarrow tries them
_ORDER = (
    pa.null(),
    pa.int64(),
    pa.bool_(),
    pa.date32(),
    pa.time32("s"),
    pa.timestamp("s"),
    pa.timestamp("s", "UTC"),
    pa.timestamp("ns"),
    pa.timestamp("ns", "UTC"),
    pa.float64(),
)


def settle_types(
    files: Mapping[str, Dialect],
    text: Collection[str] = (),
    without: Collection[str] = (),
    small_file: int = SMALL_FILE,
    block_bytes: int = BLOCK_BYTES,
) -> pa.Schema:
    """Return the columns of CSV files and their types.

    pyarrow infers types from the first block of the first file, or from all of it if it is small. A column that is
    text there is text. One pass checks whether all cells of the other columns have their types. If some do not, a
    second pass tries all types on all cells. A last pass looks for identifiers among the numbers, and for a quote that
    is not closed. The columns in ``text`` are text whatever they look like, and those in ``without`` are left out. A
    file of up to ``small_file`` bytes is parsed as one block, a larger one in blocks of ``block_bytes``.
    """
    (first, dialect), *_ = files.items()
    if dialect.content is not None:
        size = len(dialect.content)
    else:
        size = os.path.getsize(first) * (1 if ending_of(first) in (".csv", ".tsv") else _COMPRESSED)
    first_bytes = small_file if size < small_file else block_bytes
    known = {name: pa.string() for name in text}
    with reading(first, dialect.encoding), dialect.open(first, first_bytes, known) as reader:
        schema = pa.schema([field for field in reader.schema if field.name not in without])
        names = schema.names
        is_all = len(files) == 1 and not _has_more(reader)
    for field in schema:
        if pa.types.is_binary(field.type):
            raise not_text(f"Column {field.name!r} of {first!r}", dialect.encoding)
    types = {field.name: field.type for field in schema if not pa.types.is_string(field.type)}
    if types and not is_all and not _hold(files, types, block_bytes):
        types = _try_all(files, list(types), block_bytes)
    identifiers, offsets = _look_into_cells(files, types, names[-1], block_bytes)
    for name in identifiers:
        del types[name]
    for name, cell in offsets.items():
        _warn_of_offset(name, cell)
    return pa.schema([(name, types.get(name, pa.string())) for name in names])


def _has_more(reader: csv.CSVStreamingReader) -> bool:
    """Tell whether a file has more than its first block."""
    next(reader, None)
    try:
        return next(reader, None) is not None
    except pa.ArrowInvalid as error:
        if not _is_conversion(error):
            raise
        return True


def _is_conversion(error: pa.ArrowInvalid) -> bool:
    """Tell whether an error means that a cell does not have the type of its column."""
    return "conversion error" in str(error)


def _hold(files: Mapping[str, Dialect], types: Mapping[str, pa.DataType], block_bytes: int) -> bool:
    """Tell whether all cells of some columns can be read as their types."""
    for path, dialect in files.items():
        with reading(path, dialect.encoding):
            try:
                for _ in dialect.open(path, block_bytes, types, list(types)):
                    pass
            except pa.ArrowInvalid as error:
                if not _is_conversion(error):
                    raise
                return False
    return True


def _try_all(files: Mapping[str, Dialect], names: Sequence[str], block_bytes: int) -> dict[str, pa.DataType]:
    """Return for each column the first type as which all cells can be read, or else text."""
    possible = {name: list(_ORDER) for name in names}
    for path, dialect in files.items():
        with reading(path, dialect.encoding):
            for batch in dialect.open(path, block_bytes, dict.fromkeys(names, pa.string()), names):
                for name in names:
                    cells = batch[name].drop_null().unique()
                    if len(cells) and possible[name]:
                        possible[name] = _types_of(cells, possible[name], dialect)
    return {name: types[0] if types else pa.string() for name, types in possible.items()}


def _look_into_cells(
    files: Mapping[str, Dialect], types: Mapping[str, pa.DataType], last: str, block_bytes: int
) -> tuple[Collection[str], Mapping[str, str]]:
    """Return the columns of numbers that have a cell which is not its number, and times with an offset from UTC.

    A file with an unclosed quote is refused. The last column shows whether a quote is open at the end of a file; in
    another column, cells would be absent.

    Returns
    -------
    collection of str
        The columns of numbers.
    mapping of str to str
        A cell of each column of times in which one has an offset.
    """
    numbers = {name for name, type_ in types.items() if pa.types.is_integer(type_) or pa.types.is_floating(type_)}
    zoned = {name for name, type_ in types.items() if pa.types.is_timestamp(type_) and type_.tz is not None}
    found: set[str] = set()
    offsets: dict[str, str] = {}
    for path, dialect in files.items():
        names = sorted({*numbers - found, *zoned - set(offsets), last})
        end = None
        with reading(path, dialect.encoding):
            for batch in dialect.open(path, block_bytes, dict.fromkeys(names, pa.string()), names):
                found |= {
                    name
                    for name in numbers - found
                    if _has_identifier(batch[name], pa.types.is_floating(types[name]), dialect.decimal)
                }
                for name in zoned - set(offsets):
                    cell = _with_offset(batch[name])
                    if cell is not None:
                        offsets[name] = cell
                end = batch[last][-1].as_py() if batch.num_rows else end
        check_closed(path, dialect, end)
    return found, offsets


def _with_offset(cells: pa.Array) -> str | None:
    """Return the first time whose zone is another than UTC."""
    found = cells.filter(pc.match_substring_regex(cells, _OFFSET))
    return found[0].as_py() if len(found) else None


def _warn_of_offset(name: str, cell: str) -> None:
    warn(
        DataWarning(
            f"Column {name!r} has times with an offset, such as {cell!r}. They become times in UTC, as labels and in "
            "answers. Write an offset in the times of questions too: without one they are read as UTC."
        )
    )


def _has_identifier(cells: pa.Array, are_floats: bool, decimal: str) -> bool:
    """Tell whether a cell has leading zeros, is hexadecimal, or is a large number that is not a float."""
    if pc.any(pc.match_substring_regex(cells, _LEADING_ZERO)).as_py():
        return True
    if not are_floats:
        return False
    long = cells.filter(pc.match_substring_regex(cells, _LONG)).unique().to_pylist()
    return any(Decimal(cell.replace(decimal, ".")) != Decimal(float(cell.replace(decimal, "."))) for cell in long)


def _types_of(cells: pa.Array, types: Sequence[pa.DataType], dialect: Dialect) -> list[pa.DataType]:
    """Return the types as which cells can be read. The CSV reader decides, as it knows blanks and decimal marks."""
    stream = io.BytesIO()
    csv.write_csv(pa.table({"cell": cells}), stream)
    return [type_ for type_ in types if _converts(stream.getvalue(), type_, dialect)]


def _converts(content: bytes, type_: pa.DataType, dialect: Dialect) -> bool:
    try:
        csv.read_csv(
            io.BytesIO(content),
            csv.ReadOptions(use_threads=False, block_size=len(content) + 1),
            csv.ParseOptions(newlines_in_values=True),
            dialect.conversion({"cell": type_}),
        )
    except pa.ArrowInvalid:
        return False
    return True
