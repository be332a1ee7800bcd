"""What juror writes, juror reads back equal: hostile labels and names in CSV, Parquet and model files."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import juror
from juror import Domain, JointPMF
from juror.answers.label_frames import to_frame
from juror.cli.app import app
from juror.cli.output import write_columns, write_frame
from juror.domain.variable import Variable
from juror.errors import DataError
from juror.readers.columns import as_text
from juror.readers.files import read_table

HOSTILE = [
    *("", " ", "\r", "\n", "\r\n", "\t", '"', '""', ",", ";", "a,b", 'say "no"', "'", "a\nb", "a\rb", "line\n"),
    *(" a", "a ", " a ", "NA", "nan", "NaN", "None", "null", "true", "True", "FALSE", "1e5", "007", "7", "7.0", "0x10"),
    *(">50K", "<=50K", "=1+1", "-", "?", "\0", "a\0b", "\x1b[31m", "\x0b", "\x0c", "\x85", "\u2028", "\ufeff"),
    *("\xe9", "e\u0301", "日本語", "😀", "\\", "\\n", "#", "[0, 1)", "2020-01-01", "12:30:00", "9007199254740993"),
    *("inf", "P(a = b)"),
]
texts = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
numbers = st.sampled_from([0, 7, -1, 2**53, 2**53 + 1, 2**63, 2**64 + 1, 0.5, 1e5, 1e300, -2.5]) | st.integers()
names = texts.filter(lambda name: name.strip())


def apart(labels):
    return len({as_text(label) for label in labels}) == len(labels) == len(set(labels))


columns = st.one_of(
    st.lists(texts, min_size=1, max_size=6, unique=True),
    st.lists(numbers, min_size=1, max_size=6, unique=True),
    st.lists(st.booleans(), min_size=1, max_size=2, unique=True),
    st.lists(texts | numbers, min_size=1, max_size=6, unique=True).filter(apart),
)
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def tables(draw):
    """Draw a domain, and the codes of some rows, −1 for missing."""
    found = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    domain = Domain(tuple(Variable(name, tuple(draw(columns))) for name in found))
    n_rows = draw(st.integers(1, 5))
    cells = [st.integers(-1, size - 1) for size in domain.cardinalities]
    return domain, np.array([[draw(cell) for cell in cells] for _ in range(n_rows)])


def every_hostile_label():
    return Domain((Variable("a", tuple(HOSTILE)),)), np.arange(-1, len(HOSTILE))[:, None]


def frame_of(domain, codes, kind="pandas"):
    return to_frame({v.name: v.decode(codes[:, n]) for n, v in enumerate(domain)}, kind)


@example(every_hostile_label())
@given(tables())
@QUICK
def test_frames_in_csv(tmp_path, table):
    domain, codes = table
    write_frame(frame_of(domain, codes), tmp_path / "t.csv")
    np.testing.assert_array_equal(domain.encode(tmp_path / "t.csv"), codes)
    read = read_table(tmp_path / "t.csv", (), domain.names)
    for n, variable in enumerate(domain):
        if all(isinstance(label, str) for label in variable.labels):
            assert read[variable.name].to_pylist() == variable.decode(codes[:, n])


@example(every_hostile_label())
@given(tables())
@QUICK
def test_frames_in_parquet(tmp_path, table):
    domain, codes = table
    for kind in ("pandas", "pyarrow"):
        write_frame(frame_of(domain, codes, kind), tmp_path / "t.parquet")
        np.testing.assert_array_equal(domain.encode(tmp_path / "t.parquet"), codes)


@example(every_hostile_label())
@given(tables())
@QUICK
def test_arrow_tables_in_csv(tmp_path, table):
    domain, codes = table
    write_frame(frame_of(domain, codes, "pyarrow"), tmp_path / "t.csv")
    np.testing.assert_array_equal(domain.encode(tmp_path / "t.csv"), codes)


@example(every_hostile_label())
@given(tables())
@QUICK
def test_columns_on_stdout(tmp_path, table):
    domain, codes = table
    stdout, sys.stdout = sys.stdout, io.TextIOWrapper(io.BytesIO())
    try:
        write_columns({v.name: v.decode(codes[:, n]) for n, v in enumerate(domain)}, as_json=False)
        content = sys.stdout.buffer.getvalue()
    finally:
        sys.stdout = stdout
    (tmp_path / "t.csv").write_bytes(content)
    np.testing.assert_array_equal(domain.encode(tmp_path / "t.csv"), codes)


@pytest.mark.parametrize("separator", [",", ";", "|"])
def test_a_column_with_the_name_of_a_separator(tmp_path, separator):
    domain = Domain((Variable(separator, ("x", "y")),))
    codes = np.array([[0], [1]])
    write_frame(frame_of(domain, codes, "pyarrow"), tmp_path / "t.csv")
    np.testing.assert_array_equal(domain.encode(tmp_path / "t.csv"), codes)


@example(every_hostile_label())
@given(tables())
@QUICK
def test_models(tmp_path, table):
    domain, _ = table
    factors = [np.full((size, 1), 1 / size) for size in domain.cardinalities]
    JointPMF([1.0], factors, domain).save(tmp_path / "m.juror")
    read = juror.load(tmp_path / "m.juror").domain
    assert read == domain
    for mine, theirs in zip(domain, read, strict=True):
        assert list(map(type, mine.labels)) == list(map(type, theirs.labels))


def model_of(labels, name="a"):
    domain = Domain((Variable(name, tuple(labels)), Variable("b", ("x", "y"))))
    size = len(labels)
    return JointPMF([1.0], [np.full((size, 1), 1 / size), np.array([[0.5], [0.5]])], domain)


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.stdout_bytes


@pytest.mark.parametrize("name", ["a", "a,b", 'a"b', "a;\nb", " a ", "\ufeffa", "007"], ids=repr)
def test_commands(tmp_path, name):
    """What sample, impute and predict write is read back as the labels that it was."""
    model, path = model_of(HOSTILE, name), tmp_path / "m.juror"
    model.save(path)
    drawn = model.sample(400, seed=3)
    expected = model.domain.encode(drawn)
    assert len(np.unique(expected[:, 0])) == len(HOSTILE), "every label is drawn"
    for ending in ("csv", "parquet"):
        run("sample", path, "-n", 400, "--seed", 3, "-o", tmp_path / f"s.{ending}")
        np.testing.assert_array_equal(model.domain.encode(tmp_path / f"s.{ending}"), expected)
        run("impute", path, tmp_path / f"s.{ending}", "-o", tmp_path / f"i.{ending}")
        np.testing.assert_array_equal(model.domain.encode(tmp_path / f"i.{ending}"), expected)
    (tmp_path / "out.csv").write_bytes(run("sample", path, "-n", 400, "--seed", 3))
    np.testing.assert_array_equal(model.domain.encode(tmp_path / "out.csv"), expected)
    run("predict", path, tmp_path / "s.csv", "--target", name, "-o", tmp_path / "p.csv")
    best = model.domain.encode(tmp_path / "p.csv")[:, 0]
    assert [model.domain[0].labels[code] for code in best] == model.predict(tmp_path / "s.csv", name).tolist()


@pytest.mark.parametrize("label", HOSTILE, ids=repr)
def test_impute_fills_with_the_label_itself(tmp_path, label):
    model = model_of([label])
    model.save(tmp_path / "m.juror")
    (tmp_path / "t.csv").write_text("a,b\n,x\n,y\n")
    run("impute", tmp_path / "m.juror", tmp_path / "t.csv", "-o", tmp_path / "i.csv")
    assert read_table(tmp_path / "i.csv", (), ["a"])["a"].to_pylist() == [label, label]


def test_plain_labels_are_not_quoted(tmp_path):
    frame = pd.DataFrame({"a": ["red", ">50K", "a b", None], "b": [1, 2, 3, 4], "c": [0.5, None, 1e-05, 2.0]})
    write_frame(frame, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "a,b,c\nred,1,0.5\n>50K,2,\na b,3,1e-05\n,4,2.0\n"


def test_large_integers_beside_missing_cells_are_kept(tmp_path):
    table = pa.table({"a": [2**53, 2**53 + 1, None]})
    write_frame(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == f"a\n{2**53}\n{2**53 + 1}\n\n"


@pytest.mark.parametrize("text", ["\ud800", "a\udcff"], ids=ascii)
def test_text_that_is_no_unicode_is_refused(text):
    with pytest.raises(DataError, match=r"label .* UTF-8"):
        Variable("a", ("x", text))
    with pytest.raises(DataError, match=r"name .* UTF-8"):
        Variable(text, ("x",))


def test_labels_of_the_same_text_are_not_written(tmp_path):
    model_of([1, 2, "1"]).save(tmp_path / "m.juror")
    (tmp_path / "t.csv").write_text("b\nx\n")
    for arguments in (["sample"], ["impute", tmp_path / "t.csv"], ["predict", tmp_path / "t.csv", "--target", "a"]):
        command, *data = map(str, arguments)
        result = CliRunner().invoke(app, [command, str(tmp_path / "m.juror"), *data])
        assert isinstance(result.exception, DataError)
        assert "labels 1 and '1', which are the same text" in str(result.exception)


def test_separators_in_quoted_names_do_not_count(tmp_path):
    path = Path(tmp_path / "t.csv")
    path.write_text('"x;y\nz",b\n1;2,u\n3,v\n')
    assert Domain.infer(path).names == ("x;y\nz", "b")
    path.write_text('"x,y";b\n1,5;u\n3;v\n')
    assert Domain.infer(path).names == ("x,y", "b")
