from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest
from accuracy.labels import by_juror, domain_of, parts

import juror
from juror.datasets import named

SHAPES = {"car": (1728, 7, 0), "mushroom": (8124, 23, 2480), "votes": (435, 17, 392), "adult": (48842, 15, 6465)}

needs_data = pytest.mark.skipif(
    not os.environ.get("JUROR_DATA"), reason="JUROR_DATA names no folder with the UCI tables"
)


def test_titanic_has_the_known_margins():
    people = juror.datasets.titanic()
    assert people.groupby("Class", observed=True).size().to_dict() == {"1st": 325, "2nd": 285, "3rd": 706, "Crew": 885}
    assert (people["Sex"] == "Female").sum() == 470
    assert (people["Age"] == "Child").sum() == 109
    saved = people[(people["Class"] == "1st") & (people["Sex"] == "Female") & (people["Survived"] == "Yes")]
    assert len(saved) == 141


def test_military_fits_with_its_counts():
    table = juror.datasets.military()
    assert list(table.columns) == ["grade", "branch", "gender", "race", "hisp", "rank", "count"]
    model = juror.fit(table, rank=1, sample_weight="count")
    assert model.info.n_rows == 1_414_593
    women = table.loc[table["gender"] == "female", "count"].sum() / table["count"].sum()
    assert model.prob({"gender": "female"}) == pytest.approx(women, abs=1e-6)


@pytest.mark.data
@needs_data
@pytest.mark.parametrize("name", SHAPES)
def test_named_tables_have_their_known_shape(name):
    table = juror.datasets.load(name)
    n_rows, n_columns, n_missing = SHAPES[name]
    assert table.shape == (n_rows, n_columns)
    assert int(table.isna().sum().sum()) == n_missing


@pytest.mark.data
@needs_data
def test_adult_mixes_numbers_and_labels():
    with pytest.warns(juror.DataWarning, match="'capital-gain' has the number 99999 far from all other numbers"):
        domain = juror.Domain.infer(juror.datasets.load("adult"))
    assert domain["age"].kind == "binned"
    assert domain["education-num"].kind == "ordinal"
    assert domain["income"].labels == ("<=50K", ">50K")
    # most people have no capital gain: that number gets an interval of its own
    assert domain["capital-gain"].inside.at(np.zeros(5, dtype=int), np.linspace(0, 0.99, 5)).tolist() == [0] * 5


@pytest.mark.data
@needs_data
@pytest.mark.filterwarnings("ignore:Column 'veil-type' is constant")
@pytest.mark.filterwarnings("ignore:Whether a cell is missing depends strongly on another column")
# a fit may name answers that its rows contradict
@pytest.mark.filterwarnings("ignore:P:juror.FitWarning")
@pytest.mark.parametrize(("name", "least"), [("car", 96.0), ("mushroom", 99.8)])
def test_labels_on_the_papers_splits(name, least):
    found = [by_juror(*parts(name, seed), domain_of(name), seed)["accuracy"] for seed in range(2)]
    assert np.mean(found) >= least


def test_a_table_that_is_not_in_the_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("JUROR_DATA", str(tmp_path))
    with pytest.raises(juror.JurorError, match=r"JUROR_DATA has no file 'car/car.data'. Unset JUROR_DATA to fetch"):
        juror.datasets.load("car")


def as_openml(table: pd.DataFrame, renamed: dict[str, str]) -> pd.DataFrame:
    """Shape a table as OpenML does: categories, its own names, the label last."""
    return table.astype("category").rename(columns=renamed).iloc[:, ::-1]


def test_what_openml_sends_becomes_the_same_table(monkeypatch):
    columns = named._TABLES["votes"].columns
    table = pd.DataFrame([["democrat", *"yn" * 8], ["republican", *("y", None) * 8]], columns=list(columns))
    asked = []

    def fetch(openml_id):
        asked.append(openml_id)
        return as_openml(table, {"class": "Class"})

    monkeypatch.delenv("JUROR_DATA", raising=False)
    monkeypatch.setattr(named, "_openml", fetch)
    pd.testing.assert_frame_equal(juror.datasets.load("votes"), table.astype("str"))
    assert asked == [56]


def test_openml_out_of_reach_or_changed(monkeypatch):
    def unreachable(openml_id):
        raise OSError("no route to host")

    monkeypatch.delenv("JUROR_DATA", raising=False)
    monkeypatch.setattr(named, "_openml", unreachable)
    with pytest.raises(juror.JurorError, match=r"'car' could not be fetched from OpenML \(no route to host\)"):
        juror.datasets.load("car")
    monkeypatch.setattr(named, "_openml", lambda openml_id: pd.DataFrame({"buying": ["low"]}))
    with pytest.raises(juror.JurorError, match="OpenML's 'car' has no columns"):
        juror.datasets.load("car")
