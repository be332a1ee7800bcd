"""Read a table in parts into memory: pieces of columns are joined into whole ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from juror.errors import DataError
from juror.readers.calendars import Calendar, united_calendar
from juror.readers.columns import MISSING, Column
from juror.readers.scans import Scan
from juror.readers.tallies import Tally, as_comparable


def read_whole(scan: Scan) -> list[Column]:
    """Read all parts of a table, one after the other, into memory."""
    chunks = [columns for part in scan.parts for columns in part.chunks()]
    if not chunks:
        return [Column(name, "text", [], np.empty(0, dtype=np.int32)) for name in scan.names]
    return chunks[0] if len(chunks) == 1 else [joined_column(pieces) for pieces in zip(*chunks, strict=True)]


def joined_column(pieces: Sequence[Column]) -> Column:
    """Join pieces of a column. Values are united as in tallies, but all distinct numbers are kept."""
    shown = [piece for piece in pieces if len(piece.values)] or pieces[:1]
    form, ordered, calendar = shown[0].form, False, None
    if form == "number":
        if any(piece.form != "number" for piece in shown):
            raise DataError(f"Column {shown[0].name!r} holds numbers in some rows only. Convert it to one type.")
        calendar = reduce(partial(united_calendar, shown[0].name), (piece.calendar for piece in shown))
        numbers = as_comparable(shown[0].name, [_numbers(piece, calendar) for piece in pieces])
        values: Any = np.unique(np.concatenate(numbers))
        places = [np.searchsorted(values, mine) for mine in numbers]
    else:
        whole = Tally.of(shown[0])
        for piece in shown[1:]:
            whole += Tally.of(piece)
        values, form, ordered = list(whole.values), whole.form, whole.ordered
        place = {value: n for n, value in enumerate(values)}
        places = [np.array([place[value] for value in piece.values], dtype=np.int64) for piece in pieces]
    index = [np.append(at, MISSING).astype(np.int32)[piece.index] for at, piece in zip(places, pieces, strict=True)]
    first_row = pieces[0].first_row
    return Column(shown[0].name, form, values, np.concatenate(index), ordered, first_row, calendar=calendar)


def _numbers(piece: Column, calendar: Calendar | None) -> np.ndarray:
    numbers = np.asarray(piece.values)
    if calendar is None or piece.calendar is None or piece.calendar == calendar:
        return numbers
    return piece.calendar.converted(numbers, calendar.unit, piece.name)
