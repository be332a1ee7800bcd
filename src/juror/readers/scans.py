"""A table in parts that can be read repeatedly: in memory, in files, in streams or on clusters.

A part of a file is small and can be pickled: a path and row groups, not rows. The worker that gets a part reads it
chunk by chunk. A chunk is a list of factorised columns, and each result that comes back includes its labels.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from juror.errors import DataError, ParameterError, did_you_mean
from juror.readers.columns import Column, Floats

if TYPE_CHECKING:
    from juror.readers.frame_types import FrameType

# The number of rows to read, encode and count at once: enough that the cost per chunk does not matter
CHUNK_ROWS = 2**16
# From the names of a table to those of its columns that are to be read; it may refuse them
Choose = Callable[[Sequence[str]], Sequence[str]]


class Part(Protocol):
    """A part of a table."""

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows of the part in order, chunk by chunk; only the named columns, if any are named.

        Every chunk has the same columns in the same order. The ``first_row`` of a column is the position of its chunk
        in the file or stream. There may be no chunks, and chunks without rows. A part may have a ``number`` in its
        table; otherwise its position is used.
        """
        ...


@dataclass(frozen=True)
class Scan:
    """A table in parts.

    Attributes
    ----------
    parts : sequence of Part
        The parts, in order. Those of a cluster's frame can be read only by the runner of that cluster.
    names : tuple of str
        The names of the columns.
    numbers : frozenset of str
        The columns that may hold numbers. They are read before the others, as their intervals depend on all rows.
    n_rows : int, optional
        The number of rows, if it is known without reading them.
    client : optional
        The only cluster that can read the parts, if there is one.
    in_memory : bool
        Whether the rows are in memory, or in files so small that they are read at once.
    floats : {"codes", "values"}, optional
        What the table holds if it is an array of floats.
    all_names : tuple of str
        The names of all columns of the table in their order, if some are not read.
    frame : FrameType, optional
        The type of the frame, if the table is one in memory.
    """

    parts: Any
    names: tuple[str, ...]
    numbers: frozenset[str]
    n_rows: int | None = None
    client: Any = None
    in_memory: bool = False
    floats: Floats | None = None
    all_names: tuple[str, ...] = ()
    frame: FrameType | None = None

    @property
    def others(self) -> tuple[str, ...]:
        """The columns that are not read."""
        return tuple(name for name in self.all_names if name not in self.names)


@dataclass(frozen=True)
class Held:
    """Columns in memory: the only part of a table, or one of several with a number."""

    columns: Sequence[Column]
    number: int = 0

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield all rows at once."""
        yield [column for column in self.columns if names is None or column.name in names]


def scan_columns(columns: Sequence[Column], floats: Floats | None = None, all_names: Sequence[str] = ()) -> Scan:
    """Offer columns in memory as a table of one part, if there are any and they have one length."""
    if not columns:
        raise DataError("The data have no columns. juror needs at least one.")
    lengths = {column.name: len(column.index) for column in columns}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise DataError(
            f"Columns differ in length: {short!r} has {lengths[short]} rows and {long!r} has {lengths[long]}. "
            "All must have the same."
        )
    numbers = frozenset(column.name for column in columns if column.form == "number")
    n_rows = len(columns[0].index)
    held, names = (Held(columns),), tuple(lengths)
    return Scan(held, names, numbers, n_rows, in_memory=True, floats=floats, all_names=tuple(all_names))


@dataclass(frozen=True)
class _Some:
    """Some columns of a part."""

    part: Part
    names: tuple[str, ...]

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        return self.part.chunks(self.names if names is None else names)


@dataclass(frozen=True)
class Numbered:
    """A part with its number in the table."""

    number: int
    part: Part

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield its rows."""
        return self.part.chunks(names)


def numbered(parts: Any) -> Any:
    """Number parts by position, unless they have numbers. The parts of a cluster's frame are numbered there."""
    if not isinstance(parts, (list, tuple)):
        return parts
    return [part if hasattr(part, "number") else Numbered(number, part) for number, part in enumerate(parts)]


def without_columns(scan: Scan, dropped: Collection[str]) -> Scan:
    """Offer a table without some of its columns, which are not read if that is possible."""
    for name in dropped:
        if name not in scan.names:
            raise ParameterError(f"There is no column {name!r} to drop. {did_you_mean(name, scan.names)}")
    if all(name in dropped for name in scan.names):
        raise ParameterError("All columns are dropped. juror needs at least one.")
    kept = only_columns(scan, [name for name in scan.names if name not in dropped])
    return replace(kept, all_names=tuple(name for name in scan.all_names if name not in dropped))


def only_columns(scan: Scan, wanted: Collection[str]) -> Scan:
    """Offer a table with only some of its columns; the others are not read if that is possible, and named."""
    names = tuple(name for name in scan.names if name in wanted)
    if names == scan.names:
        return scan
    parts = scan.parts
    parts = parts.select(names) if hasattr(parts, "select") else tuple(_Some(part, names) for part in parts)
    all_names = scan.all_names or scan.names
    return replace(scan, parts=parts, names=names, numbers=scan.numbers & set(names), all_names=all_names)
