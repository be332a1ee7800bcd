"""Mean, standard deviation and median in answers, and dependence that does not depend on how numbers are cut."""

from __future__ import annotations

import datetime
import json
import re

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import juror
from juror.answers.dividing import divided_mixture
from juror.answers.forest_edges import forest_edges
from juror.answers.information import dependence, mutual_information, normalised
from juror.cli.app import app
from juror.domain.binning import divided
from juror.errors import QueryError
from juror.report.counted import dependence_in
from juror.testing import random_forest_model


def numbers(n: int = 400) -> dict[str, list]:
    rng = np.random.default_rng(0)
    age = rng.integers(17, 80, n)
    day = datetime.date(2024, 1, 1)
    return {
        "age": age.tolist(),
        "height": np.round(rng.normal(170, 8, n) - 0.1 * age, 1).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "seen": [day + datetime.timedelta(days=int(d)) for d in rng.integers(0, 300, n)],
    }


@pytest.fixture(scope="module")
def model():
    return juror.fit(numbers(), rank=3, method="em", missing_as={})


@pytest.fixture(scope="module")
def forests():
    domain = juror.Domain.infer(numbers())
    return random_forest_model(domain.cardinalities, [2, 3], np.random.default_rng(1), domain=domain, concentration=0.5)


def finely_cut(model):
    """Return the model with every interval of numbers divided into up to five."""
    domain = model.domain
    cut = []
    for variable in domain:
        if variable.edges is not None:
            inside = variable.inside
            codes = np.repeat(np.arange(len(inside.masses)), 4)
            shares = np.tile([0.2, 0.4, 0.6, 0.8], len(inside.masses))
            positions = inside.law.grid.positions(inside.at(codes, shares))
            variable = divided(variable, positions.tolist())
        cut.append(variable)
    assert sum(v.cardinality for v in cut) > 2 * sum(v.cardinality for v in domain)
    return divided_mixture(model, juror.Domain(tuple(cut)))


@pytest.mark.parametrize("which", ["model", "forests"])
def test_dividing_intervals_changes_no_dependence(which, request):
    whole = request.getfixturevalue(which)
    fine = finely_cut(whole)
    np.testing.assert_allclose(
        dependence(fine, "normalised").to_numpy(), dependence(whole, "normalised").to_numpy(), rtol=0, atol=1e-9
    )
    assert dependence(fine, "normalised").clustered().names == dependence(whole, "normalised").clustered().names
    assert dependence(fine, "information").clustered().names == dependence(whole, "information").clustered().names
    for a in range(len(whole.domain)):
        for b in range(a):
            assert mutual_information(fine, a, b) == pytest.approx(mutual_information(whole, a, b), abs=1e-9)


def test_edges_have_the_same_measure(forests):
    matrix = forests.dependence().to_numpy()
    for edge in forest_edges(forests):
        assert edge.share == pytest.approx(matrix[edge.a, edge.b], abs=1e-9)


def test_two_gaussian_numbers_have_the_size_of_their_correlation():
    rng = np.random.default_rng(0)
    x = rng.normal(size=20_000)
    y = -0.6 * x + 0.8 * rng.normal(size=20_000)
    model = juror.fit({"x": x.tolist(), "y": y.tolist()}, rank=12, method="em")
    assert model.dependence().to_numpy()[0, 1] == pytest.approx(0.6, abs=0.03)


def test_the_measure_of_labels_is_a_share_of_the_smaller_entropy():
    found = normalised(
        np.array([0.3, 0.3, 0.3, 0.0]), np.array([0.6, np.inf, np.inf, 0.0]), np.array([0.9, 0.4, np.inf, 0.5])
    )
    np.testing.assert_allclose(found, [0.5, 0.75, np.sqrt(1 - np.exp(-0.6)), 0.0])


def test_counts_have_the_same_measure():
    counts = np.array([[400.0, 100.0], [100.0, 400.0]])
    p = counts / counts.sum()
    information = float((p * np.log(p / 0.25)).sum()) - 1 / 2000
    assert dependence_in(counts) == pytest.approx(information / np.log(2))
    assert dependence_in(counts, (True, False)) == pytest.approx(information / np.log(2))
    assert dependence_in(counts, (True, True)) == pytest.approx(np.sqrt(1 - np.exp(-2 * information)))


@pytest.mark.parametrize("given", [None, "sex = f", "30 <= age < 41, height >= 160.05"])
@pytest.mark.parametrize("name", ["age", "height", "seen"])
def test_mean_deviation_and_median(model, name, given):
    table = model.marginal(name, given=given)
    assert table.mean == model.expect(name, given=given)
    assert table.median == model.quantile(name, 0.5, given=given)
    draws = model.sample(40_000, given=given, seed=0)[name]
    days = np.array([d.toordinal() for d in draws]) if name == "seen" else np.array(draws, dtype=float)
    assert table.std == pytest.approx(days.std(), rel=0.03)


