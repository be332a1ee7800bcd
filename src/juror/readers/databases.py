"""Queries on DuckDB, PostgreSQL and SQLite as streams of rows.

Databases are only read: files are opened read-only and never created, and sessions on a server are read-only.
"""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc

from juror.credentials import FILE_SCHEMES, plain_reason, secrets_of, shown_uri
from juror.errors import DataError, JurorError, MissingDependencyError, ParameterError
from juror.readers.columns import read_markers
from juror.readers.scans import CHUNK_ROWS, Scan
from juror.readers.streams import Rows, scan_rows

# The types of SQLite's values with an example of each, and how SQLite renames columns of the same name
_SQLITE_KINDS = {"integer": "0", "real": "0.0", "text": "''", "blob": "x''"}
_SQLITE_REPEATED = re.compile(r"(.+):\d+")
_MOST_EXACT = 2**53
_IN_MEMORY = "duckdb:///:memory:"
_SQLITE_BATCH = "adbc.sqlite.query.batch_rows"


# SQLite has no dates: they are text. The time after a date, up to its seconds and after them, as SQL
_SQLITE_SECONDS = "substr(replace({0}, 'T', ' ') || ':00', 1, 19) IS datetime({0})"
_SQLITE_FRACTION = (
    "length({0}) BETWEEN 21 AND 26 AND substr({0}, 20) GLOB '.[0-9]*' AND NOT substr({0}, 21) GLOB '*[^0-9]*'"
)


def scan_query(
    sql: str, uri: str | os.PathLike[str], missing: Collection[object] = (), text: Collection[str] = ()
) -> Scan:
    """Run a query and offer its rows as a table of one part, which stores them in a temporary file as they arrive.

    The query runs once, as a second run may return other rows. Arguments as in :class:`juror.Query`. Columns in
    ``text`` are text even if they look like dates, which are text in SQLite.

    >>> scan_query("SELECT colour FROM sold", "sqlite:///nowhere.db")
    Traceback (most recent call last):
    juror.errors.DataError: There is no database sqlite:///nowhere.db. Check the path.
    """
    markers = read_markers(missing)
    uri = os.fspath(uri)
    connect, run = _DATABASES[_scheme_of(uri)]
    if run is _run_sqlite:
        run = partial(_run_sqlite, markers=[str(marker) for marker in markers], text=text)
    shown, secrets = shown_uri(uri), secrets_of(uri)
    query = sql.strip().rstrip("; \t\n")
    if not query:
        raise ParameterError(f"The query on {shown} is empty. Write one, such as SELECT … FROM …")

    def reason(error: BaseException) -> str:
        return plain_reason(error, secrets)

    with ExitStack() as stack:
        problem, advice = f"Cannot open {shown}", "Check the address, and the user and password if it needs any."
        try:
            connection = connect(uri)
            stack.callback(connection.close)
            problem, advice = f"The query cannot be run on {shown}", "It must be one SELECT from tables that are there."
            # the line break ends a comment, so that text appended to the query is not part of it
            schema, batches = run(connection, query + "\n", stack)
        except JurorError:
            raise
        except Exception as error:
            problem = f"{problem}: {reason(error)}. {advice}"
        else:
            if schema.names:
                return scan_rows(Rows(schema, batches, stack.pop_all().close, f"The query on {shown}", reason), markers)
            problem = f"The statement gives no columns on {shown}. {advice}"
    # raised here so that the driver's exception, which may show credentials, is not chained to ours
    raise DataError(problem)


def _fetched(cursor: Any, query: str, stack: ExitStack) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    cursor.execute(query)
    reader = cursor.fetch_record_batch()
    stack.callback(reader.close)
    return reader.schema, reader


def _connect_duckdb(uri: str) -> Any:
    path = _path_of(uri)
    duckdb = _driver("duckdb", "duckdb")
    # the tables of a query are the database's, never variables of this program
    config = {"python_enable_replacements": "false"}
    return duckdb.connect(path, read_only=uri != _IN_MEMORY, config=config)


def _run_duckdb(connection: Any, query: str, stack: ExitStack) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    kinds = [str(statement.type).rpartition(".")[2] for statement in connection.extract_statements(query)]
    if kinds != ["SELECT"]:
        # not even tried, as COPY and ATTACH write files
        raise ValueError(f"DuckDB takes it for {' and '.join(kinds) or 'nothing'}")
    reader = pa.RecordBatchReader.from_stream(connection.sql(query))
    stack.callback(reader.close)
    return reader.schema, reader


