"""A table in parts that can be read again and again, wherever they are: what files, streams and clusters offer.

A part is small and can be pickled: a path and a row group, not rows. Whoever works on it reads it there, chunk after
chunk, each a list of factorised columns; what comes back is a value that knows its labels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from juror.errors import DataError, ParameterError, did_you_mean
from juror.readers.columns import Column

# About so many rows are read, encoded and counted at once: enough that tables cost nothing beside rows
CHUNK_ROWS = 2**16


class Part(Protocol):
    """A piece of a table that yields its rows."""

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows of the part in their order, some at a time; only the named columns, if any are named.

        Every chunk has the same columns in the same order, and each column counts its rows from its ``first_row``, the
        position of the chunk in its file or stream. There may be no chunks, and chunks of no rows. A part may have a
        ``number`` among all of a table; if not, it gets that of its place.
        """
        ...


@dataclass(frozen=True)
class Scan:
    """A table in parts.

    Attributes
    ----------
    parts : sequence of Part
        The pieces, in order. What a cluster's own frame has here only its own runner can read.
    names : tuple of str
        The columns, checked.
    numbers : frozenset of str
        The columns that hold numbers, or may: these are looked at before others, as their intervals depend on all rows.
    n_rows : int, optional
        How many rows there are, where that is known without reading them.
    client : optional
        The cluster that alone can read the parts, if there is one.
    in_memory : bool
        Whether the rows are in memory, or in files so small that they are read at once.
    """

    parts: Any
    names: tuple[str, ...]
    numbers: frozenset[str]
    n_rows: int | None = None
    client: Any = None
    in_memory: bool = False


@dataclass(frozen=True)
class Held:
    """Columns in memory, as a single part, or as one of several that has a number."""

    columns: Sequence[Column]
    number: int = 0

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield all rows at once."""
        yield [column for column in self.columns if names is None or column.name in names]


def scan_columns(columns: Sequence[Column]) -> Scan:
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
    return Scan((Held(columns),), tuple(lengths), numbers, len(columns[0].index), in_memory=True)


@dataclass(frozen=True)
class _Some:
    """Some columns of a part."""

    part: Part
    names: tuple[str, ...]

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        return self.part.chunks(self.names if names is None else names)


@dataclass(frozen=True)
class Numbered:
    """A part of a table that knows which it is."""

    number: int
    part: Part

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield its rows."""
        return self.part.chunks(names)


def numbered(parts: Any) -> Any:
    """Number parts by their places, unless they have numbers; those of a frame of a cluster are numbered there."""
    if not isinstance(parts, (list, tuple)):
        return parts
    return [part if hasattr(part, "number") else Numbered(number, part) for number, part in enumerate(parts)]


def without_columns(scan: Scan, dropped: Collection[str]) -> Scan:
    """Offer a table without some of its columns, which are then not even read where that is possible."""
    for name in dropped:
        if name not in scan.names:
            raise ParameterError(f"There is no column {name!r} to drop. {did_you_mean(name, scan.names)}")
    names = tuple(name for name in scan.names if name not in dropped)
    if not names:
        raise ParameterError("All columns are dropped. juror needs at least one.")
    parts = scan.parts
    parts = parts.select(names) if hasattr(parts, "select") else tuple(_Some(part, names) for part in parts)
    return replace(scan, parts=parts, names=names, numbers=scan.numbers & set(names))
