"""The command line on data of any size: folders, databases, counts that are merged, memory, clusters."""

from __future__ import annotations

import errno
import json
import os
import socket
import sqlite3
import struct
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import juror
from juror.cli import bar, connect
from juror.cli import data as rows
from juror.errors import ClusterError

# Few passes from one start: these tests are about what is read, not about how well it is fitted
QUICK = ("--method", "em", "--rank", "2", "--starts", "1", "--tol", "0.01", "--jobs", "1")
DIALECT = ("--separator", ";", "--encoding", "latin-1", "--decimal", ",")
SECRET = "hush-hush"
CLOSED = f"postgresql://ann:{SECRET}@127.0.0.1:9/shop"


def table(n_rows: int, seed: int, colours: str = "red blue grün") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(colours.split(), n_rows),
            "size": rng.integers(1, 5, n_rows),
            "price": np.round(rng.gamma(2.0, size=n_rows), 3),
            "sold": rng.choice(["yes", "no", None], n_rows, p=[0.5, 0.4, 0.1]),
        }
    )
    # something to be learnt
    frame.loc[frame["size"] > 2, "colour"] = "red"
    return frame


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the tables of two offices in many forms, counts of them and a model; tests write elsewhere."""
    folder = tmp_path_factory.mktemp("scale")
    north, south = table(300, 0), table(200, 1, "red blue teal")
    for name, frame in (("north", north), ("south", south)):
        (folder / "parquet").mkdir(exist_ok=True)
        (folder / "csv").mkdir(exist_ok=True)
        frame.to_parquet(folder / "parquet" / f"{name}.parquet", index=False)
        frame.to_csv(folder / "csv" / f"{name}.csv", index=False, sep=";", decimal=",", encoding="latin-1")
        labels = frame.drop(columns="price")
        labels.to_csv(folder / f"{name}.csv", index=False)
        juror.PairCounts.of(labels).save(folder / f"{name}.counts")
    everything = pd.concat([north, south], ignore_index=True)
    with sqlite3.connect(folder / "shop.db") as connection:
        everything.to_sql("sold", connection, index=False)
    connection.close()
    juror.TripleCounts.of(everything.drop(columns="price")).save(folder / "triples.counts")
    juror.fit(everything.drop(columns="price"), 2, "em", n_init=1, tol=0.01).save(folder / "shop.juror")
    (folder / "cut.counts").write_bytes((folder / "north.counts").read_bytes()[:-8])
    (folder / "headless.counts").write_bytes((folder / "north.counts").read_bytes()[:50])
    (folder / "text.counts").write_text("colour,size\nred,1\n")
    header = b'{"__metadata__":{"made":"elsewhere"}}'
    (folder / "other.counts").write_bytes(struct.pack("<Q", len(header)) + header)
    return folder


@pytest.fixture(scope="module")
def everything(folder):
    return pd.concat([pd.read_parquet(folder / "parquet" / f"{n}.parquet") for n in ("north", "south")])


def same_model(path, expected: juror.JointPMF) -> bool:
    written = juror.load(path)
    return (
        written.domain == expected.domain
        and np.array_equal(written.weights, expected.weights)
        and all(np.array_equal(a, b) for a, b in zip(written.factors, expected.factors, strict=True))
        and written.info == expected.info
    )


def test_the_comparison_rejects_another_model(folder, everything):
    other = juror.fit(everything.drop(columns="price"), 2, "em", n_init=1, tol=0.01, seed=1)
    assert not same_model(folder / "shop.juror", other)
    assert same_model(folder / "shop.juror", juror.load(folder / "shop.juror"))


def fitted(data) -> juror.JointPMF:
    return juror.fit(data, 2, "em", n_init=1, tol=0.01, n_jobs=1)


# Rows, wherever they are


def test_fit_a_glob_of_csv_files_of_another_dialect(run, folder, tmp_path):
    status, out, _ = run("fit", "csv/*.csv", "-o", tmp_path / "m.juror", *DIALECT, *QUICK)
    assert status == 0
    assert "colour    nominal       4  blue, grün, red, teal" in out
    files = juror.Files(folder / "csv", separator=";", encoding="latin-1", decimal=",")
    assert same_model(tmp_path / "m.juror", fitted(files))
    assert juror.load(tmp_path / "m.juror").domain["price"].kind == "binned"


def test_fit_a_folder_of_parquet_files(run, everything, tmp_path):
    assert run("fit", "parquet", "-o", tmp_path / "m.juror", *QUICK)[0] == 0
    assert same_model(tmp_path / "m.juror", fitted(everything))


def test_tabs_are_written_with_a_backslash(run, everything, tmp_path):
    everything.to_csv(tmp_path / "tabs.csv", sep="\t", index=False)
    assert run("fit", tmp_path / "tabs.csv", "--separator", "\\t", "-o", tmp_path / "m.juror", *QUICK)[0] == 0
    assert same_model(tmp_path / "m.juror", fitted(everything))


def test_fit_a_query_on_sqlite(run, everything, tmp_path):
    pytest.importorskip("adbc_driver_sqlite")
    query = "SELECT * FROM sold"
    status, _, err = run("fit", query, "--database", "sqlite:///shop.db", "-o", tmp_path / "m.juror", *QUICK)
    assert status == 0, err
    assert same_model(tmp_path / "m.juror", fitted(everything))


def test_fit_and_count_a_query_on_duckdb(run, everything, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.register("frame", everything)
        connection.sql("CREATE TABLE sold AS SELECT * FROM frame")
    uri = f"duckdb:///{tmp_path / 'shop.duckdb'}"
    assert run("fit", "SELECT * FROM sold", "--database", uri, "-o", tmp_path / "m.juror", *QUICK)[0] == 0
    assert same_model(tmp_path / "m.juror", fitted(everything))
    query = "SELECT colour, sold FROM sold"
    status, out, _ = run("count", query, "--database", uri, "-o", tmp_path / "part.counts")
    assert (status, out) == (0, f"counted {len(everything)} rows of 2 variables, 1 pair table\n")
    expected = juror.PairCounts.of(everything[["colour", "sold"]])
    np.testing.assert_array_equal(juror.PairCounts.load(tmp_path / "part.counts").tables[0], expected.tables[0])


def test_weights_markers_bins_and_dropped_columns_of_files(run, folder, tmp_path):
    options = ("--weight", "size", "--drop", "sold", "--missing", "red", "--bins", "3", "--json")
    status, out, _ = run("fit", "parquet/*.parquet", "-o", tmp_path / "m.juror", *options, *QUICK)
    assert status == 0
    facts = json.loads(out)
    assert [(v["name"], len(v["labels"])) for v in facts["variables"]] == [("colour", 3), ("price", 3)]
    sizes = pd.concat([pd.read_parquet(path) for path in (folder / "parquet").iterdir()])["size"]
    assert facts["fit"]["n_rows"] == sizes.sum()


def test_rows_above_memory_are_passed_over_where_they_are(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"v{n}": rng.integers(0, 6, 300_000).astype("int8") for n in range(8)})
    frame.to_parquet(tmp_path / "many.parquet", index=False)
    path = tmp_path / "m.juror"
    status, out, _ = run("fit", tmp_path / "many.parquet", "-o", path, "--memory", "4MB", *QUICK)
    assert status == 0
    assert "fitted to 300,000 rows out of core, by em; started from" in out
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.juror", "many.parquet"]


def test_files_of_another_dialect_are_scored_predicted_and_filled(run, folder, tmp_path):
    frame = pd.read_csv(folder / "csv" / "north.csv", sep=";", decimal=",", encoding="latin-1")
    frame.to_csv(tmp_path / "plain.csv", index=False)
    model = tmp_path / "m.juror"
    assert run("fit", tmp_path / "plain.csv", "-o", model, "--target", "sold", *QUICK)[0] == 0
    for command in (("score", model), ("score", model, "--drop", "price"), ("predict", model)):
        plain = run(*command[:2], tmp_path / "plain.csv", *command[2:])
        assert plain[0] == 0
        assert run(*command[:2], "csv/north.csv", *command[2:], *DIALECT) == plain
    assert run("impute", model, "csv/north.csv", *DIALECT, "-o", tmp_path / "filled.csv")[0] == 0
    filled = pd.read_csv(tmp_path / "filled.csv", dtype=str)
    assert not filled["sold"].isna().any()
    # cells that were there stay as they are written
    assert filled["price"].str.contains(",").any()


# Counts


def test_what_offices_count_apart_is_fitted_as_one(run, folder, everything, tmp_path):
    for name in ("north", "south"):
        status, out, err = run("count", f"{name}.csv", "-o", tmp_path / f"{name}.counts")
        assert status == 0
        counted, expected = (juror.PairCounts.load(place / f"{name}.counts") for place in (tmp_path, folder))
        assert counted.domain == expected.domain
        for one, other in zip(counted.tables, expected.tables, strict=True):
            np.testing.assert_array_equal(one, other)
    assert out == "counted 200 rows of 3 variables, 3 pair tables\n"
    assert err.startswith(f"wrote {tmp_path / 'south.counts'} (1 kB) after ")
    status, out, _ = run(
        "merge", *(tmp_path / f"{n}.counts" for n in ("north", "south")), "-o", tmp_path / "all.counts"
    )
    assert (status, out) == (0, "merged 2 files: 500 rows of 3 variables, 3 pair tables\n")
    counts = juror.PairCounts.of(everything.drop(columns="price"))
    merged = juror.PairCounts.load(tmp_path / "all.counts")
    assert merged.domain == counts.domain
    assert merged.domain["colour"].labels == ("blue", "grün", "red", "teal")
    options = ("--method", "spa", "--rank", "2")
    status, out, _ = run("fit", tmp_path / "all.counts", "-o", tmp_path / "m.juror", *options)
    assert status == 0
    assert "fitted to statistics of up to 500 rows, by spa" in out
    model, expected = juror.load(tmp_path / "m.juror"), juror.fit(counts, 2, "spa")
    assert model.domain == expected.domain
    np.testing.assert_array_equal(model.weights, expected.weights)
    for one, other in zip(model.factors, expected.factors, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_order_of_parts_does_not_matter(run, folder, tmp_path):
    assert run("merge", "north.counts", "south.counts", "-o", tmp_path / "a.counts")[0] == 0
    assert run("merge", "south.counts", "north.counts", "-o", tmp_path / "b.counts", "--json")[0] == 0
    assert (tmp_path / "a.counts").read_bytes() == (tmp_path / "b.counts").read_bytes()


def test_counts_are_told_by_what_they_hold_not_by_their_name(run, folder, tmp_path):
    (tmp_path / "counts").write_bytes((folder / "north.counts").read_bytes())
    options = ("--method", "spa", "--rank", "2")
    assert run("fit", tmp_path / "counts", "-o", tmp_path / "m.juror", *options)[0] == 0


def test_count_some_triples(run, folder, tmp_path):
    data = ("count", "parquet", "--seed", "3", "--bins", "3")
    status, out, _ = run(*data, "--triples", "2", "-o", tmp_path / "two.counts")
    assert (status, out) == (0, "counted 500 rows of 4 variables, 2 triple tables\n")
    frame = pd.concat([pd.read_parquet(folder / "parquet" / f"{n}.parquet") for n in ("north", "south")])
    expected = juror.TripleCounts.of(frame, juror.Domain.infer(frame, bins=3), triples=2, seed=3)
    found = juror.TripleCounts.load(tmp_path / "two.counts")
    assert found.groups == expected.groups
    for table_, other in zip(found.tables, expected.tables, strict=True):
        np.testing.assert_array_equal(table_, other)
    status, out, _ = run("fit", "triples.counts", "--rank", "2", "-o", tmp_path / "m.juror", "--max-iter", "2")
    assert status == 0
    assert "by ctf" in out


def test_a_domain_makes_two_offices_cut_numbers_alike(run, folder, tmp_path):
    north, south, both = (tmp_path / f"{n}.counts" for n in ("north", "south", "both"))
    assert run("count", "parquet/north.parquet", "-o", north)[0] == 0
    assert run("count", "parquet/south.parquet", "-o", south)[0] == 0
    status, _, err = run("merge", north, south, "-o", both)
    assert status == 2
    assert err.startswith(
        f"juror: The file {str(south)!r} does not match those before it: Variable 'price' is cut at ["
    )
    assert err.endswith(" there. Count both with the same --domain, such as that of the other counts.\n")
    alike = ("count", "parquet/south.parquet", "-o", south, "--domain", north)
    status, _, err = run(*alike)
    assert status == 2
    assert err.endswith(
        "not among its 3 labels ['blue', 'grün', 'red']. Pass --unknown missing to treat it as missing. "
        "Or pass --unknown add to add it to the labels.\n"
    )
    assert run(*alike, "--unknown", "missing")[0] == 0
    assert juror.PairCounts.load(south).domain == juror.PairCounts.load(north).domain
    assert run(*alike, "--unknown", "add")[0] == 0
    assert run("merge", north, south, "-o", both)[0] == 0
    merged = juror.PairCounts.load(both)
    assert merged.domain["colour"].labels == ("blue", "grün", "red", "teal")
    assert merged.domain["price"] == juror.PairCounts.load(north).domain["price"]
    assert merged.table("colour", "price").to_numpy().sum() == 500
    # that of a model will do as well
    status, out, _ = run("count", "north.csv", "-o", tmp_path / "m.counts", "--domain", "shop.juror", "--json")
    assert status == 0
    assert json.loads(out)["variables"][0]["labels"] == ["blue", "grün", "red", "teal"]


def test_info_of_counts(run, folder, tmp_path):
    status, out, _ = run("info", "north.counts")
    assert status == 0
    least = pd.read_csv(folder / "north.csv")["sold"].count()
    assert [line.rstrip() for line in out.splitlines()] == [
        "Counts of pairs of 3 variables, 300 rows",
        "",
        "variable  kind     labels",
        "colour    nominal       3  blue, grün, red",
        "size      ordinal       4  1, 2, 3, 4",
        "sold      nominal       2  no, yes",
        "",
        f"3 tables of {least} to 300 rows, 26 cells in all",
    ]
    _, out, _ = run("info", "triples.counts", "--json")
    facts = json.loads(out)
    assert (facts["kind"], facts["tables"], facts["cells"]) == ("TripleCounts", 1, 4 * 4 * 2)
    domain = juror.Domain.from_cardinalities([3, 4])
    juror.Projections.zero(domain).save(tmp_path / "projected")
    assert run("info", tmp_path / "projected")[1].startswith("Projections of pairs of 2 variables, up to 0 rows\n")


# Refusals


ABOUT_ROWS = [
    ("--missing", "?"),
    ("--drop", "size"),
    ("--weight", "size"),
    ("--bins", "3"),
    ("--max-levels", "10"),
    ("--memory", "1GB"),
    ("--dask", "tcp://127.0.0.1:9"),
    ("--spark", "spark://127.0.0.1:9"),
    ("--separator", ";"),
    ("--quote", ""),
    ("--encoding", "latin-1"),
    ("--decimal", ","),
]


@pytest.mark.parametrize("option", ABOUT_ROWS, ids=lambda option: option[0])
def test_counts_have_no_rows_to_say_something_about(run, tmp_path, option):
    status, out, err = run("fit", "north.counts", "-o", tmp_path / "m.juror", "--rank", "2", *option)
    assert (status, out) == (2, "")
    assert err == (
        f"juror: {option[0]} is about rows, and 'north.counts' holds counts of pairs. Leave it out: it matters only "
        "when rows are counted.\n"
    )
    assert list(tmp_path.iterdir()) == []


QUERY = "SELECT * FROM sold"
OUT = ("-o", "OUT/x.juror")
COUNTS = ("-o", "OUT/x.counts")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("fit", "north.counts", *OUT, "--method", "spa"),
            "--rank auto needs rows to hold out, and counts of pairs have none. Pass a number.",
        ),
        (
            ("fit", "north.counts", *OUT, "--rank", "2", "--method", "em"),
            "method 'em' cannot be fitted from counts of p",
        ),
        (
            ("fit", "north.counts", *OUT, "--rank", "2", "--method", "spa", "--starts", "2"),
            "method 'spa' has no option '--starts'.",
        ),
        (("fit", "none.counts", *OUT, "--rank", "2"), "There is no file of counts 'none.counts'. Check the path."),
        (
            ("fit", "cut.counts", *OUT, "--rank", "2"),
            "The file 'cut.counts' is not a file of counts of pairs, or was cut",
        ),
        (("fit", "headless.counts", *OUT, "--rank", "2"), "The file 'headless.counts' was cut short. Fetch it again."),
        (("fit", "text.counts", *OUT), "The file 'text.counts' does not hold counts that juror wrote. Fetch it again."),
        (("fit", "other.counts", *OUT), "The file 'other.counts' is a safetensors file, but none of juror's."),
        (("fit", "shop.juror", *OUT), "The file 'shop.juror' holds a model, and juror fits models to data or counts."),
        (("fit", "north.csv", "-o", "OUT/x.counts"), "'x.counts' names a file of counts, not of a model. Name it like"),
        (
            ("fit", "north.csv", "-o", "OUT/x.arrow"),
            "'x.arrow' names a file of data, not of a model. Name it like 'x.j",
        ),
        (
            ("fit", "north.csv", *OUT, "--memory", "lots"),
            "--memory must be a number of bytes or text like '4GB' or '500",
        ),
        (("fit", "north.csv", *OUT, "--memory", "4"), "--memory must be at least 2 MB. Got '4' instead."),
        (("fit", "north.csv", *OUT, "--separator", "||"), "--separator must be one ASCII character. Got '||' instead."),
        (
            ("fit", "north.csv", *OUT, "--encoding", "elvish"),
            "--encoding must be one that Python knows, like 'utf-8' o",
        ),
        (
            ("fit", "csv/*.csv", *OUT),
            "Column 'colour' of 'csv/north.csv' holds text that is not UTF-8. Save the file as UTF-8, or name its --en",
        ),
        (
            ("fit", "parquet", *OUT, "--separator", ";"),
            "--separator, --quote, --encoding and --decimal say how CSV files are written, and 'parquet/north",
        ),
        (("fit", "no/*.csv", *OUT), "No file matches 'no/*.csv'. Check the path."),
        (("fit", "north.csv", *OUT, "--weight", "n"), "--weight names no column beside others: 'n'."),
        (("fit", "north.csv", *OUT, "--drop", "colur"), "--drop names no column 'colur'. Did you mean 'colour'?"),
        (("count", "north.csv", *COUNTS, "--drop", "colour", "--drop", "size", "--drop", "sold"), "--drop leaves no c"),
        (
            ("fit", "north.csv", *OUT, "--max-levels", "2"),
            "Column 'colour' has 3 distinct labels, more than --max-levels 2. "
            "Drop it if it is an identifier, group its labels, or raise --max-levels.",
        ),
        # databases
        (
            ("fit", QUERY, *OUT),
            f"DATA is a query, {QUERY!r}. Say where to run it with --database, which 'juror fit' and",
        ),
        (
            ("fit", "sqlite:///shop.db", *OUT),
            "'sqlite:///shop.db' is the address of a database. Pass it to 'juror fit' o",
        ),
        (
            ("score", "shop.juror", CLOSED),
            "'postgresql://ann@127.0.0.1:9/shop' is the address of a database. Pass it to 'juror fit' or 'juror co",
        ),
        (
            ("fit", QUERY, "--database", "sqlite:///no.db", *OUT),
            "There is no database sqlite:///no.db. Check the path.",
        ),
        (
            ("fit", QUERY, "--database", f"mysql://ann:{SECRET}@h/d", *OUT),
            "juror cannot read the database 'mysql://ann@h",
        ),
        (
            ("count", QUERY, "--database", "sqlite:///shop.db", *COUNTS, "--decimal", ","),
            "--decimal says how CSV files are written, and --database gives none. Leave it out.",
        ),
        (
            ("count", QUERY, "--database", "sqlite:///shop.db", *COUNTS, "--dask", "tcp://127.0.0.1:9"),
            "--dask is for files that workers read by themselves, and a query on --database comes to this process alo",
        ),
        # counting
        (
            ("count", "north.counts", *COUNTS),
            "The file 'north.counts' holds counts of pairs already. Add them to others",
        ),
        (
            ("count", "north.csv", "-o", "OUT/x.juror"),
            "'x.juror' names a file of a model, not of counts. Name it like 'x",
        ),
        (
            ("count", "north.csv", "-o", "OUT/x.csv"),
            "'x.csv' names a file of data, not of counts. Name it like 'x.counts",
        ),
        (
            ("count", "north.csv", *COUNTS, "--drop", "size", "--weight", "size", "--drop", "sold"),
            "--weight names no column beside others: 'size'.",
        ),
        (
            ("count", "north.csv", *COUNTS, "--drop", "size", "--drop", "sold"),
            "Pairs need at least 2 columns. There is only ['colour'] to count.",
        ),
        (
            ("count", "north.csv", *COUNTS, "--weight", "size", "--triples", "all"),
            "Triples need at least 3 columns. There is only ['colour', 'sold'] to count.",
        ),
        (
            ("count", "north.csv", *COUNTS, "--triples", "few"),
            "--triples must be 'all' or a whole number from 1. Got 'fe",
        ),
        (
            ("count", "north.csv", *COUNTS, "--triples", "9"),
            "--triples must be in the range [1, 1] for 3 variables, so th",
        ),
        (
            ("count", "north.csv", *COUNTS, "--domain", "no.juror"),
            "--domain must be a file of a model or of counts. There",
        ),
        (
            ("count", "north.csv", *COUNTS, "--domain", "north.csv"),
            "The file 'north.csv' is one of data, not a juror model.",
        ),
        (
            ("count", "north.csv", *COUNTS, "--domain", "shop.juror", "--bins", "3"),
            "--bins and --domain both say how columns are read. Leave one of them out.",
        ),
        (
            ("count", "north.csv", *COUNTS, "--unknown", "add"),
            "--unknown is about labels that --domain does not know. Lea",
        ),
        (
            ("count", "north.csv", *COUNTS, "--domain", "shop.juror", "--unknown", "guess"),
            "--unknown must be one of ['error', 'warn', 'missing', 'add']. Got 'guess' instead.",
        ),
        # merging
        (("merge", "north.counts", *COUNTS), "There is only 'north.counts' to merge. Name two files or more."),
        (
            ("merge", "north.counts", "./north.counts", *COUNTS),
            "The file 'north.counts' is named twice, so its rows would",
        ),
        (("merge", "north.counts", "none", *COUNTS), "There is no file of counts 'none'. Check the path."),
        (
            ("merge", "north.counts", "north.csv", *COUNTS),
            "The file 'north.csv' holds no counts. Name one that 'juror cou",
        ),
        (
            ("merge", "north.counts", "shop.juror", *COUNTS),
            "The file 'shop.juror' holds a model. Name one that 'juror cou",
        ),
        (
            ("merge", "north.counts", "cut.counts", *COUNTS),
            "The file 'cut.counts' is not a file of counts of pairs, or was cut",
        ),
        (
            ("merge", "north.counts", "triples.counts", *COUNTS),
            "The file 'triples.counts' holds counts of triples, and those before it counts of pairs. Merge files of on",
        ),
        (
            ("merge", "north.counts", "south.counts", "-o", "south.counts"),
            "'south.counts' is one of the files to merge, and once it holds the others, running this again would coun",
        ),
        (
            ("merge", "north.counts", "south.counts", "-o", "no/x.counts"),
            "There is no folder 'no' to write 'no/x.counts' into",
        ),
        (("info", "none.counts"), "There is no file of counts 'none.counts'. Check the path."),
        (("info", "north.csv"), "The file 'north.csv' is one of data, not a juror model. Name the file"),
        (
            ("ask", "north.counts", "size"),
            "The file 'north.counts' holds counts of pairs, not a model. Fit a model to them with 'juror fit'.",
        ),
        # clusters
        (
            ("fit", "north.csv", *OUT, "--dask", "tcp://127.0.0.1:9", "--spark", "spark://127.0.0.1:9"),
            "--dask and --spark name two clusters. Name one.",
        ),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(run, folder, tmp_path, arguments, sentence):
    if "--database" in arguments and "sqlite" in arguments[arguments.index("--database") + 1]:
        pytest.importorskip("adbc_driver_sqlite")
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    status, out, err = run(*(argument.replace("OUT", str(tmp_path)) for argument in arguments))
    assert (status, out) == (2, "")
    assert err.startswith(f"juror: {sentence}")
    assert err.count("\n") == 1
    assert SECRET not in err
    assert list(tmp_path.iterdir()) == []
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_variables_of_other_names_are_not_merged(run, folder, tmp_path):
    juror.PairCounts.of(table(50, 2)[["size", "colour", "sold"]]).save(tmp_path / "other.counts")
    status, _, err = run("merge", "north.counts", tmp_path / "other.counts", "-o", tmp_path / "all.counts")
    assert status == 2
    assert err == (
        f"juror: The file {str(tmp_path / 'other.counts')!r} does not match those before it: The variables are "
        "['colour', 'size', 'sold'] here and ['size', 'colour', 'sold'] there. Both must have the same, in the same "
        "order.\n"
    )
    assert not (tmp_path / "all.counts").exists()


def test_a_full_disk_leaves_what_was_there(run, tmp_path, monkeypatch):
    (tmp_path / "all.counts").write_text("what was there")

    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("os.fsync", full)
    for command in (("merge", "north.counts", "south.counts"), ("count", "north.csv")):
        status, out, err = run(*command, "-o", tmp_path / "all.counts")
        assert (status, out, err) == (
            2,
            "",
            f"juror: Cannot write {str(tmp_path / 'all.counts')!r}: No space left on device. Make room, or name "
            "another place.\n",
        )
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("all.counts", "what was there")]


# Credentials


@pytest.mark.parametrize("debug", [(), ("--debug",)])
@pytest.mark.parametrize("option", [("--database", CLOSED), (f"--database={CLOSED}",)], ids=["apart", "joined"])
def test_a_password_is_never_shown(run, tmp_path, debug, option):
    pytest.importorskip("adbc_driver_postgresql")
    status, out, err = run("fit", QUERY, *option, "-o", tmp_path / "x.juror", *debug)
    assert (status, out) == (2, "")
    assert "juror: Cannot open postgresql://ann@127.0.0.1:9/shop: " in err
    assert ("Traceback" in err) == bool(debug)
    assert SECRET not in err
    assert list(tmp_path.iterdir()) == []


def test_a_password_is_not_shown_by_messages_about_usage_either(run):
    status, out, err = run("ask", "x.juror", QUERY, "x.csv", CLOSED)
    assert status == 2
    assert "ann@127.0.0.1" in err
    assert SECRET not in out + err


def test_a_bug_does_not_show_the_password_but_has_it(run, monkeypatch, tmp_path):
    def fail(sql: str, uri: str, missing: object, text: object) -> None:
        raise RuntimeError(f"cannot parse {uri} (password {SECRET})")

    monkeypatch.setattr("juror.readers.databases.scan_query", fail)
    status, _, err = run("fit", QUERY, "--database", CLOSED, "-o", tmp_path / "x.juror", "--debug")
    assert status == 1
    assert "unexpected RuntimeError: cannot parse postgresql://ann@127.0.0.1:9/shop (password ***)" in err
    assert SECRET not in err


def test_the_database_is_opened_with_the_password(run, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr("juror.readers.databases.scan_query", lambda sql, uri, *how: asked.append(uri) or 1 / 0)
    assert run("fit", QUERY, "--database", CLOSED, "-o", tmp_path / "x.juror")[0] == 1
    assert asked == [CLOSED]


# Clusters


@pytest.mark.parametrize(
    ("option", "address", "package", "sentence"),
    [
        (
            "--dask",
            "tcp://127.0.0.1:{}",
            "distributed",
            "There is no Dask scheduler at {} (Connection refused). See wh",
        ),
        (
            "--spark",
            "spark://127.0.0.1:{}",
            "pyspark",
            "There is no Spark master at {} (Connection refused). See whethe",
        ),
        (
            "--dask",
            "127.0.0.1:{}",
            "distributed",
            "--dask must be the address of a Dask scheduler, like tcp://host:8786.",
        ),
        (
            "--spark",
            "spark://there",
            "pyspark",
            "--spark must be the address of a Spark master, like spark://host:7077.",
        ),
    ],
)
def test_a_cluster_that_is_not_there(run, tmp_path, option, address, package, sentence):
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = address.format(server.getsockname()[1])
    for command in (("fit", "north.csv", "-o", tmp_path / "x.juror"), ("count", "north.csv", "-o", tmp_path / "x")):
        status, out, err = run(*command, option, address)
        assert (status, out) == (2, "")
        assert err.startswith(f"juror: {sentence.format(address)}")
        assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("option", "package", "extra"), [("--dask", "distributed", "dask"), ("--spark", "pyspark", "spark")]
)
def test_a_cluster_whose_package_is_not_installed(run, tmp_path, monkeypatch, option, package, extra):
    def missing(module: str) -> None:
        raise ImportError(module)

    monkeypatch.setattr(connect, "import_module", missing)
    status, _, err = run("fit", "north.csv", "-o", tmp_path / "x.juror", option, "tcp://127.0.0.1:9")
    assert status == 2
    assert err == f'juror: {option} needs {package}, which is not installed. Run pip install "juror[{extra}]".\n'


class FakeClient:
    """A client of a cluster that was, or was not, closed."""

    def __init__(self, address: str, **options: object):
        self.address, self.open = address, True

    def close(self) -> None:
        self.open = False


def test_a_client_is_closed_whatever_happens(monkeypatch):
    monkeypatch.setattr(connect, "import_module", lambda module: SimpleNamespace(Client=FakeClient))
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with connect.cluster(address, None) as client:
            assert (client.address, client.open) == (address, True)
        assert not client.open
        with pytest.raises(ZeroDivisionError), connect.cluster(address, None) as client:
            raise ZeroDivisionError
        assert not client.open


def test_who_answers_but_is_no_scheduler(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(connect, "_PATIENCE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with (
            pytest.raises(ClusterError, match=f"There is no Dask scheduler at {address} "),
            connect.cluster(address, None),
        ):
            pass


def test_workers_are_given_whole_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    csv = {"separator": None, "quote": '"', "encoding": "utf-8", "decimal": "."}
    assert rows.source_of(["a/*.csv"], None, csv, {"--dask": "tcp://h:1"}).path == str(tmp_path / "a" / "*.csv")
    assert rows.source_of(["a/*.csv"], None, csv, {"--dask": None}).path == "a/*.csv"


def test_warnings_name_options_too(run, tmp_path):
    pd.DataFrame({"a": list("xyxy") * 5, "b": list("uuvv") * 5, "w": [1e-3] * 20}).to_csv(
        tmp_path / "w.csv", index=False
    )
    status, _, err = run("count", tmp_path / "w.csv", "-o", tmp_path / "w.counts", "--weight", "w")
    assert status == 0
    assert err.startswith("juror: warning: --weight sums to 0.02 for 20 rows.")


def test_reading_is_shown_only_on_a_terminal(capsys, monkeypatch):
    with bar.reading("x.csv"):
        pass
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("juror.cli.terminal.sys.stderr.isatty", lambda: True, raising=False)
    with bar.reading("x.csv"), bar.progress_bar("reading") as draw:
        draw(juror.Progress("fitting", 3, 1, 2, 10, 100, -2.5))
