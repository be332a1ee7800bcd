"""Growing a fit by splitting its classes, and choosing rank and smoothing along fits that grow."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror.errors import DataError, ParameterError
from juror.fitting.choose import Chosen, FitSetting, choose_rank_for, choose_smoothing, is_clear
from juror.fitting.held_out import Trial
from juror.fitting.rank_path import choose_rank
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context
from juror.solvers.splitting import grown
from juror.testing import random_codes, random_model

SHAPE = (4, 3, 1, 5, 3)
# Four classes that differ clearly in every row
SURE = np.array(
    [[0.97, 0.01, 0.01, 0.01], [0.01, 0.97, 0.01, 0.01], [0.01, 0.01, 0.97, 0.01], [0.01, 0.01, 0.01, 0.97]]
)
PLANTED = juror.JointPMF([0.4, 0.3, 0.2, 0.1], [SURE] * 5)


def table(missing=0.0, seed=1):
    rng = np.random.default_rng(seed)
    return random_codes(random_model(SHAPE, 5, rng, concentration=0.4), 1500, rng, missing=missing)


def objective_of(codes, smoothing=0.1, shape=SHAPE, weights=None, n_jobs=1):
    return Objective.of(
        PackedRows.of(WeightedRows.of(codes, weights), Stacking(shape), LocalRunner(n_jobs)), Stacking(shape), smoothing
    )


def alone(objective):
    return Parameters(np.ones(1), objective.marginals)


def climb(objective, start, tol=1e-5):
    return ascend(objective, start, max_iter=500, tol=tol, accelerate=True).point


def grow(objective, parameters, rank, seed=0):
    return grown(parameters, rank, objective, np.random.default_rng(seed))


def assert_on_the_simplex(parameters, rank, stacking):
    assert parameters.lam.shape == (rank,)
    assert parameters.stack.shape == (stacking.n_rows, rank)
    assert np.all(parameters.lam > 0)
    assert np.all(parameters.stack >= 0)
    assert parameters.lam.sum() == pytest.approx(1)
    np.testing.assert_allclose(parameters.stack[stacking.missing_rows], 1)
    for n in range(len(stacking.cardinalities)):
        np.testing.assert_allclose(parameters.stack[stacking.rows(n)].sum(axis=0), 1)


def test_the_simplex_is_told_from_what_is_not():
    stacking = Stacking((2,))
    stack = stacking.stack([np.array([[0.5, 0.2], [0.5, 0.8]])])
    assert_on_the_simplex(Parameters(np.array([0.5, 0.5]), stack), 2, stacking)
    for lam, wrong in (([0.5, 0.4], stack), ([1.0, 0.0], stack), ([0.5, 0.5], 0.9 * stack)):
        with pytest.raises(AssertionError):
            assert_on_the_simplex(Parameters(np.array(lam), wrong), 2, stacking)


WEIGHTS = np.random.default_rng(2).integers(1, 5, size=1500).astype(float)
CASES = {
    "complete": {},
    "a fifth missing": {"codes": table(missing=0.2)},
    "weighted": {"weights": WEIGHTS},
    "fractional weights": {"weights": 0.3 * WEIGHTS},
    "without smoothing": {"smoothing": 0.0},
    "without smoothing, missing": {"smoothing": 0.0, "codes": table(missing=0.2)},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
class TestGrown:
    def test_a_start_is_hardly_less_probable_than_the_fit(self, case):
        objective = objective_of(**({"codes": table()} | case))
        fit = climb(objective, alone(objective))
        for rank in (2, 3, 4, 6, 8):
            start = grow(objective, fit.parameters, rank)
            assert_on_the_simplex(start, rank, objective.stacking)
            begun = objective.at(start).log_likelihood
            # EM's bound, but for the rows of which a class holds next to nothing
            assert begun >= fit.log_likelihood - 1e-3 * objective.total
            fit = climb(objective, start)
            assert fit.log_likelihood >= begun - 1.0

    def test_a_rank_that_more_than_doubles(self, case):
        objective = objective_of(**({"codes": table()} | case))
        fit = climb(objective, alone(objective))
        for rank in (1, 2, 11):
            start = grow(objective, fit.parameters, rank)
            assert_on_the_simplex(start, rank, objective.stacking)
            assert objective.at(start).log_likelihood >= fit.log_likelihood - 1e-3 * objective.total

    def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(self, case):
        one, two = (objective_of(**({"codes": table()} | case), n_jobs=n_jobs) for n_jobs in (1, 2))
        fit = climb(one, grow(one, alone(one), 3)).parameters
        first, again, other = grow(one, fit, 6), grow(two, fit, 6), grow(one, fit, 6, seed=1)
        np.testing.assert_array_equal(first.lam, again.lam)
        np.testing.assert_array_equal(first.stack, again.stack)
        assert not np.array_equal(first.stack, other.stack)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.sampled_from([0.0, 0.1, 2.0]), st.integers(1, 9))
def test_any_table_grows_to_any_rank(seed, n_rows, smoothing, rank):
    rng = np.random.default_rng(seed)
    shape = tuple(rng.integers(1, 4, size=rng.integers(1, 5)))
    codes = np.column_stack([rng.integers(-1, size, size=n_rows) for size in shape])
    weights = rng.exponential(size=n_rows)
    objective = objective_of(codes, smoothing, shape, weights)
    start = grow(objective, alone(objective), rank)
    assert_on_the_simplex(start, rank, objective.stacking)
    before = objective.at(alone(objective)).log_likelihood
    # Classes that are added without any rows take a quarter of a row each from the others.
    assert objective.at(start).log_likelihood >= before - 0.25 * rank - 0.01 * objective.total
    assert_on_the_simplex(grow(objective, climb(objective, start).parameters, rank + 3), rank + 3, objective.stacking)


def test_four_planted_classes_are_found_from_one():
    codes = random_codes(PLANTED, 3000, np.random.default_rng(0), missing=0.1)
    objective = objective_of(codes, shape=(4,) * 5)
    fit = climb(objective, alone(objective))
    for rank in (2, 3, 4):
        fit = climb(objective, grow(objective, fit.parameters, rank))
    truth = objective.at(Parameters.of(PLANTED.weights, PLANTED.factors, objective.stacking))
    assert fit.log_likelihood > truth.log_likelihood
    order = np.argsort(-fit.parameters.lam)
    np.testing.assert_allclose(fit.parameters.lam[order], PLANTED.weights, atol=0.03)
    np.testing.assert_allclose(objective.stacking.unstack(fit.parameters.stack)[0][:, order], SURE, atol=0.04)


@pytest.mark.parametrize("merged", list(itertools.combinations(range(4), 2)))
def test_the_class_that_hides_two_is_split(merged):
    codes = random_codes(PLANTED, 2000, np.random.default_rng(0))
    objective = objective_of(codes, shape=(4,) * 5)
    kept = [f for f in range(4) if f not in merged]
    share = PLANTED.weights[list(merged)] / PLANTED.weights[list(merged)].sum()
    factor = np.column_stack([SURE[:, list(merged)] @ share, SURE[:, kept]])
    lam = np.concatenate([[PLANTED.weights[list(merged)].sum()], PLANTED.weights[kept]])
    parent = Parameters.of(lam, [factor] * 5, objective.stacking)
    start = grow(objective, parent, 4)
    # The others stay unchanged, and the heaviest is not split only because it is heavy.
    np.testing.assert_array_equal(start.stack[:, 1:3], parent.stack[:, 1:])
    halves = objective.stacking.unstack(start.stack)[0][:, [0, 3]]
    assert sorted(halves.argmax(axis=0)) == sorted(merged)
    assert np.all(halves.max(axis=0) > 0.9)


def test_where_nothing_can_be_split_classes_of_no_weight_are_added():
    objective = objective_of(np.repeat([[0, 0], [1, 1]], 30, axis=0), shape=(2, 2))
    fit = climb(objective, grow(objective, alone(objective), 2))
    start = grow(objective, fit.parameters, 5)
    assert np.sum(start.lam * objective.total >= 0.5) == 2
    assert objective.at(start).log_likelihood == pytest.approx(fit.log_likelihood, abs=0.8)


def test_classes_that_hold_nothing_are_replaced():
    codes = random_codes(PLANTED, 2000, np.random.default_rng(0))
    objective = objective_of(codes, shape=(4,) * 5)
    # Two classes in one, and one of almost no weight
    factor = np.column_stack([SURE[:, :2] @ [4 / 7, 3 / 7], SURE[:, 2:], np.full(4, 0.25)])
    empty = Parameters.of(np.array([0.7, 0.2, 0.1 - 1e-6, 1e-6]), [factor] * 5, objective.stacking)
    assert np.all(grow(objective, empty, 4).lam * objective.total > 100)


def test_a_row_that_is_impossible_is_in_no_class():
    objective = objective_of(np.array([[0, 0], [1, 1], [1, 2], [1, 2]] * 5), shape=(2, 3))
    parent = Parameters.of(np.ones(1), [np.array([[0.0], [1.0]]), np.full((3, 1), 1 / 3)], objective.stacking)
    assert_on_the_simplex(grow(objective, parent, 3), 3, objective.stacking)


def test_a_fit_does_not_shrink():
    objective = objective_of(table())
    fit = grow(objective, alone(objective), 3)
    with pytest.raises(ParameterError, match=r"at least that of the fit to grow, 3\. Got 2 instead\."):
        grow(objective, fit, 2)


class TestPath:
    def test_it_does_not_end_while_something_else_gets_better(self):
        def score(rank):
            return RankScore(rank, 0.0 if rank < 8 else 1.0, rank)

        def also(rank):
            return RankScore(rank, min(rank, 8.0), rank)

        assert choose_rank(score, 1000)[0] == 1
        best, path = choose_rank(score, 1000, also=also)
        assert best == 8
        assert [step.rank for step in path] == [1, 2, 3, 4, 6, 8, 12, 16]

    def test_what_gets_better_without_more_classes_keeps_nothing_going(self):
        path = choose_rank(lambda rank: RankScore(rank, 0.0, 1), 1000, also=lambda rank: RankScore(rank, rank, 1))[1]
        assert [step.rank for step in path] == [1, 2, 3]

    def test_a_deep_fall_ends_it_at_once(self):
        def score(rank):
            return RankScore(rank, -0.1 * abs(rank - 4.0), rank)

        assert [step.rank for step in choose_rank(score, 1000, hopeless=0.15)[1]] == [1, 2, 3, 4, 6]
        assert [step.rank for step in choose_rank(score, 1000, hopeless=0.25)[1]] == [1, 2, 3, 4, 6, 8]


def trial_of(codes, target=None, seed=0):
    domain = juror.Domain.from_cardinalities((4,) * codes.shape[1])
    table = MemoryTable(WeightedRows.of(codes), domain, LocalRunner(1))
    return Trial(table, METHODS["em"], target, Context(seed, table.runner))


class TestChoosing:
    CODES = random_codes(PLANTED, 2000, np.random.default_rng(3), missing=0.05)

    @pytest.mark.parametrize(("how", "n_parts"), [("auto", 1), ("cv", 5)])
    @pytest.mark.parametrize("target", [None, 0])
    def test_planted_classes_are_chosen_and_their_fits_kept(self, how, n_parts, target):
        chosen = choose_rank_for(trial_of(self.CODES, target), EMOptions(), how)
        assert chosen.rank == 4
        assert [step.rank for step in chosen.rank_path][:4] == [1, 2, 3, 4]
        assert [parameters.rank for parameters in chosen.found] == [4] * n_parts

    @pytest.mark.parametrize("seed", range(5))
    def test_any_seed_finds_them(self, seed):
        steps = []
        model = juror.fit(self.CODES, "auto", "em", seed=seed, n_init=1, progress=steps.append)
        assert model.rank == 4
        told = [step.rank for step in steps if step.stage == "choosing rank"]
        assert told == sorted(told)
        assert set(told) == {step.rank for step in model.info.rank_path}

    def test_labels_that_no_class_shows_do_not_drive_the_rank(self):
        codes = np.column_stack([np.arange(600), np.random.default_rng(0).integers(0, 2, size=600)])
        assert juror.fit(codes, "auto", "em", n_init=1).rank <= 2

    @pytest.mark.parametrize("how", ["auto", "cv"])
    def test_smoothing_is_chosen_by_the_same_score(self, how):
        trial = trial_of(self.CODES, target=0)
        chosen = choose_rank_for(trial, EMOptions(), how)
        found = choose_smoothing(trial, EMOptions(), chosen, how)
        smoothing, tried = found.smoothing, found.smoothing_path
        assert [value for value, _ in tried] == [0.03, 0.1, 0.3]
        assert smoothing in dict(tried)
        assert dict(tried)[smoothing] >= dict(tried)[0.1]
        # The default at the chosen rank has the score of the path, except for its start.
        assert dict(tried)[0.1] == pytest.approx(
            next(step.score for step in chosen.rank_path if step.rank == 4), abs=0.01
        )

    def test_sure_labels_want_little_smoothing(self):
        column = np.random.default_rng(0).integers(0, 4, size=400)
        trial = trial_of(np.column_stack([column, column, column]), target=0)
        chosen = replace(choose_rank_for(trial, EMOptions(), "auto"), setting=FitSetting(4))
        found = choose_smoothing(trial, EMOptions(), chosen, "auto")
        tried = found.smoothing_path
        assert found.smoothing == 0.03
        assert dict(tried)[0.03] > dict(tried)[0.1] > dict(tried)[0.3]

    def test_without_a_start_smoothing_is_chosen_from_fits_anew(self):
        trial = trial_of(self.CODES, target=0)
        assert choose_smoothing(trial, EMOptions(), Chosen(FitSetting(4)), "auto").smoothing in (0.03, 0.1, 0.3)

    def test_too_few_rows_to_choose_a_smoothing(self):
        with pytest.raises(DataError, match=r"1 rows are too few to choose a smoothing\. Pass smoothing"):
            choose_smoothing(trial_of(self.CODES[:1], target=0), EMOptions(), Chosen(FitSetting(1)), "auto")

    def test_a_gain_within_its_standard_error_is_not_clear(self):
        gains = np.array([1.0, -0.9, 1.0, -0.9])
        assert not is_clear(gains, np.ones(4))
        assert is_clear(gains, np.full(4, 1000.0))
        assert not is_clear(np.zeros(4), np.ones(4))
        assert not is_clear(-np.ones(4), np.full(4, 0.25))
        assert is_clear(np.ones(4), np.full(4, 0.25))
