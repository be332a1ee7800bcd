"""What the parts of all kinds of files share: they read record batches and turn them into columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from juror.errors import DataError
from juror.readers.arrow import from_arrow
from juror.readers.columns import Column
from juror.readers.paths import reading
from juror.readers.scans import CHUNK_ROWS
from juror.readers.schemas import Keys

# Small row groups and batches are put together into parts of at least this many rows, as every part has a fixed cost
LEAST_ROWS = 10**5
# A file of at most this size is read at once
SMALL_BYTES = 1 << 22
# Chunks of wide tables have fewer rows, so that they fit into about 100 MB
_MOST_CELLS = 1 << 24
_LEAST_CHUNK_ROWS = 1024


@dataclass(frozen=True)
class Layout:
    """How the rows of all files are read: columns, their common types, and missing markers.

    A type that is a dictionary is a category. Messages name the file if there are several.
    """

    names: tuple[str, ...]
    types: tuple[pa.DataType, ...]
    missing: tuple[Any, ...] = ()
    several: bool = False

    @property
    def categories(self) -> set[str]:
        """Return the columns that their writer declared as categories."""
        return {name for name, type_ in zip(self.names, self.types, strict=True) if pa.types.is_dictionary(type_)}


@dataclass(frozen=True)
class FilePart(ABC):
    """Rows of one file.

    The ``keys`` are columns with one value in all rows, which the names of the file's folders give. ``first_row`` is
    the number of the part's first row in the file.
    """

    path: str
    layout: Layout
    keys: Keys = ()
    first_row: int = 0

    @property
    def encoding(self) -> str | None:
        """Return the encoding of the file's text, if the format does not fix it."""
        return None

    @abstractmethod
    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows, some at a time, with columns of these names in any order."""

    def check_unchanged(self, names: Collection[str], n_pieces: int, last: int) -> None:
        """Refuse a file that was changed after it was opened: it lacks columns, or the last piece to read."""
        if last >= n_pieces or not set(self.layout.names) <= set(names):
            raise DataError(f"The file {self.path!r} was written anew while it was read. Begin again.")

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows, about ``CHUNK_ROWS`` at a time, as factorised columns; only the named ones, if any are."""
        keys = [(name, value) for name, value in self.keys if names is None or name in names]
        wanted = [name for name in self.layout.names if names is None or name in names]
        missing, categories, row = self.layout.missing, self.layout.categories, self.first_row
        with reading(self.path, self.encoding):
            for table in self._read(wanted):
                arrays = [(name, table[name]) for name in wanted]
                arrays += [(name, _repeat(value, table.num_rows)) for name, value in keys]
                columns = [from_arrow(name, array, missing, name in categories, row) for name, array in arrays]
                yield [replace(column, origin=self.path) for column in columns] if self.layout.several else columns
                row += table.num_rows

    def table(self, schema: pa.Schema) -> pa.Table:
        """Return all rows as an Arrow table of the given types, in which text is text."""
        keys, pieces = dict(self.keys), [schema.empty_table()]
        with reading(self.path, self.encoding):
            for table in self._read(self.layout.names):
                for name in keys:
                    table = table.append_column(name, pa.repeat(keys[name], table.num_rows))
                pieces.append(table.select(schema.names).cast(schema))
        return pa.concat_tables(pieces)

    def _read(self, names: Sequence[str]) -> Iterator[pa.Table]:
        """Yield the rows, a chunk at a time."""
        # read at least one column, to count the rows
        names = names or self.layout.names[:1]
        most, held = rows_at_once(len(names)), []
        for batch in self.batches(names):
            held.append(batch)
            if sum(each.num_rows for each in held) >= most // 2:
                yield from _cut(held, most)
                held = []
        yield from _cut(held, most)


@dataclass(frozen=True)
class TypedPart(FilePart):
    """Rows of a file that declares its columns: some of its pieces, by number, or all rows if it has none."""

    pieces: tuple[int, ...] = ()

    @staticmethod
    @abstractmethod
    def look_into(path: str) -> tuple[pa.Schema, list[int] | None]:
        """Return the columns of a file, and the number of rows in each piece; None if it can only be read whole."""


def rows_at_once(n_columns: int) -> int:
    """Return the number of rows in a chunk: fewer in wide tables."""
    return max(_LEAST_CHUNK_ROWS, min(CHUNK_ROWS, _MOST_CELLS // n_columns))


def _cut(batches: Sequence[pa.RecordBatch], most: int) -> Iterator[pa.Table]:
    """Put small batches together, and cut large ones into chunks."""
    if batches:
        table = pa.Table.from_batches(batches)
        for start in range(0, table.num_rows, most):
            yield table.slice(start, most)


def _repeat(value: pa.Scalar, n_rows: int) -> pa.Array:
    """Return a column of one value as a dictionary, which costs almost nothing."""
    indices = pa.array(np.zeros(n_rows, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(indices, pa.array([value.as_py()], value.type))


@dataclass(frozen=True)
class Opened:
    """What is known about files before their rows are read.

    The schema has the common types of the columns in all files, and ``parts`` divides one of the files into parts. A
    table is small if it is one file of so few rows that they are read at once. Rows of several files are not joined,
    so that messages can name the file.
    """

    schema: pa.Schema
    n_rows: int | None
    parts: Callable[[str, Layout, Keys], Sequence[FilePart]]
    is_small: bool = False


def runs(rows: Sequence[int]) -> Iterator[tuple[int, range]]:
    """Join pieces of a file, given their numbers of rows, until each part has ``LEAST_ROWS`` rows.

    Yields the number of rows before a part, and its pieces.

    >>> list(runs([60_000, 60_000, 300_000, 0, 5]))
    [(0, range(0, 2)), (120000, range(2, 3)), (420000, range(3, 5))]
    """
    first, start, held = 0, 0, 0
    for stop, n_rows in enumerate(rows, start=1):
        held += n_rows
        if held >= LEAST_ROWS or (held and stop == len(rows)):
            yield first, range(start, stop)
            first, start, held = first + held, stop, 0
