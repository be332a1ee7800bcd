"""Files as tables in parts: every scan against the same table read in memory."""

from __future__ import annotations

import codecs
import gzip
import os
import pickle
from functools import partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

import juror
from juror import DataWarning, Domain, PairCounts
from juror.errors import DataError, ParameterError
from juror.readers import file_parts, open_source, parquet_files
from juror.readers.arrow import from_arrow
from juror.readers.csv_dialects import Written, find_dialect
from juror.readers.csv_types import settle_types
from juror.readers.files import read_table, scan_path
from juror.readers.scans import CHUNK_ROWS

# Comparing

# that such labels stay different is what is tested
pytestmark = pytest.mark.filterwarnings("ignore:Column '.*' has labels that differ only in:juror.errors.DataWarning")


def rows_of(columns):
    """Write out factorised columns: {name: (form, [value of every row, None if missing])}."""
    return {
        column.name: (
            column.form,
            [None if i < 0 else _plain(column.values[i]) for i in column.index.tolist()],
        )
        for column in columns
    }


def _plain(value):
    return value.item() if isinstance(value, np.generic) else value


def scanned(scan, names=None):
    """Read all chunks of all parts, which travel first, and put their rows together."""
    whole = {}
    for part in scan.parts:
        row = None
        for chunk in pickle.loads(pickle.dumps(part)).chunks(names):
            row = chunk[0].first_row if row is None else row
            assert {(column.first_row, len(column.index)) for column in chunk} == {(row, len(chunk[0].index))}
            assert all(column.index.dtype == np.int32 for column in chunk)
            row += len(chunk[0].index)
            for name, (form, values) in rows_of(chunk).items():
                known = whole.setdefault(name, (form, []))
                assert known[0] == form
                known[1].extend(values)
    return whole


def assert_scans_as(scan, data, missing=()):
    """Check that a scan has the rows of data that are read in memory."""
    expected = rows_of(open_source(data, missing))
    assert scan.names == tuple(expected)
    assert scan.numbers == {name for name, (form, _) in expected.items() if form == "number"}
    assert scan.n_rows in (None, len(next(iter(expected.values()))[1]))
    found = scanned(scan)
    for name in expected:
        assert found[name][0] == expected[name][0], name
        assert found[name][1] == expected[name][1], name


@pytest.mark.parametrize(
    "wrong",
    [
        {"a": ["x", "y", None], "b": [1, 2, 4]},
        {"a": ["x", None, "y"], "b": [1, 2, 3]},
        {"b": [1, 2, 3], "a": ["x", "y", None]},
        {"a": ["x", "y", None]},
        {"a": ["x", "y", None], "b": ["1", "2", "3"]},
        {"a": ["x", "y", None, "x"], "b": [1, 2, 3, 3]},
    ],
    ids=["number", "row", "order", "column", "form", "length"],
)
def test_the_comparison_rejects_a_wrong_answer(tmp_path, wrong):
    right = pa.table({"a": ["x", "y", None], "b": [1, 2, 3]})
    parquet.write_table(right, tmp_path / "t.parquet")
    assert_scans_as(scan_path(tmp_path / "t.parquet"), right)
    with pytest.raises(AssertionError):
        assert_scans_as(scan_path(tmp_path / "t.parquet"), wrong)


@pytest.fixture
def small(monkeypatch):
    """Let a few rows be many: chunks of at most 7, parts of at least 5."""
    monkeypatch.setattr(file_parts, "CHUNK_ROWS", 7)
    monkeypatch.setattr(file_parts, "_LEAST_CHUNK_ROWS", 1)
    monkeypatch.setattr(file_parts, "LEAST_ROWS", 5)
    monkeypatch.setattr(parquet_files, "_ROWS_OF_A_DICTIONARY", 1)


# Every kind of file


def ipc_writer(new):
    def write(table, path):
        with new(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=3)

    return write


def csv_writer(separator=",", compression=None):
    def write(table, path):
        with pa.output_stream(path, compression=compression) as stream:
            csv.write_csv(table, stream, csv.WriteOptions(delimiter=separator, quoting_style="needed"))

    return write


WRITERS = {
    "t.parquet": lambda table, path: parquet.write_table(table, path, row_group_size=4),
    "t.pq": lambda table, path: parquet.write_table(table, path, use_dictionary=False, compression="zstd"),
    "t.arrow": ipc_writer(pa.ipc.new_file),
    "stream.arrow": ipc_writer(pa.ipc.new_stream),
    "t.ipc": ipc_writer(pa.ipc.new_file),
    "t.feather": lambda table, path: feather.write_feather(table, path, chunksize=4),
    "t.csv": csv_writer(),
    "T.CSV": csv_writer(),
    "semicolon.csv": csv_writer(";"),
    "t.tsv": csv_writer("\t"),
    "t.csv.gz": csv_writer(compression="gzip"),
    "t.csv.zst": csv_writer(compression="zstd"),
    "t.tsv.gz": csv_writer("\t", "gzip"),
}
TABLE = pa.table(
    {
        "colour": ["red", None, "blue", "red", "?", "green", "Red", "", "NA", "last"],
        "flag": [True, False, None, True, False, True, None, True, True, True],
        "size": [3, 1, None, 2, -9, 3, 1, 700, 2, 3],
        "weight": [0.5, None, 2.5, 0.5, 1.0, -9.0, 4.5, 0.5, 1e300, 0.25],
        "nothing": pa.nulls(10),
        "a.b": list("xyxyxyxyxy"),
    }
)


