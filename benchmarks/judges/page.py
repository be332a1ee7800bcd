"""The page and its table of cells as CSV, from finished cells alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.accuracy.cells import Result
from benchmarks.accuracy.findings import Findings, markdown, remarks, table_csv

from juror.files.writing import write_whole
from juror.paper.pictures import write_picture

from .judged import Judged, losses, missing_rows, tables, versions
from .pictures import picture

PAGE_FILE = "judges.md"
RESULTS_FOLDER = "judges"


def gather(sections: Sequence[Judged], results: Mapping[str, Result], quick: bool) -> list[Findings]:
    """Return what was found of every section."""
    return [Findings(section, section.cells(quick), results) for section in sections]


def write_page(folder: Path, findings: Sequence[Findings], quick: bool) -> list[Path]:
    """Write the page into a folder, and CSV files and pictures into the folder ``judges`` there."""
    beside = folder / RESULTS_FOLDER
    beside.mkdir(parents=True, exist_ok=True)
    written = []
    for found in findings:
        if found.found:
            written.append(beside / f"{found.section.name}.csv")
            text = table_csv(found)
            write_whole(written[-1], lambda stream, text=text: stream.write(text.encode()))
            written.append(beside / f"{found.section.name}.png")
            write_picture(picture(found), written[-1])
    written.append(folder / PAGE_FILE)
    text = page(findings, quick)
    write_whole(written[-1], lambda stream: stream.write(text.encode()))
    return written


def page(findings: Sequence[Findings], quick: bool) -> str:
    """Return the page as Markdown."""
    parts = ["# juror before outside judges"]
    if quick:
        parts.append("**Quick run with few rows: for a look, not to be quoted.**")
    parts += [_how(findings, quick), *([] if quick else _goals(findings))]
    for found in findings:
        parts += [f"## {found.section.title}", *_section(found)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _how(findings: Sequence[Findings], quick: bool) -> str:
    results = [result for found in findings for result in found.found]
    counted = Counter(f"juror {result['juror']}, {result['cores']} cores" for result in results)
    made = ", ".join(f"{what}: {n} cells" for what, n in counted.items())
    command = f"python -m benchmarks.judges{' --quick' if quick else ''}"
    return f"""Made by `{command}`, which runs the cells that `{RESULTS_FOLDER}/cells.jsonl` does not have yet, and
makes this page of that file alone. Peers are at their defaults, in the same run as juror, and are no dependency of it
(`pip install 'juror[judges]'`). A row in italics is a yardstick; a figure marked as printed is from a publication and
was not measured here. Seconds are those of fitting and, where that is the task, of filling or drawing; they depend on
what else the machine does. {made}."""


def _goals(findings: Sequence[Findings]) -> Iterator[str]:
    goals = [goal for found in findings for goal in found.section.goals(found)]
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
    yield from tables(found)
    yield losses(found)
    yield f"![{found.section.title}]({RESULTS_FOLDER}/{found.section.name}.png)"
    yield versions(found)
    yield missing_rows(found)
    yield from remarks(found)
