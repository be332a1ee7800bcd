"""A table in parts that can be read again and again, wherever they are: what files, streams and clusters offer.

A part is small and can be pickled: a path and a row group, not rows. Whoever works on it reads it there, chunk after
chunk, each a list of factorised columns; what comes back is a value that knows its labels.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from juror.sources.columns import Column

# About so many rows are read, encoded and counted at once: enough that tables cost nothing beside rows
CHUNK_ROWS = 2**18


class Part(Protocol):
    """A piece of a table that yields its rows."""

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield the rows of the part in their order, some at a time; only the named columns, if any are named.

        Every chunk has the same columns in the same order, and each column counts its rows from its ``first_row``, the
        position of the chunk in its file or stream. There may be no chunks, and chunks of no rows.
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
    """

    parts: Any
    names: tuple[str, ...]
    numbers: frozenset[str]
    n_rows: int | None = None


@dataclass(frozen=True)
class Held:
    """Columns in memory, as a single part."""

    columns: Sequence[Column]

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        """Yield all rows at once."""
        yield [column for column in self.columns if names is None or column.name in names]


def scan_columns(columns: Sequence[Column]) -> Scan:
    """Offer columns in memory as a table of one part."""
    return Scan(
        (Held(columns),),
        tuple(column.name for column in columns),
        frozenset(column.name for column in columns if column.form == "number"),
        len(columns[0].index),
    )
