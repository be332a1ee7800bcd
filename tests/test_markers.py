"""Markers for missing cells are compared as values in columns of numbers, and as text in others, in every reader."""

from __future__ import annotations

import contextlib
import sqlite3
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import juror
from juror import Domain, Query


def csv_file(folder, table):
    path = folder / "t.csv"
    pd.DataFrame(table.to_pandas()).to_csv(path, index=False)
    return path


def parquet_file(folder, table):
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def arrow_file(folder, table):
    pa.feather.write_feather(table, folder / "t.arrow")
    return folder / "t.arrow"


def sqlite_query(folder, table):
    pytest.importorskip("adbc_driver_sqlite")
    with contextlib.closing(sqlite3.connect(folder / "t.db")) as base, base:
        table.to_pandas().to_sql("t", base, index=False)
    return Query("SELECT * FROM t", f"sqlite:///{folder / 't.db'}")


READERS = {
    "csv": csv_file,
    "parquet": parquet_file,
    "arrow": arrow_file,
    "stream": lambda folder, table: table.to_reader(),
    "sqlite": sqlite_query,
    "pandas": lambda folder, table: table.to_pandas(),
    "polars": lambda folder, table: pl.from_arrow(table),
    "pyarrow": lambda folder, table: table,
    "dict": lambda folder, table: table.to_pydict(),
    "array": lambda folder, table: np.column_stack([column.to_numpy() for column in table.columns]),
}


@pytest.fixture(params=READERS)
def reader(request, tmp_path):
    return lambda table: READERS[request.param](tmp_path, table)


@pytest.mark.parametrize("marker", [-9, -9.0, "-9", "-9.0", " -9", "-9e0", "-09"], ids=repr)
@pytest.mark.parametrize("kind", [float, int])
def test_markers_are_values_among_numbers(reader, marker, kind):
    numbers = [-9.0, 1.0, 2.5, -9.0, 1.0] if kind is float else [-9, 1, 2, -9, 1]
    data = reader(pa.table({"a": numbers, "b": [0.5, 1.5, 0.5, 1.5, 0.5]}))
    domain = Domain.infer(data, missing=[marker])
    assert -9 not in domain[0].labels
    if not isinstance(data, pa.RecordBatchReader):
        assert (domain.encode(data)[:, 0] == -1).tolist() == [True, False, False, True, False]


@pytest.mark.parametrize("marker", [1e30, "1e30", "1E+30", 10**30], ids=repr)
def test_large_markers_are_values(reader, marker):
    table = pa.table({"a": [1e30, 0.5, 1.5] * 5, "b": [0.5, 1.0, 0.5] * 5})
    assert Domain.infer(reader(table), missing=[marker])[0].labels == (0.5, 1.5)


def test_a_marker_is_no_other_number():
    large = Domain.infer({"a": [2**53, 2**53 + 1, 5]}, missing=[2.0**53])
    assert large["a"].labels == (5, 2**53 + 1)
    bytes_ = Domain.infer({"a": np.array([1, 2, 3], dtype=np.uint8)}, missing=[257, -254, 1.5, "inf", 10**400])
    assert bytes_["a"].labels == (1, 2, 3)


def test_a_marker_is_rounded_like_the_floats_beside_it():
    short = Domain.infer({"a": np.array([0.1, 0.5, 0.7] * 5, dtype=np.float32)}, missing=["0.1", 1e300])
    assert len(short["a"].labels) == 2


@pytest.mark.filterwarnings("ignore:.*often means? missing")
def test_among_text_markers_are_text(reader, tmp_path, request):
    if "array" in request.node.name:
        pytest.skip("an array of text is not one of numbers")
    table = pa.table({"a": ["-9", "-9.0", "x", "NA"], "b": ["u", "v", "u", "v"]})
    assert Domain.infer(reader(table), missing=["-9.0"])[0].labels == ("-9", "NA", "x")


def test_categories_of_numbers_are_numbers():
    column = pd.Categorical([1.5, -9.0, 2.5])
    assert Domain.infer(pd.DataFrame({"a": column}), missing=["-9.00"])["a"].labels == (1.5, 2.5)


