from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror.fitting.rank_path import choose_rank
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.solvers.em import _best
from juror.solvers.starts import random_start, seeded_start
from juror.testing import dense, random_codes, random_model

SHAPE = (4, 3, 2, 5, 3)
fit_em = partial(juror.fit, method="em")


def straightforward_em(codes, model, n_steps):
    """EM as one would write it on a blackboard: no log domain, no merging of rows, one loop a variable."""
    lam, factors = model.weights.copy(), [factor.copy() for factor in model.factors]
    for _ in range(n_steps):
        R = np.tile(lam, (len(codes), 1))
        for n, A in enumerate(factors):
            seen = codes[:, n] >= 0
            R[seen] *= A[codes[seen, n]]
        R /= R.sum(axis=1, keepdims=True)
        lam = R.mean(axis=0)
        for n, A in enumerate(factors):
            counts = np.zeros_like(A)
            for x in range(len(A)):
                counts[x] = R[codes[:, n] == x].sum(axis=0)
            factors[n] = counts / counts.sum(axis=0)
    return juror.JointPMF(lam, factors)


@pytest.fixture(params=[0.0, 0.2], ids=["complete", "20 % missing"])
def codes(request):
    rng = np.random.default_rng(1)
    return random_codes(random_model(SHAPE, 4, rng, concentration=0.5), 3000, rng, missing=request.param)


def fit_quietly(codes, **options):
    """Fit where the tables are such that complaints about rank and iterations are expected."""
    with pytest.warns(juror.FitWarning):
        return fit_em(codes, domain=juror.Domain.from_cardinalities(SHAPE), **options)


def objective_of(codes, smoothing=0.0, shape=SHAPE):
    return Objective.of(
        PackedRows.of(WeightedRows.of(codes), Stacking(shape), LocalRunner(1)), Stacking(shape), smoothing
    )


def start_of(objective, rank, seed=0):
    return random_start(objective.marginals, rank, objective.stacking, np.random.default_rng(seed))


def test_fifty_plain_steps_equal_the_straightforward_em(codes):
    start = random_model(SHAPE, 6, np.random.default_rng(2))
    ours = fit_quietly(codes, init=start, smoothing=0, accelerate=False, max_iter=50, tol=0)
    theirs = straightforward_em(codes, start, 50)
    assert ours.info.n_iter == 50
    assert ours.log_prob(codes).mean() == pytest.approx(theirs.log_prob(codes).mean(), abs=1e-9)
    assert ours.info.log_likelihood / len(codes) == pytest.approx(theirs.log_prob(codes).mean(), abs=1e-9)
    for mine, other in zip(ours.factors, theirs.factors, strict=True):
        np.testing.assert_allclose(mine, other, atol=1e-9)


def test_the_comparison_rejects_an_em_that_is_one_step_off(codes):
    start = random_model(SHAPE, 6, np.random.default_rng(2))
    off = straightforward_em(codes, start, 49).log_prob(codes).mean()
    assert off != pytest.approx(straightforward_em(codes, start, 50).log_prob(codes).mean(), abs=1e-9)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    rank=st.integers(1, 5),
    smoothing=st.sampled_from([0.0, 0.1, 1.0]),
    accelerate=st.booleans(),
    missing=st.sampled_from([0.0, 0.3, 0.9]),
)
def test_the_objective_never_falls(seed, rank, smoothing, accelerate, missing):
    rng = np.random.default_rng(seed)
    codes = random_codes(random_model((3, 2, 4), 2, rng), 60, rng, missing=missing)
    objective = objective_of(codes, smoothing, (3, 2, 4))
    run = ascend(objective, start_of(objective, rank, seed), max_iter=60, tol=0, accelerate=accelerate)
    assert np.all(np.diff(run.trace) >= -1e-10 * np.abs(run.trace[0]))
    stack = run.point.parameters.stack
    for n in range(3):
        np.testing.assert_allclose(stack[objective.stacking.rows(n)].sum(axis=0), 1)


