"""Questions are written so that juror reads them again: names, labels and ranges above answers and in checks."""

import numpy as np
import pandas as pd
import pytest

import juror
from juror.domain import Domain
from juror.domain.question_texts import as_name, as_value
from juror.domain.variable import Variable
from juror.testing import random_model

HARD = [
    "New York",
    "a|b",
    "it's",
    'q"q',
    'it\'s "q"',
    ">5",
    ">= 5",
    "not",
    "in",
    "{a}",
    "",
    "3 = 4",
    "x,y",
    "a\\b",
    "a b\\",
    "two\nlines\tand a\\n",
    "\x1b(2J\u2028",
]


@pytest.fixture(scope="module")
def model():
    """A model of columns whose names, labels and intervals need care in a question."""
    rng = np.random.default_rng(0)
    n = 600
    frame = pd.DataFrame(
        {
            "x, y": rng.normal(size=n),
            "body mass (g)": rng.integers(0, 100, n),
            "my city": rng.choice(HARD, n),
            "k=2": rng.choice([1, 2, 5], n),
            "not": rng.random(n) < 0.4,
            "seen": pd.Timestamp("2024-01-01 12:30") + pd.to_timedelta(rng.integers(0, 10_000, n), unit="m"),
        }
    )
    return juror.fit(frame, rank=1, method="em")


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("age", "age", "age"),
        ("T.categ", "T.categ", "T.categ"),
        ("marine corps", "'marine corps'", "'marine corps'"),
        (">50K", "'>50K'", ">50K"),
        ("it's", '"it\'s"', '"it\'s"'),
        ("2024-03-01 12:30", "2024-03-01 12:30", "2024-03-01 12:30"),
        ("", "''", "''"),
        ("Not", "'Not'", "'Not'"),
    ],
)
def test_terms_are_quoted_only_if_they_must_be(text, name, value):
    assert (as_name(text), as_value(text)) == (name, value)


@pytest.mark.parametrize("name", ["my city", "body mass (g)", "x, y", "k=2", "not", "seen"])
def test_every_question_of_a_check_can_be_asked(model, name):
    checked = model.check().to_pandas()
    lines = checked[(checked["target"] == name) | (checked["given"] == name)]
    lines = lines.drop_duplicates("question").iloc[:: max(1, len(lines) // 100)]
    assert len(lines) > 20
    asked = [model.prob(question) for question in lines["question"]]
    # Ends of intervals are written with few digits.
    np.testing.assert_allclose(asked, lines["probability"], atol=1e-4)


@pytest.mark.parametrize("label", HARD)
def test_the_title_of_an_answer_can_be_asked(model, label):
    answer = model.marginal("not", "x, y", given={"my city": juror.Not(label), "k=2": [2, 5]})
    np.testing.assert_array_equal(model.ask(answer.title).to_numpy(), answer.to_numpy())


def test_the_title_of_an_answer_quotes_what_needs_it(model):
    assert model.ask("'body mass (g)' | 'my city' in {in, 'New York'}").title == (
        "P('body mass (g)' | 'my city' in {'New York', 'in'})"
    )


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("> 0", "'x, y' > 0"),
        ("<= 0.1", "'x, y' <= 0.1"),
        ("< -0.1", "'x, y' < -0.1"),
        ("!= 0.5", "not 'x, y' = 0.5"),
    ],
)
def test_strict_ends_are_written_as_they_were_asked(model, asked, written):
    assert model.ask(f"not | 'x, y' {asked}").given == written


