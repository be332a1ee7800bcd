"""Starts by sampling: the kernel of lone classes, what it costs that a class leaves, and the start as a whole."""

from __future__ import annotations

import time

import numpy as np
import pytest

import juror
from juror.kernels import jit, reference
from juror.kernels.logarithms import log_of
from juror.rows.distinct import WeightedRows
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.solvers.sampled_starts import _costs, _Loose, _most_alike, _without_cheapest, sampled_start
from juror.solvers.starts import random_start
from juror.testing import random_codes, random_model

SHAPE = (4, 3, 1, 5, 3)
BOTH = pytest.mark.parametrize("module", [jit, reference], ids=["numba", "numpy"])


def table(n_rows=400, missing=0.2, seed=1, shape=SHAPE, rank=4):
    rng = np.random.default_rng(seed)
    return random_codes(random_model(shape, rank, rng, concentration=0.4), n_rows, rng, missing=missing)


def objective_of(codes, shape=SHAPE, weights=None, smoothing=0.1, n_jobs=1):
    return Objective.of(
        PackedRows.of(WeightedRows.of(codes, weights), Stacking(shape), LocalRunner(n_jobs)), Stacking(shape), smoothing
    )


def scattered(objective, rank, seed=0):
    start = random_start(objective.marginals, rank, objective.stacking, np.random.default_rng(seed))
    return Parameters(np.random.default_rng(seed).dirichlet(np.ones(rank)), start.stack)


def start_of(objective, rank, seed=0):
    return sampled_start(objective, rank, np.random.default_rng(seed))


def assert_is_a_start(start, rank, objective):
    stacking = objective.stacking
    assert start.lam.shape == (rank,)
    assert start.stack.shape == (stacking.n_rows, rank)
    assert np.all(start.lam > 0)
    assert np.all(start.stack > 0)
    np.testing.assert_allclose(start.lam.sum(), 1.0)
    np.testing.assert_array_equal(start.stack[stacking.missing_rows], 1.0)
    for factor in stacking.unstack(start.stack):
        np.testing.assert_allclose(factor.sum(axis=0), 1.0)


def test_assert_is_a_start_rejects_others():
    objective = objective_of(table())
    good = scattered(objective, 3)
    assert_is_a_start(good, 3, objective)
    for bad in (
        Parameters(good.lam * 1.01, good.stack),
        Parameters(good.lam, good.stack * 1.01),
        Parameters(np.array([1.0, 0.0, 0.0]), good.stack),
        Parameters(good.lam[:2], good.stack[:, :2]),
    ):
        with pytest.raises(AssertionError):
            assert_is_a_start(bad, 3, objective)


def cells_of(objective):
    return objective.rows.cells.unpacked(slice(None))


class TestLoneCounts:
    def case(self, seed=0, rank=7):
        objective = objective_of(table(), weights=np.random.default_rng(seed).uniform(0.1, 3.0, 400))
        base, alone = scattered(objective, 3, seed), scattered(objective, rank, seed + 1)
        return (
            objective,
            objective.rows.log_prob(base.lam, base.stack),
            np.linspace(1e-4, 0.9, rank),
            alone.stack,
        )

    def test_the_twins_agree(self):
        objective, log_base, lam, stack = self.case()
        # A class that cannot produce a label, one without weight, and one that is far better than the background
        stack[0, 1], lam[2] = 0.0, 0.0
        log_base = np.where(np.arange(len(log_base)) % 9 == 0, log_base - 900.0, log_base)
        arguments = (cells_of(objective), objective.rows.weights, log_base, log_of(lam / (1 - lam)), log_of(stack))
        before = [argument.copy() for argument in arguments]
        for one, other in zip(jit.lone_counts(*arguments), reference.lone_counts(*arguments), strict=True):
            assert one.dtype == other.dtype == np.float64
            assert np.all(np.isfinite(one))
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
        for argument, copy in zip(arguments, before, strict=True):
            np.testing.assert_array_equal(argument, copy)

    @BOTH
    def test_a_class_and_a_background_are_a_model_of_two(self, module):
        # A background that is itself one class: compare with what a pass of rank two finds for the other class.
        objective, _, lam, stack = self.case()
        base = scattered(objective, 1, 5)
        log_base = objective.rows.log_prob(base.lam, base.stack)
        gain, classes, counts = module.lone_counts(
            cells_of(objective), objective.rows.weights, log_base, log_of(lam / (1 - lam)), log_of(stack)
        )
        for f in range(len(lam)):
            two = Parameters(np.array([lam[f], 1 - lam[f]]), np.column_stack([stack[:, f], base.stack[:, 0]]))
            expected = objective.at(two).counts
            before = objective.rows.weights @ log_base
            np.testing.assert_allclose(gain[f] + objective.total * np.log1p(-lam[f]) + before, expected.log_likelihood)
            np.testing.assert_allclose(classes[f], expected.classes[0])
            np.testing.assert_allclose(counts[:, f], expected.cells[:, 0])

    @BOTH
    def test_no_rows(self, module):
        gain, classes, counts = module.lone_counts(
            np.empty((0, 2), dtype=np.int32), np.empty(0), np.empty(0), np.zeros(3), np.zeros((5, 3))
        )
        assert gain.tolist() == classes.tolist() == [0.0] * 3
        assert counts.shape == (5, 3)


