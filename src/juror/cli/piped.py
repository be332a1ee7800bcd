"""DATA that is a stream: ``-`` for stdin, ``/dev/stdin``, a named pipe, or what ``<(…)`` of a shell stands for.

A stream can be read once, and juror may read files several times. So a stream is copied to a temporary file first. The
copy is removed when the command ends. If the command is killed, the next one that copies a stream removes it: a command
locks the folder of its copy, and the lock ends with the process.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO

from juror.errors import DataError
from juror.files.locks import lock

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
_PREFIX = "juror-stream-"
_IS_FOLDER = re.compile(re.escape(_PREFIX) + r"\w+")

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
        _remove_abandoned()
        copy = _new_folder() / (name + suffix)
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


def _new_folder() -> Path:
    """Make and lock a folder, which is removed when the command ends."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
        # If another command removes the folder before it is locked, make another one.
        with suppress(FileNotFoundError):
            handle = _opened(folder)
            _copies.callback(os.close, handle)
            _copies.callback(shutil.rmtree, folder, ignore_errors=True)
            lock(handle, wait=True)
            if os.path.samestat(os.fstat(handle), os.stat(folder)):
                return folder


def _remove_abandoned() -> None:
    """Remove the folders of commands that were killed."""
    root = Path(tempfile.gettempdir())
    for folder in (root / name for name in os.listdir(root) if _IS_FOLDER.fullmatch(name)):
        # What another command has just removed, or what may not be opened, is left alone.
        with suppress(OSError):
            handle = _opened(folder)
            try:
                if os.fstat(handle).st_uid == os.getuid() and lock(handle, wait=False):
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
