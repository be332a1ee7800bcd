"""DATA that is a stream: ``-`` for stdin, ``/dev/stdin``, a named pipe, or what ``<(…)`` of a shell stands for.

A stream can be read once, and juror may read files several times. So a stream is copied to a temporary file first. The
copy is removed when the command ends.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from juror.errors import DataError

STDIN = "-"
_OPEN_FILES = ("/dev/fd/", "/proc/self/fd/")
# How files begin that are not plain text, and their suffix. An Arrow stream begins with four bytes of ones.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
}

# What is done when the command ends
_copies = ExitStack()


@contextmanager
def copies_removed() -> Iterator[None]:
    """Remove the copies of streams at the end."""
    try:
        yield
    finally:
        _copies.close()


def is_stream(path: str) -> bool:
    """Tell whether DATA is a stream. stdin may be a file, but one without a suffix."""
    if path in (STDIN, "/dev/stdin") or path.startswith(_OPEN_FILES):
        return True
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def copied(path: str) -> str:
    """Copy a stream to a temporary file; return the path of the copy."""
    if path != STDIN:
        with open(path, "rb") as stream:
            return _copied(path, stream)
    if sys.stdin is None:
        raise DataError("DATA is '-', stdin, and stdin is closed. Name a file, or pipe rows into juror.")
    return _copied(path, sys.stdin.buffer)


def _copied(path: str, stream: IO[bytes]) -> str:
    from juror.files.container import read_kind

    # buffered, so fewer bytes than asked for mean the end
    first = stream.read(max(map(len, _BEGINNINGS)))
    if not first:
        raise DataError(f"DATA {path!r} is a stream, and it is empty. Name a file, or pipe rows into juror.")
    suffix = next((suffix for beginning, suffix in _BEGINNINGS.items() if first.startswith(beginning)), ".csv")
    # messages about the rows name the copy, so its name tells what it is a copy of
    name = "stdin" if path in (STDIN, "/dev/stdin") else "stream"
    try:
        folder = Path(tempfile.mkdtemp(prefix="juror-"))
        _copies.callback(shutil.rmtree, folder)
        copy = folder / (name + suffix)
        with copy.open("wb") as file:
            file.write(first)
            shutil.copyfileobj(stream, file)
    except OSError as error:
        raise DataError(
            f"DATA {path!r} is a stream, which cannot be copied to a temporary file: {error.strerror or error}. Set "
            "TMPDIR to a folder on a larger disk, or name a file."
        ) from None
    if read_kind(copy) is not None:
        raise DataError(f"DATA {path!r} is a stream, and it holds a model or counts. Name the file that juror wrote.")
    return str(copy)
