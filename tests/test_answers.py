"""Every answer of a model against the dense tensor, which says the same thing with no cleverness."""

from itertools import combinations, permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import juror
from juror import Domain, JointPMF, JurorError, Not, Range, Variable
from juror.answers.information import Estimate
from juror.errors import DataError, ParameterError, QueryError, ZeroProbabilityError
from juror.testing import dense, random_codes, random_model

quick = settings(max_examples=40, deadline=None)

# cardinalities, rank, share of zero cells
SHAPES = {
    "one label": ((1,), 1, 0.0),
    "one variable": ((4,), 2, 0.0),
    "rank one": ((2, 3, 4), 1, 0.0),
    "more classes than cells": ((2, 2), 7, 0.0),
    "one-level variables": ((1, 3, 1, 2), 3, 0.0),
    "unequal": ((7, 2, 5), 4, 0.0),
    "six variables": ((2, 3, 2, 4, 1, 3), 4, 0.0),
    "some zeros": ((3, 4, 2, 3), 3, 0.4),
    "mostly zeros": ((3, 2, 4, 2, 3), 4, 0.9),
}


@pytest.fixture(params=SHAPES)
def model(request):
    cardinalities, rank, zeros = SHAPES[request.param]
    return random_model(cardinalities, rank, np.random.default_rng(0), zeros=zeros)


@st.composite
def models(draw, min_variables=1):
    cardinalities = draw(st.lists(st.integers(1, 4), min_size=min_variables, max_size=6))
    zeros = draw(st.sampled_from([0.0, 0.0, 0.5, 0.9]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    made = random_model(cardinalities, draw(st.integers(1, 5)), rng, zeros=zeros)
    if draw(st.booleans()):
        # a class of weight zero must change nothing and warn of nothing
        padded = [np.column_stack([factor, factor[::-1, 0]]) for factor in made.factors]
        made = JointPMF(np.append(made.weights, 0.0), padded)
    return made


@pytest.fixture
def shop():
    """A model whose variables have labels of every type and kind."""
    domain = Domain(
        (
            Variable("colour", ("red", "green", "blue")),
            Variable("size", (1, 2, 4, 8), "ordinal"),
            Variable("sold", (False, True)),
            Variable("price", ("<10", "[10, 20)", ">=20"), "binned", (5.0, 10.0, 20.0, 90.0), open_ended=True),
        )
    )
    return random_model(domain.cardinalities, 3, np.random.default_rng(5), domain=domain)


# The oracle's side of every question: weights for labels, sums over axes.


def assert_close(actual, expected):
    actual, expected = np.asarray(actual, dtype=float), np.asarray(expected, dtype=float)
    # assert_allclose by itself would compare a scalar to every cell of a table
    assert actual.shape == expected.shape
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize(
    "wrong",
    [[0.25, 0.75 + 1e-9], [0.75, 0.25], [0.25], 0.25, [[0.25, 0.75]], [np.nan, 0.75], [-np.inf, 0.75]],
    ids=["off", "swapped", "short", "scalar", "another shape", "nan", "-inf"],
)
def test_assert_close_rejects_wrong_answers(wrong):
    assert_close([0.25, 0.75], [0.25, 0.75])
    with pytest.raises(AssertionError):
        assert_close(wrong, [0.25, 0.75])


def marginal_of(tensor, axes):
    return np.einsum(tensor, list(range(tensor.ndim)), list(axes))


def weigh(tensor, weights):
    """Multiply every axis named in weights by its vector."""
    for axis, vector in weights.items():
        tensor = tensor * np.reshape(vector, [-1 if n == axis else 1 for n in range(tensor.ndim)])
    return tensor


def conditional(tensor, weights):
    weighed = weigh(tensor, weights)
    return weighed / weighed.sum()


def log_of(numbers):
    with np.errstate(divide="ignore"):
        return np.log(numbers)


def entropy_of(probabilities):
    return -sum(p * np.log(p) for p in np.ravel(probabilities) if p > 0)


def information_in(pair):
    """The mutual information as a divergence, not as a difference of entropies."""
    apart = np.outer(pair.sum(axis=1), pair.sum(axis=0))
    return sum(p * np.log(p / q) for p, q in zip(pair.ravel(), apart.ravel(), strict=True) if p > 0)


def assert_is_mode(tensor, codes):
    """Whether a cell is as probable as any; which one of several equal ones does not matter."""
    assert_close(tensor[tuple(codes)], tensor.max())


def test_the_oracle_gives_what_a_hand_calculation_gives():
    model = JointPMF([0.6, 0.4], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]])
    by_hand = [
        [0.6 * 0.9 * 0.7 + 0.4 * 0.2 * 0.1, 0.6 * 0.9 * 0.3 + 0.4 * 0.2 * 0.9],
        [0.6 * 0.1 * 0.7 + 0.4 * 0.8 * 0.1, 0.6 * 0.1 * 0.3 + 0.4 * 0.8 * 0.9],
    ]
    assert_close(dense(model), by_hand)
    assert_close(marginal_of(dense(model), [1]), [0.7 * 0.6 + 0.1 * 0.4, 0.3 * 0.6 + 0.9 * 0.4])
    assert_close(conditional(dense(model), {1: [0, 1]})[1, 1], by_hand[1][1] / (by_hand[0][1] + by_hand[1][1]))


def test_information_in_gives_known_values():
    assert_close(information_in(np.full((2, 3), 1 / 6)), 0.0)
    assert_close(information_in(np.diag([0.5, 0.5])), np.log(2))
    assert_close(entropy_of(np.diag([0.5, 0.5])), np.log(2))


