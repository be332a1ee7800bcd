import itertools
from collections import Counter
from inspect import isfunction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.stats import kstest

from juror.kernels import few, jit, reference
from juror.kernels.jit import compiling
from juror.kernels.jit.compiling import forget_stale
from juror.rows.distinct import WeightedRows
from juror.rows.stacking import Stacking
from kernel_cases import Case

examples = settings(deadline=None, max_examples=60)


def log_of(probabilities):
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


CASES = {
    "plain": Case([2, 3, 4], 3, 200),
    "holes": Case([2, 3, 4], 3, 200, missing=0.5),
    "all cells missing": Case([2, 3, 4], 3, 20, missing=1.0),
    "zero probabilities": Case([2, 3, 4], 3, 200, missing=0.2, zeros=0.4),
    "impossible rows": Case([2, 3], 2, 50, zeros=1.0),
    "some impossible rows": Case([3, 3, 3], 2, 200, missing=0.3, zeros=0.7),
    "classes of weight zero": Case([2, 3, 4], 4, 100, dead=2),
    "no class has weight": Case([2, 3], 2, 10, missing=0.5, dead=2),
    "no rows": Case([2, 3, 4], 3, 0),
    "one row": Case([2, 3, 4], 3, 1),
    "rank 1": Case([2, 3, 4], 1, 100, missing=0.2),
    "rank 1 with zeros": Case([2, 3, 4], 1, 100, zeros=0.5),
    "one-level variables": Case([1, 1, 1], 3, 50, missing=0.3),
    "one variable": Case([5], 3, 50, missing=0.3),
    "one of everything": Case([1], 1, 1),
    "wide": Case([2, 3] * 250, 4, 60, missing=0.1),
    "wide and sure": Case([2] * 500, 3, 40, zeros=0.01),
    "high rank": Case([3, 4, 5], 300, 40),
    # Numbers of rows and classes that fill the blocks and vectors of the compiled kernels, and one less or more
    **{f"rank {rank}": Case([3, 4, 5], rank, 70, missing=0.1) for rank in (4, 5, 8, 9, 10, 16, 17, 20, 33)},
    **{f"{n} rows": Case([3, 4, 5], 10, n, missing=0.1) for n in (511, 512, 513, 1025)},
    "more classes than a block is for": Case([3, 2], 40_000, 40),
    "wide and many rows": Case([2, 3] * 250, 20, 1100, missing=0.1),
    "wide and nearly impossible": Case([2] * 300, 12, 600, tilt=30.0),
}
KERNELS = ("log_prob", "posterior", "expected_counts")
# The number of rows that tables are made for decides whether the compiled kernels multiply or add logarithms.
MANY, FEW = 10**9, 0


def run(module, kernel, case, n_rows=MANY):
    arguments = (case.cells, case.weights) if kernel == "expected_counts" else (case.cells,)
    answer = getattr(module, kernel)(*arguments, case.tables(module, n_rows))
    return answer if isinstance(answer, tuple) else (answer,)


def assert_same(first, second):
    """Every part of two answers has one shape and type, −inf in the same places, and values equal to rounding."""
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert np.shape(one) == np.shape(other)
        assert np.asarray(one).dtype == np.asarray(other).dtype == np.float64
        assert not np.any(np.isnan(one))
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize(
    "other",
    [
        (np.array([0.5, -np.inf]),),
        (np.array([-1.0, -1e300]),),
        (np.array([-1.0, np.inf]),),
        (np.array([-1.0, np.nan]),),
        (np.array([-1.0]),),
        (np.array([[-1.0, -np.inf]]),),
        (np.array([-1.0, -np.inf], dtype=np.float32),),
        (np.array([-1.0, -np.inf]), 0.0),
        (),
    ],
    ids=["value", "no -inf", "inf", "nan", "length", "shape", "type", "more", "less"],
)
def test_assert_same_rejects_a_wrong_answer(other):
    answer = (np.array([-1.0, -np.inf]),)
    assert_same(answer, answer)
    with pytest.raises(AssertionError):
        assert_same(answer, other)


