"""The law of a number: grids, pieces, points and what is estimated of them, against sums and integrals."""

import itertools
import math
import pickle
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy import stats

import juror
from juror import DataWarning, Domain
from juror.domain.binning import divided, parts_of
from juror.domain.grid import Grid
from juror.domain.law import Inside, Law, uniform_law
from juror.domain.law_estimate import estimate_law
from juror.domain.law_pieces import Bend, LawPart
from juror.domain.variable import Variable

quick = settings(deadline=None, max_examples=50)
# 999 stands for no number in these columns, and that it is not named as missing is what is tested
pytestmark = pytest.mark.filterwarnings("ignore:Column '.*' has the number 999 far:juror.errors.DataWarning")
seeds = st.integers(0, 2**32 - 1)


def law_of(numbers, **choices):
    """The law that a column gets."""
    return variable_of(numbers, **choices).law


def variable_of(numbers, **choices):
    variable = Domain.infer({"x": numbers}, **{"bin_above": 1, **choices})["x"]
    assert variable.kind == "binned"
    return variable


# Grids


@pytest.mark.parametrize(
    ("numbers", "decimals"),
    [
        (range(2, 102), 0),
        (np.arange(2.0, 102.0), 0),
        (np.arange(100) * 10, 0),
        ([f / 4 for f in range(100)], 2),
        (np.arange(100) * 0.1, 1),
        (np.arange(1, 100) * 0.01 + 0.2, 2),
        ([float(f"{n}e-3") for n in range(100)], 3),
        (np.cumsum([0.1] * 100), 1),
        ([n * 1e-8 for n in range(100)], 8),
        ([n * 1e-9 for n in range(100)], None),
        (np.sqrt(np.arange(100)), None),
        (np.arange(100) / 3, None),
        (np.float32([n / 10 for n in range(100)]), 1),
        # ends of the numbers whose decimals a float can tell
        ([1e15 + n / 4 for n in range(100)], None),
    ],
    ids=lambda value: None if value is None or isinstance(value, int) else f"{value[1]} {value[-1]}",
)
def test_decimals_of_a_column(numbers, decimals):
    assert law_of(numbers).grid.decimals == decimals


def test_sloppy_decimals_are_decimals():
    """As some programs write them: 162.05200000000005."""
    exact = np.random.default_rng(0).integers(150_000, 190_000, 300) / 1000
    sloppy = np.where(np.arange(300) % 2, np.nextafter(np.nextafter(exact, 200), 200), exact)
    assert np.count_nonzero(sloppy != exact) == 150
    variable = variable_of(sloppy)
    assert variable.law.grid.decimals == 3
    drawn = variable.inside.at(
        np.repeat(np.arange(variable.cardinality), 50), np.tile(np.linspace(0, 1, 50), variable.cardinality)
    )
    assert all(x == float(f"{x:.3f}") for x in drawn.tolist())


@quick
@given(st.integers(0, 8), st.integers(-(2**40), 2**40), st.lists(st.integers(0, 2**20), min_size=1, max_size=20))
def test_positions_and_numbers_of_a_grid_are_inverse(decimals, origin, positions):
    grid = Grid(decimals, origin)
    # as text reads them, each rounded once
    numbers = [float(Decimal(origin + p).scaleb(-decimals)) for p in positions]
    assume(abs(origin) + 2**20 < 2**46)
    np.testing.assert_array_equal(grid.positions(np.array(numbers)), positions)
    np.testing.assert_array_equal(grid.numbers(np.array(positions, dtype=float)), numbers)
    assert [grid.number(float(p)) for p in positions] == numbers
    assert grid.numbers(np.array(positions, dtype=float)).dtype == (np.float64 if decimals else np.int64)


@quick
@given(st.integers(0, 4), st.integers(-1000, 1000), st.floats(-2000, 2000) | st.integers(-2000, 2000))
@example(1, 0, 0.30000000000000004)
@example(1, 0, 0.3)
@example(2, 5, math.inf)
def test_a_cut_of_a_grid_lies_below_all_numbers_from_there_on(decimals, origin, number):
    grid = Grid(decimals, origin)
    at_least, above = grid.cut(number, after=False), grid.cut(number, after=True)
    if math.isinf(number):
        assert at_least == above == number
        return
    multiple = Decimal(number).scaleb(decimals)
    if Decimal(repr(number)).scaleb(decimals) % 1 == 0 or number == 0.1 + 0.2:
        assert (at_least, above) == (round(multiple) - origin, round(multiple) - origin + 1)
    elif abs(multiple - round(multiple)) > 1e-3:
        assert at_least == above == math.ceil(multiple) - origin


