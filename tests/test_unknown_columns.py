"""Columns that a model does not know stay beside their rows, and say nothing; a misspelt name is refused."""

from __future__ import annotations

import datetime
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import juror
from juror.domain.known_columns import known_columns
from juror.errors import DataError, misspelt

RNG = np.random.default_rng(11)
N = 60
KNOWN = pd.DataFrame(
    {
        "size": pd.Categorical(RNG.choice(["S", "M", "L"], N), ["S", "M", "L"], ordered=True),
        "colour": RNG.choice(["red", "blue"], N),
        "rooms": RNG.integers(1, 5, N),
    }
)
MODEL = juror.fit(KNOWN, 2, "em")
HOLED = KNOWN.astype({"rooms": "Int64"})
HOLED.loc[[3, 7, 20], "colour"] = None
HOLED.loc[[5, 7], "rooms"] = pd.NA
# what the model does not know, and what juror could not even read
OTHERS = {
    "id": [f"{n:03}" for n in range(N)],
    "seen": [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=n) for n in range(N)],
    "tags": [[n, n + 1] for n in range(N)],
    "mark": ["?", None] * (N // 2),
}


def mixed():
    """Known and unknown columns in turn, with an index that is no range."""
    frame = HOLED.assign(**OTHERS)
    frame["mark"] = pd.Categorical(frame["mark"], ["?", "!"])
    return frame[["id", "size", "seen", "tags", "colour", "mark", "rooms"]].set_axis(range(1000, 1000 + N))


@pytest.mark.parametrize("draws", [None, 1])
def test_a_pandas_frame_comes_back_as_it_went_in(draws):
    frame = mixed()
    filled = MODEL.impute(frame, draws)
    assert filled.columns.equals(frame.columns)
    assert filled.index.equals(frame.index)
    pd.testing.assert_series_equal(filled.dtypes, frame.dtypes)
    pd.testing.assert_frame_equal(filled[list(OTHERS)], frame[list(OTHERS)])
    # the known columns are those of a table of known columns
    alone = MODEL.impute(frame[KNOWN.columns], draws)
    pd.testing.assert_frame_equal(filled[KNOWN.columns], alone)
    assert not alone.isna().any(axis=None)
    assert frame["colour"].isna().sum() == 3


def test_frames_of_other_libraries():
    table = pa.Table.from_pandas(mixed(), preserve_index=False)
    filled = MODEL.impute(table)
    assert filled.schema.names == table.schema.names
    assert filled.select(list(OTHERS)).equals(table.select(list(OTHERS)))
    frame = pl.from_arrow(table)
    filled = MODEL.impute(frame)
    assert filled.schema == frame.schema
    assert filled.select(list(OTHERS)).equals(frame.select(list(OTHERS)))
    assert filled.select("colour").null_count().item() == 0


def test_several_draws():
    first, second = MODEL.impute(mixed(), 2)
    for filled in (first, second):
        pd.testing.assert_frame_equal(filled[list(OTHERS)], mixed()[list(OTHERS)])


@pytest.mark.parametrize(
    "column",
    [list, np.array, pd.Series, lambda cells: pd.Series(cells, index=range(N, 0, -1)), pl.Series, pa.array],
    ids=["list", "array", "series", "series with an index", "polars", "arrow"],
)
def test_dicts_of_columns(column):
    data = {"id": column(OTHERS["id"]), "colour": HOLED["colour"].tolist(), "size": KNOWN["size"].tolist()}
    filled = MODEL.impute(data)
    assert list(filled) == ["id", "colour", "size"]
    assert filled["id"].tolist() == OTHERS["id"]
    with pytest.raises(DataError, match=r"^Columns differ in length: 'id' has 59 rows and the others have 60\."):
        MODEL.impute(data | {"id": OTHERS["id"][1:]})


def test_one_row():
    filled = MODEL.impute({"colour": None, "id": "x7", "size": "S"})
    assert filled[["id", "size"]].to_dict("records") == [{"id": "x7", "size": "S"}]
    assert filled["colour"].notna().all()


