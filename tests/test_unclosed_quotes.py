"""A CSV file that ends inside a quoted cell is refused, with the line in which the cell begins."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from juror import Domain, Files
from juror.errors import DataError

UNCLOSED = {
    "rows are lost": ('a,b\nx,u\ny,"v\nx,u\ny,v\n', 3),
    "only the end is lost": ('a,b\nx,u\ny,"v\n', 3),
    "cut short": ('a,b\nx,u\ny,"v', 3),
    "among numbers": ('a,b\nx,1\ny,"2', 3),
    "one column": ('a\nx\n"y\nz\n', 3),
    "an escaped quote": ('a,b\nx,u\ny,"""\nx,v\n', 3),
    "after lines in a cell": ('a,b\n"x\n1",u\ny,"v\nx', 4),
    "carriage returns": ('a,b\rx,u\ry,"v\rx,u\r', 3),
    "nothing but a quote": ('a,b\nx,u\ny,"', 3),
}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "latin-1"])
@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("case", UNCLOSED)
def test_an_unclosed_quote_is_refused(tmp_path, case, ending, encoding):
    text, line = UNCLOSED[case]
    path = tmp_path / f"t.{ending}"
    path.write_bytes((gzip.compress if ending.endswith("gz") else bytes)(text.encode(encoding)))
    with pytest.raises(DataError, match=rf"ends inside a quoted cell, which begins in line {line}\b.*quote"):
        Domain.infer(Files(path, encoding=encoding))


def test_a_large_file_is_refused_too(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "x,u\n" * 1_200_000 + 'y,"v\n' + "x,u\n" * 3)
    with pytest.raises(DataError, match="begins in line 1200002"):
        Domain.infer(path)


@pytest.mark.parametrize(
    "text",
    [
        'a,b\nx,u\ny,"v\nw"\n',
        'a,b\nx,u\ny,"v\nw"',
        'a,b\nx,u\ny,""',
        'a,b\nx,u\ny,""""',
        'a,b\nx,u\ny,""""\n\n',
        'a,b\nx,u\ny,5"\n',
        'a,b\nx,u\ny,a"v',
        'a,b\nx,u\ny,"v"w',
        "a,b\nx,u\nx,v\ny,\n",
    ],
    ids=repr,
)
def test_closed_quotes_are_read(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    assert Domain.infer(tmp_path / "t.csv")["a"].labels == ("x", "y")


def test_without_quotes_a_quote_is_a_character(tmp_path):
    (tmp_path / "t.csv").write_text('a,b\nx,u\ny,"v\nx,u\n')
    assert Domain.infer(Files(tmp_path / "t.csv", quote=""))["b"].labels == ('"v', "u")


cells = st.text(st.sampled_from('ab",\n\r '), max_size=5)


# cells that differ only in spaces or capitals
@pytest.mark.filterwarnings("ignore:Columns? .* labels that differ only:juror.DataWarning")
@pytest.mark.filterwarnings("ignore:The names of the columns, .* look like a row:juror.DataWarning")
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.sampled_from(["", "\n", "\r\n"]))
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_quoted_file_is_closed_until_its_end_is_cut_off(tmp_path, rows, end):
    lines = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in [("a", "b"), *rows, ("p", "q")]]
    text = "\n".join(lines)
    path = tmp_path / "t.csv"
    path.write_bytes((text + end).encode())
    Domain.infer(path)
    path.write_bytes((text.removesuffix('"') + end).encode())
    with pytest.raises(DataError, match="ends inside a quoted cell"):
        Domain.infer(path)
