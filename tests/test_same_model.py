"""The contract of same_model for every source that needs no cluster; Dask and Spark have files of their own."""

import contextlib

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet

import juror
from same_model import CODES, TABLES, SameModel


def array(table, folder, request):
    return CODES


def pandas(table, folder, request):
    return table.to_pandas(types_mapper=None)


def polars(table, folder, request):
    return pl.from_arrow(table)


def lazy(table, folder, request):
    return pl.from_arrow(table).lazy()


def reader(table, folder, request):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=70))


def csv_file(table, folder, request):
    csv.write_csv(table, folder / "table.csv")
    return folder / "table.csv"


def csv_files(table, folder, request):
    for n, start in enumerate(range(0, table.num_rows, 150)):
        with pa.CompressedOutputStream(str(folder / f"{n}.csv.gz"), "gzip") as stream:
            csv.write_csv(table.slice(start, 150), stream)
    return str(folder / "*.csv.gz")


def parquet_folder(table, folder, request):
    for n, start in enumerate(range(0, table.num_rows, 150)):
        parquet.write_table(table.slice(start, 150), folder / f"{n}.parquet", row_group_size=40)
    return folder


def arrow_file(table, folder, request):
    feather.write_feather(table, folder / "table.arrow", chunksize=90)
    return folder / "table.arrow"


def duckdb_relation(table, folder, request):
    connection = request.getfixturevalue("exit_stack").enter_context(contextlib.closing(duckdb.connect()))
    connection.register("rows_here", table)
    return connection.sql("SELECT * FROM rows_here")


def duckdb_query(table, folder, request):
    with contextlib.closing(duckdb.connect(folder / "table.duckdb")) as connection:
        connection.register("rows_here", table)
        connection.execute("CREATE TABLE kept AS SELECT * FROM rows_here")
    return juror.Query("SELECT * FROM kept", folder / "table.duckdb")


def sqlite_query(table, folder, request):
    from adbc_driver_sqlite import dbapi

    with dbapi.connect(str(folder / "table.db")) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("kept", table)
        connection.commit()
    return juror.Query("SELECT * FROM kept", f"sqlite:///{folder / 'table.db'}")


def postgresql_query(table, folder, request):
    from adbc_driver_postgresql import dbapi

    uri = request.getfixturevalue("postgres").uri()
    with dbapi.connect(uri) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("kept_for_fits", table, mode="replace")
        connection.commit()
    return juror.Query("SELECT * FROM kept_for_fits", uri)


def dask_frame_alone(table, folder, request):
    frame = pytest.importorskip("dask.dataframe")
    return frame.from_pandas(table.to_pandas().convert_dtypes(), npartitions=3)


SOURCES = (
    array,
    pandas,
    polars,
    lazy,
    reader,
    csv_file,
    csv_files,
    parquet_folder,
    arrow_file,
    duckdb_relation,
    duckdb_query,
    sqlite_query,
    postgresql_query,
    dask_frame_alone,
)


class TestEverySource(SameModel):
    @pytest.fixture(params=SOURCES, ids=lambda make: make.__name__)
    def source(self, request, labels, tmp_path):
        if request.param is array and labels == "text":
            pytest.skip("an array of codes has no names for labels")
        return (request.param(TABLES[labels], tmp_path, request),), {}


class TestBeyondMemory(SameModel):
    """Rows that do not fit into memory= are read, spilled and passed over on disk."""

    @pytest.fixture
    def source(self, request, labels, tmp_path, monkeypatch):
        from juror.rows import store

        monkeypatch.setattr(store.RowStore, "can_merge", False)
        monkeypatch.setattr(store, "_SHARE_FOR_ROWS", 1e-9)
        return (parquet_folder(TABLES[labels], tmp_path, request),), {}


def test_the_contract_rejects_another_table():
    contract = SameModel()
    other = CODES.copy()
    other[0, 0] = (other[0, 0] + 1) % 3
    for test in (contract.test_counts_are_the_same_bits, contract.test_em_is_the_same):
        with pytest.raises(AssertionError):
            test(((np.asarray(other),), {}), "numbers")
