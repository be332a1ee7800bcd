"""Statistics: mergeable values with the same meaning whether rows are whole, weighted, missing, split or saved."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import juror
from juror import Domain, PairCounts, Projections, TripleCounts
from juror.counts.counts import choose_triples
from juror.counts.designs import _Kept
from juror.counts.radon import axis_of, draw_directions
from juror.errors import DataError, DataWarning, JurorError, ModelFileError, ParameterError
from juror.rows.distinct import WeightedRows
from juror.testing import random_codes, random_model

SIZES = (3, 2, 4, 1)
DOMAIN = Domain.from_cardinalities(SIZES)


def some_codes(n_rows: int, missing: float = 0.0) -> np.ndarray:
    return random_codes(
        random_model(SIZES, 3, np.random.default_rng(0)), n_rows, np.random.default_rng(1), missing=missing
    )


def projected(codes: np.ndarray, sample_weight: np.ndarray | None = None) -> Projections:
    return Projections.of(codes, n_directions=5, seed=3, domain=DOMAIN, sample_weight=sample_weight)


def counted_pairs(codes: np.ndarray, sample_weight: np.ndarray | None = None) -> PairCounts:
    return PairCounts.of(codes, DOMAIN, sample_weight=sample_weight)


def counted_triples(codes: np.ndarray, sample_weight: np.ndarray | None = None) -> TripleCounts:
    return TripleCounts.of(codes, DOMAIN, sample_weight=sample_weight)


MAKERS = {"pairs": counted_pairs, "triples": counted_triples, "projections": projected}
EACH = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def arrays(statistic: PairCounts | TripleCounts | Projections) -> list[np.ndarray]:
    return list(
        statistic.masses if isinstance(statistic, Projections) else (*statistic.tables, *(statistic.singles or ()))
    )


def assert_same(one, other, **tolerance) -> None:
    assert len(arrays(one)) == len(arrays(other)) > 0
    for a, b in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_allclose(a, b, **(tolerance or {"rtol": 1e-12, "atol": 1e-9}))


@st.composite
def tables(draw, most: int = 12) -> np.ndarray:
    n = draw(st.integers(1, most))
    columns = [draw(st.lists(st.integers(-1, size - 1), min_size=n, max_size=n)) for size in SIZES]
    return np.array(columns, dtype=np.int64).T


class TestContract:
    @EACH
    @given(one=tables(), other=tables())
    def test_parts_add_up_to_the_whole(self, make, one, other):
        assert_same(make(one) + make(other), make(np.concatenate([one, other])))

    @EACH
    @given(codes=tables(), data=st.data())
    def test_whole_weights_are_repeated_rows(self, make, codes, data):
        n = data.draw(st.lists(st.integers(1, 4), min_size=len(codes), max_size=len(codes)))
        assert_same(make(codes, sample_weight=np.array(n)), make(np.repeat(codes, n, axis=0)))

    @EACH
    @given(codes=tables())
    def test_the_order_of_rows_does_not_matter(self, make, codes):
        assert_same(make(codes), make(codes[::-1]))

    @EACH
    def test_saved_and_loaded_it_is_the_same_to_the_bit(self, make, tmp_path):
        codes = random_codes(
            random_model(SIZES, 2, np.random.default_rng(0)), 50, np.random.default_rng(1), missing=0.2
        )
        statistic = make(codes)
        statistic.save(tmp_path / "part.counts")
        loaded = type(statistic).load(tmp_path / "part.counts")
        assert loaded.domain == statistic.domain
        assert_same(loaded, statistic, rtol=0, atol=0)
        assert_same(loaded + statistic, statistic + statistic, rtol=0, atol=0)

    def test_projections_of_other_labels_cannot_be_added(self):
        codes = np.zeros((1, 4), dtype=int)
        others = Projections.of(codes, 5, 3, domain=Domain.from_cardinalities([3, 2, 4, 2]))
        with pytest.raises(DataError, match="different variables or labels"):
            Projections.of(codes, 5, 3, domain=DOMAIN) + others

    def test_different_statistics_cannot_be_added(self):
        codes = np.zeros((1, 4), dtype=int)
        for one, other in itertools.permutations(MAKERS.values(), 2):
            with pytest.raises(TypeError, match="unsupported operand"):
                one(codes) + other(codes)

    def test_a_wrong_statistic_is_told_from_the_right_one(self):
        codes = np.array([[0, 1, 2, 0], [1, 1, 3, 0]])
        with pytest.raises(AssertionError):
            assert_same(counted_pairs(codes), counted_pairs(codes[:1]))

    @EACH
    def test_sum_adds_them_all(self, make):
        parts = [make(some_codes(20)), make(some_codes(30)), make(some_codes(10))]
        assert_same(sum(parts), parts[0] + parts[1] + parts[2], rtol=0, atol=0)


class TestPairs:
    @given(codes=tables())
    def test_a_pair_counts_the_rows_that_show_both(self, codes):
        counts = counted_pairs(codes)
        for a in range(4):
            for b in range(4):
                if a == b:
                    continue
                expected = np.zeros((SIZES[a], SIZES[b]))
                for row in codes:
                    if row[a] >= 0 and row[b] >= 0:
                        expected[row[a], row[b]] += 1
                np.testing.assert_array_equal(counts.table(f"x{a}", f"x{b}").to_numpy(), expected)

    def test_a_table_has_labels(self):
        counts = PairCounts.of({"size": ["small", "big", "big"], "red": [True, False, True]})
        table = counts.table("red", "size")
        assert isinstance(table, pd.DataFrame)
        assert table.loc[True, "big"] == 1
        assert (table.index.name, table.columns.name) == ("red", "size")

    def test_tables_are_found_in_whatever_order_they_come(self):
        counts = counted_pairs(some_codes(50))
        turned = PairCounts(
            DOMAIN, counts.groups[::-1], [table.tolist() for table in counts.tables[::-1]], singles=counts.singles
        )
        assert_same(turned, counts, rtol=0, atol=0)
        for groups, sentence in (
            (counts.groups[:-1], "4 variables have 6 pairs, and each needs its table"),
            (((1, 0), *counts.groups[1:]), r"rising positions of different variables, from 0 to 3. Got \(1, 0\)"),
            ((counts.groups[1], *counts.groups[1:]), "A group of variables has two tables"),
        ):
            with pytest.raises(DataError, match=sentence):
                PairCounts(DOMAIN, groups, counts.tables[: len(groups)])

    def test_rows_of_weight_zero_define_nothing(self):
        data = {"a": ["x", "y", "z"], "b": [0, 1, 1]}
        counts = PairCounts.of(data, sample_weight=[1, 1, 0])
        assert counts.domain["a"].labels == ("x", "y")
        assert juror.fit(data, 1, sample_weight=[1, 1, 0]).domain["a"].labels == ("x", "y")

    def test_zero_is_where_adding_begins(self):
        codes = np.array([[0, 1, 2, 0], [1, -1, 3, 0]])
        assert_same(PairCounts.zero(DOMAIN) + counted_pairs(codes), counted_pairs(codes), rtol=0, atol=0)
        assert PairCounts.zero(DOMAIN).totals.tolist() == [0.0] * 6

    def test_what_is_not_there_is_named(self):
        with pytest.raises(JurorError, match="There is no variable 'x9'"):
            counted_pairs(np.zeros((1, 4), dtype=int)).table("x0", "x9")
        with pytest.raises(DataError, match=r"\['x0', 'x0'\] are not counted together here"):
            counted_pairs(np.zeros((1, 4), dtype=int)).table("x0", "x0")

    def test_tables_that_do_not_fit_are_refused(self):
        domain = Domain.from_cardinalities([2, 3])
        with pytest.raises(DataError, match=r"must have shape \(2, 3\), labels by labels. Got \(3, 2\)"):
            PairCounts(domain, ((0, 1),), (np.zeros((3, 2)),))
        with pytest.raises(DataError, match="finite counts, none below zero"):
            PairCounts(domain, ((0, 1),), (np.full((2, 3), -1.0),))

    def test_a_file_of_something_else_is_named(self, tmp_path):
        counted_pairs(np.zeros((1, 4), dtype=int)).save(tmp_path / "pairs")
        with pytest.raises(ModelFileError, match="holds PairCounts, not TripleCounts"):
            TripleCounts.load(tmp_path / "pairs")
        with pytest.raises(ModelFileError, match="holds PairCounts, not a model"):
            juror.load(tmp_path / "pairs")
        random_model([2, 2], 2, np.random.default_rng(0)).save(tmp_path / "model")
        with pytest.raises(ModelFileError, match="holds a model, not PairCounts"):
            PairCounts.load(tmp_path / "model")


class TestTriples:
    @given(codes=tables())
    def test_a_triple_counts_the_rows_that_show_all_three(self, codes):
        table = counted_triples(codes).table("x2", "x0", "x1")
        expected = np.zeros((4, 3, 2))
        for row in codes:
            if min(row[:3]) >= 0:
                expected[row[2], row[0], row[1]] += 1
        np.testing.assert_array_equal(table, expected)

    @pytest.mark.parametrize("n_variables", [3, 4, 5, 7, 30])
    def test_random_triples_cover_every_variable(self, n_variables):
        domain = Domain.from_cardinalities([2] * n_variables)
        for n in {-(-n_variables // 3), min(n_variables, math.comb(n_variables, 3))}:
            chosen = choose_triples(domain, n, seed=1)
            assert len(set(chosen)) == len(chosen) == n
            assert {v for triple in chosen for v in triple} == set(range(n_variables))
            assert chosen == choose_triples(domain, n, seed=1)

    def test_named_triples(self):
        counts = TripleCounts.of(np.zeros((3, 4), dtype=int), DOMAIN, triples=[("x3", "x0", "x1")])
        assert counts.groups == ((0, 1, 3),)

    @pytest.mark.parametrize(
        ("triples", "sentence"),
        [
            (0, r"triples must be in the range \[2, 4\] for 4 variables"),
            (5, r"triples must be in the range \[2, 4\] for 4 variables"),
            ("some", "triples must be 'all', a number, or a list of three names each. Got 'some'."),
            ([("x0", "x1", "x1")], "A triple names three different variables"),
            ([("x0", "x1", "x2"), ("x2", "x1", "x0")], "A triple is named twice"),
        ],
    )
    def test_bad_choices(self, triples, sentence):
        with pytest.raises(ParameterError, match=sentence):
            TripleCounts.of(np.zeros((3, 4), dtype=int), DOMAIN, triples=triples)

    def test_two_variables_have_no_triples(self):
        with pytest.raises(DataError, match=r"Triples need at least 3 variables. There are 2."):
            TripleCounts.of(np.zeros((3, 2), dtype=int), Domain.from_cardinalities([1, 1]))


class TestProjections:
    def test_histograms_are_those_of_projected_rows(self):
        codes = random_codes(
            random_model(SIZES, 3, np.random.default_rng(0)), 200, np.random.default_rng(1), missing=0.1
        )
        projections = projected(codes)
        both = codes[(codes[:, 0] >= 0) & (codes[:, 2] >= 0)]
        axes = [np.asarray(axis_of(DOMAIN[n]).centres) for n in (0, 2)]
        R = projections.operators[1]
        for m, direction in enumerate(projections.directions[3, 4]):
            images = direction[0] * axes[0][both[:, 0]] + direction[1] * axes[1][both[:, 2]]
            low, high = R.bin_edges[m][[0, -1]]
            expected, _ = np.histogram(images, bins=R.n_bins, range=(low - 1e-9, high + 1e-9))
            np.testing.assert_allclose(projections.histogram("x0", "x2")[m], expected / len(both), atol=1e-12)

    def test_published_histograms_are_as_good_as_the_rows(self):
        codes = some_codes(200)
        ours = projected(codes)
        names = DOMAIN.names
        published = {(a, b): ours.histogram(a, b) for i, a in enumerate(names) for b in names[i + 1 :]}
        theirs = Projections.from_histograms(DOMAIN, published, 200, n_directions=5, seed=3)
        assert_same(theirs, ours)
        given_directions = Projections.from_histograms(
            DOMAIN, published, 200, n_directions=5, seed=77, directions=ours.directions
        )
        assert_same(given_directions, ours)

    def test_a_warning_once_names_all_variables_without_order(self):
        data = {"colour": ["r", "g", "b"] * 5, "shape": ["x", "y", "z", "z", "x"] * 3, "yes": ["n", "y", "n"] * 5}
        with pytest.warns(DataWarning, match=r"The labels of \['colour', 'shape'\] have no order") as told:
            Projections.of(data, n_directions=20)
        assert len(told) == 1

    def test_scores_and_kind_are_settings(self):
        codes = random_codes(random_model([3, 3], 2, np.random.default_rng(0)), 60, np.random.default_rng(1))
        scored = Projections.of(codes, n_directions=9, scores={"x0": [0.0, 1.0, 5.0]}, bins=4)
        assert scored.histogram("x0", "x1").shape == (9, 4)
        strips = Projections.of(codes, n_directions=9, operator="strips")
        assert strips.operators[0].kind == "strips"
        with pytest.raises(DataError, match="different directions, bins or scores"):
            scored + strips

    def test_scores_are_the_same_however_they_are_written(self, tmp_path):
        codes = some_codes(60)
        made = [
            Projections.of(codes, 5, domain=DOMAIN, scores={"x0": scores})
            for scores in ([0.0, 1.0, 5.0], (0, 1, 5), np.array([0.0, 1.0, 5.0]))
        ]
        made[0].save(tmp_path / "scored")
        total = sum([made[1], made[2], Projections.load(tmp_path / "scored")], start=made[0])
        np.testing.assert_allclose(total.totals, 4 * made[0].totals)

    @pytest.mark.parametrize("n_rows", [0, -3, np.nan, np.inf, "3", True, {}, {("x0", "x1"): None}])
    def test_bad_numbers_of_rows(self, n_rows):
        good = {("x0", "x1"): np.full((2, 3), 1 / 3)}
        with pytest.raises(DataError, match=r"n_rows of \('x0', 'x1'\) must be a number of rows above 0"):
            Projections.from_histograms(Domain.from_cardinalities([3, 3]), good, n_rows, n_directions=2)

    def test_masses_are_checked_wherever_they_come_from(self):
        good = projected(some_codes(20))
        parts = (good.domain, good.design, good.directions)
        with pytest.raises(DataError, match=r"4 variables have 6 pairs. Got 5 histograms"):
            Projections(*parts, good.masses[:-1])
        with pytest.raises(DataError, match="none below zero"):
            Projections(*parts, (good.masses[0] - 1.0, *good.masses[1:]))
        with pytest.raises(DataError, match=r"must all hold the same rows. One holds"):
            Projections(*parts, (good.masses[0] * np.arange(1, 6)[:, None], *good.masses[1:]))

    def test_operators_are_kept_while_there_is_room(self):
        kept = _Kept(most=2 * 9**2)
        axis = axis_of(Domain.from_cardinalities([3])[0])
        keys = [(axis, axis, draw_directions(4, (3, 3), seed).tobytes(), None, "cells") for seed in range(3)]
        first = kept.operator(keys[0])
        kept.operator(keys[1])
        assert kept.operator(keys[0]) is first
        kept.operator(keys[2])
        assert kept.operator(keys[0]) is first
        assert len(kept._operators) == 2

    def test_projections_of_no_rows(self):
        made = projected(some_codes(30))
        assert_same(Projections.zero(DOMAIN, made.design) + made, made, rtol=0, atol=0)
        with pytest.raises(DataError, match="never observed together"):
            Projections.zero(DOMAIN).histogram("x0", "x1")

    def test_published_labels_without_order_are_said(self):
        domain = Domain.infer({"a": list("xyz"), "b": list("uvw")})
        with pytest.warns(DataWarning, match="have no order"):
            Projections.from_histograms(domain, {("a", "b"): np.full((2, 3), 1 / 3)}, 10, n_directions=2)

    def test_binned_columns_are_spread(self):
        rng = np.random.default_rng(0)
        data = {"a": rng.normal(size=300), "b": rng.normal(size=300), "c": rng.integers(0, 3, 300)}
        kinds = [R.kind for R in Projections.of(data, n_directions=10).operators]
        assert kinds == ["strips", "cells", "cells"]

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            (lambda h: h * 1.1, r"must sum to one within 1e-06, every direction by itself. A sum is off by 0.1"),
            (lambda h: h[:3], r"must have shape \(5, 3\), directions by bins. Got \(3, 3\): they do not match"),
            (lambda h: h - 0.5, "finite shares, none below zero"),
        ],
    )
    def test_bad_histograms(self, change, sentence):
        domain = Domain.from_cardinalities([3, 3])
        histogram = np.full((5, 3), 1 / 3)
        with pytest.raises(DataError, match=sentence):
            Projections.from_histograms(domain, {("x0", "x1"): change(histogram)}, 10, n_directions=5)

    def test_a_pair_without_histogram_and_bad_directions(self):
        domain = Domain.from_cardinalities([3, 3])
        with pytest.raises(DataError, match=r"There is no histogram of \('x0', 'x1'\)"):
            Projections.from_histograms(domain, {}, 10)
        good = {("x0", "x1"): np.full((2, 3), 1 / 3)}
        with pytest.raises(DataError, match=r"Directions must have length one within 1e-06. A length is off by 0.41"):
            Projections.from_histograms(domain, good, 10, n_directions=2, directions={(3, 3): np.ones((2, 2))})
        with pytest.raises(DataError, match="no directions for pairs of 3 by 3 labels"):
            Projections.from_histograms(domain, good, 10, n_directions=2, directions={})


def test_folds_deal_every_row_out_once():
    rows = WeightedRows.of(np.array([[0], [0], [1], [2], [2], [2], [2]]))
    folds = rows.folds(3, np.random.default_rng(0))
    held = np.zeros(3)
    for kept, out in folds:
        assert kept.total + out.total == 7
        assert 2 <= out.total <= 3
        held[out.codes[:, 0]] += out.weights
    np.testing.assert_array_equal(held, [2, 1, 4])
