"""Tables in and out of the command line: files to columns, frames to CSV, JSON or Parquet."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from juror.errors import ParameterError, did_you_mean, shortlist
from juror.sources import Column
from juror.writing import check_place, write_whole

if TYPE_CHECKING:
    import pandas as pd


def without(columns: Sequence[Column], drop: Sequence[str] | None) -> list[Column]:
    """Leave out the columns that the user dropped."""
    names = [column.name for column in columns]
    for name in drop or ():
        if name not in names:
            raise ParameterError(f"--drop names no column {name!r}. {did_you_mean(name, names)}")
    kept = [column for column in columns if column.name not in (drop or ())]
    if not kept:
        raise ParameterError("--drop leaves no column.")
    return kept


def write_frame(frame: pd.DataFrame, output: Path | None, as_json: bool = False) -> None:
    """Write a frame to a file, whole or not at all, or to stdout."""
    if output is None:
        _WRITERS[".json" if as_json else ".csv"](frame, sys.stdout.buffer)
        sys.stdout.flush()
        return
    suffix = ".json" if as_json else output.suffix.lower()
    write_whole(output, lambda stream: _WRITERS[suffix](frame, stream))


def check_output(output: Path | None) -> None:
    """Refuse a file name that no writer fits, before any work is done for it."""
    if output is None:
        return
    check_place(output)
    if output.suffix.lower() not in _WRITERS:
        raise ParameterError(f"--output must end in one of {shortlist(_WRITERS)}. Got {output.name!r} instead.")


def write_json(value: Any) -> None:
    """Write a value to stdout as JSON, indented."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _write_csv(frame: pd.DataFrame, stream: IO[bytes]) -> None:
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    frame.to_csv(text, index=False, lineterminator="\n")
    text.detach()


def _write_json(frame: pd.DataFrame, stream: IO[bytes]) -> None:
    records = frame.astype(object).where(frame.notna(), None).to_dict(orient="records")
    stream.write((json.dumps(records, ensure_ascii=False, indent=1) + "\n").encode())


def _write_parquet(frame: pd.DataFrame, stream: IO[bytes]) -> None:
    frame.to_parquet(stream, index=False)


_WRITERS: dict[str, Callable[[Any, IO[bytes]], None]] = {
    ".csv": _write_csv,
    ".json": _write_json,
    ".parquet": _write_parquet,
}