@pytest.mark.parametrize("missing", [(), ("?", -9)], ids=["no markers", "markers"])
@pytest.mark.parametrize("name", WRITERS)
def test_every_kind_of_file(tmp_path, small, name, missing):
    WRITERS[name](TABLE, tmp_path / name)
    scan = scan_path(str(tmp_path / name), missing)
    if name.startswith(("t.csv", "T.CSV", "semi", "t.tsv")) and not missing:
        assert scan.n_rows is None
    assert_scans_as(scan, TABLE, missing)
    assert list(scanned(scan, {"size", "a.b"})) == ["size", "a.b"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_as_a_table(tmp_path, small, name):
    WRITERS[name](TABLE, tmp_path / name)
    table = read_table(tmp_path / name)
    assert table.column_names == TABLE.column_names
    assert table.to_pydict() == TABLE.to_pydict()
    assert pa.types.is_string(table.schema.field("colour").type)


CELLS = st.fixed_dictionaries(
    {
        "text": st.none() | st.sampled_from(["a", "b", "", "NA", "é", "?"]),
        "few": st.none() | st.booleans(),
        "whole": st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2),
        "real": st.none() | st.floats(width=64) | st.sampled_from([0.0, -0.0, 9.0]),
    }
)


@given(rows=st.lists(CELLS, min_size=1, max_size=30), size=st.integers(1, 12), kind=st.sampled_from(["parquet", "ipc"]))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_table_in_any_pieces(tmp_path, small, rows, size, kind):
    types = {"text": pa.string(), "few": pa.bool_(), "whole": pa.int64(), "real": pa.float64()}
    table = pa.table({name: pa.array([row[name] for row in rows], type_) for name, type_ in types.items()})
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=size)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=size)
    assert_scans_as(scan_path(path, ["?", 9]), table, ["?", 9])


# Parts and chunks


def test_a_part_is_a_row_group_or_some_small_ones(tmp_path):
    table = pa.table({"a": np.arange(250_000) % 7})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=60_000)
    scan = scan_path(tmp_path / "t.parquet")
    assert [(part.pieces, part.first_row) for part in scan.parts] == [
        ((0, 1), 0),
        ((2, 3), 120_000),
        ((4,), 240_000),
    ]
    assert scan.n_rows == 250_000
    assert_scans_as(scan, table)


def test_a_large_row_group_is_read_in_chunks_of_flat_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(file_parts, "CHUNK_ROWS", 2**14)
    n = 10 * 2**14 + 1
    labels = np.array(["red", "blue", "a longer label than the others"])
    table = pa.table({name: labels[np.arange(n) * step % 3] for name, step in [("a", 1), ("b", 2)]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=n)
    size, before = table.nbytes, pa.total_allocated_bytes() - table.nbytes
    del table
    (part,) = scan_path(tmp_path / "t.parquet").parts
    lengths, held = [], []
    for chunk in part.chunks():
        lengths.append(len(chunk[0].index))
        held.append(pa.total_allocated_bytes() - before)
    assert lengths == [2**14] * 10 + [1]
    assert max(held) < size / 4


def test_parts_are_small_and_travel(tmp_path):
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    csv_writer()(TABLE, tmp_path / "t.csv")
    for name in ("t.parquet", "t.csv"):
        assert all(len(pickle.dumps(part)) < 1500 for part in scan_path(tmp_path / name).parts)


def test_chunks_of_wide_tables_have_fewer_rows():
    assert file_parts.rows_at_once(12) == CHUNK_ROWS
    assert file_parts.rows_at_once(5000) * 5000 < 2**25


# The traps of files


def test_dictionaries_that_differ_between_row_groups(tmp_path, small):
    table = pa.table({"a": [letter for letter in "abcdefgh" for _ in range(3)], "b": ["x"] * 23 + ["first seen last"]})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=3)
    assert_scans_as(scan_path(tmp_path / "t.parquet"), table)


def test_text_is_read_as_dictionaries_and_numbers_are_not(tmp_path, monkeypatch):
    n = 50_000
    table = pa.table({"a": [f"{i % 300}" for i in range(n)], "i": np.arange(n) % 300})
    parquet.write_table(table, tmp_path / "t.parquet")
    (part,) = scan_path(tmp_path / "t.parquet").parts
    (batch,) = part.batches(["a", "i"])
    assert pa.types.is_dictionary(batch["a"].type)
    assert batch["i"].type == pa.int64()
    # more than a byte tells apart
    assert_scans_as(scan_path(tmp_path / "t.parquet"), table)


