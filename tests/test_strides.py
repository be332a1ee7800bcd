"""Numbers that lie further apart than their decimals: what comes out of a model lies where the rows lie."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import juror
from juror import Domain, JointPMF
from juror.domain.grid import Grid
from juror.domain.law import Inside, Law
from juror.domain.law_estimate import estimate_law, stride_of

quick = settings(deadline=None, max_examples=50)


def variable_of(numbers, **choices):
    return Domain.infer({"x": numbers}, **{"bin_above": 1, **choices})["x"]


def without_stride(model):
    """The same model, whose laws know no stride."""
    variables = [v if v.law is None else replace(v, law=replace(v.law, stride=1)) for v in model.domain]
    return JointPMF(model.weights, model.factors, replace(model.domain, variables=tuple(variables)), model.info)


def fitted(numbers, n=800, **choices):
    other = np.random.default_rng(9).normal(size=n).round(2)
    return juror.fit(pd.DataFrame({"x": numbers, "other": other}), rank=2, method="em", **choices)


# Which strides are claimed


@pytest.mark.parametrize(
    ("numbers", "stride"),
    [
        (np.arange(100) * 100, 100),
        (np.arange(100) * 100 - 5_000, 100),
        (np.arange(100) * 7 + 4, 7),
        (np.arange(100.0) * 25, 25),
        (np.arange(100) * 0.05, 5),
        (np.arange(100) * 0.25, 25),
        (np.arange(100) * 0.125, 125),
        (np.arange(1, 100) * 5 - 0.01, 500),
        (np.r_[np.arange(100) * 100, 412_357], 1),
        (np.arange(5, 105), 1),
        (np.arange(100) * 0.01, 1),
        (np.arange(100) / 3, 1),
        (np.arange(100) * 1e11, 10**11),
        (2**63 - 1 - np.arange(100) * 1000, 1000),
        (-(2**63) + np.arange(100) * 1000, 1000),
        (np.uint64(2**63) + np.arange(100, dtype=np.uint64) * np.uint64(1000), 1000),
        # positions of numbers further apart than 2^53 are rounded
        (np.arange(100) * 10**15, 1),
        # whether numbers recur does not matter
        (np.repeat(np.arange(40) * 5, 20), 5),
    ],
    ids=str,
)
def test_strides_of_a_column(numbers, stride):
    law = variable_of(numbers).law
    assert law.stride == stride
    assert np.all(law.grid.positions(np.asarray(numbers)) % stride == 0) or stride == 1


@pytest.mark.parametrize(
    ("n", "stride", "found"),
    [(3, 10, 1), (9, 10**6, 1), (10, 10, 10), (10, 9, 1), (30, 2, 1), (31, 2, 2), (13, 5, 1), (14, 5, 5), (1, 7, 1)],
)
def test_few_numbers_are_no_evidence(n, stride, found):
    """There are at least ten, and all of them are multiples by luck once in 10^9."""
    assert stride_of(np.arange(n) * float(stride)) == found
    assert found == 1 or (n >= 10 and stride ** (n - 1) >= 10**9)


def test_numbers_that_were_not_told_apart_have_no_stride():
    numbers, counts = np.arange(100) * 256, np.ones(100)
    assert estimate_law(numbers, counts, [0, 12_800, 25_344], True, are_groups=True).stride == 1
    assert estimate_law(numbers, counts, [0, 12_800, 25_344], True).stride == 256


@pytest.mark.parametrize("stride", [0, -1, 2**53 + 1, 1.5])
def test_strides_that_cannot_be(stride):
    with pytest.raises(ValueError, match="stride"):
        Law(Grid(0), (0.0,), (1.0,), (1.0,), stride)


def test_all_numbers_have_no_stride():
    with pytest.raises(ValueError, match="stride"):
        Law(Grid(), (0.0,), (1.0,), (1.0,), 2)


# Where numbers are placed


@quick
@given(
    st.integers(1, 20), st.lists(st.integers(-50, 50), min_size=1, max_size=6, unique=True), st.integers(0, 2**32 - 1)
)
def test_numbers_stay_in_their_interval(stride, inner, seed):
    """They are multiples of the stride if their interval has one, and else those without a stride."""
    law = Law(Grid(0, 3), (-40.0, 0.0), (0.0, 45.0), (0.5, 0.5), stride)
    cuts = np.array([-np.inf, *sorted(inner), np.inf])
    codes = np.repeat(np.arange(len(inner) + 1), 50)
    shares = np.random.default_rng(seed).random(len(codes))
    found = Inside(law, cuts).at(codes, shares) - 3
    before = Inside(replace(law, stride=1), cuts).at(codes, shares) - 3
    for code, x, was in zip(codes.tolist(), found.tolist(), before.tolist(), strict=True):
        low, high = max(cuts[code], -40), min(cuts[code + 1], 45)
        if low >= high:
            continue
        has_multiple = math.ceil(low / stride) * stride < high
        assert low <= x < high
        assert x % stride == 0 if has_multiple else x == was
        assert abs(x - was) < stride
    order = np.lexsort((shares, codes))
    assert np.all(np.diff(found[order])[np.diff(codes[order]) == 0] >= 0)


def test_draws_have_the_mass_of_their_cells():
    """Chi-square: in an interval, each multiple has what the law has from there to the next."""
    rng = np.random.default_rng(0)
    numbers = np.sort(np.unique(rng.gamma(3.0, 4_000.0, 700).round(-2).astype(int)))
    variable = variable_of(numbers)
    inside, law = variable.inside, variable.law
    assert law.stride == 100
    for code in range(1, variable.cardinality - 1):
        drawn = law.grid.positions(inside.at(np.full(20_000, code), rng.random(20_000)))
        cells = np.arange(inside.cuts[code], inside.cuts[code + 1], 100.0)
        expected = np.diff(law.below(np.append(cells, inside.cuts[code + 1])))
        seen = np.array([np.count_nonzero(drawn == cell) for cell in cells])
        assert seen.sum() == 20_000
        assert stats.chisquare(seen, expected / expected.sum() * 20_000).pvalue > 1e-4


# What comes out of a model

TIMES = {
    "hours": ("1990-01-01", "h", 1),
    "half past": ("1990-01-01 00:30", "h", 1),
    "half hours": ("2020-01-01", "min", 30),
    "six hours before 1970": ("1950-01-01", "h", 6),
    "Mondays": ("2024-01-01", "D", 7),
    "milliseconds": ("2024-01-01", "ms", 250),
}


@pytest.mark.parametrize("name", TIMES)
def test_times_are_those_of_the_table(name):
    first, unit, step = TIMES[name]
    rng = np.random.default_rng(0)
    start = pd.Timestamp(first)
    times = start + pd.to_timedelta(rng.integers(0, 5_000, 800) * step, unit=unit)
    model = fitted(times)
    step = pd.to_timedelta(step, unit=unit)
    found = [
        *(drawn := model.sample(500, seed=0)["x"]),
        *model.quantile("x", [0.0, 0.1, 0.5, 0.99, 1.0]),
        *model.impute(pd.DataFrame({"x": pd.to_datetime([None, None]), "other": [0.5, -1.0]}))["x"],
        *model.sample(50, seed=0, given={"x": juror.Range(at_least=times.max())})["x"],
    ]
    assert {(pd.Timestamp(x) - start) % step for x in found} == {pd.Timedelta(0)}
    assert times.min() <= drawn.min()
    assert drawn.max() <= times.max()


def test_local_times_of_a_zone_are_whole_hours():
    rng = np.random.default_rng(0)
    times = pd.Timestamp("2024-01-01", tz="Europe/Berlin") + pd.to_timedelta(rng.integers(0, 8_000, 800), unit="h")
    drawn = fitted(times).sample(300, seed=0)["x"]
    assert set(drawn.dt.minute) == set(drawn.dt.second) == {0}


@pytest.fixture(scope="module")
def prices():
    return (np.random.default_rng(0).lognormal(12.5, 0.6, 800) / 100).round().astype(int) * 100


@pytest.fixture(scope="module")
def model(prices):
    return fitted(prices)


def test_prices_are_those_of_the_table(model, prices):
    drawn = model.sample(2000, seed=0)["x"]
    assert np.all(drawn % 100 == 0)
    assert prices.min() <= drawn.min()
    assert drawn.max() <= prices.max()
    assert stats.ks_2samp(drawn, prices).pvalue > 0.01
    assert drawn.mean() == pytest.approx(prices.mean(), abs=3 * prices.std() / math.sqrt(800))
    holes = pd.DataFrame({"x": [None, None], "other": [0.5, 0.1]})
    for choices in ({}, {"numbers": "mean"}, {"draws": 3}):
        filled = model.impute(holes, **choices)
        for one in filled if isinstance(filled, list) else [filled]:
            assert np.all(one["x"] % 100 == 0)
    assert np.all(model.predict(holes, "x") % 100 == 0)
    assert model.ask("x | other > 0.5").median % 100 == 0


@pytest.mark.parametrize(("step", "decimals"), [(0.05, 2), (0.25, 2), (5.0, 0), (0.5, 1)])
def test_fractions_are_those_of_the_table(step, decimals):
    numbers = (np.random.default_rng(0).gamma(3.0, 40.0, 800).round() * step).round(decimals)
    model = fitted(numbers)
    found = np.r_[model.sample(500, seed=0)["x"], model.quantile("x", [0.1, 0.5, 0.9])]
    exact = np.unique((np.arange(10_000) * step).round(decimals))
    assert np.all(np.isin(found, exact))


@pytest.mark.parametrize(
    ("condition", "low", "high"),
    [("x < 212350", 0, 212_300), ("x >= 212350", 212_400, 10**8), ("212301 <= x < 212401", 212_400, 212_400)],
)
def test_conditions_hold(model, condition, low, high):
    drawn = model.sample(400, seed=0, given=condition)["x"]
    assert low <= drawn.min() <= drawn.max() <= high
    assert np.all(drawn % 100 == 0)


def test_a_condition_without_a_number_like_those_of_the_rows_has_others(model):
    drawn = model.sample(50, seed=0, given="212310 <= x < 212350")["x"]
    assert 212_310 <= drawn.min() <= drawn.max() < 212_350
    assert model.sample(1, seed=0, given={"x": 212_357})["x"].tolist() == [212_357]


def test_no_number_below_zero_is_drawn_where_rows_have_none():
    """The law ends at zero, and the multiples of the stride do not."""
    numbers = np.random.default_rng(0).integers(3, 300, 800) * 100 + 40
    drawn = fitted(numbers).sample(100, seed=0, given="x < 300")["x"]
    assert set(drawn) <= {40, 140, 240}


def test_answers_are_those_without_a_stride(model, prices):
    other = without_stride(model)
    rows = pd.DataFrame({"x": [*prices[:50], 212_357, 1, 3_000_007], "other": 0.25})
    np.testing.assert_array_equal(model.log_density(rows), other.log_density(rows))
    np.testing.assert_array_equal(model.cdf(rows), other.cdf(rows))
    assert np.all(np.isfinite(model.log_density(rows)))
    assert model.expect("x") == other.expect("x")
    for question in ("x = 212357", "x = 212400", "x < 212350"):
        assert model.prob(question) == other.prob(question)
    for condition in ("x = 212357", "x >= 212357"):
        assert model.expect("other", given=condition) == other.expect("other", given=condition)


def test_quantiles_invert_the_cumulative_probability_within_a_stride(model):
    levels = np.linspace(0.01, 0.99, 99)
    found = np.array(model.quantile("x", levels))
    assert np.all(model.cdf({"x": found - 1}) <= levels + 1e-9)
    assert np.all(model.cdf({"x": found + 99}) >= levels - 1e-9)
    exact = np.array(without_stride(model).quantile("x", levels))
    assert np.all((exact - 100 < found) & (found <= exact))


def test_the_same_seed_draws_the_same(prices):
    one, other = (fitted(prices, seed=3).sample(50, seed=4) for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


def test_two_laws_have_a_stride_of_both():
    def law(start, step):
        return infer_law(np.arange(start, start + 100 * step, step))

    assert law(0, 100).united(law(5000, 100)).stride == 100
    assert law(0, 100).united(law(40, 100)).stride == 20
    assert law(0, 100).united(law(7, 1)).stride == 1
    assert law(0, 100).united(law(0.5, 0.25)).stride == 1


def infer_law(numbers):
    return juror.Domain.infer({"x": numbers, "y": numbers % 7})["x"].law


def test_numbers_of_formulas_lie_where_rows_do():
    rng = np.random.default_rng(0)
    price = rng.integers(1000, 4000, 800) * 100
    fee = rng.integers(100, 9000, 800)
    table = pd.DataFrame({"price": price, "fee": fee, "total": price + fee})
    model = juror.fit(table, 2, "em")
    assert model.domain.formulas
    drawn = model.sample(500, given="total < 250000", seed=1)
    assert (drawn["price"] % 100 == 0).all()
    assert (drawn["total"] == drawn["price"] + drawn["fee"]).all()
