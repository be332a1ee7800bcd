"""The command: measure, then make the page; or with --render only make the page."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from juror.errors import DataError, JurorError
from juror.plot.canvas import check_matplotlib

from .facts import DisagreementError, Facts, Section
from .machine import machine
from .page import FACTS_FOLDER, write_page
from .sections import SECTIONS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 1 where something disagreed or nothing is there, 130 if stopped."""
    asked = _read(arguments)
    folder = asked.output or Path("results" if asked.quick else "docs")
    beside = folder / FACTS_FOLDER
    wrong: list[str] = []
    try:
        check_matplotlib()
        if not asked.render:
            wrong = _measure([SECTIONS[name] for name in asked.only or SECTIONS], beside, asked.quick, asked.missing)
        facts = {name: fact for name in SECTIONS if (fact := Facts.load(beside, name)) is not None}
        if not facts:
            raise DataError(f"There are no facts in {str(beside)!r} to make a page of. Measure some first.")
        for path in write_page(folder, list(SECTIONS.values()), facts):
            _tell(f"wrote {path}")
    except JurorError as error:
        print(f"Error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped. Finished sections are kept; --missing goes on from here.", file=sys.stderr)
        return 130
    for sentence in wrong:
        print(f"Wrong: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


def _measure(sections: Sequence[Section], beside: Path, quick: bool, missing: bool) -> list[str]:
    """Measure sections and keep the facts of each as it is finished; return where contestants disagreed."""
    wrong = []
    for section in sections:
        kept = Facts.load(beside, section.name) if missing else None
        if kept is not None and kept.quick == quick:
            _tell(f"{section.name}: kept")
            continue
        began = time.monotonic()
        try:
            rows = section.measure(quick, _tell)
        except DisagreementError as error:
            wrong.append(f"{section.name}: {error}")
            _tell(wrong[-1])
            continue
        path = Facts(section.name, quick, machine(), rows).save(beside)
        _tell(f"{section.name}: {time.monotonic() - began:.0f} s, kept in {path}")
    return wrong


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--only", type=_names, help=f"measure these, with commas between: {', '.join(SECTIONS)}")
    parser.add_argument("--missing", action="store_true", help="go on: measure only what has no facts yet")
    parser.add_argument("--quick", action="store_true", help="smaller settings: about a minute, not to be quoted")
    parser.add_argument("--render", action="store_true", help="measure nothing, make the page from the facts there are")
    parser.add_argument("-o", "--output", type=Path, help="folder of the page; docs by default, results with --quick")
    asked = parser.parse_args(arguments)
    if asked.render and (asked.only or asked.missing):
        parser.error("--render measures nothing, so it goes with neither --only nor --missing")
    return asked


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in SECTIONS:
            raise argparse.ArgumentTypeError(f"there is no section {name!r}; there are {', '.join(SECTIONS)}")
    return list(dict.fromkeys(names))


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
