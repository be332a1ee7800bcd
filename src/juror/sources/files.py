"""Read CSV and Parquet files as Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

import pyarrow as pa

from juror.errors import DataError, shortlist


def read_table(path: Path, missing: Collection[object] = ()) -> pa.Table:
    """Read a ``.csv`` (also ``.csv.gz``) or ``.parquet`` file.

    In a CSV file a bare empty cell and the cells equal to a marker are missing, a quoted empty one is a label.
    """
    suffix = "".join(path.suffixes[-2:]).lower() if path.suffix.lower() == ".gz" else path.suffix.lower()
    if suffix not in _READERS:
        raise DataError(
            f"The file {str(path)!r} ends in {suffix!r}; juror reads {shortlist(_READERS)}. Rename or convert it."
        )
    if not path.is_file():
        raise DataError(f"There is no file {str(path)!r}. Check the path.")
    try:
        return _READERS[suffix](path, missing)
    except (pa.ArrowException, UnicodeDecodeError) as error:
        first_line = str(error).splitlines()[0]
        raise DataError(f"The file {str(path)!r} cannot be read as {suffix}: {first_line}") from None


def _read_csv(path: Path, missing: Collection[object]) -> pa.Table:
    from pyarrow import csv

    if path.stat().st_size == 0:
        raise DataError(f"The file {str(path)!r} is empty. It needs a line of column names and some rows.")
    convert = csv.ConvertOptions(
        null_values=["", *(str(marker) for marker in missing)],
        strings_can_be_null=True,
        quoted_strings_can_be_null=False,
        # dates are refused by the domain; read here as dates so that the message can say so
    )
    return csv.read_csv(path, convert_options=convert)


def _read_parquet(path: Path, missing: Collection[object]) -> pa.Table:
    from pyarrow import parquet

    return parquet.read_table(path)


_READERS: dict[str, Callable[[Path, Collection[object]], pa.Table]] = {
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".parquet": _read_parquet,
}