def test_acceleration_reaches_the_same_height_in_fewer_passes(codes):
    objective = objective_of(codes, smoothing=0.1)
    start = start_of(objective, 4)
    plain = ascend(objective, start, max_iter=5000, tol=1e-9, accelerate=False)
    fast = ascend(objective, start, max_iter=5000, tol=1e-9, accelerate=True)
    assert fast.n_passes < plain.n_passes
    assert fast.point.objective == pytest.approx(plain.point.objective, abs=1e-3 * len(codes))


def test_rank_one_is_the_product_of_smoothed_marginals(codes):
    for alpha in (0.0, 0.5):
        model = fit_em(codes, rank=1, smoothing=alpha, domain=juror.Domain.from_cardinalities(SHAPE))
        for n, size in enumerate(SHAPE):
            counts = np.bincount(codes[codes[:, n] >= 0, n], minlength=size).astype(float)
            counts += alpha * size * (counts + 1 / size) / (counts.sum() + 1)
            np.testing.assert_allclose(model.factors[n][:, 0], counts / counts.sum(), atol=1e-12)


def test_a_variable_never_seen_in_a_class_has_its_marginal_there_and_that_is_told():
    """Two waves of a survey that differ in all answers; the question x1 was asked in one of them only."""
    rng = np.random.default_rng(0)
    wave = rng.integers(0, 2, size=4000)
    answers = (rng.random((4000, 4)) < np.where(wave, 0.9, 0.1)[:, None]).astype(int)
    x1 = np.where(wave == 0, (rng.random(4000) < 0.1).astype(int), -1)
    with pytest.warns(juror.FitWarning, match=r"The variables \['x1'\] are hardly ever seen in classes that hold more"):
        model = fit_em(np.column_stack([wave, x1, answers]), rank=2, missing_as={})
    seen = x1[x1 >= 0].mean()
    assert model.prob({"x1": 1}) == pytest.approx(seen, abs=0.02)
    assert model.prob({"x1": 1}, given={"x0": 1}) == pytest.approx(seen, abs=0.02)


def test_whole_weights_equal_repeated_rows_to_the_bit(codes):
    weights = np.random.default_rng(0).integers(0, 4, size=len(codes))
    domain = juror.Domain.from_cardinalities(SHAPE)
    weighted = fit_em(codes, rank=3, sample_weight=weights, domain=domain)
    repeated = fit_em(np.repeat(codes, weights, axis=0), rank=3, domain=domain)
    np.testing.assert_array_equal(weighted.weights, repeated.weights)
    assert weighted.info == repeated.info


@pytest.mark.parametrize("n_jobs", [2, 5])
def test_threads_do_not_change_the_bits(n_jobs):
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 6, size=(30_000, 8))
    options = {"rank": 3, "n_init": 1, "max_iter": 12, "seed": 7}
    with pytest.warns(juror.FitWarning, match="max_iter"):
        one, many = fit_em(codes, n_jobs=1, **options), fit_em(codes, n_jobs=n_jobs, **options)
    np.testing.assert_array_equal(one.weights, many.weights)
    for a, b in zip(one.factors, many.factors, strict=True):
        np.testing.assert_array_equal(a, b)


def test_the_order_of_rows_does_not_change_the_bits(codes):
    shuffled = np.random.default_rng(0).permutation(codes)
    domain = juror.Domain.from_cardinalities(SHAPE)
    one, other = fit_em(codes, rank=3, domain=domain), fit_em(shuffled, rank=3, domain=domain)
    np.testing.assert_array_equal(one.weights, other.weights)


def test_permuting_columns_and_classes_of_the_start_changes_nothing(codes):
    start = random_model(SHAPE, 4, np.random.default_rng(5))
    columns, classes = [3, 0, 4, 2, 1], [2, 0, 3, 1]
    moved = juror.JointPMF(start.weights[classes], [start.factors[n][:, classes] for n in columns])
    here = fit_em(codes, init=start)
    there = fit_em(codes[:, columns], init=moved)
    np.testing.assert_allclose(here.log_prob(codes), there.log_prob(codes[:, columns]), atol=1e-6)


