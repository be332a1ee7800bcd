"""Rows that are drawn are a frame like the one that was fitted: its library, and the types of its columns."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import juror
from juror.answers import typed_frames
from juror.readers.frame_types import FrameType

WORDS = list("abca") * 30
PANDAS = pd.DataFrame(
    {
        "short": np.arange(120, dtype=np.int8) % 50,
        "unsigned": np.arange(120, dtype=np.uint16) % 60,
        "whole floats": np.arange(120.0) % 3,
        "short floats": np.arange(120, dtype=np.float32) / 10,
        "nullable": pd.array([1, 2, None, 4] * 30, dtype="Int64"),
        "truth": pd.array([True, None, False, True] * 30, dtype="boolean"),
        "text": pd.array(WORDS, dtype="string"),
        "objects": pd.Series(WORDS, dtype=object),
        "levels": pd.Categorical(WORDS, categories=list("zcba"), ordered=True),
        "codes": pd.Categorical([3, 1, 2, 3] * 30),
        "days": pd.date_range("2020-01-01", periods=120, tz="Europe/Paris"),
    }
)
ARROW = pa.table(
    {
        "f": pa.array(np.arange(120) / 4, pa.float32()),
        "c": pa.array(WORDS).dictionary_encode(),
        "i": pa.array([n % 60 for n in range(120)], pa.int16()),
    }
)


@pytest.fixture
def folder(tmp_path):
    return tmp_path


def fitted(frame: object) -> juror.JointPMF:
    return juror.fit(frame, 2, "em", missing_as={})


def test_drawn_rows_have_the_types_of_the_frame(tmp_path):
    model = fitted(PANDAS)
    drawn = model.sample(300, seed=1)
    pd.testing.assert_series_equal(drawn.dtypes, PANDAS.dtypes)
    assert (drawn["levels"] >= "c").all()
    assert set(np.unique(drawn["short floats"])) <= set(np.unique(PANDAS["short floats"]))
    model.save(tmp_path / "x.juror")
    pd.testing.assert_frame_equal(juror.load(tmp_path / "x.juror").sample(300, seed=1), drawn)
    rest = model.condition(text="a").sample(5)
    pd.testing.assert_series_equal(rest.dtypes, PANDAS.dtypes.drop("text"))


def test_drawn_rows_are_a_frame_of_the_same_library():
    assert fitted(ARROW).sample(50).schema == ARROW.schema
    assert isinstance(fitted(ARROW).sample(5, frame="pandas"), pd.DataFrame)
    assert isinstance(fitted({"a": [1, 2] * 9, "b": [1, 1, 2] * 6}).sample(5), pd.DataFrame)
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "f": np.arange(120, dtype=np.float32) / 4,
            "e": pl.Series(WORDS, dtype=pl.Enum(list("cbad"))),
            "c": pl.Series(WORDS, dtype=pl.Categorical),
            "i": pl.Series([n % 60 for n in range(120)], dtype=pl.Int16),
        }
    )
    assert fitted(frame).sample(50).schema == frame.schema


def test_drawn_rows_can_be_appended_to_an_arrow_table_of_categories():
    categories = pd.DataFrame({name: PANDAS[name] for name in ("levels", "codes")})
    table = pa.Table.from_pandas(categories, preserve_index=False)
    drawn = fitted(table).sample(20)
    assert drawn.schema.types == table.schema.types
    assert pa.concat_tables([table, drawn]).num_rows == len(table) + 20
    assert set(drawn["codes"].to_pylist()) <= {1, 2, 3}


def test_a_library_that_is_gone_gives_way_to_pandas(monkeypatch):
    assert typed_frames.library_of(FrameType("pyarrow", {})) == "pyarrow"
    monkeypatch.setattr(typed_frames.importlib.util, "find_spec", lambda name: None)
    assert typed_frames.library_of(FrameType("pyarrow", {})) == "pandas"
    assert typed_frames.library_of(None) == "pandas"


@pytest.mark.parametrize(
    ("cells", "dtype"),
    [([100, 300], "int8"), ([1.5, None, 2.5], "int64"), ([0.1, 0.25], "float16"), ([1, 2], "nonsense")],
)
def test_a_type_that_cannot_hold_the_cells_is_not_used(cells, dtype):
    drawn = pd.DataFrame({"a": cells})
    variable = juror.Domain.infer(drawn)["a"]
    found = typed_frames.with_types(drawn, [variable], FrameType("pandas", {"a": dtype}))
    pd.testing.assert_frame_equal(found, drawn)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_fractions_that_edges_ask_for_are_not_cut_off(library):
    make = pa.table if library == "pyarrow" else pytest.importorskip(library).DataFrame
    table = make({"x": [n % 4 for n in range(120)], "y": WORDS})
    domain = juror.Domain.infer(table, edges={"x": [0, 0.3, 0.6, 2, 4]})
    drawn = juror.fit(table, 2, "em", domain=domain).sample(20, given="0.3 <= x < 0.6")
    cells = np.asarray(drawn["x"])
    assert np.all((cells >= 0.3) & (cells < 0.6))


def test_missing_cells_with_a_label_stay_missing():
    model = juror.fit(PANDAS, 2, "em", missing_as={"nullable": "none", "truth": "none"})
    drawn = model.sample(300, seed=2)
    pd.testing.assert_series_equal(drawn.dtypes, PANDAS.dtypes)
    assert drawn["nullable"].isna().any()
    assert drawn["truth"].isna().any()


def test_domains_of_frames_that_differ_only_in_types_are_equal():
    one, other = (juror.Domain.infer(pd.DataFrame({"a": np.array([1, 2], dtype=kind)})) for kind in ("int8", "int64"))
    assert one == other
    assert one.frame != other.frame
    assert one.united(one).frame == one.frame


def test_drawn_rows_are_like_those_that_are_fitted_not_like_those_of_a_given_domain():
    domain = juror.Domain.infer(ARROW)
    model = juror.fit(ARROW.to_pandas(), 2, "em", domain=domain)
    assert isinstance(model.sample(5), pd.DataFrame)
    assert juror.fit({"f": [1.5, 2.0] * 60, "c": WORDS, "i": [1, 2] * 60}, 2, "em", domain=domain).domain.frame is None


def test_columns_that_are_no_variables_are_not_named():
    table = pd.DataFrame({"secret": WORDS, "a": [1, 2, 3] * 40, "b": WORDS, "w": [1.0, 2.0] * 60})
    model = juror.fit(table, 2, "em", columns=["a", "b"], sample_weight="w")
    assert set(model.domain.frame.dtypes) == {"a", "b"}
    assert set(model.condition(a=1).domain.frame.dtypes) == {"b"}


def test_types_of_arrow_in_pandas():
    eighths = pa.array([n / 8 for n in range(120)]).cast(pa.decimal128(9, 3))
    frame = ARROW.append_column("d", eighths).to_pandas(types_mapper=pd.ArrowDtype)
    frame["t"] = pd.array(WORDS, pd.ArrowDtype(pa.string()))
    drawn = fitted(frame).sample(20)
    pd.testing.assert_series_equal(drawn.dtypes, frame.dtypes)
    assert (drawn["d"].astype(float) % 0.125 == 0).all()


def _decimals(library: str, type_: pa.DataType) -> object:
    prices = [None if n % 7 == 0 else Decimal(n * n % 997).scaleb(-2) for n in range(120)]
    table = pa.table({"x": pa.array(prices, type_), "y": pa.array(WORDS)})
    if library == "objects":
        return pd.DataFrame({"x": pd.Series(prices, dtype=object), "y": WORDS})
    if library == "pandas":
        return table.to_pandas(types_mapper=pd.ArrowDtype)
    return table if library == "pyarrow" else pytest.importorskip("polars").from_arrow(table)


@pytest.mark.parametrize("library", ["objects", "pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("type_", [pa.decimal128(10, 2), pa.decimal128(38, 18)], ids=str)
def test_decimals_are_drawn_and_filled_as_decimals(library, type_):
    frame = _decimals(library, type_)
    model = fitted(frame)
    for rows in (model.sample(60), model.impute(frame), model.impute(frame, draws=1)):
        assert isinstance(rows, type(frame))
        cells = rows["x"].to_pylist() if library == "pyarrow" else rows["x"].to_list()
        assert {type(cell) for cell in cells} == {Decimal}
        # no digits that mean nothing, as of the float 0.07
        assert all(cell == round(cell, 2) for cell in cells)
        if library == "pyarrow":
            assert rows.schema == frame.schema
        else:
            assert list(rows.dtypes) == list(frame.dtypes)


def test_decimals_without_room_for_the_fractions_of_a_condition_are_drawn_as_floats():
    table = pa.table({"x": pa.array([Decimal(n % 4) for n in range(120)], pa.decimal128(9, 0)), "y": WORDS})
    domain = juror.Domain.infer(table, edges={"x": [0, 0.3, 0.6, 2, 4]})
    cells = juror.fit(table, 2, "em", domain=domain).sample(20, given="0.3 <= x < 0.6")["x"].to_pylist()
    assert all(0.3 <= cell < 0.6 for cell in cells)


def test_the_command_line_chooses_types_by_itself(run, tmp_path):
    table = pd.DataFrame({"x": np.arange(120, dtype=np.float32) % 50 / 10, "y": WORDS})
    model = fitted(table)
    model.save(tmp_path / "x.juror")
    status, out, _ = run("sample", tmp_path / "x.juror", "-n", "50")
    assert status == 0
    assert all(len(line.split(",")[0]) <= 3 for line in out.splitlines())
    pl = pytest.importorskip("polars")
    fitted(pl.from_pandas(table)).save(tmp_path / "p.juror")
    assert run("sample", tmp_path / "p.juror", "-n", "50")[1] == out


def test_the_estimator_draws_such_frames_too():
    density = juror.JointDensity(rank=2, method="em").fit(PANDAS[["objects", "levels", "short"]])
    pd.testing.assert_series_equal(density.sample(9).dtypes, PANDAS[["objects", "levels", "short"]].dtypes)
    assert isinstance(density.fit(np.arange(40).reshape(20, 2) % 3).sample(5), np.ndarray)


def test_intervals_are_text_beside_columns_of_their_types():
    drawn = fitted(PANDAS[["levels", "short floats"]]).sample(5, numbers=False)
    assert drawn["levels"].dtype == PANDAS["levels"].dtype
    assert isinstance(drawn["short floats"].iloc[0], str)
