"""Queries on real databases: the same rows as from a frame, one clear sentence for what goes wrong, no credentials."""

from __future__ import annotations

import gc
import os
import pickle
import sqlite3
import sys
import threading
import traceback
from collections import deque
from urllib.parse import quote

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
from adbc_driver_postgresql import dbapi as postgresql
from adbc_driver_sqlite import dbapi as sqlite
from hypothesis import example, given, settings
from hypothesis import strategies as st

from juror.credentials import plain_reason, scrubbed, secrets_of, shown_uri
from juror.errors import DataError, MissingDependencyError, ParameterError
from juror.readers import databases, open_source, streams
from juror.readers.databases import scan_query
from juror.readers.streams import scan_stream
from servers import PASSWORD, PostgresServer, free_port, postgres_binary, start_postgres

# All that a column may hold: text, booleans, integers, floats, nulls, NaN and markers; the last label comes last.
TABLE = pa.table(
    {
        "colour": pa.array(["red", None, "blue", "red", "?", "green", "Rosé's"] * 5 + ["last"]),
        "flag": pa.array([True, False, None, True, False, True, None] * 5 + [None]),
        "size": pa.array([3, 1, None, 2, -9, 3, 1] * 5 + [2**40], pa.int64()),
        "weight": pa.array([0.5, None, 2.5, 0.5, 1.0, -0.25, float("nan")] * 5 + [1e-300]),
        "note": pa.array([None] * 35 + ["only here"]),
    }
)
MARKERS = ["?", -9]
SELECT = "SELECT colour, flag, size, weight, note FROM sold"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(streams, "CHUNK_ROWS", 10)
    monkeypatch.setattr(databases, "CHUNK_ROWS", 10)


@pytest.fixture
def duckdb_file(tmp_path):
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("held", TABLE)
        connection.execute("CREATE TABLE sold AS SELECT * FROM held")
        connection.execute("CREATE TABLE other AS SELECT 1.25::DECIMAL(9, 3) AS price, 'b'::ENUM('b', 'a') AS kind")
    return path


@pytest.fixture
def sqlite_file(tmp_path):
    # a name that an address must not take for something else
    path = tmp_path / "my ?shop#1%20.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE sold (colour TEXT, flag BOOLEAN, size INTEGER, weight, note TEXT)")
    connection.executemany("INSERT INTO sold VALUES (?, ?, ?, ?, ?)", zip(*TABLE.to_pydict().values(), strict=True))
    connection.commit()
    connection.close()
    return path


