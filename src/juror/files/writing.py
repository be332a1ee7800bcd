"""Write files whole or not at all: to a temporary file in the same folder first, which then replaces the target."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from juror.errors import DataError


def check_place(path: Path) -> None:
    """Refuse a path where no file can be written; call it before any long work."""
    if path.is_dir():
        raise DataError(f"{str(path)!r} is a folder. Name a file in it.")
    if path.exists() and not path.is_file():
        raise DataError(f"{str(path)!r} is not a regular file, and would be replaced by one. Name another.")
    if not path.parent.is_dir():
        raise DataError(f"There is no folder {str(path.parent)!r} to write {str(path)!r} into. Make it first.")


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file atomically, by way of a temporary file in its folder; if anything fails, no file is left behind.

    Parameters
    ----------
    path : pathlib.Path
        The path. An existing file is replaced.
    write : callable
        Writes the content to the open binary stream that it is given.
    """
    check_place(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            write(stream)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
