"""Counts of parts that know their own labels only equal the counts of the whole table, bit for bit."""

import itertools

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import DataWarning, Domain, PairCounts, TripleCounts, Variable
from juror.errors import DataError, ParameterError
from parts import in_parts, random_table


def assert_same_counts(one, other):
    assert one.domain == other.domain
    assert one.groups == other.groups
    for a, b in zip(one.tables, other.tables, strict=True):
        assert np.array_equal(a, b)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(20, 60), cuts=st.lists(st.integers(0, 20), max_size=4))
def test_parts_add_up_to_the_whole(seed, n_rows, cuts):
    table = random_table(np.random.default_rng(seed), n_rows)
    scan = in_parts(table, sorted(cuts))
    assert_same_counts(PairCounts.of(scan), PairCounts.of(table))
    assert_same_counts(TripleCounts.of(scan, triples=4), TripleCounts.of(table, triples=4))


def test_assert_same_counts_rejects_a_wrong_table():
    table = random_table(np.random.default_rng(0), 50)
    with pytest.raises(AssertionError):
        assert_same_counts(PairCounts.of(table), PairCounts.of(pa.concat_tables([table, table.slice(3, 1)])))


def test_any_number_of_threads_gives_the_same_bits():
    table = random_table(np.random.default_rng(1), 300)
    weighted = table.append_column("w", pa.array(np.random.default_rng(2).random(300)))
    scan = in_parts(weighted, range(20, 300, 20))
    one, two = (PairCounts.of(scan, sample_weight="w", n_jobs=n) for n in (1, 2))
    assert_same_counts(one, two)
    np.testing.assert_allclose(one.totals, PairCounts.of(weighted, sample_weight="w").totals, rtol=1e-12)


def test_rows_of_weight_zero_show_no_labels():
    table = pa.table({"a": ["x", "y", "z", "x"], "b": ["u", "v", "u", "v"], "w": [1.0, 2.0, 0.0, 1.0]})
    counts = PairCounts.of(in_parts(table, [2], chunk_rows=1), sample_weight="w")
    assert_same_counts(counts, PairCounts.of(table, sample_weight="w"))
    assert counts.domain["a"].labels == ("x", "y")


def test_a_label_first_seen_in_the_last_row_counts():
    table = pa.table({"a": ["x"] * 9 + ["new"], "b": ["u", "v"] * 5})
    counts = PairCounts.of(in_parts(table, [5]))
    assert counts.table("a", "b").loc["new"].tolist() == [0.0, 1.0]


def test_parts_that_are_empty_or_show_nothing_of_a_column():
    table = pa.table({"a": ["x", None, None, "y"], "b": pa.array([1, 2, 2, 1])})
    assert_same_counts(PairCounts.of(in_parts(table, [0, 1, 3, 3], chunk_rows=1)), PairCounts.of(table))


def test_more_than_254_labels():
    labels = [f"l{i:03}" for i in range(300)]
    table = pa.table({"a": labels * 3, "b": ["u", "v", "w"] * 300})
    counts = PairCounts.of(in_parts(table, [400], chunk_rows=150))
    assert counts.domain["a"].cardinality == 300
    assert_same_counts(counts, PairCounts.of(table))


def test_an_identifier_is_refused_before_its_tables_are_made():
    table = pa.table({"id": [f"i{i}" for i in range(3000)], "b": ["u", "v"] * 1500})
    with pytest.raises(DataError, match=r"Column 'id' has 1500 distinct labels or more, .*, above max_levels = 1000"):
        PairCounts.of(in_parts(table, [], chunk_rows=500))


def test_no_rows_are_refused():
    with pytest.raises(DataError, match="The data have no rows"):
        PairCounts.of(in_parts(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.string())}), []))


def test_over_a_given_domain():
    table = random_table(np.random.default_rng(3), 80)
    domain = Domain.infer(table)
    assert_same_counts(PairCounts.of(in_parts(table, [30]), domain), PairCounts.of(table, domain))


def test_unknown_labels_are_told_once_with_all_rows_that_hold_them():
    domain = Domain.infer({"a": ["x", "y"], "b": ["u", "v"]})
    table = pa.table({"a": ["x", "q", "y", "r", "x"], "b": ["u", "v", "u", "v", "u"]})
    with pytest.warns(DataWarning) as told:
        counts = PairCounts.of(in_parts(table, [2], chunk_rows=1), domain, unknown="warn")
    assert [str(w.message)[:75] for w in told] == [
        "Column 'a' holds labels that were not there before in 2 rows, the first in "
    ]
    assert counts.totals.tolist() == [3.0]
    with pytest.raises(DataError, match="Column 'a' holds 'q' in row 0, which is not among its 2 labels"):
        PairCounts.of(in_parts(table, [1]), domain)


def test_all_missing_in_every_part_is_refused():
    table = pa.table({"a": pa.array([None, None], pa.string()), "b": ["u", "v"]})
    with pytest.raises(DataError, match="Column 'a' holds no value, only missing ones"):
        PairCounts.of(in_parts(table, [1]))


def test_a_weight_column_that_is_not_there():
    with pytest.raises(ParameterError, match="sample_weight names no column beside others: 'w'"):
        PairCounts.of(in_parts({"a": ["x"], "b": ["u"]}, []), sample_weight="w")


