"""Densities and cumulative probabilities in original units, against the dense tensor and against integrals."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import Domain, JointPMF, Variable
from juror.answers import continuous
from juror.domain.grid import Grid
from juror.domain.law import Law
from juror.errors import DataError, ParameterError, QueryError, ZeroProbabilityError
from juror.testing import dense, random_model

quick = settings(max_examples=40, deadline=None)

AGE = Variable("age", ("[0, 18)", "[18, 65)", "[65, 120]"), "binned", (0, 18, 65, 120))
SIZE = Variable("size", (1, 2, 4), "ordinal")
COLOUR = Variable("colour", ("red", "blue"))
PRICE = Variable("price", ("<10", "[10, 20)", ">=20"), "binned", (5.0, 10.0, 20.0, 90.0), open_ended=True)
# a last interval of one point, as quantiles of numbers with a frequent largest one have
CAPPED = Variable("capped", ("<10", ">=10"), "binned", (0, 10, 10), open_ended=True)
DOMAIN = Domain((AGE, SIZE, COLOUR, PRICE, CAPPED))
MODEL = random_model(DOMAIN.cardinalities, 4, np.random.default_rng(0), domain=DOMAIN)
Z = dense(MODEL)


def weights_below(variable, value):
    """Return how much of every label counts for P(X ≤ value), by the definition, label by label."""
    if value is None:
        return np.ones(variable.cardinality)
    if value in variable.labels or variable.edges is None:
        return np.arange(variable.cardinality) <= variable.labels.index(value)
    weights = []
    for low, high in zip(variable.edges, variable.edges[1:], strict=False):
        part = (value - low) / (high - low) if high > low else float(value >= low)
        weights.append(min(1.0, max(0.0, part)))
    return np.array(weights)


def cdf_by_definition(row):
    weights = [weights_below(v, row[v.name]) if v.name in row else np.ones(v.cardinality) for v in DOMAIN]
    return np.einsum("abcde,a,b,c,d,e->", Z, *weights)


def density_by_definition(row):
    at, volume = [slice(None)] * len(DOMAIN), 1.0
    for n, v in enumerate(DOMAIN):
        if row.get(v.name) is not None:
            code = v.code(row[v.name])
            at[n] = code
            if v.edges is not None:
                # a value that recurs has a probability instead of a density
                volume *= v.edges[code + 1] - v.edges[code] or 1.0
    return Z[tuple(at)].sum() / volume


def assert_close(actual, expected, atol=1e-12):
    actual, expected = np.asarray(actual), np.asarray(expected, dtype=float)
    assert actual.dtype == np.float64
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=atol)


@pytest.mark.parametrize(
    "wrong", [[0.5 + 1e-6], [np.nan], [np.inf], 0.5, [0.5, 0.5], [1]], ids=["off", "nan", "inf", "scalar", "two", "int"]
)
def test_assert_close_rejects_wrong_answers(wrong):
    with pytest.raises(AssertionError):
        assert_close(wrong, [0.5])


CELLS = {
    "age": st.none() | st.floats(0, 120) | st.sampled_from([0.0, 18.0, 65.0, 120.0]),
    "size": st.none() | st.sampled_from(SIZE.labels),
    "price": st.none() | st.floats(5, 90) | st.sampled_from([5.0, 10.0, 20.0, 90.0]),
    "capped": st.none() | st.floats(0, 10) | st.sampled_from([0.0, 10.0]),
}


@quick
@given(st.fixed_dictionaries(CELLS))
def test_the_cdf_is_a_sum_over_the_dense_tensor(row):
    frame = pd.DataFrame([row]).astype(dict.fromkeys(row, float))
    assert_close(MODEL.cdf(frame), [cdf_by_definition(row)])


@quick
@given(st.fixed_dictionaries(CELLS | {"colour": st.none() | st.sampled_from(COLOUR.labels)}))
def test_the_density_is_a_cell_of_the_dense_tensor_over_its_volume(row):
    frame = pd.DataFrame([row]).astype({name: float for name in row if name != "colour"}).astype({"colour": "string"})
    assert_close(MODEL.density(frame), [density_by_definition(row)])
    assert_close(MODEL.log_density(frame), [np.log(density_by_definition(row))])


def test_absent_columns_and_missing_cells_are_summed_out():
    assert_close(MODEL.cdf({"age": [30.0, None]}), [cdf_by_definition({"age": 30.0}), 1.0])
    assert_close(MODEL.density({"age": [30.0, None]}), [density_by_definition({"age": 30.0}), 1.0])
    assert MODEL.cdf({"age": [None], "colour": [None]}) == [1.0]


def test_blocks_of_rows_change_nothing(monkeypatch):
    ages = np.linspace(0, 120, 23)
    whole = MODEL.cdf({"age": ages, "size": [1, 2, 4, None] * 5 + [1, 2, 4]})
    monkeypatch.setattr(continuous, "_MASSES_AT_ONCE", 10)
    np.testing.assert_array_equal(MODEL.cdf({"age": ages, "size": [1, 2, 4, None] * 5 + [1, 2, 4]}), whole)


def test_no_rows_have_no_answers():
    empty = pd.DataFrame({"age": pd.Series([], dtype=float)})
    assert MODEL.cdf(empty).shape == MODEL.density(empty).shape == (0,)


# The density and the cdf belong together


def pieces(variable, end):
    """Return midpoints and lengths of what lies below a number, cut at the edges and once more in each interval."""
    cuts = sorted({*variable.edges, *np.convolve(variable.edges, [0.5, 0.5], "valid"), end})
    cuts = np.array([cut for cut in cuts if cut <= end])
    return (cuts[1:] + cuts[:-1]) / 2, np.diff(cuts)


def integral_of_density(model, age, price, others):
    """Integrate over age and price and sum over the others' labels; the midpoint rule is exact between the edges."""
    grid = list(product(zip(*pieces(AGE, age), strict=True), zip(*pieces(PRICE, price), strict=True), *others.values()))
    if not grid:
        return 0.0
    columns = {"age": [cell[0][0] for cell in grid], "price": [cell[1][0] for cell in grid]}
    columns |= {name: [cell[n] for cell in grid] for n, name in enumerate(others, start=2)}
    return model.density(columns) @ np.array([cell[0][1] * cell[1][1] for cell in grid])