@pytest.fixture(scope="session")
def shop(postgres):
    """The address of a PostgreSQL database that has the table."""
    with postgresql.connect(postgres.uri(), autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("sold", TABLE)
    return postgres.uri()


def from_reader(request):
    return scan_stream(TABLE.to_reader(max_chunksize=4), MARKERS)


def from_relation(request):
    return scan_stream(duckdb.connect().from_arrow(TABLE), MARKERS)


def from_lazy_frame(request):
    return scan_stream(pl.from_arrow(TABLE).lazy(), MARKERS)


def from_duckdb(request):
    return scan_query(SELECT, f"duckdb:///{request.getfixturevalue('duckdb_file')}", MARKERS)


def from_duckdb_path(request):
    return scan_query(SELECT, request.getfixturevalue("duckdb_file"), MARKERS)


def from_duckdb_in_memory(request):
    path = request.getfixturevalue("tmp_path") / "sold.parquet"
    pa.parquet.write_table(TABLE, path)
    return scan_query(f"SELECT * FROM '{path}'", "duckdb:///:memory:", MARKERS)


def from_sqlite(request):
    return scan_query(f"{SELECT} ;\n", f"sqlite:///{request.getfixturevalue('sqlite_file')}", MARKERS)


def from_sqlite_cursor(request):
    path = request.getfixturevalue("sqlite_file")
    connection = sqlite.connect(f"file:{quote(str(path))}?mode=ro")
    cursor = connection.cursor()
    request.addfinalizer(connection.close)
    request.addfinalizer(cursor.close)
    cursor.execute(SELECT)
    return scan_stream(cursor, MARKERS)


def from_postgresql(request):
    return scan_query(f"{SELECT}  -- all of it", request.getfixturevalue("shop"), MARKERS)


def from_postgresql_cursor(request):
    connection = postgresql.connect(request.getfixturevalue("shop"))
    cursor = connection.cursor()
    request.addfinalizer(connection.close)
    request.addfinalizer(cursor.close)
    cursor.execute(SELECT)
    return scan_stream(cursor, MARKERS)


SOURCES = {
    make.__name__.removeprefix("from_"): make
    for make in (
        from_reader,
        from_relation,
        from_lazy_frame,
        from_duckdb,
        from_duckdb_path,
        from_duckdb_in_memory,
        from_sqlite,
        from_sqlite_cursor,
        from_postgresql,
        from_postgresql_cursor,
    )
}


def rows_of(chunks):
    """Return the form and the cells of every column, read through the distinct values of each chunk."""
    found = {}
    for chunk in chunks:
        for column in chunk:
            form, cells = found.setdefault(column.name, (column.form, []))
            assert column.form == form
            assert column.first_row == len(cells)
            assert column.index.dtype == np.int32
            cells.extend(None if i < 0 else column.values[i] for i in column.index)
    return found


@pytest.mark.parametrize("source", SOURCES)
def test_the_same_columns_from_every_source(source, request):
    scan = SOURCES[source](request)
    expected = rows_of([open_source(TABLE, MARKERS)])
    if source.startswith("sqlite"):
        # SQLite has no booleans
        expected["flag"] = ("number", [None if cell is None else int(cell) for cell in expected["flag"][1]])
    (part,) = scan.parts
    assert scan.names == tuple(TABLE.column_names)
    assert scan.numbers == {name for name, (form, _) in expected.items() if form == "number"}
    for _ in range(2):
        assert rows_of(part.chunks()) == expected
    assert rows_of(part.chunks(["size", "colour"])) == {name: expected[name] for name in ("colour", "size")}


def test_the_comparison_rejects_a_wrong_cell():
    right = open_source(TABLE, MARKERS)
    wrong = open_source(TABLE.slice(1), MARKERS)
    assert rows_of([right]) != rows_of([wrong])
    with pytest.raises(AssertionError):
        rows_of([right, right[:1]])  # a chunk that does not know its first row
    column = right[2]
    swapped = column.__class__(column.name, column.form, column.values[::-1], column.index)
    assert rows_of([[column]]) != rows_of([[swapped]])


def test_numbers_with_a_decimal_point(duckdb_file, shop):
    for sql, uri in (
        ("SELECT price FROM other", str(duckdb_file)),
        ("SELECT 1.250 AS price", shop),
        ("SELECT 1.25::numeric(9, 3) AS price", shop),
    ):
        assert rows_of(scan_query(sql, uri).parts[0].chunks()) == {"price": ("number", [1.25])}


def test_numeric_of_postgresql(shop):
    words = ["0", "-0.0010", "NaN", "123456789012345", "0.1234567890123456", "1e20", "0.10000000000000000000"]
    sql = f"SELECT n::numeric FROM unnest(ARRAY[{', '.join(repr(word) for word in words)}, NULL]) n"
    scan = scan_query(sql, shop)
    assert scan.numbers == {"n"}
    (form, cells) = rows_of(scan.parts[0].chunks())["n"]
    assert form == "number"
    assert cells == [0.0, -0.001, None, 123456789012345.0, 0.1234567890123456, 1e20, 0.1, None]
    sql = "SELECT 1.0 / 3 AS third"
    with pytest.raises(DataError) as caught:
        rows_of(scan_query(sql, shop).parts[0].chunks())
    assert str(caught.value) == (
        "Column 'third' holds decimals of more digits than a float can tell apart (0.33333333333333333333). Round them "
        "or cast them in the query, for example to double precision or to text."
    )
    assert rows_of(scan_query("SELECT (1.0 / 3)::float8 AS third", shop).parts[0].chunks())["third"][1] == [1 / 3]


def test_other_types_of_postgresql(shop):
    def sentence(value):
        with pytest.raises(DataError) as caught:
            rows_of(scan_query(f"SELECT {value} AS a, 'x' AS b", shop).parts[0].chunks())
        return str(caught.value)

    assert sentence("5::money") == (
        "Column 'a' holds amounts of PostgreSQL's type money, which come without their decimal point. Cast it in the "
        "query, for example to numeric."
    )
    assert sentence("TIME '12:30'").startswith("Column 'a' holds durations or times of day (time64[us])")
    assert sentence("'1.2.3.4'::inet").startswith("Column 'a' holds values of type extension<arrow.opaque")
    # what is not asked for is in nobody's way
    (part,) = scan_query("SELECT 5::money AS a, 'x' AS b", shop).parts
    assert rows_of(part.chunks(["b"])) == {"b": ("text", ["x"])}


def test_an_enumeration_of_duckdb_is_a_category(duckdb_file):
    ((column,),) = scan_query("SELECT kind FROM other", duckdb_file).parts[0].chunks()
    assert (column.form, column.values) == ("category", ["b", "a"])


def sqlite_of(folder, values):
    connection = sqlite3.connect(folder / "small.db")
    connection.execute("CREATE TABLE t (a)")
    connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    connection.commit()
    connection.close()
    return f"sqlite:///{folder / 'small.db'}"


@pytest.mark.parametrize(
    ("values", "form"),
    [
        ([None] * 25 + ["late"], "text"),
        ([1] * 25 + [0.5], "number"),
        ([None] * 25 + [2**62], "number"),
        ([None] * 3, "number"),
        ([], None),
    ],
    ids=["nulls first", "whole first", "large", "nothing", "no rows"],
)
def test_columns_of_sqlite_whose_first_rows_say_little(values, form, tmp_path):
    (part,) = scan_query("SELECT a FROM t", sqlite_of(tmp_path, values)).parts
    assert rows_of(part.chunks()) == ({"a": (form, values)} if form else {})


def test_columns_of_sqlite_that_mix_types(tmp_path):
    with pytest.raises(DataError) as caught:
        scan_query('SELECT a AS "the ""a""" FROM t', sqlite_of(tmp_path, [1] * 25 + ["n/a", 0.5]))
    assert str(caught.value) == (
        "Column 'the \"a\"' mixes values of type integer and text. Convert it to one type in the query, for example "
        'with CAST("the ""a""" AS TEXT).'
    )


def test_sqlite_keeps_the_order_of_a_query(tmp_path):
    uri = sqlite_of(tmp_path, range(100))
    (part,) = scan_query("SELECT a FROM t ORDER BY (a * 37) % 100, a", uri).parts
    assert rows_of(part.chunks())["a"][1] == sorted(range(100), key=lambda a: a * 37 % 100)


STATEMENTS = {
    "duckdb": {
        "SELECT * FROM nowhere": "Catalog Error: Table with name nowhere does not exist",
        "SELEC 1": 'Parser Error: syntax error at or near "SELEC"',
        "COPY sold TO 'made'": "DuckDB takes it for COPY",
        "ATTACH 'made'": "DuckDB takes it for ATTACH",
        "SELECT 1; SELECT 2": "DuckDB takes it for SELECT and SELECT",
        "-- nothing": "DuckDB takes it for nothing",
        "CREATE TABLE made (a INT)": "DuckDB takes it for CREATE",
        # a variable of this program is no table
        "SELECT * FROM connection": "Catalog Error: Table with name connection does not exist",
    },
    "sqlite": {
        "SELECT * FROM nowhere": "no such table: nowhere",
        "SELEC 1": 'near "1": syntax error',
        "ATTACH 'made' AS made": 'near "AS": syntax error',
        "SELECT 1; SELECT 2": 'near ";": syntax error',
        "CREATE TABLE made (a INT)": 'near "CREATE": syntax error',
    },
    "postgresql": {
        "SELECT * FROM nowhere": 'relation "nowhere" does not exist',
        "SELEC 1": 'syntax error at or near "SELEC"',
        "SELECT 1; SELECT 2": "cannot insert multiple commands into a prepared statement",
        "SELECT 1 / 0 AS a": "division by zero",
        "WITH gone AS (DELETE FROM sold RETURNING *) SELECT * FROM gone": (
            "cannot execute SELECT in a read-only transaction"
        ),
        "SELECT setval('made', 1)": 'relation "made" does not exist',
    },
}


@pytest.mark.parametrize(("kind", "sql"), [(kind, sql) for kind in STATEMENTS for sql in STATEMENTS[kind]])
def test_what_is_no_query(kind, sql, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    uri = request.getfixturevalue("shop") if kind == "postgresql" else None
    uri = uri or f"{kind}:///{request.getfixturevalue(f'{kind}_file')}"
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError) as caught:
        scan_query(sql, uri)
    reason, sentence = STATEMENTS[kind][sql], str(caught.value)
    assert sentence == (
        f"The query cannot be run on {shown_uri(uri)}: {reason}. It must be one SELECT from tables that are there."
    )
    assert_no_credentials(caught.value, uri)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("sql", ["CREATE TABLE made (a INT)", "SET search_path = public", "SELECT"])
def test_a_statement_without_columns_is_not_run(sql, shop):
    with pytest.raises(DataError) as caught:
        scan_query(sql, shop)
    assert str(caught.value) == (
        f"The statement gives no columns on {shown_uri(shop)}. It must be one SELECT from tables that are there."
    )
    made = "SELECT count(*) AS n FROM pg_tables WHERE tablename = 'made'"
    assert rows_of(scan_query(made, shop).parts[0].chunks())["n"][1] == [0]


def test_repeated_names(duckdb_file, sqlite_file, shop):
    for uri in (str(duckdb_file), f"sqlite:///{sqlite_file}", shop):
        with pytest.raises(DataError, match=r"^Column names must be unique; \['colour'\] occur more than once\."):
            scan_query("SELECT colour, size, colour FROM sold", uri)


def assert_no_credentials(error, uri):
    """Look for a password wherever an exception might show it."""
    shown = [str(error), repr(error), *traceback.format_exception(error)]
    while error is not None:
        shown += [repr(error.args), str(vars(error))]
        error = error.__cause__ or error.__context__
    for secret in secrets_of(uri):
        assert not any(secret in text for text in shown)


def test_a_password_in_an_exception_would_be_found():
    uri = "postgresql://ann:hush@host/db"
    inner = RuntimeError("connecting with hush")
    for error in (DataError("no hush"), DataError("no")):
        if str(error) == "no":
            error.__context__ = inner
        with pytest.raises(AssertionError):
            assert_no_credentials(error, uri)


def test_a_wrong_password(postgres):
    uri = postgres.uri(password="wr@ng & secret")
    with pytest.raises(DataError) as caught:
        scan_query("SELECT 1 AS a", uri)
    assert str(caught.value) == (
        f"Cannot open postgresql://ann@127.0.0.1:{postgres.port}/postgres: password authentication failed for user "
        '"ann". Check the address, and the user and password if it needs any.'
    )
    assert_no_credentials(caught.value, uri)


def test_no_such_database(postgres):
    uri = postgres.uri(database="nowhere")
    with pytest.raises(DataError, match='nowhere: database "nowhere" does not exist') as caught:
        scan_query("SELECT 1 AS a", uri)
    assert_no_credentials(caught.value, uri)


def test_no_server():
    uri = f"postgresql://ann:hush@127.0.0.1:{free_port()}/shop?connect_timeout=5"
    with pytest.raises(DataError) as caught:
        scan_query("SELECT 1 AS a", uri)
    port = shown_uri(uri).rpartition(":")[2].partition("/")[0]
    assert str(caught.value) == (
        f'Cannot open postgresql://ann@127.0.0.1:{port}/shop: connection to server at "127.0.0.1", port {port} failed: '
        "Connection refused. Check the address, and the user and password if it needs any."
    )
    assert_no_credentials(caught.value, uri)


@pytest.mark.parametrize(
    "uri",
    [
        "postgresql://ann:hu@sh@127.0.0.1:1/shop",
        "postgresql://ann:hu/sh@127.0.0.1:1/shop",
        "postgresql://ann:hu?sh@127.0.0.1:1/shop",
        "postgresql://ann:5432?sh=1@127.0.0.1:1/shop",
        "postgresql:///ann:hush@127.0.0.1:1/shop",
    ],
)
def test_a_password_that_is_not_escaped(uri):
    with pytest.raises(
        ParameterError, match=r"has an @ in the wrong place\. In users, passwords .* write @ as %40"
    ) as caught:
        scan_query("SELECT 1 AS a", uri)
    assert_no_credentials(caught.value, uri)
    assert "sh@" not in str(caught.value)


def test_an_address_that_the_driver_cannot_read():
    uri = "postgresql://ann:hu%zzsh@127.0.0.1:1/shop"
    with pytest.raises(DataError, match=r'invalid percent-encoded token: "\*\*\*"') as caught:
        scan_query("SELECT 1 AS a", uri)
    assert_no_credentials(caught.value, uri)


def test_credentials_are_in_no_repr(shop):
    scan = scan_query(SELECT, shop)
    (part,) = scan.parts
    for text in (repr(scan), repr(part), str(part)):
        assert not any(secret in text for secret in secrets_of(shop))
    with pytest.raises(DataError, match=r"^The query on postgresql://ann@.*/postgres lives in this process") as caught:
        pickle.dumps(part)
    assert_no_credentials(caught.value, shop)


@pytest.mark.parametrize("uri", ["sqlite:///{}/no.db", "duckdb:///{}/no.db", "{}/no.duckdb", "sqlite:///{}"])
def test_files_that_are_not_there_are_not_made(uri, tmp_path):
    uri = uri.format(tmp_path)
    with pytest.raises(DataError) as caught:
        scan_query("SELECT 1 AS a", uri)
    assert str(caught.value) == f"There is no database {uri}. Check the path."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_files_that_are_no_database(kind, tmp_path):
    path = tmp_path / "junk.db"
    path.write_text("no database " * 1000)
    with pytest.raises(
        DataError, match=rf"{kind}:///.*junk.db: .*(is not a database|not a valid DuckDB database file)"
    ):
        scan_query("SELECT 1 AS a", f"{kind}:///{path}")


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("mysql://ann:hush@host/shop", "mysql://ann@host/shop"),
        ("shop.db", "shop.db"),
        ("host=here password=hush", "…"),
        ("duckdb://shop.db", "duckdb://shop.db"),
        ("sqlite:///", "sqlite:///"),
    ],
)
def test_addresses_of_no_kind(uri, shown):
    with pytest.raises(ParameterError) as caught:
        scan_query("SELECT 1 AS a", uri)
    assert str(caught.value) == (
        f"juror cannot read the database {shown!r}. Write duckdb:///file.db, duckdb:///:memory:, the path of a .duckdb "
        "file, sqlite:///file.db or postgresql://user@host:port/database, with the password behind the user or in "
        "PGPASSWORD."
    )
    assert_no_credentials(caught.value, uri)


