"""Making a model: what is refused, what never changes afterwards, and the tables its answers come in."""

import copy
import pickle
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from juror import Domain, FitInfo, JointPMF, JurorError, Variable
from juror.answers.information import Estimate
from juror.domain.question_texts import as_name, as_value
from juror.errors import ModelError, QueryError
from juror.testing import dense, random_model

WEIGHTS = [0.6, 0.4]
FACTORS = [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.2, 0.4], [0.1, 0.5]]]

INFO = FitInfo("em", 2, 10.0, 8, -20.0, 9, 0.1, 0, (-21.0,), (-30.0, -21.0), "converged", 7, target="x1")


@pytest.fixture
def model():
    return JointPMF(WEIGHTS, FACTORS, info=INFO)


# Construction

WRONG = {
    "weights in two dimensions": ([WEIGHTS], FACTORS, None, "weights must have 1 dimension"),
    "a single number for weights": (1.0, FACTORS, None, "weights must have 1 dimension"),
    "no weights": ([], FACTORS, None, "not be empty"),
    "a weight that is not a number": ([np.nan, 0.4], FACTORS, None, "weights must be finite. Got nan"),
    "an infinite weight": ([np.inf, 0.4], FACTORS, None, "weights must be finite. Got inf"),
    "a negative weight": ([1.25, -0.25], FACTORS, None, "weights must not be negative. Got -0.25"),
    "weights that sum to less": ([0.5, 0.4], FACTORS, None, "weights must sum to one"),
    "weights that sum to more": ([0.7, 0.4], FACTORS, None, "off by 0.1"),
    "text for weights": (["a", "b"], FACTORS, None, "weights"),
    "no factors": (WEIGHTS, [], None, "at least one factor"),
    "a factor in one dimension": (WEIGHTS, [[0.5, 0.5]], None, "Factor 0 must have 2 dimension"),
    "a factor in three dimensions": (WEIGHTS, [FACTORS[0], [FACTORS[1]]], None, "Factor 1 must have 2 dimension"),
    "a factor without labels": (WEIGHTS, [np.empty((0, 2))], None, "not be empty"),
    "a factor that is not a number": (WEIGHTS, [[[np.nan, 0.2], [0.1, 0.8]]], None, "Factor 0 must be finite"),
    "a negative factor": (WEIGHTS, [[[1.5, 0.2], [-0.5, 0.8]]], None, "Factor 0 must not be negative. Got -0.5"),
    "one column that does not sum to one": (WEIGHTS, [[[0.9, 0.2], [0.1, 0.7]]], None, "Factor 0 must sum to one"),
    "rows that sum to one instead": (WEIGHTS, [[[0.9, 0.1], [0.8, 0.2]]], None, "Factor 0 must sum to one"),
    "a ragged factor": (WEIGHTS, [[[0.9, 0.2], [0.1]]], None, "Factor 0"),
    "a factor of another rank": (WEIGHTS, [FACTORS[0], [[0.5], [0.5]]], None, "'x1' must have shape (2, 2)"),
    "more weights than columns": ([0.5, 0.3, 0.2], FACTORS, None, "'x0' must have shape (2, 3)"),
    "a domain with more variables": (WEIGHTS, FACTORS, Domain.from_cardinalities([2, 3, 2]), "3 variables"),
    "a domain with fewer variables": (WEIGHTS, FACTORS, Domain.from_cardinalities([2]), "1 variables"),
    "a domain with other labels": (WEIGHTS, FACTORS, Domain.from_cardinalities([2, 4]), "'x1' must have shape (4, 2)"),
    "a domain the other way round": (WEIGHTS, FACTORS, Domain.from_cardinalities([3, 2]), "'x0' must have shape"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_no_distribution_is_refused(case):
    weights, factors, domain, message = WRONG[case]
    with pytest.raises(ModelError) as caught:
        JointPMF(weights, factors, domain)
    assert message in str(caught.value)
    assert issubclass(ModelError, JurorError)


def test_what_is_a_distribution_is_taken(model):
    # the same parts as above, with nothing wrong
    assert JointPMF(WEIGHTS, FACTORS, Domain.from_cardinalities([2, 3])).rank == 2
    assert JointPMF(np.array(WEIGHTS, dtype=np.float32), [np.array(f) for f in FACTORS]).weights.dtype == np.float64
    assert JointPMF([1], [[[1]], [[0], [1]]]).domain.cardinalities == (1, 2)
    assert model.domain.names == ("x0", "x1")
    assert model.domain["x1"].labels == (0, 1, 2)
    assert model.info is INFO
    assert JointPMF(WEIGHTS, FACTORS).info is None


def test_the_parts_come_back_as_they_were_given(model):
    assert model.weights.tolist() == WEIGHTS
    assert [factor.tolist() for factor in model.factors] == FACTORS
    assert isinstance(model.factors, tuple)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    off=st.floats(-0.99e-6, 0.99e-6),
    rank=st.integers(1, 5),
    size=st.integers(1, 6),
)
def test_sums_within_a_millionth_are_scaled_to_one(seed, off, rank, size):
    exact = random_model((size,), rank, np.random.default_rng(seed))
    scaled = JointPMF(exact.weights * (1 + off), [exact.factors[0] * (1 + off)])
    # sums that are one up to rounding, a few 1e-14, are left alone
    np.testing.assert_allclose(scaled.weights.sum(), 1.0, rtol=0, atol=1e-13)
    np.testing.assert_allclose(scaled.factors[0].sum(axis=0), 1.0, rtol=0, atol=1e-13)
    # scaled as a whole: what is large stays as large against what is small
    np.testing.assert_allclose(scaled.weights, exact.weights, rtol=1e-12)
    np.testing.assert_allclose(scaled.factors[0], exact.factors[0], rtol=1e-12)


@pytest.mark.parametrize("off", [-1.01e-6, 1.01e-6, -0.5, 1.0])
def test_sums_off_by_more_are_refused(off):
    with pytest.raises(ModelError, match="1e-06"):
        JointPMF([0.6 + off, 0.4], FACTORS)
    with pytest.raises(ModelError, match="1e-06"):
        JointPMF([1.0], [[[0.5 + off / 2], [0.5 + off / 2]]])


def test_every_column_is_checked_by_itself():
    # one too large and one too small by as much: the total alone would look right
    with pytest.raises(ModelError, match="Factor 0"):
        JointPMF(WEIGHTS, [[[0.9, 0.2], [0.2, 0.7]]])


def test_repr_tells_the_rank_and_the_variables(model):
    assert repr(model) == "JointPMF(rank 2, 2 variables: x0, x1)"
    assert repr(model.condition(x0=1)) == "JointPMF(rank 2, 1 variable: x1)"
    wide = random_model([2] * 50, 3, np.random.default_rng(0))
    assert repr(wide) == "JointPMF(rank 3, 50 variables: x0, x1, x2, x3, x4, x5, …)"


# Immutability


@pytest.mark.parametrize("name", ["weights", "factors", "domain", "info", "rank", "anything"])
def test_nothing_can_be_set(model, name):
    with pytest.raises(AttributeError):
        setattr(model, name, None)


def test_numbers_cannot_be_changed_in_place(model):
    for array in (model.weights, *model.factors, model.weights[:1], model.factors[0].T):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.5


def test_the_arrays_given_stay_the_callers_own(model):
    weights, factors = np.array(WEIGHTS), [np.array(factor) for factor in FACTORS]
    made = JointPMF(weights, factors)
    weights[:] = 0.5
    factors[0][:] = 0.5
    factors.clear()
    np.testing.assert_array_equal(dense(made), dense(model))
    weights[0] = 0.7  # and are not locked


def test_answers_leave_the_model_as_it_was(model):
    before = pickle.dumps((model.weights, model.factors))
    rest = model.condition(x0={0: 0.2, 1: 0.8})
    model.mode({"x1": [0, 1]})
    table = model.marginal("x0")
    table.to_numpy()[:] = 7.0
    model.dependence().to_numpy()[:] = 7.0
    model.sample(5, given={"x0": 1})
    assert pickle.dumps((model.weights, model.factors)) == before
    np.testing.assert_allclose(table.to_numpy().sum(), 1.0)
    assert rest is not model


# Copies


def duplicates(model):
    yield copy.copy(model)
    yield copy.deepcopy(model)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(model, protocol))


