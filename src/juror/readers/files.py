"""Files of any size, as tables in parts that can be read repeatedly, or as one Arrow table."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence

import pyarrow as pa

from juror.errors import ParameterError
from juror.readers.columns import read_markers
from juror.readers.csv_dialects import Written
from juror.readers.csv_files import open_csv_files
from juror.readers.file_parts import SMALL_BYTES, FilePart, Layout, Opened, TypedPart, runs
from juror.readers.ipc_files import IpcPart
from juror.readers.parquet_files import ParquetPart
from juror.readers.paths import find_files, kind_of, reading
from juror.readers.scans import Scan
from juror.readers.schemas import Keys, is_number, join_schemas, read_keys, without_row_numbers

# Kinds of files that declare their columns; the other kind is CSV
TYPED: dict[str, type[TypedPart]] = {"parquet": ParquetPart, "ipc": IpcPart}
# A small file may hold many cells if it is compressed well
_SMALL_CELLS = 1 << 20
Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]


def scan_path(
    path: Paths, missing: Collection[object] = (), text: Collection[str] = (), written: Written | None = None
) -> Scan:
    r"""Offer files as a table in parts.

    A CSV file is separated by commas, or by semicolons or tabs where its first line has no comma. In it a bare empty
    cell and the cells equal to a marker are missing, and a quoted empty cell is a label. A column has one type in all
    files: integers, booleans, numbers, or else text.

    Parameters
    ----------
    path : path or sequence of paths
        A file, a folder of files, a glob such as ``'folder/*.parquet'``, or a list of these; all of one kind. Kinds are
        ``.csv`` and ``.tsv`` (each also ``.gz`` or ``.zst``), ``.parquet`` and ``.pq``, and Arrow's ``.arrow``,
        ``.feather`` and ``.ipc``. Below a folder or glob, folders named ``key=value`` give a column to their files,
        unless the files have it themselves.
    missing : collection
        Markers that stand for a missing value.
    text : collection of str
        Columns of CSV files, or of the names of folders, to read as text whatever they look like.
    written : Written, optional
        How CSV files are written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "one.csv").write_text("colour,size\nred,1\nblue,2\n")
    ...     _ = pathlib.Path(folder, "two.csv").write_text("colour,size\nteal,0.5\n")
    ...     scan = scan_path(folder)
    ...     [[column.values for column in chunk] for part in scan.parts for chunk in part.chunks(["colour"])]
    [[['red', 'blue']], [['teal']]]
    >>> scan.names, scan.numbers
    (('colour', 'size'), frozenset({'size'}))
    """
    parts, schema, opened = _open(path, missing, text, written)
    numbers = frozenset(field.name for field in schema if is_number(field.type))
    return Scan(tuple(parts), tuple(schema.names), numbers, opened.n_rows, in_memory=opened.is_small)


def read_table(
    path: Paths, missing: Collection[object] = (), text: Collection[str] = (), written: Written | None = None
) -> pa.Table:
    """Read files into memory as one Arrow table. Arguments as in :func:`scan_path`; markers stay in the table."""
    parts, schema, _ = _open(path, missing, text, written)
    tables = [part.table(schema) for part in parts]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _open(
    path: Paths, missing: Collection[object], text: Collection[str], written: Written | None
) -> tuple[list[FilePart], pa.Schema, Opened]:
    """Return the parts of a table, its columns with those of folders, and what else is known of its files."""
    markers = read_markers(missing)
    files = find_files(path)
    kind = kind_of(files)
    if written is not None and kind != "csv":
        raise ParameterError(
            "{separator}, {quote}, {encoding} and {decimal} say how CSV files are written, and {path!r} is none. Leave "
            "them out.",
            path=files[0].path,
        )
    paths = [found.path for found in files]
    typed = TYPED.get(kind)
    opened = _open_typed(typed, paths) if typed else open_csv_files(paths, markers, text, written or Written())
    names = opened.schema.names
    keys, fields = read_keys(files, names, text)
    layout = Layout(tuple(names), tuple(opened.schema.types), markers, len(files) > 1)
    parts = [part for found in files for part in opened.parts(found.path, layout, keys[found.path])]
    return parts, pa.schema([*opened.schema, *fields], opened.schema.metadata), opened


def _open_typed(kind: type[TypedPart], paths: Sequence[str]) -> Opened:
    """Open files that declare their columns."""
    schemas: dict[str, pa.Schema] = {}
    rows: dict[str, list[int] | None] = {}
    for path in paths:
        with reading(path):
            schema, rows[path] = kind.look_into(path)
        schemas[path] = without_row_numbers(schema)

    def parts(path: str, layout: Layout, keys: Keys) -> list[FilePart]:
        of_pieces = rows[path]
        if of_pieces is None:
            return [kind(path, layout, keys)]
        return [kind(path, layout, keys, first_row, tuple(pieces)) for first_row, pieces in runs(of_pieces)]

    schema, counts = join_schemas(schemas), [sum(found) for found in rows.values() if found is not None]
    n_rows = sum(counts) if len(counts) == len(paths) else None
    small = n_rows is not None and n_rows * len(schema) <= _SMALL_CELLS
    return Opened(schema, n_rows, parts, small and len(paths) == 1 and os.path.getsize(paths[0]) <= SMALL_BYTES)