class TestLeaving:
    def likelihood(self, objective, lam, stack):
        return objective.at(Parameters(lam, stack)).log_likelihood

    def test_costs_are_differences_of_log_likelihoods(self):
        objective = objective_of(table(), weights=np.random.default_rng(2).uniform(0.1, 3.0, 400))
        p = scattered(objective, 4)
        costs, full = _costs(objective, p), self.likelihood(objective, p.lam, p.stack)
        for f, g in enumerate(costs.partner):
            others = np.delete(np.arange(4), f)
            lam = p.lam[others] / p.lam[others].sum()
            left = full - self.likelihood(objective, lam, p.stack[:, others])
            np.testing.assert_allclose(costs.left[f], left, rtol=1e-9)
            rest = np.delete(np.arange(4), [f, g])
            merged = (p.lam[f] * p.stack[:, f] + p.lam[g] * p.stack[:, g]) / (p.lam[f] + p.lam[g])
            lam = np.append(p.lam[rest], p.lam[f] + p.lam[g])
            joined = full - self.likelihood(objective, lam, np.column_stack([p.stack[:, rest], merged]))
            np.testing.assert_allclose(costs.joined[f], joined, rtol=1e-9)

    def test_the_most_alike_are_found(self):
        objective = objective_of(table())
        p = scattered(objective, 3)
        twice = np.column_stack([p.stack, 0.95 * p.stack[:, 1] + 0.05 * p.stack[:, 0]])
        assert _most_alike(objective, Parameters(np.full(4, 0.25), twice))[[1, 3]].tolist() == [3, 1]

    def test_halves_of_a_class_become_one_again(self):
        objective = objective_of(table())
        p = ascend(objective, scattered(objective, 3), max_iter=200, tol=1e-6, accelerate=True).point.parameters
        halves = Parameters(np.append(p.lam, p.lam[2]) * [1, 1, 0.4, 0.6], np.column_stack([p.stack, p.stack[:, 2]]))
        whole = _without_cheapest(objective, halves, 1)
        order = np.argsort(whole.lam)
        np.testing.assert_allclose(whole.lam[order], np.sort(p.lam))
        np.testing.assert_allclose(whole.stack[:, order], p.stack[:, np.argsort(p.lam)])

    def test_several_leave_at_once(self):
        objective = objective_of(table())
        fewer = _without_cheapest(objective, scattered(objective, 9), 3)
        assert 6 <= fewer.rank < 9
        assert_is_a_start(fewer, fewer.rank, objective)


def test_candidates_are_taken_by_what_they_gain():
    loose = _Loose(np.array([0.1, 0.2, 0.3]), np.arange(6.0).reshape(2, 3), np.array([1.0, 5.0, 3.0]))
    best = loose.best(2)
    assert (best.lam.tolist(), best.gain.tolist()) == ([0.2, 0.3], [5.0, 3.0])
    assert best.stack.tolist() == [[1.0, 2.0], [4.0, 5.0]]
    assert best.after(1).lam.tolist() == [0.3]


