"""Find the files that a path means and their kind, and report files that cannot be read."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa

from juror.errors import DataError, Message, shortlist
from juror.printing import numbered
from juror.readers.suffixes import COMPRESSED, SUFFIXES

# How files that hold something else than rows are used
_WAYS_OUT = {
    ".counts": Message("It looks like counts of rows. Load them, and pass the counts in its place."),
    ".juror": Message("It looks like a model. Name the file that holds the data."),
    ".duckdb": Message("Name a query on it with {Query.database:='duckdb:///…'}."),
    ".sqlite": Message("Name a query on it with {Query.database:='sqlite:///…'}."),
    ".db": Message("Name a query on it with {Query.database:='sqlite:///…'} or 'duckdb:///…'."),
}
# What Hive, Spark and pyarrow name the folder of rows without a value
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
# Raised by pyarrow for damaged files, and by Python for text that is not in its encoding
_FAILURES = (pa.ArrowException, OSError, EOFError, UnicodeError)
# What pyarrow says of a row; it knows its number unless other blocks come before. The line of column names is row 1.
_RAGGED = re.compile(r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+): ?(.*)")


@dataclass(frozen=True)
class Found:
    """A file, and for every folder named ``key=value`` above it a column and its value, None for no value."""

    path: str
    keys: tuple[tuple[str, str | None], ...] = ()


def find_files(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[Found]:
    """Return the files that a path means, in the order of their names.

    The path of a folder means all files below it. A glob (``*``, ``?``, ``[…]``, and ``**`` for folders at any depth)
    means all files that it matches, and a list the files of all its paths, in the order of the list. In folders and
    globs, names that begin with a dot or an underscore are left out, and folders named ``key=value`` give their files a
    column.
    """
    paths = [path] if isinstance(path, (str, os.PathLike)) else path
    files = [found for each in paths for found in _find(os.fspath(each))]
    if not files:
        raise DataError("The list of paths is empty. Name at least one file.")
    seen: set[str] = set()
    for found in files:
        place = os.path.realpath(found.path)
        if place in seen:
            fact = f"The file {found.path!r} is named twice, perhaps by a link, so its rows would count twice."
            raise DataError(f"{fact} Name it once.")
        seen.add(place)
    return files


def _find(path: str) -> list[Found]:
    with reading(path):
        if os.path.isfile(path):
            ending_of(path)
            return [Found(path)]
        if os.path.isdir(path):
            files = [Found(file, _keys(path, file)) for file in _below(path)]
            if not files:
                raise DataError(f"There is no file in the folder {path!r}. Check the path.")
        elif glob.has_magic(path):
            base = _fixed_part(path)
            matched = sorted(match for match in glob.glob(path, recursive=True) if _is_shown(base, match))
            inside = (file for match in matched for file in (_below(match) if os.path.isdir(match) else [match]))
            # a glob may match both a folder and a file in it
            files = [Found(file, _keys(base, file)) for file in dict.fromkeys(inside)]
            if not files:
                raise DataError(f"No file matches {path!r}. Check the path.")
        elif "://" in path:
            raise DataError(
                f"{path!r} is the address of another machine, and juror reads files of this one. Fetch or mount them, "
                "or read them with DuckDB or polars and pass what these give."
            )
        else:
            if os.path.splitext(path)[1]:
                ending_of(path)
            raise DataError(f"There is no file or folder {path!r}. Check the path.")
    for found in files:
        ending_of(found.path)
    return files


def _below(folder: str) -> list[str]:
    """Return the files in a folder and its folders that are not hidden."""
    files, seen = [], set()
    for here, folders, names in os.walk(folder, followlinks=True):
        # a link may lead back to a folder above it
        if os.path.realpath(here) in seen:
            folders[:] = []
            continue
        seen.add(os.path.realpath(here))
        # a key may begin with a dot or an underscore
        folders[:] = [name for name in folders if name[0] not in "._" or "=" in name]
        files += [os.path.join(here, name) for name in names if name[0] not in "._"]
    return sorted(files)


def _is_shown(base: str, match: str) -> bool:
    return all(name[0] not in "._" for name in Path(match).relative_to(base).parts)


def _fixed_part(pattern: str) -> str:
    """Return the folder in which a glob begins to search."""
    fixed = Path(pattern)
    while glob.has_magic(str(fixed)):
        fixed = fixed.parent
    return str(fixed)


def _keys(base: str, file: str) -> tuple[tuple[str, str | None], ...]:
    folders = Path(file).relative_to(base).parts[:-1]
    pairs = (map(unquote, name.split("=", 1)) for name in folders if "=" in name)
    return tuple((key, None if value == _NO_VALUE else value) for key, value in pairs)


def ending_of(path: str) -> str:
    """Return the ending of a file's name, with that of its compression; refuse what juror cannot read.

    >>> ending_of("answers.CSV.gz")
    '.csv.gz'
    """
    ending, compression = _endings(path)
    if ending not in SUFFIXES or (compression and SUFFIXES[ending] != "csv"):
        if ending in _WAYS_OUT:
            raise DataError("The file {path!r} is no table of rows. {way_out}", path=path, way_out=_WAYS_OUT[ending])
        raise DataError(
            f"The file {path!r} ends in {ending + compression!r}; juror reads {shortlist(SUFFIXES)}, and the first two "
            f"also with {' or '.join(COMPRESSED)} behind. Save the table as one of these, or rename the "
            "file if it is one."
        )
    return ending + compression


def _endings(path: str) -> tuple[str, str]:
    stem, ending = os.path.splitext(path.lower())
    return (os.path.splitext(stem)[1], ending) if ending in COMPRESSED else (ending, "")


def kind_of(files: Sequence[Found]) -> str:
    """Return the one kind that all files are of: ``"csv"``, ``"parquet"`` or ``"ipc"``."""
    kinds: dict[str, str] = {}
    for found in files:
        kinds.setdefault(SUFFIXES[_endings(found.path)[0]], found.path)
    if len(kinds) > 1:
        raise DataError(
            f"The files {shortlist(kinds.values())} are of different kinds. Name those of one kind, for example with "
            "'folder/*.parquet'."
        )
    return next(iter(kinds))


@contextmanager
def reading(path: str, encoding: str | None = None) -> Iterator[None]:
    """Turn exceptions of readers into one sentence about the file; the encoding is that of a CSV file."""
    try:
        yield
    except FileNotFoundError:
        raise DataError(f"There is no file {path!r} any more. Put it back, or begin again without it.") from None
    except _FAILURES as error:
        reason = str(error).splitlines()[0]
        if isinstance(error, UnicodeError) or "invalid UTF8" in reason:
            row = re.search(r"Row #(\d+)", reason)
            raise not_text(f"The file {path!r}", encoding, f" in row {row[1]}" if row else "") from None
        if "straddling" in reason:
            reason = "a row of it is too long. Perhaps a quote is not closed."
        ragged = _RAGGED.search(reason)
        if ragged:
            raise _ragged(path, *ragged.groups()) from None
        raise DataError(f"The file {path!r} cannot be read as {''.join(_endings(path))}: {reason}") from None


def _ragged(path: str, row: str | None, expected: str, got: str, text: str) -> DataError:
    """Return the error for a row that has more or fewer cells than there are columns."""
    return DataError(
        "The file {path!r} has {expected}, but {where} {text!r} has {got}. Mend it, or name the "
        "{Files.separator} or {Files.quote} if cells are read wrongly.",
        path=path,
        expected=numbered(int(expected), "column"),
        where=f"row {row}" if row else "the row",
        text=text[:40],
        got=numbered(int(got), "cell"),
    )


def not_text(what: str, encoding: str | None, where: str = "") -> DataError:
    """Return the error for text that is not in the encoding it should be in."""
    expected = "UTF-8" if encoding in (None, "utf-8") else encoding
    fact = f"{what} holds text that is not {expected}{where}."
    if encoding is None:
        return DataError(f"{fact} Write it as UTF-8.")
    return DataError("{fact} Save the file as UTF-8, or name its {encoding}.", fact=fact)