@pytest.mark.parametrize("limit", [parquet_files._DICTIONARY_BYTES, 0], ids=["read as a dictionary", "read as text"])
def test_a_dictionary_that_the_writer_gave_up_on(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(parquet_files, "_DICTIONARY_BYTES", limit)
    monkeypatch.setattr(file_parts, "CHUNK_ROWS", 6000)
    n = 20_000
    table = pa.table({"id": [f"number {i}" for i in range(n)], "few": ["xyz"[i % 3] for i in range(n)]})
    parquet.write_table(table, tmp_path / "t.parquet", dictionary_pagesize_limit=1024, data_page_size=4096)
    scan = scan_path(tmp_path / "t.parquet")
    batches = list(scan.parts[0].batches(["id", "few"]))
    assert pa.types.is_dictionary(batches[0]["id"].type) == (limit > 0)
    assert_scans_as(scan, table)
    # the reader's dictionary grows from chunk to chunk; a chunk's values are its own
    assert all(len(chunk[0].values) == len(chunk[0].index) for part in scan.parts for chunk in part.chunks())


def test_garbage_under_nulls_is_not_read(tmp_path):
    valid = pa.py_buffer(np.packbits([1, 0, 1], bitorder="little").tobytes())
    garbage = pa.py_buffer(np.array([0, 77, 1], dtype=np.int32))
    indices = pa.Array.from_buffers(pa.int32(), 3, [valid, garbage])
    table = pa.table(
        {
            "number": indices,
            "category": pa.DictionaryArray.from_arrays(indices, pa.array(["x", "y"]), safe=False),
            "flag": pa.Array.from_buffers(pa.bool_(), 3, [valid, pa.py_buffer(b"\x07")]),
        }
    )
    with pa.ipc.new_file(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    rows = scanned(scan_path(tmp_path / "t.arrow"))
    assert rows == {
        "number": ("number", [0, None, 1]),
        "category": ("category", ["x", None, "y"]),
        "flag": ("boolean", [True, None, True]),
    }


def test_a_null_inside_a_dictionary(tmp_path):
    chunks = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2]), pa.array(["x", None, "y"])),
        pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 2]), pa.array(["z", None, "y"])),
    ]
    table = pa.table({"a": pa.chunked_array(chunks)})
    with pa.ipc.new_stream(tmp_path / "t.arrow", table.schema) as writer:
        writer.write_table(table)
    expected = ("category", ["x", None, None, "y", None, "z", None, "y"])
    assert scanned(scan_path(tmp_path / "t.arrow")) == {"a": expected}
    assert rows_of([from_arrow("a", table["a"])]) == {"a": expected}


def test_dictionaries_with_narrow_indices_are_joined_in_wide_ones():
    chunks = [pa.array([f"{start + i}" for i in range(100)]).dictionary_encode() for start in (0, 100)]
    narrow = pa.dictionary(pa.int8(), pa.string())
    column = from_arrow("a", pa.chunked_array([chunk.cast(narrow) for chunk in chunks]))
    assert rows_of([column])["a"][1] == [f"{i}" for i in range(200)]


def test_a_declared_category_keeps_its_order_and_other_text_is_text(tmp_path, small):
    frame = pd.DataFrame(
        {
            "grade": pd.Categorical(["low", None, "high"] * 4, ["none", "low", "high"], ordered=True),
            "city": pd.Categorical(["B", "A", "B"] * 4, ["B", "A"]),
            "text": ["x", "y", "x"] * 4,
        }
    )
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=6)
    scan = scan_path(tmp_path / "t.parquet")
    for part in scan.parts:
        for grade, city, text in part.chunks():
            assert (grade.form, grade.values, grade.ordered) == ("category", ["none", "low", "high"], True)
            assert (city.form, city.values, city.ordered) == ("category", ["B", "A"], False)
            assert text.form == "text"
    assert_scans_as(scan, frame)
    table = read_table(tmp_path / "t.parquet")
    assert rows_of(open_source(table)) == rows_of(open_source(frame))


def test_what_pandas_notes_about_its_types_is_kept(tmp_path):
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int8"), "c": pd.Categorical(["u", None])}, index=[3, 9])
    for name in ("a", "b"):
        frame.to_parquet(tmp_path / f"{name}.parquet")
    pd.testing.assert_frame_equal(read_table(tmp_path).to_pandas(), pd.concat([frame] * 2, ignore_index=True))


@pytest.mark.parametrize("size", [0, 3])
def test_row_groups_without_rows(tmp_path, small, size):
    table = TABLE.slice(0, size).select(["colour", "size"])
    with parquet.ParquetWriter(tmp_path / "t.parquet", table.schema) as writer:
        for piece in (table.slice(0, 0), table, table.slice(0, 0)):
            writer.write_table(piece)
    scan = scan_path(tmp_path / "t.parquet")
    assert scan.n_rows == size
    assert scanned(scan) == ({} if size == 0 else rows_of(open_source(table)))
    assert read_table(tmp_path / "t.parquet").equals(table)


@pytest.mark.parametrize("name", ["t.parquet", "t.arrow", "t.csv", "stream.arrow"])
def test_files_without_rows(tmp_path, name):
    WRITERS[name](TABLE.slice(0, 0), tmp_path / name)
    scan = scan_path(tmp_path / name)
    assert scan.names == tuple(TABLE.column_names)
    assert scan.n_rows in (0, None)
    assert scanned(scan) == {}
    assert read_table(tmp_path / name).num_rows == 0


def test_measurements_are_sorted_and_repeated_numbers_counted_alike():
    rng = np.random.default_rng(1)
    many = rng.normal(size=10_000)
    for numbers in (many, np.round(many, 1), np.append(many, [np.nan, 0.0, -0.0]), rng.integers(-9, 9, 9999)):
        mask = rng.random(len(numbers)) < 0.1
        column = from_arrow("a", pa.array(numbers, mask=mask), [numbers[~mask][0]])
        gone = mask | (numbers == numbers[~mask][0]) | np.isnan(numbers)
        assert np.array_equal(column.values, np.unique(numbers[~gone]))
        assert np.array_equal(column.index < 0, gone)
        assert np.array_equal(np.asarray(column.values)[column.index[~gone]], numbers[~gone])


# Types of CSV files


