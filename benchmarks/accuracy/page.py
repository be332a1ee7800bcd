"""The page about accuracy: how it was made, and what a section of it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from .cells import Result, Section
from .findings import Findings, remarks
from .pictures import PICTURES, picture
from .written import Page

RESULTS_FOLDER = "accuracy"


def gather(
    sections: Sequence[Section], results: Mapping[str, Result], quick: bool, seeds: int | None = None
) -> list[Findings]:
    """Return what was found of every section."""
    return [Findings(section, section.cells(quick, seeds), results) for section in sections]


def unused(findings: Sequence[Findings], results: Mapping[str, Result]) -> int:
    """Count finished cells that no section asks for: of other settings, or of other seeds."""
    asked = {cell.fingerprint for found in findings for cell in found.expected}
    return len(set(results) - asked)


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


def _section(found: Findings) -> Iterator[str]:
    yield from found.section.words(found)
    yield f"![{PICTURES[found.section.name][0]}]({RESULTS_FOLDER}/{found.section.name}.png)"
    yield from remarks(found)


PAGE = Page(
    title="How accurate juror is",
    file="accuracy.md",
    folder=RESULTS_FOLDER,
    quick="**Quick run with smaller settings: for a look, not to be quoted.**",
    how=_how,
    section=_section,
    picture=lambda found: picture(found)[1],
)
