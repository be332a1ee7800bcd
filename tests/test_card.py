"""The kernels of a card against their definitions in NumPy, under Triton's interpreter where there is no card.

On a machine with a card, ``TRITON_INTERPRET=0 python -m pytest tests/test_card.py`` runs the same tests there; ``make
gpu`` does so.
"""

import importlib
from dataclasses import replace
from inspect import signature

import numpy as np
import pytest

import juror
from juror import kernels as dispatch
from juror.errors import MissingDependencyError, ParameterError
from juror.fitting.devices import check_for_card, settle_device
from juror.kernels import card_for, reference
from juror.rows.distinct import WeightedRows
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.on_card import CardRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.shared_forest import SharedForest, fetched, information_given
from kernel_cases import Case

pytest.importorskip("triton", reason="the kernels of a card are written in Triton: pip install 'juror[cuda]'")
pytest.importorskip("torch", reason="the kernels of a card need PyTorch: pip install 'juror[cuda]'")
cuda = importlib.import_module("juror.kernels.cuda")
placed = importlib.import_module("juror.kernels.cuda.placed")
card = importlib.import_module("juror.kernels.cuda.card")
passes = importlib.import_module("juror.kernels.cuda.card_passes")
card_tables = importlib.import_module("juror.kernels.cuda.card_tables")

CASES = {
    "plain": Case([2, 3, 4], 3, 200),
    "holes": Case([2, 3, 4], 3, 300, missing=0.5),
    "all cells missing": Case([2, 3, 4], 3, 20, missing=1.0),
    "zero probabilities": Case([2, 3, 4], 3, 200, missing=0.2, zeros=0.4),
    "impossible rows": Case([2, 3], 2, 50, zeros=1.0),
    "some impossible rows": Case([3, 3, 3], 2, 200, missing=0.3, zeros=0.7),
    "classes of weight zero": Case([2, 3, 4], 4, 100, dead=2),
    "no class has weight": Case([2, 3], 2, 10, missing=0.5, dead=2),
    "no rows": Case([2, 3, 4], 3, 0),
    "one of everything": Case([1], 1, 1),
    "two tiles of classes": Case([3, 4, 5], 130, 40),
    "two tiles of rows": Case([3, 4], 5, 513, missing=0.1),
    "two tiles of cells": Case([130, 3], 4, 300),
    "labels of 16 bits": Case([300, 2], 2, 700),
    "wide": Case([2, 3] * 20, 4, 60, missing=0.1),
    "nearly impossible": Case([2] * 60, 5, 60, tilt=20.0),
}


def both(name, case, kernel, *arguments):
    """Run a kernel on the card and by its definition."""
    return [getattr(m, kernel)(case.cells, *arguments, case.tables(m, len(case.cells))) for m in (cuda, reference)]