@pytest.mark.parametrize("wrong", [(0, 0), (1, 1)])
def test_assert_is_mode_rejects_other_cells(wrong):
    tensor = np.array([[0.1, 0.4], [0.2, 0.3]])
    assert_is_mode(tensor, (0, 1))
    with pytest.raises(AssertionError):
        assert_is_mode(tensor, wrong)


def draw_evidence(draw, variable, kinds):
    """Draw evidence on a variable with labels 0 … I−1; return it as a user writes it, and as weights."""
    size = variable.cardinality
    codes = np.arange(size)
    some = draw(st.lists(st.integers(0, size - 1), min_size=1, unique=True))
    low, high = draw(st.integers(0, size - 1)), draw(st.integers(0, size - 1))
    likelihood = draw(st.lists(st.sampled_from([0.0, 0.3, 1.0, 7.0]), min_size=size, max_size=size).filter(any))
    forms = {
        "value": (low, codes == low),
        "set": (some, np.isin(codes, some)),
        "range": (Range(at_least=min(low, high), at_most=max(low, high)), (codes - low) * (codes - high) <= 0),
        "open range": (Range(above=low), codes > low),
        "not value": (Not(low), codes != low),
        "not set": (Not(set(some)), ~np.isin(codes, some)),
        "soft": (dict(enumerate(likelihood)), np.array(likelihood)),
    }
    written, weights = forms[draw(st.sampled_from([kind for kind in forms if kind in kinds]))]
    return written, weights.astype(float)


EVENTS = ("value", "set", "range", "open range", "not value", "not set")
EVIDENCE = (*EVENTS, "soft")


@st.composite
def evidence_on(draw, model, kinds, min_size=0):
    positions = draw(st.lists(st.integers(0, len(model.domain) - 1), min_size=min_size, unique=True))
    pieces = {n: draw_evidence(draw, model.domain[n], kinds) for n in positions}
    written = {model.domain[n].name: piece[0] for n, piece in pieces.items()}
    return written, {n: piece[1] for n, piece in pieces.items()}


# log_prob


def test_log_prob_of_every_cell(model):
    tensor = dense(model)
    rows = np.array(list(np.ndindex(tensor.shape)))
    assert_close(model.log_prob(rows), log_of(tensor.ravel()))


def test_log_prob_sums_missing_cells_out(model):
    tensor = dense(model)
    codes = random_codes(model, 60, np.random.default_rng(1), missing=0.5)
    codes[0] = -1  # a row that says nothing is certain
    expected = []
    for row in codes:
        seen = [n for n, code in enumerate(row) if code >= 0]
        expected.append(marginal_of(tensor, seen)[tuple(row[seen])])
    assert_close(expected[0], 1.0)
    assert_close(model.log_prob(codes), log_of(np.array(expected)))
    # the same holes as NaN, and as None in columns
    assert_close(model.log_prob(np.where(codes < 0, np.nan, codes)), log_of(np.array(expected)))
    columns = {f"x{n}": [None if c < 0 else int(c) for c in codes[:, n]] for n in range(codes.shape[1])}
    assert_close(model.log_prob(columns), log_of(np.array(expected)))


def test_log_prob_sums_absent_columns_out(model):
    tensor = dense(model)
    for n, variable in enumerate(model.domain):
        expected = log_of(marginal_of(tensor, [n]))
        assert_close(model.log_prob({variable.name: list(variable.labels)}), expected)


def test_log_prob_matches_columns_by_name_not_by_place(shop):
    tensor = dense(shop)
    frame = pd.DataFrame({"sold": [True, False], "colour": ["blue", "red"]})
    pair = marginal_of(tensor, [2, 0])
    assert_close(shop.log_prob(frame), log_of(np.array([pair[1, 2], pair[0, 0]])))


def test_log_prob_of_a_number_is_that_of_its_interval(shop):
    price = marginal_of(dense(shop), [3])
    assert_close(np.exp(shop.log_prob({"price": [1.0, 12.5, 20.0, 1e6]})), price[[0, 1, 2, 2]])


def test_log_prob_of_impossible_rows_is_minus_infinity_and_no_row_gives_none():
    model = JointPMF([0.5, 0.5], [[[1.0, 1.0], [0.0, 0.0]], [[0.2, 0.6], [0.8, 0.4]]])
    assert model.log_prob(np.array([[1, 0], [1, -1]])).tolist() == [-np.inf, -np.inf]
    assert model.log_prob(np.empty((0, 2), dtype=int)).shape == (0,)


def test_log_prob_of_an_unknown_label(shop):
    with pytest.raises(DataError, match="teal"):
        shop.log_prob({"colour": ["teal"]})
    assert_close(
        shop.log_prob({"colour": ["teal", "red"]}, unknown="missing"), log_of([1, shop.prob({"colour": "red"})])
    )


# prob


@quick
@given(st.data())
def test_prob_of_events(data):
    model = data.draw(models())
    tensor = dense(model)
    event, wanted = data.draw(evidence_on(model, EVENTS))
    assert_close(model.prob(event), weigh(tensor, wanted).sum())


@quick
@given(st.data())
def test_prob_given_evidence(data):
    model = data.draw(models())
    tensor = dense(model)
    event, wanted = data.draw(evidence_on(model, EVENTS))
    known, weights = data.draw(evidence_on(model, EVIDENCE, min_size=1))
    mass = weigh(tensor, weights).sum()
    if mass == 0:
        with pytest.raises(ZeroProbabilityError):
            model.prob(event, given=known)
    else:
        assert_close(model.prob(event, given=known), weigh(weigh(tensor, weights), wanted).sum() / mass)


