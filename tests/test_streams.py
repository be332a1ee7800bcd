"""Streams of Arrow batches: read once, kept for later passes, and clear when something goes wrong in the middle."""

from __future__ import annotations

import errno
import gc
import itertools
import os
import pickle
import re
import subprocess
import sys
import tempfile
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from adbc_driver_sqlite import dbapi as sqlite
from hypothesis import given, settings
from hypothesis import strategies as st

from juror.errors import DataError
from juror.readers import open_source, streams
from juror.readers.scans import CHUNK_ROWS
from juror.readers.streams import is_stream, scan_stream

SCHEMA = pa.schema({"colour": pa.string(), "size": pa.int64()})


class Capsule:
    """Something of which nothing is known but that it offers a stream."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


class OnCluster(Capsule):
    """A frame of Spark, which offers a stream as well."""

    __module__ = "pyspark.sql.dataframe"

    def __init__(self):
        super().__init__(pa.table({"a": [1]}))


def batch_of(start, stop):
    rows = range(start, stop)
    return pa.record_batch([[f"c{row % 7}" for row in rows], [row % 5 for row in rows]], schema=SCHEMA)


def reader_of(*lengths, fail=None):
    """Return batches of some lengths, perhaps with an exception behind them."""

    def batches():
        for start, stop in itertools.pairwise(itertools.accumulate(lengths, initial=0)):
            yield batch_of(start, stop)
        if fail is not None:
            raise fail

    return pa.RecordBatchReader.from_batches(SCHEMA, batches())


def cells(part, names=None):
    """Return the cells of a part by column, and the first rows and lengths of its chunks."""
    found, starts = {}, []
    for chunk in part.chunks(names):
        starts.append({(column.first_row, len(column.index)) for column in chunk})
        for column in chunk:
            found.setdefault(column.name, []).extend(None if i < 0 else column.values[i] for i in column.index)
    return found, starts


def expected(n_rows):
    return {"colour": [f"c{row % 7}" for row in range(n_rows)], "size": [row % 5 for row in range(n_rows)]}


def nameless_files():
    """Return the open files of this process that have no name any more."""
    links = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            links.append(os.readlink(descriptor))
        except FileNotFoundError:  # the one that lists the others
            continue
    return {link for link in links if link.startswith(tempfile.gettempdir()) and link.endswith("(deleted)")}


@pytest.fixture(autouse=True)
def spools():
    """Return a function that counts spools, and see that none is left."""
    before = nameless_files()  # pytest has some of its own
    yield lambda: len(nameless_files() - before)
    if not nameless_files() <= before:
        gc.collect()  # a traceback may hold a part
    assert nameless_files() <= before


@pytest.fixture
def small_chunks(monkeypatch):
    monkeypatch.setattr(streams, "CHUNK_ROWS", 10)


def test_what_is_a_stream():
    with sqlite.connect(":memory:") as connection, connection.cursor() as cursor:
        for data in (
            reader_of(1),
            Capsule(pa.table({"a": [1]})),
            pa.record_batch({"a": [1]}),
            duckdb.sql("SELECT 1 AS a"),
            duckdb.connect(),
            pl.LazyFrame({"a": [1]}),
            cursor,
        ):
            assert is_stream(data), type(data)
    for data in (
        pd.DataFrame({"a": [1]}),
        pd.Series([1]),
        pl.DataFrame({"a": [1]}),
        pl.Series([1]),
        pa.table({"a": [1]}),
        pa.chunked_array([[1]]),
        OnCluster(),
        np.zeros((1, 1)),
        {"a": [1]},
        "table.csv",
        Path("table.csv"),
        pl.LazyFrame,
        None,
        [],
    ):
        assert not is_stream(data), type(data)


def test_a_subclass_of_a_frame_is_a_frame():
    class Mine(pd.DataFrame):
        pass

    assert not is_stream(Mine({"a": [1]}))


def test_to_tell_a_stream_imports_no_library():
    code = """