def test_assert_same_rejects_nan_on_both_sides():
    with pytest.raises(AssertionError):
        assert_same((np.array([np.nan]),), (np.array([np.nan]),))


def test_the_twins_have_the_same_names():
    # Those over simplices are tested with the methods that use them, in test_moments.py.
    over_simplices = {"project_columns", "least_squares_factor", "least_squares_weights"}
    drawing = {"draw_classes", "uniform", "add_counts", "tables"}  # here, and in test_bayes.py
    labels = {"label_probabilities"}
    packing = {"joined", "folded"}  # in test_packing.py
    counting = {"count_groups", "pack_columns", "weigh_groups"}  # in test_counting.py
    filling = {"draw_columns", "draw_labels", "most_probable"}  # in test_drawing.py
    alone = {"lone_counts"}  # in test_sampled_starts.py
    forests = {"messages", "spread_counts", "draw_counts", "with_logs", "edge_evidence"}  # in test_forest_*.py
    forests |= {"row_sums", "counts_given", "label_logs", "draw_holes"}
    tilts = {"label_gradient"}  # in test_label_tilts.py
    hidden = {"hidden_counts", "hidden_logs", "bells", "drawn_columns"}  # in test_hidden_tree.py
    public = {name for name, value in vars(reference).items() if not name.startswith("_") and isfunction(value)}
    assert public == {
        *KERNELS,
        *over_simplices,
        *drawing,
        *labels,
        *packing,
        *counting,
        *filling,
        *alone,
        *forests,
        *tilts,
        *hidden,
    }
    assert all(callable(getattr(module, name)) for name in public for module in (jit, few))


