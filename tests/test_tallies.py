"""Tallies of pieces add up to that of the whole, in any order and for any pieces."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import parquet

from juror import DataWarning, Domain
from juror.errors import DataError
from juror.readers import open_source, tallies
from juror.readers.tallies import Tally, take_census
from juror.runners.local import LocalRunner
from parts import in_parts, random_table

TEXT = st.one_of(st.none(), st.sampled_from("abcdef"))
NUMBERS = st.one_of(st.none(), st.integers(-3, 3), st.sampled_from([0.5, -0.0, 2.5, 1e300]))
COLUMNS = st.one_of(
    st.lists(TEXT, min_size=1).map(lambda c: pa.array(c, pa.string())),
    st.lists(NUMBERS, min_size=1).map(lambda c: pa.array(c, pa.float64())),
    st.lists(st.one_of(st.none(), st.integers(-5, 2**60)), min_size=1).map(lambda c: pa.array(c, pa.int64())),
    st.lists(st.one_of(st.none(), st.booleans()), min_size=1).map(lambda c: pa.array(c, pa.bool_())),
)


def tally_of(array):
    (column,) = open_source(pa.table({"a": array}))
    return Tally.of(column)


def by_value(tally):
    return {value: count for value, count in zip(list(tally.values), tally.counts, strict=True) if count > 0}


@settings(deadline=None)
@given(column=COLUMNS, cut=st.integers(0, 10))
def test_pieces_add_up(column, cut):
    one, other, whole = tally_of(column[:cut]), tally_of(column[cut:]), tally_of(column)
    assert by_value(one + other) == by_value(other + one) == by_value(whole)
    if whole.form == "number" and len(whole.values):
        assert (one + other).highest == whole.highest
        assert list((one + other).values) == sorted((one + other).values)


def test_by_value_rejects_a_wrong_count():
    assert by_value(tally_of(pa.array(["a", "b"]))) != by_value(tally_of(pa.array(["a", "a", "b"])))


@pytest.mark.parametrize("kind", [float, int])
def test_many_numbers_are_grouped_alike_in_any_order(kind, monkeypatch):
    monkeypatch.setattr(tallies, "_MOST_NUMBERS", 32)
    rng = np.random.default_rng(3)
    numbers = (rng.normal(scale=1e4, size=1000) * 10.0 ** rng.integers(-3, 3, size=1000)).astype(kind)
    pieces = [tally_of(pa.array(piece)) for piece in np.array_split(numbers, 20)]
    forwards, backwards = pieces[0], pieces[-1]
    for piece in pieces[1:]:
        forwards += piece
    for piece in reversed(pieces[:-1]):
        backwards += piece
    halves = sum(pieces[1:10], pieces[0]) + sum(pieces[11:], pieces[10])
    assert 16 < len(forwards.values) <= 32
    assert forwards.dropped == backwards.dropped == halves.dropped > 0
    for other in (backwards, halves):
        assert np.array_equal(forwards.values, other.values)
        assert np.array_equal(forwards.counts, other.counts)
    # each group holds the numbers from its own lowest to the next group's
    where = np.searchsorted(forwards.values, numbers, side="right") - 1
    assert np.array_equal(np.bincount(where, minlength=len(forwards.values)), forwards.counts)
    assert forwards.highest == numbers.max()


def test_intervals_of_grouped_numbers_hold_even_shares_and_say_so(monkeypatch):
    monkeypatch.setattr(tallies, "_MOST_NUMBERS", 500)
    numbers = np.random.default_rng(4).lognormal(size=4000)
    table = pa.table({"price": numbers, "colour": np.where(numbers > 1, "red", "blue")})
    with pytest.warns(DataWarning, match=r"cut between groups of them, of which the largest has 0\.\d+% of the rows"):
        domain = Domain.infer(in_parts(table, [1000, 2500], chunk_rows=400))
    exact = Domain.infer(table)
    assert domain["price"].cardinality == exact["price"].cardinality
    np.testing.assert_allclose(domain["price"].edges, exact["price"].edges, rtol=0.02)
    assert domain["price"].edges[-1] == numbers.max()
    counts = np.bincount(domain.encode(table)[:, 0])
    assert counts.max() - counts.min() < 0.2 * counts.mean()


def test_a_domain_in_parts_is_that_of_the_whole():
    table = random_table(np.random.default_rng(5), 200)
    assert Domain.infer(in_parts(table, [1, 50, 50, 120])) == Domain.infer(table)


def test_declared_categories_keep_their_order_only_where_all_parts_declare_the_same():
    one = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high", "never"]))
    other = pa.DictionaryArray.from_arrays(pa.array([1]), pa.array(["mid", "high"]))
    assert list((tally_of(one) + tally_of(one)).values) == ["low", "high", "never"]
    assert list((tally_of(one) + tally_of(other)).values) == ["high", "low", "mid", "never"]
    assert list((tally_of(other) + tally_of(one)).values) == ["high", "low", "mid", "never"]


def ordered(*labels):
    return pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(labels), ordered=True)


def test_ordered_categories_join_where_one_part_has_all_of_them():
    assert list((tally_of(ordered("low", "high")) + tally_of(ordered("low", "mid", "high"))).values) == [
        "low",
        "mid",
        "high",
    ]
    with pytest.raises(DataError, match=r"are of no one order\. Name all of them in their order with Domain\.infer"):
        tally_of(ordered("low", "high")) + tally_of(ordered("high", "low"))


def test_a_column_that_changes_its_type_is_refused():
    with pytest.raises(DataError, match="Column 'a' holds number in some rows and text in others"):
        tally_of(pa.array([1])) + tally_of(pa.array(["x"]))


def test_an_identifier_is_refused_before_all_rows_are_read():
    read = []

    class Endless:
        def chunks(self, names=None):
            for n in range(100):
                read.append(n)
                yield open_source(pa.table({"id": [f"{n}-{i}" for i in range(10)]}))

    scan = in_parts({"id": ["x"]}, [])
    scan = type(scan)((Endless(),), scan.names, frozenset())
    with pytest.raises(
        DataError, match=r"Column 'id' has 60 distinct labels or more, .*, above max_levels = 50\. Drop it"
    ):
        take_census(scan, LocalRunner(1), most_labels=50)
    assert len(read) == 6


def test_the_row_of_an_infinite_number_is_told_as_in_the_whole_table():
    table = pa.table({"a": [0.5, 1.5, float("inf"), 2.5]})
    for data in (table, in_parts(table, [2])):
        with pytest.raises(DataError, match=r"Column 'a' holds inf in row (2|0); numbers must be finite"):
            Domain.infer(data)


def test_no_number_is_a_negative_zero():
    table = pa.table({"a": np.random.default_rng(0).normal(size=400).round(1), "b": ["u", "v"] * 200})
    assert np.signbit(table["a"].to_numpy()[table["a"].to_numpy() == 0]).any()
    assert Domain.infer(in_parts(table, [150])) == Domain.infer(table)
    assert not any(label.startswith("[-0,") for label in Domain.infer(table)["a"].labels)


@pytest.mark.parametrize("ordered", [False, True])
def test_categories_do_not_depend_on_where_chunks_end(ordered):
    pieces = [
        pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(labels), ordered=ordered)
        for labels in (["low", "high"], ["low", "mid", "high"])
    ]
    table = pa.table({"a": pa.chunked_array(pieces)})
    expected = ("low", "mid", "high") if ordered else ("high", "low", "mid")
    reader = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
    for data in (table, in_parts(table, [2]), reader):
        assert Domain.infer(data)["a"].labels == expected


def test_what_is_read_whole_is_what_is_read_in_parts(tmp_path):
    ordered = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["low", "high"]), ordered=True)
    plain = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["high", "mid"]))
    for n, (size, number) in enumerate([(ordered, pa.array([2**53 + 1, 1])), (plain, pa.array([1, 2]))]):
        parquet.write_table(pa.table({"size": size, "n": number}), tmp_path / f"{n}.parquet")
    whole = Domain.infer(tmp_path, sample_weight=np.ones(4))
    assert whole == Domain.infer(tmp_path)
    assert whole.encode(tmp_path)[:, 1].tolist() == [2, 0, 0, 1]