def test_the_density_integrates_to_one():
    everything = integral_of_density(MODEL, 120, 90, {"size": SIZE.labels, "colour": COLOUR.labels})
    assert_close(everything, 1.0)


@quick
@given(st.floats(0, 120), st.floats(5, 90), st.sampled_from(SIZE.labels))
def test_the_cdf_is_the_integral_of_the_density(age, price, size):
    integral = integral_of_density(MODEL, age, price, {"size": [label for label in SIZE.labels if label <= size]})
    assert_close(MODEL.cdf({"age": age, "price": price, "size": size}), [integral])


@quick
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_the_cdf_never_falls_and_ends_at_one(seed, rank):
    model = random_model(DOMAIN.cardinalities, rank, np.random.default_rng(seed), domain=DOMAIN, zeros=0.3)
    steps = np.linspace(5, 90, 400)
    for name, top in (("age", 120), ("price", 90), ("capped", 10)):
        along = steps * (top / 90)
        others = {"size": np.full(400, 2)} if name == "price" else {}
        values = model.cdf({name: along, **others})
        assert np.all(np.diff(values) >= -1e-15)
        assert values.max() <= 1.0
    assert_close(model.cdf({"age": 120, "size": 4, "price": 90.0, "capped": 10}), [1.0])


# Edges, points and what lies outside


def test_a_closed_variable_has_nothing_outside_its_edges():
    assert MODEL.cdf({"age": [-5.0, -np.inf, 121.0, np.inf]}).tolist() == pytest.approx([0, 0, 1, 1], abs=1e-12)
    assert MODEL.cdf({"age": [-1e-9, 0.0]}).tolist() == [0.0, 0.0]