import sys
from juror.readers.streams import is_stream
is_stream(object()), is_stream({"a": [1]})
print([name for name in ("pandas", "polars", "duckdb", "adbc_driver_manager") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 25), max_size=12), st.integers(0, 5))
def test_however_batches_are_cut_the_rows_are_the_same(lengths, n_before):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(streams, "CHUNK_ROWS", 10)
        (part,) = scan_stream(reader_of(*lengths)).parts
        # a pass that is left in the middle does no harm
        for _ in zip(range(n_before), part.chunks(["size"]), strict=False):
            pass
        n_rows = sum(lengths)
        starts = [{(first, min(10, n_rows - first))} for first in range(0, n_rows, 10)]
        for _ in range(2):
            found, places = cells(part)
            assert found == (expected(n_rows) if n_rows else {})
            assert places == starts


def test_chunks_are_of_the_common_size():
    (part,) = scan_stream(reader_of(*[2048] * 40)).parts
    assert cells(part)[1] == [{(0, CHUNK_ROWS)}, {(CHUNK_ROWS, 2048 * 40 - CHUNK_ROWS)}]


def test_wide_chunks_end_sooner(monkeypatch):
    monkeypatch.setattr(streams, "_CHUNK_BYTES", 100)
    (part,) = scan_stream(reader_of(8, 8, 8)).parts
    found, places = cells(part)
    assert found == expected(24)
    assert places == [{(0, 8)}, {(8, 8)}, {(16, 8)}]


def test_a_first_pass_over_some_columns_keeps_all(small_chunks):
    (part,) = scan_stream(reader_of(7, 7, 7)).parts
    assert cells(part, ["size"])[0] == {"size": expected(21)["size"]}
    assert cells(part)[0] == expected(21)
    assert cells(part, ["colour"])[0] == {"colour": expected(21)["colour"]}
    assert list(part.chunks([])) == [[], [], []]


def test_passes_side_by_side_see_the_same_rows(small_chunks):
    (part,) = scan_stream(reader_of(*[4] * 10)).parts
    one, other = part.chunks(), part.chunks(["size"])
    for _ in range(3):
        next(one)
    seen = [next(other)[0].first_row for _ in range(4)]
    assert seen == [0, 10, 20, 30]
    (fourth, _) = next(one)
    assert fourth.first_row == 30
    assert [fourth.values[i] for i in fourth.index] == expected(40)["colour"][30:]
    assert next(one, None) is None


def test_passes_of_several_threads_do_not_mix(small_chunks):
    (part,) = scan_stream(reader_of(*[3] * 100)).parts
    with ThreadPoolExecutor(4) as pool:
        for found, _ in pool.map(lambda _: cells(part), range(8)):
            assert found == expected(300)


def test_what_the_schema_says(small_chunks):
    table = pa.table(
        {
            "text": ["x"],
            "int": pa.array([1], pa.uint8()),
            "float": [0.5],
            "decimal": pa.array([1], pa.decimal128(5, 2)),
            "boolean": [True],
            "category": pa.array(["x"]).dictionary_encode(),
            "numeric": pa.ExtensionArray.from_storage(pa.opaque(pa.string(), "numeric", "PostgreSQL"), pa.array(["1"])),
        }
    )
    scan = scan_stream(Capsule(table))
    assert scan.names == tuple(table.column_names)
    assert scan.numbers == {"int", "float", "decimal", "numeric"}
    assert scan.n_rows is None
    (chunk,) = scan.parts[0].chunks()
    assert [column.form for column in chunk] == ["text", "number", "number", "number", "boolean", "category", "number"]


def test_markers_are_missing():
    table = pa.table({"colour": ["red", "?", None], "size": [1, -9, 2]})
    (part,) = scan_stream(Capsule(table), missing=["?", -9]).parts
    assert cells(part)[0] == {"colour": ["red", None, None], "size": [1, None, 2]}


def test_dictionaries_that_differ_between_batches_are_joined():
    # 26 batches of 6 labels each, indices of a byte: together they have more labels than a signed byte
    kind = pa.dictionary(pa.int8(), pa.string())
    labels = [[f"{letter}{i}" for i in range(6)] for letter in "abcdefghijklmnopqrstuvwxyz"]
    batches = [
        pa.record_batch([pa.DictionaryArray.from_arrays(pa.array([5, None, 0], pa.int8()), words)], ["a"])
        for words in labels
    ]
    (part,) = scan_stream(pa.RecordBatchReader.from_batches(pa.schema({"a": kind}), batches)).parts
    for _ in range(2):
        ((column,),) = part.chunks()
        assert (column.form, column.ordered) == ("category", False)
        assert column.values == [word for words in labels for word in words]
        found = [None if i < 0 else column.values[i] for i in column.index]
        assert found == [cell for words in labels for cell in (words[5], None, words[0])]


