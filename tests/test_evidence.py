import itertools
import math
import operator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror.domain import Domain
from juror.domain.binning import parts_of
from juror.domain.evidence import Not, Range, both, check_event, describe, divided_for, read_evidence, weights_of
from juror.domain.variable import Variable
from juror.errors import QueryError
from juror.model import JointPMF
from juror.testing import dense, random_forest_model

examples = settings(deadline=None, max_examples=80)

COLOUR = Variable("colour", ("red", "green", "blue"))
SAFETY = Variable("safety", ("low", "med", "high"), "ordinal")
DOORS = Variable("doors", (2, 3, 4, 6), "ordinal")
DOSE = Variable("dose", (0.5, 1.0, 2.5), "ordinal")
# declared in an order that is not that of the numbers
GRADE = Variable("grade", (3, 1, 2), "ordinal")
AGE = Variable("age", ("[0, 18)", "[18, 65)", "[65, 120]"), "binned", (0, 18, 65, 120))
PRICE = Variable("price", ("<10", "[10, 20)", ">=20"), "binned", (0, 10, 20, 50), open_ended=True)
# the last interval is one number, as quantile bins make them for an atom at the top
CAPPED = Variable("capped", ("<10", ">=10"), "binned", (0, 10, 10), open_ended=True)
FLAG = Variable("flag", (False, True))

BOUNDS = {"at_least": operator.ge, "above": operator.gt, "at_most": operator.le, "below": operator.lt}


def short(value):
    """What a parameter is called in the list of tests."""
    return value.name if isinstance(value, Variable) else ascii(value)[:40]


def assert_weights(variable, wanted, expected):
    weights = weights_of(variable, wanted)
    assert weights.dtype == np.float64
    assert weights.tolist() == list(expected)


def shares(variable, wanted):
    """Which share of each interval meets the evidence, whose ends may lie inside intervals."""
    divided = divided_for(Domain((variable,)), [(0, wanted)])[0]
    weights = weights_of(divided, wanted, variable, is_event=True)
    assert weights.shape == (divided.cardinality,)
    codes, of_part = parts_of(variable, divided)
    return np.bincount(codes, weights * of_part, variable.cardinality)


@pytest.mark.parametrize("expected", [[1, 0], [0, 1, 0], [1, 0, 1], [0.5, 0, 0], [1, 0, 0, 0]], ids=str)
def test_assert_weights_rejects_a_wrong_answer(expected):
    assert_weights(COLOUR, "red", [1, 0, 0])
    with pytest.raises(AssertionError):
        assert_weights(COLOUR, "red", expected)


# Values


@pytest.mark.parametrize(
    ("variable", "wanted", "expected"),
    [
        (COLOUR, "green", [0, 1, 0]),
        (COLOUR, np.str_("green"), [0, 1, 0]),
        (DOORS, 4, [0, 0, 1, 0]),
        (DOORS, 4.0, [0, 0, 1, 0]),
        (DOORS, "4", [0, 0, 1, 0]),
        (DOORS, np.int64(4), [0, 0, 1, 0]),
        (DOORS, np.float32(4), [0, 0, 1, 0]),
        (DOSE, "2.5", [0, 0, 1]),
        (DOSE, 1, [0, 1, 0]),
        (FLAG, True, [0, 1]),
        (FLAG, "False", [1, 0]),
        (FLAG, np.True_, [0, 1]),
        (AGE, "[18, 65)", [0, 1, 0]),
        (AGE, 18, [0, 1, 0]),
        (AGE, 17.999, [1, 0, 0]),
        (AGE, "18", [0, 1, 0]),
        (AGE, 120, [0, 0, 1]),
        (PRICE, -1000, [1, 0, 0]),
        (PRICE, 1000, [0, 0, 1]),
        (CAPPED, 10, [0, 1]),
        (CAPPED, 9.5, [1, 0]),
    ],
    ids=short,
)
def test_a_value(variable, wanted, expected):
    assert_weights(variable, wanted, expected)


@pytest.mark.parametrize("make", [list, tuple, set, frozenset, np.array], ids=lambda make: make.__name__)
def test_a_set(make):
    assert_weights(COLOUR, make(["red", "blue"]), [1, 0, 1])
    assert_weights(DOORS, make([2, 6]), [1, 0, 0, 1])
    assert_weights(AGE, make(["[0, 18)", "[65, 120]"]), [1, 0, 1])