def test_infinity_is_an_end_of_an_open_ended_variable_too():
    assert_close(MODEL.cdf({"price": [-np.inf, np.inf]}), [0.0, 1.0])
    with pytest.raises(DataError, match="holds inf in row 1; numbers must be finite"):
        MODEL.density({"price": [2.0, np.inf]})


def test_a_point_has_all_its_probability_at_once():
    at_point = MODEL.prob({"capped": ">=10"})
    before, at = MODEL.cdf({"capped": [np.nextafter(10, 0), 10.0]})
    assert at - before == pytest.approx(at_point, abs=1e-12)
    assert_close(MODEL.density({"capped": [10.0, 9.0]}), [at_point, MODEL.prob({"capped": "<10"}) / 10])
    assert MODEL.prob({"capped": 10}) == pytest.approx(at_point, rel=1e-12)
    assert MODEL.prob({"capped": 9}) == 0.0


def test_an_impossible_point_has_density_zero():
    model = JointPMF([1.0], [[[1.0], [0.0]]], Domain((CAPPED,)))
    assert model.density({"capped": [10.0]}).tolist() == [0.0]
    assert model.log_density({"capped": [10.0]}).tolist() == [-np.inf]


def test_points_in_the_middle_count_from_their_number_on():
    law = Law(Grid(), (0.0, 0.0, 5.0, 5.0), (0.0, 5.0, 5.0, 10.0), (0.1, 0.2, 0.3, 0.4))
    variable = Variable("x", ("a", "b"), "binned", (0.0, 5.0, 10.0), law)
    model = JointPMF([1.0], [[[0.3], [0.7]]], Domain((variable,)))
    assert_close(model.cdf({"x": [-1.0, 0.0, 2.5, 4.999999, 5.0, 7.5, 10.0]}), [0, 0.1, 0.2, 0.29999996, 0.6, 0.8, 1])
    assert model.density({"x": [0.0, 2.0, 5.0, 7.0]}).tolist() == pytest.approx([0.1, 0.04, 0.3, 0.08])
    assert model.density({"x": ["a", "b"]}).tolist() == pytest.approx([0.3, 0.7])


def test_the_largest_numbers_do_not_overflow():
    variable = Variable("x", ("a", "b"), "binned", (-1.7e308, 1.7e308, 1.75e308))
    model = JointPMF([1.0], [[[0.5], [0.5]]], Domain((variable,)))
    assert_close(model.cdf({"x": [-1.7e308, 0.0, 1.7e308, 1.75e308]}), [0, 0.25, 0.5, 1])
    assert model.density({"x": [0.0]})[0] == pytest.approx(0.25 / 1.7e308)


def test_a_density_beyond_all_floats_is_infinite():
    narrow = [Variable(f"x{n}", ("a",), "binned", (0.0, 1e-200)) for n in range(2)]
    model = JointPMF([1.0], [[[1.0]]] * 2, Domain(tuple(narrow)))
    assert model.density({"x0": [0.0], "x1": [0.0]}) == [np.inf]
    assert_close(model.log_density({"x0": [0.0], "x1": [0.0]}), [400 * np.log(10)])


def test_beyond_all_numbers_of_an_open_ended_law_there_is_nothing():
    """The uniform law of a variable without numbers ends at its edges, 5 and 90."""
    assert_close(MODEL.density({"price": [4.999, 90.001, -1.0, 1e300]}), [0.0] * 4)
    assert_close(MODEL.cdf({"price": [4.999, 90.001, -1.0, 1e300]}), [0.0, 1.0, 0.0, 1.0])
    assert_close(MODEL.cdf({"price": [1e300], "age": [30.0]}), MODEL.cdf({"age": [30.0]}))