def test_prob_with_event_and_evidence_on_the_same_variable():
    model = random_model((4, 3), 3, np.random.default_rng(2))
    p = marginal_of(dense(model), [0])
    assert_close(model.prob({"x0": 1}, given={"x0": [1, 2]}), p[1] / (p[1] + p[2]))
    assert_close(model.prob({"x0": [0, 1]}, given={"x0": Not(0)}), p[1] / p[1:].sum())
    assert_close(model.prob({"x0": 3}, given={"x0": Range(below=3)}), 0.0)
    soft = {0: 0.0, 1: 2.0, 2: 1.0, 3: 5.0}
    assert_close(model.prob({"x0": 1}, given={"x0": soft}), 2 * p[1] / (2 * p[1] + p[2] + 5 * p[3]))


def test_prob_of_text_takes_what_is_given_from_behind_the_bar_and_from_given():
    model = random_model((4, 3, 2), 3, np.random.default_rng(2))
    wanted = model.prob({"x0": 1}, given={"x1": [0, 2], "x2": 1})
    assert_close(model.prob("x0 = 1 | x1 in {0, 2}, x2 = 1"), wanted)
    assert_close(model.prob("P(x0 = 1 | x1 in {0, 2})", given={"x2": 1}), wanted)


RANGES = {
    "at least a label": ({"size": Range(at_least=4)}, {1: [0, 0, 1, 1]}),
    "above a label": ({"size": Range(above=4)}, {1: [0, 0, 0, 1]}),
    "at most a label": ({"size": Range(at_most=2)}, {1: [1, 1, 0, 0]}),
    "below a label": ({"size": Range(below=2)}, {1: [1, 0, 0, 0]}),
    "between labels": ({"size": Range(above=1.5, below=7.9)}, {1: [0, 1, 1, 0]}),
    "from an edge on": ({"price": Range(at_least=10)}, {3: [0, 1, 1]}),
    "below an edge": ({"price": Range(below=20)}, {3: [1, 1, 0]}),
    "an interval by its label": ({"price": Range(at_most="[10, 20)")}, {3: [1, 1, 0]}),
    "from inside an interval on": ({"price": Range(at_least=12.5)}, {3: [0, 0.75, 1]}),
    "above an edge": ({"price": Range(above=10)}, {3: [0, 1, 1]}),
    "between numbers": ({"price": Range(at_least=6, below=41.0)}, {3: [0.8, 1, 0.3]}),
    "not between numbers": ({"price": Not(Range(at_least=6, below=41.0))}, {3: [0.2, 0, 0.7]}),
    "not a range": ({"size": Not(Range(at_least=4))}, {1: [1, 1, 0, 0]}),
    "booleans": ({"sold": True}, {2: [0, 1]}),
    "text": ({"colour": ("red", "blue")}, {0: [1, 0, 1]}),
    "an array": ({"size": np.array([1, 8])}, {1: [1, 0, 0, 1]}),
}


@pytest.mark.parametrize("name", RANGES)
def test_prob_of_labels_and_ranges_of_every_kind(shop, name):
    event, weights = RANGES[name]
    assert_close(shop.prob(event), weigh(dense(shop), weights).sum())
    assert_close(shop.prob({"colour": "green"}, given=event), conditional(dense(shop), weights)[1].sum())


def test_a_number_is_evidence_about_its_interval_but_has_no_probability(shop):
    """Densities of all classes have the same ratio all over an interval."""
    assert_close(shop.prob({"colour": "green"}, given={"price": 13}), conditional(dense(shop), {3: [0, 1, 0]})[1].sum())
    assert shop.prob({"price": 13}) == 0.0
    assert shop.prob({"price": 13}, given={"price": 13}) == 1.0


def test_prob_given_conditions_as_text(shop):
    expected = conditional(dense(shop), {0: [1, 0, 1], 1: [0, 0, 1, 1]})
    assert_close(shop.prob({"sold": True}, given="colour in {red, blue}, size >= 4"), expected[:, :, 1].sum())


@pytest.mark.parametrize(
    "event",
    [
        {"color": "red"},
        {"colour": "teal"},
        {"colour": []},
        {"colour": Range(at_least="red")},
        {"price": Range(above="dear")},
    ],
    ids=["name", "label", "empty set", "range of names", "range of numbers"],
)
def test_events_that_mean_nothing_are_refused(shop, event):
    with pytest.raises(QueryError):
        shop.prob(event)


def test_likelihoods_are_evidence_but_not_events(shop):
    with pytest.raises(QueryError, match="not an event"):
        shop.prob({"sold": {False: 0.2, True: 0.8}})
    with pytest.raises(QueryError, match="every label"):
        shop.prob({"sold": True}, given={"colour": {"red": 1.0}})
    with pytest.raises(QueryError, match="not all zero"):
        shop.prob({"colour": "red"}, given={"sold": {False: 0.0, True: 0.0}})


def test_prob_stays_between_zero_and_one():
    # a probability of 1.0000000000000002 makes log(1 − p) a nan and is refused by samplers
    for seed in range(100):
        model = random_model((3, 1, 2), 4, np.random.default_rng(seed), zeros=0.3)
        for event in ({}, *({v.name: list(v.labels)} for v in model.domain)):
            assert 0.0 <= model.prob(event) <= 1.0, seed


# marginal and ask


