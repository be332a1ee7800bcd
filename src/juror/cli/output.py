"""Read the tables of a command, and write its results as CSV, JSON or Parquet."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from juror.cli.data import check_drop
from juror.cli.places import refuse_inputs, refuse_no_file
from juror.cli.terminal import put, tell
from juror.errors import ParameterError, shortlist
from juror.files.csv_writing import write_csv
from juror.files.writing import check_place, write_whole
from juror.record import finite

_CONTROL = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")

# pandas and pyarrow are slow to import: load them only if there is a table.
if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from juror.domain import Domain
    from juror.readers.described import Files


def read_table(
    files: Files, drop: Sequence[str], missing: Collection[Any], text: Collection[str], known: Collection[str]
) -> pa.Table:
    """Read data files into memory, without the dropped columns. Markers mean nothing in columns that are not known."""
    from juror.readers import files as readers

    table = readers.read_table(files.path, missing, text, files.written())
    check_drop(drop, table.column_names)
    others = [name for name in table.column_names if name not in known and name not in drop]
    if others and missing:
        plain = readers.read_table(files.path, (), text, files.written())
        for name in others:
            table = table.set_column(table.schema.get_field_index(name), plain.field(name), plain[name])
    return table.drop_columns(list(drop))


def write_frame(frame: pd.DataFrame | pa.Table, output: Path | None, as_json: bool = False) -> None:
    """Write a frame to a file, completely or not at all, or to stdout; an Arrow table keeps its types in Parquet."""
    if output is None:
        put(lambda stream: _WRITERS[".json" if as_json else ".csv"](frame, stream))
        return
    write_whole(output, lambda stream: _WRITERS[output.suffix.lower()](frame, stream))


def write_columns(columns: Mapping[str, Sequence[Any]], as_json: bool) -> None:
    """Write columns to stdout, the same bytes as :func:`write_frame`, without importing pandas."""
    put(lambda stream: (_records if as_json else write_csv)(columns, stream))


def check_labels(domain: Domain) -> None:
    """Refuse labels that could not be told apart in a file that is written."""
    for variable in domain:
        variable.check_texts()


def check_output(output: Path | None, as_json: bool, inputs: Iterable[str | Path | None]) -> None:
    """Refuse, before any work is done, an unknown suffix, and an output that is also an input."""
    if output is None:
        return
    refuse_no_file(output, to_stdout=True)
    check_place(output)
    if output.suffix.lower() not in _WRITERS:
        raise ParameterError(f"--output must end in one of {shortlist(_WRITERS)}. Got {output.name!r} instead.")
    if as_json and output.suffix.lower() != ".json":
        raise ParameterError(f"--json writes JSON, so --output must end in .json. Got {output.name!r} instead.")
    refuse_inputs([output], inputs)


def tell_written(output: Path, began: float) -> None:
    """Report what was written, and the time since ``began``, a value of ``time.perf_counter``."""
    seconds = time.perf_counter() - began
    tell(f"wrote {output} ({size_in_words(output.stat().st_size)}) after {seconds:.1f} s")


def size_in_words(n_bytes: int) -> str:
    """Write the size of a file.

    >>> size_in_words(12_345), size_in_words(20_208_640)
    ('12 kB', '19.3 MB')
    """
    kilobytes = n_bytes / 1024
    return f"{kilobytes:.0f} kB" if kilobytes < 1000 else f"{kilobytes / 1024:.1f} MB"


def write_json(value: Any) -> None:
    """Write a value to stdout as JSON, indented."""
    put(lambda stream: stream.write(_json(value, indent=2).encode()))


def _json(value: Any, indent: int) -> str:
    # dates, and what else columns that pass through may hold, are written as in CSV
    text = json.dumps(finite(value), ensure_ascii=False, indent=indent, allow_nan=False, default=str)
    # JSON escapes only some of the control characters.
    return _CONTROL.sub(lambda character: f"\\u{ord(character[0]):04x}", text) + "\n"


def _records(columns: Mapping[str, Sequence[Any]], stream: IO[bytes]) -> None:
    stream.write(_json(records_of(columns), indent=1).encode())


def records_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return the rows of columns, each by the names of the columns."""
    rows = zip(*columns.values(), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


def _columns_of(frame: pd.DataFrame | pa.Table) -> dict[str, list[Any]]:
    """Return the cells of a frame as plain values, None for missing. Arrow's integers stay integers beside nulls."""
    import pyarrow as pa

    if isinstance(frame, pa.Table):
        return {name: frame[name].to_pylist() for name in frame.column_names}
    cells = frame.astype(object).where(frame.notna(), None)
    return {name: cells[name].tolist() for name in frame.columns}


def _write_parquet(frame: pd.DataFrame | pa.Table, stream: IO[bytes]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    from juror.answers.label_frames import to_frame

    if not isinstance(frame, pa.Table):
        # a column of objects may mix labels of several types, or hold numbers that Arrow has no type for
        objects = _columns_of(frame[[name for name in frame.columns if frame[name].dtype == object]])
        arrays = {name: to_frame({name: cells}, "pyarrow")[name] for name, cells in objects.items()}
        arrays |= {name: pa.Array.from_pandas(frame[name]) for name in frame.columns if name not in objects}
        frame = pa.table({name: arrays[name] for name in frame.columns})
    parquet.write_table(frame, stream)


_WRITERS: dict[str, Callable[[Any, IO[bytes]], None]] = {
    ".csv": lambda frame, stream: write_csv(_columns_of(frame), stream),
    ".json": lambda frame, stream: _records(_columns_of(frame), stream),
    ".parquet": _write_parquet,
}