KINDS = Variable("k", ("u", "v"))
HERE = {"colour": ["red", "blue", "red"], "doors": [2, 4, 4], "sold": [True, True, True]}
THERE = {"colour": ["teal", "red"], "doors": [3, 2], "sold": [False, True]}


class TestOffices:
    """What two count apart, a third can add."""

    @pytest.mark.filterwarnings("ignore:Column 'sold' is constant")
    def test_counts_add_up_by_label(self):
        both = {name: HERE[name] + THERE[name] for name in HERE}
        for kind in (PairCounts, TripleCounts):
            one, other = kind.of(HERE), kind.of(THERE)
            assert_same_counts(one + other, kind.of(both))
            assert_same_counts(other + one, kind.of(both))

    @pytest.mark.filterwarnings("ignore:Column 'sold' is constant")
    def test_counts_grow_and_are_fitted(self, tmp_path):
        counts = PairCounts.of(HERE)
        counts += PairCounts.of(THERE)
        counts.save(tmp_path / "all.counts")
        model = juror.fit(PairCounts.load(tmp_path / "all.counts"), rank=1, method="spa")
        assert model.domain["colour"].labels == ("blue", "red", "teal")

    @pytest.mark.parametrize(
        ("one", "other", "words"),
        [
            ({"a": ["x", "y"]}, {"b": ["x", "y"]}, r"The variables are \['a', 'k'\] here and \['b', 'k'\] there"),
            ({"a": ["x", "y"]}, {"a": [1, 2]}, "'a' is nominal with labels .'x', 'y'. here and ordinal with labels"),
            ({"a": [1, 2]}, {"a": [True, False]}, "'a' is ordinal with labels .1, 2. here and nominal"),
        ],
    )
    def test_counts_of_other_variables_cannot_be_added(self, one, other, words):
        more = {"k": ["u", "v"]}
        with pytest.raises(DataError, match=words):
            PairCounts.of(one | more) + PairCounts.of(other | more)

    def test_intervals_must_be_the_same(self):
        rng = np.random.default_rng(6)
        a, b = ({"p": rng.normal(size=200), "k": ["u", "v"] * 100} for _ in range(2))
        with pytest.raises(DataError, match=r"Variable 'p' is cut at \[.*\] here and cut at .* Count both with"):
            PairCounts.of(a) + PairCounts.of(b)
        domain = Domain.infer(a, edges={"p": [-9, 0, 9]})
        assert (PairCounts.of(a, domain) + PairCounts.of(b, domain)).totals.tolist() == [400.0]

    def test_levels_of_no_one_order_cannot_be_added(self):
        one, other = (Domain.infer({"a": s, "b": [1, 2]}, levels={"a": s}) for s in (["S", "M"], ["M", "S"]))
        rows = {"a": ["S", "M"], "b": [1, 2]}
        with pytest.raises(DataError, match="are of no one order"):
            PairCounts.of(rows, one) + PairCounts.of(rows, other)

    def test_adding_is_associative(self):
        rng = np.random.default_rng(7)
        parts = [{"a": rng.choice(list("wxyz"), 6), "b": rng.integers(0, 5, 6)} for _ in range(4)]
        counts = [PairCounts.of(part) for part in parts]
        sums = [sum(order) for order in itertools.permutations(counts)]
        for other in sums[1:]:
            assert_same_counts(sums[0], other)

    def test_the_same_intervals_add_up_whatever_they_are_called(self):
        named = Domain((Variable("p", ("cold", "warm"), "binned", (0.0, 10.0, 20.0)), KINDS))
        cut = Domain.infer({"p": [0.5, 20.0], "k": ["u", "v"]}, edges={"p": [0, 10, 20]})
        rows = {"p": [1.0, 15.0, 16.0], "k": ["u", "v", "v"]}
        both = PairCounts.of(rows, named) + PairCounts.of(rows, cut)
        assert both.totals.tolist() == [6.0]
        assert both.n_rows == 6

    @pytest.mark.filterwarnings("ignore:.*often means? missing")
    def test_markers_of_both_are_kept_and_none_is_a_label(self):
        one = PairCounts.of({"a": ["x", "y", "-"], "b": ["u", "v", "u"]}, missing=["-"])
        other = PairCounts.of({"a": ["x", "?", "z"], "b": ["u", "v", "u"]}, missing=["?"])
        assert set((one + other).domain.missing) == {"-", "?"}
        assert_same_counts(one + other, other + one)
        with pytest.raises(DataError, match=r"has the label '\?' on one side, which is a marker for missing"):
            other + PairCounts.of({"a": ["x", "?"], "b": ["u", "v"]})

    def test_levels_that_fall_keep_their_order(self):
        one, other = (
            PairCounts.of(
                {"a": levels, "b": levels}, Domain.infer({"a": levels, "b": levels}, levels={"a": levels, "b": levels})
            )
            for levels in ([5, 4, 3], [6, 5, 4, 3])
        )
        assert (one + other).domain["a"].labels == (6, 5, 4, 3)


def test_rows_that_show_no_pair_are_rows_too():
    table = pa.table({"a": ["x", None, "y"], "b": [None, "u", "v"]})
    assert PairCounts.of(in_parts(table, [1])).n_rows == PairCounts.of(table).n_rows == 3