def one_csv(folder, text, name="t.csv"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


IDENTIFIERS = ("0x1F", "007", "-00.5", "12345678901234567891")
CSV_CELLS = st.sampled_from(
    [
        *IDENTIFIERS,
        *("", "0", "1", "7", "-3", " 4", "9223372036854775808", "1.5", "2e3", "nan", "true", "False", "x"),
        *("2020-01-01", "12:30:00", "2020-01-01 10:00:00", "2020-01-01 10:00:00.5", "?", "NA", '""', '"?"', '"5"'),
    ]
)


def inferred(content, missing):
    """Return what pyarrow finds in one table of all rows, and text for columns of numbers with an identifier."""
    convert = csv.ConvertOptions(null_values=["", *missing], strings_can_be_null=True, quoted_strings_can_be_null=False)
    table = csv.read_csv(pa.py_buffer(content), csv.ReadOptions(block_size=1 << 20), None, convert)
    written = csv.read_csv(
        pa.py_buffer(content), convert_options=csv.ConvertOptions(column_types=dict.fromkeys("abc", pa.string()))
    )
    types = {}
    for field in table.schema:
        is_number = pa.types.is_integer(field.type) or pa.types.is_floating(field.type)
        is_text = is_number and set(IDENTIFIERS) & set(written[field.name].to_pylist())
        types[field.name] = pa.string() if is_text else field.type
    return types


def settled(paths, missing=(), **sizes):
    files = {path: find_dialect(path, Written(), missing) for path in paths}
    return {field.name: field.type for field in settle_types(files, **sizes)}


@given(
    cells=st.lists(st.tuples(CSV_CELLS, CSV_CELLS), min_size=1, max_size=8),
    few=st.lists(st.sampled_from(["0", "1", "true", "7", ""]), min_size=8, max_size=8),
    n_first=st.integers(0, 8),
    block=st.integers(80, 160),
)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_types_are_those_of_one_table_of_all_files(tmp_path, cells, few, n_first, block):
    lines = [f"{a},{b},{c}\n" for (a, b), c in zip(cells, few, strict=False)]
    whole = "a,b,c\n" + "".join(lines)
    paths = [
        one_csv(tmp_path, "a,b,c\n" + "".join(lines[:n_first]), "first.csv"),
        one_csv(tmp_path, "a,b,c\n" + "".join(lines[n_first:]), "second.csv"),
    ]
    expected = inferred(whole.encode(), ["?"])
    assert settled(paths, ["?"], small_file=block, block_bytes=block) == expected
    assert settled([one_csv(tmp_path, whole)], ["?"], small_file=block, block_bytes=block) == expected


def test_the_type_may_show_in_the_last_row_of_the_last_file(tmp_path):
    one_csv(tmp_path, "a,b,c,d\n" + "1,1,,x\n" * 5, "a.csv")
    one_csv(tmp_path, "a,b,c,d\n" + "2,0,,1\n" * 5 + "0.5,true,y,2\n", "b.csv")
    scan = scan_path(tmp_path)
    assert scan.numbers == {"a"}
    rows = scanned(scan)
    assert rows["a"] == ("number", [1] * 5 + [2] * 5 + [0.5])
    assert rows["b"] == ("boolean", [True] * 5 + [False] * 5 + [True])
    assert rows["c"] == ("text", [None] * 10 + ["y"])
    assert rows["d"] == ("text", ["x"] * 5 + ["1"] * 5 + ["2"])


def test_cells_of_csv_files(tmp_path):
    path = one_csv(tmp_path, 'a,b,c\n"",NA,-9\n,?,-9.0\n"?",x,1\n"x\ny",,2\n')
    rows = scanned(scan_path(path, ["?", -9]))
    assert rows == {
        "a": ("text", ["", None, None, "x\ny"]),
        "b": ("text", ["NA", None, "x", None]),
        "c": ("number", [None, None, 1, 2]),
    }
    assert scanned(scan_path(path, text=["c"]))["c"] == ("text", ["-9", "-9.0", "1", "2"])


def test_line_breaks_in_cells_at_the_end_of_a_block(tmp_path, monkeypatch):
    monkeypatch.setattr("juror.readers.csv_files.BLOCK_BYTES", 64)
    table = pa.table({"a": ["line\nbreak, and more"] * 40, "b": ["x"] * 40})
    csv.write_csv(table, tmp_path / "t.csv")
    assert_scans_as(scan_path(tmp_path / "t.csv"), table)


def test_dates_may_be_read_as_text(tmp_path):
    path = one_csv(tmp_path, "a\n2020-01-01\n")
    assert scanned(scan_path(path)) == {"a": ("number", [18262])}
    assert scanned(scan_path(path, text=["a"])) == {"a": ("text", ["2020-01-01"])}


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz"])
@pytest.mark.filterwarnings("ignore:.*often means? missing")
def test_a_small_csv_file_is_opened_once(tmp_path, monkeypatch, name):
    WRITERS[name](TABLE.select(["colour", "size", "weight"]), tmp_path / name)
    opened = []

    def noted(function):
        def noting(source, *rest, **options):
            if isinstance(source, (str, os.PathLike)):
                opened.append(os.fspath(source))
            return function(source, *rest, **options)

        return noting

    for module, function in ((pa, "input_stream"), (csv, "open_csv"), (csv, "read_csv")):
        monkeypatch.setattr(module, function, noted(getattr(module, function)))
    juror.fit(tmp_path / name, rank=1)
    assert opened == [str(tmp_path / name)]
    # a large one stays a table in parts, whose domain and rows are read one after the other
    monkeypatch.setattr("juror.readers.csv_files.SMALL_BYTES", 10)
    assert not scan_path(tmp_path / name).in_memory


def test_a_small_csv_file_that_travels_is_read_again(tmp_path):
    path = one_csv(tmp_path, "a,b\nx,1\n")
    scan = scan_path(path)
    os.remove(path)
    (part,) = scan.parts
    assert rows_of(next(part.chunks())) == {"a": ("text", ["x"]), "b": ("number", [1])}
    with pytest.raises(DataError, match="any more"):
        next(pickle.loads(pickle.dumps(part)).chunks())


# How CSV files are written


@pytest.mark.parametrize(
    ("content", "written"),
    [
        (b"a|b\n'x|y'|1.5\nz|2\n", Written(separator="|", quote="'")),
        (b"a;b\nx|y;1,5\nz;2\n", Written(decimal=",")),
        (b"a\tb\nx|y\t1,5\nz\t2\n", Written(decimal=",")),
        (b"a,b\nx|y,1.5\nz,2\n", Written(quote="")),
        (codecs.BOM_UTF8 + b"a,b\nx|y,1.5\nz,2\n", None),
        ("a,b\nx|y,1.5\nz,2\n".encode("utf-16"), None),
        ("\ufeffa,b\nx|y,1.5\nz,2\n".encode("utf-16-be"), None),
        ("a,b\nx|y,1.5\nz,2\n".encode("utf-16-le"), Written(encoding="utf-16-le")),
        ("a,b\nx|y,1.5\nz,2\n".encode("utf-32"), None),
        (b"a,b\r\nx|y,1.5\r\nz,2\r\n", None),
    ],
    ids=str,
)
def test_how_files_are_written(tmp_path, content, written):
    path = one_csv(tmp_path, content)
    assert scanned(scan_path(path, written=written)) == {"a": ("text", ["x|y", "z"]), "b": ("number", [1.5, 2])}


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
def test_text_of_other_encodings(tmp_path, encoding):
    path = one_csv(tmp_path, gzip.compress("né\ncafé\nthé\n".encode(encoding)), "t.csv.gz")
    assert scanned(scan_path(path, written=Written(encoding=encoding))) == {"né": ("text", ["café", "thé"])}


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"separator": ""}, "separator must be one ASCII character. Got '' instead."),
        ({"separator": "·"}, "separator must be one ASCII character. Got '·' instead."),
        ({"separator": "\n"}, "separator must not be a line break. Got '\\n' instead."),
        ({"quote": '""'}, "quote must be one ASCII character. Got '\"\"' instead."),
        ({"quote": None}, "quote must be one ASCII character. Got None instead."),
        ({"separator": ",", "quote": ","}, "separator and quote must differ. Both are ','."),
        ({"separator": ",", "decimal": ","}, "separator and decimal must differ. Both are ','."),
        ({"decimal": "·"}, "decimal must be '.' or ','. Got '·' instead."),
        (
            {"encoding": "utf-9"},
            "encoding must be one that Python knows, like 'utf-8' or 'latin-1'. Got 'utf-9' instead.",
        ),
        ({"encoding": "hex"}, "encoding must be one that Python knows, like 'utf-8' or 'latin-1'. Got 'hex' instead."),
        ({"encoding": None}, "encoding must be one that Python knows, like 'utf-8' or 'latin-1'. Got None instead."),
    ],
    ids=repr,
)
def test_ways_of_writing_that_are_refused(options, sentence):
    with pytest.raises(ParameterError) as error:
        Written(**options)
    assert str(error.value) == sentence


