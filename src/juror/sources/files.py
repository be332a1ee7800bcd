"""Read CSV and Parquet files as Arrow tables."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Collection
from pathlib import Path

import pyarrow as pa

from juror.errors import DataError, shortlist

_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")

_LONGEST_LINE = 1 << 20


def read_table(path: Path, missing: Collection[object] = (), text: Collection[str] = ()) -> pa.Table:
    """Read a ``.csv`` (also ``.csv.gz``) or ``.parquet`` file.

    A CSV file is separated by commas, or by semicolons or tabs where its first line has no comma. In it a bare empty
    cell and the cells equal to a marker are missing, a quoted empty one is a label.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    missing : collection
        Markers that stand for a missing value.
    text : collection of str
        Columns of a CSV file to read as text whatever they look like.
    """
    suffix = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if suffix not in _READERS:
        raise DataError(
            f"The file {str(path)!r} ends in {suffix!r}; juror reads {shortlist(_READERS)}. Rename or convert it."
        )
    try:
        if not path.is_file():
            raise DataError(f"There is no file {str(path)!r}. Check the path.")
        table = _READERS[suffix](path, missing, text)
        _ = table.column_names  # decoded only now
    except (pa.ArrowException, UnicodeDecodeError, OSError, EOFError) as error:
        reason = str(error).splitlines()[0] if not isinstance(error, UnicodeDecodeError) else "save it as UTF-8"
        raise DataError(f"The file {str(path)!r} cannot be read as {suffix}: {reason}") from None
    for name, column in zip(table.column_names, table.columns, strict=True):
        if suffix != ".parquet" and pa.types.is_binary(column.type):
            raise DataError(f"Column {name!r} of {str(path)!r} holds text that is not UTF-8. Save the file as UTF-8.")
    return table


def _read_csv(path: Path, missing: Collection[object], text: Collection[str]) -> pa.Table:
    from pyarrow import csv

    if path.stat().st_size == 0:
        raise DataError(f"The file {str(path)!r} is empty. It needs a line of column names and some rows.")
    delimiter = _delimiter(path)
    # in a table of one column an empty line is a missing cell; in others it is nothing
    parse = csv.ParseOptions(delimiter=delimiter or ",", ignore_empty_lines=delimiter is not None)
    convert = csv.ConvertOptions(
        null_values=["", *(str(marker) for marker in missing)],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        column_types={name: pa.string() for name in text},
    )
    return csv.read_csv(path, parse_options=parse, convert_options=convert)


def _delimiter(path: Path) -> str | None:
    """Return what separates the names in the first line: a comma, or a semicolon or tab where it has no comma."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
        first = stream.readline(_LONGEST_LINE)
    return next((mark for mark in (",", ";", "\t") if mark.encode() in first), None)


def _read_parquet(path: Path, missing: Collection[object], text: Collection[str]) -> pa.Table:
    from pyarrow import parquet

    table = parquet.read_table(path)
    # the row numbers of a pandas frame whose index had no name are no column of anybody's table
    return table.drop_columns([name for name in table.column_names if _UNNAMED_INDEX.fullmatch(name)])


_READERS: dict[str, Callable[[Path, Collection[object], Collection[str]], pa.Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".parquet": _read_parquet,
}