@pytest.mark.parametrize("make", [list, tuple, set, frozenset, np.array], ids=lambda make: make.__name__)
def test_a_set_of_numbers_without_probabilities_is_refused(make):
    """Several numbers of a continuous law have densities, which no label or value that recurs can stand beside."""
    for variable in (AGE, CAPPED):
        with pytest.raises(
            QueryError, match=rf"has a probability, as '{variable.name}' is continuous\. Give one number"
        ):
            weights_of(variable, make([3, 7.5]))
        assert_weights(variable, make([3, 3]), [1] + [0] * (variable.cardinality - 1))
    # of numbers beside these, only those count that have a probability
    assert_weights(CAPPED, make([3, 10]), [0, 1])
    assert_weights(AGE, make(["3", "[65, 120]"]), [0, 0, 1])


def test_a_set_may_repeat_a_label():
    assert_weights(DOORS, [4, "4", 4.0, 2], [1, 0, 1, 0])


# Ranges


@pytest.mark.parametrize(
    ("bound", "expected"),
    [
        ({"at_least": "med"}, [0, 1, 1]),
        ({"above": "med"}, [0, 0, 1]),
        ({"at_most": "med"}, [1, 1, 0]),
        ({"below": "med"}, [1, 0, 0]),
        ({"at_least": "low"}, [1, 1, 1]),
        ({"below": "low"}, [0, 0, 0]),
        ({"above": "low", "below": "high"}, [0, 1, 0]),
        ({"at_least": "low", "at_most": "low"}, [1, 0, 0]),
        ({"at_least": "high", "at_most": "low"}, [0, 0, 0]),
    ],
    ids=str,
)
def test_a_range_of_ordered_text(bound, expected):
    assert_weights(SAFETY, Range(**bound), expected)


WRITINGS = {
    "number": lambda number: number,
    "text": str,
    "text with a fraction": lambda number: f"{number:.3f}",
    "text with an exponent": lambda number: f"{number:e}",
    "NumPy": np.float64,
    "NumPy, short": np.float32,
}


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("variable", [DOORS, DOSE], ids=["doors", "dose"])
def test_a_range_of_ordered_numbers_compares_numbers(variable, name, writing):
    # also with bounds that are no label, and however the bound is written
    for number in (-1, 0, 0.5, 1, 2, 2.5, 3, 5, 6, 7, 1000):
        expected = [float(BOUNDS[name](label, number)) for label in variable.labels]
        assert_weights(variable, Range(**{name: WRITINGS[writing](number)}), expected)


@pytest.mark.parametrize("name", BOUNDS)
@examples
@given(labels=st.sets(st.integers(-20, 20), min_size=1).map(sorted), bound=st.integers(-22, 22) | st.floats(-22, 22))
def test_any_range_of_any_numbers(name, labels, bound):
    variable = Variable("a", tuple(labels), "ordinal")
    assert_weights(variable, Range(**{name: bound}), [float(BOUNDS[name](label, bound)) for label in labels])


@pytest.mark.parametrize("bound", [4, np.int64(4), np.int8(5), math.inf, -math.inf], ids=repr)
def test_bounds_between_and_beyond_the_labels(bound):
    for name, compare in BOUNDS.items():
        assert_weights(DOORS, Range(**{name: bound}), [float(compare(label, bound)) for label in DOORS.labels])


@pytest.mark.parametrize(
    ("bound", "expected"),
    [({"at_least": 1}, [0, 1, 1]), ({"above": 3}, [0, 1, 1]), ({"at_most": 1}, [1, 1, 0]), ({"below": 2}, [1, 1, 0])],
    ids=str,
)
def test_a_declared_order_is_the_order(bound, expected):
    assert_weights(GRADE, Range(**bound), expected)


@pytest.mark.parametrize("name", BOUNDS)
def test_a_declared_order_has_no_place_for_other_numbers(name):
    # 3 before 1 before 2: nobody can say where 2.5 stands
    with pytest.raises(QueryError, match="'grade'"):
        weights_of(GRADE, Range(**{name: 2.5}))