BIG = [
    [-(2**63), -(2**63) + 1, 0, 2**63 - 2, 2**63 - 1],
    [2**53 + n for n in range(5)],
    [2**62, 2**62 + 1, 2**62 + 3],
    [-(2**63) + n for n in range(5)],
]


@pytest.mark.parametrize("ends", BIG, ids=lambda ends: f"{ends[0]} to {ends[-1]}")
def test_whole_numbers_of_64_bits(ends):
    """They stay whole, apart if they lie within 2^53 of each other, and inside 64 bits."""
    numbers = np.array([*ends] * 3, dtype=np.int64)
    variable = variable_of(numbers)
    codes = np.repeat(np.arange(variable.cardinality), 20)
    drawn = variable.inside.at(codes, np.tile(np.linspace(0, 1, 20), variable.cardinality)).tolist()
    assert {type(x) for x in drawn} == {int}
    assert -(2**63) <= min(drawn) <= max(drawn) < 2**63
    # numbers that are further than 2^53 from the middle share cells with their neighbours
    if ends[-1] - ends[0] < 2**53:
        assert [variable.find(x) for x in drawn] == codes.tolist()
        positions = variable.law.grid.positions(np.array(ends))
        assert variable.law.grid.numbers(positions).tolist() == ends
    else:
        for x, code in zip(drawn, codes.tolist(), strict=True):
            assert variable.edges[code] - 2048 < x < variable.edges[code + 1] + 2048
    # each is possible
    assert np.all(variable.law.log_density(variable.law.grid.positions(numbers)) > -np.inf)


@pytest.mark.parametrize("far", [10**17, 10**18, 2**63 - 1, -(2**63), -(10**18)])
def test_one_number_far_away_leaves_the_others_as_they_are(far):
    rows = np.r_[np.tile(np.arange(60), 2), far]
    model = juror.fit({"a": rows}, method="em", rank=1)
    assert model.prob("a <= 30") == pytest.approx((rows <= 30).mean(), abs=0.02)
    assert model.prob("a = 7") == pytest.approx((rows == 7).mean(), abs=0.004)
    assert model.quantile("a", [0.25, 0.5, 0.75]) == pytest.approx([15, 30, 45], abs=2)
    drawn = model.sample(400, seed=0)["a"].to_numpy()
    assert drawn.dtype == np.int64
    assert (drawn <= 30).mean() == pytest.approx((rows <= 30).mean(), abs=0.1)


def test_the_mass_of_a_number_far_away_is_counted():
    rng = np.random.default_rng(0)
    rows = np.where(rng.random(120) < 0.3, 2**62, rng.integers(0, 1000, 120))
    model = juror.fit({"x": rows}, method="em", rank=1)
    low, between, all_of_them = model.cdf({"x": [999, 2**62 - 2**20, 2**62]})
    share = (rows < 2**62).mean()
    assert (low, between) == pytest.approx((share, share), abs=0.03)
    assert all_of_them == pytest.approx(1.0, abs=0.01)
    assert model.prob(f"x = {2**62}") == pytest.approx(1 - share, abs=0.03)


def test_whole_numbers_beyond_the_sign_bit():
    numbers = np.array([2**64 - 1 - n for n in range(40)], dtype=np.uint64)
    variable = variable_of(numbers)
    codes = np.repeat(np.arange(variable.cardinality), 20)
    drawn = variable.inside.at(codes, np.tile(np.linspace(0, 1, 20), variable.cardinality)).tolist()
    assert {type(x) for x in drawn} == {int}
    assert 2**63 <= min(drawn) <= max(drawn) < 2**64
    assert [variable.find(x) for x in drawn] == codes.tolist()
    assert len(variable.inside.at(codes[:0], np.zeros(0))) == 0


# Pieces and points, by hand