def test_no_query_at_all():
    with pytest.raises(ParameterError) as caught:
        scan_query(" ;\n", "duckdb:///:memory:")
    assert str(caught.value) == "The query on duckdb:///:memory: is empty. Write one, such as SELECT … FROM …"


@pytest.mark.parametrize(
    ("module", "uri", "sentence"),
    [
        ("duckdb", "duckdb:///:memory:", 'duckdb, which is not installed. Run pip install "juror[duckdb]".'),
        (
            "adbc_driver_postgresql.dbapi",
            "postgresql://ann:hush@host/db",
            'adbc_driver_postgresql, which is not installed. Run pip install "juror[postgresql]".',
        ),
        (
            "adbc_driver_sqlite.dbapi",
            "sqlite:///{}",
            'adbc_driver_sqlite, which is not installed. Run pip install "juror[sqlite]".',
        ),
    ],
)
def test_a_driver_that_is_not_installed(module, uri, sentence, monkeypatch, sqlite_file):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        scan_query("SELECT 1 AS a", uri.format(sqlite_file))
    assert str(caught.value) == f"Reading from this database needs {sentence}"


def open_things():
    """Return how many files and sockets this process has open, and how many threads."""
    gc.collect()
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))


def test_a_server_that_goes_away_in_the_middle(monkeypatch):
    monkeypatch.setattr(streams, "CHUNK_ROWS", 100_000)
    with start_postgres() as server:
        # whatever starts threads once has started them
        rows_of(scan_query("SELECT 'x' AS a", server.uri()).parts[0].chunks())
        before = open_things()
        sql = "SELECT g, 'a longer text ' || g % 7 AS t FROM (SELECT generate_series(1, 5000000) g) s"
        scan = scan_query(sql, server.uri())
        chunks = scan.parts[0].chunks()
        assert len(next(chunks)[0].index) == 100_000
        server.kill()
        with pytest.raises(DataError) as caught:
            deque(chunks, maxlen=0)
        sentence = str(caught.value)
        shown = shown_uri(server.uri())
        n_rows = int(sentence.removeprefix(f"The query on {shown} broke off after ").partition(" ")[0])
        assert 100_000 <= n_rows < 5_000_000
        assert sentence == (
            f"The query on {shown} broke off after {n_rows} rows: server closed the connection unexpectedly. Run it "
            "again, or write its rows to a Parquet file and pass the path."
        )
        assert_no_credentials(caught.value, server.uri())
        with pytest.raises(DataError, match="broke off"):
            next(scan.parts[0].chunks())
        del caught, chunks
        # nothing is left behind; threads of other tests may have ended meanwhile
        files, threads = open_things()
        assert files <= before[0]
        assert threads <= before[1]
    assert not server.folder.exists()