@pytest.mark.parametrize(
    ("variable", "bound", "expected"),
    [
        (AGE, {"at_least": 18}, [0, 1, 1]),
        (AGE, {"below": 18}, [1, 0, 0]),
        (AGE, {"at_least": 65.0}, [0, 0, 1]),
        (AGE, {"below": "65"}, [1, 1, 0]),
        (AGE, {"at_least": 18, "below": 65}, [0, 1, 0]),
        (AGE, {"at_least": 0}, [1, 1, 1]),
        (AGE, {"below": 0}, [0, 0, 0]),
        (AGE, {"at_least": -5}, [1, 1, 1]),
        (AGE, {"at_least": 121}, [0, 0, 0]),
        (AGE, {"below": 121}, [1, 1, 1]),
        (AGE, {"below": math.inf}, [1, 1, 1]),
        (AGE, {"at_least": "[18, 65)"}, [0, 1, 1]),
        (AGE, {"above": "[18, 65)"}, [0, 0, 1]),
        (AGE, {"at_most": "[18, 65)"}, [1, 1, 0]),
        (AGE, {"below": "[18, 65)"}, [1, 0, 0]),
        (PRICE, {"at_least": 10}, [0, 1, 1]),
        (PRICE, {"below": 20}, [1, 1, 0]),
        (PRICE, {"at_least": 10, "below": 20}, [0, 1, 0]),
        (PRICE, {"above": "<10"}, [0, 1, 1]),
        (CAPPED, {"at_least": 10}, [0, 1]),
        (CAPPED, {"below": 10}, [1, 0]),
        (AGE, {"at_least": np.int64(18)}, [0, 1, 1]),
        (AGE, {"below": np.float32(65)}, [1, 1, 0]),
    ],
    ids=short,
)
def test_a_range_of_intervals(variable, bound, expected):
    assert_weights(variable, Range(**bound), expected)


@pytest.mark.parametrize(
    ("variable", "bound", "expected"),
    [
        (AGE, {"at_least": 30}, [0, 35 / 47, 1]),
        (AGE, {"below": "30"}, [1, 12 / 47, 0]),
        (AGE, {"at_least": 30, "below": 50}, [0, 20 / 47, 0]),
        (AGE, {"at_least": 30, "below": 70}, [0, 35 / 47, 5 / 55]),
        (AGE, {"at_least": 9, "at_most": "[18, 65)"}, [0.5, 1, 0]),
        (AGE, {"above": 18}, [0, 1, 1]),
        (AGE, {"at_most": 18}, [1, 0, 0]),
        (AGE, {"at_least": 120}, [0, 0, 0]),
        (AGE, {"below": 120}, [1, 1, 1]),
        (AGE, {"at_least": 50, "below": 30}, [0, 0, 0]),
        # no number is known beyond the edges
        (PRICE, {"at_least": 500}, [0, 0, 0]),
        (PRICE, {"below": -500}, [0, 0, 0]),
        (PRICE, {"at_least": 35}, [0, 0, 0.5]),
        # all of the last interval is its one number
        (CAPPED, {"above": 10}, [0, 0]),
        (CAPPED, {"at_most": 10}, [1, 1]),
        (CAPPED, {"at_least": 4}, [0.6, 1]),
    ],
    ids=short,
)
def test_a_range_may_end_inside_an_interval(variable, bound, expected):
    np.testing.assert_allclose(shares(variable, Range(**bound)), expected, atol=1e-12)
    np.testing.assert_allclose(shares(variable, Not(Range(**bound))), 1 - np.array(expected), atol=1e-12)


