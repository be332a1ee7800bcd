"""Trees with hidden nodes: messages of rows equal the dense tensor, steps climb, and fits of numbers choose them."""

import itertools
import threading
import time
import warnings
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

import juror
from juror.answers.marginals import marginal
from juror.answers.sampling import fill_at_random, fill_best
from juror.answers.scores import log_prob, predict_proba
from juror.domain import Domain
from juror.errors import ZeroProbabilityError
from juror.fitting import climb, hidden_trees
from juror.fitting.choose import FitSetting
from juror.fitting.ensemble import most_members
from juror.fitting.held_out import Trial
from juror.fitting.members import fit_members
from juror.fitting.skip_patterns import with_missing_as
from juror.kernels import jit, reference
from juror.kernels.reference.bells import ColumnPrior
from juror.report import page_model
from juror.rows.distinct import WeightedRows
from juror.rows.forest import Forest
from juror.rows.hidden_stack import HiddenNodes, HiddenTables
from juror.rows.in_memory import MemoryTable
from juror.rows.reading import open_table
from juror.rows.row_messages import RowMessages
from juror.runners.local import LocalRunner
from juror.solvers import grouped_trees, hidden_tree
from juror.solvers.em import EMOptions
from juror.solvers.grouped_trees import GroupedTrees
from juror.solvers.hidden_tree import StateOptions
from juror.solvers.methods import METHODS
from juror.solvers.row_groups import group_rows, normal_scores
from juror.solvers.solver import Context
from juror.testing.models import dense, random_forest_model

# Small trees miss some pairs, and the warning that names these is not what is tested here.
may_miss_pairs = pytest.mark.filterwarnings("ignore:P.c:juror.FitWarning")
examples = settings(deadline=None, max_examples=40)
SIZES, HIDDEN = (3, 2, 4), (3, 2)


def model_of(seed, zeros=0.0, n_blocks=2):
    return random_forest_model(
        SIZES, [1] * n_blocks, np.random.default_rng(seed), hidden=HIDDEN, edges=0.9, zeros=zeros
    )


def rows_with_holes(seed, n=30):
    rng = np.random.default_rng(seed)
    codes = np.column_stack([rng.integers(size, size=n) for size in SIZES])
    return np.where(rng.random(codes.shape) < 0.4, -1, codes)


def compatible(tensor, row):
    """The part of the tensor that agrees with the cells of a row."""
    part = tensor
    for axis, code in enumerate(row):
        if code >= 0:
            part = part.take([code], axis=axis)
    return part


@examples
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.3]))
def test_the_probability_of_a_row_is_that_of_the_dense_tensor(seed, zeros):
    model, codes = model_of(seed, zeros), rows_with_holes(seed)
    expected = [compatible(dense(model), row).sum() for row in codes]
    np.testing.assert_allclose(np.exp(log_prob(model, codes)), expected, atol=1e-12)


@examples
@given(st.integers(0, 10**6), st.integers(0, 2))
def test_predicted_labels_are_those_of_the_dense_tensor(seed, target):
    model, codes = model_of(seed), rows_with_holes(seed)
    blind = codes.copy()
    blind[:, target] = -1
    others = tuple(axis for axis in range(3) if axis != target)
    expected = np.array([compatible(dense(model), row).sum(axis=others) for row in blind])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(predict_proba(model, codes, target), expected, atol=1e-12)


@examples
@given(st.integers(0, 10**6))
def test_holes_are_filled_with_the_most_probable_labels(seed):
    model, codes = model_of(seed), rows_with_holes(seed)
    filled, _ = fill_best(model, codes, None)
    tensor = dense(model)
    for row, found in zip(codes, filled, strict=True):
        for n in np.flatnonzero(row < 0):
            chances = compatible(tensor, row).sum(axis=tuple(axis for axis in range(3) if axis != n))
            assert chances[found[n]] == pytest.approx(chances.max(), rel=1e-9)
        assert np.all(found[row >= 0] == row[row >= 0])


