"""Arrow IPC files: of the file format batch by batch, of the stream format from the beginning."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from juror.errors import DataError, DataWarning
from juror.readers.file_parts import FilePart, Layout, Opened, runs
from juror.readers.folder_keys import Keys
from juror.readers.paths import reading
from juror.readers.schemas import join_schemas, without_row_numbers

_FILE = b"ARROW1"
_FEATHER_1 = b"FEA1"
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class IpcPart(FilePart):
    """Batches of an Arrow file.

    Attributes
    ----------
    numbers : tuple of int
        Which; none are named of a stream, which has no index of its batches and is read whole.
    """

    numbers: tuple[int, ...] = ()

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        # mapped, so that a batch larger than memory costs little unless it is compressed
        with pa.memory_map(self.path) as stream:
            first = _open(stream)
            self.check_unchanged(first.schema.names, _n_batches(first), max(self.numbers, default=-1))
            reader = _open(stream, [first.schema.get_field_index(name) for name in names])
            for batch in map(reader.get_batch, self.numbers) if self.numbers else reader:
                # pyarrow takes the file's word for where values begin and end
                batch.validate(full=True)
                yield batch


def _open(stream: pa.NativeFile, fields: Sequence[int] = ()) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file of either format; only some of its columns, if any are given."""
    options = pa.ipc.IpcReadOptions(included_fields=list(fields), use_threads=False)
    stream.seek(0)
    is_file = stream.read(len(_FILE)) == _FILE
    stream.seek(0)
    return pa.ipc.open_file(stream, options=options) if is_file else pa.ipc.open_stream(stream, options=options)


def open_ipc_files(paths: Sequence[str]) -> Opened:
    """Read the schemas of Arrow files and, in the file format, the sizes of their batches."""
    schemas: dict[str, pa.Schema] = {}
    rows: dict[str, list[int] | None] = {}
    for path in paths:
        with reading(path), pa.memory_map(path) as stream:
            if stream.read(len(_FEATHER_1)) == _FEATHER_1:
                raise DataError(
                    f"The file {path!r} is of version 1 of Feather, which is no Arrow file. Write it anew, for example "
                    "with pandas."
                )
            schemas[path] = without_row_numbers(_open(stream).schema)
            rows[path] = _rows_of_batches(stream)
            if rows[path] is None:
                _check_end(path, stream)
    counts = [sum(of_batches) for of_batches in rows.values() if of_batches is not None]
    return Opened(
        join_schemas(schemas),
        sum(counts) if len(counts) == len(paths) else None,
        lambda path, layout, keys: _parts(path, layout, keys, rows[path]),
    )


def _check_end(path: str, stream: pa.NativeFile) -> None:
    """Warn of a file of the stream format that has no end mark: writers may leave it out, but mostly do not."""
    stream.seek(max(0, stream.size() - len(_END)))
    if stream.read(len(_END)) != _END:
        warnings.warn(
            f"The file {path!r} is an Arrow stream without an end mark, so that it may have been cut short. Write it "
            "again if that can be.",
            DataWarning,
            stacklevel=2,
        )


def _n_batches(reader: pa.RecordBatchFileReader | pa.RecordBatchStreamReader) -> int:
    """Return the number of batches; that of a stream is not known, and as good as none."""
    return 0 if isinstance(reader, pa.RecordBatchStreamReader) else reader.num_record_batches


def _rows_of_batches(stream: pa.NativeFile) -> list[int] | None:
    """Return the number of rows in every batch of the file format; a stream must be read for it."""
    # one column is enough
    reader = _open(stream, [0])
    if isinstance(reader, pa.RecordBatchStreamReader):
        return None
    return [reader.get_batch(number).num_rows for number in range(_n_batches(reader))]


def _parts(path: str, layout: Layout, keys: Keys, rows: Sequence[int] | None) -> list[IpcPart]:
    if rows is None:
        return [IpcPart(path, layout, keys)]
    return [IpcPart(path, layout, keys, first_row, tuple(numbers)) for first_row, numbers in runs(rows)]