@examples
@given(
    edges=st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True).map(sorted),
    low=st.floats(-60, 60),
    high=st.floats(-60, 60),
)
def test_any_range_of_intervals_of_even_laws(edges, low, high):
    """Without numbers the law is even between edges, so shares are lengths."""
    variable = Variable("a", tuple(f"interval {i}" for i in range(len(edges) - 1)), "binned", tuple(edges))
    lengths = [max(0.0, min(b, high) - max(a, low)) / (b - a) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(shares(variable, Range(at_least=low, below=high)), lengths, atol=1e-12)


@pytest.mark.parametrize(
    ("variable", "bound", "words"),
    [
        (AGE, {"at_least": "old"}, "'old' is neither a number nor an interval of 'age'"),
        (AGE, {"at_least": True}, "True is neither a number nor an interval of 'age'"),
        (AGE, {"at_least": math.nan}, "nan is neither a number nor an interval of 'age'"),
        (AGE, {"at_least": [18]}, "is neither a number nor an interval of 'age'"),
        (AGE, {"at_least": np.array([18, 65])}, "is neither a number nor an interval of 'age'"),
        (SAFETY, {"at_least": "hgih"}, "Variable 'safety' has no label 'hgih'. Did you mean 'high'"),
        (SAFETY, {"at_least": 2}, "Variable 'safety' has no label 2"),
        (SAFETY, {"at_least": 10**400}, "Variable 'safety' has no label 1000"),
        (DOORS, {"at_least": "many"}, "Variable 'doors' has no label 'many'"),
        (DOORS, {"at_least": math.nan}, "Variable 'doors' has no label nan"),
        (DOORS, {"at_least": [3]}, r"Variable 'doors' has no label \[3\]"),
        (COLOUR, {"at_least": "red"}, "Variable 'colour' is nominal, so it has no ranges"),
        (FLAG, {"at_least": True}, "Variable 'flag' is nominal, so it has no ranges"),
    ],
    ids=short,
)
def test_ranges_that_are_refused(variable, bound, words):
    with pytest.raises(QueryError, match=words):
        weights_of(variable, Range(**bound))


@pytest.mark.parametrize("variable", [DOORS, AGE], ids=short)
def test_a_bound_that_no_float_can_hold(variable):
    assert_weights(variable, Range(at_least=10**400), [0] * variable.cardinality)
    assert_weights(variable, Range(below=10**400), [1] * variable.cardinality)


def test_a_range_needs_a_bound():
    with pytest.raises(QueryError, match="A Range needs a bound"):
        Range()


def test_ranges_show_their_bounds():
    assert repr(Range(at_least=3, below="x")) == "Range(at_least=3, below='x')"


# Negation


@pytest.mark.parametrize(
    ("variable", "wrong", "expected"),
    [
        (COLOUR, "red", [0, 1, 1]),
        (COLOUR, ["red", "blue"], [0, 1, 0]),
        (COLOUR, ["red", "green", "blue"], [0, 0, 0]),
        (SAFETY, Range(at_least="med"), [1, 0, 0]),
        (AGE, "[18, 65)", [1, 0, 1]),
        # a single number of a continuous law has no probability
        (AGE, 30, [1, 1, 1]),
        (CAPPED, 10, [1, 0]),
        (AGE, Range(at_least=18, below=65), [1, 0, 1]),
        (COLOUR, Not("red"), [1, 0, 0]),
        (COLOUR, {"red": 1, "green": 0, "blue": 0}, [0, 1, 1]),
    ],
    ids=short,
)
def test_negation(variable, wrong, expected):
    assert_weights(variable, Not(wrong), expected)


# Likelihoods


def test_soft_evidence():
    assert_weights(COLOUR, {"red": 0.5, "green": 0, "blue": 2}, [0.5, 0, 2])
    assert_weights(DOORS, {"2": 1, 3.0: 2, 4: 3, np.int64(6): 4}, [1, 2, 3, 4])
    assert_weights(AGE, {9: 1, "[18, 65)": 2, 80: 3}, [1, 2, 3])
    assert_weights(COLOUR, pd.Series({"red": 1, "green": 2, "blue": 3}).to_dict(), [1, 2, 3])


RGB = {"red": 1, "green": 1}


@pytest.mark.parametrize(
    ("likelihood", "words"),
    [
        ({}, r"\['red', 'green', 'blue'\] have none"),
        (RGB, r"every label a likelihood; \['blue'\] have none"),
        ({**RGB, "blue": math.nan}, "must be finite and not negative"),
        ({**RGB, "blue": None}, "must be a number. Got None"),
        ({**RGB, "blue": -1}, "finite and not negative"),
        ({**RGB, "blue": math.inf}, "finite and not negative"),
        ({"red": 0, "green": 0, "blue": 0}, "not all zero"),
        ({**RGB, "blue": 1, "teal": 1}, "has no label 'teal'"),
        ({**RGB, "blue": "much"}, "colour"),
        ({**RGB, "blue": 1j}, "colour"),
        ({**RGB, "blue": [1, 2]}, "colour"),
    ],
    ids=str,
)
def test_likelihoods_that_are_refused(likelihood, words):
    with pytest.raises(QueryError, match=words):
        weights_of(COLOUR, likelihood)


def test_two_likelihoods_for_one_label_are_refused():
    # the later one would win in silence
    with pytest.raises(QueryError, match="doors"):
        weights_of(DOORS, {2: 1, "2": 0.5, 3: 1, 4: 1, 6: 1})


def test_soft_evidence_is_no_event():
    soft = {"red": 0.5, "green": 1, "blue": 1}
    with pytest.raises(QueryError, match="cannot be negated or have a probability"):
        weights_of(COLOUR, Not(soft))
    with pytest.raises(QueryError, match="cannot be negated or have a probability"):
        check_event(Domain((COLOUR,)), read_evidence(Domain((COLOUR,)), {"colour": soft}))


# Mistakes


@pytest.mark.parametrize(
    ("variable", "wanted", "words"),
    [
        (COLOUR, "gren", "Variable 'colour' has no label 'gren'. Did you mean 'green'"),
        (COLOUR, ["red", "teal"], "has no label 'teal'"),
        (COLOUR, [], "The set of labels for 'colour' is empty"),
        (COLOUR, set(), "The set of labels for 'colour' is empty"),
        (COLOUR, np.array([]), "The set of labels for 'colour' is empty"),
        (COLOUR, None, "has no label None"),
        (COLOUR, [["red"]], r"has no label \['red'\]"),
        (COLOUR, np.array([["red"]]), "has no label"),
        (COLOUR, b"red", "has no label b'red'"),
        (COLOUR, pd.NA, "has no label <NA>"),
        (COLOUR, Range, "has no label"),
        (COLOUR, Not(None), "has no label None"),
        (DOORS, 5, r"Variable 'doors' has no label 5. Choose from \[2, 3, 4, 6\]"),
        (DOORS, math.nan, "has no label nan"),
        (DOORS, 10**400, "has no label 1000"),
        (AGE, 121, r"Variable 'age' has no label 121. Its edges are \[0, 18, 65, 120\]"),
        (AGE, "old", "Variable 'age' has no label 'old'"),
        (AGE, 10**400, "Variable 'age' has no label 1000"),
        (FLAG, "true", "Variable 'flag' has no label 'true'. Did you mean True"),
    ],
    ids=short,
)
def test_evidence_that_is_refused(variable, wanted, words):
    with pytest.raises(QueryError, match=words):
        weights_of(variable, wanted)


# Whole domains

DOMAIN = Domain((COLOUR, SAFETY, DOORS))


def test_read_evidence():
    evidence = read_evidence(DOMAIN, {"doors": Range(at_least=4), "colour": ["red", "blue"]})
    assert {n: weights.tolist() for n, weights in evidence.items()} == {2: [0, 0, 1, 1], 0: [1, 0, 1]}
    assert read_evidence(DOMAIN, None) == {}
    assert read_evidence(DOMAIN, {}) == {}


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        ({"color": "red"}, "There is no variable 'color'. Did you mean 'colour'"),
        ({None: "red"}, "There is no variable None"),
        ({("colour",): "red"}, "There is no variable"),
        ([("colour", "red")], r"Evidence must be a dict of variable names, like \{'colour': …\}.* Got list"),
        ("colour", "Evidence must be a dict of variable names"),
    ],
    ids=repr,
)
def test_whole_evidence_that_is_refused(given_, words):
    with pytest.raises(QueryError, match=words):
        read_evidence(DOMAIN, given_)