@quick
@given(st.data())
def test_marginals_of_up_to_three_variables(data):
    model = data.draw(models())
    tensor = dense(model)
    known, weights = data.draw(evidence_on(model, EVIDENCE))
    if weigh(tensor, weights).sum() == 0:
        with pytest.raises(ZeroProbabilityError):
            model.marginal("x0", given=known)
        return
    expected = conditional(tensor, weights)
    for size in range(1, min(3, tensor.ndim) + 1):
        axes = data.draw(st.permutations(range(tensor.ndim)))[:size]
        table = model.marginal(*(f"x{n}" for n in axes), given=known)
        assert table.names == tuple(f"x{n}" for n in axes)
        assert_close(table.to_numpy(), marginal_of(expected, axes))
        assert_close(table.to_numpy().sum(), 1.0)


def test_the_marginal_of_all_variables_is_the_tensor(model):
    assert_close(model.marginal(*model.domain.names).to_numpy(), dense(model))


def test_axes_stand_in_the_order_of_the_names(shop):
    tensor = dense(shop)
    for axes in permutations(range(4), 3):
        names = [shop.domain.names[n] for n in axes]
        assert_close(shop.marginal(*names).to_numpy(), marginal_of(tensor, axes))


@pytest.mark.parametrize("names", [(), ("colour", "colour"), ("color",)], ids=["none", "twice", "unknown"])
def test_marginals_that_cannot_be_are_refused(shop, names):
    with pytest.raises(QueryError):
        shop.marginal(*names)


def test_a_marginal_too_large_to_write_out_is_refused():
    model = random_model([2] * 24, 1, np.random.default_rng(0))
    with pytest.raises(QueryError, match="16,777,216"):
        model.marginal(*model.domain.names)


