"""Answers in the units of columns, against sums and integrals over the dense tensor and the laws of numbers."""

import json
import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save
from scipy import stats

import juror
from juror import Domain, JointPMF, Not, Range
from juror.answers.dividing import divided_mixture
from juror.domain.evidence import divided_for
from juror.errors import ParameterError, QueryError, ZeroProbabilityError
from juror.files.container import _digest
from juror.testing import dense, random_forest_model
from law_oracle import law_below, shares_below, shares_in

quick = settings(deadline=None, max_examples=25)
few = settings(deadline=None, max_examples=8)
# 999 stands for no number in these columns, and that it is not named as missing is what is tested
pytestmark = pytest.mark.filterwarnings("ignore:Column '.*' has the number 999 far:juror.errors.DataWarning")
seeds = st.integers(0, 2**32 - 1)


def domain_of(seed):
    """Numbers of every kind, each in a few intervals: with an atom at zero, whole, with two decimals; and labels."""
    rng = np.random.default_rng(seed)
    columns = {
        "x": np.where(rng.random(300) < 0.3, 0.0, rng.gamma(2.0, 10.0, 300)),
        "n": np.where(rng.random(300) < 0.1, 999, rng.poisson(40, 300)),
        "d": rng.normal(size=300).round(2),
        "c": rng.choice(["u", "v"], 300),
    }
    domain = Domain.infer(columns, bins={"x": 4, "n": 5, "d": 3})
    return domain.with_missing_as({"n": "not asked"} if rng.random() < 0.5 else {})


def model_of(seed, edges=0.8):
    domain = domain_of(seed)
    return random_forest_model(domain.cardinalities, (2, 1), np.random.default_rng(seed), domain=domain, edges=edges)


models = st.builds(model_of, seeds, st.sampled_from([0.0, 0.8]))


def weighed(model, weights):
    tensor = dense(model)
    for name, vector in weights.items():
        n = model.domain.position(name)
        tensor = tensor * np.reshape(vector, [-1 if k == n else 1 for k in range(tensor.ndim)])
    return tensor


def test_the_oracle_gives_what_a_hand_calculation_gives():
    domain = Domain.infer({"n": [0, 0, 0, 1, 2, 3] * 20}, edges={"n": [0, 2, 4]})
    law = domain["n"].law
    assert law.grid.decimals == 0
    assert shares_below(domain["n"], 1).tolist() == pytest.approx([law.masses[0] / sum(law.masses[:2]), 0])
    assert shares_in(domain["n"], 2, 9).tolist() == pytest.approx([0, 1])


# a number within rounding errors of a decimal number is that number, so bounds are not that close to one
ends = st.fixed_dictionaries(
    {
        "x": st.tuples(st.floats(-5, 80) | st.just(0.0), st.floats(-5, 80)),
        "n": st.tuples(
            st.integers(20, 70) | st.floats(20, 1100).map(lambda x: round(x, 6)), st.integers(20, 70) | st.just(999)
        ),
        "d": st.tuples(st.floats(-4, 4).map(lambda x: round(x, 6)), st.floats(-4, 4).map(lambda x: round(x, 2))),
    }
)


# Ranges


@quick
@given(models, ends, st.sets(st.sampled_from("xnd"), min_size=1))
def test_ranges_at_any_numbers(model, bounds, names):
    """Events and evidence, in Python and in text, equal a sum over the tensor to 1e-8."""
    wanted = {name: Range(at_least=bounds[name][0], below=bounds[name][1]) for name in sorted(names)}
    shares = {name: shares_in(model.domain[name], *bounds[name]) for name in wanted}
    expected = weighed(model, shares).sum()
    assert model.prob(wanted) == pytest.approx(expected, abs=1e-8)
    text = ", ".join(f"{bounds[name][0]} <= {name} < {bounds[name][1]}" for name in wanted)
    assert model.prob(text) == pytest.approx(expected, abs=1e-8)
    if expected > 1e-6:
        table = weighed(model, shares).sum(axis=(0, 1, 2)) / expected
        np.testing.assert_allclose(model.ask(f"c | {text}").to_numpy(), table, atol=1e-8)
        np.testing.assert_allclose(model.marginal("c", given=wanted).to_numpy(), table, atol=1e-8)
        np.testing.assert_allclose(model.condition(wanted).marginal("c").to_numpy(), table, atol=1e-8)
        one = model.prob({"c": "u"}, given=wanted)
        assert one == pytest.approx(table[0], abs=1e-8)


