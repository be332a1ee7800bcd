"""Tables of many intervals are shown in few lines, each the exact sum of intervals."""

from __future__ import annotations

import numpy as np
import pytest

import juror
from juror.answers.marginals import ProbabilityTable
from juror.answers.short_tables import MOST_COLUMNS, MOST_LINES, groups_shown, joined, summed
from juror.domain.variable import Variable


def _numbers(edges: np.ndarray, **more: object) -> Variable:
    domain = juror.Domain.infer({"x": [float(edges[0]), float(edges[-1])]}, edges={"x": edges.tolist()}, **more)
    return domain["x"]


def _table(variable: Variable, p: np.ndarray) -> ProbabilityTable:
    return ProbabilityTable((variable,), p / p.sum())


def test_joined_lines_are_the_sums_that_the_model_gives():
    rng = np.random.default_rng(3)
    x = rng.gamma(2.0, 30.0, 3000)
    table = {"x": x, "kind": np.where(x + rng.normal(0, 20, 3000) > 60, "large", "small")}
    model = juror.fit(table, rank=3, method="em", bins=60)
    answer = model.ask("x | kind = large")
    (starts,) = answer.groups
    short = answer.summed_over(answer.groups)
    assert 4 <= len(starts) <= MOST_LINES + 2
    assert short.to_numpy().sum() == pytest.approx(1.0)
    edges = short.variables[0].edges
    for code, label in enumerate(short.variables[0].labels[1:-1], start=1):
        event = {"x": juror.Range(at_least=edges[code], below=edges[code + 1])}
        assert short[label] == pytest.approx(model.prob(event, given="kind = large"), abs=1e-12)
    assert len(str(answer).splitlines()) < MOST_LINES + 9
    assert "60 intervals are joined here; .to_pandas() has all" in str(answer)
    assert len(answer.to_dict()["x"]) == 60


def test_the_text_of_an_answer_has_the_rows_behind_it():
    answer = juror.fit(juror.datasets.titanic(), rank=4, method="em").ask("Survived | Sex = Female")
    assert str(answer) == str(answer.support)
    assert "shares of 470 rows" in str(answer)
    assert "344" in answer._repr_html_()


def test_rows_are_joined_as_probabilities_are():
    x = np.random.default_rng(0).normal(size=2000)
    model = juror.fit({"x": x, "y": x > 0}, rank=2, method="em", bins=50)
    answer = model.ask("x")
    short = answer.support.shown
    assert short.rows == answer.support.rows == 2000
    assert short.counts.tolist() == summed(answer.support.counts, answer.groups).tolist()
    assert short.table[short.table.variables[0].labels[2]] > 0


def test_few_intervals_stay_as_they_are():
    variable = _numbers(np.linspace(0, 10, 2 * MOST_LINES + 1))
    answer = _table(variable, np.ones(2 * MOST_LINES))
    assert [len(starts) for starts in answer.groups] == [2 * MOST_LINES]
    assert answer.joined_in_words() == []


def test_cuts_are_near_round_numbers():
    variable = _numbers(np.linspace(3.0, 97.0, 941))
    p = np.exp(-0.5 * ((np.linspace(3.0, 97.0, 940) - 50) / 15) ** 2)
    short = joined(variable, groups_shown((variable,), p)[0])
    assert short.edges[1:-1] == pytest.approx([20, 30, 40, 50, 60, 70, 80], abs=0.11)


def test_numbers_of_many_sizes_are_cut_at_one_two_five():
    edges = np.geomspace(1.0, 1e6, 601)
    variable = _numbers(edges)
    short = joined(variable, groups_shown((variable,), np.ones(600))[0])
    assert np.log10(short.edges[1:-1]) == pytest.approx(np.round(2 * np.log10(short.edges[1:-1])) / 2, abs=0.04)
    assert 6 <= len(short.labels) <= MOST_LINES


@pytest.mark.parametrize(
    "edges",
    [
        10.0 ** np.linspace(-12, 12, 201),
        -(10.0 ** np.linspace(12, -12, 201)),
        np.append(-(1.0e308 + np.linspace(7e307, 0, 101)), 1.0e308 + np.linspace(0, 7e307, 100)),
    ],
)
def test_numbers_of_very_many_sizes_are_cut_into_lines_of_about_the_same_probability(edges: np.ndarray):
    variable = _numbers(edges)
    p = np.ones(len(edges) - 1)
    short = joined(variable, groups_shown((variable,), p)[0])
    assert MOST_LINES - 1 <= len(short.labels) <= MOST_LINES + 1


def test_whole_numbers_that_are_the_same_floats_are_cut():
    x = 2**62 + np.random.default_rng(0).integers(0, 400, 1000)
    answer = juror.fit({"x": x, "y": x % 2}, rank=1, method="em", bins=100).ask("x")
    (starts,) = answer.groups
    assert 8 <= len(starts) <= MOST_LINES
    assert "100 intervals are joined here" in str(answer)


def test_a_number_that_recurs_stays_alone():
    variable = _numbers(np.arange(0.0, 101.0))
    p = np.ones(100)
    p[40] = 400.0
    short = joined(variable, groups_shown((variable,), p)[0])
    assert "[40, 41)" in short.labels


def test_missing_cells_keep_their_line():
    variable = _numbers(np.linspace(0, 10, 101)).with_missing_label("not asked")
    answer = _table(variable, np.ones(101))
    short = answer.summed_over(answer.groups)
    assert short.variables[0].labels[-1] == "not asked"
    assert short["not asked"] == pytest.approx(1 / 101)
    assert answer.joined_in_words() == ["100 intervals are joined here; .to_pandas() has all"]


@pytest.mark.parametrize("p", [np.eye(1, 100, 0)[0], np.eye(1, 100, 57)[0], np.eye(1, 100, 99)[0]])
def test_a_number_in_one_interval_shows_it(p: np.ndarray):
    answer = _table(_numbers(np.linspace(0, 10, 101)), p)
    short = answer.summed_over(answer.groups)
    assert short.to_numpy().max() == 1.0
    assert len(short.variables[0].labels) <= 3
    assert answer.variables[0].labels[int(p.argmax())] in short.variables[0].labels


def test_two_numbers_make_a_table_of_few_columns():
    variable = _numbers(np.linspace(0, 10, 101))
    other = Variable("y", variable.labels, "binned", variable.edges)
    groups = groups_shown((variable, other), np.full((100, 100), 1e-4))
    assert len(groups[0]) <= MOST_LINES
    assert len(groups[1]) <= MOST_COLUMNS


@pytest.mark.parametrize("method", ["em", "bayes"])
def test_intervals_are_those_of_the_joined_cells(method: str):
    x = np.random.default_rng(1).normal(size=400)
    more = {"draws": 20} if method == "bayes" else {}
    model = juror.fit({"x": x, "y": x > 0}, rank=2, method=method, bins=40, **more)
    answer = model.interval("x", 0.9)
    shown = answer.shown
    assert shown is not None
    wide, narrow = shown.high - shown.low, answer.high - answer.low
    joins = summed(narrow, answer.table.groups)
    # ends of a sum are nearer than the sum of ends
    assert np.all(wide <= joins + 1e-12)
    assert wide.sum() < 0.9 * joins.sum()
    assert np.all((shown.low <= shown.table.to_numpy()) & (shown.table.to_numpy() <= shown.high))
    assert str(answer).splitlines()[1].split() == ["x", "probability", "90", "%", "from", "to", "share", "rows"]
