"""Where commands write. No command may write over what it reads."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from juror.cli.piped import STDIN
from juror.errors import ParameterError

_FILE_DATABASES = ("duckdb:///", "sqlite:///")


def refuse_inputs(outputs: Iterable[Path], inputs: Iterable[str | Path | None]) -> None:
    """Refuse, before any work is done, an output that is also an input.

    Parameters
    ----------
    outputs : iterable of pathlib.Path
        All files that the command will write.
    inputs : iterable of str or pathlib.Path
        All that it reads: files, folders, globs, addresses of databases. None stands for an argument that was not
        given, and what does not exist is left to whoever opens it.
    """
    existing = [output for output in outputs if output.exists()]
    if not existing:
        return
    for path in (path for given in inputs if given is not None for path in _files_of(str(given))):
        for output in existing:
            if same_file(path, output):
                raise ParameterError(
                    f"{str(output)!r} is also an input, and would be replaced. Name another file with --output."
                )


def refuse_no_file(output: Path, to_stdout: bool = False) -> None:
    """Refuse an output that is no name of a file: empty text, or the dash that means stdout elsewhere."""
    if str(output) == "-":
        way_out = "Leave --output out to write to stdout." if to_stdout else "Pass one, such as people.juror."
        raise ParameterError(f"--output must be the name of a file, not '-'. {way_out}")
    if output == Path():
        raise ParameterError("--output must be a file. Got no name, or that of this folder.")


def same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths are the same existing file."""
    return one.exists() and other.exists() and one.samefile(other)


def _files_of(given: str) -> Iterator[Path]:
    """Yield the files that an argument means."""
    for scheme in _FILE_DATABASES:
        given = given.removeprefix(scheme)
    if os.path.isdir(given) or (glob.has_magic(given) and not os.path.exists(given)):
        from juror.readers.paths import find_files  # imports pyarrow, which takes long

        yield from (Path(found.path) for found in find_files(given))
    else:
        yield Path("/dev/stdin" if given == STDIN else given)
