"""Rows with missing cells along forests: every pass equals the enumeration of the missing cells."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from juror.answers.block import BareMixture, Block
from juror.answers.sampling import fill_at_random, fill_best
from juror.answers.scores import class_posteriors, log_prob, predict_proba
from juror.domain import Domain
from juror.domain.variable import Strangers
from juror.errors import ZeroProbabilityError
from juror.kernels import few, jit, reference
from juror.rows import expected, packing
from juror.rows.distinct import WeightedRows
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.out_of_core import OutOfCoreTable
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.pieces import Encoded, HeldPiece
from juror.rows.regions import find_regions
from juror.rows.sheets import SheetedCells
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective
from juror.solvers.starts import random_start, seeded_start

examples = settings(deadline=None, max_examples=40)


class Case:
    """Random tables along a random forest, and random rows with missing cells."""

    def __init__(self, seed, n_nodes=5, rank=3, n_rows=40, missing=0.4, zeros=0.0, most_labels=4, parents=None):
        rng = np.random.default_rng(seed)
        order = rng.permutation(n_nodes)
        if parents is None:
            parents = np.full(n_nodes, -1)
            for place in range(1, n_nodes):
                parents[order[place]] = order[rng.integers(place)] if rng.random() < 0.85 else -1
        self.forest = Forest(tuple(int(parent) for parent in parents))
        self.sizes = tuple(int(size) for size in rng.integers(1, most_labels + 1, n_nodes))
        self.stacking = Stacking(self.sizes, self.forest)
        self.lam = rng.dirichlet(np.ones(rank))
        self.tables = []
        for node, parent in enumerate(self.forest.parents):
            height = 1 if parent < 0 else self.sizes[parent]
            table = np.moveaxis(rng.dirichlet(np.ones(self.sizes[node]), size=(height, rank)), 2, 1)
            gone = rng.random(table.shape) < zeros
            gone &= table < table.max(axis=1, keepdims=True)
            table = np.where(gone, 0.0, table)
            self.tables.append(table / table.sum(axis=1, keepdims=True))
        self.stack = self.stacking.stack(self.tables)
        self.codes = np.column_stack([rng.integers(0, size, n_rows) for size in self.sizes]).astype(np.int32)
        self.codes[rng.random(self.codes.shape) < missing] = -1
        self.weights = rng.integers(1, 5, n_rows) * 0.5

    def enumerated(self):
        """Return ℓ (rows,), class counts (F,) and joint counts (stacked rows, F), cell by missing cell."""
        logs, classes, cells = [], np.zeros(len(self.lam)), np.zeros_like(self.stack)
        for row, weight in zip(self.codes, self.weights, strict=True):
            needed = self.needed(row)
            options = [[x] if x >= 0 else range(size) for x, size in zip(row, self.sizes, strict=True)]
            whole, parts = np.zeros(len(self.lam)), []
            for full in itertools.product(*options):
                joint = self.lam.copy()
                for node, parent in enumerate(self.forest.parents):
                    joint = joint * self.tables[node][full[parent] if parent >= 0 else 0, full[node]]
                whole += joint
                parts.append((full, joint))
            total = whole.sum()
            logs.append(np.log(total) if total > 0 else -np.inf)
            if total == 0:
                continue
            classes += weight * whole / total
            for full, joint in parts:
                for node, parent in enumerate(self.forest.parents):
                    if needed[node]:
                        above = full[parent] * self.sizes[node] if parent >= 0 else 0
                        cells[self.stacking.starts[node] + above + full[node]] += weight * joint / total
        return np.array(logs), classes, cells

    def needed(self, row):
        """Whether each node is observed or has an observed descendant; a parent of such a node counts too."""
        needed = row >= 0
        for node in reversed(self.forest.order):
            for child in self.forest.children[node]:
                needed[node] |= needed[child]
        return needed


cases = st.builds(
    Case,
    st.integers(0, 2**32 - 1),
    n_nodes=st.integers(1, 6),
    rank=st.sampled_from([1, 3, 9]),
    n_rows=st.sampled_from([1, 30]),
    missing=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    zeros=st.sampled_from([0.0, 0.3]),
    most_labels=st.integers(1, 4),
)


def passes(case, cells):
    with LocalRunner(1) as runner:
        logs = log_prob_of_cells(cells, case.lam, case.stack, runner)
        counts = ExpectedCounts.of(cells, case.weights, case.lam, case.stack, runner)
    return logs, counts


def assert_enumerated(case, cells):
    logs, counts = passes(case, cells)
    true_logs, classes, true_cells = case.enumerated()
    np.testing.assert_allclose(logs, true_logs, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(counts.log_likelihood, case.weights @ true_logs, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(counts.classes, classes, rtol=1e-10, atol=1e-10)
    own = np.ones(len(case.stack), dtype=bool)
    own[case.stacking.missing_rows] = False
    np.testing.assert_allclose(counts.cells[own], true_cells[own], rtol=1e-10, atol=1e-10)


@examples
@given(case=cases)
def test_a_pass_equals_the_enumeration_of_missing_cells(case):
    assert_enumerated(case, PackedCells.plain(case.codes, case.stacking))


def test_a_wrong_pass_would_be_found():
    case = Case(3)
    cells = PackedCells.plain(case.codes, case.stacking)
    assert_enumerated(case, cells)
    case.codes = case.codes[::-1]
    with pytest.raises(AssertionError):
        assert_enumerated(case, cells)


@examples
@given(case=cases)
def test_the_twins_agree(case):
    _, regions = find_regions(case.codes, case.stacking)
    if regions is None:
        return
    n, states, used, found = len(case.stack), regions.states, regions.used, []
    for module in (jit, reference, few):
        extended = np.concatenate([case.stack, np.empty((len(used), len(case.lam)))])
        logs = module.messages(extended, n, states, used)
        counts = np.random.default_rng(0).integers(0, 3, extended.shape) * 0.75 * (extended > 0)
        spread, drawn = counts.copy(), counts.copy()
        module.spread_counts(spread, case.stack, states, used, logs)
        module.draw_counts(drawn, np.uint64(17), case.stack, states, used, logs)
        found.append((extended, logs, spread, drawn))
    for one, other in [*zip(*found[:2], strict=True), *zip(*found[1:], strict=True)]:
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)


def star(n_children, seed=0, tilt=1.0):
    """A missing root with many observed children."""
    case = Case(seed, n_children + 1, 3, 6, 0.0, parents=[-1, *[0] * n_children], most_labels=2)
    case.sizes = (2,) * (n_children + 1)
    case.stacking = Stacking(case.sizes, case.forest)
    rng = np.random.default_rng(seed)
    case.tables = [rng.dirichlet(np.ones(2), size=(1, 3)).swapaxes(1, 2)]
    case.tables += [rng.dirichlet(np.ones(2), size=(2, 3)).swapaxes(1, 2) ** tilt for _ in range(n_children)]
    case.stack = case.stacking.stack(case.tables)
    case.codes = rng.integers(0, 2, (6, n_children + 1)).astype(np.int32)
    case.codes[:, 0] = -1
    return case


@pytest.mark.parametrize("tilt", [1.0, 5.0])
def test_hundreds_of_children_of_a_missing_node_do_not_underflow(tilt):
    case = star(400, tilt=tilt)
    cells = PackedCells.plain(case.codes, case.stacking)
    logs, counts = passes(case, cells)
    with np.errstate(divide="ignore"):
        joint = np.log(case.lam) + np.log(case.tables[0][0])
    by_row = []
    for row in case.codes:
        by_row.append(joint + sum(np.log(case.tables[n][:, row[n]]) for n in range(1, 401)))
    tops = np.array([part.max() for part in by_row])
    true_logs = np.array([np.log(np.exp(part - top).sum()) + top for part, top in zip(by_row, tops, strict=True)])
    assert true_logs.min() < -250 * tilt
    np.testing.assert_allclose(logs, true_logs, rtol=1e-10)
    shares = [weight * np.exp(part - log) for weight, part, log in zip(case.weights, by_row, true_logs, strict=True)]
    np.testing.assert_allclose(counts.classes, sum(share.sum(axis=0) for share in shares), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(counts.cells[:2], sum(shares), rtol=1e-8, atol=1e-12)
    first = counts.cells[case.stacking.rows(1)].reshape(2, 2, 3)
    true_first = np.zeros((2, 2, 3))
    for row, share in zip(case.codes, shares, strict=True):
        true_first[:, row[1]] += share
    np.testing.assert_allclose(first, true_first, rtol=1e-8, atol=1e-12)
    _, regions = find_regions(case.codes, case.stacking)
    below = [np.concatenate([case.stack, np.empty((len(regions.used), 3))]) for _ in range(2)]
    logs = jit.messages(below[0], len(case.stack), regions.states, regions.used)
    true_logs = reference.messages(below[1], len(case.stack), regions.states, regions.used)
    np.testing.assert_allclose(*below, rtol=1e-9)
    np.testing.assert_allclose(logs, true_logs, rtol=1e-12)


# Tables and models


def table_of(case, runner=None):
    rows = WeightedRows(case.codes, case.weights, np.ones(len(case.codes), dtype=np.int64))
    return MemoryTable(rows, Domain.from_cardinalities(case.sizes), runner or LocalRunner(1))


def big_case(seed=5, missing=0.3, n_rows=3000, **options):
    return Case(seed, 7, 6, n_rows, missing, most_labels=5, **options)


def test_packed_rows_of_a_forest_count_as_plain_ones(monkeypatch):
    case = big_case()
    plain = passes(case, PackedCells.plain(case.codes, case.stacking))
    for most in (1 << 15, 20):
        monkeypatch.setattr(packing, "_MOST_MESSAGES", most)
        rows = table_of(case).along(case.forest)
        assert isinstance(rows.cells, SheetedCells) == (most == 20)
        logs, counts = rows.log_prob(case.lam, case.stack), rows.expected(case.lam, case.stack)
        np.testing.assert_allclose(logs, plain[0], rtol=1e-12)
        np.testing.assert_allclose(counts.classes, plain[1].classes, rtol=1e-10)
        own = np.delete(np.arange(len(case.stack)), case.stacking.missing_rows)
        np.testing.assert_allclose(counts.cells[own], plain[1].cells[own], rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(counts.log_likelihood, plain[1].log_likelihood, rtol=1e-12)
        chosen = np.array([7, 2900, 3])
        np.testing.assert_array_equal(rows.cells.unpacked(chosen), case.stacking.cells(case.codes[chosen]))
        half = rows.part(np.arange(0, 3000, 2), case.weights[::2])
        np.testing.assert_allclose(half.log_prob(case.lam, case.stack), plain[0][::2], rtol=1e-12)


def test_all_sheets_of_a_large_table_have_compiled_kernels(monkeypatch):
    """Kernels for few rows are slow over long tables and many messages, which each sheet has."""
    case = big_case()
    monkeypatch.setattr(packing, "_MOST_MESSAGES", 20)
    sheets = table_of(case).along(case.forest).in_order().cells.sheets
    assert min(sheet.packed.size for sheet in sheets) < 4096 < sum(sheet.packed.size for sheet in sheets)
    assert {sheet.kernels for sheet in sheets} == {jit}


def test_labels_are_counted_with_those_of_their_parents():
    case = big_case()
    counts = table_of(case).along(case.forest).label_counts[:, 0]
    for node, parent in enumerate(case.forest.parents):
        table = counts[case.stacking.rows(node)].reshape(-1, case.sizes[node])
        for r in range(len(table)):
            here = np.ones(len(case.codes), dtype=bool) if parent < 0 else case.codes[:, parent] == r
            for x in range(case.sizes[node]):
                assert table[r, x] == pytest.approx(case.weights[here & (case.codes[:, node] == x)].sum())


@pytest.mark.parametrize("rank", [5, 20, 300])
def test_threads_do_not_matter(rank):
    case = big_case(n_rows=20_000)
    rng = np.random.default_rng(0)
    stack = case.stacking.normalise(rng.random((len(case.stack), rank)), np.ones((len(case.stack), rank)))
    lam = rng.dirichlet(np.ones(rank))
    found = []
    for n_jobs in (1, 3):
        with LocalRunner(n_jobs) as runner:
            rows = table_of(case, runner).along(case.forest)
            found.append((rows.expected(lam, stack), rows.draw(lam, stack, np.random.default_rng(2))))
    for one, other in zip(*found, strict=True):
        assert one.log_likelihood == other.log_likelihood
        np.testing.assert_array_equal(one.classes, other.classes)
        np.testing.assert_array_equal(one.cells, other.cells)


@pytest.mark.parametrize("products", [expected._PRODUCTS_OF_THREAD, 1])
@pytest.mark.parametrize("rank", [1, 9, 16, 40])
def test_expected_counts_of_many_classes(monkeypatch, rank, products):
    monkeypatch.setattr(expected, "_PRODUCTS_OF_THREAD", products)
    case = Case(9, 6, rank, 60, 0.4)
    assert_enumerated(case, PackedCells.plain(case.codes, case.stacking))


@pytest.mark.parametrize(
    ("n_rows", "n_labels", "rank", "size"),
    [
        (100, 4, 64, 64),  # a pass of few products is not shared
        (30_000, 4, 64, 32),
        (30_000, 4, 65, 48),
        (30_000, 4, 1000, 128),  # eight threads at most
        (100, 150, 500, 64),  # tables of 64 classes fill the cache
    ],
)
def test_threads_take_about_as_many_classes_each(n_rows, n_labels, rank, size):
    codes = np.random.default_rng(0).integers(0, n_labels, (n_rows, 9)).astype(np.int32)
    cells = PackedCells.plain(codes, Stacking((n_labels,) * 9, Forest((-1, 0, 1, 2, 3, 4, 5, 6, 7))))
    assert expected._classes_at_once(cells, rank) == size


def test_draws_are_whole_and_have_the_mean_of_expected_counts():
    case = big_case(n_rows=300)
    case.weights = np.tile([1.0, 2.0, 3.0], 100)
    rows = table_of(case).along(case.forest)
    expected = rows.expected(case.lam, case.stack)
    rng = np.random.default_rng(1)
    draws = [rows.draw(case.lam, case.stack, rng) for _ in range(400)]
    for drawn in draws[:5]:
        np.testing.assert_array_equal(drawn.cells, np.round(drawn.cells))
        np.testing.assert_array_equal(drawn.classes, np.round(drawn.classes))
        # An observed child counts with the label that was drawn for its parent.
        for node, parent in enumerate(case.forest.parents):
            if parent >= 0:
                joint = drawn.cells[case.stacking.rows(node)].reshape(-1, case.sizes[node], len(case.lam))
                above = drawn.cells[case.stacking.rows(parent)].reshape(-1, case.sizes[parent], len(case.lam)).sum(0)
                assert np.all(joint.sum(axis=1) <= above + 1e-9)
    own = np.delete(np.arange(len(case.stack)), case.stacking.missing_rows)
    mean = np.mean([drawn.cells[own] for drawn in draws], axis=0)
    error = np.std([drawn.cells[own] for drawn in draws], axis=0) / np.sqrt(len(draws))
    off = np.abs(mean - expected.cells[own]) / np.maximum(error, 0.02)
    assert off.max() < 5.0
    assert np.mean(off > 2.0) < 0.1


def test_em_never_lowers_the_likelihood_along_a_forest():
    case = big_case(n_rows=400)
    rows = table_of(case).along(case.forest)
    for smoothing in (0.0, 0.5):
        objective = Objective.of(rows, case.stacking, smoothing)
        point, trace = objective.at(random_start(objective.marginals, 4, case.stacking, np.random.default_rng(0))), []
        for _ in range(25):
            trace.append(point.objective)
            point = objective.at(objective.update(point))
        assert np.all(np.diff(trace) >= -1e-9 * abs(trace[0]))
        assert trace[-1] > trace[0] + 10


def test_classes_begin_at_rows_along_a_forest():
    case = big_case(n_rows=400)
    rows = table_of(case).along(case.forest)
    objective = Objective.of(rows, case.stacking, 0.1)
    start = seeded_start(rows, objective.marginals, 5, case.stacking, np.random.default_rng(0))
    assert np.isfinite(objective.at(start).objective)


def test_out_of_core_is_in_memory():
    case = big_case(n_rows=2000)
    for weighted in (False, True):
        if not weighted:
            case.weights = np.ones(2000)
        domain = Domain.from_cardinalities(case.sizes)
        fixed = packing.FixedPacking(Stacking(case.sizes))
        pieces = []
        for first in range(0, 2000, 700):
            some = slice(first, first + 700)
            weights = case.weights[some] if weighted else None
            pieces.append(HeldPiece((Encoded(case.codes[some], weights, first).packed(fixed),), Strangers()))
        with LocalRunner(1) as runner:
            kept = runner.keep(lambda piece: piece, pieces)
            away = OutOfCoreTable(kept, fixed, domain, "a test", runner, 10**6)
            here = table_of(case)
            along, rows = away.along(case.forest), here.along(case.forest)
            assert along.total == pytest.approx(rows.total)
            np.testing.assert_allclose(along.label_counts, rows.label_counts)
            one, other = along.expected(case.lam, case.stack), rows.expected(case.lam, case.stack)
            np.testing.assert_allclose(one.cells, other.cells, rtol=1e-9, atol=1e-9)
            np.testing.assert_allclose(one.classes, other.classes, rtol=1e-10)
            product = Stacking(case.sizes)
            lam, factors = np.array([0.4]), [np.full((size, 1), 1 / size) for size in case.sizes]
            parts = (
                Parameters(0.6 * case.lam, case.stack, case.forest),
                Parameters(lam, product.stack(factors)),
            )
            assert away.log_prob(parts) == pytest.approx(here.log_prob(parts), rel=1e-12)
            assert away.log_prob(parts[:1]) == pytest.approx(here.log_prob(parts[:1]), rel=1e-12)
            drawn = along.draw(case.lam, case.stack, np.random.default_rng(0))
            again = along.draw(case.lam, case.stack, np.random.default_rng(0))
            np.testing.assert_array_equal(drawn.cells, again.cells)
            assert drawn.classes.sum() == pytest.approx(rows.total)


class Mixed:
    """A random mixture of blocks, one with a hidden node, and its dense tensor."""

    def __init__(self, seed, n_blocks, sizes=(2, 3, 2, 3), zeros=0.0):
        rng = np.random.default_rng(seed)
        blocks, self.dense = [], 0.0
        shares = rng.dirichlet(np.ones(n_blocks))
        for b, share in enumerate(shares):
            n_nodes = len(sizes) + (b == 1)
            block = Case(int(rng.integers(2**31)), n_nodes, 2 + b, 1, zeros=zeros, most_labels=3)
            own = Case.__new__(Case)
            own.forest = block.forest if b != 2 else Forest.empty(n_nodes)
            own.sizes = (*sizes, 2)[:n_nodes]
            tables = []
            for node, parent in enumerate(own.forest.parents):
                height = 1 if parent < 0 else own.sizes[parent]
                table = np.moveaxis(rng.dirichlet(np.ones(own.sizes[node]), size=(height, 2 + b)), 2, 1)
                gone = (rng.random(table.shape) < zeros) & (table < table.max(axis=1, keepdims=True))
                table = np.where(gone, 0.0, table)
                tables.append(table / table.sum(axis=1, keepdims=True))
            blocks.append(Block(share * rng.dirichlet(np.ones(2 + b)), own.forest, tuple(tables)))
            whole = np.zeros(own.sizes)
            for cell in itertools.product(*map(range, own.sizes)):
                joint = blocks[-1].weights.copy()
                for node, parent in enumerate(own.forest.parents):
                    joint = joint * tables[node][cell[parent] if parent >= 0 else 0, cell[node]]
                whole[cell] = joint.sum()
            self.dense = self.dense + (whole.sum(axis=-1) if n_nodes > len(sizes) else whole)
        self.model = BareMixture(tuple(blocks), Domain.from_cardinalities(sizes))
        self.codes = np.column_stack([rng.integers(0, size, 30) for size in sizes]).astype(np.int16)
        self.codes[rng.random(self.codes.shape) < 0.4] = -1

    def given(self, row):
        """Return the tensor with the observed cells fixed, not normalised, (…) over the missing ones."""
        return self.dense[tuple(slice(None) if x < 0 else x for x in row)]


mixtures = st.builds(Mixed, st.integers(0, 2**32 - 1), n_blocks=st.integers(1, 3), zeros=st.sampled_from([0.0, 0.2]))


@examples
@given(mixed=mixtures)
def test_scores_equal_the_dense_tensor(mixed):
    true = np.array([mixed.given(row).sum() for row in mixed.codes])
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_prob(mixed.model, mixed.codes), np.log(true), rtol=1e-10, atol=1e-12)
    possible = mixed.codes[true > 0]
    for target in range(4):
        blind = possible.copy()
        blind[:, target] = -1
        chances = predict_proba(mixed.model, possible, target)
        for row, found in zip(blind, chances, strict=True):
            rest = np.delete(np.arange(4), target)
            table = np.moveaxis(mixed.dense, target, 0)[
                (slice(None), *(slice(None) if x < 0 else x for x in row[rest]))
            ]
            whole = table.reshape(len(table), -1).sum(axis=1)
            np.testing.assert_allclose(found, whole / whole.sum(), rtol=1e-9, atol=1e-12)
    filled, _ = fill_best(mixed.model, possible, None)
    for n in range(4):
        holes = possible[:, n] < 0
        chances = predict_proba(mixed.model, possible[holes], n) if holes.any() else np.empty((0, 1))
        np.testing.assert_array_equal(filled[holes, n], chances.argmax(axis=1) if holes.any() else [])
        np.testing.assert_array_equal(filled[~holes, n], possible[~holes, n])
    for rows, R in class_posteriors(mixed.model, possible):
        np.testing.assert_allclose(R.sum(axis=1), 1.0)
        assert R.shape == (rows.stop - rows.start, sum(block.rank for block in mixed.model.blocks))


@pytest.mark.parametrize("n_blocks", [1, 3])
@pytest.mark.parametrize("row", [[-1, 1, -1, 2], [-1, -1, 0, -1], [-1, -1, -1, -1]])
def test_random_fills_have_the_joint_distribution_of_the_holes(n_blocks, row):
    mixed = Mixed(12, n_blocks)
    n = 20_000
    tiled = np.tile(np.array(row, dtype=np.int16), (n, 1))
    filled, _ = fill_at_random(mixed.model, tiled, np.random.default_rng(3))
    holes = [k for k, x in enumerate(row) if x < 0]
    true = mixed.given(row) / mixed.given(row).sum()
    seen = np.zeros(true.shape)
    np.add.at(seen, tuple(filled[:, k] for k in holes), 1.0)
    assert chisquare(seen.ravel(), n * true.ravel()).pvalue > 1e-4
    assert all(np.all(filled[:, k] == x) for k, x in enumerate(row) if x >= 0)


def test_the_twins_fill_holes_alike():
    case = big_case(n_rows=200)
    rng = np.random.default_rng(0)
    classes, uniform = rng.integers(0, 6, 200), rng.random((200, 7))
    sizes, order = np.array(case.sizes), np.array(case.forest.order)
    parents, starts = np.array(case.forest.parents), case.stacking.starts.astype(np.int64)
    filled = []
    for module in (jit, reference):
        filled.append(case.codes.copy())
        module.draw_holes(filled[-1], classes, case.stack, starts, sizes, parents, order, uniform)
    np.testing.assert_array_equal(*filled)
    assert filled[0].min() >= 0


def test_the_twins_tell_labels_apart_alike():
    case = big_case(n_rows=200)
    stacking = Stacking(case.sizes, case.forest.rerooted(2))
    rng = np.random.default_rng(0)
    stack = stacking.normalise(rng.random((stacking.n_rows, 6)), np.ones((stacking.n_rows, 6)))
    case.codes[:, 2] = -1
    (cells,) = PackedCells.in_sheets(case.codes, stacking, target=2)
    whole = np.concatenate([stack, np.empty((cells.n_below, 6))])
    jit.messages(whole, len(stack), cells.regions.states, cells.regions.used)
    shape = cells.packed.shape
    logs = [
        module.label_logs(cells.packed, module.tables(case.lam, whole, cells.parts, *shape), 2, case.sizes[2])
        for module in (jit, reference)
    ]
    np.testing.assert_allclose(*logs, rtol=1e-12)
    few = jit.label_logs(cells.packed, jit.tables(case.lam, whole, cells.parts, 0, 7), 2, case.sizes[2])
    np.testing.assert_allclose(few, logs[1], rtol=1e-12)


def test_impossible_rows_are_said():
    mixed = Mixed(1, 2)
    blocks = tuple(
        Block(
            block.weights,
            block.forest,
            (
                np.stack([np.ones_like(block.tables[0][:, 0]), np.zeros_like(block.tables[0][:, 0])], axis=1),
                *block.tables[1:],
            ),
        )
        for block in mixed.model.blocks
    )
    model = BareMixture(blocks, mixed.model.domain)
    codes = np.array([[0, 1, 1, 1], [1, -1, 0, 0]], dtype=np.int16)
    at_random = np.random.default_rng(0)
    for answer in (lambda m, c: fill_best(m, c, None), lambda m, c: fill_at_random(m, c, at_random)):
        with pytest.raises(ZeroProbabilityError, match="Row 1"):
            answer(model, codes)