def test_drawn_holes_follow_the_dense_tensor():
    model, row = model_of(5), np.array([-1, 1, -1])
    drawn, _ = fill_at_random(model, np.tile(row, (20_000, 1)), np.random.default_rng(0))
    expected = compatible(dense(model), row)[:, 0]
    seen = np.zeros_like(expected)
    np.add.at(seen, (drawn[:, 0], drawn[:, 2]), 1)
    assert np.all(drawn[:, 1] == 1)
    assert chisquare(seen.ravel(), 20_000 * (expected / expected.sum()).ravel()).pvalue > 1e-3


def test_an_impossible_row_is_named():
    model = model_of(3, zeros=0.6, n_blocks=1)
    codes = np.array(list(itertools.product(*map(range, SIZES))))
    impossible = dense(model)[tuple(codes.T)] == 0
    assert impossible.any()
    assert not impossible.all()
    assert np.array_equal(np.isneginf(log_prob(model, codes)), impossible)
    with pytest.raises(ZeroProbabilityError, match="Row 0"):
        fill_best(model, codes[impossible][:1], None)


def random_tree(seed, n_states=3):
    """A forest over hidden nodes, and tables of single precision."""
    rng = np.random.default_rng(seed)
    parents = [-1, *(int(rng.integers(-1, n)) for n in range(1, len(SIZES)))]
    forest = hidden_tree.hidden_forest(Forest(tuple(parents)))
    sizes = (*SIZES, *[n_states] * len(SIZES))
    lines = [1 if above < 0 else n_states for above in forest.parents]
    tables = [rng.dirichlet(np.ones(size), n).astype(np.float32) for size, n in zip(sizes, lines, strict=True)]
    return forest, sizes, tables


@examples
@given(st.integers(0, 10**6))
def test_expected_counts_and_logs_are_those_of_all_completions(seed):
    forest, sizes, tables = random_tree(seed)
    codes, weights = rows_with_holes(seed, 5), np.arange(1.0, 6.0)
    expected, logs = [np.zeros(table.shape) for table in tables], []
    for row, weight in zip(codes, weights, strict=True):
        whole = [range(size) if n >= 3 or row[n] < 0 else [row[n]] for n, size in enumerate(sizes)]
        ways = list(itertools.product(*whole))
        shares = np.array([np.prod([t[_above(way, forest, n), way[n]] for n, t in enumerate(tables)]) for way in ways])
        logs.append(np.log(shares.sum(dtype=np.float64)))
        for way, share in zip(ways, weight * shares / shares.sum(), strict=True):
            for n, count in enumerate(expected):
                # A missing cell says nothing, and is not counted.
                if n >= 3 or row[n] >= 0:
                    count[_above(way, forest, n), way[n]] += share
    nodes, stacked = HiddenNodes.of(forest, SIZES), HiddenTables.stacked(tables)
    np.testing.assert_allclose(nodes.logs(stacked, codes), logs, atol=1e-5)
    for found, count in zip(nodes.tables(nodes.counts(stacked, codes, weights)), expected, strict=True):
        np.testing.assert_allclose(found, count, atol=1e-4)


@pytest.mark.parametrize(("n_rows", "n_states"), [(0, 3), (1, 1), (300, 5)])
def test_the_twins_agree_on_hidden_trees(n_rows, n_states):
    forest, _, tables = random_tree(3, n_states)
    # One cell is impossible, so rows that show it count nowhere.
    tables[0] = np.where(np.arange(SIZES[0]) == 1, 0, tables[0]).astype(np.float32)
    nodes, stacked = HiddenNodes.of(forest, SIZES), HiddenTables.stacked(tables)
    cells, weights = nodes.cells(rows_with_holes(4, n_rows)), np.ones(n_rows, dtype=np.float32)
    arrays = stacked.columns, stacked.follows, nodes.above, nodes.order
    logs = [module.hidden_logs(cells, *arrays) for module in (jit, reference)]
    assert np.any(np.isneginf(logs[0])) == (n_rows == 300)
    np.testing.assert_allclose(*logs, atol=1e-5)
    counts = [module.hidden_counts(cells, weights, *arrays) for module in (jit, reference)]
    for one, other in zip(*counts, strict=True):
        assert one.dtype == other.dtype == np.float32
        np.testing.assert_allclose(one, other, atol=1e-4)