def test_an_error_in_the_middle_of_a_query(shop):
    sql = "SELECT 1 / (g - 90000) AS a FROM generate_series(1, 100000) g"
    (part,) = scan_query(sql, shop).parts
    with pytest.raises(
        DataError, match=r"^The query on postgresql://.* broke off after \d+ rows: division by zero\. Run"
    ):
        rows_of(part.chunks())


def sessions(server_uri):
    with postgresql.connect(server_uri) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*)::int4 FROM pg_stat_activity WHERE backend_type = 'client backend'")
        return cursor.fetchone()[0]


def test_connections_are_closed_at_the_end_and_when_dropped(shop):
    # Connections of the tests before this one may still be closing, or wait in a cycle with the error of a test.
    gc.collect()
    assert wait_for(lambda: sessions(shop) == 1)
    scan = scan_query(SELECT, shop)
    assert sessions(shop) == 2
    rows_of(scan.parts[0].chunks())
    assert wait_for(lambda: sessions(shop) == 1)
    dropped = scan_query("SELECT generate_series(1, 5000000) AS g", shop)
    next(dropped.parts[0].chunks())
    assert sessions(shop) == 2
    del dropped
    assert wait_for(lambda: sessions(shop) == 1)
    # also where the columns are refused
    with pytest.raises(DataError):
        scan_query("SELECT 1 AS a, 2 AS a", shop)
    assert wait_for(lambda: sessions(shop) == 1)


