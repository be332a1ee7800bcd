"""Streams: rows that arrive once, in Arrow batches. A temporary file stores them, so that they can be read again.

A stream is anything with the Arrow C stream interface that is not a frame in memory (a ``RecordBatchReader``, a DuckDB
relation), a polars ``LazyFrame``, or a cursor that offers a reader (ADBC's, DuckDB's).
"""

from __future__ import annotations

import contextlib
import decimal
import itertools
import math
import tempfile
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from juror.credentials import plain_reason
from juror.errors import DataError
from juror.readers.arrow import from_arrow, is_text
from juror.readers.columns import Column, check_column_names, read_markers
from juror.readers.scans import CHUNK_ROWS, Scan
from juror.readers.schemas import is_number

# Chunks of very wide tables end at this size, whatever their number of rows
_CHUNK_BYTES = 2**28
# A float keeps any fifteen decimal digits
_SAFE_DIGITS = 15
# Frames in memory and of a cluster offer streams as well, but have their own readers; a series is no table
_OTHERS = {(library, kind) for library in ("pandas", "polars", "modin", "cudf") for kind in ("DataFrame", "Series")}
_OTHERS |= {("pyarrow", "Table"), ("pyarrow", "ChunkedArray")}
_CLUSTERS = {"pyspark", "dask", "dask_expr"}
_LAZY = ("polars", "LazyFrame")
_DATASET = ("pyarrow", "Dataset")
# The methods by which cursors offer a reader; those that give a warning come last
_CURSOR_READERS = ("fetch_record_batch", "to_arrow_reader", "to_reader")


@dataclass(frozen=True)
class Rows:
    """A stream: its columns, its batches of rows, which can be read once, and a function that closes the source.

    For messages, ``what`` describes the stream, and ``reason`` describes an exception of the source in a few words.
    Neither may show credentials.
    """

    schema: pa.Schema
    batches: Iterable[pa.RecordBatch]
    close: Callable[[], object]
    what: str
    reason: Callable[[BaseException], str]


def is_stream(data: object) -> bool:
    """Tell whether data are a stream. Looks at the type only, and imports nothing.

    >>> is_stream(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.int64()}), []))
    True
    >>> is_stream(pa.table({"a": [1]})), is_stream({"a": [1]})
    (False, False)
    """
    kinds = _kinds(data)
    if kinds & _OTHERS or {library for library, _ in kinds} & _CLUSTERS:
        return False
    if kinds & {_LAZY, _DATASET}:
        return True
    return hasattr(type(data), "__arrow_c_stream__") or _reader_method(data) is not None


def scan_stream(data: Any, missing: Collection[object] = ()) -> Scan:
    """Offer a stream as a table of one part, which stores the rows in a temporary file during the first pass.

    >>> batch = pa.record_batch({"size": [3, 1, None]})
    >>> scan = scan_stream(pa.RecordBatchReader.from_batches(batch.schema, [batch]))
    >>> for reading in range(2):
    ...     [(column.name, column.values, column.index) for (column,) in scan.parts[0].chunks()]
    [('size', array([1, 3]), array([ 1,  0, -1], dtype=int32))]
    [('size', array([1, 3]), array([ 1,  0, -1], dtype=int32))]
    """
    markers = read_markers(missing)
    what = f"The stream of type {type(data).__name__}"
    with contextlib.ExitStack() as stack:
        try:
            schema, batches = _opened(data, stack)
        except DataError:
            raise
        except Exception as error:
            problem = f"{what} gives no rows: {plain_reason(error)}. Pass a stream of record batches not yet read."
        else:
            return scan_rows(Rows(schema, batches, stack.pop_all().close, what, plain_reason), markers)
    # raised here so that the producer's exception, which may show credentials, is not chained to ours
    raise DataError(problem)


def scan_rows(rows: Rows, markers: Collection[object]) -> Scan:
    """Offer the rows of a stream as a table of one part; close the source if its columns are invalid."""
    try:
        if not rows.schema.names:
            raise DataError(f"{rows.what} has no columns. juror needs at least one.")
        check_column_names(rows.schema.names)
    except BaseException:
        _let_go(rows)
        raise
    numbers = frozenset(field.name for field in rows.schema if _is_number(field.type))
    return Scan((StreamPart(rows, markers),), tuple(rows.schema.names), numbers)


