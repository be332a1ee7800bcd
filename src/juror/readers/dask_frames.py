"""Dask frames: every partition is a part, made where the work is done."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from juror.readers.columns import Column, read_markers
from juror.readers.frames import open_frame
from juror.readers.scans import Held, Scan


@dataclass(frozen=True)
class DaskPartition:
    """A partition of a Dask frame: the ``Delayed`` that makes it as a pandas frame, missing markers, its position."""

    frame: Any
    missing: tuple[Any, ...]
    number: int

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Compute the partition in this thread, and yield all its rows at once."""
        frame = self.frame.compute(scheduler="synchronous")
        return _hold(frame, self.missing, self.number).chunks(names)

    def delayed(self) -> Any:
        """Return the task that makes this part with its rows, for a worker of the cluster."""
        from dask.delayed import delayed

        return delayed(_hold, pure=False)(self.frame, self.missing, self.number)


def is_dask_frame(data: Any) -> bool:
    """Tell whether data are a Dask frame, without importing Dask.

    >>> is_dask_frame({"colour": ["red"]})
    False
    """
    module = sys.modules.get("dask.dataframe")
    return module is not None and isinstance(data, module.DataFrame)


def scan_dask_frame(frame: Any, missing: Collection[object] = ()) -> Scan:
    """Offer the partitions of a Dask frame, in their order, as a table in parts.

    The rows stay on the cluster of the current client, if there is one.
    """
    markers = read_markers(missing)
    # the empty frame with the columns and types of all partitions
    columns = open_frame(frame._meta, ())
    # a column of Python objects may hold numbers
    numbers = (c.name for c in columns if c.form == "number" or frame._meta[c.name].dtype == object)
    parts = [DaskPartition(partition, markers, number) for number, partition in enumerate(frame.to_delayed())]
    return Scan(parts, tuple(column.name for column in columns), frozenset(numbers), client=_current_client())


def _current_client() -> Any:
    """Return the client that Dask would compute a frame with, or None. Only its cluster has the persisted frames."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def _hold(frame: Any, missing: tuple[Any, ...], number: int) -> Held:
    return Held(open_frame(frame, missing), number)
