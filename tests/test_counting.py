"""Counting columns together: the kernels, the plans they follow, and codes of every width."""

from __future__ import annotations

import math
import os
import signal
import time
import tracemalloc
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import Domain, PairCounts, TripleCounts
from juror.counts import counting, plans
from juror.counts.counting import count_tables
from juror.counts.plans import plan_counting
from juror.errors import DataError, ParameterError
from juror.kernels import jit, reference
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner

few = settings(deadline=None, max_examples=40)


def by_hand(codes, sizes, columns, weights=None):
    """Count a table row by row."""
    seen = np.all(codes[:, list(columns)] >= 0, axis=1)
    table = np.zeros([sizes[n] for n in columns])
    np.add.at(table, tuple(codes[seen][:, n] for n in columns), 1.0 if weights is None else weights[seen])
    return table


def random_codes(sizes, n_rows, *, missing=0.1, dtype=np.int8, crowded=0.0, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes])
    codes[rng.random(n_rows) < crowded] = 0
    codes[rng.random(codes.shape) < missing] = -1
    return np.asfortranarray(codes.astype(dtype))


def groups_of(sizes):
    return tuple(group for k in (1, 2, 3) for group in combinations(range(len(sizes)), k))


def run(module, codes, sizes, wanted, weights=None, n_rows=None):
    """Count by the kernels of a module, with a plan for so many rows."""
    plan = plan_counting(tuple(sizes), tuple(wanted), len(codes) if n_rows is None else n_rows)
    packs = np.zeros((len(plan.widths), len(codes)), dtype=plan.code_type)
    assert module.pack_columns(codes.T, 0, len(codes), plan.sizes, plan.members, plan.bounds, packs) == -1
    cells = np.zeros(plan.n_cells, dtype=np.int64 if weights is None else np.float64)
    how = (plan.widths, plan.groups, plan.fold_bounds, plan.folds, plan.digits, plan.starts, plan.map_sizes, cells)
    if weights is None:
        assert module.count_groups(packs, *how) is None
    else:
        assert module.weigh_groups(packs, weights, *how) is None
    return packs, cells, plan.take_apart(cells)


CASES = {
    "plain": ([2, 3, 4], random_codes([2, 3, 4], 500, missing=0.0)),
    "holes": ([2, 3, 4, 5, 6], random_codes([2, 3, 4, 5, 6], 501, missing=0.4)),
    "all missing": ([2, 3, 4], random_codes([2, 3, 4], 50, missing=1.0)),
    "no rows": ([2, 3, 4], random_codes([2, 3, 4], 0)),
    "one row": ([2, 3, 4], random_codes([2, 3, 4], 1)),
    "one level": ([1, 1, 1, 1], random_codes([1, 1, 1, 1], 77)),
    "one column": ([5], random_codes([5], 123)),
    "more rows than a block": ([3, 4, 5], random_codes([3, 4, 5], 2 * 8192 + 3)),
    "crowded": ([3, 4, 5], random_codes([3, 4, 5], 3 * 8192 + 7, crowded=0.8)),
    "the same row": ([3, 4, 5], np.asfortranarray(np.full((20_001, 3), 2, dtype=np.int8))),
    "wide": ([127, 3, 254], random_codes([127, 3, 254], 300, dtype=np.int16)),
    "wider than a word": ([70_000, 2, 3], random_codes([70_000, 2, 3], 300, dtype=np.int32)),
}


@pytest.mark.parametrize("weighted", [False, True], ids=["counted", "weighed"])
@pytest.mark.parametrize("name", CASES)
def test_the_twins_agree_with_counting_by_hand(name, weighted):
    sizes, codes = CASES[name]
    weights = np.random.default_rng(1).integers(1, 5, len(codes)) / 4.0 if weighted else None
    wanted = groups_of(sizes) if math.prod(sizes) < 10**5 else ((0,), (0, 1), (1, 2))
    # a plan for few rows joins little, one for many as much as it can
    for n_rows in (1, 10**7):
        packs, cells, tables = run(jit, codes, sizes, wanted, weights, n_rows)
        same_packs, same_cells, _ = run(reference, codes, sizes, wanted, weights, n_rows)
        np.testing.assert_array_equal(packs, same_packs)
        np.testing.assert_array_equal(cells, same_cells)
        assert cells.dtype == same_cells.dtype
        for columns, table in zip(wanted, tables, strict=True):
            np.testing.assert_array_equal(table, by_hand(codes, sizes, columns, weights))


