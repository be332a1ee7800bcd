"""The page of the judges: how it was made, and what a section of it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from benchmarks.accuracy.findings import Findings, remarks
from benchmarks.accuracy.written import Page

from .judged import losses, missing_rows, tables, versions
from .pictures import picture

RESULTS_FOLDER = "judges"


def _how(findings: Sequence[Findings], quick: bool) -> str:
    results = [result for found in findings for result in found.found]
    counted = Counter(f"juror {result['juror']}, {result['cores']} cores" for result in results)
    made = ", ".join(f"{what}: {n} cells" for what, n in counted.items())
    command = f"python -m benchmarks.judges{' --quick' if quick else ''}"
    return f"""Made by `{command}`, which runs the cells that `{RESULTS_FOLDER}/cells.jsonl` does not have yet, and
makes this page of that file alone. Peers are at their defaults, and are no dependency of juror
(`pip install 'juror[judges]'`). A row in italics is a yardstick; a figure marked as printed is from a publication and
was not measured here. Seconds are those of fitting and, where that is the task, of filling or drawing. They depend on
what else the machine does, so seconds of processor time, of all threads, follow in brackets where they are known;
*stopped* is a peer that had used up its processor time. {made}."""


def _section(found: Findings) -> Iterator[str]:
    yield from found.section.words(found)
    yield from tables(found)
    yield losses(found)
    yield f"![{found.section.title}]({RESULTS_FOLDER}/{found.section.name}.png)"
    yield versions(found)
    yield missing_rows(found)
    yield from remarks(found)


PAGE = Page(
    title="juror before outside judges",
    file="judges.md",
    folder=RESULTS_FOLDER,
    quick="**Quick run with few rows: for a look, not to be quoted.**",
    how=_how,
    section=_section,
    picture=picture,
)