class StreamPart:
    """All rows of a stream. Each chunk is read once and stored in a spool, from which later passes read it.

    A pass reads from the stream only when it needs a chunk that is not yet in the spool. So passes may stop early, and
    several may run at the same time.
    """

    def __init__(self, rows: Rows, markers: Collection[object]):
        self._rows, self._markers = rows, markers
        self._text = {field.name for field in rows.schema if is_text(field.type)}
        self._spool = _Spool()
        self._n_taken = [0]
        self._left: Iterator[pa.Table] | None = _cut(rows.batches, self._n_taken)
        self._failure: str | None = None
        self._lock = threading.Lock()
        # when the part is dropped, and at the interpreter's exit
        weakref.finalize(self, _let_go, rows, self._spool)

    def __reduce__(self) -> NoReturn:
        raise DataError(
            f"{self._rows.what} lives in this process and cannot be sent to the workers of a cluster. Write its rows "
            "to Parquet files and pass their folder."
        )

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows chunk by chunk. All columns are stored for later passes, even if only some are named."""
        wanted = [name for name in self._rows.schema.names if names is None or name in names]
        number = first_row = 0
        while (table := self._chunk(number, wanted)) is not None:
            yield [self._column(name, table, first_row) for name in wanted]
            number, first_row = number + 1, first_row + table.num_rows

    def _chunk(self, number: int, wanted: list[str]) -> pa.Table | None:
        with self._lock:
            if self._failure is not None:
                raise DataError(self._failure)
            if number < len(self._spool):
                return self._spool.read(number, wanted)
            table = None
            try:
                table = self._take()
            finally:
                if table is None:
                    # the stream has ended or failed: its source is not needed any more
                    self._left = None
                    _let_go(self._rows, self._spool if self._failure is not None else None)
            return table

    def _take(self) -> pa.Table | None:
        """Read the next chunk from the stream and store it. If the stream fails, all passes fail."""
        if self._left is None:
            return None
        what, (n_rows,) = self._rows.what, self._n_taken
        self._failure = f"{what} was interrupted after {n_rows} rows. Open it again."
        try:
            table = next(self._left, None)
            table = None if table is None else _stored(table, self._text)
        except MemoryError:
            raise
        except Exception as error:
            self._failure = (
                f"{what} broke off after {self._n_taken[0]} rows: {self._rows.reason(error)}. Run it again, or write "
                "its rows to a Parquet file and pass the path."
            )
        else:
            try:
                if table is not None:
                    self._spool.append(table)
                self._failure = None
                return table
            except OSError as error:
                self._failure = self._spool.full(what, error)
        # raised here so that the source's exception, which may show credentials, is not chained to ours
        raise DataError(self._failure)

    def _column(self, name: str, table: pa.Table, first_row: int) -> Column:
        field = table.schema.field(name)
        array = table.column(name)
        if (field.metadata or {}).get(b"POSTGRESQL:type") == b"money":
            raise DataError(
                f"Column {name!r} holds amounts of PostgreSQL's type money, which come without their decimal point. "
                "Cast it in the query, for example to numeric."
            )
        if _is_decimal_text(array.type):
            array = _numbers(name, array.combine_chunks())
        try:
            return from_arrow(name, array, self._markers, name not in self._text, first_row)
        except UnicodeDecodeError:
            raise DataError(f"Column {name!r} holds text that is not UTF-8. Convert it, or drop it.") from None


class _Spool:
    """Tables in an unnamed temporary file, which disappears on any exit. Each is a compressed Arrow IPC stream."""

    def __init__(self) -> None:
        self._file: Any = None
        self._names: list[str] = []
        self._ends = [0]

    def __len__(self) -> int:
        return len(self._ends) - 1

    def append(self, table: pa.Table) -> None:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table)
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._file.seek(self._ends[-1])
        left = memoryview(sink.getvalue())
        while left:  # a disk that is nearly full writes a part first, and fails then
            left = left[self._file.write(left) :]
        self._names = table.column_names
        self._ends.append(self._file.tell())

    def read(self, number: int, names: list[str]) -> pa.Table:
        """Return a stored table with the named columns only; with all columns if none is named, to count its rows."""
        start, end = self._ends[number : number + 2]
        block = bytearray(end - start)
        self._file.seek(start)
        left = memoryview(block)
        while left and (n_bytes := self._file.readinto(left)):
            left = left[n_bytes:]
        options = pa.ipc.IpcReadOptions(included_fields=[self._names.index(name) for name in names])
        return pa.ipc.open_stream(pa.py_buffer(block), options=options).read_all()

    def full(self, what: str, error: OSError) -> str:
        """Return the message for a full disk."""
        try:
            folder = f"the temporary folder {tempfile.gettempdir()!r}"
        except OSError:
            folder = "any temporary folder"
        return (
            f"{what} comes once and is kept on disk for further passes, but after {self._ends[-1] / 1e6:.1f} MB no "
            f"more can be written to {folder}: {error.strerror or error}. Set TMPDIR to a folder on a larger disk, or "
            "write the rows to a Parquet file and pass the path."
        )

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _let_go(rows: Rows, spool: _Spool | None = None) -> None:
    # the rows are stored or the failure is reported, so an error on closing a lost connection does not matter
    with contextlib.suppress(Exception):
        rows.close()
    if spool is not None:
        spool.close()


def _cut(batches: Iterable[pa.RecordBatch], n_taken: list[int]) -> Iterator[pa.Table]:
    """Join small batches and cut large ones: tables of ``CHUNK_ROWS`` rows, fewer at the end or if they are wide.

    ``n_taken`` counts the rows read so far, for messages.
    """
    held: list[pa.RecordBatch] = []
    n_rows = n_bytes = 0
    for batch in batches:
        n_taken[0] += batch.num_rows
        left = _joinable(batch)
        while left.num_rows:
            piece = left.slice(0, CHUNK_ROWS - n_rows)
            left = left.slice(piece.num_rows)
            held.append(piece)
            n_rows, n_bytes = n_rows + piece.num_rows, n_bytes + piece.nbytes
            if n_rows == CHUNK_ROWS or n_bytes >= _CHUNK_BYTES:
                yield _table_of(held)
                held, n_rows, n_bytes = [], 0, 0
    if held:
        yield _table_of(held)


def _stored(table: pa.Table, text: Collection[str]) -> pa.Table:
    """Turn text into dictionaries, which need less space in the spool and are needed for columns anyway."""
    for position, name in enumerate(table.column_names):
        if name in text:
            column = table.column(position)
            # Arrow has no dictionaries of string views
            column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
            encoded = column.dictionary_encode()
            table = table.set_column(position, table.schema.field(position).with_type(encoded.type), encoded)
    return table


def _table_of(batches: list[pa.RecordBatch]) -> pa.Table:
    """Return a table of one chunk, unless it has categories: Arrow would put these in their order of appearance."""
    table = pa.Table.from_batches(batches)
    return table if any(pa.types.is_dictionary(type_) for type_ in table.schema.types) else table.combine_chunks()


def _joinable(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Change dictionaries so that Arrow can join them: wide indices, and no null among the values."""
    for position, field in enumerate(batch.schema):
        if not pa.types.is_dictionary(field.type):
            continue
        array = batch.column(position)
        indices, values = array.indices, array.dictionary
        if indices.type.bit_width < 32:
            indices = indices.cast(pa.int32())
        if values.null_count:
            known = itertools.count()
            places = [next(known) if is_known else None for is_known in values.is_valid().to_pylist()]
            indices, values = pa.array(places, indices.type).take(indices), values.drop_null()
        array = pa.DictionaryArray.from_arrays(indices, values, ordered=field.type.ordered)
        batch = batch.set_column(position, field.with_type(array.type), array)
    return batch