def test_counting_by_hand_rejects_a_wrong_table():
    codes = np.array([[0, 1], [1, -1]])
    np.testing.assert_array_equal(by_hand(codes, [2, 2], (0, 1)), [[0, 1], [0, 0]])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(by_hand(codes, [2, 2], (0, 1)), by_hand(codes[:1] - 1, [2, 2], (0, 1)))


@pytest.mark.parametrize("module", [jit, reference], ids=["numba", "numpy"])
@pytest.mark.parametrize("wrong", [-2, 3, 127, -128])
def test_a_code_out_of_range_is_found_in_its_column(module, wrong):
    sizes, codes = [2, 3, 4], random_codes([2, 3, 4], 20)
    codes[17, 1] = wrong
    plan = plan_counting(tuple(sizes), ((0, 1),), 20)
    packs = np.zeros((len(plan.widths), 20), dtype=plan.code_type)
    assert module.pack_columns(codes.T, 0, 20, plan.sizes, plan.members, plan.bounds, packs) == 1


@pytest.mark.parametrize("n_rows", [65_535, 65_536, 65_537, 131_073])
def test_a_cell_holds_more_than_a_short_word(n_rows):
    codes = np.full((n_rows, 3), 1, dtype=np.int8, order="F")
    for table in count_tables(codes, [2, 3, 4], [(0, 1), (1, 2), (0, 1, 2)], None, LocalRunner(1)):
        assert table.max() == table.sum() == n_rows


@pytest.fixture
def packed(monkeypatch):
    """Plan and pack however few rows there are, in parts of a few."""
    monkeypatch.setattr(counting, "_FEW", -1)
    monkeypatch.setattr(plans.CountingPlan, "rows_at_once", 7)


@st.composite
def tables(draw, n_columns=4):
    sizes = draw(st.lists(st.integers(1, 5), min_size=n_columns, max_size=n_columns))
    n_rows = draw(st.integers(1, 25))
    columns = [draw(st.lists(st.integers(-1, size - 1), min_size=n_rows, max_size=n_rows)) for size in sizes]
    return sizes, np.array(columns, dtype=np.int8).T


def count_all(codes, sizes, weights=None, n_jobs=1):
    with LocalRunner(n_jobs) as runner:
        return count_tables(codes, sizes, groups_of(sizes), weights, runner)


def assert_equal(some, others):
    for one, other in zip(some, others, strict=True):
        assert one.dtype == other.dtype == np.float64
        assert one.flags.c_contiguous
        np.testing.assert_array_equal(one, other)