def test_both_multiplies_where_both_speak():
    first = read_evidence(DOMAIN, {"colour": ["red", "blue"], "safety": "low"})
    second = read_evidence(DOMAIN, {"colour": ["red", "green"], "doors": 2})
    combined = both(first, second)
    assert {n: weights.tolist() for n, weights in combined.items()} == {0: [1, 0, 0], 1: [1, 0, 0], 2: [1, 0, 0, 0]}
    # neither is changed
    assert first[0].tolist() == [1, 0, 1]
    assert second[0].tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        ("red", "colour = red"),
        (["red", "blue"], "not colour = green"),
        (["red", "green", "blue"], "colour in {red, green, blue}"),
        ({"red": 0.5, "green": 1, "blue": 1}, "colour soft"),
        (Not(["red", "green", "blue"]), "colour in {}"),
    ],
    ids=repr,
)
def test_describe(wanted, text):
    assert describe(DOMAIN, read_evidence(DOMAIN, {"colour": wanted})) == text


@pytest.mark.parametrize("scale", [1e-322, 1e-320, 1e-310, 1e-200, 1e300, 2.0**1000], ids=str)
@given(seed=st.integers(0, 2**32 - 1), edges=st.sampled_from([0.0, 1.0]))
@settings(deadline=None, max_examples=10)
def test_only_the_ratios_of_likelihoods_count(scale, seed, edges):
    """Likelihoods near the smallest and the largest float are not rounded to each other."""
    model = random_forest_model((3, 3, 3), (2, 1), np.random.default_rng(seed), edges=edges)
    likelihood = np.array([3.0, 1.0, 5.0]) * scale
    given = {"x1": dict(enumerate(likelihood.tolist()))}
    joint = dense(model) * (likelihood / likelihood.max())[:, None]
    joint /= joint.sum()
    np.testing.assert_allclose(model.marginal("x0", given=given).to_numpy(), joint.sum(axis=(1, 2)), rtol=1e-12)
    np.testing.assert_allclose(model.marginal("x1", given=given).to_numpy(), joint.sum(axis=(0, 2)), rtol=1e-12)
    np.testing.assert_allclose(model.condition(given).marginal("x2").to_numpy(), joint.sum(axis=(0, 1)), rtol=1e-12)
    assert model.prob({"x2": 1}, given=given) == pytest.approx(joint[:, :, 1].sum(), rel=1e-12)
    assert model.mode(given=given).log_prob == pytest.approx(np.log(joint.max()), rel=1e-12, abs=1e-12)


