"""Which columns a fit reads, and how it cuts them: columns=, edges= and bins=, and the options of the command line."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import juror
from juror.errors import ParameterError

RNG = np.random.default_rng(3)
N = 200
COLUMNS = {
    "id": [f"p{n}" for n in range(N)],
    "age": RNG.integers(0, 90, N).tolist(),
    "fare": RNG.random(N).round(3).tolist(),
    "sex": RNG.choice(["f", "m"], N).tolist(),
    "n": RNG.integers(1, 3, N).tolist(),
}
# nothing that juror could read
TAGS = [[1, 2]] * N
EDGES = {"age": [0, 18, 65, 120]}
FAST = {"rank": 1, "method": "em"}


def same(one, other):
    arrays = zip((one.weights, *one.factors), (other.weights, *other.factors), strict=True)
    return one.domain == other.domain and all(np.array_equal(a, b) for a, b in arrays)


@pytest.mark.parametrize(
    "make",
    [
        lambda columns: columns,
        pd.DataFrame,
        pl.DataFrame,
        pa.table,
        lambda columns: pa.table(columns).to_reader(50),
        lambda columns: pl.LazyFrame(columns),
    ],
    ids=["dict", "pandas", "polars", "arrow", "stream", "lazy"],
)
def test_only_some_columns_are_read(make):
    model = juror.fit(make(COLUMNS | {"tags": TAGS}), columns=["sex", "age"], **FAST)
    assert model.domain.names == ("age", "sex")
    assert same(model, juror.fit({"age": COLUMNS["age"], "sex": COLUMNS["sex"]}, **FAST))


def test_weights_come_besides():
    weighted = juror.fit(COLUMNS, columns=["age", "sex"], sample_weight="n", **FAST)
    table = {name: COLUMNS[name] for name in ("age", "sex", "n")}
    assert same(weighted, juror.fit(table, sample_weight="n", **FAST))
    assert same(weighted, juror.fit(COLUMNS, columns=["age", "sex"], sample_weight=COLUMNS["n"], **FAST))
    assert same(weighted, juror.fit(COLUMNS, columns=["age", "sex", "n"], sample_weight="n", **FAST))
    assert not same(weighted, juror.fit(COLUMNS, columns=["age", "sex"], **FAST))


def test_columns_of_an_array():
    codes = RNG.integers(0, 3, (50, 4))
    assert juror.fit(codes, columns=["x0", "x3"], **FAST).domain.names == ("x0", "x3")


def test_edges_and_bins_are_those_of_the_domain():
    frame = pd.DataFrame(COLUMNS)[["age", "fare", "sex"]]
    for cuts in ({"edges": EDGES}, {"bins": 4}, {"bins": {"fare": 3}}, {"edges": EDGES, "bins": {"fare": 3}}):
        assert juror.fit(frame, **cuts, **FAST).domain == juror.Domain.infer(frame, **cuts)


def test_edges_of_an_array_of_floats():
    array = np.array([[1.0, 0.0], [30.0, 1.0], [70.0, 1.0], [np.nan, 0.0]])
    model = juror.fit(array, edges={"x0": [0, 18, 65, 120]}, rank=1, method="em")
    assert model.domain == juror.Domain.infer(array, edges={"x0": [0, 18, 65, 120]})
    with pytest.raises(ParameterError, match="An array of integers holds codes, which cannot be cut into intervals"):
        juror.fit(array[:3].astype(int), bins=2, rank=1, method="em")


def test_bins_of_projections():
    """A number beside a method that projects is about histograms; a dict is about columns in any case."""
    frame = {"age": COLUMNS["age"], "sex": COLUMNS["sex"]}
    plain = juror.Domain.infer(frame)
    projected = juror.fit(frame, 2, "juror-b", bins=4, n_directions=20, max_iter=5)
    assert projected.domain == plain
    assert ", 4 bins," in projected.info.projected
    assert same(juror.fit(frame, 2, bins=4, n_directions=20, max_iter=5), projected)
    cut = juror.fit(frame, 2, "juror-b", bins={"age": 5}, n_directions=20, max_iter=5)
    assert cut.domain == juror.Domain.infer(frame, bins={"age": 5})


@pytest.mark.filterwarnings("ignore:Column 'id' has 200 labels in 200 rows:juror.DataWarning")
@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"columns": ["age", "sx"]}, "columns names no column 'sx'. Did you mean 'sex'?"),
        ({"columns": ["x"]}, "columns names no column 'x'. Choose from ['id', 'age', 'fare', 'sex', 'n']."),
        ({"columns": "age"}, "columns must be a list of one or more names. Got 'age' instead."),
        ({"columns": []}, "columns must be a list of one or more names. Got [] instead."),
        ({"columns": 5}, "columns must be a list of one or more names. Got 5 instead."),
        ({"edges": {"agee": [1, 2]}}, "There is no column 'agee'. Did you mean 'age'?"),
        ({"columns": ["sex", "n"], "edges": EDGES}, "There is no column 'age'. Choose from ['sex', 'n']."),
        ({"edges": [1, 2]}, "edges must be a dict of columns. Got [1, 2] instead."),
        ({"bins": 0}, "bins must be an int in the range [1, inf). Got 0 instead."),
        ({"bins": {"sex": 3}}, "Column 'sex' holds text, so it cannot be cut into bins."),
        ({"columns": ["age"], "target": "sex"}, "There is no variable 'sex'. Choose from ['age']."),
    ],
    ids=str,
)
def test_what_is_refused(given, sentence):
    with pytest.raises(juror.JurorError) as caught:
        juror.fit(COLUMNS, **given, **FAST)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("given", [{"columns": ["age"]}, {"edges": EDGES}, {"bins": 3}, {"bins": {"age": 3}}], ids=str)
def test_beside_a_domain_or_counts(given):
    (name,) = given
    table = {"age": COLUMNS["age"], "sex": COLUMNS["sex"]}
    with pytest.raises(ParameterError) as caught:
        juror.fit(table, domain=juror.Domain.infer(table), **given, **FAST)
    assert str(caught.value) == f"{name} and domain both say what the variables are. Leave one of them out."
    with pytest.raises(ParameterError, match=rf"^{name} belongs to the rows, which were counted already\."):
        juror.fit(juror.PairCounts.of(table), 2, **given)


# The command line

FIT = ("-o", "m.juror", "--rank", "1", "--method", "em")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("chosen")


@pytest.fixture
def table(folder):
    frame = pd.DataFrame(COLUMNS | {"last, first": COLUMNS["sex"]})
    frame.to_csv(folder / "t.csv", index=False)
    return frame


def test_options_of_fit(run, table):
    assert (
        run("fit", "t.csv", *FIT, "--columns", "age,fare,sex", "--edges", "age=0, 18,65,120", "--bins", "fare=3")[0]
        == 0
    )
    wanted = juror.Domain.infer(table[["age", "fare", "sex"]], edges=EDGES, bins={"fare": 3})
    assert juror.load("m.juror").domain == wanted
    assert (
        run("fit", "t.csv", *FIT, "--columns", "age", "--columns", "last, first", "--weight", "n", "--bins", "4")[0]
        == 0
    )
    assert juror.load("m.juror").domain.names == ("age", "last, first")
    assert juror.load("m.juror").domain["age"].cardinality == 4


def test_options_of_count(run, table):
    assert run("count", "t.csv", "-o", "t.counts", "--columns", "age,sex", "--edges", "age=0,18,65,120")[0] == 0
    counts = juror.PairCounts.load("t.counts")
    assert counts.domain == juror.Domain.infer(table[["age", "sex"]], edges=EDGES)
    _, _, said = run("fit", "t.counts", *FIT, "--columns", "age")
    assert "--columns is about rows, and 't.counts' holds counts of pairs." in said


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (["--columns", "age,sx"], "--columns names no column 'sx'. Did you mean 'sex'?"),
        (["--columns", "age", "--drop", "sex"], "--columns and --drop both say which columns to read. Leave one of"),
        (["--edges", "0,18"], "--edges must be COLUMN=N,N,… once for each column. Got '0,18' instead."),
        (["--edges", "age=1,2", "--edges", "age=1,3"], "--edges must be COLUMN=N,N,… once for each column."),
        (["--edges", "age=18,0"], "The edges of 'age' must be two or more finite numbers that rise."),
        (["--edges", "age=0,18"], "to treat it as missing, or fit with wider edges."),
        (["--bins", "many"], "--bins must be a whole number from 1, or COLUMN=N. Got 'many' instead."),
        (["--bins", "3", "--bins", "age=4"], "--bins must be COLUMN=N once for each column. Got '3' instead."),
        (["--bins", "agee=3"], "There is no column 'agee'. Did you mean 'age'?"),
    ],
    ids=str,
)
def test_what_the_command_line_refuses(run, table, given, sentence):
    code, _, said = run("fit", "t.csv", *FIT, *given)
    assert code == 2
    assert sentence in said