def test_nulls_inside_dictionaries():
    words = [pa.array(["x", None, "y"]), pa.array([None, "z"])]
    indices = [pa.array([0, 1, 2, None]), pa.array([0, 1])]
    batches = [
        pa.record_batch([pa.DictionaryArray.from_arrays(*both)], ["a"]) for both in zip(indices, words, strict=True)
    ]
    (part,) = scan_stream(pa.RecordBatchReader.from_batches(batches[0].schema, batches)).parts
    for _ in range(2):
        assert cells(part)[0] == {"a": ["x", None, "y", None, None, "z"]}


@pytest.mark.parametrize("n_rows", [3, 10_000])
def test_a_lazy_frame_is_collected_in_batches(n_rows, monkeypatch):
    monkeypatch.setattr(streams, "CHUNK_ROWS", 1000)
    frame = pl.LazyFrame({"row": range(n_rows)}).select(
        kind=pl.format("k{}", pl.col("row") % 3).cast(pl.Categorical),
        level=pl.format("{}", pl.col("row") % 2).cast(pl.Enum(["1", "0", "never"])),
        text=pl.when(pl.col("row") % 4 > 0).then(pl.format("t{}", pl.col("row") % 5)),
        half=pl.col("row") / 2,
    )
    scan = scan_stream(frame)
    assert (scan.names, scan.numbers) == (("kind", "level", "text", "half"), {"half"})
    held = {column.name: column for column in open_source(frame.collect())}
    for _ in range(2):
        assert cells(scan.parts[0])[0] == {
            name: [None if i < 0 else column.values[i] for i in column.index] for name, column in held.items()
        }
    (first, *_) = scan.parts[0].chunks()
    assert [(column.form, column.ordered) for column in first] == [
        (column.form, column.ordered) for column in held.values()
    ]
    assert list(first[1].values) == ["1", "0", "never"]


def test_a_lazy_frame_of_no_rows():
    scan = scan_stream(pl.LazyFrame({"a": [1]}).filter(pl.col("a") > 1))
    assert (scan.names, scan.numbers) == (("a",), {"a"})
    assert cells(scan.parts[0]) == ({}, [])


def test_an_old_polars_is_told():
    class LazyFrame:
        __module__ = "polars.lazyframe.frame"

    with pytest.raises(DataError) as caught:
        scan_stream(LazyFrame())
    assert str(caught.value) == (
        "This version of polars cannot collect a LazyFrame in batches. Upgrade polars, or collect the frame first with "
        "frame.collect()."
    )


def test_a_connection_of_duckdb_with_a_result():
    with duckdb.connect() as connection:
        connection.execute("SELECT range % 3 AS a FROM range(5)")
        with pytest.warns(UserWarning, match="extra copy"):
            (part,) = scan_stream(connection).parts
        assert cells(part)[0] == {"a": [0, 1, 2, 0, 1]}