def test_tiny_likelihoods_count_where_the_others_are_impossible():
    domain = Domain((Variable("a", ("x", "y", "z")),))
    model = JointPMF([1.0], [np.array([[0.0], [0.5], [0.5]])], domain)
    found = model.marginal("a", given={"a": {"x": 1.0, "y": 6e-322, "z": 2e-322}}).to_numpy()
    np.testing.assert_allclose(found, [0.0, 0.75, 0.25], rtol=0.02)


def test_a_likelihood_beyond_all_floats_is_refused():
    with pytest.raises(QueryError, match="finite"):
        weights_of(COLOUR, {"red": 10**400, "green": 1, "blue": 1})


@pytest.mark.parametrize("n_numbers", [8, 120])
@pytest.mark.parametrize(("kind", "number"), [(np.float16, 0.30004883), (np.float32, 0.3), (np.float64, 0.3)])
def test_short_floats_are_the_numbers_that_they_are_written_as(kind, number, n_numbers):
    column = (np.arange(600) % n_numbers / 10).astype(kind)
    domain = Domain.infer(pd.DataFrame({"x": column}))
    cell = column[3]

    def weights(wanted):
        divided = divided_for(domain, [(0, wanted)])
        return weights_of(divided["x"], wanted, domain["x"]).tolist()

    assert sum(weights(number)) == 1
    for wanted in (cell, column[3:4], pd.Series(column[3:4]), [cell], Range(at_least=cell, at_most=cell)):
        assert weights(wanted) == weights(number)


def test_short_floats_are_edges_and_levels_as_they_are_written():
    few, many = np.float32([0.1, 0.2, 0.3] * 40), (np.arange(120) / 10).astype(np.float32)
    table = pd.DataFrame({"few": few, "many": many})
    levels, edges = np.float32([0.3, 0.2, 0.1]), np.float32([0, 0.1, 20])
    for make in (np.asarray, pd.Series, list):
        domain = Domain.infer(table, levels={"few": make(levels)}, edges={"many": make(edges)})
        assert domain["few"].labels == (0.3, 0.2, 0.1)
        assert domain["many"].edges == (0.0, 0.1, 20.0)
        assert domain.encode(table)[:, 1].tolist() == [0] + [1] * 119