@pytest.mark.parametrize("n_rows", [MANY, FEW], ids=["products", "logarithms"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_the_twins_agree(name, kernel, n_rows):
    case = CASES[name]
    assert_same(run(jit, kernel, case, n_rows), run(reference, kernel, case))


@pytest.mark.parametrize("n_rows", [MANY, FEW], ids=["products", "logarithms"])
@pytest.mark.parametrize("name", CASES)
def test_two_passes_count_as_one(name, n_rows):
    case = CASES[name]
    tables = case.tables(jit, n_rows)
    _, sums = jit.row_sums(case.cells, tables)
    counts = jit.counts_given(case.cells, case.weights, sums, tables)
    assert_same(counts, run(reference, "expected_counts", case)[1:])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", CASES)
def test_the_kernels_for_few_rows_agree(name, kernel):
    case = CASES[name]
    assert_same(run(few, kernel, case), run(reference, kernel, case))
    # with logarithms that are given, as if the stack had lost digits
    tables = [module.with_logs(case.tables(module, MANY), log_of(case.stack)) for module in (few, reference)]
    assert_same(few.posterior(case.cells, tables[0]), reference.posterior(case.cells, tables[1]))


@pytest.mark.parametrize("name", CASES)
def test_the_kernels_for_few_rows_draw_the_same_classes(name):
    case = CASES[name]
    tables = case.tables(few, MANY), case.tables(reference, MANY)
    for key in (np.uint64(0), np.uint64(2**64 - 1)):
        drawn = few.draw_classes(case.cells, key, 5, tables[0])
        assert_same(drawn, reference.draw_classes(case.cells, key, 5, tables[1]))


def test_rows_that_products_cannot_hold_are_among_the_cases():
    case = CASES["wide and nearly impossible"]
    scaled = case.stack / case.stack.max(axis=1, keepdims=True)
    sums = scaled[case.cells].prod(axis=1).sum(axis=1)
    assert np.any(sums < 1e-200)
    assert np.all(np.isfinite(run(reference, "log_prob", case)))


@pytest.mark.parametrize("dtype", [np.uint16, np.int32])
def test_kernels_take_cells_of_either_type(dtype):
    case = Case([2, 3, 4], 3, 50)
    case.cells = case.cells.astype(dtype)
    assert_same(run(jit, "expected_counts", case), run(reference, "expected_counts", case))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n_rows", [MANY, FEW], ids=["products", "logarithms"])
def test_the_twins_draw_the_same_classes(name, n_rows):
    case = CASES[name]
    for key in (np.uint64(0), np.uint64(2**64 - 1)):
        assert_same(
            jit.draw_classes(case.cells, key, 5, case.tables(jit, n_rows)),
            reference.draw_classes(case.cells, key, 5, case.tables(reference, n_rows)),
        )


@pytest.mark.parametrize("n_rows", [MANY, FEW], ids=["products", "logarithms"])
@pytest.mark.parametrize("name", CASES)
def test_the_twins_agree_on_labels(name, n_rows):
    case = CASES[name]
    factor = np.ascontiguousarray(case.factors[0])
    one, other = (m.label_probabilities(case.cells, case.tables(m, n_rows), factor) for m in (jit, reference))
    assert_same(one, other)


def test_random_numbers_by_number():
    numbers = np.array([0, 1, 7, 2**40])
    for key in (np.uint64(0), np.uint64(12345), np.uint64(2**64 - 1)):
        expected = reference.uniform(key, numbers)
        assert [jit.uniform(key, number) for number in numbers] == expected.tolist()
    drawn = reference.uniform(np.uint64(3), np.arange(100_000))
    assert 0 <= drawn.min() < drawn.max() < 1
    assert kstest(drawn, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(drawn[:-1], drawn[1:])[0, 1]) < 0.02


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_leave_their_arguments_alone(module, kernel):
    case = CASES["some impossible rows"]
    before = [case.cells.copy(), case.weights.copy(), case.lam.copy(), case.stack.copy()]
    run(module, kernel, case)
    for array, copy in zip([case.cells, case.weights, case.lam, case.stack], before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_take_a_run_of_rows(module, kernel):
    # Partitions of a table are slices of its arrays.
    case, part = Case([2, 3, 4], 3, 50, missing=0.2), Case([2, 3, 4], 3, 50, missing=0.2)
    part.cells, part.weights = case.cells[10:30], case.weights[10:30]
    copy = Case([2, 3, 4], 3, 50, missing=0.2)
    copy.cells, copy.weights = part.cells.copy(), part.weights.copy()
    assert_same(run(module, kernel, part), run(reference, kernel, copy))


def test_what_was_compiled_from_other_sources_is_forgotten(tmp_path):
    compiled = tmp_path / "__pycache__"
    compiled.mkdir()
    (tmp_path / "a.py").write_text("one")
    (compiled / "a.nbi").touch()
    forget_stale(tmp_path)
    assert not (compiled / "a.nbi").exists()
    (compiled / "a.nbi").touch()
    forget_stale(tmp_path)
    assert (compiled / "a.nbi").exists()
    (tmp_path / "a.py").write_text("two")
    forget_stale(tmp_path)
    assert not (compiled / "a.nbi").exists()


def test_kernels_work_where_nothing_can_be_kept(monkeypatch):
    def no_place(function):
        raise RuntimeError("cannot cache function 'f': no locator available for file 'f.py'")

    monkeypatch.setattr(compiling, "_ForgivingCache", no_place)
    compiling._say_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="cannot be cached on disk.*NUMBA_CACHE_DIR"):
        doubled = compiling.kernel(lambda x: 2 * x)
    assert doubled(4) == 8


def brute_force(case):
    """The probability of every row by the definition: a sum over classes of products of factors."""
    totals = []
    for row in case.codes:
        terms = [case.lam[f] for f in range(len(case.lam))]
        for (n, code), f in itertools.product(enumerate(row), range(len(terms))):
            terms[f] *= case.factors[n][code, f] if code >= 0 else 1.0
        totals.append(terms)
    return np.array(totals).reshape(len(case.codes), len(case.lam))


SMALL = [name for name in CASES if not name.startswith("wide")]


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
@pytest.mark.parametrize("name", SMALL)
def test_kernels_against_the_definition(name, module):
    case = CASES[name]
    terms = brute_force(case)
    totals = terms.sum(axis=1)
    possible = totals > 0
    shares = np.divide(terms, totals[:, None], out=np.zeros_like(terms), where=possible[:, None])
    log_totals = log_of(totals)
    assert_same(run(module, "log_prob", case), (log_totals,))
    assert_same(run(module, "posterior", case), (log_totals, shares))
    counts = np.zeros_like(case.stack)
    for row, weight, share in zip(case.cells, case.weights, shares, strict=True):
        counts[row] += weight * share
    expected = (np.float64(np.sum(case.weights * log_totals)), case.weights @ shares, counts)
    assert_same(run(module, "expected_counts", case), expected)


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
def test_wide_tables_do_not_underflow(module):
    # 2 ** -3000 is zero as a float, its logarithm is not
    n = 3000
    stacking = Stacking((2,) * n)
    stack = stacking.stack([np.full((2, 2), 0.5)] * n)
    cells = stacking.cells(np.zeros((1, n), dtype=np.int32))
    parts = np.arange(len(stack), dtype=np.int32)[:, None]
    tables = module.tables(np.array([0.25, 0.75]), stack, parts, MANY, n)
    total, R = module.posterior(cells, tables)
    np.testing.assert_allclose(total, [n * np.log(0.5)])
    np.testing.assert_allclose(R, [[0.25, 0.75]])


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
def test_a_row_of_holes_has_probability_one(module):
    case = CASES["all cells missing"]
    total, R = run(module, "posterior", case)
    np.testing.assert_allclose(total, 0.0, atol=1e-12)
    np.testing.assert_allclose(R, np.broadcast_to(case.lam, R.shape))


@pytest.mark.parametrize("module", [jit, reference, few], ids=["numba", "numpy", "few"])
def test_integer_weights_are_repeated_rows_to_the_kernels(module):
    case, repeated = CASES["holes"], Case([2, 3, 4], 3, 200, missing=0.5)
    repeated.cells = np.repeat(case.cells, case.weights.astype(int), axis=0)
    repeated.weights = np.ones(len(repeated.cells))
    assert_same(run(module, "expected_counts", case), run(module, "expected_counts", repeated))


# Distinct rows


def merged_by_hand(codes, weights):
    """Distinct rows with the sum of their weights, in order, by a dictionary."""
    totals = Counter()
    for row, weight in zip(codes.tolist(), weights.tolist(), strict=True):
        totals[tuple(row)] += weight
    return sorted((row, total) for row, total in totals.items() if total > 0)


def as_pairs(rows):
    return [(tuple(row), weight) for row, weight in zip(rows.codes.tolist(), rows.weights.tolist(), strict=True)]


def test_merging_by_hand_tells_tables_apart():
    rows = WeightedRows.of(np.array([[1, 0], [0, 1], [1, 0]]))
    assert as_pairs(rows) == merged_by_hand(np.array([[1, 0], [0, 1], [1, 0]]), np.ones(3))
    assert as_pairs(rows) != merged_by_hand(np.array([[1, 0], [0, 1], [1, 1]]), np.ones(3))
    assert as_pairs(rows) != merged_by_hand(np.array([[1, 0], [0, 1], [1, 0]]), np.array([1.0, 1.0, 2.0]))
    assert as_pairs(rows) != merged_by_hand(np.array([[1, 0], [0, 1]]), np.ones(2))


tables = arrays.arrays(
    dtype=st.sampled_from([np.int32, np.int64]),
    shape=st.tuples(st.integers(0, 12), st.integers(1, 5)),
    elements=st.integers(-1, 3),
)


@examples
@given(codes=tables, data=st.data())
def test_equal_rows_are_merged(codes, data):
    weights = data.draw(arrays.arrays(np.float64, len(codes), elements=st.integers(0, 5).map(float)))
    assert as_pairs(WeightedRows.of(codes, weights)) == merged_by_hand(codes, weights)


@examples
@given(codes=tables, data=st.data())
def test_integer_weights_are_repeated_rows(codes, data):
    times = data.draw(arrays.arrays(np.int64, len(codes), elements=st.integers(0, 4)))
    repeated = WeightedRows.of(np.repeat(codes, times, axis=0))
    assert as_pairs(WeightedRows.of(codes, times.astype(float))) == as_pairs(repeated)


@pytest.mark.parametrize("n_columns", [1, 20, 63, 64, 65, 500])
@pytest.mark.parametrize("levels", [1, 2, 1000, 2**31 - 1], ids=str)
def test_rows_of_many_columns(n_columns, levels):
    # The keys of the rows overflow 64 bits many times.
    rng = np.random.default_rng(n_columns)
    distinct = rng.integers(-1, levels, size=(40, n_columns)).astype(np.int32)
    codes = distinct[rng.integers(0, 40, 200)]
    rows = WeightedRows.of(codes)
    expected, counts = np.unique(codes, axis=0, return_counts=True)
    np.testing.assert_array_equal(rows.codes, expected)
    np.testing.assert_array_equal(rows.weights, counts)
    assert rows.total == 200


@pytest.mark.parametrize("place", [0, 1, 31, 62, 63, 64, 499])
def test_rows_that_differ_in_one_cell_stay_apart(place):
    codes = np.full((3, 500), 6, dtype=np.int32)
    codes[1, place] = 5
    codes[2, place] = -1
    rows = WeightedRows.of(codes)
    np.testing.assert_array_equal(rows.codes, codes[[2, 1, 0]])


def test_rows_of_weight_zero_go():
    rows = WeightedRows.of(np.array([[0], [1], [1]]), np.array([0.0, 0.0, 0.5]))
    assert as_pairs(rows) == [((1,), 0.5)]


def test_no_rows():
    rows = WeightedRows.of(np.empty((0, 3), dtype=np.int32))
    assert rows.codes.shape == (0, 3)
    assert rows.weights.shape == (0,)
    assert rows.total == 0.0


def test_merging_leaves_its_arguments_alone():
    codes, weights = np.array([[1], [0], [1]]), np.array([1.0, 0.0, 2.0])
    WeightedRows.of(codes, weights)
    assert codes.tolist() == [[1], [0], [1]]
    assert weights.tolist() == [1.0, 0.0, 2.0]


# Splitting


def totals_of(*parts):
    totals = Counter()
    for part in parts:
        totals.update(dict(as_pairs(part)))
    return totals


@examples
@given(
    codes=tables,
    data=st.data(),
    fraction=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
    whole=st.booleans(),
)
def test_a_split_keeps_every_row(codes, data, fraction, seed, whole):
    counts = st.integers(1, 9) if whole else st.sampled_from([0.25, 0.5, 1.0, 2.5])
    rows = WeightedRows.of(codes, data.draw(arrays.arrays(np.float64, len(codes), elements=counts.map(float))))
    kept, held = rows.split(fraction, np.random.default_rng(seed))
    assert totals_of(kept, held) == totals_of(rows)
    for part in (kept, held):
        assert np.all(part.weights > 0)
        assert as_pairs(part) == merged_by_hand(part.codes, part.weights)


@pytest.mark.parametrize("weights", [[3.0, 1.0, 2.0], [0.5, 1.5, 0.25]], ids=["whole", "fractions"])
def test_a_split_of_nothing_or_all(weights):
    rows = WeightedRows.of(np.array([[0], [1], [2]]), np.array(weights))
    rng = np.random.default_rng(0)
    nothing, everything = rows.split(0.0, rng), rows.split(1.0, rng)
    assert (as_pairs(nothing[0]), as_pairs(nothing[1])) == (as_pairs(rows), [])
    assert (as_pairs(everything[0]), as_pairs(everything[1])) == ([], as_pairs(rows))


def test_counted_rows_are_split_one_by_one():
    # One distinct row that stands for a hundred thousand is divided, not moved. 800 is more than five sigma.
    rows = WeightedRows.of(np.array([[0]]), np.array([100_000.0]))
    _, held = rows.split(0.3, np.random.default_rng())
    assert abs(held.total - 30_000) < 800


def test_weights_with_fractions_are_held_out_row_by_row():
    rows = WeightedRows.of(np.zeros((100, 1), dtype=int), np.full(100, 0.5))
    kept, held = rows.split(0.5, np.random.default_rng(0))
    assert 0 < held.total < 50
    assert held.total * 2 == held.n_merged[0]
    assert kept.total + held.total == 50


def test_one_weight_with_a_fraction_does_not_change_how_the_others_are_split():
    weights = np.array([1.5, *np.full(9, 1000.0)])
    _, held = WeightedRows.of(np.arange(10)[:, None], weights).split(0.2, np.random.default_rng(0))
    shares = held.weights / weights[held.codes[:, 0]]
    np.testing.assert_allclose(shares[held.codes[:, 0] > 0], 0.2, atol=0.08)


def test_enormous_weights_can_be_split():
    kept, held = WeightedRows.of(np.arange(2)[:, None], np.array([1e20, 1.0])).split(0.2, np.random.default_rng(0))
    assert kept.total + held.total == pytest.approx(1e20)


def test_a_split_is_the_same_for_the_same_seed():
    rows = WeightedRows.of(np.arange(50)[:, None], np.full(50, 3.0))
    first, second = (rows.split(0.5, np.random.default_rng(7)) for _ in range(2))
    assert [as_pairs(part) for part in first] == [as_pairs(part) for part in second]


# Stacking


@examples
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6), rank=st.integers(1, 4), seed=st.integers(0, 2**32 - 1)
)
def test_factors_come_back_from_the_stack(sizes, rank, seed):
    rng = np.random.default_rng(seed)
    stacking = Stacking(tuple(sizes))
    factors = [rng.random((size, rank)) for size in sizes]
    stack = stacking.stack(factors)
    assert stack.shape == (stacking.n_rows, rank) == (sum(sizes) + len(sizes), rank)
    assert np.all(stack[stacking.missing_rows] == 1.0)
    for factor, back in zip(factors, stacking.unstack(stack), strict=True):
        np.testing.assert_array_equal(back, factor)


