"""Packed cells say what the cells say: every pass over either gives the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror.kernels import jit, reference
from juror.rows import packing
from juror.rows.drawn import RowsToDraw
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner

examples = settings(deadline=None, max_examples=40)


def a_table(sizes, n_rows, seed=0, missing=0.2):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.int8)
    codes[rng.random(codes.shape) < missing] = -1
    return codes


def parameters(sizes, rank, seed=0):
    rng = np.random.default_rng(seed)
    stack = Stacking(tuple(sizes)).stack([rng.dirichlet(np.ones(size), size=rank).T for size in sizes])
    return rng.dirichlet(np.ones(rank)), stack


def assert_packed(codes, stacking):
    """The packed cells of codes join the two columns of fewest labels, and unpack to the cells of the codes."""
    cells = PackedCells.of(codes, stacking)
    assert cells.packed.shape[1] < codes.shape[1] or np.prod(np.add(np.sort(stacking.cardinalities)[:2], 1)) > 128
    np.testing.assert_array_equal(cells.unpacked(slice(None)), stacking.cells(codes))
    return cells


def test_assert_packed_rejects_what_is_not(monkeypatch):
    codes, stacking = a_table((3, 4), 400), Stacking((3, 4))
    assert_packed(codes, stacking)
    with pytest.raises(AssertionError):
        assert_packed(codes[:10], stacking)
    wrong = PackedCells.of(codes[::-1], stacking)
    monkeypatch.setattr(PackedCells, "of", lambda codes, stacking: wrong)
    with pytest.raises(AssertionError):
        assert_packed(codes, stacking)


@examples
@given(
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=9),
    missing=st.sampled_from([0.0, 0.3, 1.0]),
    rank=st.sampled_from([1, 3, 10, 17]),
    seed=st.integers(0, 2**32 - 1),
)
def test_a_pass_over_packed_cells_is_one_over_the_cells(sizes, missing, rank, seed):
    codes, stacking = a_table(sizes, 2100, seed, missing), Stacking(tuple(sizes))
    (lam, stack), weights = parameters(sizes, rank, seed), np.random.default_rng(seed).integers(1, 4, 2100) * 0.5
    packed, plain = assert_packed(codes, stacking), PackedCells.plain(codes, stacking)
    with LocalRunner(1) as runner:
        one, other = (ExpectedCounts.of(cells, weights, lam, stack, runner) for cells in (packed, plain))
        logs = [log_prob_of_cells(cells, lam, stack, runner) for cells in (packed, plain)]
    # Sums over 2,100 rows, each of which may have probability one
    np.testing.assert_allclose(one.log_likelihood, other.log_likelihood, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(one.classes, other.classes, rtol=1e-10)
    np.testing.assert_allclose(one.cells, other.cells, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(*logs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("weights", [np.ones(3000), np.tile([1.0, 3.0, 2.5], 1000)], ids=["single", "several"])
def test_draws_over_packed_cells_are_draws_over_the_cells(weights):
    sizes = (3, 4, 2, 5)
    codes, stacking, (lam, stack) = a_table(sizes, 3000), Stacking(sizes), parameters(sizes, 6)
    found = []
    with LocalRunner(1) as runner:
        for cells in (assert_packed(codes, stacking), PackedCells.plain(codes, stacking)):
            found.append(RowsToDraw.of(cells, weights).draw(lam, stack, np.random.default_rng(1), runner))
    np.testing.assert_array_equal(found[0].classes, found[1].classes)
    np.testing.assert_array_equal(found[0].cells, found[1].cells)
    np.testing.assert_allclose(found[0].log_likelihood, found[1].log_likelihood, rtol=1e-12)


def test_some_rows():
    codes, stacking = a_table((3, 4, 2), 800), Stacking((3, 4, 2))
    cells = PackedCells.of(codes, stacking)
    chosen = np.arange(800) % 3 == 0
    assert len(cells.rows(chosen)) == chosen.sum()
    np.testing.assert_array_equal(cells.rows(chosen).unpacked(slice(None)), stacking.cells(codes[chosen]))
    np.testing.assert_array_equal(cells.rows(chosen).unpacked([5, 0]), stacking.cells(codes[chosen][[5, 0]]))


def test_no_more_combinations_than_the_most():
    sizes = (2,) * 40
    cells = assert_packed(a_table(sizes, 5000, missing=0.0), Stacking(sizes))
    # Seven columns of two labels have 128 combinations.
    assert cells.packed.shape[1] == 6
    assert cells.n_packed == 5 * 128 + 2**5


def test_only_combinations_that_are_seen_count():
    column = a_table((100,), 5000, missing=0.0)
    cells = PackedCells.of(np.hstack([column, column, column]), Stacking((100, 100, 100)))
    assert cells.packed.shape[1] == 1
    assert cells.n_packed == 100


def test_small_tables_are_left_alone():
    cells = PackedCells.of(a_table((5, 5), 60), Stacking((5, 5)))
    assert cells.packed.shape[1] == 2
    assert cells.n_packed == 12
    np.testing.assert_array_equal(cells.joined(np.ones((12, 3))), np.ones((12, 3)))


def test_columns_of_many_labels_stay_apart():
    sizes = (3, 70_000, 2)
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(-1, size, 300) for size in sizes])
    cells = assert_packed(codes, Stacking(sizes))
    assert cells.packed.dtype == np.int32
    assert cells.packed.shape[1] == 2


@pytest.mark.parametrize("n_rows", [0, 1])
def test_hardly_any_rows(n_rows):
    cells = PackedCells.of(a_table((3, 4), n_rows), Stacking((3, 4)))
    assert len(cells) == n_rows
    assert cells.unpacked(slice(None)).shape == (n_rows, 2)


def test_the_twins_join_and_fold_the_same():
    parts = np.array([[0, 3, -1], [2, 1, 4], [4, 4, 0]], dtype=np.int32)
    rng = np.random.default_rng(0)
    log_stack, counts = np.log(rng.random((5, 3))), rng.random((3, 3))
    log_stack[0, 1] = -np.inf
    np.testing.assert_allclose(jit.joined(parts, log_stack), reference.joined(parts, log_stack))
    np.testing.assert_allclose(jit.folded(parts, counts, 6), reference.folded(parts, counts, 6))
    assert jit.joined(parts, log_stack)[0, 0] == log_stack[0, 0] + log_stack[3, 0]
    assert jit.folded(parts, counts, 6)[4, 0] == pytest.approx(counts[1, 0] + 2 * counts[2, 0])


def test_a_row_that_underflows_when_joined_stays_possible(monkeypatch):
    # 1e-200 times itself is zero as a float
    monkeypatch.setattr(packing, "_ROWS_EACH", 1)
    sizes, codes = (2, 2, 2), np.zeros((40, 3), dtype=np.int8)
    factor = np.array([[1e-200, 1e-250], [1.0, 1.0]])
    stacking = Stacking(sizes)
    cells = assert_packed(codes, stacking)
    with LocalRunner(1) as runner:
        logs = log_prob_of_cells(cells, np.array([0.5, 0.5]), stacking.stack([factor] * 3), runner)
    np.testing.assert_allclose(logs, 3 * np.log(1e-200) + np.log(0.5), rtol=1e-12)


def test_what_underflows_within_a_packed_row_is_not_lost(monkeypatch):
    # The largest product of the joined columns is about 1e-322, with few bits; the last class has one part in 1e19.
    monkeypatch.setattr(packing, "_ROWS_EACH", 1)
    t = 1e-161
    first = [[t, t, 1.0], [t, 3.7 * t, 1.0], [1.0, 1.0, 1e-170], [1.0, 1.0, 1e-170]]
    factors = [np.array([row, 1 - np.array(row)]) for row in first]
    codes, stacking = np.zeros((64, 4), dtype=np.int8), Stacking((2,) * 4)
    cells, lam = assert_packed(codes, stacking), np.array([0.4, 0.4, 0.2])
    stack, weights = stacking.stack(factors), np.ones(64)
    with LocalRunner(1) as runner:
        found = ExpectedCounts.of(cells, weights, lam, stack, runner)
    definition = reference.expected_counts(cells.packed, weights, reference.tables(lam, stack, cells.parts, 64, 1))
    np.testing.assert_allclose(found.log_likelihood, definition[0], rtol=1e-12)
    np.testing.assert_allclose(found.classes, definition[1], rtol=1e-10)
    assert 0 < found.classes[2] < 1e-15