def _connect_postgresql(uri: str) -> Any:
    rest = uri.partition("://")[2]
    # drivers would cut the password in the wrong place, and show a piece of it
    if rest.count("@") > ("@" in re.split("[/?]", rest)[0]):
        raise ParameterError(
            f"The address {shown_uri(uri)} has an @ in the wrong place. In users, passwords and parameters write "
            "@ as %40, / as %2F, ? as %3F and : as %3A."
        )
    return _driver("adbc_driver_postgresql.dbapi", "postgresql").connect(uri, autocommit=True)


def _run_postgresql(connection: Any, query: str, stack: ExitStack) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    cursor = stack.enter_context(connection.cursor())
    cursor.execute("SET default_transaction_read_only = on")
    # look at the columns first, without running it: a statement without columns is never run
    schema = cursor.adbc_execute_schema(query)
    return _fetched(cursor, query, stack) if schema.names else (schema, ())


def _connect_sqlite(uri: str) -> Any:
    path = os.path.abspath(_path_of(uri))
    return _driver("adbc_driver_sqlite.dbapi", "sqlite").connect(f"file:{quote(path)}?mode=ro")


def _run_sqlite(
    connection: Any, query: str, stack: ExitStack, markers: Sequence[str] = (), text: Collection[str] = ()
) -> tuple[pa.Schema, Iterable[pa.RecordBatch]]:
    """Run a query on SQLite, where values have types and columns have none.

    The driver infers the type of a column from the first rows, and later rows may have other types. So another query
    asks for the types of all values first. A row of these types is then put before all others, and dropped at the end.
    """
    cursor = stack.enter_context(connection.cursor(adbc_stmt_kwargs={_SQLITE_BATCH: str(CHUNK_ROWS)}))
    # only a query is allowed in parentheses, not ATTACH, which creates files
    cursor.execute(f"SELECT * FROM (\n{query}) LIMIT 0")
    names = [name for name, *_ in cursor.description]
    repeated = [match[1] for match in map(_SQLITE_REPEATED.fullmatch, names) if match and match[1] in names]
    if repeated:
        raise DataError(f"Column names must be unique; {repeated} occur more than once. Rename them with AS.")
    kinds = _sqlite_kinds(cursor, query, len(names))
    _check_mixed(cursor, query, names, kinds)
    texts = [n for n, name in enumerate(names) if kinds[n] and set(kinds[n]) == {"text"} and name not in text]
    dates = _sqlite_dates(cursor, query, len(names), texts, markers)
    typed = ", ".join(f"{_example(*both)} AS {_quoted(both[0])}" for both in zip(names, kinds, strict=True))
    schema, batches = _fetched(cursor, f"SELECT {typed} UNION ALL SELECT * FROM (\n{query})", stack)
    for n, type_ in dates.items():
        schema = schema.set(n, schema.field(n).with_type(type_))
    return schema, (_with_dates(batch, dates, markers) for batch in _without_first_row(batches))


def _sqlite_kinds(cursor: Any, query: str, n_columns: int) -> list[list[str]]:
    """Return the lowest and the highest type of the values of every column, in SQLite's order; none if all are null."""
    columns = ", ".join(f"c{n}" for n in range(n_columns))
    order = " ".join(f"WHEN '{kind}' THEN {rank}" for rank, kind in enumerate(_SQLITE_KINDS))
    ranks = ", ".join(f"CASE typeof(c{n}) {order} END AS c{n}" for n in range(n_columns))
    ends = ", ".join(f"min(c{n}) || ' ' || max(c{n})" for n in range(n_columns))
    cursor.execute(f"WITH cells({columns}) AS (\n{query}) SELECT {ends} FROM (SELECT {ranks} FROM cells)")
    (row,) = cursor.fetchall()
    return [[list(_SQLITE_KINDS)[int(rank)] for rank in str(cell or "").split()] for cell in row]