def test_ranges_with_two_ends_are_written_as_they_were_asked(model):
    assert model.ask("not | -1 < 'x, y' <= 1").given == "-1 < 'x, y' <= 1"
    assert model.ask("not | not -1 < 'x, y' <= 1").given == "not -1 < 'x, y' <= 1"
    assert model.ask("not | not 'body mass (g)' = 40").given == "not 'body mass (g)' = 40"


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("n >= 3", "n >= 3"),
        ("n < 4", "n <= 3"),
        ("2 < n < 7", "3 <= n <= 6"),
        ("n > 7", "n in {8, 9}"),
        ("n != 4", "not n = 4"),
        ("not n >= 3", "n <= 2"),
        ("n in {1, 3, 5}", "n in {1, 3, 5}"),
        ("not 3 <= n <= 6", "not 3 <= n <= 6"),
        ("size >= 'two XL'", "size >= 'two XL'"),
    ],
)
def test_ranges_of_labels_are_written_as_ranges(asked, written):
    sizes = ("S", "M", "two XL", "three XL", "four XL")
    n, size = Variable("n", tuple(range(10)), "ordinal"), Variable("size", sizes, "ordinal")
    model = random_model([10, 5], 2, np.random.default_rng(0), domain=Domain([n, size]))
    assert model.ask(f"n | {asked}").given == written
    assert model.ask(f"n | {written}").given == written


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("n in {3, 70}", "n in {3, 70}"),
        ("not n in {3, 70}", "not n in {3, 70}"),
        ("n != 3, n != 70, n >= 2, n != none", "n >= 2, not n = 3, not n = 70"),
        ("not 3 <= n < 9, not 40 <= n < 50", "not 3 <= n < 9, not 40 <= n < 50"),
        ("not 3 <= n < 9, not 40 <= n < 50, n != none", "not n = none, not 3 <= n < 9, not 40 <= n < 50"),
        ("n != none", "not n = none"),
        ("n in {3, none}", "n in {3, none}"),
        ("not n >= 3", "not n >= 3"),
    ],
)
def test_parts_of_intervals_are_written_as_conditions(asked, written):
    rng = np.random.default_rng(0)
    numbers = pd.Series(rng.integers(0, 100, 300).astype(float)).mask(rng.random(300) < 0.1)
    frame = pd.DataFrame({"n": numbers, "kind": numbers > 50})
    model = juror.fit(frame, rank=1, method="em", missing_as={"n": "none"})
    answer = model.ask(f"kind | {asked}")
    assert answer.given == written
    np.testing.assert_array_equal(model.ask(answer.title).to_numpy(), answer.to_numpy())


@pytest.mark.parametrize("number", [0.12345678, -1234567.89])
def test_numbers_that_recur_are_written_with_all_digits(number):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=400) if abs(number) < 1 else (1e6 * rng.normal(size=400)).round(2)
    x = np.where(rng.random(400) < 0.3, number, noise)
    model = juror.fit(pd.DataFrame({"x": x, "above": x >= number}), rank=2, method="em", smoothing=1.0)
    checked = model.check().to_pandas()
    asked = [model.prob(question) for question in checked["question"]]
    np.testing.assert_allclose(asked, checked["probability"], atol=1e-4)
    for condition in ("x >=", "x >", "x <", "x <=", "x =", "not x ="):
        answer = model.ask(f"above | {condition} {number}")
        np.testing.assert_allclose(model.ask(answer.title).to_numpy(), answer.to_numpy(), atol=1e-9)


def test_ranges_begin_with_labels_that_look_like_comparisons():
    sizes = Variable("size", ("<1", ">1", ">10", ">20", "all"), "ordinal")
    model = random_model([5], 2, np.random.default_rng(0), domain=Domain([sizes]))
    assert model.ask("size | '>1' <= size <= >20").given == "'>1' <= size <= >20"


def test_few_labels_of_many_are_written_as_those_left_out():
    model = random_model(
        [40], 2, np.random.default_rng(0), domain=Domain([Variable("city", tuple(map(str, range(40))))])
    )
    assert model.ask("city | not city in {3, 17}").given == "not city in {3, 17}"


@pytest.mark.parametrize("names", [("P(x)", "y"), ("P(x", "P(x)"), ("y", "P(x) | z")])
def test_names_that_look_like_titles_can_be_asked_for(names):
    domain = Domain([Variable(name, ("a", "b")) for name in names])
    model = random_model([2, 2], 2, np.random.default_rng(0), domain=domain)
    for targets in (names, names[::-1], names[:1], names[1:]):
        answer = model.marginal(*targets)
        np.testing.assert_array_equal(model.ask(answer.title).to_numpy(), answer.to_numpy())
    answer = model.marginal(names[0], given={names[1]: "a"})
    np.testing.assert_array_equal(model.ask(answer.title).to_numpy(), answer.to_numpy())


def test_intervals_are_written_as_ranges(model):
    questions = model.check().to_pandas()["question"]
    assert not questions.str.contains("[", regex=False).any()


def test_labels_with_commas_are_told_apart_in_a_summary():
    model = juror.fit({"lines": ["1", "1, 11", "11, 2"] * 20, "size": [*range(30), *range(30)]}, 1, "em")
    assert "1, '1, 11', '11, 2'\n" in model.summary()
    assert "'[" not in model.summary()