@st.composite
def laws(draw):
    """Any law of a few pieces and points, with gaps, on a grid or not."""
    decimals = draw(st.sampled_from([None, None, 0, 2]))
    n = draw(st.integers(1, 6))
    if decimals is None:
        at = sorted(draw(st.lists(st.floats(-50, 50) | st.integers(-9, 9), min_size=2 * n, max_size=2 * n)))
        at = [float(x) for x in at]
        pairs = [(a, b if b - a > 1e-6 else a) for a, b in zip(at[::2], at[1::2], strict=True)]
        # two points of one place would be one
        assume(len(set(pairs)) == n)
    else:
        at = sorted(draw(st.lists(st.integers(0, 60), min_size=2 * n, max_size=2 * n, unique=True)))
        pairs = [(float(a), float(b)) for a, b in zip(at[::2], at[1::2], strict=True)]
    masses = np.array(draw(st.lists(st.integers(1, 9), min_size=n, max_size=n)), dtype=float)
    grid = Grid(decimals, 0 if decimals is None else draw(st.integers(-100, 100)))
    starts, ends = zip(*pairs, strict=True)
    return Law(grid, starts, ends, tuple((masses / masses.sum()).tolist()))


def mass_below(law, position):
    """P(X < position), piece by piece."""
    total = 0.0
    for start, end, mass in zip(law.starts, law.ends, law.masses, strict=True):
        if start == end:
            total += mass * (start < position)
        else:
            total += mass * min(1.0, max(0.0, (position - start) / (end - start)))
    return total


@quick
@given(laws(), st.lists(st.floats(-60, 70), min_size=1, max_size=10))
def test_mass_below_a_position(law, positions):
    at = np.array([*positions, *law.starts, *law.ends, -np.inf, np.inf])
    np.testing.assert_allclose(law.below(at), [mass_below(law, x) for x in at], atol=1e-12)