@quick
@given(models, ends, st.sampled_from("xnd"))
def test_both_sides_of_any_number_and_the_number_itself(model, bounds, name):
    number = bounds[name][1]
    below, at, above = (
        model.prob({name: wanted})
        for wanted in (Range(below=number), Range(at_least=number, at_most=number), Range(above=number))
    )
    of_missing = model.prob({name: "not asked"}) if model.domain[name].missing_label else 0.0
    assert below + at + above + of_missing == pytest.approx(1.0, abs=1e-9)
    assert model.prob({name: number}) == pytest.approx(at, abs=1e-12)
    assert model.prob({name: Not(number)}) == pytest.approx(1 - at, abs=1e-12)
    assert model.prob({name: Not(Range(below=number))}) == pytest.approx(1 - below, abs=1e-12)
    assert model.cdf({name: [number]})[0] == pytest.approx(below + at, abs=1e-9)


def test_an_atom_has_a_probability_and_other_numbers_a_density():
    model = model_of(3)
    law = model.domain["x"].law
    first = model.marginal("x").to_numpy()[0]
    at_zero = law.masses[law.starts.index(0.0)] / law_below(law, model.domain["x"].edges[1])
    assert model.prob({"x": 0}) == pytest.approx(first * at_zero)
    assert model.density({"x": [0.0]})[0] == pytest.approx(first * at_zero)
    assert model.prob({"x": 3.25}) == 0.0
    assert model.density({"x": [3.25]})[0] > 0
    # a number of a continuous law says which interval it lies in
    code = model.domain["x"].code(3.25)
    table = dense(model)[code].sum(axis=(0, 1))
    np.testing.assert_allclose(model.ask("c | x = 3.25").to_numpy(), table / table.sum(), atol=1e-12)
    assert (model.expect("x", given="x = 3.25"), model.quantile("x", given="x = 3.25")) == (3.25, 3.25)
    assert set(model.sample(5, given="x = 3.25")["x"]) == {3.25}
    with pytest.raises(ZeroProbabilityError):
        model.ask("c | x = 3.25, x = 3.5")
    with pytest.raises(ZeroProbabilityError):
        model.ask("c | n = 40.5")


@quick
@given(models, ends)
def test_dividing_changes_no_answer(model, bounds):
    wanted = [(model.domain.position(name), Range(at_least=low, at_most=high)) for name, (low, high) in bounds.items()]
    domain = divided_for(model.domain, wanted)
    parts = divided_mixture(model, domain)
    other = JointPMF.of_blocks(parts.blocks, parts.domain)
    rows = model.sample(20, seed=1)
    np.testing.assert_allclose(other.log_density(rows), model.log_density(rows), atol=1e-9)
    np.testing.assert_allclose(other.cdf(rows[["x", "n", "d"]]), model.cdf(rows[["x", "n", "d"]]), atol=1e-12)
    np.testing.assert_allclose(other.marginal("c").to_numpy(), model.marginal("c").to_numpy(), atol=1e-12)
    for name in ("x", "n", "d"):
        assert other.expect(name) == pytest.approx(model.expect(name), rel=1e-9, abs=1e-9)
        assert other.prob({name: Range(below=bounds[name][0])}) == pytest.approx(
            model.prob({name: Range(below=bounds[name][0])}), abs=1e-12
        )
        assert other.mutual_information("c", name) == pytest.approx(model.mutual_information("c", name), abs=1e-12)


# Densities, means and quantiles


def cells_of(law):
    """All numbers of a law on a grid."""
    positions = np.concatenate([np.arange(s, e) for s, e in zip(law.starts, law.ends, strict=True)])
    return law.grid.numbers(positions)


