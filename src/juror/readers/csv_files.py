"""CSV files, read block by block. A column has one type in all files."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from juror.errors import DataWarning, warn
from juror.readers.columns import check_column_names
from juror.readers.csv_dialects import BLOCK_BYTES, Dialect, Written, find_dialect
from juror.readers.csv_types import settle_types
from juror.readers.file_parts import SMALL_BYTES, FilePart, Opened
from juror.readers.schemas import check_names

_ROW_NUMBERS = (
    "The first column has no name and is left out: pandas and R write row numbers or row names like that. "
    "Give it a name to keep it."
)
_STORED_TEXT = pa.dictionary(pa.int32(), pa.string())


@dataclass(frozen=True)
class CsvPart(FilePart):
    """All rows of a CSV file. It is not divided: a line break may be part of a quoted cell that began earlier."""

    dialect: Dialect = field(kw_only=True)

    @property
    def encoding(self) -> str | None:
        """Return the encoding of the file's text."""
        return self.dialect.encoding

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, text as dictionaries."""
        types = dict(zip(self.layout.names, self.layout.types, strict=True))
        stored = {name: _STORED_TEXT if pa.types.is_string(types[name]) else types[name] for name in names}
        yield from self.dialect.open(self.path, BLOCK_BYTES, stored, names)


def open_csv_files(paths: Sequence[str], missing: Sequence[object], text: Collection[str], written: Written) -> Opened:
    """Find out how CSV files are written, and the types of their columns."""
    several = len(paths) > 1
    dialects = {path: find_dialect(path, written, missing, 0 if several else SMALL_BYTES) for path in paths}
    row_numbers: set[str] = set()
    if several:
        names_of = {path: dialect.names(path) for path, dialect in dialects.items()}
        named_of = {path: _without_row_numbers(names) for path, names in names_of.items()}
        check_names(named_of)
        # some of the files may have row numbers
        row_numbers = {names[0] for path, names in names_of.items() if names != named_of[path]}
    schema = _without_empty(settle_types(dialects, text, row_numbers))
    named = _without_row_numbers(schema.names)
    if len(named) < len(schema):
        row_numbers.add(schema.names[0])
        schema = schema.remove(0)
    if row_numbers:
        warn(DataWarning(_ROW_NUMBERS))
    check_column_names(named)
    is_small = not several and dialects[paths[0]].content is not None
    return Opened(schema, None, lambda path, *how: [CsvPart(path, *how, dialect=dialects[path])], is_small)


def _without_row_numbers(names: Sequence[str]) -> list[str]:
    """Leave out a first column without a name, which holds the row numbers of a frame."""
    return list(names[1:] if len(names) > 1 and not names[0].strip() else names)


def _without_empty(schema: pa.Schema) -> pa.Schema:
    """Leave out columns that have neither a name nor a value: lines that end in a separator make one."""
    empty = [i for i, field in enumerate(schema) if not field.name.strip() and pa.types.is_null(field.type)]
    for position in reversed(empty):
        schema = schema.remove(position)
    if empty:
        which = "A column has no name and no value, and is" if len(empty) == 1 else "Columns without name and value are"
        warn(DataWarning(f"{which} left out. Perhaps all lines end in a separator."))
    return schema