@quick
@given(laws(), st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_levels_are_reached_at_their_positions(law, levels):
    """The lowest position up to which there is at least a mass: quantiles invert the cumulative probability."""
    levels = np.array([*levels, 0.0, 1.0])
    positions = law.at(levels)
    for level, position in zip(levels, positions, strict=True):
        after = position + 1 if law.grid.decimals is not None else np.nextafter(position, np.inf)
        assert mass_below(law, after) >= level - 1e-9
        assert mass_below(law, position) <= level + 1e-9
        assert any(s <= position <= e for s, e in zip(law.starts, law.ends, strict=True))


@quick
@given(laws())
def test_densities_of_a_law_are_mass_over_width(law):
    step = 1.0 if law.grid.decimals is None else 10.0**-law.grid.decimals
    points = {s for s, e in zip(law.starts, law.ends, strict=True) if s == e}
    for start, end, mass in zip(law.starts, law.ends, law.masses, strict=True):
        at = np.array([start]) if start == end else np.linspace(start, end, 5)[1:-1]
        if law.grid.decimals is not None:
            at = np.floor(at)
        elif start < end and end - start < 1e-9:
            continue
        if start < end:
            at = at[~np.isin(at, list(points))]
        expected = mass if start == end else mass / (end - start) / step
        np.testing.assert_allclose(np.exp(law.log_density(at)), np.full(len(at), expected), rtol=1e-6)
    assert law.log_density(np.array([-1e9, 1e9, -np.inf, np.inf])).tolist() == [-np.inf] * 4


@quick
@given(laws(), st.lists(st.integers(-55, 65), min_size=1, max_size=5, unique=True))
def test_means_and_variances_of_intervals(law, inner):
    """Against the moments of many quantiles at even levels, of each interval."""
    cuts = np.array([-np.inf, *sorted(inner), np.inf])
    inside = Inside(law, cuts)
    levels = (np.arange(20_000) + 0.5) / 20_000
    numbers = np.array([float(x) for x in law.grid.numbers(law.at(levels))])
    positions = law.at(levels)
    for code, (low, high) in enumerate(itertools.pairwise(cuts)):
        some = numbers[(positions >= low) & (positions < high)]
        if inside.masses[code] > 0.01:
            assert inside.masses[code] == pytest.approx(len(some) / 20_000, abs=1e-3)
            scale = max(1.0, np.ptp(numbers)) * 0.02
            assert inside.means[code] == pytest.approx(some.mean(), abs=scale)
            assert math.sqrt(inside.variances[code]) == pytest.approx(some.std(), abs=scale)


def test_moments_by_hand():
    inside = Inside(Law(Grid(), (0.0, 5.0, 6.0), (4.0, 5.0, 8.0), (0.5, 0.25, 0.25)), np.array([0.0, 2.0, 7.0, 8.0]))
    assert inside.masses == pytest.approx([0.25, 0.625, 0.125])
    assert inside.means == pytest.approx([1.0, (0.25 * 3 + 0.25 * 5 + 0.125 * 6.5) / 0.625, 7.5])
    mean = inside.means[1]
    second = (0.25 * (3**2 + 4 / 12) + 0.25 * 25 + 0.125 * (6.5**2 + 1 / 12)) / 0.625
    assert inside.variances == pytest.approx([4 / 12, second - mean**2, 1 / 12])
    cells = Inside(Law(Grid(1, 20), (0.0,), (10.0,), (1.0,)), np.array([0.0, 4.0, 10.0]))
    assert cells.means == pytest.approx([np.mean([2.0, 2.1, 2.2, 2.3]), np.mean([2.4, 2.5, 2.6, 2.7, 2.8, 2.9])])
    assert cells.variances == pytest.approx([np.var([2.0, 2.1, 2.2, 2.3]), np.var([2.4, 2.5, 2.6, 2.7, 2.8, 2.9])])


@pytest.mark.parametrize(
    ("starts", "ends", "masses", "grid"),
    [
        ((), (), (), Grid()),
        ((0.0,), (1.0,), (0.5,), Grid()),
        ((0.0,), (1.0,), (-1.0,), Grid()),
        ((1.0,), (0.0,), (1.0,), Grid()),
        ((0.0, 0.5), (1.0, 2.0), (0.5, 0.5), Grid()),
        ((0.0, 1.0), (1.0,), (0.5, 0.5), Grid()),
        ((0.0,), (math.inf,), (1.0,), Grid()),
        ((math.nan,), (1.0,), (1.0,), Grid()),
        ((0.0,), (1.0,), (math.nan,), Grid()),
        ((0.5,), (1.0,), (1.0,), Grid(0)),
    ],
)
def test_laws_that_cannot_be(starts, ends, masses, grid):
    with pytest.raises(ValueError, match="pieces of a law"):
        Law(grid, starts, ends, masses)


def test_a_uniform_law_is_uniform_between_edges():
    law = uniform_law([0, 1, 5])
    assert law.below(np.array([-1.0, 0.5, 1.0, 3.0, 9.0])).tolist() == [0, 0.25, 0.5, 0.75, 1.0]


@quick
@given(laws())
def test_laws_are_pickled_whole(law):
    assert pickle.loads(pickle.dumps(law)) == law


# Dividing


@quick
@given(laws(), st.lists(st.floats(-60, 70), min_size=1, max_size=4), st.booleans(), st.booleans())
def test_parts_share_the_law_of_their_interval(law, at, open_ended, with_missing):
    ends = (law.grid.number(law.starts[0]), law.grid.number(law.ends[-1]))
    assume(ends[0] < ends[1])
    middle = law.grid.number(math.floor((law.starts[0] + law.ends[-1]) / 2))
    edges = tuple(sorted({*ends, middle}))
    whole = Variable("x", tuple(f"i{n}" for n in range(len(edges) - 1)), "binned", edges, law, open_ended)
    whole = whole.with_missing_label("?") if with_missing else whole
    cuts = [math.floor(x) if law.grid.decimals is not None else x for x in at]
    parts = divided(whole, cuts)
    codes, shares = parts_of(whole, parts)
    assert len(codes) == len(shares) == parts.cardinality
    np.testing.assert_allclose(np.bincount(codes, shares, whole.cardinality), np.ones(whole.cardinality))
    masses = np.append(whole.inside.masses, [1.0] * with_missing)
    own = np.append(parts.inside.masses, [1.0] * with_missing)
    some = masses[codes] > 0
    np.testing.assert_allclose((masses[codes] * shares)[some], own[some], atol=1e-12)
    inner = set(parts.inside.cuts[1:-1].tolist())
    assert {c for c in cuts if whole.inside.cuts[0] < c < whole.inside.cuts[-1]} <= inner
    assert parts.law == whole.law
    assert parts.missing_label == whole.missing_label
    assert divided(whole, []) is whole


# What is estimated


def masses_of(law, low, high):
    return float(np.diff(law.below(np.array([low, high])))[0])


COLUMNS = {
    "normal": lambda rng: rng.normal(size=400),
    "skewed": lambda rng: rng.lognormal(8, 1.5, 400),
    "whole": lambda rng: rng.poisson(60, 400),
    "decimals": lambda rng: rng.gamma(2.0, 10.0, 400).round(2),
    "zeros": lambda rng: np.where(rng.random(400) < 0.4, 0.0, rng.gamma(2.0, 10.0, 400)),
    "codes of missing": lambda rng: np.where(rng.random(400) < 0.1, 999, rng.integers(15, 90, 400)),
    "two": lambda rng: rng.choice([1.5, 2.5], 400),
    "few": lambda rng: rng.normal(size=3),
    "dates": lambda rng: rng.integers(-10_000, 20_000, 400),
    "tiny": lambda rng: rng.normal(size=400) * 1e-300,
    "subnormal": lambda rng: rng.random(400) * 1e-320,
    "some subnormal": lambda rng: rng.random(400) * np.where(rng.random(400) < 0.5, 1.0, 1e-312),
    "one subnormal": lambda rng: np.append(rng.integers(0, 2, 3), 2.2e-313 * rng.random()),
    "huge": lambda rng: rng.normal(size=400) * 1e307,
    "nearly all floats": lambda rng: rng.uniform(-1, 1, 400) * 1.79e308,
    "negative zero": lambda rng: np.where(rng.random(400) < 0.5, -0.0, rng.normal(size=400)),
    "int64": lambda rng: rng.integers(-(2**63), 2**63 - 1, 400),
}


@pytest.mark.parametrize("binning", ["quantile", "width", "ends"])
@pytest.mark.parametrize("name", COLUMNS)
@settings(deadline=None, max_examples=4)
@given(seed=seeds)
def test_every_column_has_a_law(name, binning, seed):
    """Masses sum to one, every interval and every number of the data is possible; nothing overflows or warns."""
    numbers = COLUMNS[name](np.random.default_rng(seed))
    variable = variable_of(numbers, binning=binning)
    law, inside = variable.law, variable.inside
    assert sum(law.masses) == pytest.approx(1.0, abs=1e-9)
    assert inside.masses.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.all(inside.masses > 0)
    assert np.all(np.isfinite(inside.means))
    with np.errstate(over="ignore"):
        assert np.all(np.isfinite(law.log_density(law.grid.positions(np.sort(numbers)))))
    codes = np.repeat(np.arange(variable.cardinality), 9)
    drawn = inside.at(
        codes, np.tile([0.0, 1e-300, 0.1, 0.3, 0.5, 0.7, 0.9, np.nextafter(1, 0), 1.0], variable.cardinality)
    )
    assert [variable.find(x) for x in drawn.tolist()] == codes.tolist()
    assert np.all(np.diff(drawn.reshape(-1, 9).astype(float), axis=1) >= 0)
    assert np.all(np.isfinite(drawn.astype(float)))


@quick
@given(seeds, st.sampled_from([50, 300, 2000]))
def test_a_law_follows_its_numbers(seed, n):
    """The Kolmogorov distance to the true law is that of a sample, and half of that to the numbers themselves."""
    rng = np.random.default_rng(seed)
    numbers = rng.gamma(2.0, 10.0, n)
    law = law_of(numbers)
    at = np.linspace(0, 100, 500)
    assert np.abs(law.below(at) - stats.gamma(2.0, scale=10.0).cdf(at)).max() < 2.2 / math.sqrt(n)
    assert np.abs(law.below(at) - [np.mean(numbers < x) for x in at]).max() < 1.5 / math.sqrt(n)


def test_values_that_recur_are_points():
    rng = np.random.default_rng(0)
    law = law_of(np.concatenate([rng.normal(size=900), np.zeros(100)]))
    assert law.grid.decimals is None
    assert law.has_point(0.0)
    assert masses_of(law, 0.0, 5e-324) == pytest.approx(0.1, abs=0.01)
    assert not law.has_point(0.5)


def test_values_that_recur_stand_out_among_whole_numbers():
    """Of 40 hours a week there are many, and of 39 and 41 few."""
    rng = np.random.default_rng(0)
    hours = np.where(rng.random(3000) < 0.5, 40, rng.integers(1, 10_000, 3000))
    law = law_of(hours)
    shares = np.diff(law.below(law.grid.positions(np.arange(38, 44))))
    assert shares[2] == pytest.approx(0.5, abs=0.02)
    assert np.all(shares[[0, 1, 3, 4]] < 0.001)


def test_a_column_of_one_number():
    for number in (3, 3.7, 0.0, -1e300, 2**62):
        with pytest.warns(DataWarning, match="constant"):
            variable = Domain.infer({"x": [number] * 20}, bins=4)["x"]
        assert variable.inside.at(np.zeros(5, dtype=int), np.linspace(0, 1, 5)).tolist() == [number] * 5
        assert variable.inside.means.tolist() == [pytest.approx(number)]
        assert variable.inside.variances.tolist() == [0.0]


@pytest.mark.parametrize(
    ("numbers", "low", "high"),
    [
        (lambda rng: rng.exponential(10.0, 500), 0.0, math.inf),
        (lambda rng: rng.exponential(10.0, 500).round(1), 0.0, math.inf),
        (lambda rng: rng.poisson(30.0, 500), 0.0, math.inf),
        (lambda rng: -rng.exponential(10.0, 500), -math.inf, 0.0),
        (lambda rng: np.minimum(rng.exponential(10.0, 500), 20.0), 0.0, 20.0),
        (lambda rng: np.clip(rng.normal(50, 30, 500), 5.5, 90.25), 5.5, 90.25),
        (lambda rng: np.clip(rng.normal(50, 30, 500).round(), 17, 90), 17, 90),
    ],
    ids=["exponential", "decimals", "whole", "negative", "capped", "clipped", "clipped whole"],
)
@settings(deadline=None, max_examples=5)
@given(seed=seeds)
def test_bounds_are_kept(numbers, low, high, seed):
    """Nothing beyond zero if all numbers lie on one side, and nothing beyond an end that recurs."""
    law = law_of(numbers(np.random.default_rng(seed)))
    ends = law.grid.numbers(law.at(np.array([0.0, 1.0])))
    assert low <= ends[0] <= ends[1] <= high


@pytest.mark.parametrize("dtype", [float, int], ids=["points", "cells"])
def test_intervals_of_a_single_value(dtype):
    """Zeros and the largest number recur, and have intervals of their own; others share theirs."""
    rng = np.random.default_rng(0)
    numbers = np.concatenate([np.zeros(300), np.full(300, 9e6), 1 + rng.random(2000) * 8e6]).astype(dtype)
    variable = variable_of(numbers, bins=10)
    single = variable.inside.are_single
    assert np.flatnonzero(single).tolist() == [0, len(single) - 1]


def test_intervals_of_a_few_whole_numbers_hold_several_values():
    even = Inside(uniform_law([0, 4]), np.array([0.0, 4.0]))
    assert not even.are_single.any()
    cells = Law(Grid(0), (0.0,), (6.0,), (1.0,))
    assert Inside(cells, np.array([0.0, 1.0, 3.0, 6.0])).are_single.tolist() == [True, True, False]


def test_an_open_end_has_a_tail_of_a_part_of_a_row():
    """It begins as one row, and the tilt that keeps the mean leaves a part of it."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=500)
    law = law_of(numbers)
    for beyond in (1 - masses_of(law, -1e9, numbers.max()), masses_of(law, -1e9, numbers.min())):
        assert 0.1 / 500 < beyond < 1 / 500
    closed = law_of(numbers, edges={"x": [-9, 0, 9]})
    assert closed.at(np.array([0.0, 1.0])).tolist() == [-9, 9]


def test_a_few_rows_at_the_end_of_values_that_recur_are_no_bound():
    """Degrees Fahrenheit of thermometers with whole degrees Celsius: a new row may be hotter or colder than all."""
    degrees = np.random.default_rng(0).normal(12, 9, 9000).round().astype(int) * 1.8 + 32
    seen, counts = np.unique(degrees, return_counts=True)
    assert max(counts[0], counts[-1]) < 5
    law = law_of(degrees)
    beyond = law.grid.positions(np.array([seen[0] - 1.8, seen[-1] + 1.8]))
    assert np.all(law.log_density(beyond) > np.log(1e-6))


@quick
@given(seeds, st.sampled_from(["normal", "whole", "decimals", "zeros"]))
def test_whole_weights_are_repeated_rows(seed, name):
    rng = np.random.default_rng(seed)
    numbers, weights = COLUMNS[name](rng), rng.integers(0, 4, 400)
    assert law_of(numbers, sample_weight=weights) == law_of(np.repeat(numbers, weights))


@quick
@given(seeds, st.sampled_from(["normal", "whole", "decimals", "zeros"]))
def test_order_and_missing_cells_change_nothing(seed, name):
    rng = np.random.default_rng(seed)
    numbers = COLUMNS[name](rng).astype(float)
    holed = np.append(numbers, [np.nan] * 50)
    assert law_of(rng.permutation(holed)) == law_of(numbers)


def test_groups_of_numbers_have_a_law_too():
    numbers = np.arange(0.0, 1000.0, 10.0)
    law = estimate_law(numbers, np.full(100, 7.0), (0.0, 500.0, 1000.0), True, are_groups=True)
    assert law.grid.decimals is None
    at = np.linspace(0, 1000, 21)
    np.testing.assert_allclose(law.below(at), at / 1000, atol=0.02)


@pytest.mark.parametrize("infinite", [math.inf, -math.inf])
def test_infinities_are_refused(infinite):
    from juror.errors import DataError

    with pytest.raises(DataError, match="numbers must be finite"):
        law_of([*np.arange(100.0) / 7, infinite])


# Skewed columns and few rows


@pytest.mark.parametrize("n", [100, 500, 2000])
def test_the_mean_of_a_skewed_column_is_that_of_its_rows(n):
    for seed in range(4):
        rows = np.random.default_rng(seed).lognormal(size=n)
        model = juror.fit({"x": rows}, method="em", rank=1)
        assert model.expect("x") == pytest.approx(rows.mean(), rel=0.05)
    far = np.append(np.random.default_rng(0).random(n), 1e6)
    model = juror.fit({"x": far}, method="em", rank=1)
    assert model.expect("x") == pytest.approx(far.mean(), rel=0.1)


@pytest.mark.parametrize(
    "rows",
    [
        [1.5, 2.5],
        [1.2, 3.4, 2.2, 9.9, 7.1],
        [3, 8],
        [*np.random.default_rng(0).random(10), *[5.5] * 4],
    ],
    ids=["two", "five", "whole", "ties"],
)
def test_drawn_numbers_of_few_rows_lie_within_them(rows):
    drawn = juror.fit({"x": rows}, method="em", rank=1).sample(500, seed=0)["x"]
    assert min(rows) <= drawn.min() <= drawn.max() <= max(rows)


def test_a_tail_that_has_no_room_before_zero_has_no_mass():
    """The scale is so small that a billionth of it is zero, like the room."""
    law = law_of(np.array([1.0, 0.0, 1.0, 2.5e-315]))
    assert law.at(np.array([0.0]))[0] == 0


class TestBentDensities:
    """Densities fall inside the pieces of columns with long tails: far numbers are as frequent as in the rows."""

    @pytest.mark.parametrize("decimals", [None, 2])
    @pytest.mark.parametrize("share", [0.1, 0.05])
    def test_as_many_rows_lie_far_out_as_in_the_table(self, share, decimals):
        rng = np.random.default_rng(1)
        errors = []
        for _ in range(20):
            numbers = rng.pareto(1.5, 2000)
            numbers = numbers if decimals is None else numbers.round(decimals)
            law = law_of(numbers)
            far = np.quantile(numbers, 1 - share)
            errors.append(1 - law.below(law.grid.positions(np.array([far])))[0] - np.mean(numbers >= far))
        # With constant densities the mean error is 0.003 or more.
        assert abs(np.mean(errors)) < 0.0015

    def test_parts_have_the_rows_of_their_piece_and_their_mean_place(self):
        rng = np.random.default_rng(2)
        x = np.sort(rng.pareto(1.5, 500))
        rows = np.arange(500.0)
        bend = Bend.of(x, np.ones(500))
        piece = LawPart(x[[0, 250, 400, 499]], rows[[0, 250, 400, 499]])
        parts = bend.parted(piece, x, rows, Grid())
        assert set(piece.knots) <= set(parts.knots)
        np.testing.assert_allclose(parts.at(piece.knots), piece.below)
        masses, middles = np.diff(parts.below), bend.places(parts.knots)
        middles = (middles[1:] + middles[:-1]) / 2
        for low, high in ((0, 250), (250, 400), (400, 499)):
            inside = (parts.knots[:-1] >= x[low]) & (parts.knots[:-1] < x[high])
            places = bend.places((x[low + 1 : high + 1] + x[low:high]) / 2)
            assert masses[inside] @ middles[inside] / masses[inside].sum() == pytest.approx(places.mean(), abs=1e-6)