@few
@given(models, st.sampled_from(["u", "v"]))
def test_a_density_is_one_in_all_and_the_cdf_its_integral(model, c):
    """Of x by quadrature, piece by piece, and points; of n and d as a sum over cells; together with a label."""
    law = model.domain["x"].law
    joint = model.prob({"c": c})
    some = np.array(sorted({*law.starts, *law.ends, *model.domain["x"].edges}))
    nodes, weights = np.polynomial.legendre.leggauss(3)
    # (pieces, nodes), inside the pieces
    at = some[:-1, None] + np.diff(some)[:, None] * (nodes + 1) / 2
    density = model.density({"x": at.ravel(), "c": [c] * at.size}).reshape(at.shape)
    integrals = np.cumsum(density @ weights / 2 * np.diff(some))
    points = np.array([s for s, e in zip(law.starts, law.ends, strict=True) if s == e])
    of_points = model.density({"x": points, "c": [c] * len(points)})
    for end, integral in zip(some[1:].tolist(), integrals, strict=True):
        below = integral + of_points[points <= end].sum()
        assert model.prob({"x": Range(at_most=end), "c": c}) == pytest.approx(below, abs=1e-8)
    assert integrals[-1] + of_points.sum() == pytest.approx(joint, abs=1e-8)
    for name, step in (("n", 1.0), ("d", 0.01)):
        numbers = cells_of(model.domain[name].law)
        densities = model.density({name: numbers, "c": [c] * len(numbers)}) * step
        missing = model.prob({name: "not asked", "c": c}) if model.domain[name].missing_label else 0.0
        assert densities.sum() + missing == pytest.approx(joint, abs=1e-8)
        np.testing.assert_allclose(
            model.cdf({name: numbers}), np.cumsum(model.density({name: numbers})) * step, atol=1e-8
        )


@few
@given(models, ends)
def test_means_are_integrals(model, bounds):
    given_ = {"c": "u", "x": Range(at_least=bounds["x"][0])}
    for name, step in (("n", 1.0), ("d", 0.01)):
        numbers = cells_of(model.domain[name].law)
        rows = model.condition(given_).density({name: numbers}) * step if model.prob(given_) > 1e-6 else None
        if rows is not None:
            assert model.expect(name, given_) == pytest.approx(rows @ numbers / rows.sum(), rel=1e-8, abs=1e-8)
    # E x = ∫ P(X > t) dt for numbers that are not negative; P is linear between the ends of pieces
    law = model.domain["x"].law
    at = np.array(sorted({0.0, *law.starts, *law.ends}))
    beyond = 1 - model.cdf({"x": at})
    before = np.array([1 - model.prob({"x": Range(below=float(x))}) for x in at])
    assert model.expect("x") == pytest.approx(np.sum((beyond[:-1] + before[1:]) / 2 * np.diff(at)), rel=1e-8)


@quick
@given(models, st.lists(st.floats(0, 1), min_size=1, max_size=8), st.sampled_from("xnd"), ends)
def test_quantiles_invert_the_cdf(model, levels, name, bounds):
    given_ = {"x": Range(at_least=bounds["x"][0])}
    if model.prob(given_) < 1e-6:
        return
    if model.domain[name].missing_label:
        given_[name] = Not("not asked")
    found = model.quantile(name, levels, given=given_)
    assert [model.quantile(name, level, given=given_) for level in levels] == found
    for level, number in zip(levels, found, strict=True):
        assert model.prob({name: Range(at_most=number)}, given=given_) >= level - 1e-9
        assert model.prob({name: Range(below=number)}, given=given_) <= level + 1e-9
    kind = {"x": float, "n": int, "d": float}[name]
    assert {type(number) for number in found} == {kind}


def test_quantiles_and_means_of_labels_that_are_numbers():
    domain = Domain((juror.Variable("s", (4, 1, 2), "ordinal"), juror.Variable("c", ("u", "v"))))
    model = JointPMF([1.0], [[[0.2], [0.5], [0.3]], [[0.5], [0.5]]], domain)
    assert model.expect("s") == pytest.approx(0.2 * 4 + 0.5 * 1 + 0.3 * 2)
    assert model.quantile("s", [0, 0.5, 0.6, 0.8, 0.81, 1]) == [1, 1, 2, 2, 4, 4]
    for ask in (model.expect, model.quantile):
        with pytest.raises(QueryError, match="'c' has labels such as 'u', which are not numbers"):
            ask("c")
    for level in (-0.1, 1.5, math.nan, "a", [0.1, "b"], [[0.1], [0.2, 0.3]], {}):
        with pytest.raises(ParameterError, match=r"^Levels of quantiles must be numbers in the range \[0, 1\]\. Got "):
            model.quantile("s", level)