def test_pickles_and_copies_are_the_same_model(model):
    model.prob({"x0": 1})  # what variables remember between questions travels too, or not, but does no harm
    for again in duplicates(model):
        assert again.weights.tobytes() == model.weights.tobytes()
        assert [f.tobytes() for f in again.factors] == [f.tobytes() for f in model.factors]
        assert again.domain == model.domain
        assert again.info == model.info
        assert again.prob({"x0": 1}, given={"x1": 2}) == model.prob({"x0": 1}, given={"x1": 2})
        assert not again.weights.flags.writeable
        assert again.sample(10).equals(model.sample(10))


def test_a_pickled_estimate_keeps_its_standard_error():
    again = pickle.loads(pickle.dumps(Estimate(1.5, 0.25)))
    assert (float(again), again.standard_error, again.is_exact) == (1.5, 0.25, False)
    assert repr(again) == "1.5 ± 0.25 (standard error)"
    assert repr(Estimate(1.5)) == "1.5"


# Labelled tables

HOSTILE = "<script>alert('1')</script>"
ALSO_HOSTILE = '"><img src=x onerror="alert(1)">&amp;'


def labelled(*variables):
    domain = Domain(variables)
    return random_model(domain.cardinalities, 2, np.random.default_rng(0), domain=domain)


