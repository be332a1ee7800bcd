"""Parquet files, row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from juror.readers.arrow import is_text
from juror.readers.file_parts import FilePart, Opened, rows_at_once, runs
from juror.readers.paths import reading
from juror.readers.schemas import join_schemas, without_row_numbers

# A dictionary of few labels is this small, and an index to one takes no more bytes a row. Where a column of a row group
# takes more, its writer gave up on the dictionary, and that of a reader would grow with the rows.
_DICTIONARY_BYTES = 1 << 21
_INDEX_BYTES = 3
# Dictionaries end with their row group, and so do batches: of fewer rows they are not worth it
_ROWS_OF_A_DICTIONARY = 1 << 14
_BUFFER_BYTES = 1 << 20


@dataclass(frozen=True)
class ParquetPart(FilePart):
    """Row groups of a Parquet file.

    Attributes
    ----------
    row_groups : tuple of int
        Which.
    """

    row_groups: tuple[int, ...] = ()

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, text as dictionaries."""
        with parquet.ParquetFile(self.path) as file:
            schema, metadata = file.schema_arrow, file.metadata
        self.check_unchanged(schema.names, metadata.num_row_groups, self.row_groups[-1])
        # threads are at work on other parts, and a row group may be larger than memory
        with parquet.ParquetFile(
            self.path,
            metadata=metadata,
            read_dictionary=self._stored_as_dictionaries(names, schema, metadata),
            pre_buffer=False,
            buffer_size=_BUFFER_BYTES,
        ) as file:
            yield from file.iter_batches(rows_at_once(len(names)), self.row_groups, list(names), use_threads=False)

    def _stored_as_dictionaries(self, names: Sequence[str], schema: pa.Schema, metadata: Any) -> list[str]:
        """Return the columns of text that are faster read as dictionaries."""
        groups = [metadata.row_group(number) for number in self.row_groups]
        if sum(group.num_rows for group in groups) < _ROWS_OF_A_DICTIONARY * len(groups):
            return []
        large = {
            column.path_in_schema
            for group in groups
            for column in map(group.column, range(group.num_columns))
            if column.total_uncompressed_size > _DICTIONARY_BYTES + _INDEX_BYTES * column.num_values
        }
        # what the schema declares as a dictionary is one anyway, and keeps its order so
        return [name for name in names if name not in large and is_text(schema.field(name).type)]


def open_parquet_files(paths: Sequence[str]) -> Opened:
    """Read the footers of Parquet files."""
    schemas, rows = {}, {}
    for path in paths:
        with reading(path), parquet.ParquetFile(path) as file:
            metadata = file.metadata
            rows[path] = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
            schemas[path] = without_row_numbers(file.schema_arrow)
    return Opened(
        join_schemas(schemas),
        sum(map(sum, rows.values())),
        lambda path, layout, keys: [
            ParquetPart(path, layout, keys, first_row, tuple(groups)) for first_row, groups in runs(rows[path])
        ],
    )