# Draws and fills


@few
@given(seed=seeds, given_=st.sampled_from([None, "x >= 12.5", "n < 45, x > 0", "c = u, -1 <= d <= 0.75"]))
def test_draws_have_the_distribution(seed, given_):
    model = model_of(5)
    rows = model.sample(1500, given_, seed=seed)
    assert rows["x"].dtype == float
    assert np.all(rows["x"] >= 0)
    numbers = rows["n"].dropna()
    assert np.all(numbers == numbers.round())
    assert model.domain["n"].missing_label or rows["n"].dtype == np.int64
    assert all(x == round(x, 2) for x in rows["d"])
    if given_ == "x >= 12.5":
        assert rows["x"].min() >= 12.5
    if given_ == "n < 45, x > 0":
        assert numbers.max() < 45
        assert rows["x"].min() > 0
    if given_ == "c = u, -1 <= d <= 0.75":
        assert rows["d"].between(-1, 0.75).all()
        assert set(rows["c"]) == {"u"}
    # intervals of about equal probability; the numbers have atoms, so that some are joined
    for name in ("x", "n", "d"):
        present = model.domain[name].missing_label and {name: Not("not asked")}
        known = {**(present or {})}
        levels = np.unique([model.quantile(name, q, given_) for q in np.linspace(0.1, 0.9, 9)])
        cdf = [model.prob({name: Range(at_most=x)}, given_) for x in levels.tolist()]
        total = 1.0 - (model.prob({name: "not asked"}, given_) if known else 0.0)
        expected = np.diff([0.0, *cdf, total])
        column = rows[name].dropna()
        counts = np.histogram(np.searchsorted(levels, column, side="left"), np.arange(len(levels) + 2))[0]
        keep = expected * len(rows) > 5
        statistic = np.sum((counts - expected * len(rows))[keep] ** 2 / (expected * len(rows))[keep])
        # any seed: this happens once in ten million times
        assert statistic < stats.chi2(np.count_nonzero(keep)).isf(1e-7)


def test_draws_stay_within_the_numbers_seen_unless_more_is_asked_for():
    rng = np.random.default_rng(0)
    data = {"x": rng.exponential(size=400), "d": np.round(rng.normal(size=400), 1), "angle": rng.integers(0, 91, 400)}
    model = juror.fit(data, rank=1, method="em")
    rows = model.sample(40_000, seed=1)
    filled = model.impute({**data, "x": np.full(400, np.nan)}, draws=100, seed=1)
    for name, seen in data.items():
        assert rows[name].min() >= seen.min()
        assert rows[name].max() <= seen.max()
        # The upper end is reached.
        assert np.sum(rows[name] >= np.sort(seen)[-2]) > 0
    assert all(max(each["x"]) <= data["x"].max() for each in filled)
    top = float(data["x"].max())
    assert model.prob({"x": Range(above=top)}) > 0
    beyond = model.sample(200, {"x": Range(above=top)}, seed=1)["x"]
    assert beyond.min() > top
    assert beyond.nunique() > 100


