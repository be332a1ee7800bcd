"""Arrow IPC files: the file format batch by batch, the stream format from the beginning.

``pyarrow.dataset`` reads the file format only, and only whole files, which two threads could not share.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from juror.errors import DataError, DataWarning, warn
from juror.readers.file_parts import TypedPart

_FILE = b"ARROW1"
_FEATHER_1 = b"FEA1"
_END = b"\xff\xff\xff\xff\x00\x00\x00\x00"


@dataclass(frozen=True)
class IpcPart(TypedPart):
    """Some batches of an Arrow file; the stream format has no index and is read whole."""

    @staticmethod
    def look_into(path: str) -> tuple[pa.Schema, list[int] | None]:
        """Return the schema of a file and, for the file format, the number of rows in every batch."""
        with pa.memory_map(path) as stream:
            if stream.read(len(_FEATHER_1)) == _FEATHER_1:
                raise DataError(
                    f"The file {path!r} is of version 1 of Feather, which is no Arrow file. Write it anew, for example "
                    "with pandas."
                )
            schema = _open(stream).schema
            # one column is enough to count rows
            reader = _open(stream, [0])
            if isinstance(reader, pa.RecordBatchFileReader):
                return schema, [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]
            _check_end(path, stream)
            return schema, None

    def batches(self, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the rows."""
        # mapped, so that a batch larger than memory costs little unless it is compressed
        with pa.memory_map(self.path) as stream:
            schema = (first := _open(stream)).schema
            n_batches = first.num_record_batches if isinstance(first, pa.RecordBatchFileReader) else 0
            self.check_unchanged(schema.names, n_batches, max(self.pieces, default=-1))
            reader = _open(stream, [schema.get_field_index(name) for name in names])
            for batch in map(reader.get_batch, self.pieces) if self.pieces else reader:
                # pyarrow trusts the file about where values begin and end
                batch.validate(full=True)
                yield batch


def _open(stream: pa.NativeFile, fields: Sequence[int] = ()) -> pa.RecordBatchFileReader | pa.RecordBatchStreamReader:
    """Open an Arrow file of either format; only some of its columns, if any are given."""
    options = pa.ipc.IpcReadOptions(included_fields=list(fields), use_threads=False)
    stream.seek(0)
    is_file = stream.read(len(_FILE)) == _FILE
    stream.seek(0)
    return pa.ipc.open_file(stream, options=options) if is_file else pa.ipc.open_stream(stream, options=options)


def _check_end(path: str, stream: pa.NativeFile) -> None:
    """Warn of a file of the stream format that has no end mark: writers may leave it out, but most do not."""
    stream.seek(max(0, stream.size() - len(_END)))
    if stream.read(len(_END)) != _END:
        warn(
            DataWarning(
                f"The file {path!r} is an Arrow stream without an end mark, so that it may have been cut short. Write "
                "it again if that can be."
            )
        )