@pytest.fixture
def car():
    return labelled(
        Variable("class", ("unacc", "acc", "good")),
        Variable("doors", (2, 3, 4, 5), "ordinal"),
        Variable("old", (False, True)),
    )


def test_a_cell_is_found_by_its_labels(car):
    tensor = dense(car)
    one, two = car.marginal("doors"), car.marginal("old", "class")
    for code, label in enumerate((2, 3, 4, 5)):
        assert one[label] == pytest.approx(tensor.sum(axis=(0, 2))[code], abs=1e-12)
    assert isinstance(one[2], float)
    assert one["3"] == one[3] == one[3.0]
    assert two[True, "good"] == pytest.approx(tensor.sum(axis=1)[2, 1], abs=1e-12)
    assert two[("False", "acc")] == pytest.approx(tensor.sum(axis=1)[1, 0], abs=1e-12)


@pytest.mark.parametrize("labels", ["good", (True,), (True, "good", 2), (True, "bad"), (2, "good"), ()])
def test_a_cell_that_is_not_there_is_refused(car, labels):
    with pytest.raises(QueryError):
        car.marginal("old", "class")[labels]


def test_rows_give_every_combination_in_order(car):
    table = car.marginal("old", "class")
    rows = list(table.rows())
    assert [labels for labels, _ in rows] == [(o, c) for o in (False, True) for c in ("unacc", "acc", "good")]
    assert [p for _, p in rows] == table.to_numpy().ravel().tolist()


def test_tables_become_arrays_and_frames(car):
    table = car.marginal("class", "doors", "old")
    array = table.to_numpy()
    assert array.shape == (3, 4, 2)
    assert array.dtype == np.float64
    frame = table.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["class", "doors", "old", "probability"]
    assert frame["probability"].tolist() == array.ravel().tolist()
    assert frame["doors"].dtype.kind == "i"
    assert frame["old"].dtype.kind == "b"
    cell = frame[(frame["class"] == "good") & (frame["doors"] == 4) & frame["old"]]
    assert cell["probability"].tolist() == [table["good", 4, True]]
    other = table.to_polars()
    assert isinstance(other, pl.DataFrame)
    assert other.to_dict(as_series=False) == table.to_dict() == frame.to_dict("list")


def test_a_variable_may_be_called_probability():
    model = labelled(Variable("probability", ("a", "b")), Variable("probability_", ("c",)))
    table = model.marginal("probability", "probability_")
    assert list(table.to_dict()) == ["probability", "probability_", "probability__"]
    assert table.to_pandas()["probability__"].tolist() == table.to_numpy().ravel().tolist()


@pytest.mark.parametrize("labels", [(1, 2.5), (2, 3, "more")], ids=["int and float", "int and text"])
def test_labels_of_several_types_come_in_both_frames(labels):
    table = labelled(Variable("a", labels)).marginal("a")
    for frame in (table.to_pandas(), table.to_polars()):
        assert [str(value).removesuffix(".0") for value in frame["a"].to_list()] == [str(label) for label in labels]


def test_titles_say_what_was_asked(car):
    assert car.marginal("class").title == "P(class)"
    assert car.marginal("old", "class").title == "P(old, class)"
    assert car.marginal("class", given={"old": True, "doors": [2, 3]}).title == "P(class | old = True, doors in {2, 3})"
    assert car.ask("class | doors != 2").title == "P(class | not doors = 2)"
    assert car.marginal("class", given={"old": {False: 0.1, True: 0.7}}).title == "P(class | old soft)"


def test_one_variable_prints_with_bars():
    table = JointPMF([1.0], [[[0.75], [0.25], [0.0]]], Domain((Variable("a", ("x", "long", "z")),))).marginal("a")
    assert str(table).splitlines() == [
        "P(a)",
        "a     probability",
        "x          0.7500  " + "█" * 18,
        "long       0.2500  " + "█" * 6,
        "z          0.0000",
    ]
    assert repr(table) == str(table)


def test_two_variables_print_as_a_cross_table():
    model = JointPMF([1.0], [[[0.75], [0.25]], [[0.5], [0.5]]], Domain.from_cardinalities([2, 2]))
    assert str(model.marginal("x0", "x1")).splitlines() == [
        "P(x0, x1)",
        r"x0 \ x1       0       1",
        "0        0.3750  0.3750",
        "1        0.1250  0.1250",
    ]


