"""Frames of Spark that are not files: their partitions come to the tasks as Arrow batches, once."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from juror.errors import ClusterError, DataError
from juror.readers.columns import Column, check_column_names, read_markers
from juror.readers.scans import CHUNK_ROWS, Scan
from juror.runners.spark_words import in_plain_words

if TYPE_CHECKING:
    import pyarrow as pa


def is_spark_frame(data: Any) -> bool:
    """Tell whether data are a Spark DataFrame, without importing Spark.

    >>> is_spark_frame({"colour": ["red"]})
    False
    """
    module = sys.modules.get("pyspark.sql.dataframe")
    return module is not None and isinstance(data, module.DataFrame)


def session_of(frame: Any) -> Any:
    """Return the session of a Spark frame: the client that can read it."""
    return frame.sparkSession


@dataclass(frozen=True)
class SparkFrame:
    """The partitions of a Spark frame, which Spark alone can read; markers stand for missing values.

    The frame knows its columns by their positions, as Spark takes ``a`` and ``A`` for the same name.
    """

    frame: Any
    names: tuple[str, ...]
    missing: tuple[Any, ...] = ()

    def select(self, names: Collection[str]) -> SparkFrame:
        """Return the frame with these columns only, so that Spark need not bring the others."""
        kept = [n for n, name in enumerate(self.names) if name in names]
        frame = self.frame.select(*(self.frame.columns[n] for n in kept))
        return SparkFrame(frame, tuple(self.names[n] for n in kept), self.missing)


def scan_spark_frame(frame: Any, missing: Collection[object] = ()) -> Scan:
    """Offer a Spark frame as a table in parts.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        The rows. In messages they are numbered within their partition, as a frame has no other numbers.
    missing : collection
        Markers that stand for a missing value besides null and NaN.
    """
    from juror.readers.arrow import from_arrow

    markers = read_markers(missing)
    if frame.isStreaming:
        raise DataError("A streaming frame of Spark has no last row. Write it to a table, and pass that.")
    names = tuple(frame.columns)
    if not names:
        raise DataError("The data have no columns. juror needs at least one.")
    check_column_names(names)
    with in_plain_words():
        # of no rows, so no job is run
        table = frame.limit(0).toArrow()
    columns = [from_arrow(name, table.column(n), markers) for n, name in enumerate(names)]
    numbers = frozenset(column.name for column in columns if column.form == "number")
    parts = SparkFrame(frame.toDF(*(f"c{n}" for n in range(len(names)))), names, markers)
    return Scan(parts, names, numbers, client=session_of(frame))


@dataclass
class Batches:
    """The rows of a partition as Spark brings them: once; and the number of the partition."""

    batches: Iterable[pa.RecordBatch]
    names: tuple[str, ...]
    missing: tuple[Any, ...]
    number: int = 0
    _is_read: bool = field(default=False, init=False)

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows as factorised columns; only the named ones, if any are named."""
        from juror.readers.arrow import from_arrow

        if self._is_read:
            raise ClusterError(
                "The rows of a Spark frame come to a task once, and were asked for again. Write the frame to Parquet "
                "files, and pass these."
            )
        self._is_read = True
        wanted = [(n, name) for n, name in enumerate(self.names) if names is None or name in names]
        row = 0
        for table in _gathered(self.batches):
            yield [from_arrow(name, table.column(n), self.missing, first_row=row) for n, name in wanted]
            row += table.num_rows


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Put batches together until they are worth factorising; Spark makes them of ten thousand rows."""
    import pyarrow as pa

    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= CHUNK_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