def test_numbers_beyond_those_seen_follow_the_tail_on_either_side():
    """On grids too: decimals, whole numbers and dates."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, 300), unit="D")
    frame = pd.DataFrame({"x": rng.normal(0, 1, 300).round(3), "n": rng.integers(0, 5000, 300), "t": days})
    model = juror.fit(frame, method="em", rank=3)
    for name, known in (("x", "x > 4"), ("x", "x < -4"), ("n", "n > 5200"), ("t", "t > '2025-02-01'")):
        drawn = model.sample(1000, given=known, seed=0)[name]
        assert drawn.nunique() > 10
        below = (drawn <= model.quantile(name, 0.5, given=known)).mean()
        assert 0.42 < below < 0.6


def test_the_same_seed_draws_the_same_numbers_and_intervals():
    model = model_of(1)
    numbers, labels = model.sample(300, seed=4), model.sample(300, seed=4, numbers=False)
    pd.testing.assert_frame_equal(numbers, model.sample(300, seed=4))
    np.testing.assert_array_equal(model.domain.encode(numbers), model.domain.encode(labels))
    assert set(labels["x"]) <= set(model.domain["x"].labels)
    assert not numbers["x"].equals(model.sample(300, seed=5)["x"])


@few
@given(models, seeds)
def test_holes_get_the_median_the_mean_or_a_draw(model, seed):
    rows = model.sample(12, seed=seed % 1000)
    holed = rows.mask(np.random.default_rng(seed).random(rows.shape) < 0.4)
    filled, means = model.impute(holed), model.impute(holed, numbers="mean")
    for name in ("x", "n", "d"):
        if model.domain[name].missing_label:
            continue
        for i in np.flatnonzero(holed[name].isna()):
            known = {k: v for k, v in holed.iloc[i].items() if not pd.isna(v) and model.domain[k].missing_label is None}
            if model.domain["n"].missing_label:
                value = holed.iloc[i]["n"]
                known["n"] = "not asked" if pd.isna(value) else value
            assert filled[name][i] == pytest.approx(model.quantile(name, given=known), rel=1e-9)
            step = {"x": 0.0, "n": 1.0, "d": 0.01}[name]
            assert means[name][i] == pytest.approx(model.expect(name, known), abs=step / 2 + 1e-9)
    drawn = model.impute(holed, draws=1, seed=1)
    assert np.all(np.isfinite(model.log_density(drawn)))
    for frame in (filled, means, drawn):
        kept = holed.notna().to_numpy()
        assert np.array_equal(frame.to_numpy()[kept], rows.to_numpy()[kept])
        assert all(x == round(x, 2) for x in frame["d"])
        assert np.all(frame["x"] >= 0)
    with pytest.raises(ParameterError, match="numbers must be one of"):
        model.impute(holed, numbers="mode")


@few
@given(models)
def test_a_number_is_predicted_by_its_median(model):
    rows = model.sample(5, seed=2)[["c"]]
    found = model.predict(rows, "x")
    assert found.tolist() == [pytest.approx(model.quantile("x", given={"c": c})) for c in rows["c"]]


def test_columns_keep_their_type():
    """Whole numbers stay whole in draws and fills, also beyond 2^53, and decimals have as many digits."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "id": 2**60 + rng.integers(0, 500, 200),
            "price": rng.gamma(2.0, 10.0, 200).round(2),
            "small": rng.integers(0, 100, 200).astype(np.int16),
        }
    )
    model = juror.fit(table, rank=1, method="em")
    drawn = model.sample(300, seed=1)
    assert drawn.dtypes.tolist() == [np.int64, np.float64, np.int16]
    assert drawn["id"].nunique() > 200
    assert drawn["id"].between(2**60 - 1000, 2**60 + 1500).all()
    assert all(x == float(f"{x:.2f}") for x in drawn["price"])
    holed = table.astype({"id": "Int64"})
    holed.loc[:50, "id"] = pd.NA
    for draws in (None, 1):
        filled = model.impute(holed, draws=draws)
        assert filled["id"].dtype == "Int64"
        assert filled["id"].between(2**60 - 1000, 2**60 + 1500).all()


# Files


def test_laws_are_saved_and_loaded(tmp_path):
    model = model_of(2)
    model.save(tmp_path / "m.juror")
    loaded = juror.load(tmp_path / "m.juror")
    assert loaded.domain == model.domain
    again = pickle.loads(pickle.dumps(model))
    for other in (loaded, again):
        pd.testing.assert_frame_equal(other.sample(50), model.sample(50))
        assert other.expect("x", given="n < 40") == model.expect("x", given="n < 40")


