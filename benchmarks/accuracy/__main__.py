"""The command: run what is missing, then make the page; or with --render only make the page."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import juror
from juror.errors import DataError
from juror.paper.running import Store
from juror.plot.canvas import check_matplotlib

from .page import PAGE, gather, unused
from .running import forget, open_store, run_sections
from .sections import SECTIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 where data could not be had, 130 where it was stopped."""
    asked = _read(arguments)
    folder = asked.output or Path("results" if asked.quick else "docs")
    absent: list[str] = []
    try:
        check_matplotlib()
        store = open_store(folder / PAGE.folder, _tell)
        if not asked.render:
            absent = _run(asked, store)
        findings = gather(list(SECTIONS.values()), store.results, asked.quick, asked.seeds)
        if not any(found.found for found in findings):
            raise DataError(f"There is no finished cell in {str(store.path)!r} to make a page of. Run some first.")
        for path in PAGE.write(folder, findings, asked.quick):
            _tell(f"wrote {path}")
        if n := unused(findings, store.results):
            _tell(f"{n} cells in {store.path} are of other settings or seeds than those of {PAGE.file}.")
    except juror.JurorError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Finished cells are kept; the same command goes on from here.", file=sys.stderr)
        return 130
    for sentence in absent:
        print(f"Not run: {sentence}", file=sys.stderr)
    return 1 if absent else 0


def _run(asked: argparse.Namespace, store: Store) -> list[str]:
    sections = [SECTIONS[name] for name in dict.fromkeys(asked.section or SECTIONS)]
    if asked.again:
        cells = [cell for section in sections for cell in section.cells(asked.quick, asked.seeds)]
        _tell(f"{forget(store, cells)} finished cells forgotten, to be run again")
    return run_sections(sections, store, asked.quick, asked.seeds, _tell)


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--section", action="append", choices=SECTIONS, help="run this one only; may be repeated")
    parser.add_argument("--seeds", type=_count, help="how many seeds; by default each section's own number")
    parser.add_argument("--quick", action="store_true", help="smaller settings and one seed: minutes, not to be quoted")
    parser.add_argument("--render", action="store_true", help="run nothing, make the page from the cells there are")
    parser.add_argument("--again", action="store_true", help="run finished cells of the sections chosen again")
    parser.add_argument("-o", "--output", type=Path, help="folder of the page; docs by default, results with --quick")
    asked = parser.parse_args(arguments)
    if asked.render and (asked.section or asked.again):
        parser.error("--render runs nothing, so it goes with neither --section nor --again")
    return asked


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, not {text}")
    return number


def _tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main())