def test_every_start_is_recorded_and_the_best_is_returned(codes):
    model = fit_em(codes, rank=4, n_init=5)
    assert len(model.info.starts) == 5
    assert len(set(model.info.starts)) > 1
    assert model.info.trace[-1] == max(model.info.starts)
    assert model.info.log_likelihood == pytest.approx(model.log_prob(codes).sum())


def test_one_start_more_leaves_the_others_as_they_were(codes):
    few, more = fit_em(codes, rank=3, n_init=2), fit_em(codes, rank=3, n_init=3)
    assert more.info.starts[:2] == few.info.starts


def test_the_reason_for_stopping_is_recorded(codes):
    assert fit_em(codes, rank=2).info.stopped.startswith("converged")
    stopped = fit_quietly(codes, rank=3, max_iter=4, n_init=1)
    assert stopped.info.stopped == "reached max_iter = 4"
    assert stopped.info.n_iter == 4
    assert "Raise max_iter or tol." in stopped.info.warnings[-1]


def test_classes_that_are_copies_are_told(codes):
    start = random_model(SHAPE, 2, np.random.default_rng(0))
    doubled = juror.JointPMF(np.repeat(start.weights / 2, 2), [np.repeat(f, 2, axis=1) for f in start.factors])
    with pytest.warns(juror.FitWarning, match="2 of 4 classes are copies of others.* Lower rank to 2 or less"):
        fit_em(codes, init=doubled)


def test_classes_that_collapsed_are_told(codes):
    start = random_model(SHAPE, 3, np.random.default_rng(0))
    dying = juror.JointPMF([0.5, 0.5 - 1e-9, 1e-9], start.factors)
    model = fit_quietly(codes, init=dying, max_iter=1, accelerate=False, smoothing=0)
    expected = "1 of 3 classes hold less than half a row each: the data do not carry rank 3. Lower rank to 2 or less."
    assert model.info.warnings[0] == expected


def test_parameter_count_and_criteria(codes):
    model = fit_em(codes, rank=3, domain=juror.Domain.from_cardinalities(SHAPE))
    k = 2 + 3 * (3 + 2 + 1 + 4 + 2)
    assert model.info.n_parameters == k
    assert model.info.aic == pytest.approx(2 * k - 2 * model.info.log_likelihood)
    assert model.info.bic == pytest.approx(k * np.log(len(codes)) - 2 * model.info.log_likelihood)


def test_error_shrinks_with_the_number_of_rows():
    rng = np.random.default_rng(11)
    truth = random_model((4, 3, 5, 3), 3, rng, concentration=0.5)
    errors = []
    for n_rows in (300, 30_000):
        model = fit_em(random_codes(truth, n_rows, rng), rank=3, domain=truth.domain)
        errors.append(np.abs(dense(model) - dense(truth)).sum())
    assert errors[1] < errors[0] / 4


def test_labels_that_no_row_shows_have_only_smoothing(codes):
    domain = juror.Domain.from_cardinalities([9, *SHAPE[1:]])
    assert fit_em(codes, rank=2, domain=domain, smoothing=0).prob({"x0": 8}) == 0
    assert 0 < fit_em(codes, rank=2, domain=domain, smoothing=0.1).prob({"x0": 8}) < 1e-3


def test_progress_is_told_step_by_step(codes):
    steps = []
    model = fit_em(codes, rank=3, n_init=2, progress=steps.append)
    assert {(step.start, step.n_starts, step.rank, step.stage) for step in steps} == {
        (1, 2, 3, "fitting"),
        (2, 2, 3, "fitting"),
    }
    assert all(step.iteration <= step.max_iter for step in steps)
    # The log-likelihood of the last start; its objective also has the smoothing term.
    last = steps[-1].log_likelihood * len(codes)
    assert model.info.starts[-1] < last < model.info.starts[-1] + 50


def test_auto_rank_keeps_its_path_and_finds_enough_classes(codes):
    model = fit_em(codes)
    ranks = [step.rank for step in model.info.rank_path]
    assert ranks[:4] == [1, 2, 3, 4]
    assert 3 <= model.rank <= 8
    scores = {step.rank: step.score for step in model.info.rank_path}
    assert all(scores[model.rank] >= score - 1e-3 for rank, score in scores.items() if rank > model.rank)
    assert scores[model.rank] > scores[1] + 0.01


