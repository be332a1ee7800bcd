"""Files of the folder that JUROR_DATA names, for data sets that ``juror.datasets`` does not fetch."""

from __future__ import annotations

import os
from pathlib import Path

from juror.errors import DataError


def data_file(name: str) -> Path:
    """Return the path of a file in the data folder, or raise a sentence that says how to name one."""
    folder = os.environ.get("JUROR_DATA")
    if not folder:
        raise DataError(f"JUROR_DATA is not set, and {name!r} is read from the folder it names. Set it.")
    path = Path(folder) / name
    if not path.is_file():
        raise DataError(f"JUROR_DATA has no file {name!r}. Put it there, or name another folder.")
    return path