BAD = {
    "a stream of single values": (
        lambda: scan_stream(Capsule(pa.chunked_array([[1, 2]]))),
        "The stream of type Capsule gives no rows: Cannot import schema: ArrowSchema describes non-struct type int64. "
        "Pass a stream of record batches not yet read.",
    ),
    "no columns": (
        lambda: scan_stream(pa.RecordBatchReader.from_batches(pa.schema([]), [])),
        "The stream of type RecordBatchReader has no columns. juror needs at least one.",
    ),
    "repeated names": (
        lambda: scan_stream(Capsule(pa.table([[1], [2]], ["a", "a"]))),
        "Column names must be unique; ['a'] occur more than once. Rename them.",
    ),
    "an empty name": (
        lambda: scan_stream(Capsule(pa.table([[1]], [" "]))),
        "Column 0 has an empty name. Give it one, or write the data without it if it holds the row numbers of a frame: "
        "with index=False in pandas, row.names=FALSE in R.",
    ),
    "a lazy frame that makes no sense": (
        lambda: scan_stream(pl.LazyFrame({"a": [1]}).select("b")),
        'The stream of type LazyFrame gives no rows: unable to find column "b"; valid columns: ["a"]. Pass a stream of '
        "record batches not yet read.",
    ),
    "a relation of a table that is gone": (
        lambda: scan_stream(gone_relation()),
        "The stream of type DuckDBPyRelation gives no rows: Catalog Error: Table with name t does not exist. Pass a "
        "stream of record batches not yet read.",
    ),
    "times of day": (
        lambda: cells(scan_stream(duckdb.sql("SELECT TIME '12:30' AS hour")).parts[0]),
        "Column 'hour' holds durations or times of day (time64[us]), which juror does not read. Convert it to a "
        "number, such as hours, or to text, or drop it.",
    ),
    "text that is none": (
        lambda: cells(scan_stream(Capsule(pa.table({"a": pa.array([b"\xff"]).view(pa.string())}))).parts[0]),
        "Column 'a' holds text that is not UTF-8. Convert it, or drop it.",
    ),
    "numbers of too many digits": (
        lambda: cells(
            scan_stream(
                Capsule(
                    pa.table(
                        {
                            "n": pa.ExtensionArray.from_storage(
                                pa.opaque(pa.string(), "numeric", "PostgreSQL"),
                                pa.array(["1", "0.12345678901234567890"]),
                            )
                        }
                    )
                )
            ).parts[0]
        ),
        "Column 'n' holds decimals of more digits than a float can tell apart (0.12345678901234567890). Round them or "
        "cast them in the query, for example to double precision or to text.",
    ),
}


def gone_relation():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    relation = connection.sql("SELECT * FROM t")
    connection.execute("DROP TABLE t")
    return relation


@pytest.mark.parametrize("case", BAD)
def test_the_sentence(case):
    do, sentence = BAD[case]
    with pytest.raises(DataError) as caught:
        do()
    assert str(caught.value) == sentence


def test_a_cursor_without_a_result():
    sentence = r"^The stream of type Cursor gives no rows: Cannot .* before execute"
    with sqlite.connect(":memory:") as connection, connection.cursor() as cursor, pytest.raises(DataError) as caught:
        scan_stream(cursor)
    assert re.match(sentence, str(caught.value))


def test_a_stream_stays_in_its_process():
    (part,) = scan_stream(reader_of(3)).parts
    with pytest.raises(DataError) as caught:
        pickle.dumps(part)
    assert str(caught.value) == (
        "The stream of type RecordBatchReader lives in this process and cannot be sent to the workers of a cluster. "
        "Write its rows to Parquet files and pass their folder."
    )


def test_a_producer_that_fails(small_chunks, spools):
    fail = RuntimeError("the tap is dry, see postgresql://ann:hush@host/db password=hush\nline 2")
    (part,) = scan_stream(reader_of(8, 8, 8, fail=fail)).parts
    sentence = (
        "The stream of type RecordBatchReader broke off after 24 rows: the tap is dry, see postgresql://ann@host/db "
        "password=***. Run it again, or write its rows to a Parquet file and pass the path."
    )
    # the chunks before are given; no pass takes what came for the whole
    seen = []
    with pytest.raises(DataError) as caught:
        seen.extend(chunk[0].first_row for chunk in part.chunks())
    assert seen == [0, 10]
    assert str(caught.value) == sentence
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    for _ in range(2):
        with pytest.raises(DataError) as caught:
            next(part.chunks())
        assert str(caught.value) == sentence
    assert spools() == 0


@pytest.mark.parametrize("fail", [KeyboardInterrupt, MemoryError])
def test_an_interruption_is_passed_on_and_no_later_pass_takes_half_for_the_whole(fail, small_chunks, monkeypatch):
    (part,) = scan_stream(reader_of(8, 8, 8)).parts
    append = streams._Spool.append

    def interrupted(spool, table):
        if len(spool):
            raise fail
        append(spool, table)

    monkeypatch.setattr(streams._Spool, "append", interrupted)
    with pytest.raises(fail):
        cells(part)
    with pytest.raises(DataError) as caught:
        cells(part)
    assert str(caught.value) == ("The stream of type RecordBatchReader was interrupted after 16 rows. Open it again.")