def assert_near(found, true, norm=2e-5, logs=1e-6, n_rows=1.0):
    """Log-likelihoods agree to 1e-6, those of rows to 3e-6, −inf in the same places; counts to a part of their norm.

    A log-likelihood that is nearly zero agrees to as much for each of its rows: it is the sum of their logarithms, and
    single precision has no more digits of a sum of probabilities that is one.
    """
    for one, other in zip(found, true, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.shape == other.shape
        assert one.dtype == other.dtype == np.float64
        np.testing.assert_array_equal(np.isneginf(one), np.isneginf(other))
        finite = np.isfinite(other)
        if one.ndim < 2 and np.any(other < 0):
            tolerance = logs if one.ndim == 0 else 3 * logs
            least = tolerance * (n_rows if one.ndim == 0 else 1.0)
            np.testing.assert_allclose(one[finite], other[finite], rtol=tolerance, atol=least)
        else:
            assert np.linalg.norm(one[finite] - other[finite]) <= norm * np.linalg.norm(other[finite])


def test_the_kernels_of_a_card_have_the_names_and_arguments_of_their_definitions():
    shared = {name for name in vars(cuda) if callable(getattr(reference, name, None))}
    assert {"tables", "with_logs", "log_prob", "posterior", "expected_counts", "draw_classes"} < shared
    for name in shared:
        of_card, of_definition = (list(signature(getattr(module, name)).parameters) for module in (cuda, reference))
        assert of_card == of_definition, name


@pytest.mark.parametrize("wrong", [-1.00001, -np.inf, np.nan])
def test_assert_near_rejects_a_wrong_logarithm(wrong):
    assert_near((np.array([-1.0, -2.0]),), (np.array([-1.0, -2.0]),))
    with pytest.raises(AssertionError):
        assert_near((np.array([wrong, -2.0]),), (np.array([-1.0, -2.0]),))


def test_assert_near_rejects_wrong_counts():
    with pytest.raises(AssertionError):
        assert_near((np.array([[1.0, 2.0001]]),), (np.array([[1.0, 2.0]]),))


@pytest.mark.parametrize("name", CASES)
def test_a_pass_is_that_of_the_definition(name):
    case = CASES[name]
    assert_near(*both(name, case, "expected_counts", case.weights), n_rows=case.weights.sum())


@pytest.mark.parametrize("name", CASES)
def test_posteriors_are_those_of_the_definition(name):
    case = CASES[name]
    (log, R), (true_log, true_R) = both(name, case, "posterior")
    assert_near((log,), (true_log,))
    # A logarithm that is off by a share of its size is off by that much in the exponent.
    np.testing.assert_allclose(R, true_R, atol=1e-6 * max(1.0, np.abs(true_log[np.isfinite(true_log)]).max(initial=0)))
    assert_near(*([each] for each in both(name, case, "log_prob")))


@pytest.mark.parametrize("name", ["plain", "holes", "some impossible rows", "two tiles of classes"])
def test_classes_are_drawn_by_the_same_numbers(name):
    case = CASES[name]
    (log, classes, cells), (true_log, true_classes, true_cells) = [
        m.draw_classes(case.cells, key, 5, case.tables(m, 0)) for m, key in ((cuda, 2**64 - 3), (reference, 2**64 - 3))
    ]
    assert_near((log,), (true_log,))
    # Where a random number is next to a boundary, rounding decides.
    assert np.abs(classes - true_classes).sum() <= 2
    assert np.abs(cells - true_cells).sum() <= 2 * case.cells.shape[1]


@pytest.mark.parametrize("half", [True, False], ids=["half", "single"])
def test_counts_in_either_precision(half, monkeypatch):
    monkeypatch.setattr(passes, "_MANY_ROWS", 0 if half else 1 << 60)
    # Rounding averages out over rows that differ.
    case = Case([4, 3, 5, 6, 7, 8], 6, 3000, missing=0.1)
    found, true = both("", case, "expected_counts", np.ones(3000))
    assert_near(found, true)
    error = np.linalg.norm(found[2] - true[2]) / np.linalg.norm(true[2])
    assert error > 4e-6 if half else error < 4e-6


def test_weights_of_any_size_count():
    case = Case([4, 3, 5], 6, 500)
    case.weights = 10.0 ** np.random.default_rng(0).uniform(-8, 8, 500)
    assert_near(*both("", case, "expected_counts", case.weights))


def test_rows_pass_piece_by_piece(monkeypatch):
    case = CASES["two tiles of rows"]
    whole = cuda.expected_counts(case.cells, case.weights, case.tables(cuda, 0))
    monkeypatch.setattr(passes, "_POSTERIOR_BYTES", 1)
    assert_near(cuda.expected_counts(case.cells, case.weights, case.tables(cuda, 0)), whole, 5e-6)
    _, R = cuda.posterior(case.cells, case.tables(cuda, 0))
    np.testing.assert_allclose(R, reference.posterior(case.cells, case.tables(reference, 0))[1], atol=1e-5)


def test_rows_that_do_not_fit_on_the_card_are_sent_in_pieces(monkeypatch):
    monkeypatch.setattr(placed, "_ROWS_SENT", 256)
    case = CASES["two tiles of rows"]
    n_cells = len(case.stack)
    there, sent = (placed.Placed.of(case.cells, case.weights, n_cells, resident=each) for each in (True, False))
    assert [(piece.first, piece.rows) for piece in sent.pieces(1 << 20)] == [(0, 256), (256, 256), (512, 1)]
    found = [cuda.expected_counts(each, case.weights, case.tables(cuda, 0)) for each in (sent, there)]
    assert_near(*found, 5e-6)


@pytest.mark.parametrize("rank", [5, 40, 130])
def test_the_same_pass_gives_the_same_bits(rank):
    # On a card, the matrix unit must be done with its factors before others are made: many rows show whether it is.
    case = Case([3, 4, 30, 30], rank, 600 if card.is_interpreted() else 1 << 19, missing=0.1)
    rows, tables = placed.Placed.of(case.cells, None, len(case.stack)), case.tables(cuda, 0)
    found = [cuda.expected_counts(rows, None, tables) for _ in range(2 if card.is_interpreted() else 20)]
    for one in found[1:]:
        for first, second in zip(found[0], one, strict=True):
            np.testing.assert_array_equal(first, second)


def test_labels_of_a_target():
    case = CASES["holes"]
    factor = np.ascontiguousarray(case.factors[0])
    one, other = (m.label_probabilities(case.cells, case.tables(m, 0), factor) for m in (cuda, reference))
    assert_near(one, other)
    cells = case.cells.copy()
    cells[:, 1] = case.stacking.starts[1]
    one, other = (m.label_logs(cells, case.tables(m, 0), 1, 3) for m in (cuda, reference))
    np.testing.assert_allclose(one, other, rtol=1e-5)


def test_joined_columns_count_for_their_parts():
    case = Case([2, 3, 2], 3, 200)
    parts = np.array([[a, b] for a in range(3) for b in range(3, 7)] + [[c, -1] for c in range(7, 10)], dtype=np.int32)
    cells = np.column_stack([case.cells[:, 0] * 4 + case.cells[:, 1] - 3, case.cells[:, 2] + 5]).astype(np.uint16)
    found, true = (
        m.expected_counts(cells, case.weights, m.tables(case.lam, case.stack, parts, 200, 2)) for m in (cuda, reference)
    )
    assert_near(found, true)


def test_tables_too_extreme_for_half_precision_are_passed_over_by_the_cpu():
    case = Case([2] * 400, 3, 30, tilt=150.0)
    assert isinstance(case.tables(cuda, 30), card_tables.HostTables)
    found, true = both("", case, "expected_counts", case.weights)
    np.testing.assert_allclose(found[0], true[0], rtol=1e-10)
    np.testing.assert_allclose(found[2], true[2], rtol=1e-10, atol=1e-10)


def table_of(device, *, forest=None, n=400, seed=0):
    rng, sizes = np.random.default_rng(seed), (3, 2, 4, 3)
    codes = rng.integers(0, sizes, (n, 4))
    codes[rng.random(codes.shape) < 0.2] = -1
    table = MemoryTable(WeightedRows.of(codes), juror.Domain.from_cardinalities(sizes), LocalRunner(1, device))
    stacking = Stacking(sizes, forest)
    stack = stacking.normalise(rng.random((stacking.n_rows, 5)), otherwise=np.ones((stacking.n_rows, 5)))
    return table, Parameters(rng.dirichlet(np.ones(5)), stack, forest)


@pytest.mark.parametrize("forest", [None, Forest((-1, 0, 1, 1))], ids=["products", "forest"])
def test_a_table_with_holes_is_counted_on_the_card_as_on_the_cpu(forest):
    found = []
    for device in ("cuda", "cpu"):
        table, point = table_of(device, forest=forest)
        rows = table.packed if forest is None else table.along(forest)
        assert isinstance(rows, CardRows) == (device == "cuda")
        counts = rows.expected(point.lam, point.stack)
        drawn = rows.draw(point.lam, point.stack, np.random.default_rng(1))
        found.append((counts.log_likelihood, counts.classes, counts.cells, drawn.classes, drawn.cells))
        found[-1] += (rows.log_prob(point.lam, point.stack), table.log_prob([point]))
    assert_near(*found)


@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("forest", [Forest((-1, 0, 1, 1)), Forest((-1, -1, 1, 2))], ids=["a tree", "two trees"])
def test_a_step_along_a_forest_is_that_of_the_cpu(forest, smoothing):
    found = []
    for device in ("cuda", "cpu"):
        table, point = table_of(device, forest=forest)
        steps = SharedForest.along(table.along(forest), Stacking(table.domain.cardinalities, forest), smoothing)
        steps = steps.on_card()
        # A class that no row belongs to has the forest's own tables, or what it is drawn to.
        start = steps.at(replace(point, lam=np.append(point.lam[:-1], 0.0)))
        stepped = fetched(steps.update(start))
        found.append((stepped.lam, stepped.stack))
    assert_near(*found)


def test_a_start_shares_every_row_among_the_classes(monkeypatch):
    table, _ = table_of("cuda", forest=Forest((-1, 0, 1, 1)))
    rows = table.along(Forest((-1, 0, 1, 1)))
    lam, counts = rows.scattered(7, 4, np.random.default_rng(2))
    again = rows.scattered(7, 4, np.random.default_rng(2))
    np.testing.assert_array_equal(counts, again[1])
    assert np.isclose(lam.sum(), rows.total)
    np.testing.assert_allclose(counts.sum(axis=1, keepdims=True), rows.label_counts, rtol=1e-5)
    assert len(np.unique(counts[0].round(6))) == 7
    # The shares are those of the numbers that the CPU draws, also piece by piece.
    on_cpu = table_of("cpu", forest=Forest((-1, 0, 1, 1)))[0].along(Forest((-1, 0, 1, 1)))
    monkeypatch.setattr(passes, "_POSTERIOR_BYTES", 1)
    by_piece = rows.scattered(7, 4, np.random.default_rng(2))
    for one in (by_piece, (lam, counts)):
        assert_near(one, on_cpu.scattered(7, 4, np.random.default_rng(2)))


def test_dependence_within_classes_is_counted_as_on_the_cpu():
    table, _ = table_of("cpu")
    classes = np.random.default_rng(3).integers(0, 5, len(table.rows.codes))
    sizes = table.domain.cardinalities
    found = cuda.within_classes(table.rows.codes, table.rows.weights, classes, sizes)
    np.testing.assert_allclose(found, information_given(table, classes), atol=1e-12)
    assert np.abs(found).max() > 0.01


def people(n=400):
    """Return rows of three classes, in which the second column follows the first."""
    rng = np.random.default_rng(5)
    codes = (rng.random((n, 4)) < np.array([0.1, 0.5, 0.9])[rng.integers(0, 3, n)][:, None]).astype(int)
    codes[:, 1] = np.where(rng.random(n) < 0.8, codes[:, 0], codes[:, 1])
    return codes


def test_steps_on_the_card_never_lower_the_objective():
    model = juror.fit(people(), 3, "em", n_init=1, tol=1e-3, accelerate=False, device="cuda")
    trace = np.array(model.info.trace)
    assert np.all(np.diff(trace) >= -1e-6 * np.abs(trace[:-1]))
    on_cpu = juror.fit(people(), 3, "em", n_init=1, tol=1e-3, accelerate=False)
    np.testing.assert_allclose(trace, on_cpu.info.trace, rtol=1e-6)
    assert model.info.device
    assert not on_cpu.info.device
    assert "device" in str(model.summary())


def test_scores_on_the_card():
    model = juror.fit(people(), 3, "em", n_init=1, tol=1e-3)
    some = people()[::40]
    np.testing.assert_allclose(model.log_prob(some, device="cuda"), model.log_prob(some), rtol=1e-5)
    np.testing.assert_allclose(
        model.predict_proba(some, "x0", device="cuda"), model.predict_proba(some, "x0"), atol=1e-5
    )


def test_a_card_is_for_methods_that_pass_over_rows():
    with pytest.raises(ParameterError, match=r"device='cuda' is for methods.*em, bayes, spa-em. Got 'tree'"):
        juror.fit(people(), method="tree", device="cuda")
    with pytest.raises(ParameterError, match=r"is for rows in memory. Raise memory, or pass device='cpu'"):
        check_for_card("em", read=object())
    with pytest.raises(ParameterError, match=r"device must be one of \['auto', 'cpu', 'cuda'\]. Got 'gpu'"):
        juror.fit(people(), device="gpu")


def test_small_tables_stay_on_the_cpu():
    assert card_for("auto", 1000) is None
    assert card_for("cpu", 1 << 60) is None
    assert card_for("cuda", 1) is cuda


def test_a_fit_makes_all_its_passes_in_one_place(monkeypatch):
    # Members hold out rows, which are too few for a card by themselves.
    table, _ = table_of("auto")
    monkeypatch.setattr(dispatch, "_WORTH_A_CARD", table.rows.codes.size)
    kept, held = table.split(0.1, np.random.default_rng(0))
    settle_device(table.runner, "em", table)
    assert all(isinstance(each.packed, CardRows) for each in (table, kept, held))
    for method, cells in (("em", 1 << 60), ("tree", 1)):
        monkeypatch.setattr(dispatch, "_WORTH_A_CARD", cells)
        table, _ = table_of("auto")
        settle_device(table.runner, method, table)
        assert table.runner.device == "cpu"


@pytest.mark.parametrize("package", ["torch", "triton"])
def test_what_is_missing_is_said_in_a_sentence(package, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == package else find(name))
    dispatch.card_kernels.cache_clear()
    try:
        with pytest.raises(MissingDependencyError, match=rf"needs {package}, which is not installed.*juror\[cuda\]"):
            juror.fit(people(), 2, "em", device="cuda")
    finally:
        dispatch.card_kernels.cache_clear()
