"""The page, its tables as CSV and its pictures, from finished cells alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from juror.files.writing import write_whole
from juror.paper.pictures import write_picture

from .cells import Result, Section
from .findings import Findings, markdown, remarks, table_csv
from .pictures import PICTURES, picture

PAGE_FILE = "accuracy.md"
RESULTS_FOLDER = "accuracy"


def gather(
    sections: Sequence[Section], results: Mapping[str, Result], quick: bool, seeds: int | None
) -> list[Findings]:
    """Return what was found of every section."""
    return [Findings(section, section.cells(quick, seeds), results) for section in sections]


def unused(findings: Sequence[Findings], results: Mapping[str, Result]) -> int:
    """Count finished cells that no section asks for: of other settings, or of other seeds."""
    asked = {cell.fingerprint for found in findings for cell in found.expected}
    return len(set(results) - asked)


def write_page(folder: Path, findings: Sequence[Findings], quick: bool) -> list[Path]:
    """Write the page into a folder, and CSV files and pictures into the folder ``accuracy`` there.

    Parameters
    ----------
    folder : pathlib.Path
        Where to; made if it is not there.
    findings : sequence of Findings
        What was found, section by section.
    quick : bool
        Whether this is a quick look, which the page then says.
    """
    beside = folder / RESULTS_FOLDER
    beside.mkdir(parents=True, exist_ok=True)
    written = []
    for found in findings:
        if found.found:
            written.append(beside / f"{found.section.name}.csv")
            text = table_csv(found)
            write_whole(written[-1], lambda stream, text=text: stream.write(text.encode()))
            written.append(beside / f"{found.section.name}.png")
            write_picture(picture(found)[1], written[-1])
    written.append(folder / PAGE_FILE)
    text = page(findings, quick)
    write_whole(written[-1], lambda stream: stream.write(text.encode()))
    return written


def page(findings: Sequence[Findings], quick: bool) -> str:
    """Return the page as Markdown."""
    parts = ["# How accurate juror is"]
    if quick:
        parts.append("**Quick run with smaller settings: for a look, not to be quoted.**")
    parts += [_how(findings, quick), *([] if quick else _goals(findings))]
    for found in findings:
        parts += [f"## {found.section.title}", *_section(found)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _how(findings: Sequence[Findings], quick: bool) -> str:
    results = [result for found in findings for result in found.found]
    versions = _counted(f"juror {result['juror']}" for result in results)
    cores = _counted(f"{result['cores']} core(s)" for result in results)
    return f"""Made by `python -m benchmarks.accuracy{" --quick" if quick else ""}`, which runs what is not yet in
`{RESULTS_FOLDER}/cells.jsonl` and makes this page, the CSV files and the pictures of that file alone. A reference
slants: it is a yardstick, or a number that is not ours. Cells: {len(results)}, by version: {versions}; by machine:
{cores}. Cells ran one after the other, each with all cores; seconds are those of the fit alone unless said."""


def _counted(said: Iterator[str]) -> str:
    return ", ".join(f"{what} in {n}" for what, n in Counter(said).items()) or "none"


def _goals(findings: Sequence[Findings]) -> Iterator[str]:
    # of fewer seeds than were set nothing is claimed
    whole = [found for found in findings if len(found.seeds) >= len(found.section.seeds)]
    goals = [goal for found in whole for goal in found.section.goals(found)]
    if goals:
        yield "## What was to be reached"
        yield f"{sum(goal.is_met for goal in goals)} of {len(goals)} are."
        lines = [[goal.what, goal.bound, goal.measured, "yes" if goal.is_met else "**no**"] for goal in goals]
        yield markdown(["", "goal", "measured", "reached"], lines)


def _section(found: Findings) -> Iterator[str]:
    if not found.found:
        yield f"Not run yet: 0 of {len(found.expected)} cells are there."
        return
    yield from found.section.words(found)
    yield f"![{PICTURES[found.section.name][0]}]({RESULTS_FOLDER}/{found.section.name}.png)"
    yield from remarks(found)
