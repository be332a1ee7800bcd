"""Numbers that differ are never merged: identifiers are text, and whole numbers of any size are compared exactly."""

from __future__ import annotations

import sqlite3

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror import Domain, Query
from juror.answers.label_frames import to_frame
from juror.domain.evidence import Range, weights_of
from juror.domain.variable import Variable
from juror.errors import DataError

BIG = 2**53


def labels_of_csv(tmp_path, cells, **choices):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{cell},{'xy'[n % 2]}\n" for n, cell in enumerate(cells)))
    return Domain.infer(path, **choices)["a"].labels


@pytest.mark.parametrize(
    "cells",
    [
        ["12345678901234567890", "12345678901234567891"],
        ["-12345678901234567890", "-12345678901234567891"],
        ["12345678901234567890.0", "12345678901234567891.0"],
        ["007", "7", "07"],
        ["-07", "-7"],
        ["00", "0"],
        ["01.5", "1.5"],
        ["0x10", "16"],
        ["0X1F", "31"],
        [str(BIG + 1), str(BIG), "0.5"],
        [str(BIG + 1), str(BIG), "nan"],
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore:Column 'a' has the label 'nan':juror.errors.DataWarning")
def test_identifiers_in_csv_are_text(tmp_path, cells):
    assert labels_of_csv(tmp_path, cells) == tuple(sorted(cells))


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["0", "10", "-5"], (-5, 0, 10)),
        (["0.5", "0", "1e3"], (0.0, 0.5, 1000.0)),
        ([str(BIG + 1), str(BIG)], (BIG, BIG + 1)),
        ([" 7", "7", "8"], (7, 8)),
        # floats can represent these exactly
        (["100000000000000000000", "0.5"], (0.5, 1e20)),
    ],
    ids=str,
)
def test_numbers_in_csv_are_numbers(tmp_path, cells, labels):
    assert labels_of_csv(tmp_path, cells * 5) == labels


def test_identifiers_are_found_in_any_block_and_file(tmp_path):
    from juror.readers.csv_dialects import Written, find_dialect
    from juror.readers.csv_types import settle_types

    for name, last in (("one", "10"), ("two", "007")):
        (tmp_path / f"{name}.csv").write_text("a,b\n" + "7,0\n" * 500 + f"{last},0\n")
    files = {str(tmp_path / f"{name}.csv"): None for name in ("one", "two")}
    dialects = {path: find_dialect(path, Written(), ()) for path in files}
    assert settle_types(dialects, (), small_file=0, block_bytes=64).types == [pa.string(), pa.int64()]


def test_too_many_identifiers_are_refused_with_the_reason(tmp_path):
    cells = [*map(str, range(100)), "007"]
    with pytest.raises(DataError, match=r"text because '007' is not only a number.*frame"):
        labels_of_csv(tmp_path, cells, max_levels=50)


def test_models_of_numbers_still_read_identifiers(tmp_path):
    """A domain of numbers, perhaps of an older model, says what 007 means."""
    path = tmp_path / "t.csv"
    path.write_text("a\n007\n8\n")
    assert Domain((Variable("a", (7, 8), "ordinal"),)).encode(path).tolist() == [[0], [1]]


@pytest.mark.parametrize("kind", ["integer and real", "real and integer"])
def test_sqlite_refuses_large_integers_among_reals(tmp_path, kind):
    pytest.importorskip("adbc_driver_sqlite")
    path = tmp_path / "t.db"
    with sqlite3.connect(path) as base:
        base.execute("CREATE TABLE t (a)")
        rows = [(BIG,), (BIG + 1,), (0.5,)]
        base.executemany("INSERT INTO t VALUES (?)", rows if kind.startswith("int") else rows[::-1])
    with pytest.raises(DataError, match=rf"'a' mixes fractions and whole numbers beyond {BIG}.*CAST"):
        Domain.infer(Query("SELECT * FROM t", f"sqlite:///{path}"))
    small = Domain.infer(Query("SELECT * FROM t WHERE a < 5 UNION ALL SELECT 3", f"sqlite:///{path}"))
    assert small["a"].cardinality == 2


large = st.one_of(
    st.integers(-(2**64), 2**64),
    st.integers(-5, 5).map(lambda n: BIG + n),
    st.integers(-5, 5).map(lambda n: 2**63 + n),
    st.floats(-(2.0**70), 2.0**70),
)


