"""CSV files in every dialect: well-formed ones are read back equal, and damaged ones read or refused."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import numpy as np
from hostile_values import pick

import juror

_CELLS = (
    *(
        "a",
        "b",
        "red",
        "x y",
        " a",
        "a ",
        "007",
        "7",
        "1",
        "2",
        "3.5",
        "-1",
        "1e5",
        "0x10",
        "true",
        "no",
        "ä",
        "日",
        "1,5",
    ),
    *("a,b", "a;b", 'say "x"', "it's", "a\nb", "a\r\nb", "#", "NA", "2020-01-01", "9007199254740993", "\\", "[0, 1)"),
)
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-16", "latin-1", "utf-8-sig", "cp1252", "utf-32", "shift-jis")
_INSERTS = (
    *(b'"', b'""', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\n\n\n", b"\0", b"\xff", b"\xc3", b"\xef\xbb\xbf"),
    *(b" ", b"\x1b[2J", b"1e999", b"nan", b"inf", b"-", b"9" * 400, b"\xed\xa0\x80", b"x" * 5000, b"?", b"true"),
)


def csv_case(rng: np.random.Generator, folder: Path) -> None:
    """Write a table in some dialect, perhaps damage it, and read it."""
    header, rows = _table(rng)
    separator, quote, encoding = pick(rng, ",;\t|"), pick(rng, '""\''), pick(rng, _ENCODINGS)
    newline = pick(rng, ("\n", "\r\n"))
    every = rng.random() < 0.3
    lines = [separator.join(_cell(cell, separator, quote, every) for cell in line) for line in (header, *rows)]
    text = newline.join(lines) + pick(rng, (newline, newline, ""))
    content = text.encode(encoding, errors="replace")
    path = folder / pick(rng, ("t.csv", "t.csv", "t.tsv", "t.txt.csv"))
    if rng.random() < 0.3:
        path.write_bytes(content)
        said = juror.Files(path, separator=separator, quote=quote, encoding=encoding)
        _read_back(said, header, [[_replaced(cell, encoding) for cell in row] for row in rows])
        return
    path.write_bytes(_damaged(content, rng))
    if rng.random() < 0.5:
        _use(path, rng)
    else:
        decimal = "," if separator != "," and rng.random() < 0.3 else "."
        _use(juror.Files(path, separator=separator, quote=quote, encoding=encoding, decimal=decimal), rng)


def _table(rng: np.random.Generator) -> tuple[list[str], list[list[str | None]]]:
    n_columns, n_rows = int(rng.integers(2, 5)), int(rng.integers(1, 12))
    names = [f"c{n}" + pick(rng, ("", " x", "é", ",", '"', "\n")) for n in range(n_columns)]
    choices = [[pick(rng, _CELLS) for _ in range(int(rng.integers(1, 5)))] for _ in names]
    rows = [[None if rng.random() < 0.1 else pick(rng, some) for some in choices] for _ in range(n_rows)]
    # One column is text, so that no row is an empty line, and so that every column has a value
    for row in rows:
        row[0] = "t" + (row[0] or "")
    rows.append(["t", *(some[0] for some in choices[1:])])
    return names, rows


def _cell(cell: str | None, separator: str, quote: str, every: bool) -> str:
    if cell is None:
        return ""
    if every or cell != cell.strip() or any(mark in cell for mark in (separator, quote, "\n", "\r", ",", ";", "\t")):
        return quote + cell.replace(quote, quote * 2) + quote
    return cell


def _replaced(cell: str | None, encoding: str) -> str | None:
    return None if cell is None else cell.encode(encoding, errors="replace").decode(encoding)


def _read_back(said: juror.Files, header: list[str], rows: list[list[str | None]]) -> None:
    """The columns of text have the cells that were written; columns of numbers and booleans have as many holes."""
    domain = juror.Domain.infer(said, bin_above=10**6)
    codes = domain.encode(said)
    assert codes.shape == (len(rows), len(header)), (codes.shape, header, rows)
    for n, variable in enumerate(domain):
        cells = [row[n] for row in rows]
        found = variable.decode(codes[:, n])
        assert [cell is None for cell in found] == [cell is None for cell in cells], (found, cells)
        if variable.kind != "binned" and all(isinstance(label, str) for label in variable.labels):
            assert found == cells, (found, cells)


def _damaged(content: bytes, rng: np.random.Generator) -> bytes:
    for _ in range(int(rng.integers(1, 5))):
        place = int(rng.integers(len(content) + 1))
        what = rng.random()
        if what < 0.6:
            content = content[:place] + pick(rng, _INSERTS) + content[place:]
        elif what < 0.75:
            content = content[:place]
        elif what < 0.9:
            content = content[:place] + content[place + int(rng.integers(1, 9)) :]
        else:
            content = content[:place] + content[: int(rng.integers(200))] + content[place:]
    if rng.random() < 0.05:
        content = pick(rng, (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF32_BE)) + content
    return content


def _use(data: Any, rng: np.random.Generator) -> None:
    missing = pick(rng, ((), (), ("?",), (-1,), ("NA", 7)))
    counts = juror.PairCounts.of(data, missing=missing, n_jobs=1)
    domain = counts.domain
    codes = domain.encode(data)
    assert codes.shape == (counts.n_rows, len(domain))
    assert np.all(codes.max(axis=0) < domain.cardinalities)
    if rng.random() < 0.1 and len(domain) > 1:
        model = juror.fit(data, "auto", "tree", missing=missing, n_jobs=1)
        assert np.all(model.log_prob(data) > -np.inf)