TABLES = {
    "holes": (table(), SHAPE, None, 5),
    "rank one": (table(), SHAPE, None, 1),
    "rank two": (table(), SHAPE, None, 2),
    "more classes than rows": (table(4), SHAPE, None, 12),
    "one row": (table(1), SHAPE, None, 3),
    "one variable": (table(50, shape=(4,)), (4,), None, 3),
    "one label": (np.zeros((6, 2), dtype=np.int32), (1, 1), None, 3),
    "a column of holes": (np.column_stack([table(60)[:, 0], np.full(60, -1)]), (4, 3), None, 3),
    "nothing seen": (np.full((3, 2), -1), (2, 2), None, 2),
    "whole weights": (table(100), SHAPE, np.arange(1.0, 101.0), 4),
    "fractions": (table(100), SHAPE, np.linspace(0.01, 2.5, 100), 4),
    "weights that sum to one": (table(100), SHAPE, np.full(100, 0.01), 4),
    "huge weights": (table(100), SHAPE, np.full(100, 1e6), 4),
    "enormous weights": (table(100), SHAPE, np.append(np.full(99, 1.0), 1e20), 4),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("smoothing", [0.0, 0.1], ids=["bare", "smoothed"])
def test_every_table_has_a_start(name, smoothing):
    codes, shape, weights, rank = TABLES[name]
    objective = objective_of(codes, shape, weights, smoothing)
    start = start_of(objective, rank)
    assert_is_a_start(start, rank, objective)
    run = ascend(objective, start, max_iter=5, tol=1e-6, accelerate=True)
    assert np.isfinite(run.point.objective)


def test_a_start_does_not_depend_on_the_threads():
    # More rows than a partition has
    codes = table(9000, shape=(6, 5, 4, 6), rank=3)
    one, two = (start_of(objective_of(codes, (6, 5, 4, 6), n_jobs=n_jobs), 3) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.lam, two.lam)
    np.testing.assert_array_equal(one.stack, two.stack)


def test_the_objective_is_left_alone():
    objective = objective_of(table(), smoothing=0.0)
    before = objective.rows.cells.packed.copy(), objective.rows.weights.copy(), objective.pseudo_counts.copy()
    start_of(objective, 3)
    assert objective.smoothing == 0.0
    for array, copy in zip(
        (objective.rows.cells.packed, objective.rows.weights, objective.pseudo_counts), before, strict=True
    ):
        np.testing.assert_array_equal(array, copy)


def test_passes_are_reported():
    told = []
    objective = objective_of(table())
    sampled_start(objective, 3, np.random.default_rng(0), lambda *seen: told.append(seen))
    n_passes, log_likelihoods = zip(*told, strict=True)
    assert list(n_passes) == sorted(n_passes)
    assert 150 < n_passes[-1] < 2000
    assert np.all(np.isfinite(log_likelihoods))
    assert log_likelihoods[-1] > log_likelihoods[0]


def test_light_classes_are_found():
    """Two classes of fifty rows in two thousand: random starts miss one of them mostly, the search does not."""
    sure = np.full((6, 6), 0.04) + 0.76 * np.eye(6)
    truth = juror.JointPMF([0.4, 0.3, 0.15, 0.1, 0.025, 0.025], [sure] * 6)
    codes = random_codes(truth, 2000, np.random.default_rng(3))
    objective = objective_of(codes, (6,) * 6)
    climb = {"max_iter": 1000, "tol": 1e-6, "accelerate": True}
    aim = ascend(objective, Parameters.of(truth.weights, truth.factors, objective.stacking), **climb).point.objective
    for seed in range(3):
        reached = ascend(objective, start_of(objective, 6, seed), **climb).point.objective
        assert reached > aim - 1e-4 * objective.total


def test_rounds_go_on_in_a_budget_until_two_are_in_vain():
    objective, rank = objective_of(table(2000, shape=(5,) * 6, rank=12), shape=(5,) * 6), 12
    began = time.monotonic()
    heights, n_passes = {}, {}
    for name, until in {"none": np.inf, "spent": began, "an hour": began + 3600}.items():
        seen = []
        start = sampled_start(objective, rank, np.random.default_rng(0), lambda n, _, to=seen: to.append(n), until)
        heights[name], n_passes[name] = objective.at(start).objective, seen[-1]
    assert n_passes["spent"] < n_passes["none"] < n_passes["an hour"]
    assert heights["spent"] < heights["none"] <= heights["an hour"]