QUESTIONS = {
    "colour": (("colour",), {}),
    "sold, colour": (("sold", "colour"), {}),
    "sold | colour = red": (("sold",), {"colour": "red"}),
    "sold | size in {1, 8}, colour != red": (("sold",), {"size": [1, 8], "colour": Not("red")}),
    "size, sold | price >= 10": (("size", "sold"), {"price": Range(at_least=10)}),
    "sold | not size in {1, 2}": (("sold",), {"size": Not([1, 2])}),
    "colour | size > 1, size <= 4": (("colour",), {"size": Range(above=1, at_most=4)}),
    "colour | sold = True": (("colour",), {"sold": True}),
    "size | size < 8": (("size",), {"size": Range(below=8)}),
    "'sold' | price = \"[10, 20)\"": (("sold",), {"price": "[10, 20)"}),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_ask_answers_like_marginal(shop, question):
    names, known = QUESTIONS[question]
    answer, expected = shop.ask(question), shop.marginal(*names, given=known)
    assert answer.names == expected.names
    assert answer.title == expected.title
    assert_close(answer.to_numpy(), expected.to_numpy())


@pytest.mark.parametrize("question", ["", "color", "colour |", "colour | sold", "colour, colour", "colour | size > x"])
def test_questions_that_mean_nothing_are_refused(shop, question):
    with pytest.raises(QueryError):
        shop.ask(question)


# condition


@quick
@given(st.data())
def test_condition_gives_the_joint_of_the_rest(data):
    model = data.draw(models(min_variables=2))
    tensor = dense(model)
    known, weights = data.draw(evidence_on(model, EVIDENCE, min_size=1))
    settled = [n for n, vector in weights.items() if np.count_nonzero(vector) == 1]
    if weigh(tensor, weights).sum() == 0:
        with pytest.raises(ZeroProbabilityError):
            model.condition(known)
    elif len(settled) == tensor.ndim:
        with pytest.raises(QueryError, match="settles every variable"):
            model.condition(known)
    else:
        left = [n for n in range(tensor.ndim) if n not in settled]
        rest = model.condition(known)
        assert rest.domain.names == tuple(f"x{n}" for n in left)
        assert_close(dense(rest), marginal_of(conditional(tensor, weights), left))


def test_the_result_of_condition_answers_like_the_model_given_the_same(shop):
    rest = shop.condition({"price": Range(below=20)}, sold=True)
    known = {"price": Range(below=20), "sold": True}
    assert rest.domain.names == ("colour", "size", "price")
    assert_close(rest.prob({"colour": "red"}), shop.prob({"colour": "red"}, given=known))
    assert_close(rest.prob({"price": ">=20"}), 0.0)
    assert_close(rest.prob({"price": Range(at_least=15)}), shop.prob({"price": Range(at_least=15)}, given=known))
    assert_close(
        rest.marginal("size", given={"colour": "blue"}).to_numpy(),
        shop.marginal("size", given={**known, "colour": "blue"}).to_numpy(),
    )
    assert_close(rest.entropy(), entropy_of(conditional(dense(shop), {2: [0, 1], 3: [1, 1, 0]})))
    assert_close(rest.mode().log_prob, shop.mode(known).log_prob)
    again = rest.condition(size=4)
    assert_close(dense(again), conditional(dense(shop), {1: [0, 0, 1, 0], 2: [0, 1], 3: [1, 1, 0]})[:, 2, 1, :])


def test_soft_evidence_counts_only_up_to_a_factor(shop):
    once = shop.condition(sold={False: 0.2, True: 0.8})
    scaled = shop.condition(sold={False: 2e200, True: 8e200})
    assert_close(dense(once), dense(scaled))
    assert_close(dense(once), conditional(dense(shop), {2: [0.2, 0.8]}))


def test_evidence_given_twice_is_refused(shop):
    with pytest.raises(QueryError, match="twice"):
        shop.condition({"sold": True}, sold=False)


def test_evidence_given_twice_by_name_and_by_position_is_refused(shop):
    # positions are understood where names are; the second one must not silently win
    for answer in (shop.prob, shop.condition, shop.mode):
        with pytest.raises(QueryError, match="twice"):
            answer({"sold": True, 2: False})


def test_condition_takes_text_as_other_answers_do(shop):
    name = shop.domain.names[0]
    label = shop.domain[0].labels[0]
    by_name, by_text = shop.condition({name: label}), shop.condition(f"{name} = {label}")
    assert by_text.domain == by_name.domain
    other = by_name.domain.names[0]
    assert_close(by_text.marginal(other).to_numpy(), by_name.marginal(other).to_numpy())
    with pytest.raises(QueryError, match="and by name"):
        shop.condition(f"{name} = {label}", **{other: by_name.domain[0].labels[0]})


def test_condition_on_nothing_changes_nothing(model):
    assert_close(dense(model.condition()), dense(model))


# mode


@quick
@given(st.data())
def test_mode_is_the_largest_cell(data):
    model = data.draw(models())
    tensor = dense(model)
    known, weights = data.draw(evidence_on(model, EVIDENCE))
    if weigh(tensor, weights).sum() == 0:
        with pytest.raises(ZeroProbabilityError):
            model.mode(known)
        return
    after = conditional(tensor, weights)
    found = model.mode(known)
    assert found.proved
    assert list(found.row) == list(model.domain.names)
    assert_is_mode(after, found.row.values())
    assert_close(found.log_prob, log_of(after.max()))
    assert_close(found.log_bound, found.log_prob)


def test_mode_gives_labels(shop):
    best = np.unravel_index(dense(shop).argmax(), shop.domain.cardinalities)
    assert shop.mode().row == {v.name: v.labels[code] for v, code in zip(shop.domain, best, strict=True)}
    assert shop.mode("size = 8, sold = False").row["size"] == 8


def two_minds(n):
    """Two classes of equal weight that favour opposite rows: the bound of the search starts far above any row."""
    factor = [[0.9, 0.1], [0.1, 0.9]]
    return JointPMF([0.5, 0.5], [factor] * n)


def compromise(n, rank, ahead):
    """Each class has a favourite row of its own, and all have the same second one, which is the mode.

    From a favourite no single change of a label leads upwards, so that only the search can find the mode, which is
    about as many times more probable as ``ahead`` says.
    """
    shared = 0.5 * (ahead / rank) ** (1 / n)
    factor = np.full((rank + 1, rank), (0.5 - shared) / (rank - 1))
    factor[np.arange(rank), np.arange(rank)] = 0.5
    factor[rank] = shared
    return JointPMF(np.full(rank, 1 / rank), [factor] * n)


@pytest.mark.parametrize("ahead", [1.02, 1.1, 2.0])
@pytest.mark.parametrize(("n", "rank"), [(3, 5), (4, 4), (4, 8), (6, 3)])
def test_mode_is_found_where_no_class_favours_it(n, rank, ahead):
    model = compromise(n, rank, ahead)
    assert dense(model).argmax() == dense(model).size - 1
    found = model.mode()
    assert set(found.row.values()) == {rank}
    assert found.proved


@pytest.mark.parametrize("max_nodes", [1, 2, 5, 20, 100, 5000])
def test_a_mode_cut_short_says_so_and_its_bound_holds(max_nodes):
    truths = {seed: random_model([2] * 10, 8, np.random.default_rng(seed), concentration=20.0) for seed in range(4)}
    for model in (two_minds(10), compromise(4, 6, 1.5), *truths.values()):
        top = log_of(dense(model).max())
        found = model.mode(max_nodes=max_nodes)
        assert found.log_prob <= top + 1e-10
        assert found.log_bound >= top - 1e-10
        assert found.log_bound >= found.log_prob
        # the row is a row, whatever the proof
        assert_close(model.log_prob({name: [label] for name, label in found.row.items()}), [found.log_prob])
        if found.proved:
            assert_close(found.log_prob, top)


def test_a_mode_cut_short_is_not_proved():
    found = two_minds(12).mode(max_nodes=1)
    assert not found.proved
    assert found.log_bound > found.log_prob + 1e-6
    assert two_minds(12).mode().proved


@pytest.mark.parametrize("max_nodes", [0, -1, 2.5, True, "many"])
def test_mode_checks_its_limit(shop, max_nodes):
    with pytest.raises(ParameterError, match="max_nodes"):
        shop.mode(max_nodes=max_nodes)


# predict and impute


def conditional_of_cell(tensor, row, target):
    """p(target | the other cells seen), straight from the tensor."""
    seen = [n for n, code in enumerate(row) if code >= 0 and n != target]
    table = marginal_of(tensor, [*seen, target])[tuple(row[seen])]
    return table / table.sum()


def test_predict_proba_and_predict(model):
    tensor = dense(model)
    codes = random_codes(model, 40, np.random.default_rng(3), missing=0.3)
    for target, variable in enumerate(model.domain):
        expected = np.array([conditional_of_cell(tensor, row, target) for row in codes])
        chances = model.predict_proba(codes, target=variable.name)
        assert_close(chances, expected)
        assert_close(chances.sum(axis=1), np.ones(len(codes)))
        chosen = model.predict(codes, target=variable.name)
        assert_close(expected[np.arange(len(codes)), chosen], expected.max(axis=1))


def test_predict_gives_labels_and_does_not_look_at_the_target(shop):
    tensor = dense(shop)
    colour = {"colour": ["red", "green", None], "sold": [True, None, None]}
    expected = [conditional_of_cell(tensor, np.array(row), 1) for row in [(0, -1, 1, -1), (1, -1, -1, -1), (-1,) * 4]]
    labels = [shop.domain["size"].labels[p.argmax()] for p in expected]
    assert shop.predict(colour, target="size").tolist() == labels
    # a wrong answer in the target's own column, even one no label knows, changes nothing
    assert shop.predict({**colour, "size": [1, 2, 99]}, target="size").tolist() == labels
    assert_close(shop.predict_proba({**colour, "size": [8, 8, 8]}, target="size"), expected)


@pytest.mark.parametrize(("target", "kind"), [("colour", "U"), ("size", "i"), ("sold", "b")])
def test_predicted_labels_have_their_type(shop, target, kind):
    assert shop.predict({"price": [7.0, 12.0]}, target=target).dtype.kind == kind


def test_predict_needs_a_target(shop):
    with pytest.raises(QueryError, match="target="):
        shop.predict({"colour": ["red"]})
    with pytest.raises(QueryError, match="colour"):
        shop.predict({"colour": ["red"]}, target="color")


def test_impute_fills_every_hole_with_its_own_most_probable_label(model):
    tensor = dense(model)
    codes = random_codes(model, 40, np.random.default_rng(4), missing=0.5)
    filled = model.impute(codes)
    assert filled.shape == codes.shape
    assert np.array_equal(filled[codes >= 0], codes[codes >= 0])
    for row, full in zip(codes, filled, strict=True):
        for n in np.flatnonzero(row < 0):
            expected = conditional_of_cell(tensor, row, n)
            assert_close(expected[full[n]], expected.max())


def test_impute_fills_only_the_columns_that_are_there(shop):
    filled = shop.impute({"sold": [None, True], "colour": ["red", None]})
    assert list(filled.columns) == ["sold", "colour"]
    tensor = dense(shop)
    assert filled["sold"][0] == bool(conditional_of_cell(tensor, np.array([0, -1, -1, -1]), 2).argmax())
    assert (
        filled["colour"][1]
        == ("red", "green", "blue")[conditional_of_cell(tensor, np.array([-1, -1, 1, -1]), 0).argmax()]
    )


def test_impute_leaves_the_given_data_alone(shop):
    frame = pd.DataFrame({"colour": ["red", None], "sold": [None, True]})
    codes = np.array([[0, -1, -1, 2]])
    before, codes_before = frame.copy(deep=True), codes.copy()
    shop.impute(frame)
    shop.impute(codes, draws=2)
    pd.testing.assert_frame_equal(frame, before)
    assert np.array_equal(codes, codes_before)


# entropy, mutual information, dependence


def test_entropy_is_that_of_the_tensor(model):
    answer = model.entropy()
    assert isinstance(answer, Estimate)
    assert answer.is_exact
    assert answer.standard_error == 0.0
    assert_close(answer, entropy_of(dense(model)))


def test_mutual_information_of_every_pair(model):
    tensor = dense(model)
    for a, b in product(range(tensor.ndim), repeat=2):
        expected = entropy_of(marginal_of(tensor, [a])) if a == b else information_in(marginal_of(tensor, [a, b]))
        assert_close(model.mutual_information(f"x{a}", f"x{b}"), expected)


@quick
@given(st.data())
def test_mutual_information_given_evidence(data):
    model = data.draw(models(min_variables=2))
    known, weights = data.draw(evidence_on(model, EVIDENCE, min_size=1))
    tensor = dense(model)
    if weigh(tensor, weights).sum() == 0:
        with pytest.raises(ZeroProbabilityError):
            model.mutual_information("x0", "x1", given=known)
    else:
        pair = marginal_of(conditional(tensor, weights), [0, 1])
        assert_close(model.mutual_information("x0", "x1", given=known), information_in(pair))


def test_dependence_in_nats(model):
    tensor = dense(model)
    N = tensor.ndim
    expected = np.diag([entropy_of(marginal_of(tensor, [n])) for n in range(N)])
    for a, b in combinations(range(N), 2):
        expected[a, b] = expected[b, a] = information_in(marginal_of(tensor, [a, b]))
    assert_close(model.dependence("information").to_numpy(), expected)


def test_dependence_normalised(model):
    tensor = dense(model)
    N = tensor.ndim
    expected = np.eye(N)
    for a, b in combinations(range(N), 2):
        smaller = min(entropy_of(marginal_of(tensor, [n])) for n in (a, b))
        # a variable with one label only depends on nothing; its entropy is zero but for rounding
        share = information_in(marginal_of(tensor, [a, b])) / smaller if smaller > 1e-12 else 0.0
        expected[a, b] = expected[b, a] = share
    assert_close(model.dependence().to_numpy(), expected)


def test_normalised_dependence_lies_between_zero_and_one():
    for seed in range(200):
        model = random_model((1, 3, 2, 1), 3, np.random.default_rng(seed), zeros=0.3)
        matrix = model.dependence().to_numpy()
        assert np.all((matrix >= 0) & (matrix <= 1)), seed
        # the constant variables depend on nothing, not even by rounding
        assert matrix[0, 1:].tolist() == [0.0, 0.0, 0.0], seed


def test_entropy_and_information_are_never_negative():
    for seed in range(200):
        model = random_model((1, 2, 1), 3, np.random.default_rng(seed), zeros=0.8)
        assert model.entropy() >= 0, seed
        assert np.all(model.dependence("information").to_numpy() >= 0), seed
        assert model.mutual_information("x0", "x0") >= 0, seed


def test_a_copy_depends_wholly_and_a_coin_not_at_all():
    model = JointPMF([0.5, 0.5], [np.eye(2), np.eye(2), np.full((2, 2), 0.5)])
    matrix = model.dependence().to_numpy()
    assert_close(matrix, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert model.dependence().strongest(1) == [("x0", "x1", pytest.approx(1.0, abs=1e-10))]


def test_strongest_pairs_come_first(shop):
    pairs = shop.dependence("information").strongest()
    assert len(pairs) == 6
    assert [value for _, _, value in pairs] == sorted((value for _, _, value in pairs), reverse=True)
    for a, b, value in pairs:
        assert_close(value, shop.mutual_information(a, b))
    assert len(shop.dependence().strongest(2)) == 2


def test_dependence_as_frames(shop):
    answer = shop.dependence("information")
    assert_close(answer.to_pandas().loc["size", "sold"], shop.mutual_information("size", "sold"))
    polars = answer.to_polars()
    assert polars.columns == ["variable", *shop.domain.names]
    assert_close(polars.drop("variable").to_numpy(), answer.to_numpy())


def test_dependence_checks_its_measure(shop):
    with pytest.raises(QueryError, match="cosine"):
        shop.dependence("cosine")


# Where no tensor fits: sums of logarithms and products of independent variables take its place.


def product_model(n, size, rng):
    """Independent variables, whose entropy is the sum of theirs."""
    return JointPMF([1.0], [rng.dirichlet(np.ones(size))[:, None] for _ in range(n)])


@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_entropy_by_sampling_of_independent_variables(seed):
    model = product_model(40, 3, np.random.default_rng(seed))
    surprises = [-np.log(factor[:, 0]) for factor in model.factors]
    means = [float(factor[:, 0] @ s) for factor, s in zip(model.factors, surprises, strict=True)]
    variances = [float(f[:, 0] @ (s - m) ** 2) for f, s, m in zip(model.factors, surprises, means, strict=True)]
    answer = model.entropy(draws=20_000, seed=seed)
    assert not answer.is_exact
    # five standard errors: a false alarm in two million runs
    assert abs(answer - sum(means)) <= 5 * answer.standard_error
    # the standard error's own error is about 0.5 %
    assert answer.standard_error == pytest.approx(np.sqrt(sum(variances) / 20_000), rel=0.1)


@pytest.mark.parametrize("seed", [0, 1])
def test_entropy_by_sampling_agrees_with_a_tensor_just_too_large(seed):
    model = random_model([2] * 20, 3, np.random.default_rng(seed))
    answer = model.entropy(draws=20_000, seed=seed)
    tensor = dense(model)
    truth = -float((tensor * np.log(tensor)).sum())
    assert not answer.is_exact
    assert abs(answer - truth) <= 5 * answer.standard_error


def test_entropy_is_the_same_for_the_same_seed():
    model = random_model([2] * 21, 3, np.random.default_rng(0))
    assert model.entropy(draws=100, seed=4) == model.entropy(draws=100, seed=4)
    assert model.entropy(draws=100, seed=4) != model.entropy(draws=100, seed=5)


@pytest.mark.parametrize(("name", "value"), [("draws", 1), ("draws", 2.0), ("seed", -1), ("seed", None)])
def test_entropy_checks_its_arguments(shop, name, value):
    with pytest.raises(ParameterError, match=name):
        shop.entropy(**{name: value})


@pytest.fixture(scope="module")
def wide():
    return random_model([3] * 500, 4, np.random.default_rng(0))


def test_log_prob_of_500_variables(wide):
    codes = random_codes(wide, 20, np.random.default_rng(1), missing=0.1)
    answers = wide.log_prob(codes)
    assert np.all(np.isfinite(answers))
    # e^-400 and less: the plain product would be near or below the smallest float
    assert np.all(answers < -300)
    for row, answer in zip(codes[:5], answers[:5], strict=True):
        seen = np.flatnonzero(row >= 0)
        logs = np.log(wide.weights) + sum(np.log(wide.factors[n][row[n]]) for n in seen)
        np.testing.assert_allclose(answer, np.logaddexp.reduce(logs), rtol=1e-12)


def test_predictions_among_500_variables_sum_to_one(wide):
    codes = random_codes(wide, 20, np.random.default_rng(2))
    chances = wide.predict_proba(codes, target="x250")
    assert np.all(np.isfinite(chances))
    assert_close(chances.sum(axis=1), np.ones(20))


def test_mode_of_500_variables(wide):
    found = wide.mode()
    row = {name: [label] for name, label in found.row.items()}
    np.testing.assert_allclose(wide.log_prob(row), [found.log_prob], rtol=1e-12)
    assert found.proved
    # no class has a better row of its own, and no drawn row is better
    own = np.log(wide.weights) + sum(np.log(factor.max(axis=0)) for factor in wide.factors)
    assert found.log_prob >= own.max() - 1e-10
    assert np.all(wide.log_prob(wide.sample(200)) <= found.log_prob)


def test_mode_of_500_independent_variables():
    model = product_model(500, 4, np.random.default_rng(1))
    found = model.mode()
    assert found.proved
    assert list(found.row.values()) == [int(factor.argmax()) for factor in model.factors]
    assert found.log_prob == pytest.approx(sum(np.log(factor.max()) for factor in model.factors), rel=1e-12)


def test_evidence_on_499_of_500_variables(wide):
    codes = random_codes(wide, 1, np.random.default_rng(3))[0]
    known = {f"x{n}": int(codes[n]) for n in range(1, 500)}
    expected = wide.predict_proba(codes[None, :], target="x0")[0]
    assert_close(wide.marginal("x0", given=known).to_numpy(), expected)
    assert_close(dense(wide.condition(known)), expected)
    assert_close(wide.prob({"x0": 2}, given=known), expected[2])


# Zero probability


def impossible():
    """x0 = 1 never happens, and x1 = 0 never with x2 = 1, though each of the two alone does."""
    return JointPMF([0.5, 0.5], [[[1.0, 1.0], [0.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])


QUERIES = {
    "prob": lambda model, known: model.prob({"x1": 0}, given=known),
    "marginal": lambda model, known: model.marginal("x1", given=known),
    "condition": lambda model, known: model.condition(known),
    "mode": lambda model, known: model.mode(known),
    "sample": lambda model, known: model.sample(3, given=known),
    "mutual information": lambda model, known: model.mutual_information("x1", "x2", given=known),
}
IMPOSSIBLE = {"a label": {"x0": 1}, "a pair": {"x1": 0, "x2": 1}, "no label left": {"x1": Not([0, 1])}}


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("evidence", IMPOSSIBLE)
def test_evidence_of_probability_zero_is_refused(query, evidence):
    with pytest.raises(ZeroProbabilityError, match="probability zero"):
        QUERIES[query](impossible(), IMPOSSIBLE[evidence])


def test_evidence_of_probability_zero_in_text_and_in_rows_is_refused():
    model = impossible()
    with pytest.raises(ZeroProbabilityError, match="x1 = 0, x2 = 1"):
        model.ask("x0 | x1 = 0, x2 = 1")
    rows = np.array([[0, 1, 1], [-1, 0, 1]])
    for answer in (model.impute, lambda data: model.impute(data, draws=1), lambda d: model.predict_proba(d, "x0")):
        with pytest.raises(ZeroProbabilityError, match="Row 1"):
            answer(rows)
    assert model.log_prob(rows).tolist() == [pytest.approx(np.log(0.5)), -np.inf]


def test_an_impossible_event_has_probability_zero_and_raises_nothing():
    assert impossible().prob({"x0": 1}) == 0.0
    assert impossible().prob({"x1": 0}, given={"x2": 1}) == 0.0
    assert issubclass(ZeroProbabilityError, JurorError)


# Properties


@quick
@given(st.data())
def test_the_order_of_classes_and_variables_does_not_matter(data):
    model = data.draw(models())
    classes = data.draw(st.permutations(range(model.rank)))
    order = data.draw(st.permutations(range(len(model.domain))))
    turned = JointPMF(
        model.weights[classes],
        [model.factors[n][:, classes] for n in order],
        Domain(tuple(model.domain[n] for n in order)),
    )
    assert_close(np.transpose(dense(model), order), dense(turned))
    assert_close(model.entropy(), turned.entropy())
    assert_close(model.mode().log_prob, turned.mode().log_prob)
    assert_close(model.marginal("x0").to_numpy(), turned.marginal("x0").to_numpy())
    information, turned_information = (m.dependence("information").to_numpy() for m in (model, turned))
    assert_close(information[np.ix_(order, order)], turned_information)


@quick
@given(st.data())
def test_chain_rule(data):
    model = data.draw(models(min_variables=2))
    joint = model.marginal("x0", "x1").to_numpy()
    for code, p in enumerate(model.marginal("x0").to_numpy()):
        if p > 0:
            after = model.marginal("x1", given={"x0": code}).to_numpy()
            assert_close(joint[code], p * after)


@pytest.mark.parametrize("target_size", [3, 40], ids=["few labels", "many labels"])
@pytest.mark.parametrize("rank", [1024, 1025, 2500])
def test_models_of_many_classes_answer_as_the_sum_over_them(rank, target_size):
    rng = np.random.default_rng(rank)
    model = random_model((target_size, 4, 5), rank, rng)
    # rows that the first classes cannot produce, or only they
    factors = [factor.copy() for factor in model.factors]
    factors[1][0, :1100] = 0.0
    factors[1][1, 1100:] = 0.0
    factors[1] /= factors[1].sum(axis=0)
    model = JointPMF(model.weights, factors)
    codes = random_codes(model, 50, rng, missing=0.2)
    joint = np.tile(model.weights, (50, 1))
    for n in (1, 2):
        seen = codes[:, n] >= 0
        joint[seen] *= model.factors[n][codes[seen, n]]
    np.testing.assert_allclose(
        model.predict_proba(codes, target=model.domain.names[0]),
        (joint / joint.sum(axis=1, keepdims=True)) @ model.factors[0].T,
        rtol=1e-10,
    )
    seen = codes[:, 0] >= 0
    joint[seen] *= model.factors[0][codes[seen, 0]]
    np.testing.assert_allclose(model.log_prob(codes), np.log(joint.sum(axis=1)), rtol=1e-10, atol=1e-12)


def test_long_labels_are_shortened_for_people_and_no_one_else():
    report = (
        "The covered entity mailed letters with incorrect addresses after a programming code caused corruption. " * 9
    )
    table = {"summary": ["brief", f"{report}1", f"{report}2"] * 20, "kind": ["loss", "theft"] * 30}
    model = juror.fit(table, 1, "em")
    answer = model.ask("summary | kind = loss")
    shown = (model.summary(), answer, answer.support, model.interval("summary"), model.ask("kind, summary"))
    for text in map(str, shown):
        assert max(map(len, text.splitlines())) < 300
        assert "The covered entity mailed letters with incorrect addresses …" in text
    assert answer.to_dict()["summary"][0] == f"{report}1"
    with pytest.raises(QueryError) as refused:
        model.prob({"summary": "a report"})
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("ask", ["ask", "interval"])
def test_no_question_is_an_empty_one(ask):
    model = juror.fit({"a": ["x", "y"] * 5}, 1, "em")
    with pytest.raises(QueryError, match="question is empty"):
        getattr(model, ask)(None)
