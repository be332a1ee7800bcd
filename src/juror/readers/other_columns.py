"""The columns of a table that are not read as variables, as they are: they stay beside their rows."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from juror.errors import DataError
from juror.readers.columns import Column
from juror.readers.described import Files
from juror.readers.exact_numbers import plain
from juror.readers.frames import is_one_row
from juror.readers.joining import joined_column
from juror.readers.scans import Scan


def read_others(data: Any, scan: Scan, n_rows: int) -> dict[str, Any]:
    """Return the columns of a table that its scan names but does not read, (n_rows,) each.

    Markers for missing mean nothing in them and stay, except in streams, which come once.
    """
    if not scan.others:
        return {}
    if isinstance(data, Mapping):
        others = {name: [data[name]] if is_one_row(data) else _without_index(data[name]) for name in scan.others}
    elif isinstance(data, (str, os.PathLike, list, tuple, Files)):
        others = _of_files(data, scan.others)
    else:
        pieces = [columns for part in scan.parts for columns in part.chunks(scan.others)]
        others = {column.name: _cells(column) for column in map(joined_column, zip(*pieces, strict=True))}
    for name, cells in others.items():
        if len(cells) != n_rows:
            raise DataError(
                f"Columns differ in length: {name!r} has {len(cells)} rows and the others have {n_rows}. All must have "
                "the same."
            )
    return others


def _without_index(cells: Any) -> Any:
    """Return the cells of a column of any library by position, so that pandas does not look up rows by an index."""
    if hasattr(cells, "to_pylist"):
        return cells.to_pylist()
    return cells.array if hasattr(cells, "array") and hasattr(cells, "index") else list(cells)


def _of_files(data: Any, names: tuple[str, ...]) -> dict[str, Any]:
    from juror.readers.files import read_table

    files = data if isinstance(data, Files) else Files(data)
    frame = read_table(files.path, (), (), files.written()).select(list(names)).to_pandas()
    return {name: frame[name] for name in names}


def _cells(column: Column) -> list[Any]:
    values = column.values
    if column.calendar is not None:
        values = column.calendar.to_python(np.asarray(values))
    cells = [*map(plain, values), None]
    return [cells[position] for position in column.index]