def text_columns_start_alike(text, n_text):
    """Whether the first columns of a printed table stand to the left, all starting where their heading does."""
    _, head, *body = text.splitlines()
    starts = [head.index(word) for word in head.split()[:n_text]]
    return all(line[start] != " " and (start == 0 or line[start - 1] == " ") for line in body for start in starts)


def test_text_columns_start_alike_tells_left_from_right():
    assert text_columns_start_alike("P\na   b   p\nxx  y   1\nx   yy  2", 2)
    assert not text_columns_start_alike("P\na    b  p\nxx   y  1\nx   yy  2", 2)


@pytest.mark.parametrize("sizes", [(2, 9), (2, 2, 2)], ids=["too wide for a cross table", "three variables"])
def test_labels_stand_to_the_left(sizes):
    words = ["short", "a-longer-one", "an-even-longer-one", *(f"label-{n}" for n in range(9))]
    model = labelled(*(Variable(f"variable{n}", tuple(words[:size])) for n, size in enumerate(sizes)))
    assert text_columns_start_alike(str(model.marginal(*model.domain.names)), len(sizes))


def test_long_tables_are_cut_and_say_so():
    """The most probable labels are shown, wherever they stand in the table, and the most probable one first."""
    p = np.arange(1.0, 41.0) / 820
    domain = Domain((Variable("a", tuple(f"label {n:02d}" for n in range(40))),))
    table = JointPMF([1.0], [p[:, None]], domain).marginal("a")
    for text in (str(table), table._repr_html_()):
        assert text.index("label 39") < text.index("label 38") < text.index("label 10")
        assert "label 09" not in text
        assert f"… 10 less probable rows, {p[:10].sum():.4f} in all; .to_pandas() has all" in text
    assert len(table.to_pandas()) == 40


class Page(HTMLParser):
    """Collects the tags and the text of a page, as a browser would see them."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, attrs))

    def handle_data(self, data):
        self.texts.append(data)


def assert_harmless(html, *texts):
    """Only the tags of a plain table, and the texts shown as they are."""
    page = Page(html)
    assert {tag for tag, _ in page.tags} <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p"}
    assert all(attrs == [] for _, attrs in page.tags)
    for text in texts:
        assert any(text in shown for shown in page.texts)


@pytest.mark.parametrize(
    "html",
    [
        f"<table><tr><td>{HOSTILE}</td></tr></table>",
        "<table><tr><td onclick='x'>a</td></tr></table>",
        "<table><tr><td>&amp;lt;script&amp;gt;alert('1')</td></tr></table>",
    ],
    ids=["a tag", "an attribute", "escaped twice"],
)
def test_assert_harmless_rejects_harm(html):
    assert_harmless("<table><tr><td>&lt;script&gt;alert('1')&lt;/script&gt;</td></tr></table>", HOSTILE)
    with pytest.raises(AssertionError):
        assert_harmless(html, HOSTILE)


@pytest.fixture
def hostile():
    return labelled(
        Variable(HOSTILE, ("a", ALSO_HOSTILE)), Variable("b", (HOSTILE, "c")), Variable("d", ("</table>", "e"))
    )


def test_hostile_names_labels_and_evidence_are_shown_as_text(hostile):
    assert_harmless(hostile.marginal(HOSTILE)._repr_html_(), HOSTILE, ALSO_HOSTILE)
    assert_harmless(hostile.marginal("b", HOSTILE)._repr_html_(), HOSTILE, ALSO_HOSTILE)
    assert_harmless(hostile.marginal("d", "b", HOSTILE)._repr_html_(), "</table>", HOSTILE, ALSO_HOSTILE)
    given_title = f"P(b | {as_name(HOSTILE)} = {as_value(ALSO_HOSTILE)})"
    assert_harmless(hostile.marginal("b", given={HOSTILE: ALSO_HOSTILE})._repr_html_(), given_title)
    assert_harmless(hostile.dependence()._repr_html_(), HOSTILE)


def test_html_holds_the_same_numbers_as_the_table(car):
    table = car.marginal("class")
    texts = Page(table._repr_html_()).texts
    assert "P(class)" in texts
    for label, p in zip(car.domain["class"].labels, table.to_numpy(), strict=True):
        assert texts[texts.index(label) + 1] == f"{p:.4f}"


def test_dependence_prints(car):
    lines = str(car.dependence()).splitlines()
    assert lines[0].split() == ["variable", "class", "doors", "old"]
    assert [line.split()[0] for line in lines[1:]] == ["class", "doors", "old"]
    assert lines[1].split()[1] == "1.000"
    wide = random_model([2] * 20, 2, np.random.default_rng(0))
    assert "20 variables" in str(wide.dependence())
    assert len(str(wide.dependence()).splitlines()) <= 40