def test_auto_rank_of_independent_columns_is_one():
    codes = np.random.default_rng(0).integers(0, 3, size=(2000, 4))
    assert fit_em(codes).rank == 1


def test_the_path_ends_after_two_ranks_without_gain():
    tried = []

    def score(rank):
        tried.append(rank)
        return RankScore(rank, -abs(rank - 4.0), rank)

    best, path = choose_rank(score, most=1000)
    assert best == 4
    assert tried == [step.rank for step in path] == [1, 2, 3, 4, 6, 8]


def test_a_rank_that_fills_no_more_classes_is_no_better():
    best, path = choose_rank(lambda rank: RankScore(rank, float(rank), min(rank, 3)), most=1000)
    assert best == 3
    assert [step.rank for step in path] == [1, 2, 3, 4, 6]


def test_auto_rank_leaves_out_classes_that_hold_nothing():
    codes = np.repeat([[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2]], 40, axis=0)
    model = fit_em(codes)
    assert model.rank == 3
    assert model.info.warnings == ()


def test_auto_rank_where_no_rank_can_explain_the_held_out_rows():
    codes = np.arange(60)[:, None] * np.ones((1, 2), dtype=int)
    with pytest.raises(juror.JurorError, match="Some held-out row has probability zero at every rank tried"):
        fit_em(codes, smoothing=0)


def test_a_start_that_makes_a_row_impossible():
    start = juror.JointPMF([1.0], [[[1.0], [0.0]]])
    with pytest.raises(juror.JurorError, match="The start gives some row probability zero"):
        fit_em(np.array([[0], [1]]), init=start, smoothing=0)
    assert fit_em(np.array([[0], [1]]), init=start).prob({"x0": 1}) == pytest.approx(0.5)


def test_auto_rank_for_a_target_scores_the_target(codes):
    model = fit_em(codes, target="x3")
    assert model.info.target == "x3"
    # These are log-probabilities of one variable of five labels, not of whole rows.
    assert all(-np.log(5) - 0.2 < step.score < 0 for step in model.info.rank_path)
    np.testing.assert_array_equal(model.predict(codes), model.predict(codes, target="x3"))


def test_too_few_rows_to_choose_a_rank():
    with pytest.warns(juror.FitWarning, match="too few to hold some out"):
        assert fit_em({"a": ["x"], "b": ["y"]}, domain=juror.Domain.infer({"a": ["x", "z"], "b": ["y", "w"]})).rank == 1


def test_weights_by_column_name_equal_weights_given_apart():
    table = juror.datasets.military().iloc[::8]
    named = fit_em(table, rank=3, sample_weight="count")
    apart = fit_em(table.drop(columns="count"), rank=3, sample_weight=table["count"])
    np.testing.assert_array_equal(named.weights, apart.weights)
    assert named.info.n_rows == table["count"].sum()


@pytest.mark.parametrize("kind", ["scattered", "seeded"])
def test_a_start_is_a_point_of_the_simplex_with_every_label_possible(codes, kind):
    objective = objective_of(codes)
    start = start_of(objective, 7)
    if kind == "seeded":
        rng = np.random.default_rng(0)
        start = seeded_start(objective.rows, objective.marginals, 7, objective.stacking, rng)
    assert isinstance(start, Parameters)
    assert start.rank == 7
    assert np.all(start.stack > 0)
    np.testing.assert_allclose(start.stack[objective.stacking.missing_rows], 1)


@pytest.mark.parametrize("n_labels", [5, 7, 20])
def test_auto_rank_reaches_as_many_classes_as_two_equal_columns_need(n_labels):
    column = np.random.default_rng(0).integers(0, n_labels, size=5000)
    model = fit_em(np.column_stack([column, column]))
    assert model.rank == n_labels
    assert model.prob({"x0": 3}, given={"x1": 3}) > 0.95