def test_a_file_of_an_older_juror_has_uniform_laws(tmp_path):
    """Older files have one typical number of each interval and no laws."""
    domain = Domain.infer({"age": [5.0, 30.5], "sex": ["f", "m"]}, edges={"age": [0, 20, 100]})
    JointPMF([1.0], [[[0.25], [0.75]], [[0.5], [0.5]]], domain).save(tmp_path / "m.juror")
    with safe_open(tmp_path / "m.juror", framework="np") as opened:
        tensors = {name: opened.get_tensor(name).copy() for name in list(opened.keys())}
        header = json.loads(opened.metadata()["juror"])
    assert header.pop("format_version") == 4
    header.pop("sha256")
    age = next(v for v in header["domain"]["variables"] if v["name"] == "age")
    age.pop("law")
    age.pop("calendar", None)
    header["domain"]["variables"] = [
        {**({"values": [5.0, 30.5] if v is age else None}), **v} for v in header["domain"]["variables"]
    ]
    header = {"format_version": 1, **header}
    header["sha256"] = _digest(header, tensors)
    (tmp_path / "old.juror").write_bytes(save(tensors, {"juror": json.dumps(header)}))
    old = juror.load(tmp_path / "old.juror")
    assert old.prob("age < 10") == pytest.approx(0.125)
    assert old.quantile("age", [0.0, 0.25, 0.625, 1.0]) == pytest.approx([0, 20, 60, 100])
    assert old.expect("age") == pytest.approx(0.25 * 10 + 0.75 * 60)
    assert old.sample(100)["age"].between(0, 100).all()


def test_few_whole_numbers_are_filled_as_numbers_where_that_is_asked_for():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"kids": rng.choice(6, 400, p=[0.4, 0.1, 0.1, 0.1, 0.1, 0.2]), "g": rng.choice(["a", "b"], 400)}
    )
    model = juror.fit(rows, method="em", rank=1)
    hole = pd.DataFrame({"kids": [3, None], "g": ["a", "a"]})
    filled = {centre: model.impute(hole, numbers=centre)["kids"].tolist() for centre in (None, "median", "mean")}
    assert filled[None] == [3, 0]
    assert filled["median"] == filled["mean"] == [3, model.quantile("kids", 0.5)]
    assert filled["mean"][1] == 2


def test_few_fractions_measure_something_and_are_filled_by_their_median():
    rng = np.random.default_rng(0)
    # one half is the most frequent number, and the smallest: the one that is farthest from the others
    spike = rng.choice([0.5, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0], 700, p=[0.28, *[0.12] * 6])
    rows = pd.DataFrame({"spike": spike, "g": rng.choice(["a", "b"], 700)})
    model = juror.fit(rows, method="em", rank=1)
    assert model.domain["spike"].edges is None
    filled = model.impute(pd.DataFrame({"spike": [1.0, None], "g": ["a", "a"]}))["spike"].tolist()
    assert filled == [1.0, np.median(spike)]
    assert filled[1] > 0.5


def test_many_whole_numbers_measure_something_unless_an_array_holds_codes():
    # the most frequent score is the one that is farthest from the others
    score = np.repeat(np.arange(15), [60, *[12] * 14])
    rows = pd.DataFrame({"score": score, "g": np.arange(len(score)) % 2})
    model = juror.fit(rows, method="em", rank=1)
    assert model.domain["score"].labels == tuple(range(15))
    filled = model.impute(pd.DataFrame({"score": [1, None], "g": [0, 1]}))["score"].tolist()
    assert filled == [1, np.median(score)]
    assert model.predict({"g": [1]}, target="score").tolist() == [0]
    holes = np.array([[-1, 1]])
    assert juror.fit(rows.to_numpy(), method="em", rank=1).impute(holes).tolist() == [[0, 1]]


@pytest.mark.parametrize("labels", [[1, 10], [2**60 + 1, 2**60 + 3], [2**63 + 5, 2**64 - 1], [0.5, 0.7]])
def test_labels_are_filled_with_labels(labels):
    rows = pd.DataFrame({"k": np.array([labels[0]] * 11 + [labels[1]] * 9), "g": ["a", "b"] * 10})
    model = juror.fit(rows, method="em", rank=1)
    holes = pd.DataFrame({"g": ["a"]})
    assert model.impute(holes.assign(k=pd.array([None], dtype="object")), numbers="mean")["k"].tolist()[0] in labels