def test_only_csv_files_are_written_somehow(tmp_path):
    parquet.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(
        ParameterError,
        match=r"separator, quote, encoding and decimal say how CSV files are written, and '.*t.parquet' is none",
    ):
        scan_path(tmp_path / "t.parquet", written=Written())


# Which files a path means


@pytest.fixture
def folder(tmp_path):
    """Write a folder of three files, with others that are nobody's data."""
    for year, city, values in [("2024", "A%20B", [1, 2]), ("2024", "C", [3]), ("2025", "C", [4])]:
        place = tmp_path / "data" / f"year={year}" / f"city={city}"
        place.mkdir(parents=True)
        parquet.write_table(pa.table({"a": values}), place / "part.parquet")
    (tmp_path / "data" / "_SUCCESS").write_text("")
    (tmp_path / "data" / ".part.crc").write_text("")
    (tmp_path / "data" / "_temporary").mkdir()
    (tmp_path / "data" / "_temporary" / "part.parquet").write_text("half a file")
    return tmp_path / "data"


FOLDER = {
    "a": ("number", [1, 2, 3, 4]),
    "year": ("number", [2024, 2024, 2024, 2025]),
    "city": ("text", ["A B", "A B", "C", "C"]),
}


@pytest.mark.parametrize(
    "pattern", ["", "**/*.parquet", "*/*/*.parquet", "year=*", "*", "**", "year=202[45]/*/part.parquet"]
)
def test_a_folder_and_globs(folder, pattern):
    scan = scan_path(os.path.join(folder, pattern) if pattern else folder)
    assert scan.names == ("a", "year", "city")
    assert scan.numbers == {"a", "year"}
    assert scan.n_rows == 4
    assert scanned(scan) == FOLDER
    assert scanned(scan, ["city"]) == {"city": FOLDER["city"]}


def test_a_folder_as_a_table(folder):
    assert read_table(folder).to_pydict() == {name: values for name, (_, values) in FOLDER.items()}


