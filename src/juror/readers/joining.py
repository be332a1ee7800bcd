"""Read a table in parts into memory: pieces of columns are joined into whole ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.errors import DataError
from juror.readers.columns import MISSING, Column
from juror.readers.scans import Scan
from juror.readers.tallies import Tally, as_comparable


def read_whole(scan: Scan) -> list[Column]:
    """Read all parts of a table, one after the other, into memory."""
    chunks = [columns for part in scan.parts for columns in part.chunks()]
    if not chunks:
        return [Column(name, "text", [], np.empty(0, dtype=np.int32)) for name in scan.names]
    return chunks[0] if len(chunks) == 1 else [_joined(pieces) for pieces in zip(*chunks, strict=True)]


def _joined(pieces: Sequence[Column]) -> Column:
    """Join pieces of a column. Values are united as in tallies, but all distinct numbers are kept."""
    shown = [piece for piece in pieces if len(piece.values)] or pieces[:1]
    form, ordered = shown[0].form, False
    if form == "number":
        if any(piece.form != "number" for piece in shown):
            raise DataError(f"Column {shown[0].name!r} holds numbers in some rows only. Convert it to one type.")
        numbers = as_comparable(shown[0].name, [np.asarray(piece.values) for piece in pieces])
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
    return Column(shown[0].name, form, values, np.concatenate(index), ordered, pieces[0].first_row)