def test_a_consumer_that_fails_does_no_harm(small_chunks):
    (part,) = scan_stream(reader_of(8, 8, 8)).parts
    with pytest.raises(ZeroDivisionError):
        deque(1 / chunk[0].first_row for chunk in part.chunks())
    assert cells(part)[0] == expected(24)


class FullFile:
    """A file on a disk that has room for so many bytes."""

    def __init__(self, file, room, code):
        self._file, self._room, self._code = file, room, code

    def __getattr__(self, name):
        return getattr(self._file, name)

    def write(self, data):
        n_bytes = min(len(data), self._room)
        if not n_bytes:
            raise OSError(self._code, os.strerror(self._code))
        self._room -= n_bytes
        return self._file.write(data[:n_bytes])


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
def test_a_full_disk(code, small_chunks, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "gettempdir", lambda: "the-folder")
    make = tempfile.TemporaryFile
    monkeypatch.setattr(
        tempfile, "TemporaryFile", lambda buffering: FullFile(make(buffering=0, dir=tmp_path), 3000, code)
    )
    (part,) = scan_stream(reader_of(*[8] * 50)).parts
    with pytest.raises(DataError) as caught:
        cells(part)
    assert str(caught.value) == (
        "The stream of type RecordBatchReader comes once and is kept on disk for further passes, but after "
        f"0.0 MB no more can be written to the temporary folder 'the-folder': {os.strerror(code)}. Set TMPDIR to "
        "a folder on a larger disk, or write the rows to a Parquet file and pass the path."
    )
    with pytest.raises(DataError, match="larger disk"):
        next(part.chunks())


def test_no_temporary_folder_at_all(monkeypatch):
    def none(*args, **kwargs):
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/nowhere']")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    monkeypatch.setattr(tempfile, "TemporaryFile", none)
    (part,) = scan_stream(reader_of(8)).parts
    with pytest.raises(DataError, match=r"after 0\.0 MB no more can be written to any temporary folder: No usable"):
        cells(part)


def test_a_limit_on_the_size_of_files(tmp_path):
    # a process of its own, as the limit cannot be raised again; SIGXFSZ is ignored by Python, the write fails
    code = """
import resource, pyarrow as pa
from juror.errors import DataError
from juror.readers.streams import scan_stream
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000_000, 5_000_000))
import numpy as np
rng = np.random.default_rng(0)
batches = (pa.record_batch({"a": rng.random(100_000)}) for _ in range(40))
(part,) = scan_stream(pa.RecordBatchReader.from_batches(pa.schema({"a": pa.float64()}), batches)).parts
try:
    for chunk in part.chunks(): pass
except DataError as error:
    print(error)
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert re.sub(r"4\.\d MB", "4.x MB", done.stdout.strip()) == (
        "The stream of type RecordBatchReader comes once and is kept on disk for further passes, but after 4.x MB no "
        f"more can be written to the temporary folder {str(tmp_path)!r}: File too large. Set TMPDIR to a folder on a "
        "larger disk, or write the rows to a Parquet file and pass the path."
    )
    assert list(tmp_path.iterdir()) == []


def test_the_spool_has_no_name_and_goes_with_the_scan(small_chunks, spools, monkeypatch, tmp_path):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    scan = scan_stream(reader_of(*[8] * 50))
    assert spools() == 0
    cells(scan.parts[0])
    assert spools() == 1
    assert list(tmp_path.iterdir()) == []
    del scan
    assert spools() == 0


def test_whoever_gives_the_rows_is_let_go_at_the_end_on_failure_and_when_dropped(small_chunks):
    def scan(fail=None):
        closed = []
        rows = streams.Rows(SCHEMA, reader_of(8, 8, fail=fail), lambda: closed.append(True), "It", str)
        return streams.scan_rows(rows, ()), closed

    read, closed = scan()
    cells(read.parts[0])
    assert closed
    broken, closed = scan(RuntimeError("no"))
    with pytest.raises(DataError):
        cells(broken.parts[0])
    assert closed
    dropped, closed = scan()
    next(dropped.parts[0].chunks())
    assert not closed
    del dropped
    assert closed