def test_keys_as_text_with_markers_and_without_values(folder):
    (folder / "year=2025").rename(folder / "year=__HIVE_DEFAULT_PARTITION__")
    rows = scanned(scan_path(folder, missing=["C"]))
    assert rows["year"] == ("number", [2024, 2024, 2024, None])
    assert rows["city"] == ("text", ["A B", "A B", None, None])
    assert scanned(scan_path(folder, text=["year"]))["year"] == ("text", ["2024", "2024", "2024", None])
    assert read_table(folder)["year"].to_pylist() == [2024, 2024, 2024, None]
    (folder / "year=2024").rename(folder / "year=007")
    assert scanned(scan_path(folder))["year"] == ("text", ["007", "007", "007", None])


def test_a_key_that_the_files_have_is_left_to_them(folder):
    for path in folder.glob("year*/*/*.parquet"):
        table = parquet.read_table(path, partitioning=None)
        parquet.write_table(table.append_column("city", pa.array(["own"] * len(table))), path)
    assert scanned(scan_path(folder))["city"] == ("text", ["own"] * 4)


def test_a_list_of_paths_in_its_order(tmp_path):
    paths = [one_csv(tmp_path, f"a\n{name}\n", f"{name}.csv") for name in "yx"]
    assert scanned(scan_path(paths)) == {"a": ("text", ["y", "x"])}
    assert scanned(scan_path(tmp_path)) == {"a": ("text", ["x", "y"])}
    assert scanned(scan_path([tmp_path / "x.csv", str(tmp_path / "y.*")])) == {"a": ("text", ["x", "y"])}


def test_a_file_may_be_named_like_a_glob(tmp_path):
    one_csv(tmp_path, "a\nother\n", "x1.csv")
    assert scanned(scan_path(one_csv(tmp_path, "a\nthis\n", "x[1].csv"))) == {"a": ("text", ["this"])}


def refused(path, **options):
    with pytest.raises(DataError) as error:
        scanned(scan_path(path, **options))
    return str(error.value)


def test_paths_that_are_refused(folder):
    one = str(folder / "year=2024" / "city=A%20B" / "part.parquet")
    assert refused([]) == "The list of paths is empty. Name at least one file."
    assert refused([one, one]) == (
        f"The file {one!r} is named twice, perhaps by a link, so its rows would count twice. Name it once."
    )
    assert "is named twice" in refused([folder, folder / "year=2024" / "." / "city=C"])
    assert refused(f"{folder}/*.csv") == f"No file matches '{folder}/*.csv'. Check the path."
    nowhere = f"{folder}/_temporary/_none"
    assert refused(nowhere) == f"There is no file or folder {nowhere!r}. Check the path."
    assert refused(f"{folder}/no.csv") == f"There is no file or folder '{folder}/no.csv'. Check the path."
    (folder / "empty").mkdir()
    assert refused(folder / "empty") == f"There is no file in the folder '{folder}/empty'. Check the path."
    (folder / "year=2024" / "part.parquet").write_bytes((folder / one).read_bytes())
    assert refused(folder) == (
        f"The file '{folder}/year=2024/part.parquet' is in no folder named city=…, and {one!r} is. Give all files the "
        "same keys, or name only those files that have them."
    )
    one_csv(folder, "a\n1\n")
    assert refused(folder) == (
        f"The files ['{folder}/t.csv', {one!r}] are of different kinds. Name those of one kind, for example with "
        "'folder/*.parquet'."
    )
    (folder / "README.md").write_text("")
    assert refused(folder).startswith(f"The file '{folder}/README.md' ends in '.md'; juror reads")


def test_a_file_without_columns(tmp_path):
    parquet.write_table(pa.table({}), tmp_path / "t.parquet")
    assert refused(tmp_path / "t.parquet") == "The data have no columns. juror needs at least one."


# Files that differ


def two_files(folder, one, two):
    paths = [str(folder / "one.parquet"), str(folder / "two.parquet")]
    for path, columns in zip(paths, (one, two), strict=True):
        parquet.write_table(pa.table(columns), path)
    return paths


def test_a_column_that_one_file_lacks(tmp_path):
    one, two = two_files(tmp_path, {"a": [1], "b": [2]}, {"b": [2], "a": [1]})
    assert scanned(scan_path([one, two])) == {"a": ("number", [1, 1]), "b": ("number", [2, 2])}
    one, two = two_files(tmp_path, {"a": [1], "b": [2]}, {"b": [2]})
    way_out = "Give all files the same columns, or name only those files that have them."
    assert refused([one, two]) == f"The file {two!r} has no column 'a', which {one!r} has. {way_out}"
    assert refused([two, one]) == f"The file {two!r} has no column 'a', which {one!r} has. {way_out}"
    paths = [one_csv(tmp_path, "a,b\n1,2\n", "one.csv"), one_csv(tmp_path, "b\n2\n", "two.csv")]
    assert refused(paths) == f"The file {paths[1]!r} has no column 'a', which {paths[0]!r} has. {way_out}"


NUMBERS = [pa.int8(), pa.int32(), pa.uint16(), pa.uint64(), pa.int64(), pa.float32(), pa.float64(), pa.null()]


@pytest.mark.parametrize("two", NUMBERS, ids=str)
@pytest.mark.parametrize("one", NUMBERS[:-1], ids=str)
def test_numbers_of_different_widths_go_together(tmp_path, one, two):
    value = None if pa.types.is_null(two) else 2
    paths = two_files(tmp_path, {"a": pa.array([1, None], one)}, {"a": pa.array([value, None], two)})
    scan = scan_path(paths)
    assert scan.numbers == {"a"}
    assert read_table(paths)["a"].to_pylist() == [1, None, value, None]
    assert [rows_of(chunk)["a"][1] for part in scan.parts for chunk in part.chunks()] == [[1, None], [value, None]]


