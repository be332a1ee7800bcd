"""All that a command prints goes through here: results to stdout, everything else to stderr.

Text is shown without passwords and control characters, in the encoding of the terminal. Data for other programs are
exact, and UTF-8.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, Any, TextIO

from juror.cli.addresses import scrubbed
from juror.errors import DataError
from juror.printing import printable

# As a shell reports a program that the signal SIGPIPE ended
_READER_GONE = 128 + 13


def tell(text: str) -> None:
    """Print a message to stderr. If stderr is closed, nobody wants messages."""
    if sys.stderr is not None:
        _print(text, sys.stderr)


def show(text: str) -> None:
    """Print a result for people to stdout."""
    _print(text, _stdout())


def put(write: Callable[[IO[bytes]], Any]) -> None:
    """Write data to stdout with a function: exact for other programs, as text on a terminal."""
    stdout = _stdout()
    if stdout.isatty():
        whole = io.BytesIO()
        write(whole)
        _print(whole.getvalue().decode().removesuffix("\n"), stdout)
        return
    with _writing(stdout):
        write(stdout.buffer)
        stdout.flush()


def is_open() -> bool:
    """Tell whether there is a stdout. If there is none, nobody wants to read about the file that a command wrote."""
    return sys.stdout is not None


def is_terminal() -> bool:
    """Tell whether stdout is a terminal, where a person reads it."""
    return sys.stdout is not None and sys.stdout.isatty()


def shows_progress() -> bool:
    """Tell whether stderr is a terminal."""
    return sys.stderr is not None and sys.stderr.isatty()


def _stdout() -> Any:
    if sys.stdout is None:
        raise DataError("The result goes to stdout, and stdout is closed. Open it, or name a file with --output.")
    return sys.stdout


def _print(text: str, stream: TextIO) -> None:
    encoding = stream.encoding or "utf-8"
    shown = printable(scrubbed(text)).encode(encoding, "backslashreplace").decode(encoding)
    with _writing(stream):
        stream.write(shown + "\n")
        stream.flush()


@contextmanager
def _writing(stream: TextIO) -> Iterator[None]:
    """Say why a stream cannot be written; end like a program that SIGPIPE ends if its reader went away."""
    try:
        yield
    except OSError as error:
        # What is left in the stream goes nowhere, or the interpreter would complain when it ends.
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), stream.fileno())
        if isinstance(error, BrokenPipeError):
            sys.exit(_READER_GONE)
        if stream is sys.stderr:
            return
        raise DataError(f"Cannot write to stdout: {error.strerror}.") from None