@examples
@given(sizes=st.lists(st.integers(1, 5), min_size=1, max_size=6), data=st.data())
def test_cells_select_the_row_of_their_code(sizes, data):
    stacking = Stacking(tuple(sizes))
    # A stack whose entries say where they come from: variable and code, or −1 for the row of ones
    marks = np.array([(n, code) for n, size in enumerate(sizes) for code in (*range(size), -1)])
    codes = np.array([data.draw(st.tuples(*(st.integers(-1, size - 1) for size in sizes))) for _ in range(5)])
    cells = stacking.cells(codes)
    assert cells.dtype == np.uint16
    assert cells.flags.c_contiguous
    np.testing.assert_array_equal(marks[cells][..., 1], codes)
    np.testing.assert_array_equal(marks[cells][..., 0], np.broadcast_to(np.arange(len(sizes)), codes.shape))


def test_unstacked_factors_are_copies():
    stacking = Stacking((2, 3))
    stack = stacking.stack([np.ones((2, 1)), np.ones((3, 1))])
    stacking.unstack(stack)[0][:] = 7.0
    assert np.all(stack == 1.0)


def test_cells_of_many_labels_need_more_room():
    stacking = Stacking((40_000, 40_000))
    cells = stacking.cells(np.array([[39_999, -1], [0, 39_999]]))
    assert cells.dtype == np.int32
    assert cells.tolist() == [[39_999, 80_001], [0, 80_000]]


def test_cells_of_no_rows():
    assert Stacking((2, 3)).cells(np.empty((0, 2), dtype=np.int32)).shape == (0, 2)


@examples
@given(
    sizes=st.lists(st.integers(1, 5), min_size=1, max_size=5), rank=st.integers(1, 4), seed=st.integers(0, 2**32 - 1)
)
def test_normalise(sizes, rank, seed):
    rng = np.random.default_rng(seed)
    stacking = Stacking(tuple(sizes))
    counts = rng.integers(0, 3, (stacking.n_rows, rank)).astype(float)
    otherwise = stacking.stack([rng.dirichlet(np.ones(size), size=rank).T for size in sizes])
    before = counts.copy()
    stack = stacking.normalise(counts, otherwise)
    np.testing.assert_array_equal(counts, before)
    assert np.all(stack[stacking.missing_rows] == 1.0)
    for n, factor in enumerate(stacking.unstack(stack)):
        mine = counts[stacking.rows(n)]
        for f in range(rank):
            total = mine[:, f].sum()
            expected = mine[:, f] / total if total > 0 else otherwise[stacking.rows(n), f]
            np.testing.assert_allclose(factor[:, f], expected)