def test_counts_refuse_a_label_that_is_a_marker_elsewhere():
    one = juror.PairCounts.of({"a": [-9, 1], "b": [0, 1]})
    other = juror.PairCounts.of({"a": [-9, 1, 2], "b": [0, 1, 1]}, missing=["-9.0"])
    with pytest.raises(juror.errors.DataError, match="label -9 on one side"):
        one + other


class TestNines:
    """Numbers that probably mean missing: nines, far from all others."""

    @staticmethod
    def warnings_of(**columns):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            Domain.infer(columns)
        return [str(warning.message) for warning in told if "missing" in str(warning.message)]

    @pytest.mark.parametrize("marker", [-9, -99, -999, 999, 9999, 999.0])
    def test_a_warning_says_what_to_pass(self, marker):
        ages = np.where(np.arange(300) % 20 == 0, marker, np.arange(300) % 8)
        (told,) = self.warnings_of(age=ages, other=np.arange(300) % 7)
        assert f"Column 'age' has the number {int(marker)} far from all other numbers" in told
        assert f"Pass missing=[{int(marker)}] if so" in told

    def test_columns_are_told_at_once(self):
        rest = np.arange(300) % 50 + 0.5
        told = self.warnings_of(**{f"c{k}": np.where(rest > 45, -999 if k % 2 else 9999, rest) for k in range(6)})
        assert len(told) == 1
        assert "Columns ['c0', 'c1', 'c2', 'c3', … 2 more] have numbers such as [-999, 9999]" in told[0]

    @pytest.mark.parametrize(
        ("numbers", "marker"),
        [
            (range(90), 99),  # an age
            (range(600), 999),  # no farther than the others span
            ([1, 2, 3, 4], 9),  # a digit may be a code
            ([0.5, 0.1], 9.99),
            ([92, 95], 99),  # a year
            ([0], 999),  # nothing else varies
            ([-1.7e308, 1.7e308], 999),
        ],
    )
    def test_numbers_that_may_be_meant_are_not_told(self, numbers, marker):
        column = [*numbers, marker] * 10
        assert self.warnings_of(x=column, y=["a", "b"] * (len(column) // 2) + ["a"] * (len(column) % 2)) == []

    @pytest.mark.parametrize(
        ("numbers", "markers"),
        [
            ([*range(11), 98, 99], [98, 99]),
            ([1, 2, 3, 4, 5, 97, 98, 99], [97, 98, 99]),
            ([0, 1, 99], [99]),
            ([0.5, 3.5, 12.0, 998, 999], [998, 999]),
            ([-9, -8, -7, 1, 2, 3, 4], [-9, -8, -7]),
        ],
    )
    def test_several_reasons_have_neighbouring_numbers(self, numbers, markers):
        (told,) = self.warnings_of(kids=numbers * 10, other=np.arange(10 * len(numbers)) / 7)
        assert f"Pass missing={markers} if so" in told

    def test_other_columns_that_have_these_numbers_are_named(self):
        (told,) = self.warnings_of(kids=[0, 1, 2, 99] * 30, age=np.arange(120))
        assert "Make them missing in the data if so: missing=[99] would empty cells of ['age'] too" in told

    def test_one_row_is_no_marker(self):
        assert self.warnings_of(x=[1.5, 2.5, 3.5, 999.0]) == []


class TestAlikeLabels:
    def test_two_spellings_are_told(self):
        table = {"d": ["Yes", "yes", "No", "no "], "e": ["a", "b", "a", "b"], "f": ["x  y", "x y", "z", "z"]}
        with pytest.warns(juror.DataWarning, match=r"Columns \['d', 'f'\] have .* such as 'No' and 'no '"):
            domain = Domain.infer(table)
        assert domain["d"].labels == ("No", "Yes", "no ", "yes")

    def test_listed_labels_are_meant(self):
        categories = pd.Series(pd.Categorical(["s", "S"] * 5))
        assert Domain.infer({"unit": categories})["unit"].labels == ("S", "s")
        assert Domain.infer({"unit": ["s", "S"]}, levels={"unit": ["s", "S"]})["unit"].labels == ("s", "S")