def test_a_density_outside_closed_edges_is_unknown():
    with pytest.raises(DataError, match=r"'age' holds 121.0 in row 0, which is outside its edges 0 to 120\. Pass"):
        MODEL.density({"age": [121.0]})
    assert_close(MODEL.density({"age": [121.0]}, unknown="missing"), [1.0])


# Labels, and every form in which numbers come


def test_an_interval_counts_in_full():
    assert_close(MODEL.cdf({"price": list(PRICE.labels)}), MODEL.cdf({"price": [10.0, 20.0, 90.0]}))
    assert_close(
        MODEL.density({"price": list(PRICE.labels)}), MODEL.density({"price": [7.0, 11.0, 90.0]}) * [5, 10, 70]
    )


def test_labels_and_numbers_as_text_may_stand_together():
    column = {"price": ["[10, 20)", "12.5", None]}
    assert_close(MODEL.cdf(column), [*MODEL.cdf({"price": [20.0, 12.5]}), 1.0])
    assert_close(MODEL.density(column), [MODEL.prob({"price": "[10, 20)"}), *MODEL.density({"price": [12.5]}), 1.0])


def test_a_label_that_reads_as_a_number_is_the_label():
    variable = Variable("x", ("1", "2"), "binned", (0.0, 10.0, 20.0))
    model = JointPMF([1.0], [[[0.25], [0.75]]], Domain((variable,)))
    assert_close(model.cdf({"x": ["1", "2", "4"]}), [0.25, 1.0, 0.1])
    assert_close(model.density({"x": ["1", "2", "4"]}), [0.25, 0.75, 0.025])


@pytest.mark.parametrize(
    "as_frame",
    [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).to_arrow()],
    ids=["pandas", "polars", "pyarrow"],
)
def test_every_frame_gives_the_same(as_frame):
    columns = {"age": [70, 3, 70], "price": [33.25, 7.0, 7.0]}
    rows = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    assert_close(MODEL.cdf(as_frame(columns)), [cdf_by_definition(row) for row in rows])
    assert_close(MODEL.density(as_frame(columns)), MODEL.density(columns))


def test_unused_categories_are_not_looked_at():
    category = pd.Categorical(["[10, 20)"], categories=["[10, 20)", "1000"])
    assert_close(MODEL.cdf(pd.DataFrame({"price": category})), MODEL.cdf({"price": [20.0]}))


def test_codes_are_intervals_and_floats_are_numbers():
    model = JointPMF([1.0], [[[0.2], [0.3], [0.5]], [[0.4], [0.6]]], Domain((AGE, Variable("n", (0, 1), "ordinal"))))
    assert_close(model.cdf(np.array([[1, 0], [2, -1]])), [0.5 * 0.4, 1.0])
    assert_close(model.density(np.array([[1, 0], [2, -1]])), [0.3 * 0.4, 0.5])
    assert_close(model.density(np.array([[20.0, 0], [100.0, np.nan]])), [0.3 / 47 * 0.4, 0.5 / 55])
    assert_close(model.cdf(np.array([[9.0, 0], [np.nan, 0]])), [0.1 * 0.4, 0.4])


@pytest.mark.parametrize("number", [-np.inf, -1.0, 0, 0.5, 1, 2.5, 3, 5, 6.5, 2**62, np.inf])
def test_labels_that_are_numbers_are_steps_of_the_cdf(number):
    model = juror.fit({"k": [1, 3, 3, 5, 5, 5, None], "y": ["a", "b"] * 3 + ["a"]}, 2, "em", missing_as={"k": "none"})
    expected = sum(model.prob({"k": label}) for label in (1, 3, 5) if label <= number)
    assert_close(model.cdf({"k": [number]}), [expected])


def test_labels_whose_order_was_declared_are_no_steps():
    model = JointPMF([1.0], [[[0.25], [0.75]]], Domain((Variable("k", (5, 1), "ordinal"),)))
    assert_close(model.cdf({"k": [5, 1]}), [0.25, 1.0])
    with pytest.raises(DataError, match="holds 2 in row 0, which is not among its 2 labels"):
        model.cdf({"k": [2]})