def test_text_and_categories_go_together_as_text(tmp_path):
    texts = [pa.array(["y", "x"], type_) for type_ in (pa.string(), pa.large_string())]
    for text in (*texts, texts[0].dictionary_encode()):
        paths = two_files(tmp_path, {"a": texts[0].dictionary_encode()}, {"a": text})
        form = "category" if pa.types.is_dictionary(text.type) else "text"
        assert scanned(scan_path(paths)) == {"a": (form, ["y", "x", "y", "x"])}
        assert pa.types.is_dictionary(read_table(paths).schema.field("a").type) == (form == "category")


def test_a_column_that_changes_its_type_between_files(tmp_path):
    paths = two_files(tmp_path, {"a": [1], "b": ["x"]}, {"a": ["1"], "b": ["x"]})
    assert refused(paths) == (
        f"Column 'a' holds numbers (int64) in {paths[0]!r} and text (string) in {paths[1]!r}. Write it alike in all "
        "files, or drop it."
    )
    paths = two_files(tmp_path, {"a": [True]}, {"a": [1.5]})
    assert refused(paths).startswith(f"Column 'a' holds booleans (bool) in {paths[0]!r} and numbers (double) in")


# Damaged files


def chunk_error(path, damage, **options):
    """Open a file, damage it, and return what reading its rows raises."""
    scan = scan_path(path, **options)
    damage()
    with pytest.raises(DataError) as error:
        scanned(scan)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.fixture
def long_parquet(tmp_path):
    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.integers(9, size=300_000), "b": rng.normal(size=300_000)})
    parquet.write_table(table, tmp_path / "t.parquet", row_group_size=150_000, compression="zstd")
    return tmp_path / "t.parquet"


def test_a_page_that_is_corrupt_in_the_middle(long_parquet):
    content = bytearray(long_parquet.read_bytes())
    middle = len(content) * 2 // 3
    content[middle : middle + 200_000] = bytes(200_000)
    scan = scan_path(long_parquet)
    long_parquet.write_bytes(content)
    assert sum(len(chunk[0].index) for chunk in scan.parts[0].chunks()) == 150_000
    with pytest.raises(DataError, match=f"^The file '{long_parquet}' cannot be read as .parquet: "):
        list(scan.parts[1].chunks())


def test_files_that_are_damaged_or_gone(long_parquet):
    content = long_parquet.read_bytes()
    long_parquet.write_bytes(content[:-1000])
    assert refused(long_parquet).startswith(f"The file '{long_parquet}' cannot be read as .parquet: ")
    long_parquet.write_bytes(content)
    gone = f"There is no file '{long_parquet}' any more. Put it back, or begin again without it."
    assert chunk_error(long_parquet, long_parquet.unlink) == gone
    long_parquet.write_bytes(content)
    cut = chunk_error(long_parquet, lambda: long_parquet.write_bytes(content[:5000]))
    assert cut.startswith(f"The file '{long_parquet}' cannot be read as .parquet: ")
    for other in (pa.table({"c": [1]}), pa.table({"a": [1], "b": [1.0]})):
        long_parquet.write_bytes(content)
        anew = chunk_error(long_parquet, lambda table=other: parquet.write_table(table, long_parquet))
        assert anew == f"The file '{long_parquet}' was written anew while it was read. Begin again."


