"""Write files whole or not at all: to a temporary file in the same folder first, which then replaces the target.

A process that is killed leaves its temporary file behind. The next one that writes into the folder removes it: a writer
locks its file, and the lock ends with the process, however that ends.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from juror.errors import DataError, FileWriteError
from juror.files.locks import lock

# The name of a temporary file does not contain that of the target, which may have the greatest length already.
_TEMPORARY = ".juror-{}.part"
_IS_TEMPORARY = re.compile(r"\.juror-[0-9a-f]{16}\.part")
_WAYS_OUT = {
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "Make room, or name another place."),
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), "Name a place that you may write to."),
}


def check_place(path: Path) -> None:
    """Refuse a path where no file can be written; call it before any long work."""
    try:
        if path.is_dir():
            raise DataError(f"{str(path)!r} is a folder. Name a file in it.")
        if path.exists() and not path.is_file():
            raise DataError(f"{str(path)!r} is not a regular file, and would be replaced by one. Name another.")
        if not path.parent.is_dir():
            raise DataError(f"There is no folder {str(path.parent)!r} to write {str(path)!r} into. Make it first.")
    except OSError as error:
        raise _cannot_write(path, error) from None


def write_whole(path: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file atomically, by way of a temporary file in its folder; if anything fails, no file is left behind.

    Parameters
    ----------
    path : pathlib.Path
        The path. An existing file is replaced, and its mode is kept.
    write : callable
        Writes the content to the open binary stream that it is given.
    """
    check_place(path)
    try:
        _remove_abandoned(path.parent)
        mode = _mode_of(path)
        temporary, handle = _create(path.parent, 0o666 if mode is None else 0o600)
        try:
            with os.fdopen(handle, "wb") as stream:
                if mode is not None:
                    os.fchmod(stream.fileno(), mode)
                write(stream)
                stream.flush()
                os.fsync(stream.fileno())
                # before the lock ends, or another process might take the file for an abandoned one
                os.replace(temporary, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise _cannot_write(path, error) from None


def _mode_of(path: Path) -> int | None:
    """Return who may read and write a file, or None if there is no such file."""
    try:
        return stat.S_IMODE(path.stat().st_mode) & 0o777
    except FileNotFoundError:
        return None


def _create(folder: Path, mode: int) -> tuple[Path, int]:
    """Create and lock a temporary file. The system takes the umask off its mode; nobody need ask for the umask, which
    would change it for all threads.
    """
    while True:
        path = folder / _TEMPORARY.format(secrets.token_hex(8))
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        lock(handle, wait=True)
        if os.fstat(handle).st_nlink:
            return path, handle
        # another process removed the file before it was locked
        os.close(handle)


def _remove_abandoned(folder: Path) -> None:
    """Remove temporary files of processes that ended without removing them."""
    with suppress(OSError):
        for name in filter(_IS_TEMPORARY.fullmatch, os.listdir(folder)):
            # what another person owns, or has just removed, is left alone
            with suppress(OSError):
                handle = os.open(folder / name, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    if stat.S_ISREG(os.fstat(handle).st_mode) and lock(handle, wait=False):
                        os.unlink(folder / name)
                finally:
                    os.close(handle)


def _cannot_write(path: Path, error: OSError) -> DataError:
    if error.errno == errno.ENAMETOOLONG:
        n_bytes, most = len(os.fsencode(path.name)), 255
        with suppress(OSError):
            most = os.pathconf(path.parent, "PC_NAME_MAX")
        if n_bytes > most:
            return DataError(
                f"The name {path.name!r} is too long: it has {n_bytes} bytes, and this folder takes up to {most}. Name "
                "a shorter one."
            )
    reason = error.strerror or str(error)
    return FileWriteError(
        f"Cannot write {str(path)!r}: {reason}. {_WAYS_OUT.get(error.errno or 0, 'Name another place.')}"
    )
