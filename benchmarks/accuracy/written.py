"""A page of findings with its tables as CSV and its pictures, from finished cells alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from juror.files.writing import write_whole
from juror.paper.pictures import write_picture

from .findings import Findings, markdown, table_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Page:
    """What a page is made of.

    Attributes
    ----------
    title : str
        Its heading.
    file, folder : str
        The name of the page, and of the folder beside it that has its CSV files and pictures.
    quick : str
        What a page of a quick look says first.
    how : callable
        Given all findings and whether the look is quick, how the page was made.
    section : callable
        Given what was found of a section, its paragraphs; there is at least one finished cell.
    picture : callable
        Given what was found of a section, its picture.
    """

    title: str
    file: str
    folder: str
    quick: str
    how: Callable[[Sequence[Findings], bool], str]
    section: Callable[[Findings], Iterator[str]]
    picture: Callable[[Findings], Figure]

    def write(self, folder: Path, findings: Sequence[Findings], quick: bool) -> list[Path]:
        """Write the page into a folder, and CSV files and pictures beside it; return what was written."""
        beside = folder / self.folder
        beside.mkdir(parents=True, exist_ok=True)
        written = []
        for found in findings:
            if found.found:
                written.append(beside / f"{found.section.name}.csv")
                _write_text(written[-1], table_csv(found))
                written.append(beside / f"{found.section.name}.png")
                write_picture(self.picture(found), written[-1])
        written.append(folder / self.file)
        _write_text(written[-1], self.text(findings, quick))
        return written

    def text(self, findings: Sequence[Findings], quick: bool) -> str:
        """Return the page as Markdown."""
        parts = [f"# {self.title}", *([self.quick] if quick else [])]
        parts += [self.how(findings, quick), *([] if quick else _goals(findings))]
        for found in findings:
            absent = f"Not run yet: 0 of {len(found.expected)} cells are there."
            parts += [f"## {found.section.title}", *(self.section(found) if found.found else [absent])]
        return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _write_text(path: Path, text: str) -> None:
    write_whole(path, lambda stream: stream.write(text.encode()))


def _goals(findings: Sequence[Findings]) -> Iterator[str]:
    # Nothing is claimed from fewer seeds than a section has.
    whole = [found for found in findings if len(found.seeds) >= len(found.section.seeds)]
    goals = [goal for found in whole for goal in found.section.goals(found)]
    if goals:
        yield "## What was to be reached"
        yield f"{sum(goal.is_met for goal in goals)} of {len(goals)} are."
        lines = [[goal.what, goal.bound, goal.measured, "yes" if goal.is_met else "**no**"] for goal in goals]
        yield markdown(["", "goal", "measured", "reached"], lines)