def wait_for(condition):
    """Wait until a condition holds: the server sees that a connection is closed a moment later."""
    done = threading.Event()
    return any(condition() or done.wait(0.02) for _ in range(200))


def test_a_duckdb_file_is_free_afterwards(duckdb_file):
    scan = scan_query(SELECT, duckdb_file)
    rows_of(scan.parts[0].chunks())
    with duckdb.connect(str(duckdb_file)) as connection:  # for writing, which is refused as long as it is read
        connection.execute("CREATE TABLE more (a INT)")
        assert connection.execute("SELECT count(*) FROM more").fetchone() == (0,)


# addresses and what may be said of them

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)


@given(words)
@example(PASSWORD)
def test_an_address_is_shown_without_password_and_parameters(password):
    uri = f"postgresql://ann:{quote(password, safe='')}@host:5432/shop?password={quote(password, safe='')}&a=b"
    assert shown_uri(uri) == "postgresql://ann@host:5432/shop"


@given(words)
def test_nor_is_a_password_that_is_not_escaped(password):
    shown = shown_uri(f"postgresql://ann:{password}@host:5432/shop")
    assert shown == ("postgresql://ann@…" if "@" in password else "postgresql://ann@host:5432/shop")


@pytest.mark.parametrize(
    ("uri", "shown"),
    [
        ("postgresql://host/shop?user=ann@corp&password=hush", "postgresql://host@…"),
        ("postgresql://ann:hush@[::1]:5432/shop", "postgresql://ann@[::1]:5432/shop"),
        ("postgresql://ann:hush@one:1,two:2/shop", "postgresql://ann@one:1,two:2/shop"),
        ("postgresql:///shop?password=hush", "postgresql:///shop"),
        ("postgresql://ann:hush", "postgresql://…"),
        ("postgresql://ann%3Ahush@host", "postgresql://ann@host"),
        ("duckdb:///md:shop?motherduck_token=hush", "duckdb:///md:shop"),
        ("sqlite:////data/at@home.db", "sqlite:////data/at@home.db"),
        ("shop.duckdb", "shop.duckdb"),
    ],
)
def test_how_addresses_are_shown(uri, shown):
    assert shown_uri(uri) == shown
    assert "hush" not in shown_uri(uri)


