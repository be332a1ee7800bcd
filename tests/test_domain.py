import datetime
import decimal
import math
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import juror
from juror.domain import Domain
from juror.domain.binning import bins_for
from juror.domain.law import uniform_law
from juror.domain.variable import Variable
from juror.errors import DataError, DataWarning, JurorError, ParameterError, QueryError

# the machine may be busy: how long an example takes is no business of these tests
examples = settings(deadline=None, max_examples=60)


def infer(values, **options):
    """The variable of one column; that it may be constant is of no interest here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Domain.infer({"a": values}, **options)["a"]


def codes_of(variable, values, unknown="error"):
    return Domain((variable,)).encode({"a": values}, unknown)[:, 0]


def typed(labels):
    # 1 == True == 1.0 in Python, but not to the person who reads the labels
    return [(type(label), label) for label in labels]


# Kinds


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        (["b", "a", "b"], "nominal", ("a", "b")),
        ([True, False], "nominal", (False, True)),
        ([3, 1, 2], "ordinal", (1, 2, 3)),
        ([3.0, 1.0, 2.0], "ordinal", (1, 2, 3)),
        ([0.5, 1.5] * 30, "ordinal", (0.5, 1.5)),
        ([0.5, 1.0] * 30, "ordinal", (0.5, 1.0)),
        ([-1, 0, 1], "ordinal", (-1, 0, 1)),
        ([-0.0, 0.0, 1.0], "ordinal", (0, 1)),
        (["1", "2"], "nominal", ("1", "2")),
        (["", " ", "a"], "nominal", ("", " ", "a")),
        (["a", "A", "ä"], "nominal", ("A", "a", "ä")),
        (pd.Categorical(["y", "x"], ["y", "x", "unseen"]), "nominal", ("y", "x", "unseen")),
        (pd.Categorical(["y", "x"], ["y", "x"], ordered=True), "ordinal", ("y", "x")),
        (list(range(20)) * 2, "ordinal", tuple(range(20))),
        (list(range(10)), "ordinal", tuple(range(10))),
        ([1e300, 1.0], "ordinal", (1.0, 1e300)),
    ],
    ids=ascii,
)
def test_kinds(values, kind, labels):
    variable = infer(values)
    assert variable.kind == kind
    assert typed(variable.labels) == typed(labels)
    assert variable.edges is None


def test_many_numbers_are_binned():
    variable = infer(list(range(33)))
    assert variable.kind == "binned"
    assert variable.open_ended


def test_few_numbers_with_fractions_that_do_not_recur_are_measurements():
    assert infer([0.5, 1.25, 7.5, 9.75]).kind == "binned"


def test_whole_numbers_that_hardly_recur_are_measurements():
    seen = [*range(12, 60, 2)]
    variable = infer(seen)
    assert (variable.kind, variable.cardinality) == ("binned", bins_for(24))
    assert codes_of(variable, [13, 70]).tolist() == codes_of(variable, [12, 58]).tolist()
    assert infer(seen * 2).kind == "ordinal"


def test_numbers_of_which_some_occur_once_are_cut_before_the_others():
    seen = [*range(0, 60, 5)] * 4
    assert infer(seen).labels == tuple(range(0, 60, 5))
    variable = infer([*seen, 7])
    assert variable.kind == "binned"
    assert variable.edges == (*range(0, 60, 5), 55)
    # a new number lies with those below it
    assert codes_of(variable, [7, 8, 12, 99]).tolist() == codes_of(variable, [5, 5, 10, 55]).tolist()
    assert infer([*seen, 7], bin_above=32).kind == "ordinal"


@pytest.mark.parametrize("weight", [0.75, 1.0, 1.001, 1.9])
def test_a_number_of_one_row_occurs_once_whatever_its_weight(weight):
    seen = {"x": [*range(0, 60, 5)] * 4 + [7], "y": ["a", "b", "b", "a"] * 12 + ["a"]}
    model = juror.fit(seen, 2, "em", n_init=1, sample_weight=np.full(49, weight))
    assert model.domain["x"].edges == (*range(0, 60, 5), 55)


def test_the_numbers_of_a_target_are_labels():
    grades = pd.DataFrame({"grade": [*range(12)] * 3 + [12], "size": [*range(12)] * 3 + [12]})
    model = juror.fit(grades, 2, "em", target="grade")
    assert [variable.kind for variable in model.domain] == ["ordinal", "binned"]


@pytest.mark.parametrize(("bin_above", "kind"), [(4, "binned"), (5, "ordinal")])
def test_bin_above(bin_above, kind):
    assert infer([1, 2, 3, 4, 5], bin_above=bin_above).kind == kind


def test_codes_are_ordinal():
    domain = Domain.infer(np.array([[0, 2], [1, -1]]))
    assert domain == Domain.from_cardinalities([2, 3])
    assert [variable.kind for variable in domain] == ["ordinal", "ordinal"]


@pytest.mark.parametrize("name", ["class", "lambda", "None", "import", "not", "__init__"])
def test_keywords_are_names(name):
    domain = Domain.infer({name: ["x", "y"]})
    assert domain.names == (name,)
    assert domain[name].labels == ("x", "y")


def test_rows_of_weight_zero_define_no_labels():
    weight = [1, 0, 1]
    assert infer(["a", "b", "c"], sample_weight=weight).labels == ("a", "c")
    assert infer([1, 2, 3], sample_weight=weight).labels == (1, 3)
    assert infer([True, True, False], sample_weight=[1, 1, 0]).labels == (True,)
    assert infer([1.0, math.inf, 2.0], sample_weight=weight).labels == (1, 2)


# Levels


@pytest.mark.parametrize(
    "levels",
    [
        ["low", "mid", "high"],
        ("low", "mid", "high"),
        np.array(["low", "mid", "high"]),
        pd.Index(["low", "mid", "high"]),
    ],
    ids=["list", "tuple", "array", "index"],
)
def test_levels_declare_an_order(levels):
    variable = infer(["high", "low", None], levels={"a": levels})
    assert (variable.kind, variable.labels) == ("ordinal", ("low", "mid", "high"))
    assert codes_of(variable, ["high", "low", None]).tolist() == [2, 0, -1]


@pytest.mark.parametrize(
    "levels", [[3, 2, 1], np.array([3, 2, 1]), pd.Index([3, 2, 1])], ids=["list", "array", "index"]
)
def test_levels_that_are_numbers(levels):
    variable = infer([1, 2, 3], levels={"a": levels})
    assert typed(variable.labels) == typed((3, 2, 1))
    assert codes_of(variable, [1, 2, 3]).tolist() == [2, 1, 0]


def test_levels_may_name_a_column_without_values():
    assert infer([None, None], levels={"a": ["x", "y"]}).labels == ("x", "y")


@pytest.mark.parametrize(
    ("levels", "words"),
    [
        ({"a": []}, "no labels"),
        ({"a": ["x", "x"]}, "twice"),
        ({"a": [1, True]}, "twice"),
        ({"a": [1, 1.0]}, "twice"),
        ({"a": ["x", None]}, "label None"),
        ({"a": ["x", math.nan]}, "label nan"),
        ({"a": [["x"], ["y"]]}, "label"),
        ({"b": ["x"]}, "There is no column 'b'"),
        ({"a": "x"}, "levels"),
        ({"a": frozenset("x")}, "levels"),
        ({"a": None}, "levels"),
        ({"a": 3}, "levels"),
        (["a"], "levels"),
        (5, "levels"),
    ],
    ids=repr,
)
def test_levels_that_are_refused(levels, words):
    # text would be cut into letters, and a set has no order to declare
    with pytest.raises(JurorError, match=words):
        infer(["x", "y"], levels=levels)


def test_labels_of_different_types_are_different():
    variable = Variable("a", (1, "1", "True", "1.0"))
    assert [variable.find(value) for value in (1, "1", 1.0, "True", "1.0")] == [0, 1, 0, 2, 3]


# Binning


def counts_of(variable, values):
    return np.bincount(codes_of(variable, values), minlength=variable.cardinality)


@examples
@given(n=st.integers(21, 300), n_bins=st.integers(1, 20), seed=st.integers(0, 2**32 - 1))
def test_quantile_bins_of_distinct_numbers_hold_nearly_equal_counts(n, n_bins, seed):
    values = np.random.default_rng(seed).permutation(n) * 0.7 - 3
    counts = counts_of(infer(values, bins=n_bins), values)
    assert len(counts) == n_bins
    assert counts.max() - counts.min() <= 1


def cut_around_an_atom(where):
    """One number two hundred times and a hundred others in six bins: the variable, the codes, which are the atom."""
    values = np.concatenate([np.full(200, where), np.arange(100) + 0.25])
    variable = infer(values, bins=6)
    return variable, codes_of(variable, values), values == where


@pytest.mark.parametrize("where", [-1.0, 0.0, 37.5, 50.0, 100.0, 101.0], ids=str)
def test_an_atom_gets_its_own_interval(where):
    _, codes, atom = cut_around_an_atom(where)
    assert len(set(codes[atom])) == 1
    assert set(codes[atom]).isdisjoint(codes[~atom])


@pytest.mark.parametrize("where", [-1.0, 0.0, 37.5, 50.0, 100.0, 101.0], ids=str)
def test_an_atom_takes_one_interval_from_the_others_wherever_it_lies(where):
    variable, codes, atom = cut_around_an_atom(where)
    others = np.bincount(codes[~atom], minlength=variable.cardinality)
    # five are left for a hundred numbers: 20 each, and some more where the atom stands in the way
    assert others.max() <= 40


def test_intervals_that_are_closer_at_the_ends_hold_fewer_rows_there():
    values = np.random.default_rng(0).permutation(10_000) / 7
    variable = infer(values, bins=20, binning="ends")
    rows = np.bincount(codes_of(variable, values))
    places = np.arange(21) / 20
    levels = 0.9 * np.sin(np.pi / 2 * places) ** 2 + 0.1 * places
    np.testing.assert_allclose(rows, 10_000 * np.diff(levels), atol=3)


def test_more_bins_than_numbers():
    variable = infer([1, 2, 2, 5], bins=10)
    assert variable.cardinality == 3
    assert codes_of(variable, [1, 2, 5]).tolist() == [0, 1, 2]


small_numbers = st.lists(st.integers(-50, 50), min_size=1, max_size=60)


@examples
@given(data=st.data(), values=small_numbers, binning=st.sampled_from(["quantile", "width", "ends"]))
def test_integer_weights_are_repeated_rows(data, values, binning):
    weights = data.draw(st.lists(st.integers(0, 4), min_size=len(values), max_size=len(values)))
    n_bins = data.draw(st.none() | st.integers(1, 12))
    assume(sum(weights) > 0)
    options = {"bins": n_bins, "binning": binning, "bin_above": 5}
    repeated = np.repeat(values, weights)
    assert infer(values, sample_weight=weights, **options) == infer(repeated, **options)


@pytest.mark.parametrize("n_bins", [1, 2, 5, 32])
def test_equal_widths(n_bins):
    values = np.random.default_rng(n_bins).normal(size=500) ** 3
    variable = infer(values, bins=n_bins, binning="width")
    assert variable.cardinality == n_bins
    assert variable.edges[0] == values.min()
    assert variable.edges[-1] == values.max()
    np.testing.assert_allclose(np.diff(variable.edges), np.ptp(values) / n_bins)


def test_equal_widths_of_a_constant():
    variable = infer([3, 3], bins=4, binning="width")
    assert variable.cardinality == 1
    assert codes_of(variable, [2, 3, 4]).tolist() == [0, 0, 0]


def test_bins_for_all_columns_or_some():
    data = {"a": range(0, 200, 2), "b": range(1, 201, 2), "c": [0, 1] * 50}
    assert Domain.infer(data, bins=4).cardinalities == (4, 4, 2)
    assert [v.kind for v in Domain.infer(data, bins=4)] == ["binned", "binned", "binned"]
    by_column = Domain.infer(data, bins={"a": 3})
    assert by_column.cardinalities == (3, bins_for(100), 2)
    assert by_column["c"].kind == "ordinal"


def test_the_number_of_bins_grows_with_the_rows():
    for n in (33, 100, 1000, 10_000):
        assert infer(np.arange(n)).cardinality == bins_for(n) == min(32, math.ceil((2 * n) ** (1 / 3)))


def test_given_edges():
    variable = infer([0, 5, 10, 20], edges={"a": [0, 10, 20]})
    assert (variable.labels, variable.edges, variable.open_ended) == (("[0, 10)", "[10, 20]"), (0, 10, 20), False)
    assert codes_of(variable, [0, 9.99, 10, 20]).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    "edges",
    [
        [0, 10, 20],
        (0.0, 10.0, 20.0),
        np.array([0, 10, 20]),
        range(0, 30, 10),
        pd.Series([0, 10, 20], index=[7, 8, 9]),
        pd.Index([0, 10, 20]),
        pl.Series([0, 10, 20]),
        pa.array([0, 10, 20]),
    ],
    ids=type,
)
def test_edges_in_any_sequence(edges):
    assert infer([0, 5, 20], edges={"a": edges}).labels == ("[0, 10)", "[10, 20]")


@pytest.mark.parametrize("sequence", [pd.to_datetime, pd.Series, pl.Series, np.array, pa.array])
def test_edges_in_any_sequence_of_dates(sequence):
    edges = [datetime.date(2020, month, 1) for month in (1, 2, 3)]
    labels = ("[2020-01-01, 2020-02-01)", "[2020-02-01, 2020-03-01]")
    assert infer(pd.date_range("2020-01-01", periods=60), edges={"a": sequence(edges)}).labels == labels


def test_edges_that_do_not_rise_are_named_in_one_line():
    with pytest.raises(ParameterError, match=r"finite numbers that rise\. Got \[0, 30, 20\]\.$"):
        infer([0, 5, 20], edges={"a": pd.Series([0, 30, 20])})


def test_given_edges_may_hold_empty_intervals():
    variable = infer([1, 2], edges={"a": [0, 10, 20, 30]})
    # nothing is known of the numbers in these but that they are whole
    assert variable.inside.masses[1:] == pytest.approx([variable.inside.masses[1]] * 2)
    assert variable.inside.means[1:] == pytest.approx([np.arange(10, 20).mean(), np.arange(20, 31).mean()])


def test_open_ended_bins_take_what_lies_beyond():
    variable = infer(range(40), bins=4)
    assert codes_of(variable, [-1e9, -1, 0, 39, 40, 1e9]).tolist() == [0, 0, 0, 3, 3, 3]
    assert (variable.labels[0], variable.labels[-1]) == ("<10", ">=30")


@pytest.mark.parametrize("value", [-0.001, 20.001, -1e300])
def test_given_edges_take_nothing_beyond(value):
    variable = infer([0, 20], edges={"a": [0, 10, 20]})
    with pytest.raises(DataError, match=r"in row 1, which is outside its edges 0 to 20\. Pass unknown="):
        codes_of(variable, [5.0, value])
    assert codes_of(variable, [5.0, value], unknown="missing").tolist() == [0, -1]
    assert variable.find(value) is None


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("options", [{}, {"edges": {"a": [0, 20, 40]}}, {"bin_above": 50}], ids=str)
def test_infinite_numbers_have_no_code(value, options):
    variable = infer(range(40), **options)
    for cells in ([5.0, value], ["5", str(value)]):
        if variable.edges is not None or cells[0] == 5.0:
            with pytest.raises(
                DataError, match=r"Column 'a' holds '?-?inf'? in row 1; numbers must be finite\. Pass unk"
            ):
                codes_of(variable, cells)
        assert codes_of(variable, cells, unknown="missing")[1] == -1
    assert variable.find(value) is None


@pytest.mark.parametrize(
    ("numbers", "options"),
    [
        ([10**18 + i for i in range(40)], {}),
        ([10**18 + i for i in range(40)], {"binning": "width"}),
        ([1.0, math.nextafter(1, 2)], {"bins": 10, "binning": "width"}),
        ([0.0, 5e-324], {"bins": 10, "binning": "width"}),
        ([0.0, 5e-324, 1e-323], {"bins": 3}),
        ([-1.7e308, 1.7e308], {"bins": 5, "binning": "width"}),
        ([-1.7e308, 0.5, 1.7e308], {"bins": 2}),
        ([-0.0, 0.0, 0.5], {"bins": 2}),
        ([i + 1e-9 * j for i in range(3) for j in range(30)], {}),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else f"{value[0]} to {value[-1]}",
)
def test_extreme_numbers_can_be_binned(numbers, options):
    variable = infer(numbers, **options)
    codes = codes_of(variable, sorted(numbers))
    assert np.all(np.diff(codes) >= 0)
    assert np.all(np.isfinite(variable.edges))
    assert len(set(variable.labels)) == variable.cardinality


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bins": 0}, r"bins must be an int in the range \[1, inf\). Got 0"),
        ({"bins": -3}, "bins must be an int"),
        ({"bins": 2.5}, "bins must be an int"),
        ({"bins": "3"}, "bins must be an int"),
        ({"bins": {"a": 0}}, "bins must be an int"),
        ({"bins": {"b": 3}}, "There is no column 'b'"),
        ({"binning": "kmeans"}, r"binning must be one of \['quantile', 'width', 'ends'\]"),
        ({"binning": None}, "binning must be one of"),
        ({"bin_above": 0}, r"bin_above must be an int in the range \[1, inf\). Got 0"),
        ({"max_levels": 0}, "max_levels must be an int"),
        ({"edges": {"b": [0, 1]}}, "There is no column 'b'"),
        ({"edges": {"a": [0]}}, "two or more finite numbers that rise"),
        ({"edges": {"a": {0, 10}}}, "two or more finite numbers that rise"),
        ({"edges": {"a": "0,10"}}, "two or more finite numbers that rise"),
        ({"edges": {"a": []}}, "two or more finite numbers that rise"),
        ({"edges": {"a": [0, 0]}}, "finite numbers that rise"),
        ({"edges": {"a": [1, 0]}}, "finite numbers that rise"),
        ({"edges": {"a": [0, math.inf]}}, "finite numbers that rise"),
        ({"edges": {"a": [0, math.nan, 1]}}, "finite numbers that rise"),
        ({"edges": [0, 1]}, "edges must be a dict of columns"),
        ({"sample_weight": [1, 1]}, r"shape \(3,\), one a row. Got \(2,\)"),
        ({"sample_weight": [[1, 1, 1]]}, r"Got \(1, 3\)"),
        ({"sample_weight": [1, -1, 1]}, "Got -1.0 in row 1"),
        ({"sample_weight": [1, math.nan, 1]}, "Got nan in row 1"),
        ({"sample_weight": [1, math.inf, 1]}, "Got inf in row 1"),
        ({"sample_weight": [0, 0, 0]}, "zero in every row"),
        # values of the wrong type deserve the same sentences
        ({"bin_above": "x"}, "bin_above must be an int"),
        ({"bin_above": 2.5}, "bin_above must be an int"),
        ({"max_levels": None}, "max_levels must be an int"),
        ({"bins": True}, "bins must be an int"),
        ({"edges": {"a": "xy"}}, "edges"),
        ({"edges": {"a": ["x", "y"]}}, "edges"),
        ({"edges": {"a": 5}}, "edges"),
        ({"edges": {"a": [[0, 1], [2, 3]]}}, "edges"),
        ({"edges": 5}, "edges"),
        ({"sample_weight": "abc"}, "sample_weight"),
        ({"sample_weight": ["x", "y", "z"]}, "sample_weight"),
    ],
    ids=ascii,
)
def test_parameters_that_are_refused(options, words):
    with pytest.raises(ParameterError, match=words):
        infer([1, 2, 3], **options)


def test_numpy_integers_are_integers():
    assert infer(range(30), bins=np.int64(5)).cardinality == 5
    assert infer(range(30), bins={"a": np.int8(5)}).cardinality == 5
    assert infer([*range(30)] * 2, bin_above=np.int64(40)).kind == "ordinal"


@pytest.mark.parametrize("option", [{"edges": {"a": [0, 1]}}, {"bins": {"a": 3}}], ids=["edges", "bins"])
@pytest.mark.parametrize("values", [["x", "y"], [True, False], pd.Categorical(["x", "y"])], ids=["text", "bool", "cat"])
def test_only_numbers_can_be_cut(values, option):
    # what was asked for by name must not be ignored
    with pytest.raises(JurorError, match="'a'"):
        infer(values, **option)


@pytest.mark.parametrize("option", [{"bins": {"x0": 4}}, {"bins": 4}, {"edges": {"x0": [0, 50, 100]}}])
def test_an_array_of_codes_cannot_be_cut(option):
    array = np.arange(0, 200, 2).reshape(-1, 1)
    with pytest.raises(JurorError, match="An array of integers holds codes, which cannot be cut into intervals"):
        Domain.infer(array, **option)
    assert Domain.infer(array.astype(float), **option)["x0"].kind == "binned"


# Round trips

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
COLUMNS = {
    "text": st.lists(st.none() | texts, min_size=1, max_size=30),
    "integers": st.lists(st.none() | st.integers(-(2**53) + 1, 2**53 - 1), min_size=1, max_size=10),
    "booleans": st.lists(st.none() | st.booleans(), min_size=1, max_size=10),
    "few floats": st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=3).map(
        lambda values: [*values, None] * 40
    ),
}


def round_trip(values):
    """Encode and decode one column."""
    variable = infer(values)
    return variable.decode(codes_of(variable, values))


def test_round_trip_notices_a_change():
    assert round_trip(["x", None, "y"]) == ["x", None, "y"]
    assert round_trip(["x", None, "y"]) != ["x", None, "z"]


@pytest.mark.parametrize("name", COLUMNS)
@examples
@given(data=st.data())
def test_decoding_gives_back_what_was_encoded(name, data):
    values = data.draw(COLUMNS[name])
    assume(any(value is not None for value in values))
    assert round_trip(values) == values


@pytest.mark.parametrize("binning", ["quantile", "width", "ends"])
@examples
@example(values=[375122542482.38, -1.0], n_bins=5)
@given(values=st.lists(st.floats(-1e12, 1e12), min_size=1, max_size=50), n_bins=st.integers(1, 12))
def test_the_numbers_of_the_law_of_an_interval_lie_in_it(values, n_bins, binning):
    # nextafter-like neighbours are in test_extreme_numbers_can_be_binned; here the spread is at least visible
    values = [round(value, 3) for value in values]
    variable = infer(values, bins=n_bins, binning=binning)
    codes = np.repeat(np.arange(variable.cardinality), 5)
    numbers = variable.inside.at(codes, np.tile(np.linspace(0, 1, 5), variable.cardinality))
    assert codes_of(variable, numbers).tolist() == codes.tolist()


def test_a_single_number_is_one_interval_whatever_rounding_does():
    assert infer([197.0], bins=10, binning="width").cardinality == 1


@examples
@given(values=st.lists(st.floats(-1e307, 1e307), min_size=1, max_size=50))
def test_quantile_bins_of_any_floats_keep_their_order(values):
    variable = infer(values, bins=5)
    codes = codes_of(variable, sorted(values))
    assert np.all(np.diff(codes) >= 0)
    assert set(codes) == set(range(variable.cardinality))
    # interval labels are how people name a bin, so they must find it
    assert [variable.find(label) for label in variable.labels] == list(range(variable.cardinality))


def test_decode_binned():
    variable = infer(range(40), bins=4)
    assert variable.decode(np.array([0, -1, 3])) == ["<10", None, ">=30"]


@pytest.mark.parametrize("code", [-2, 3, 100])
def test_decoding_a_code_that_is_none_is_refused(code):
    # −2 would count from the end and silently be another label
    with pytest.raises(JurorError, match=str(code)):
        Variable("a", ("x", "y", "z")).decode(np.array([0, code]))


# Labels


@pytest.mark.parametrize(
    ("labels", "value", "code"),
    [
        ((3, 4), "4", 1),
        (("3", "4"), 4, 1),
        (("3", "4"), 4.0, 1),
        ((3, 4), 4.0, 1),
        ((3, 4), np.int8(4), 1),
        ((3, 4), np.float32(4), 1),
        ((0.5, 1.5), "1.5", 1),
        (("0.5", "1.5"), 1.5, 1),
        ((False, True), "True", 1),
        (("False", "True"), True, 1),
        (("False", "True"), np.True_, 1),
        (("x", ""), "", 1),
        ((0, 1), -0.0, 0),
        ((1, 2**53 + 1), 2**53 + 1, 1),
        ((1, 2**53 + 1), str(2**53 + 1), 1),
        ((1, 2**53 + 1), float(2**53), None),
        ((3, 4), "x", None),
        ((3, 4), "four", None),
        ((3, 4), 4.5, None),
        ((3, 4), None, None),
        ((3, 4), math.nan, None),
        ((3, 4), math.inf, None),
        ((3, 4), 10**400, None),
        ((3, 4), [4], None),
        ((3, 4), b"4", None),
        (("a", "b"), "A", None),
        (("a", "b"), " a", None),
        (("true", "false"), True, None),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_find(labels, value, code):
    assert Variable("a", labels).find(value) == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (12, 1),
        (12.5, 1),
        ("12", 1),
        ("12.5", 1),
        ("1e1", 1),
        (np.int16(12), 1),
        ("[10, 20]", 1),
        (20, 1),
        ("x", None),
        (21, None),
        (True, None),
        ("nan", None),
        (10**400, None),
        # Python reads 1_2 as 12, no spreadsheet does
        ("1_2", None),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_find_in_intervals(value, code):
    variable = Variable("a", ("[0, 10)", "[10, 20]"), "binned", (0, 10, 20))
    assert variable.find(value) == code


@pytest.mark.parametrize(
    ("labels", "value", "words"),
    [
        (("low", "high"), "hihg", "Variable 'a' has no label 'hihg'. Did you mean 'high'?"),
        (("low", "high"), "x", r"Variable 'a' has no label 'x'. Choose from \['low', 'high'\]."),
        ((1, 2), None, r"Variable 'a' has no label None. Choose from \[1, 2\]."),
    ],
)
def test_code_names_the_labels_there_are(labels, value, words):
    with pytest.raises(QueryError, match=words):
        Variable("a", labels).code(value)


# Encoding

DOMAIN = Domain.infer({"colour": ["red", "blue"], "size": [1, 2]})


def test_encode_is_by_name_and_absent_columns_are_missing():
    assert DOMAIN.encode({"size": [2, 1], "colour": ["red", None]}).tolist() == [[1, 1], [-1, 0]]
    assert DOMAIN.encode({"size": [2]}).tolist() == [[-1, 1]]


def test_encode_no_rows():
    assert DOMAIN.encode({"colour": [], "size": []}).shape == (0, 2)
    assert DOMAIN.encode(np.zeros((0, 2), dtype=int)).shape == (0, 2)


def test_an_unknown_value_is_an_error_or_missing():
    data = {"colour": ["red", "teal", None], "size": [1, 2, 2]}
    message = (
        r"Column 'colour' holds 'teal' in row 1, which is not among its 2 labels \['blue', 'red'\]. "
        'Pass unknown="missing" to treat it as missing.'
    )
    with pytest.raises(DataError, match=message):
        DOMAIN.encode(data)
    assert DOMAIN.encode(data, unknown="missing").tolist() == [[1, 0], [-1, 1], [-1, 1]]


def test_an_unknown_code_is_an_error_or_missing():
    with pytest.raises(DataError, match=r"holds 2 in row 1, which is not a code in the range \[0, 1\]"):
        DOMAIN.encode(np.array([[0, 0], [0, 2]]))
    assert DOMAIN.encode(np.array([[0, 0], [0, 2]]), unknown="missing").tolist() == [[0, 0], [0, -1]]


def test_a_category_that_no_row_shows_is_not_unknown():
    assert DOMAIN.encode({"colour": pd.Categorical(["red"], ["teal", "red"])}).tolist() == [[1, -1]]


def test_the_type_of_a_column_may_change_between_tables():
    domain = Domain.infer({"n": [1, 2], "t": ["1", "2"], "b": [True, False]})
    assert domain.encode({"n": ["2", "1"], "t": [2, 1], "b": ["True", "False"]}).tolist() == [[1, 1, 1], [0, 0, 0]]


def test_a_column_nobody_knows():
    with pytest.raises(
        DataError, match=r"have a column 'color' that the model does not know\. Did you mean 'colour'\?"
    ):
        DOMAIN.encode({"color": ["red"]})


@pytest.mark.parametrize("unknown", ["ignore", None, True])
def test_unknown_is_one_of_three(unknown):
    with pytest.raises(ParameterError, match="unknown must be one of \\['error', 'warn', 'missing'\\]"):
        DOMAIN.encode({"colour": ["red"]}, unknown=unknown)


def test_a_domain_remembers_its_markers():
    domain = Domain.infer({"a": ["x", "?", "y"]}, missing=["?"])
    assert domain.missing == ("?",)
    assert domain.encode({"a": ["?", "y"]}).tolist() == [[-1], [1]]
    assert domain.without([]).missing == ("?",)


def test_domains_and_variables_show_what_they_hold():
    domain = Domain.infer({"size": list("SML") * 20, "age": np.arange(60.0) + 5})
    assert repr(domain) == "Domain(2 variables: size, age)"
    assert repr(domain["size"]) == "Variable('size', ['L', 'M', 'S'], 'nominal')"
    assert repr(domain["age"]) == "Variable('age', ['<17', '[17, 29)', '[29, 41)', '[41, 53)', '>=53'], 'binned')"
    assert repr(Domain.from_cardinalities([2] * 9)) == "Domain(9 variables: x0, x1, x2, x3, x4, x5, …)"


# What is refused, and what is warned of


@pytest.mark.parametrize("values", [["x", "x"], [1, 1], [True, None], [0.5] * 5, pd.Categorical(["x"])], ids=ascii)
def test_a_constant_column_warns(values):
    with pytest.warns(DataWarning, match="Column 'a' is constant: its only label is"):
        Domain.infer({"a": values})


@pytest.mark.parametrize(("value", "written"), [(0.5, "0.5"), (datetime.date(2024, 2, 29), "2024-02-29")])
def test_a_constant_number_is_named(value, written):
    with pytest.warns(DataWarning, match=f"Column 'a' is constant: its only value is {written}. It says nothing"):
        Domain.infer({"a": [value, None, value]})


def test_a_single_interval_is_not_called_constant():
    with pytest.warns(DataWarning, match="Column 'a' has one interval, of all its values. It says nothing"):
        Domain.infer({"a": [0.5, 1.5, 2.5]}, bins=1)


def test_a_constant_array_of_codes_warns():
    with pytest.warns(DataWarning, match="Column 'x1' is constant"):
        Domain.infer(np.array([[0, 0], [1, 0]]))


@pytest.mark.parametrize(
    "values",
    [[None, None], [math.nan], ["?", "?"], [-9, None], pd.Categorical([None], ["x", "y"]), np.array([math.nan])],
    ids=ascii,
)
def test_a_column_without_values_is_refused(values):
    with pytest.raises(DataError, match=r"Column 'a' holds no value, only missing ones\. Drop it"):
        Domain.infer({"a": values}, missing=["?", -9])


def test_a_column_of_codes_without_values_is_refused():
    with pytest.raises(DataError, match="Column 'x1' holds no value"):
        Domain.infer(np.array([[0, -1], [1, -1]]))


def test_all_columns_without_values_are_named_at_once():
    empty = {"a": [None, None], "b": ["x", "y"], "c": [np.nan, np.nan]}
    with pytest.raises(DataError, match=r"Column 'a' holds no value.* The same holds for \['c'\]\.$"):
        Domain.infer(pd.DataFrame(empty))
    assert Domain.infer(pd.DataFrame(empty), levels={"a": ["p", "q"]}, edges={"c": [0, 1]}).names == ("a", "b", "c")


def test_too_many_levels():
    with pytest.raises(DataError, match="Column 'a' has 1001 distinct labels, more than max_levels = 1000"):
        infer([f"id{i}" for i in range(1001)])
    assert infer([f"id{i}" for i in range(1001)], max_levels=1001).cardinality == 1001
    names = [f"id{i}" for i in range(1001)]
    with pytest.raises(DataError, match=r"Column 'a' has 1001 .* raise max_levels.* The same holds for \['c', 'd'\]\."):
        Domain.infer({"a": names, "b": ["x"] * 1001, "c": names, "d": names[::-1]})
    with pytest.raises(DataError, match="max_levels = 3"):
        Domain.infer(np.array([[0], [3]]), max_levels=3)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([datetime.time(1)], "'a' holds durations or times of day"),
        ([datetime.timedelta(1)], "'a' holds durations or times of day"),
        ([1, "x"], "'a' mixes values of type int and str"),
        ([1.5, "x"], "'a' mixes values of type float and str"),
        ([True, "x"], "'a' mixes values of type bool and str"),
        ([True, 2], "'a' mixes values of type bool and int"),
        ([[1], [2]], "'a' holds values of type list"),
        ([(1, 2), (3, 4)], "'a' holds values of type list"),
        ([{"k": 1}], "'a' holds values of type struct"),
        ([1.0, math.inf], "'a' holds inf in row 1; numbers must be finite"),
        ([1.0, 2.0, -math.inf], "'a' holds -inf in row 2; numbers must be finite"),
        ([Fraction(1, 2)], "'a' cannot be read"),
        ([decimal.Decimal("Infinity")], "'a'"),
        ([decimal.Decimal("1e400"), decimal.Decimal(1)], "'a'"),
    ],
    ids=ascii,
)
def test_values_that_have_no_distribution_are_refused(values, words):
    with pytest.raises(DataError, match=words):
        Domain.infer({"a": values})


def test_the_way_out_of_infinity_works():
    assert infer([1.0, math.inf, 2.0], missing=[float("inf")]).labels == (1, 2)


NUMBERS_AS_TEXT = [str(number) for number in range(12)]


@pytest.mark.parametrize("strangers", [["?"], ["NA"], ["?", "n/a"], ["nan"], ["NaN"], [""], ["1_0"]], ids=str)
def test_numbers_hidden_in_text_are_warned_of(strangers):
    with pytest.warns(DataWarning, match="Column 'a' is read as text, but all its labels are numbers except") as caught:
        Domain.infer({"a": NUMBERS_AS_TEXT + strangers})
    assert all(repr(stranger) in str(caught[0].message) for stranger in strangers)
    assert "make the column of a frame numbers, for example with pandas.to_numeric" in str(caught[0].message)


def test_markers_that_nobody_named_are_warned_of_once():
    table = {"a": ["NA", "x", "y"], "b": ["u", "?", "NA"], "c": ["none", "-", "unknown"]}
    with pytest.warns(DataWarning) as caught:
        domain = Domain.infer(table)
    assert [str(each.message) for each in caught] == [
        "Columns ['a', 'b'] have labels such as ['?', 'NA'], which often mean missing. Pass missing=['?', 'NA'] if so; "
        "otherwise nothing is wrong."
    ]
    assert domain["a"].labels == ("NA", "x", "y")
    with pytest.warns(DataWarning, match="Column 'a' has the label 'NA', which often means missing. Pass missing="):
        Domain.infer(table, missing=["?"], levels={"b": ["u", "NA"]})


def test_markers_that_were_named_or_listed_are_not_warned_of():
    # a warning would be an error here
    table = {"a": ["NA", "x", "y"], "b": pd.Categorical(["NA", "x", "z"])}
    assert Domain.infer(table, levels={"a": ["NA", "x", "y"]})["b"].labels == ("NA", "x", "z")
    assert Domain.infer(table, missing=["NA"])["a"].labels == ("x", "y")


WRITTEN = [
    (
        [f"${n},234.50" for n in range(1, 13)],
        r"numbers with signs, such as '\$1,234.50'. To have them as numbers, remove",
    ),
    ([f"{n} %" for n in range(12)], "numbers with signs, such as '0 %'"),
    ([f"{n}.5" for n in range(12)], "numbers, such as '0.5'. Make them numbers, or categories if they are names"),
    (
        [f"2024-03-{n}" for n in range(10, 30)],
        "dates, such as '2024-03-10'. Make them dates, with pandas.to_datetime for example, or pass the path",
    ),
    (
        [f"{n}/3/24 1:30 pm" for n in range(10, 30)],
        "dates, such as '10/3/24 1:30 pm'. Make them dates, with pandas.to_datetime for example, or write them",
    ),
    ([f"{n} March 2024" for n in range(10, 30)], "dates, such as '10 March 2024'"),
]


@pytest.mark.parametrize(("cells", "words"), WRITTEN, ids=ascii)
@pytest.mark.parametrize("most", [1000, 5])
def test_values_in_writing_are_warned_of(cells, words, most):
    if most == 1000:
        with pytest.warns(DataWarning, match=f"Column 'a' is read as text, but all its labels are {words}") as caught:
            assert Domain.infer({"a": cells})["a"].labels == tuple(sorted(cells))
        assert len(caught) == 1
    else:
        with pytest.raises(DataError, match=f"more than max_levels = 5. All of these are {words}"):
            Domain.infer({"a": cells}, max_levels=most)


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS_AS_TEXT,
        [*NUMBERS_AS_TEXT, "x", "y", "z"],
        ["1", "2", "more"],
        ["low", "high"],
        [f"{n}%" for n in range(9)],
        [f"1.2.{n}" for n in range(12)],
        [f"00{n}.5" for n in range(12)],
        [f"May {n}" for n in range(12)],
    ],
    ids=["all numbers", "three strangers", "few numbers", "words", "few shares", "chapters", "zeros", "streets"],
)
def test_other_text_is_not_warned_of(values):
    # a warning would be an error here
    assert Domain.infer({"a": values})["a"].kind == "nominal"


@pytest.mark.parametrize(
    ("cells", "words", "no_words"),
    [
        ([f"{n},156" for n in range(1, 13)], "If commas group thousands, remove them from the data; if they are", "-"),
        ([f"{n},156,000" for n in range(1, 13)], "If commas group its thousands, remove them", "decimal"),
        ([*(f"{n},156" for n in range(1, 13)), "987"], "If commas group thousands, remove them", "-"),
        ([f"{n},5" for n in range(12)], "numbers with a decimal comma, pass decimal=','", "thousands"),
        ([*(f"{n},5" for n in range(12)), "7"], "numbers with a decimal comma, pass decimal=','", "thousands"),
    ],
    ids=["either", "thousands", "also without a comma", "decimals", "also whole"],
)
@pytest.mark.parametrize("most", [1000, 5])
def test_commas_in_numbers_are_not_taken_for_what_they_may_not_be(cells, words, no_words, most):
    if most == 1000:
        with pytest.warns(DataWarning) as caught:
            Domain.infer({"a": cells})
        text = str(caught[0].message)
    else:
        with pytest.raises(DataError) as refused:
            Domain.infer({"a": cells}, max_levels=most)
        text = str(refused.value)
    assert words in text
    assert no_words not in text


# The classes themselves


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Variable("", ("x",)), "name must be text that is not empty"),
        (lambda: Variable(" ", ("x",)), "name must be text that is not empty"),
        (lambda: Variable(3, ("x",)), "name must be text"),
        (lambda: Variable("a", ()), "no labels"),
        (lambda: Variable("a", ("x", "x")), "twice"),
        (lambda: Variable("a", (1, True)), "twice"),
        (lambda: Variable("a", (0.0, -0.0)), "twice"),
        (lambda: Variable("a", (None,)), "label None"),
        (lambda: Variable("a", (math.nan,)), "label nan"),
        (lambda: Variable("a", (b"x",)), "label b'x'"),
        (lambda: Variable("a", ("x",), "interval"), "kind must be one of"),
        (lambda: Variable("a", ("x",), "binned"), "edges and a law go with kind='binned'"),
        (lambda: Variable("a", ("x",), "nominal", (0, 1)), "edges and a law go with kind='binned'"),
        (lambda: Variable("a", ("x",), "nominal", law=uniform_law((0, 1))), "edges and a law go with kind='binned'"),
        (lambda: Variable("a", ("x",), "binned", (0, 1, 2)), "1 intervals but 3 edges"),
        (lambda: Variable("a", ("x",), "binned", (1, 0)), "finite and rise"),
        (lambda: Variable("a", ("x",), "binned", (0, math.inf)), "finite and rise"),
        (lambda: Variable("a", ("x",), "binned", (0, math.nan)), "finite and rise"),
        (lambda: Variable("a", ("x",), "binned", (0, 1), (0.5,)), "law of 'a' must be a juror.Law. Got"),
        # [0, 0) would hold no number
        (lambda: Variable("a", ("x", "y"), "binned", (0, 0, 1)), "finite and rise"),
        (lambda: Domain(()), "at least one variable"),
        (lambda: Domain((Variable("a", ("x",)), Variable("a", ("y",)))), "must be unique"),
        (lambda: Domain.from_cardinalities([]), "at least one variable"),
        (lambda: Domain.from_cardinalities([2, 0]), "Cardinality 1 must be an int"),
        (lambda: Domain.from_cardinalities([2.5]), "Cardinality 0 must be an int"),
        (lambda: Domain.from_cardinalities([True]), "Cardinality 0 must be an int"),
        (lambda: Domain.from_cardinalities(["2"]), "Cardinality 0 must be an int"),
    ],
    ids=[f"{i}" for i in range(27)],
)
def test_variables_and_domains_that_cannot_be(make, words):
    with pytest.raises(JurorError, match=words):
        make()


def test_a_domain_is_a_sequence_of_variables_with_names():
    domain = Domain.from_cardinalities([2, np.int64(3), 4])
    assert domain.names == ("x0", "x1", "x2")
    assert domain.cardinalities == (2, 3, 4)
    assert len(domain) == 3
    assert list(domain) == [domain[0], domain[1], domain[2]]
    assert domain["x2"] is domain[2] is domain[-1] is domain[np.int8(2)]
    assert "x1" in domain
    assert "x9" not in domain
    assert domain.without([1]).names == ("x0", "x2")


@pytest.mark.parametrize("key", [3, -4, "x9", "X0", None, True, 1.0, ("x0",), ["x0"], slice(0, 2), {"x0"}], ids=repr)
def test_a_key_that_is_no_variable(key):
    with pytest.raises(QueryError, match="There is no variable"):
        Domain.from_cardinalities([2, 3, 4])[key]


def test_markers_may_be_an_array():
    variable = juror.Variable("a", ("x",))
    assert juror.Domain((variable,), np.array(["?", "!"])).missing == ("?", "!")
    assert juror.Domain((variable,), np.array([])).missing == ()