def _sqlite_dates(
    cursor: Any, query: str, n_columns: int, texts: Sequence[int], markers: Sequence[str]
) -> dict[int, pa.DataType]:
    """Return the types of those columns of text of which all cells are dates, or dates and times, in ISO's form."""
    if not texts:
        return {}
    listed = ", ".join("'" + marker.replace("'", "''") + "'" for marker in markers)
    columns = ", ".join(f"c{n}" for n in range(n_columns))
    asked = []
    for n in texts:
        cell = f"c{n}"
        no_date = f"({cell} IS NULL OR {cell} IN ({listed}))"
        is_day, seconds = f"{cell} IS date({cell})", _SQLITE_SECONDS.format(cell)
        fraction = f"({_SQLITE_FRACTION.format(cell)})"
        is_time = f"({seconds} AND (length({cell}) IN (16, 19) OR {fraction}))"
        # of a column without any date the highest is 0
        asked += [f"min({no_date} OR {is_day})", f"min({no_date} OR {is_day} OR {is_time})"]
        asked += [f"max({fraction})", f"max({is_day} OR {is_time})"]
    cursor.execute(f"WITH cells({columns}) AS (\n{query}) SELECT {', '.join(asked)} FROM cells")
    (row,) = cursor.fetchall()
    types = {}
    for place, n in enumerate(texts):
        are_days, are_times, have_fractions, is_any = row[4 * place : 4 * place + 4]
        if is_any and are_times:
            types[n] = pa.date32() if are_days else pa.timestamp("us" if have_fractions else "s")
    return types


def _with_dates(batch: pa.RecordBatch, dates: Mapping[int, pa.DataType], markers: Sequence[str]) -> pa.RecordBatch:
    """Read the cells of some columns of text as dates."""
    for n, type_ in dates.items():
        cells = batch.column(n)
        is_marked = pc.is_in(cells, pa.array(markers, cells.type))
        cells = pc.if_else(is_marked, pa.scalar(None, cells.type), cells).cast(type_)
        batch = batch.set_column(n, batch.schema.field(n).with_type(type_), cells)
    return batch


def _check_mixed(cursor: Any, query: str, names: list[str], kinds: list[list[str]]) -> None:
    """Refuse columns of fractions and of whole numbers that no float can represent, which would be merged."""
    columns = ", ".join(f"c{n}" for n in range(len(names)))
    for n, name in enumerate(names):
        if kinds[n] != ["integer", "real"]:
            continue
        large = f"typeof(c{n}) = 'integer' AND (c{n} > {_MOST_EXACT} OR c{n} < -{_MOST_EXACT})"
        cursor.execute(f"WITH cells({columns}) AS (\n{query}) SELECT count(*) FROM cells WHERE {large}")
        if cursor.fetchone()[0]:
            raise DataError(
                f"Column {name!r} mixes fractions and whole numbers beyond {_MOST_EXACT}, which floats cannot tell "
                f"apart. Convert it to text in the query, with CAST({_quoted(name)} AS TEXT)."
            )


def _example(name: str, kinds: list[str]) -> str:
    """Return an example of the type that holds a column's values, as SQL; refuse values of different types."""
    if len(set(kinds)) > 1 and kinds != ["integer", "real"]:
        raise DataError(
            f"Column {name!r} mixes values of type {' and '.join(kinds)}. Convert it to one type in the query, for "
            f"example with CAST({_quoted(name)} AS TEXT)."
        )
    return _SQLITE_KINDS[kinds[-1]] if kinds else "NULL"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _without_first_row(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    n_dropped = 1
    for batch in batches:
        yield batch.slice(n_dropped)
        n_dropped = 0


_DATABASES = {
    "duckdb": (_connect_duckdb, _run_duckdb),
    "postgres": (_connect_postgresql, _run_postgresql),
    "postgresql": (_connect_postgresql, _run_postgresql),
    "sqlite": (_connect_sqlite, _run_sqlite),
}


def _scheme_of(uri: str) -> str:
    scheme, mark, rest = uri.partition("://")
    if not mark and uri.endswith(".duckdb"):
        return "duckdb"
    # the path of a file follows a third slash
    if mark and scheme in _DATABASES and (scheme not in FILE_SCHEMES or (rest[:1] == "/" and rest[1:])):
        return scheme
    raise ParameterError(
        f"juror cannot read the database {shown_uri(uri)!r}. Write duckdb:///file.db, duckdb:///:memory:, the path of "
        "a .duckdb file, sqlite:///file.db or postgresql://user@host:port/database, with the password behind the user "
        "or in PGPASSWORD."
    )


def _path_of(uri: str) -> str:
    """Return the path of a database that is a file; refuse one that does not exist."""
    path = uri.partition(":///")[2] or uri
    if uri != _IN_MEMORY and not os.path.isfile(path):
        raise DataError(f"There is no database {shown_uri(uri)}. Check the path.")
    return path


def _driver(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingDependencyError(
            f"Reading from this database needs {module.partition('.')[0]}, which is not installed. Run pip install "
            f'"juror[{extra}]".'
        ) from None