@settings(deadline=None)
@given(st.lists(words, min_size=1, max_size=4), words, st.data())
def test_no_form_of_a_password_is_left_in_a_message(pieces, password, data):
    uri = f"postgresql://ann:{quote(password, safe='')}@host/shop"
    secrets = secrets_of(uri)
    forms = [
        password,
        quote(password),
        quote(password, safe=""),
        repr(password)[1:-1],
        f"password={password}",
        f"password = '{password}'",
        uri,
    ]
    text = "".join(piece + data.draw(st.sampled_from(forms)) for piece in pieces)
    for form in forms[:4]:
        assert form not in scrubbed(text, secrets)
        assert form not in plain_reason(OSError(text), secrets)


@given(st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="'\"&;,@\\"), min_size=1))
def test_what_only_looks_like_a_password_goes_as_well(password):
    text = f"open postgresql://ann:{password}@host/db and PGPASSWORD={password} sslpassword='{password}' failed"
    # A full stop behind a value may end a sentence, so it stays.
    stop = "." if password.endswith(".") and len(password) > 1 else ""
    assert scrubbed(text) == f"open postgresql://ann@host/db and PGPASSWORD=***{stop} sslpassword=*** failed"


@pytest.mark.parametrize(("password", "shown"), [(".", "***"), ("..", "***."), ("a.", "***."), (".a", "***")])
def test_full_stops_in_what_looks_like_a_password(password, shown):
    assert scrubbed(f"PGPASSWORD={password} failed") == f"PGPASSWORD={shown} failed"
    assert scrubbed(f"It failed with PGPASSWORD={password}") == f"It failed with PGPASSWORD={shown}"


def test_a_message_without_secrets_is_left_as_it_is():
    text = 'relation "passwords" does not exist at http://host:80/ for a@b'
    assert scrubbed(text, ["hush"]) == text
    assert plain_reason(OSError("")) == "OSError"


# the server of the tests


def test_where_there_is_no_server_tests_are_skipped_or_fail(monkeypatch):
    import servers

    monkeypatch.setattr(servers, "postgres_binary", lambda name: None)
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="NOT TESTED"):
        start_postgres()
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception, match="NOT TESTED"):
        start_postgres()


@pytest.mark.skipif(postgres_binary("initdb") is None, reason="PostgreSQL is not installed")
def test_a_server_that_does_not_start_leaves_nothing(monkeypatch, tmp_path):
    made = []

    def fail(server):
        made.append(server.folder)
        raise RuntimeError("no")

    monkeypatch.setattr(PostgresServer, "_initialise", fail)
    with pytest.raises(RuntimeError, match="no"):
        PostgresServer()
    assert not made[0].exists()