def test_streams_and_files(tmp_path):
    frame = mixed().drop(columns="tags").reset_index(drop=True)
    table = pa.Table.from_pandas(frame, preserve_index=False)
    parquet.write_table(table, tmp_path / "t.parquet")
    frame.to_csv(tmp_path / "t.csv", index=False)
    marked = juror.fit(KNOWN, 2, "em", missing=["?"])
    for data in (tmp_path / "t.parquet", str(tmp_path / "t.csv"), juror.Files(tmp_path / "t.csv"), table.to_reader(7)):
        filled = marked.impute(data)
        assert list(filled) == list(frame)
        assert filled["id"].tolist() == OTHERS["id"]
        assert pd.to_datetime(filled["seen"]).tolist() == OTHERS["seen"]
        # markers mean nothing in columns that are not the model's, if these can be read again
        if not isinstance(data, pa.RecordBatchReader):
            assert filled["mark"].astype(object).fillna("-").tolist() == ["?", "-"] * (N // 2)


@pytest.mark.parametrize("frame", [mixed(), mixed().to_dict("list"), pl.from_pandas(mixed().drop(columns="tags"))])
def test_answers_about_rows_do_not_depend_on_other_columns(frame):
    """The rows' probabilities, predictions and checks are those of the known columns."""
    alone = HOLED.reset_index(drop=True)
    assert np.array_equal(MODEL.log_prob(frame), MODEL.log_prob(alone))
    assert np.array_equal(MODEL.predict_proba(frame, "size"), MODEL.predict_proba(alone, "size"))
    assert MODEL.predict(frame, "size").tolist() == MODEL.predict(alone, "size").tolist()
    assert MODEL.check(frame).to_pandas().equals(MODEL.check(alone).to_pandas())
    assert MODEL.domain.encode(frame).tolist() == MODEL.domain.encode(alone).tolist()
    assert np.array_equal(MODEL.ask("size", data=frame).support.shares, MODEL.ask("size", data=alone).support.shares)


def test_weights_are_no_misspelling():
    """The column of weights is named, so it is not taken for an absent variable, however close it is."""
    table = {"height": ["low", "high"] * 9, "colour": ["red", "blue", "blue"] * 6, "size": ["S"] * 8 + ["M"] * 10}
    model = juror.fit(table, 1, "em")
    rows = {"colour": ["red", "blue"], "weight": [1, 2], "size": ["S", "M"]}
    assert model.check(rows, sample_weight="weight").absent == ("height",)
    with pytest.raises(DataError, match=r"a column 'weight' that the model does not know\. Did you mean 'height'"):
        model.check(rows)


# Misspellings


@pytest.mark.parametrize(
    ("word", "choices", "meant"),
    [
        ("Colour", ["colour"], "colour"),
        ("color", ["colour"], "colour"),
        ("agee", ["age", "sex"], "age"),
        ("sx", ["sex"], "sex"),
        ("id", ["age", "sex"], None),
        ("name", ["game"], "game"),
        ("income_2020", ["income_2019"], None),
        ("x4", ["x3"], None),
        ("COL1", ["col1"], "col1"),
        ("colour", [], None),
    ],
)
def test_what_is_a_misspelling(word, choices, meant):
    assert misspelt(word, choices) == meant


def test_a_misspelt_column_is_refused_only_if_its_variable_is_absent():
    sentence = (
        r"^The data have a column 'color' that the model does not know\. Did you mean 'colour'\? Drop or rename it\.$"
    )
    for answer in (MODEL.log_prob, MODEL.impute, MODEL.check, lambda data: MODEL.predict(data, "size")):
        with pytest.raises(DataError, match=sentence):
            answer({"color": ["red"], "rooms": [2], "size": ["S"]})
    assert MODEL.log_prob({"color": ["teal"], "colour": ["red"]}).shape == (1,)
    assert known_columns(["colour", "rooms"], ["color", "colour"]) == ["colour"]


def test_a_table_of_other_columns_only():
    with pytest.raises(DataError) as caught:
        MODEL.predict({"id": ["x"]}, "size")
    said = "The data have none of the model's columns ['size', 'colour', 'rooms']. They have ['id']."
    assert str(caught.value) == said


def test_a_fit_with_a_domain_still_wants_the_columns_of_the_domain():
    """There the domain says what the variables are, so a further column is probably a mistake."""
    with pytest.raises(DataError, match="a column 'id' that the model does not know"):
        juror.fit(KNOWN.assign(id=OTHERS["id"]), 2, "em", domain=MODEL.domain)
    with pytest.raises(DataError, match="a column 'id' that the model does not know"):
        juror.PairCounts.of(KNOWN.assign(id=OTHERS["id"]), MODEL.domain)


# The command line


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("others")
    marked = juror.fit(KNOWN, 2, "em", missing=["?"], target="size")
    marked.save(folder / "m.juror")
    frame = mixed().drop(columns="tags").assign(price=["1.50", "?"] * (N // 2))
    frame.to_csv(folder / "t.csv", index=False)
    pa.Table.from_pandas(mixed(), preserve_index=False)
    parquet.write_table(pa.Table.from_pandas(mixed(), preserve_index=False), folder / "t.parquet")
    return folder


def test_impute_keeps_cells_as_they_are_written(run, folder):
    status, out, _ = run("impute", "m.juror", "t.csv")
    before, after = (text.splitlines() for text in ((folder / "t.csv").read_text(), out))
    assert status == 0
    assert before[0] == after[0]
    places = [n for n, name in enumerate(before[0].split(",")) if name not in KNOWN]
    assert places == [0, 2, 4, 6]
    for one, other in zip(before[1:], after[1:], strict=True):
        assert [one.split(",")[n] for n in places] == [other.split(",")[n] for n in places]


def test_impute_keeps_types_of_parquet(run, folder):
    assert run("impute", "m.juror", "t.parquet", "-o", "filled.parquet")[0] == 0
    before, after = parquet.read_table(folder / "t.parquet"), parquet.read_table(folder / "filled.parquet")
    assert after.schema.names == before.schema.names
    assert after.select(list(OTHERS)).equals(before.select(list(OTHERS)))


def test_impute_writes_dates_as_json(run, folder):
    status, out, _ = run("impute", "m.juror", "t.parquet", "--json")
    assert status == 0
    assert json.loads(out)[1]["seen"] == "2024-01-01 01:00:00"
    assert json.loads(out)[1]["tags"] == [1, 2]


def test_predict_keeps_an_identifier_beside_its_row(run, folder):
    status, out, _ = run("predict", "m.juror", "t.csv")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == "id,seen,mark,price,size"
    assert lines[2].startswith("001,2024-01-01 01:00:00,,?,")
    assert [line.rpartition(",")[2] for line in lines[1:]] == MODEL.predict(HOLED, "size").tolist()
    assert run("predict", "m.juror", "t.parquet", "--proba", "-o", "p.parquet")[0] == 0
    table = parquet.read_table(folder / "p.parquet")
    assert table.column_names == ["id", "seen", "tags", "mark", "size", *(f"P(size = {s})" for s in "SML")]
    assert table.select(list(OTHERS)).equals(parquet.read_table(folder / "t.parquet").select(list(OTHERS)))


def test_predict_of_known_columns_writes_only_the_target(run, folder):
    HOLED.to_csv(folder / "known.csv", index=False)
    assert run("predict", "m.juror", "known.csv")[1].splitlines()[0] == "size"
    pd.DataFrame({"colour": ["red"], "P(size = S)": [1]}).to_csv(folder / "clash.csv", index=False)
    status, _, said = run("predict", "m.juror", "clash.csv", "--proba")
    assert (status, "DATA has a column 'P(size = S)', which is written by --proba. --drop it." in said) == (2, True)


@pytest.mark.parametrize("command", ["score", "check"])
def test_other_commands(run, folder, command):
    alone = pd.read_csv(folder / "t.csv", dtype=str, keep_default_na=False)[list(KNOWN)]
    alone.to_csv(folder / "alone.csv", index=False)
    assert run(command, "m.juror", "t.csv") == run(command, "m.juror", "alone.csv")
    status, _, said = run("score", "m.juror", "t.csv", "--drop", "colour", "--drop", "id")
    assert (status, said) == (0, "")