@pytest.mark.filterwarnings("ignore:.*without an end mark")
@pytest.mark.parametrize("name", ["t.arrow", "stream.arrow"])
def test_arrow_files_that_are_damaged_or_gone(tmp_path, name):
    path = tmp_path / name
    WRITERS[name](TABLE, path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    assert refused(path).startswith(f"The file '{path}' cannot be read as .arrow: ")
    path.write_bytes(b"")
    assert refused(path).startswith(f"The file '{path}' ")
    path.write_bytes(content)
    assert "any more" in chunk_error(path, path.unlink)
    path.write_bytes(content)
    changed = chunk_error(path, lambda: WRITERS[name](TABLE.select(["size"]), path))
    assert changed == f"The file '{path}' was written anew while it was read. Begin again."


def test_arrow_files_of_other_kinds(tmp_path):
    (tmp_path / "t.feather").write_bytes(b"FEA1" + bytes(100))
    assert refused(tmp_path / "t.feather") == (
        f"The file '{tmp_path}/t.feather' is of version 1 of Feather, which is no Arrow file. Write it anew, for "
        "example with pandas."
    )


def test_offsets_that_lead_out_of_a_file_are_not_followed(tmp_path):
    WRITERS["t.arrow"](pa.table({"a": ["x", "yy"]}), tmp_path / "t.arrow")
    offsets, wrong = (np.array(values, dtype=np.int32).tobytes() for values in ([0, 1, 3], [0, 1, 2**30]))
    content = (tmp_path / "t.arrow").read_bytes()
    assert content.count(offsets) == 1
    (tmp_path / "t.arrow").write_bytes(content.replace(offsets, wrong))
    assert refused(tmp_path / "t.arrow").startswith(f"The file '{tmp_path}/t.arrow' cannot be read as .arrow: ")


def test_text_in_parquet_that_is_not_utf_8(tmp_path):
    array = pa.array([b"caf\xe9", b"x"]).view(pa.string())
    parquet.write_table(pa.table({"a": array}), tmp_path / "t.parquet")
    sentence = f"The file '{tmp_path}/t.parquet' holds text that is not UTF-8. Write it as UTF-8."
    assert refused(tmp_path / "t.parquet") == sentence


RAGGED = " Mend it, or name the separator of juror.Files or quote of juror.Files if cells are read wrongly."
LONG = b"a,b\n" + b"x,1\n" * 60_000
CSV_REFUSED = {
    "ragged": (
        b"a,b\n1,2\n3\n",
        "t.csv",
        "has 2 columns, but row 3 '3' has 1 cell." + RAGGED,
    ),
    "ragged late": (LONG + b"y\n", "t.csv", "has 2 columns, but row 60002 'y' has 1 cell." + RAGGED),
    "latin-1": (
        b"a,b\nx,1\ncaf\xe9,2\n",
        "t.csv",
        "Column 'a' of {path!r} holds text that is not UTF-8. Save the file as UTF-8, or name its encoding.",
    ),
    "latin-1 late": (
        LONG + b"caf\xe9,2\n",
        "t.csv",
        "holds text that is not UTF-8 in row 60002. Save the file as UTF-8, or name its encoding.",
    ),
    "latin-1 in names": (
        b"caf\xe9,b\nx,1\n",
        "t.csv",
        "holds text that is not UTF-8. Save the file as UTF-8, or name its encoding.",
    ),
    "half a character": (
        "a\nx\n".encode("utf-16")[:-1],
        "t.csv",
        "holds text that is not utf-16. Save the file as UTF-8, or name its encoding.",
    ),
    "gzip without its end": (
        gzip.compress(LONG)[:-4],
        "t.csv.gz",
        "cannot be read as .csv.gz: Truncated compressed stream",
    ),
    "gzip with a wrong sum": (
        gzip.compress(LONG)[:-8] + bytes(8),
        "t.csv.gz",
        "cannot be read as .csv.gz: zlib inflate failed: incorrect data check",
    ),
    "quote not closed": (
        LONG + b'"x,1\n' + LONG * 8,
        "t.csv",
        "a row of it is too long. Perhaps a quote is not closed.",
    ),
    "not zstd": (
        b"a\nx\n",
        "t.csv.zst",
        "cannot be read as .csv.zst: ZSTD decompress failed: Unknown frame descriptor",
    ),
    "empty": (b"", "t.csv", "is empty. It needs a line of column names and some rows."),
    "same name twice": (
        b"a,a\n1,2\n",
        "t.csv",
        "Column names must be unique; ['a'] occur more than once. Rename them.",
    ),
}


@pytest.mark.parametrize("name", CSV_REFUSED)
def test_csv_files_that_are_refused(tmp_path, monkeypatch, name):
    # blocks of 4 kB, so that what comes late is seen late
    small_blocks = partial(settle_types, small_file=4096, block_bytes=4096)
    monkeypatch.setattr("juror.readers.csv_files.settle_types", small_blocks)
    content, file_name, sentence = CSV_REFUSED[name]
    path = one_csv(tmp_path, content, file_name)
    message = refused(path)
    assert message.endswith(sentence.format(path=path))
    assert "\n" not in message


def test_a_csv_file_that_is_gone_or_changed(tmp_path):
    path = one_csv(tmp_path, "a,b\nx,1\n")
    assert chunk_error(path, lambda: os.remove(path)) == (
        f"There is no file {path!r} any more. Put it back, or begin again without it."
    )
    one_csv(tmp_path, "a,b\nx,1\n")
    assert chunk_error(path, lambda: one_csv(tmp_path, "a,b\nx,y\n")).startswith(
        f"The file {path!r} cannot be read as .csv: In CSV column #1: Row #2: CSV conversion error to int64"
    )


def test_a_stream_that_was_cut_at_the_end_of_a_batch_is_told(tmp_path):
    path = tmp_path / "t.arrow"
    batches = pa.table({"a": ["x", "y"] * 10}).to_batches(max_chunksize=5)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write(batch)
    assert Domain.infer(path)["a"].labels == ("x", "y")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.warns(DataWarning, match="is an Arrow stream without an end mark, so that it may have been cut short"):
        Domain.infer(path)


def test_links_are_followed_once(tmp_path):
    folder, elsewhere = tmp_path / "data", tmp_path / "else"
    for place, labels in ((folder, ["x", "y"]), (elsewhere, ["z", "x"])):
        place.mkdir()
        parquet.write_table(pa.table({"a": labels, "b": ["u", "v"]}), place / "t.parquet")
    (folder / "more").symlink_to(elsewhere)
    # a link that leads back
    (elsewhere / "back").symlink_to(folder)
    assert PairCounts.of(folder).n_rows == 4
    (folder / "again.parquet").symlink_to(folder / "t.parquet")
    with pytest.raises(DataError, match="is named twice, perhaps by a link, so its rows would count twice"):
        PairCounts.of(folder)


def test_an_address_of_another_machine_is_no_path():
    with pytest.raises(DataError, match=r"'s3://bucket/x\.parquet' is the address of another machine"):
        PairCounts.of("s3://bucket/x.parquet")


def test_messages_name_the_file_where_there_are_several(tmp_path):
    for n, labels in enumerate((["x", "y"], ["x", "q"])):
        parquet.write_table(pa.table({"a": labels, "b": ["u", "v"]}), tmp_path / f"{n}.parquet")
    domain = Domain.infer({"a": ["x", "y"], "b": ["u", "v"]})
    with pytest.raises(DataError, match=r"Column 'a' holds 'q' in row 1 of '.*1\.parquet', which is not among"):
        PairCounts.of(tmp_path, domain)
    with pytest.raises(DataError, match="Column 'a' holds 'q' in row 1, which is not among"):
        PairCounts.of(tmp_path / "1.parquet", domain)