def test_a_nominal_variable_has_no_cdf():
    with pytest.raises(QueryError) as raised:
        MODEL.cdf({"age": [30.0], "colour": ["red"]})
    assert str(raised.value) == (
        "Variable 'colour' is nominal, so its labels have no order to add up in. Leave its column out, or declare "
        "their order with Domain.infer(data, levels={...})."
    )
    assert_close(MODEL.cdf({"age": [30.0], "colour": [None]}), MODEL.cdf({"age": [30.0]}))


BAD = {
    "an unknown column": ({"agee": [1.0]}, {}, DataError, "a column 'agee' that the model does not know. Did you mean"),
    "a label that is no interval": ({"age": ["old"]}, {}, DataError, "'old' in row 0, which is neither a number nor"),
    "an unknown ordinal label": (
        {"size": ["three"]},
        {},
        DataError,
        "holds 'three' in row 0, which is not among its 3 labels",
    ),
    "a wrong unknown": ({"price": [500.0]}, {"unknown": "drop"}, ParameterError, "unknown must be one of"),
}


@pytest.mark.parametrize("ask", ["density", "cdf"])
@pytest.mark.parametrize("case", BAD)
def test_bad_rows_are_refused(case, ask):
    data, options, kind, sentence = BAD[case]
    with pytest.raises(kind) as raised:
        getattr(MODEL, ask)(data, **options)
    assert sentence in str(raised.value)


# Fits


def test_a_fit_of_dependent_numbers_approaches_their_distribution():
    """Of u uniform and v uniform below u: density 1/u, P(U ≤ a, V ≤ b) = b (1 − log(b / a)) for b ≤ a, else a."""
    rng = np.random.default_rng(0)
    grid = np.array(list(product(np.linspace(0.1, 1, 7), repeat=2)))
    a, b = grid.T
    truth = np.where(b < a, b * (1 + np.log(a / b)), a)
    worst = []
    for n in (300, 20_000):
        u = rng.random(n)
        data = {"u": u, "v": u * rng.random(n)}
        ends = np.linspace(0, 1, 11)
        domain = Domain.infer(data, edges={"u": ends, "v": ends})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", juror.FitWarning)
            model = juror.fit(data, domain=domain, rank=6, n_init=1)
        worst.append(np.abs(model.cdf({"u": a, "v": b}) - truth).max())
    assert worst[1] < 0.02
    assert worst[1] < worst[0]


def test_quantile_bins_answer_in_the_units_of_the_data():
    rng = np.random.default_rng(1)
    x = rng.exponential(1000.0, 5000)
    model = juror.fit({"x": x}, rank=1, smoothing=0.0)
    at = np.quantile(x, np.linspace(0, 1, 50))
    np.testing.assert_allclose(model.cdf({"x": at}), [np.mean(x <= value) for value in at], atol=0.03)
    inner = at[5:40]
    np.testing.assert_allclose(model.density({"x": inner}), np.exp(-inner / 1000) / 1000, rtol=0.35)


@pytest.mark.parametrize(
    ("cells", "condition", "between"),
    [
        (range(100, 200), "x > 99999", r"'x' has no numbers there, as under this model they lie between -?\d+ and \d+"),
        (pd.date_range("2020-01-01", periods=100), "x < 1000-01-01", r"between \d{4}-\d\d-\d\d and \d{4}-\d\d-\d\d"),
    ],
    ids=["numbers", "dates"],
)
def test_conditions_beyond_all_numbers_are_refused_with_their_range(cells, condition, between):
    model = juror.fit({"x": cells, "kind": ["a", "b"] * 50}, 1, "em")
    with pytest.raises(ZeroProbabilityError, match=between) as refused:
        model.ask(f"kind | {condition}")
    assert "smoothing" not in str(refused.value)
