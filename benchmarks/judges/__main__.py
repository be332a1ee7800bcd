"""The command: run what is missing, then make the page; or with --render only make the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.accuracy.cells import Cell, Result, Section, run
from benchmarks.accuracy.page import gather
from benchmarks.accuracy.running import forget, open_store, run_sections

import juror
from juror.errors import DataError
from juror.paper.running import Store

from .judged import Judged
from .limited import LIMIT, run_within
from .page import PAGE
from .sections import SECTIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 if data or peers are missing, 130 if it was stopped."""
    asked = _read(arguments)
    folder = asked.output or Path("results" if asked.quick else "docs")
    absent: list[str] = []
    try:
        store = open_store(folder / PAGE.folder, _tell)
        if not asked.render:
            absent = _run(asked, store)
        findings = gather(list(SECTIONS.values()), store.results, asked.quick)
        if not any(found.found for found in findings):
            raise DataError(f"There is no finished cell in {str(store.path)!r} to make a page of. Run some first.")
        for path in PAGE.write(folder, findings, asked.quick):
            _tell(f"wrote {path}")
    except juror.JurorError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Finished cells are kept; the same command continues from here.", file=sys.stderr)
        return 130
    for sentence in absent:
        print(f"Not run: {sentence}", file=sys.stderr)
    return 1 if absent else 0


def _run(asked: argparse.Namespace, store: Store) -> list[str]:
    absent = []
    for name in dict.fromkeys(asked.section or SECTIONS):
        section, lacking = installed(SECTIONS[name])
        absent += lacking
        some = chosen(section, asked.only, asked.row, asked.column)
        if asked.again:
            n = forget(store, some.cells(asked.quick))
            _tell(f"{name}: {n} finished cells forgotten, to be run again")
        absent += run_sections([some], store, asked.quick, None, _tell, partial(_run_cell, asked.limit))
    return absent


def _run_cell(limit: int, section: Section, cell: Cell) -> Result:
    """Run juror's cells here, where one fit serves several, and each of another in a process with a limit."""
    assert isinstance(section, Judged)
    return run(section, cell) if cell.row in section.ours else run_within(limit, cell)


def installed(section: Judged) -> tuple[Judged, list[str]]:
    """Return a section without the rows whose package is not installed, and a sentence for each of them."""
    lacking = {row: package for row in section.rows if (package := section.lacking(row)) is not None}
    sentences = [
        f"{section.name}, {row}: {package} is not installed. Install it with: pip install {package}"
        for row, package in lacking.items()
    ]
    return replace(section, rows={r: name for r, name in section.rows.items() if r not in lacking}), sentences


def chosen(
    section: Judged,
    only: str | None = None,
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
) -> Judged:
    """Return a section with juror's rows or those of others only, and with some of its rows and columns."""

    def some_columns(quick: bool, every: Callable = section.columns) -> dict:
        return {c: options for c, options in every(quick).items() if columns is None or str(c) in columns}

    kept = {
        row: name
        for row, name in section.rows.items()
        if (rows is None or row in rows) and (only is None or (row in section.ours) == (only == "juror"))
    }
    return replace(section, rows=kept, columns=some_columns)


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.judges", description=__doc__)
    parser.add_argument("--section", action="append", choices=SECTIONS, help="run this one only; may be repeated")
    parser.add_argument("--only", choices=("juror", "peers"), help="run juror's own rows only, or those of others")
    parser.add_argument("--row", action="append", help="run this row only; may be repeated")
    parser.add_argument("--column", action="append", help="run this table only; may be repeated")
    parser.add_argument("--quick", action="store_true", help="few rows of one table: minutes, not to be quoted")
    parser.add_argument("--render", action="store_true", help="run nothing, make the page from the cells there are")
    parser.add_argument("--again", action="store_true", help="run finished cells of what is chosen again")
    parser.add_argument(
        "--limit",
        type=int,
        default=LIMIT,
        help="processor seconds of a cell of another (default: %(default)s)",
    )
    parser.add_argument("-o", "--output", type=Path, help="folder of the page; docs by default, results with --quick")
    asked = parser.parse_args(arguments)
    if asked.render and (asked.section or asked.only or asked.row or asked.column or asked.again):
        parser.error("--render runs nothing, so it goes with neither --section, --only, --row, --column nor --again")
    return asked


def _tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