@pytest.mark.usefixtures("packed")
class TestPacked:
    @few
    @given(table=tables())
    def test_every_table_is_counted(self, table):
        sizes, codes = table
        assert_equal(count_all(codes, sizes), [by_hand(codes, sizes, group) for group in groups_of(sizes)])

    @few
    @given(table=tables(), data=st.data())
    def test_parts_add_up_to_the_whole(self, table, data):
        sizes, codes = table
        cut = data.draw(st.integers(0, len(codes)))
        parts = [count_all(part, sizes) for part in (codes[:cut], codes[cut:]) if len(part)]
        assert_equal([sum(some) for some in zip(*parts, strict=True)], count_all(codes, sizes))

    @few
    @given(table=tables(), data=st.data())
    def test_whole_weights_are_repeated_rows(self, table, data):
        sizes, codes = table
        times = data.draw(st.lists(st.integers(0, 4), min_size=len(codes), max_size=len(codes)))
        if sum(times):
            repeated = count_all(np.repeat(codes, times, axis=0), sizes)
            assert_equal(count_all(codes, sizes, np.array(times, dtype=float)), repeated)

    @few
    @given(table=tables(), data=st.data())
    def test_the_order_of_columns_does_not_matter(self, table, data):
        sizes, codes = table
        order = data.draw(st.permutations(range(len(sizes))))
        turned = dict(zip(groups_of(sizes), count_all(codes[:, order], [sizes[n] for n in order]), strict=True))
        expected = {group: by_hand(codes, sizes, [order[n] for n in group]) for group in turned}
        assert_equal(turned.values(), expected.values())

    @pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64, np.uint64, ">i4"])
    @pytest.mark.parametrize("order", ["C", "F"])
    def test_codes_of_any_type_and_layout(self, dtype, order):
        sizes = [2, 3, 4]
        codes = random_codes(sizes, 40, missing=0.0 if np.dtype(dtype).kind == "u" else 0.2)
        given_codes = np.array(codes, dtype=dtype, order=order)
        given_codes.flags.writeable = False
        assert_equal(count_all(given_codes, sizes), [by_hand(codes, sizes, group) for group in groups_of(sizes)])

    def test_any_number_of_threads_gives_the_same_bits(self):
        sizes, rng = [3, 4, 5], np.random.default_rng(0)
        codes, weights = random_codes(sizes, 300), rng.random(300)
        for how in (None, weights):
            assert_equal(count_all(codes, sizes, how, n_jobs=1), count_all(codes, sizes, how, n_jobs=3))

    def test_weights_are_added_up(self):
        sizes, codes = [3, 4, 5], random_codes([3, 4, 5], 300)
        weights = np.random.default_rng(0).random(300)
        for group, table in zip(groups_of(sizes), count_all(codes, sizes, weights), strict=True):
            np.testing.assert_allclose(table, by_hand(codes, sizes, group, weights), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("packing", [True, False], ids=["packed", "few"])
class TestRefused:
    def test_codes_out_of_range(self, packing, request):
        if packing:
            request.getfixturevalue("packed")
        codes = random_codes([2, 3], 30)
        codes[20, 1] = 3
        with pytest.raises(DataError, match=r"^Column 1 holds the code 3 in row 20; its codes must be in the range \["):
            PairCounts.of_codes(codes, Domain.from_cardinalities([2, 3]))

    def test_the_largest_number_is_not_missing(self, packing, request):
        if packing:
            request.getfixturevalue("packed")
        codes = np.full((3, 2), 2**64 - 1, dtype=np.uint64)
        with pytest.raises(DataError, match="Column 0 holds the code 18446744073709551615 in row 0"):
            PairCounts.of_codes(codes, Domain.from_cardinalities([2, 3]))

    @pytest.mark.parametrize("codes", [np.zeros((3, 2)), np.zeros((3, 3), dtype=int), np.zeros(2, dtype=int)])
    def test_what_is_no_table_of_codes(self, packing, codes):
        with pytest.raises(DataError, match="codes must be whole numbers, one column for each of 2 variables"):
            PairCounts.of_codes(codes, Domain.from_cardinalities([2, 3]))

    def test_weights_that_do_not_fit(self, packing):
        with pytest.raises(ParameterError, match=r"sample_weight must have shape \(3,\), one a row. Got \(2,\)"):
            PairCounts.of_codes(np.zeros((3, 2), dtype=int), Domain.from_cardinalities([2, 3]), [1.0, 2.0])


class TestStatistics:
    SIZES = (2, 3, 4, 5, 3)
    DOMAIN = Domain.from_cardinalities(SIZES)

    def test_codes_rows_and_tables_are_counted_alike(self):
        codes = random_codes(self.SIZES, 5000)
        table = MemoryTable(WeightedRows.of(codes), self.DOMAIN, LocalRunner(1))
        for kind in (PairCounts, TripleCounts):
            counts = kind.of_codes(codes, self.DOMAIN)
            assert_equal(counts.tables, [by_hand(codes, self.SIZES, group) for group in counts.groups])
            assert_equal(counts.tables, kind.of_rows(table).tables)
            assert_equal(counts.tables, kind.of(codes, self.DOMAIN, n_jobs=2).tables)
            assert_equal(counts.tables, kind.of_codes(codes, self.DOMAIN, np.ones(5000), n_jobs=1).tables)

    def test_some_triples_only(self):
        codes = random_codes(self.SIZES, 5000)
        wanted = [("x4", "x0", "x2"), ("x1", "x2", "x3")]
        counts = TripleCounts.of_codes(codes, self.DOMAIN, triples=wanted)
        assert counts.groups == ((0, 2, 4), (1, 2, 3))
        assert_equal(counts.tables, [by_hand(codes, self.SIZES, group) for group in counts.groups])

    def test_one_variable_has_no_pairs(self):
        counts = PairCounts.of_codes(np.zeros((10**5, 1), dtype=np.int8), Domain.from_cardinalities([1]))
        assert counts.tables == ()

    def test_nothing_is_counted_in_no_rows(self):
        codes = np.empty((0, 5), dtype=np.int8)
        assert PairCounts.of_codes(codes, self.DOMAIN).totals.tolist() == [0.0] * 10


class TestPlans:
    @pytest.mark.parametrize(("size", "n_groups"), [(2, 3), (4, 6), (10, 15), (50, 66)])
    def test_small_alphabets_share_tables(self, size, n_groups):
        plan = plan_counting((size,) * 12, tuple(combinations(range(12), 2)), 10**7)
        assert len(plan.groups) == n_groups
        assert plan.code_type is np.uint16

    def test_few_rows_get_small_tables(self):
        pairs = tuple(combinations(range(12), 2))
        few_rows, many = (plan_counting((10,) * 12, pairs, n_rows) for n_rows in (100, 10**7))
        assert few_rows.widths.max() < many.widths.max()

    @pytest.mark.parametrize(("size", "expected"), [(200, np.uint16), (400, np.uint32), (70_000, np.uint64)])
    def test_joint_codes_have_room(self, size, expected):
        assert plan_counting((size, size), ((0, 1),), 1000).code_type is expected

    def test_tables_with_many_cells_are_merged_seldom(self):
        plan = plan_counting((1000, 1000, 1000), tuple(combinations(range(3), 2)), 10**8)
        assert plan.rows_at_once >= 4 * 3 * 10**6


LEVELS = {
    1: np.int8,
    126: np.int8,
    127: np.int16,
    128: np.int16,
    254: np.int16,
    255: np.int16,
    300: np.int16,
    32_766: np.int16,
    32_767: np.int32,
    33_000: np.int32,
}


@pytest.mark.parametrize(("size", "dtype"), LEVELS.items())
def test_codes_are_as_short_as_they_can_be(size, dtype):
    domain = Domain.from_cardinalities([2, size])
    codes = domain.encode(np.array([[1, size - 1], [0, 0], [-1, -1]]))
    assert codes.dtype == dtype
    assert codes.flags.f_contiguous
    assert codes.tolist() == [[1, size - 1], [0, 0], [-1, -1]]


@pytest.mark.parametrize("size", [126, 127, 128, 254, 255, 300, 33_000])
def test_codes_of_every_width_go_all_the_way(size):
    domain = Domain.from_cardinalities([2, size, 3])
    rng = np.random.default_rng(0)
    # the last labels most of all: they overflow first
    data = np.column_stack(
        [rng.integers(0, 2, 60), size - 1 - rng.integers(0, min(size, 3), 60), rng.integers(0, 3, 60)]
    )
    holes = data.copy()
    holes[::7, 1], holes[3::7, 2] = -1, -1
    codes = domain.encode(holes)
    merged = WeightedRows.of(codes)
    assert merged.codes.dtype == codes.dtype
    np.testing.assert_array_equal(merged.codes, np.unique(holes, axis=0))
    counts = PairCounts.of_codes(codes, domain)
    assert_equal(counts.tables, [by_hand(holes, domain.cardinalities, group) for group in counts.groups])
    model = juror.fit(holes, 2, "em", domain=domain, n_init=1, tol=0.1, n_jobs=1)
    log_prob = model.log_prob(data)
    dense = sum(
        weight * np.prod([factor[data[:, n], f] for n, factor in enumerate(model.factors)], axis=0)
        for f, weight in enumerate(model.weights)
    )
    np.testing.assert_allclose(log_prob, np.log(dense), rtol=1e-9)
    seen = holes >= 0
    for filled in (model.impute(holes), model.impute(holes, draws=1, seed=1)):
        np.testing.assert_array_equal(np.asarray(filled)[seen], holes[seen])
        assert np.all(np.asarray(filled) >= 0)
    assert model.sample(20, seed=0)["x1"].to_numpy().min() >= 0


class TestMerging:
    @few
    @given(table=tables(3), data=st.data())
    def test_rows_are_sorted_and_differ(self, table, data):
        _, codes = table
        weights = np.array(data.draw(st.lists(st.floats(0.1, 3.0), min_size=len(codes), max_size=len(codes))))
        for given_weights in (None, weights):
            rows = WeightedRows.of(codes, given_weights)
            expected, group = np.unique(codes, axis=0, return_inverse=True)
            np.testing.assert_array_equal(rows.codes, expected)
            np.testing.assert_array_equal(rows.n_merged, np.bincount(group))
            # to the bit: equal rows are added up in their order
            np.testing.assert_array_equal(rows.weights, np.bincount(group, given_weights))

    @pytest.mark.parametrize("weights", [None, np.arange(1.0, 401.0)], ids=["counted", "weighed"])
    def test_more_columns_than_a_key_has_room_for(self, weights):
        codes = random_codes([120] * 30, 200, missing=0.3)
        codes = np.concatenate([codes, codes])
        rows = WeightedRows.of(codes, weights)
        expected, group = np.unique(codes, axis=0, return_inverse=True)
        assert rows.codes.dtype == np.int8
        np.testing.assert_array_equal(rows.codes, expected)
        np.testing.assert_array_equal(rows.weights, np.bincount(group, weights))

    def test_whole_weights_of_any_type_become_floats(self):
        for weights in (np.array([3, 2]), np.array([3.0, 2.0], dtype=np.float32)):
            rows = WeightedRows.of(np.array([[1], [0]]), weights)
            assert rows.weights.dtype == np.float64
            assert rows.weights.tolist() == [2.0, 3.0]

    def test_memory_stays_near_that_of_the_codes(self):
        n_rows = 100_000
        codes = random_codes([10] * 10, n_rows)
        tracemalloc.start()
        WeightedRows.of(codes)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 60 * n_rows


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_counting_can_be_interrupted(monkeypatch, request, n_jobs):
    codes = np.random.default_rng(0).integers(2, size=(2**20, 30), dtype=np.int8)
    wanted = list(combinations(range(30), 3))
    n_counted = []

    def count_groups(packs, widths, groups, *_):
        n_counted.append(len(groups))
        if len(n_counted) == 1:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)

    kernels = SimpleNamespace(pack_columns=jit.pack_columns, count_groups=count_groups)
    # A shell lets programs in the background ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    monkeypatch.setattr(counting, "kernels_to_count", lambda n_rows, n_tables: kernels)
    monkeypatch.setattr(plans, "_IN_ONE_CALL", 1, raising=False)
    with pytest.raises(KeyboardInterrupt), LocalRunner(n_jobs) as runner:
        count_tables(codes, [2] * 30, wanted, None, runner)
    n_groups = len(plan_counting((2,) * 30, tuple(wanted), 2**21).groups)
    assert sum(n_counted) < n_groups


def test_counts_do_not_depend_on_the_calls(monkeypatch):
    rng = np.random.default_rng(0)
    codes, weights = rng.integers(-1, 3, size=(20_000, 9)), rng.random(20_000)
    wanted = list(combinations(range(9), 3))

    def count() -> list[bytes]:
        with LocalRunner(2) as runner:
            tables = [count_tables(codes, [3] * 9, wanted, each, runner) for each in (None, weights)]
        return [table.tobytes() for some in tables for table in some]

    expected = count()
    monkeypatch.setattr(plans, "_IN_ONE_CALL", 1)
    assert count() == expected