def test_the_line_below_an_answer(model):
    answer = model.ask("age | sex = f")
    line = f"mean {answer.mean:.1f}, standard deviation {answer.std:.1f}, median {answer.median}"
    assert line in str(answer).splitlines()
    assert line in str(answer.support).splitlines()
    assert line in str(model.interval("age | sex = f")).splitlines()
    assert f"<p>{line}</p>" in answer._repr_html_()
    dates = model.ask("seen")
    assert f"mean {dates.mean}, standard deviation {dates.std:.1f} days, median {dates.median}" in str(dates)
    assert "mean" not in str(model.ask("sex"))
    assert "mean" not in str(model.ask("age, sex"))


@pytest.mark.parametrize(
    ("unit", "written"), [("h", r"[67]\.\d\d days"), ("min", r"\d\.\d\d hours"), ("s", r"\d\.\d\d minutes")]
)
def test_deviations_of_times_are_in_a_readable_unit(unit, written):
    times = pd.date_range("2024-01-01", periods=500, freq=unit)
    table = juror.fit({"seen": times}, 1, "em").ask("seen")
    assert re.search(f"standard deviation {written}, median", str(table))


def test_the_rows_have_a_line_of_their_own(tmp_path):
    rng = np.random.default_rng(0)
    kind = rng.choice(["bank", "shop"], 2000, p=[0.2, 0.8])
    sales = np.round(rng.lognormal(np.where(kind == "bank", 0.5, 1.5), 1.2), 2)
    table = pd.DataFrame({"kind": kind, "sales": sales})
    # one class of independent columns does not know the kind
    model = juror.fit(table, 1, "em")
    answer, rows = model.ask("sales | kind = bank"), table.loc[table["kind"] == "bank", "sales"]
    found = answer.support.summary
    assert answer.mean > 1.5 * rows.mean()
    assert found.mean == pytest.approx(rows.mean(), rel=0.1)
    assert found.median == pytest.approx(rows.median(), rel=0.1)
    line = f"of the rows, by their intervals: {found}"
    assert f"{answer.summary}\n{line}\n" in str(answer.support)
    assert f"<p>{line}</p>" in answer.support._repr_html_()
    exact = model.ask("sales | kind = bank", data=table).support
    assert exact.summary.mean == pytest.approx(rows.mean())
    assert exact.summary.std == pytest.approx(rows.std(ddof=0))
    assert exact.summary.median == pytest.approx(rows.median())
    assert f"\nof the rows: {exact.summary}\n" in str(exact)
    assert model.ask("kind").support.summary is None
    assert model.ask("sales | kind = bank", data=table[table["kind"] == "shop"]).support.summary is None
    path = str(tmp_path / "m.juror")
    model.save(path)
    assert line in CliRunner().invoke(app, ["ask", path, "sales | kind = bank"]).stderr
    facts = json.loads(CliRunner().invoke(app, ["ask", path, "sales | kind = bank", "--json"]).stdout)
    assert facts["of_rows"] == found.to_dict()


def test_dates_and_weights_of_given_rows_are_summed_exactly(tmp_path):
    days = pd.Series(pd.date_range("2024-01-01", periods=400, freq="36h"))
    rows = pd.DataFrame({"day": days, "n": np.arange(400) % 3})
    model = juror.fit(rows[["day"]], 1, "em")
    path = tmp_path / "rows.csv"
    rows.to_csv(path, index=False)
    repeated = rows["day"].repeat(rows["n"])
    for data in (rows, str(path)):
        found = model.ask("day", data=data, sample_weight="n").support.summary
        assert abs(pd.Timestamp(found.mean) - repeated.mean()) < pd.Timedelta("1s")
        assert found.std == pytest.approx(repeated.std(ddof=0).total_seconds() / (86400 if found.unit == "days" else 1))
        assert pd.Timestamp(found.median) == repeated.median()


def test_what_has_no_mean_says_so(model):
    with pytest.raises(QueryError, match="are not numbers"):
        _ = model.ask("sex").mean
    with pytest.raises(QueryError, match="A mean is that of one number"):
        _ = model.ask("age, sex").mean


def test_a_number_that_is_settled():
    rng = np.random.default_rng(0)
    model = juror.fit({"x": rng.normal(size=300).tolist()}, rank=2, method="em")
    answer = model.ask("x | x = 0.25")
    assert (answer.mean, answer.std, answer.median) == (0.25, 0.0, 0.25)


def test_ask_on_the_command_line(model, tmp_path):
    path = str(tmp_path / "m.juror")
    model.save(path)
    plain = CliRunner().invoke(app, ["ask", path, "age"])
    assert plain.stdout.splitlines()[0] == "age,probability,share,rows,differs"
    assert str(model.ask("age").summary) in plain.stderr
    facts = json.loads(CliRunner().invoke(app, ["ask", path, "seen", "--json"]).stdout)
    assert facts["mean"] == str(model.expect("seen"))
    assert len(facts["probabilities"]) == model.domain["seen"].cardinality
    assert isinstance(json.loads(CliRunner().invoke(app, ["ask", path, "sex", "--json"]).stdout), list)