@settings(deadline=None, max_examples=30)
@given(
    st.integers(0, 999), st.lists(st.tuples(st.integers(1, 100), st.booleans(), st.booleans()), min_size=1, max_size=4)
)
def test_the_twins_draw_columns_to_the_same_bells(seed, variables):
    rng = np.random.default_rng(seed)
    sizes = [n_labels + has_missing for n_labels, _, has_missing in variables]
    counts = rng.poisson(rng.exponential(size=(sum(sizes), 1)), (sum(sizes), 5))
    # One state has no rows.
    counts = (counts * [0.0, 1.0, 1.0, 9.0, 0.1]).astype(np.float32)
    starts = np.cumsum([0, *sizes])
    scores = [
        hidden_tree._Scores.of(counts[first:last].sum(axis=1).astype(np.float64), is_number, int(has_missing))
        for first, last, (_, is_number, has_missing) in zip(starts, starts[1:], variables, strict=False)
    ]
    prior = ColumnPrior(*rng.exponential([1.0, 100.0, 0.3, 1.0, 1e-3]))
    columns = hidden_tree._Columns.of(scores, starts)
    one, other = (module.drawn_columns(counts, *columns, prior) for module in (jit, reference))
    assert one.dtype == other.dtype == np.float32
    np.testing.assert_allclose(one, other, atol=1e-6)
    np.testing.assert_allclose(np.add.reduceat(one, starts[:-1]), 1.0, atol=1e-5)
    means, spreads = rng.normal(size=7), np.exp(rng.normal(-1, 2, size=7))
    for ends in (each.ends for each in scores if each.ends is not None):
        one, other = (module.bells(ends, means, spreads) for module in (jit, reference))
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_hidden_nodes_that_contradict_each_other_do_not_underflow():
    n = 200
    forest = hidden_tree.hidden_forest(Forest((-1, *[0] * (n - 1))))
    sure = np.array([[1.0 - 1e-4, 1e-4], [1e-4, 1.0 - 1e-4]], dtype=np.float32)
    tables = [*[sure] * n, np.full((1, 2), 0.5, dtype=np.float32), *[np.eye(2, dtype=np.float32)] * (n - 1)]
    codes = np.array([[0, 1] * (n // 2)])
    nodes, stacked = HiddenNodes.of(forest, [2] * n), HiddenTables.stacked(tables)
    np.testing.assert_allclose(nodes.logs(stacked, codes), n / 2 * (np.log(1e-4) + np.log1p(-1e-4)), rtol=1e-5)
    np.testing.assert_allclose(nodes.counts(stacked, codes, np.ones(1)).follows[0, 0], [0.5, 0.5], atol=1e-3)


def _above(way, forest, n):
    parent = forest.parents[n]
    return 0 if parent < 0 else way[parent]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_children_that_contradict_each_other_do_not_underflow(dtype):
    n_children = 200
    forest = Forest((-1, *[0] * n_children))
    sure = np.array([[1.0 - 1e-4, 1e-4], [1e-4, 1.0 - 1e-4]])
    tables = [np.array([[0.5, 0.5]], dtype), *[sure.astype(dtype)] * n_children]
    codes = np.array([[-1] + [0, 1] * (n_children // 2), [-1] + [0] * 101 + [1] * 99])
    told = RowMessages.of(codes, forest, tables)
    contrary = 100 * (np.log(1e-4) + np.log1p(-1e-4))
    np.testing.assert_allclose(told.logs, [contrary, contrary + np.log(0.5 / (1e-4 / (1 - 1e-4)))], rtol=1e-4)
    np.testing.assert_allclose(told.shares()[0], [[0.5, 0.5], [1.0, 0.0]], atol=1e-3)


def turned(n, seed, columns=6):
    """Numbers that vary together in three directions, which classes and forests follow badly."""
    mixing, rng = np.random.default_rng(0).normal(size=(3, columns)), np.random.default_rng(seed)
    numbers = rng.normal(size=(n, 3)) @ mixing + 0.2 * rng.normal(size=(n, columns))
    return {f"c{k}": column.copy() for k, column in enumerate(numbers.T)}


def trees_of(data, n_states=8, smoothing=0.5, n_groups=1, bell_rows=100.0):
    domain = Domain.infer(data, bins=16)
    rows = WeightedRows.of(domain.encode(data))
    return GroupedTrees.of(
        rows, domain, n_groups, StateOptions(n_states, smoothing, bell_rows), np.random.default_rng(1)
    )


@pytest.mark.parametrize("n_groups", [1, 3])
def test_steps_make_rows_more_probable_than_their_start(n_groups):
    trees = trees_of(turned(3000, 0), n_states=16, n_groups=n_groups)
    codes, rng = trees.domain.encode(turned(1000, 1)), np.random.default_rng(0)
    found = trees.start(rng)
    before = trees.log_prob(found, codes).mean()
    *_, found = trees.steps(found, 100, rng)
    after = trees.log_prob(found, codes).mean()
    alone = 6 * np.log(1 / 16)
    assert before < alone + 0.5 < after - 0.5


def test_the_mixture_of_groups_is_a_model_with_the_same_probabilities():
    trees, rng = trees_of(turned(2000, 0), n_groups=3), np.random.default_rng(0)
    *_, found = trees.steps(trees.start(rng), 40, rng)
    codes = trees.domain.encode(turned(200, 1))
    model = juror.JointPMF.of_blocks(_blocks(trees, found), trees.domain)
    assert found.shares.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(log_prob(model, codes), trees.log_prob(found, codes), rtol=1e-4)


def test_whole_steps_never_lower_the_likelihood_of_groups(monkeypatch):
    # Without anything that columns are drawn to, a step over all rows is one of EM for the whole mixture.
    monkeypatch.setattr(grouped_trees, "_LEAST_SHARE", 0.0)
    monkeypatch.setattr(grouped_trees, "_WHOLE_SHARE", 1)
    monkeypatch.setattr(GroupedTrees, "_scale_to_margins", lambda trees, found: None)
    trees = trees_of(turned(1000, 0), n_groups=2, n_states=4, smoothing=1e-6, bell_rows=1e-6)
    scores = []
    for n_whole in (1, 2, 4):
        monkeypatch.setattr(grouped_trees, "_WHOLE_STEPS", n_whole)
        again = np.random.default_rng(0)
        *_, found = trees.steps(trees.start(again), 10, again)
        scores.append(trees.rows.weights @ trees.log_prob(found, trees.rows.codes))
    assert scores == sorted(scores)
    assert scores[-1] > scores[0] + 1


def test_numbers_without_holes_have_the_marginals_of_their_rows():
    """Strong bells would move rows of a column of two parts to the middle."""
    rng = np.random.default_rng(3)
    data = {name: rng.normal(size=4000) + 3 * rng.choice([-1, 1], 4000) for name in "abc"}
    data["c"][:1000] = np.nan
    trees = trees_of(data, n_states=2, n_groups=2, bell_rows=1e5)
    *_, found = trees.steps(trees.start(rng), 30, rng)
    model = juror.JointPMF.of_blocks(_blocks(trees, found), trees.domain)
    for n, name in enumerate("ab"):
        wanted = grouped_trees._margin(trees.domain[n], trees.rows.codes[:, n], trees.rows.weights) / 4000
        np.testing.assert_allclose(marginal(model, [n]), wanted, atol=1e-4, err_msg=name)
        shares = np.bincount(trees.rows.codes[:, n], trees.rows.weights, minlength=16) / 4000
        np.testing.assert_allclose(np.cumsum(wanted), np.cumsum(shares), atol=0.005, err_msg=name)
    scores = trees.trees[0]._scores[0]
    assert len(scores.middles) == len(scores.marginal) == 16


def test_margins_are_those_of_the_rows_if_the_law_is_of_others():
    rng = np.random.default_rng(4)
    variable = Domain.infer({"x": rng.normal(size=3000)}, bins=20)["x"]
    for shift, by_law in ((0.0, True), (1.5, False)):
        column = Domain([variable]).encode({"x": rng.normal(shift, size=3000)})[:, 0]
        counted = np.bincount(column, minlength=variable.cardinality)
        found = grouped_trees._margin(variable, column, np.ones(3000))
        assert np.array_equal(found, counted) != by_law
        np.testing.assert_allclose(np.cumsum(found), np.cumsum(counted), atol=100)


def test_a_group_that_lost_its_rows_does_no_harm(monkeypatch):
    trees, rng = trees_of(turned(2000, 0), n_groups=2), np.random.default_rng(0)
    monkeypatch.setattr(GroupedTrees, "_shares_of", lambda trees, found, codes: np.tile([1.0, 0.0], (len(codes), 1)))
    *_, found = trees.steps(trees.start(rng), 8, rng)
    assert all(np.all(np.isfinite(each)) for tables in found.tables for each in (tables.columns, tables.follows))
    assert np.all(np.isfinite(trees.log_prob(found, trees.rows.codes)))


def test_groups_find_how_numbers_vary_together():
    rng = np.random.default_rng(0)
    signs = np.repeat([1.0, -1.0], 2000)
    first = rng.normal(size=4000)
    scores = np.stack([first, signs * first + 0.2 * rng.normal(size=4000)], axis=1)
    shares = group_rows(scores, np.ones(4000), 2, rng)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    # Rows in the middle belong to both.
    clear = np.abs(first) > 0.5
    right = np.mean(shares[clear].argmax(axis=1) == (signs[clear] < 0))
    assert max(right, 1 - right) > 0.97


def test_missing_and_equal_numbers_have_scores_of_their_own():
    codes = np.array([0] * 500 + [1] * 500 + [-1] * 200 + [2] * 100)
    scores = normal_scores(codes, np.array([500.0, 500.0]), np.random.default_rng(0))
    assert scores[:500].max() <= 0 <= scores[500:1000].min()
    for some in (scores[:1000], scores[1000:1200], scores[1200:]):
        assert kstest(some, "norm").pvalue > 1e-3


def test_columns_of_states_sum_to_one_and_give_missing_labels_their_share():
    data = turned(2000, 2, columns=2)
    data["c0"][:500] = np.nan
    domain = Domain.infer(data, bins=16).with_missing_as({"c0": "none"})
    rows = WeightedRows.of(domain.encode(data))
    rng = np.random.default_rng(0)
    trees = GroupedTrees.of(rows, domain, 1, StateOptions(6, 1.0, 100.0), rng)
    *_, found = trees.steps(trees.start(rng), 60, rng)
    for table in trees.trees[0].nodes.tables(found.tables[0]):
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)
    model = juror.JointPMF.of_blocks(_blocks(trees, found), domain)
    assert model.ask("c0")["none"] == pytest.approx(0.25, abs=0.02)


def _blocks(trees, found):
    from juror.fitting.held_out import as_mixture

    return as_mixture(trees.parameters(found), trees.domain).blocks


@contextmanager
def small_trees():
    """Small trees, of few steps."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hidden_trees, "_FIRST_STATES", 16)
        patched.setattr(hidden_trees, "_MOST_STATES", 32)
        patched.setattr(hidden_trees, "_COMPARED_STEPS", 120)
        patched.setattr(hidden_trees, "MOST_GROUPS", 2)
        patched.setattr(hidden_trees, "_MEMBERS", 2)
        patched.setattr(climb, "_MOST_RANK", 32)
        yield


@pytest.fixture
def quick():
    with small_trees():
        yield


@pytest.fixture(scope="module")
def told():
    """A tree fitted by one thread, and the steps that its fit told."""
    steps = []
    with small_trees(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "P.c", juror.FitWarning)
        model = juror.fit(turned(3000, 5), method="em", ensemble="auto", bins=12, n_jobs=1, progress=steps.append)
    assert "hidden nodes" in model.info.forests
    return SimpleNamespace(model=model, steps=steps)


@pytest.fixture(scope="module")
def finer():
    """A tree of finer intervals than those found first, so that rows were read twice, and the warnings of its fit."""
    data = turned(3000, 3) | {"same": np.full(3000, 7.5)}
    with small_trees(), warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = juror.fit(data, n_jobs=2)
    return SimpleNamespace(model=model, warned=warned)


@may_miss_pairs
def test_a_fit_of_numbers_chooses_hidden_nodes_and_finer_intervals(quick):
    model = juror.fit(turned(4000, 3), method="em", ensemble="auto", n_jobs=2)
    assert "hidden nodes" in model.info.forests
    assert all(len(block.tables) == 12 for block in model.blocks)
    assert min(model.domain.cardinalities) > 4 * 15
    unseen = turned(2000, 4)
    plain = juror.fit(turned(4000, 3), method="em", ensemble="auto", forest=False)
    assert model.log_density(unseen).mean() > plain.log_density(unseen).mean() + 0.1


@pytest.mark.parametrize("given", [False, True])
def test_a_label_for_missing_cells_leaves_room_for_finer_intervals(given):
    data = turned(3000, 3)
    data["c0"][:500] = np.nan
    domain = Domain.infer(data) if given else None
    with LocalRunner(1) as runner:
        opened = open_table(data, domain, (), "error", None, runner)
        opened = with_missing_as(opened, {"c0": "none"}, 1 << 30, 0, None)
        finer = opened.with_more_intervals(opened.found_domain())
        if given:
            # Who passes a domain has chosen its intervals.
            assert finer is None
            return
        coarse, fine = opened.found_domain(), finer.found_domain()
    assert [variable.missing_label for variable in fine] == ["none"] + [None] * 5
    before, after = ([len(variable.present_labels) for variable in each] for each in (coarse, fine))
    assert after == [8 * n for n in before]


def test_rows_that_are_read_twice_are_warned_of_once(finer):
    assert "hidden nodes" in finer.model.info.forests
    (only,) = [each for each in finer.warned if each.category is juror.DataWarning]
    assert "is constant" in str(only.message)
    others = [each for each in finer.warned if each is not only]
    assert [each for each in others if not str(each.message).startswith("P(c")] == []


@may_miss_pairs
def test_threads_do_not_change_the_bits_of_a_tree(quick, told):
    two = juror.fit(turned(3000, 5), method="em", ensemble="auto", n_jobs=2, bins=12)
    assert two.domain.cardinalities == (12,) * 6
    assert "hidden nodes" in two.info.forests
    for a, b in zip(told.model.blocks, two.blocks, strict=True):
        assert all(np.array_equal(left, right) for left, right in zip(a.tables, b.tables, strict=True))


def test_a_tree_survives_a_file_and_conditions(told, tmp_path):
    model = told.model
    model.save(tmp_path / "tree.juror")
    again = juror.load(tmp_path / "tree.juror")
    question = "c1 | c0 >= 0.5, c2 < 0"
    asked = model.ask(question).to_numpy()
    np.testing.assert_array_equal(again.ask(question).to_numpy(), asked)
    given = model.condition(c0=juror.Range(at_least=0.5))
    np.testing.assert_allclose(given.ask("c1 | c2 < 0").to_numpy(), asked, atol=1e-12)


def test_a_budget_of_time_ends_a_tree():
    """A second is far from enough for a million steps, and on a busy machine one step is taken all the same."""
    data, runner = turned(3000, 7), LocalRunner(1)
    domain = Domain.infer(data, bins=16)
    table = MemoryTable(WeightedRows.of(domain.encode(data)), domain, runner)
    trial = Trial(table, METHODS["em"], None, Context(0, runner, until=time.monotonic() + 1.0))
    (member,) = fit_members(trial, EMOptions(), FitSetting(8, 0.5, hidden_steps=10**6), [0])
    assert member.cut == "max_seconds"
    assert np.isfinite(member.score)


@pytest.mark.parametrize(
    ("rows", "columns", "rank", "groups", "n_members"),
    [(16_000, 10, 64, 8, 8), (200_000, 15, 64, 8, 4), (10**7, 40, 64, 8, 2)],
)
def test_large_tables_have_fewer_trees(rows, columns, rank, groups, n_members):
    setting = FitSetting(rank, hidden_steps=100, groups=groups)
    assert most_members(EMOptions(ensemble="auto"), setting, rows * columns, in_time=False) == n_members
    assert most_members(EMOptions(ensemble="auto"), setting, rows * columns, in_time=True) == 20


@pytest.mark.parametrize(("n_cells", "n_members"), [(10**5, 10), (3 * 10**6, 6), (10**8, 2)])
def test_large_tables_have_fewer_members(n_cells, n_members):
    assert most_members(EMOptions(ensemble="auto"), FitSetting(128, forest=True), n_cells, in_time=False) == n_members


@pytest.mark.parametrize(("n_numbers", "most"), [(3, 4096), (60, 68), (500, 1)])
def test_many_numbers_have_fewer_intervals_each(n_numbers, most):
    rng = np.random.default_rng(0)
    data = {f"c{n}": rng.normal(size=1000) for n in range(n_numbers)}
    opened = open_table(data, None, (), "error", None, LocalRunner(1))
    coarse = opened.found_domain()
    fine = opened.with_more_intervals(coarse).found_domain()
    before = len(coarse[0].present_labels)
    assert {len(each.present_labels) for each in fine} == {max(before, min(8 * before, most))}


@pytest.mark.parametrize(("n_variables", "first", "most"), [(10, 32, 64), (250, 32, 56), (1000, 28, 28)])
def test_wide_tables_have_fewer_states(n_variables, first, most):
    trial = _trial_of_numbers(n_variables)
    assert hidden_trees.first_setting(trial).rank == first
    assert hidden_trees.most_states(trial.domain, in_time=False) == most


def test_very_wide_tables_have_no_hidden_nodes():
    assert hidden_trees.first_setting(_trial_of_numbers(6000)) is None


def _trial_of_numbers(n_variables):
    number = Domain.infer({"c": np.arange(100.0) / 7}, bins=4)[0]
    domain = Domain([replace(number, name=f"c{n}") for n in range(n_variables)])
    return SimpleNamespace(domain=domain, target=None)


def test_the_last_steps_take_an_eighth_of_the_rows_before(monkeypatch):
    monkeypatch.setattr(hidden_tree, "BATCH", 50)
    monkeypatch.setattr(grouped_trees, "BATCH", 50)
    trees, rng = trees_of(turned(3000, 8)), np.random.default_rng(0)
    sizes, counts = [], HiddenNodes.counts

    def counted(nodes, stacked, codes, weights):
        sizes.append((len(weights), weights.sum()))
        return counts(nodes, stacked, codes, weights)

    monkeypatch.setattr(HiddenNodes, "counts", counted)
    *_, found = trees.steps(trees.start(rng), 16, rng)
    assert sum(n for n, _ in sizes) == 16 * 50 + 3 * 100
    assert sum(weight for _, weight in sizes) == pytest.approx((16 + 3) * 3000)
    for table in trees.trees[0].nodes.tables(found.tables[0]):
        np.testing.assert_allclose(table.sum(axis=1), 1.0, atol=1e-5)


def test_an_interrupt_stops_the_trees_of_other_threads(monkeypatch, quick):
    monkeypatch.setattr(hidden_trees, "_COMPARED_STEPS", 4000)
    steps, first, taken = GroupedTrees.steps, threading.Lock(), []

    def interrupted(trees, found, n_steps, rng):
        interrupts = first.acquire(blocking=False)
        for moved in steps(trees, found, n_steps, rng):
            if interrupts:
                raise KeyboardInterrupt
            taken.append(1)
            yield moved

    monkeypatch.setattr(GroupedTrees, "steps", interrupted)
    with pytest.raises(KeyboardInterrupt):
        juror.fit(turned(2000, 9), bins=8, n_jobs=2)
    assert len(taken) < 1000


def test_the_record_says_how_many_steps_and_in_which_intervals_states_were_compared(finer):
    record = finer.model.info
    assert record.stopped == "each after 120 steps"
    assert ": classes -" in record.hidden
    assert "; in finer intervals 16 states -" in record.hidden
    assert "16 states × 2 -" in record.hidden


def test_trees_tell_how_far_they_are(told):
    fitting = [step for step in told.steps if step.stage == "fitting"]
    done = [(step.start - 1 + step.iteration / step.max_iter) / step.n_starts for step in fitting]
    assert len(done) > 10
    assert done == sorted(done)
    assert done[-1] == 1


def test_as_many_steps_are_yielded_as_were_said():
    trees, rng = trees_of(turned(1700, 0), n_groups=2), np.random.default_rng(0)
    assert len(list(trees.steps(trees.start(rng), 7, rng))) == trees.n_yields(7)


def test_the_start_of_bells_is_at_the_rows():
    scores = hidden_tree._Scores.of(np.ones(8), True, 0)
    columns = scores.start(np.array([0, 7, -1]))
    np.testing.assert_allclose(columns.sum(axis=1), 1.0)
    assert columns[0].argmax() == 0
    assert columns[1].argmax() == 7
    np.testing.assert_allclose(columns[2], scores.marginal)


def test_a_page_without_room_has_a_tree_with_fewer_transitions(told, monkeypatch):
    model = told.model
    whole = page_model.make_page_model(model, "auto", 0)
    assert len(whole.model.blocks) == len(model.blocks)
    room = 0.9 * page_model._n_bytes([page_model._packed_block(model.blocks[0], 16)])
    monkeypatch.setattr(page_model, "_room", lambda model: room)
    small = page_model.make_page_model(model, "auto", 0)
    assert page_model._n_bytes(small.packed) <= room
    # The first of two members, with a tree for each of two groups: two trees of the same rows would be far off.
    kept, given = ([block.weights.sum() for block in each.blocks] for each in (small.model, model))
    assert len(given) == 4
    np.testing.assert_allclose(kept, 2 * np.array(given[:2]), rtol=1e-3)
    for block in small.model.blocks:
        assert len(block.tables) == 12
        assert any(np.any(table == 0) for table in block.tables[6:])
    assert small.loss < 0.5
    assert np.all(np.isfinite(small.model.log_prob(turned(3000, 5))))


def test_shares_of_intervals_follow_the_law_but_for_values_that_recur():
    """A group of rows has its own share of zeros, and as many others in all, which lie as those of the column do."""
    rng = np.random.default_rng(0)
    column = np.concatenate([np.zeros(400), rng.exponential(size=1600)])
    domain = Domain.infer({"x": column}, bins=40, binning="ends")
    codes = domain.encode({"x": column})[:, 0]
    some = np.concatenate([np.arange(50), np.arange(400, 700)])
    counted = np.bincount(codes[some], minlength=domain["x"].cardinality)
    found = hidden_tree._by_law(counted, domain["x"].inside)
    assert found[0] == counted[0] == 50
    np.testing.assert_allclose(found[1:] / 300, domain["x"].inside.masses[1:] / domain["x"].inside.masses[1:].sum())


def thin_curves(n, seed):
    """Two numbers follow a third along thin curves: forests have their coarse intervals at once, and trees have not."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    y, z = (np.sin(turns * x) + 0.01 * rng.normal(size=n) for turns in (6.0, 15.0))
    return {"x": x, "y": y, "z": z}


@pytest.mark.filterwarnings("ignore:P.[xyz]:juror.FitWarning")
@pytest.mark.parametrize("better", [False, True])
def test_trees_that_lose_in_coarse_intervals_are_compared_in_fine_ones(quick, monkeypatch, better):
    compared = []

    def are_better(fine, trees, coarse, classes, least):
        assert least == 0.0
        compared.append((trees, classes))
        assert fine.of(trees).step.rank == trees.rank
        assert min(fine.trial.domain.cardinalities) > max(coarse.trial.domain.cardinalities)
        return better

    monkeypatch.setattr(hidden_trees, "are_better", are_better)
    model = juror.fit(thin_curves(1500, 0), method="em", ensemble="auto", n_jobs=2)
    (trees, classes), *more = compared
    assert trees.is_hidden
    assert not classes.is_hidden
    assert not more
    assert ("hidden nodes" in model.info.forests) == better


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 99), st.sampled_from([4, 9, 31]))
def test_laws_alone_gain_nothing_whatever_the_intervals(seed, bins):
    """A model in which each number follows its law, times two for all rows: each gains log 2."""
    rng = np.random.default_rng(seed)
    data = {"a": rng.normal(size=300), "b": rng.integers(0, 90, 300), "c": rng.choice(["x", "y"], 300)}
    data["a"][:20] = np.nan
    domain = Domain.infer(data, bins=bins)
    held = MemoryTable(WeightedRows.of(domain.encode(data)), domain, LocalRunner(1))
    logs = [np.append(np.log(variable.inside.masses), 0.0) for variable in (domain["a"], domain["b"])]
    rows = sum(of[codes] for of, codes in zip(logs, held.rows.codes.T, strict=False)) + np.log(2)
    tried = SimpleNamespace(rows=rows, weights=held.rows.weights)
    compare = SimpleNamespace(of=lambda _: tried, parts=[(held, held)], trial=SimpleNamespace(domain=domain))
    mean, error = hidden_trees._beyond_laws(compare, FitSetting(2))
    assert mean == pytest.approx(np.log(2))
    assert error == pytest.approx(0.0, abs=1e-7)