@given(st.lists(large, min_size=2, max_size=6, unique=True), st.lists(large, min_size=1, max_size=6), st.booleans())
def test_intervals_compare_numbers_exactly(edges, numbers, open_ended):
    edges = sorted(edges)
    labels = tuple(f"i{n}" for n in range(len(edges) - 1))
    variable = Variable("a", labels, "binned", tuple(edges), open_ended=open_ended)

    def expected(number):
        code = min(sum(edge <= number for edge in edges), len(edges) - 1) - 1
        inside = open_ended or edges[0] <= number <= edges[-1]
        return max(code, 0) if inside else -1

    def none(code):
        return -1 if code is None else code

    assert [none(variable.find(number)) for number in numbers] == list(map(expected, numbers))
    assert [none(variable.find(str(number))) for number in numbers] == list(map(expected, numbers))
    for kind in (np.int64, np.uint64, np.float64):
        fit = [n for n in numbers if _fits(n, kind)]
        if fit:
            codes = variable.encode(Domain((variable,)).open({"a": np.array(fit, dtype=kind)})[0], "missing")
            assert codes.tolist() == list(map(expected, fit))


def _fits(number, kind):
    if kind is np.float64:
        return float(number) == number
    return number == int(number) and np.iinfo(kind).min <= number <= np.iinfo(kind).max


@given(st.lists(large, min_size=1, max_size=6, unique=True), large)
def test_labels_are_found_exactly(labels, asked):
    variable = Variable("a", tuple(sorted(labels)), "ordinal")
    for label in labels:
        assert variable.labels[variable.find(label)] == variable.labels[variable.find(str(label))] == label
    found = variable.find(asked)
    assert (found is not None) == (asked in labels)
    assert weights_of(variable, Range(at_least=asked)).tolist() == [float(label >= asked) for label in variable.labels]


@pytest.mark.parametrize("bins", [None, 4])
@pytest.mark.parametrize("start", [BIG - 20, 2**63 - 20], ids=["2^53", "2^63"])
def test_large_integers_are_cut_where_they_differ(start, bins):
    numbers = np.arange(start, start + 40, dtype=np.uint64)
    domain = Domain.infer({"a": numbers}, bins=bins)
    edges = domain["a"].edges
    codes = domain.encode({"a": numbers})[:, 0]
    expected = [min(sum(edge <= int(n) for edge in edges), len(edges) - 1) - 1 for n in numbers]
    assert codes.tolist() == expected
    for code in range(domain["a"].cardinality):
        for number in domain["a"].inside.at(np.full(5, code), np.linspace(0, 1, 5)).tolist():
            assert type(number) is int
            assert domain["a"].find(number) == code
    as_text = pd.DataFrame({"a": [str(n) for n in numbers]})
    np.testing.assert_array_equal(domain.encode(as_text)[:, 0], codes)


def test_given_edges_are_kept_exactly():
    domain = Domain.infer({"a": [BIG, BIG + 1]}, edges={"a": [BIG, BIG + 1, BIG + 3]})
    assert domain["a"].edges == (BIG, BIG + 1, BIG + 3)
    assert domain.encode({"a": [BIG, BIG + 1]}).tolist() == [[0], [1]]


def test_parts_on_both_sides_of_the_sign_bit_are_exact_or_refused(tmp_path):
    """Two files, one of signed and one of unsigned integers."""
    pq.write_table(pa.table({"a": pa.array([-1, 2**63 - 1])}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": pa.array([2**63, 2**63 + 1], pa.uint64())}), tmp_path / "2.parquet")
    with pytest.raises(DataError, match=r"'a'.*Convert it to text"):
        Domain.infer(tmp_path)


def test_unsigned_integers_beyond_the_sign_bit_are_labels():
    numbers = np.array([1, 2**63 - 1, 2**63, 2**64 - 1], dtype=np.uint64)
    domain = Domain.infer({"a": numbers})
    assert domain["a"].labels == (1, 2**63 - 1, 2**63, 2**64 - 1)
    assert domain.encode({"a": numbers})[:, 0].tolist() == [0, 1, 2, 3]
    assert domain.encode({"a": np.array([2**63 - 2, 2**63 + 1], dtype=np.uint64)}, "missing").tolist() == [[-1], [-1]]


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("n_values", [2, 100])
def test_unsigned_numbers_are_drawn_as_unsigned_numbers(frame, n_values):
    numbers = np.array([2**64 - 1 - n**2 for n in range(n_values)] * 5, dtype=np.uint64)
    drawn = juror.fit({"u": numbers}, 1, "em").sample(50, seed=0, frame=frame)
    series = nw.from_native(drawn, eager_only=True)["u"]
    assert series.dtype == nw.UInt64
    assert 2**64 - 1 - n_values**2 <= min(series.to_list())


@pytest.mark.parametrize("frame", ["polars", "pyarrow"])
def test_unsigned_numbers_beside_missing_cells(frame):
    numbers = [2**64 - 1, None, 5]
    assert nw.from_native(to_frame({"u": numbers}, frame), eager_only=True)["u"].to_list() == numbers