def _kinds(data: object) -> set[tuple[str, str]]:
    """Return the library and the name of an object's class and of its base classes."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(data).__mro__}


def _reader_method(data: object) -> str | None:
    return next((name for name in _CURSOR_READERS if hasattr(type(data), name)), None)


def _opened(data: Any, stack: contextlib.ExitStack) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    if _LAZY in _kinds(data):
        return _collected(data)
    if _DATASET in _kinds(data):
        data = data.scanner()
    if hasattr(type(data), "__arrow_c_stream__"):
        reader = pa.RecordBatchReader.from_stream(data)
    else:
        reader = getattr(data, _reader_method(data) or "")()
    stack.callback(reader.close)
    return reader.schema, reader


def _collected(frame: Any) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    if not hasattr(frame, "collect_batches"):
        raise DataError(
            "This version of polars cannot collect a LazyFrame in batches. Upgrade polars, or collect the frame first "
            "with frame.collect()."
        )
    frames = frame.collect_batches(chunk_size=CHUNK_ROWS, lazy=True)
    batches = (batch for collected in frames for batch in collected.to_arrow().to_batches())
    return frame.clear().collect().to_arrow().schema, batches


def _is_number(kind: pa.DataType) -> bool:
    return is_number(kind) or _is_decimal_text(kind)


def _is_decimal_text(kind: pa.DataType) -> bool:
    """Tell whether a column holds PostgreSQL's NUMERIC, which is unbounded and therefore sent as text."""
    return isinstance(kind, pa.OpaqueType) and kind.type_name == "numeric" and pa.types.is_string(kind.storage_type)


def _numbers(name: str, array: pa.Array) -> pa.Array:
    """Read decimals written as text."""
    texts = array.storage
    for text in texts.filter(pc.greater(pc.utf8_length(texts), _SAFE_DIGITS)).unique().to_pylist():
        number = float(text)
        if not math.isfinite(number) or decimal.Decimal(repr(number)) != decimal.Decimal(text):
            raise DataError(
                f"Column {name!r} holds decimals of more digits than a float can tell apart ({text}). Round them or "
                "cast them in the query, for example to double precision or to text."
            )
    return texts.cast(pa.float64())