def test_weights_of_a_survey_that_count_for_more_rows_than_there_are_are_told(codes):
    weights = np.linspace(0.5, 20.2, len(codes))
    with pytest.warns(juror.DataWarning, match=r"for 3000 rows, in fractions\. Weights count .* to a mean of one"):
        fit_em(codes, rank=1, sample_weight=weights)
    # Counts may be as large as they are.
    fit_em(codes, rank=1, sample_weight=np.full(len(codes), 50))


def test_weights_that_count_for_next_to_nothing_are_told(codes):
    weights = np.full(len(codes), 1 / len(codes))
    with pytest.warns(juror.DataWarning, match=r"sample_weight sums to 1 for 3000 rows. Weights count rows"):
        fit_em(codes, rank=1, sample_weight=weights)


def test_a_path_ends_when_it_is_late():
    tried = []

    def score(rank):
        tried.append(rank)
        return RankScore(rank, float(rank), rank)

    assert choose_rank(score, 100, is_late=lambda: len(tried) >= 3)[0] == 3
    assert tried == [1, 2, 3]


def test_fewer_passes_than_a_search_takes_leave_it_out(codes):
    with pytest.warns(juror.FitWarning, match="reached max_iter = 2"):
        model = fit_em(codes, rank=3, max_iter=2)
    assert (model.info.n_iter, len(model.info.starts)) == (2, 3)


def survey(seed):
    """Return 1,202 answers to four items, of three kinds of people."""
    items = (
        [[0.89, 0.91, 0.14], [0.05, 0.07, 0.22], [0.06, 0.02, 0.64]],
        [[0.61, 0.65, 0.02], [0.39, 0.35, 0.98]],
        [[0.98, 0.31, 0.75], [0.02, 0.69, 0.25]],
        [[0.94, 0.69, 0.64], [0.06, 0.25, 0.26], [0.00, 0.06, 0.10]],
    )
    return juror.JointPMF([0.62, 0.21, 0.17], items).sample(1202, seed=seed).to_numpy()


fit_survey = partial(fit_em, rank=3, domain=juror.Domain.from_cardinalities([3, 2, 2, 3]))


@pytest.mark.parametrize("seed", range(4))
def test_small_tables_are_fitted_as_well_as_by_many_random_starts(seed):
    codes = survey(seed)
    model, many = fit_survey(codes, seed=seed), fit_survey(codes, n_init=40, seed=100 + seed)
    assert len(model.info.starts) == 21
    # Random starts are those of n_init.
    assert model.info.starts[1:] == fit_survey(codes, n_init=20, seed=seed).info.starts
    assert model.info.log_likelihood == pytest.approx(many.info.log_likelihood, abs=0.05)


def test_random_starts_beside_the_search_depend_on_work_alone(monkeypatch):
    codes = survey(0)
    alone = fit_survey(codes, n_jobs=1)
    assert fit_survey(codes, n_jobs=2).info == alone.info
    monkeypatch.setattr("juror.solvers.em._CELLS_IN_A_SECOND", 3e8)
    fewer = fit_survey(codes).info.starts
    assert 1 < len(fewer) < 21
    assert fewer == alone.info.starts[: len(fewer)]
    monkeypatch.setattr("juror.solvers.em._CELLS_IN_A_SECOND", 1e6)
    assert fit_survey(codes).info.starts == alone.info.starts[:1]


def test_of_equal_ends_the_first_is_kept():
    def ends(*objectives):
        return [SimpleNamespace(point=SimpleNamespace(objective=objective)) for objective in objectives]

    assert _best(ends(-10.0, -9.995, -10.5), total=1000) == 0
    assert _best(ends(-10.0, -9.98, -9.96), total=1000) == 2
    assert _best(ends(-10.0, -9.98, -9.975), total=1000) == 1


def test_in_a_budget_random_starts_go_on_until_they_are_in_vain():
    model = fit_survey(survey(1), max_seconds=3600)
    starts = np.array(model.info.starts)
    assert model.info.stopped.endswith("; 20 more starts came no higher")
    best = np.flatnonzero(starts >= starts.max() - 1e-5 * 1202)[0]
    assert len(starts) - 1 - best == 20
