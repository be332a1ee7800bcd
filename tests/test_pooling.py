"""Rubin's rules: against formulas worked by hand, and by how often the interval holds the truth."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import juror
from juror.record import FitRecord

# Estimates and variances of five tables, and what Rubin's rules make of them, worked by hand:
# Q = 10, W = 2, B = 2.5, T = 2 + 1.2 · 2.5 = 5, λ = 3 / 5, ν_m = 4 / 0.36 = 100 / 9
ESTIMATES = [8.0, 9.0, 10.0, 11.0, 12.0]
VARIANCES = [1.0, 2.0, 3.0, 2.0, 2.0]


def both(table):
    """Return what a table holds: an estimate and its variance."""
    return table


def pooled(estimates=ESTIMATES, variances=VARIANCES, **options):
    return juror.pool(list(zip(estimates, variances, strict=True)), both, **options)


def test_numbers_worked_by_hand():
    answer = pooled()
    assert (answer.estimate, answer.within, answer.between, answer.n_tables) == (10.0, 2.0, 2.5, 5)
    assert answer.standard_error == pytest.approx(5**0.5)
    assert answer.degrees_of_freedom == pytest.approx(100 / 9)
    # 0.6 + 0.4 · 2 / (100 / 9 + 3)
    assert answer.missing_information == pytest.approx(0.6 + 0.8 / (127 / 9))
    reach = stats.t.ppf(0.975, 100 / 9) * 5**0.5
    assert (answer.low, answer.high) == pytest.approx((10 - reach, 10 + reach))


def test_degrees_of_freedom_of_barnard_and_rubin():
    # ν = 22: ν_seen = 23 / 25 · 22 · 0.4 = 8.096, and 1 / (9 / 100 + 1 / 8.096)
    assert pooled(complete_df=22).degrees_of_freedom == pytest.approx(1 / (0.09 + 1 / 8.096))
    assert pooled(complete_df=22).missing_information == pooled().missing_information
    assert pooled(complete_df=np.inf).degrees_of_freedom == pooled().degrees_of_freedom


def test_tables_that_agree_leave_the_interval_of_one_table():
    same = pooled([3.0] * 4, [0.25] * 4, level=0.9)
    assert (same.standard_error, same.missing_information, same.degrees_of_freedom) == (0.5, 0.0, np.inf)
    assert same.high - same.low == pytest.approx(2 * 0.5 * stats.norm.ppf(0.95))
    # (ν + 1) / (ν + 3) ν
    assert pooled([3.0] * 4, [0.25] * 4, complete_df=7).degrees_of_freedom == pytest.approx(5.6)


def test_a_certain_estimate_has_an_interval_of_one_point():
    certain = pooled([1.0, 1.0], [0.0, 0.0], complete_df=5)
    assert (certain.low, certain.high, certain.missing_information) == (1.0, 1.0, 0.0)


def test_without_any_degree_of_freedom_nothing_is_excluded():
    # All variance comes from missing cells, so that none of ν = 5 is left.
    unknown = pooled([1.0, 2.0], [0.0, 0.0], complete_df=5)
    assert (unknown.low, unknown.high, unknown.missing_information) == (-np.inf, np.inf, 1.0)


def test_arrays_are_pooled_element_by_element():
    tables = [
        (np.array([[q, 0.0], [1.0, 2 * q]]), np.full((2, 2), u)) for q, u in zip(ESTIMATES, VARIANCES, strict=True)
    ]
    answer = juror.pool(iter(tables), both)
    assert answer.estimate.tolist() == [[10.0, 0.0], [1.0, 20.0]]
    assert answer.high[0, 0] == pytest.approx(pooled().high)
    assert answer.degrees_of_freedom[0, 1] == np.inf
    assert answer.low[1, 1] == pytest.approx(pooled([2 * q for q in ESTIMATES]).low)


def test_names_of_a_series_are_kept():
    tables = [
        (pd.Series({"slope": q, "age": 1.0}), pd.Series({"slope": u, "age": 1.0}))
        for q, u in zip(ESTIMATES, VARIANCES, strict=True)
    ]
    answer = juror.pool(tables, both)
    assert answer.names == ("slope", "age")
    assert answer.to_pandas().loc["slope", "estimate"] == 10.0
    assert re.search(r"slope +10 +2\.236", str(answer))
    assert "0 " not in str(pooled()).splitlines()[0]


ONE = pd.DataFrame({"a": [1, 2]})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: juror.pool(ONE, both),
            "pool takes a list of completed tables. Got one DataFrame. Pass model.impute(data, draws=20).",
        ),
        (
            lambda: juror.pool(np.zeros((3, 2)), both),
            "pool takes a list of completed tables. Got one ndarray. Pass model.impute(data, draws=20).",
        ),
        (
            lambda: juror.pool([ONE], lambda table: (1.0, 1.0)),
            "pool needs at least 2 completed tables. Got 1. Pass model.impute(data, draws=20).",
        ),
        (
            lambda: juror.pool([ONE, ONE], lambda table: 0.5),
            "statistic must return an estimate and its variance, two numbers or two arrays. Got 0.5 from table 1.",
        ),
        (
            lambda: juror.pool([ONE, ONE], lambda table: ([1.0, 2.0], np.eye(2))),
            "statistic must return as many variances as estimates. Got the shapes (2,) and (2, 2) from table 1; of a "
            "covariance matrix, pass the diagonal.",
        ),
        (
            lambda: pooled([1.0, 2.0], [1.0, -1.0]),
            "statistic must return finite estimates, and variances of at least 0. Got (2.0, -1.0) from table 2.",
        ),
        (
            lambda: juror.pool([([1.0], [1.0]), ([1.0, 2.0], [1.0, 1.0])], both),
            "statistic must return the same estimates for every table. It returned an array of shape (1,), and later "
            "an array of shape (2,).",
        ),
        (
            lambda: juror.pool([(pd.Series({name: 1.0}), [1.0]) for name in "ab"], both),
            "statistic must return the same estimates for every table. It returned ['a'], and later ['b'].",
        ),
        (lambda: pooled(level=95), "level must be a number in the range (0, 1). Got 95 instead."),
        (lambda: pooled(complete_df=0), "complete_df must be a number above 0, or None. Got 0 instead."),
        (
            lambda: juror.pool([ONE, ONE], "mean"),
            "statistic must be a function of a table that returns an estimate and its variance. Got 'mean' instead.",
        ),
    ],
)
def test_what_cannot_be_pooled_is_refused(call, sentence):
    with pytest.raises(juror.JurorError) as caught:
        call()
    assert str(caught.value) == sentence


# How often intervals hold the truth


N_ROWS, N_TABLES = 150, 10
SHARES = np.array([0.2, 0.7])


def posterior_model(codes: np.ndarray, rng: np.random.Generator) -> juror.JointPMF:
    """Return the mean of exact posterior draws of p(x1 | x0), from the rows that show both, under a flat prior."""
    seen = codes[codes[:, 1] >= 0]
    yes = np.array([np.sum(seen[seen[:, 0] == x, 1]) for x in (0, 1)])
    n = np.array([np.sum(seen[:, 0] == x) for x in (0, 1)])
    p = rng.beta(1 + yes, 1 + n - yes, size=(N_TABLES, 2)).ravel()
    classes = np.tile([[1.0, 0.0], [0.0, 1.0]], N_TABLES)
    weights = np.full(2 * N_TABLES, 0.5 / N_TABLES)
    domain = juror.Domain.from_cardinalities([2, 2])
    return juror.JointPMF(weights, [classes, np.stack([1 - p, p])], domain, FitRecord(n_draws=N_TABLES))


def share_of(table: np.ndarray) -> tuple[float, float]:
    p = table[:, 1].mean()
    return p, p * (1 - p) / len(table)


def torn_rows(rng: np.random.Generator) -> np.ndarray:
    """Draw rows whose second cell is missing in a tenth of the rows with a 0 before it, and in two thirds of others."""
    x = rng.integers(2, size=N_ROWS)
    y = (rng.random(N_ROWS) < SHARES[x]).astype(int)
    return np.column_stack([x, np.where(rng.random(N_ROWS) < np.array([0.1, 0.67])[x], -1, y)])


def test_pooled_intervals_hold_the_truth_and_those_of_single_tables_do_not():
    n_trials = 300
    rng, held = np.random.default_rng(11), np.zeros((n_trials, 2), dtype=bool)
    for trial in range(n_trials):
        codes = torn_rows(rng)
        tables = posterior_model(codes, rng).impute(codes, draws=N_TABLES, seed=trial)
        answer = juror.pool(tables, share_of, level=0.9, complete_df=N_ROWS - 1)
        p, variance = share_of(tables[0])
        reach = stats.norm.ppf(0.95) * variance**0.5
        held[trial] = answer.low <= SHARES.mean() <= answer.high, abs(p - SHARES.mean()) <= reach
    n_pooled, n_single = held.sum(axis=0)
    # One seed in ten thousand would fail, were coverage exactly 0.9.
    low, high = stats.binom.interval(1 - 1e-4, n_trials, 0.9)
    assert low <= n_pooled <= high
    assert n_single < low


def test_tables_of_a_sampled_model_also_differ_by_what_is_unknown_about_the_model():
    rng = np.random.default_rng(5)
    codes = torn_rows(rng)
    model = posterior_model(codes, rng)
    mean = juror.JointPMF(model.weights, model.factors, model.domain)
    of_draws, of_mean = (juror.pool(one.impute(codes, draws=200, seed=1), share_of) for one in (model, mean))
    hidden = codes[codes[:, 1] < 0, 0]
    # The variance of the share in draws of the cells alone, and that of its mean over posterior draws
    p = model.factors[1][1].reshape(-1, 2)
    cells = np.mean([(p[:, x] * (1 - p[:, x])).mean() for x in hidden]) * len(hidden) / N_ROWS**2
    of_p = np.var((p[:, 0] * np.sum(hidden == 0) + p[:, 1] * np.sum(hidden == 1)) / N_ROWS)
    ratios = np.array([of_draws.between / (cells + of_p), of_mean.between / cells])
    # A variance of 200 has a standard error of a tenth.
    assert np.all(np.abs(ratios - 1) < 0.4)
    assert of_draws.between > of_mean.between


def test_each_table_is_filled_by_its_own_draw():
    certain = juror.JointPMF(
        [0.25] * 4, [np.ones((1, 4)), np.eye(4)], juror.Domain.from_cardinalities([1, 4]), FitRecord(n_draws=4)
    )
    holes = np.array([[0, -1]] * 3)
    assert [table[:, 1].tolist() for table in certain.impute(holes, draws=2)] == [[0] * 3, [2] * 3]
    assert [table[0, 1] for table in certain.impute(holes, draws=8)] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert set(certain.impute(np.array([[0, -1]] * 200), draws=1)[:, 1]) == {0, 1, 2, 3}
