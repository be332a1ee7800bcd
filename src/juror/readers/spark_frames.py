"""Spark frames: every partition reaches its task as Arrow batches, which can be read once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from juror.errors import ClusterError, DataError
from juror.readers.arrow import from_arrow
from juror.readers.columns import Column, check_column_names, read_markers
from juror.readers.scans import CHUNK_ROWS, Scan
from juror.runners.spark_errors import short_spark_errors


def is_spark_frame(data: Any) -> bool:
    """Tell whether data are a Spark frame, without importing Spark.

    >>> is_spark_frame({"colour": ["red"]})
    False
    """
    module = sys.modules.get("pyspark.sql.dataframe")
    return module is not None and isinstance(data, module.DataFrame)


@dataclass(frozen=True)
class SparkFrame:
    """The partitions of a Spark frame, which only Spark can read.

    Spark takes ``a`` and ``A`` for the same name, so the columns of ``frame`` are called ``c0``, ``c1`` and so on.
    """

    frame: Any
    names: tuple[str, ...]
    missing: tuple[Any, ...] = ()

    @property
    def open_partition(self) -> Callable[..., SparkPartition]:
        """The function that makes a part of the Arrow batches and the ``number`` of a partition; executors call it."""
        return partial(SparkPartition, names=self.names, missing=self.missing)

    def select(self, names: Collection[str]) -> SparkFrame:
        """Return the frame with these columns only, so that Spark does not send the others."""
        kept = [n for n, name in enumerate(self.names) if name in names]
        frame = self.frame.select(*(self.frame.columns[n] for n in kept))
        return SparkFrame(frame, tuple(self.names[n] for n in kept), self.missing)


def scan_spark_frame(frame: Any, missing: Collection[object] = ()) -> Scan:
    """Offer a Spark frame as a table in parts.

    Messages number rows within their partition, as Spark does not number them in the frame.
    """
    markers = read_markers(missing)
    if frame.isStreaming:
        raise DataError("A streaming frame of Spark has no last row. Write it to a table, and pass that.")
    names = tuple(frame.columns)
    check_column_names(names)
    with short_spark_errors():
        # no rows, so Spark runs no job
        table = frame.limit(0).toArrow()
    columns = [from_arrow(name, table.column(n), markers) for n, name in enumerate(names)]
    numbers = frozenset(column.name for column in columns if column.form == "number")
    parts = SparkFrame(frame.toDF(*(f"c{n}" for n in range(len(names)))), names, markers)
    return Scan(parts, names, numbers, client=frame.sparkSession)


@dataclass
class SparkPartition:
    """The rows of a partition as a task gets them from Spark: they can be read once."""

    batches: Iterable[pa.RecordBatch]
    names: tuple[str, ...]
    missing: tuple[Any, ...]
    number: int = 0
    _is_read: bool = field(default=False, init=False)

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows as factorised columns; only the named ones, if any are named."""
        if self._is_read:
            raise ClusterError(
                "A task can read the rows of a Spark frame only once, and this one read them again. Write the frame to "
                "Parquet files, and pass these."
            )
        self._is_read = True
        wanted = [(n, name) for n, name in enumerate(self.names) if names is None or name in names]
        row = 0
        for table in _gathered(self.batches):
            yield [from_arrow(name, table.column(n), self.missing, first_row=row) for n, name in wanted]
            row += table.num_rows


def _gathered(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Join batches until there are enough rows to factorise at once; Spark makes batches of ten thousand rows."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= CHUNK_ROWS:
            yield pa.Table.from_batches(held)
            held = []
    if held:
        yield pa.Table.from_batches(held)
