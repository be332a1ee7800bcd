"""Finished cells of a section, gathered by row and column, and the tables made of them."""

from __future__ import annotations

import csv
import io
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .cells import Cell, Result, Section

NOTHING = "–"
_ABOUT = ("section", "row", "column", "seed", "quick", "seconds", "juror", "cores", "failed")


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found of a section: finished cells among the expected ones.

    Attributes
    ----------
    section : Section
        What it is about.
    expected : sequence of Cell
        All cells of the section.
    results : mapping of str to dict
        Finished cells by fingerprint, of other sections too.
    """

    section: Section
    expected: Sequence[Cell]
    results: Mapping[str, Result]

    @cached_property
    def found(self) -> list[Result]:
        """The finished cells of the section, in the order they are expected in."""
        return [self.results[cell.fingerprint] for cell in self.expected if cell.fingerprint in self.results]

    @property
    def columns(self) -> list[int | str]:
        """The columns that have a finished cell."""
        return list(dict.fromkeys(result["column"] for result in self.found))

    @property
    def seeds(self) -> list[int]:
        """The seeds that have a finished cell."""
        return sorted({result["seed"] for result in self.found})

    def at(self, row: str, column: int | str) -> list[Result]:
        """Return the finished cells of a place, by seed; refused ones are not among them."""
        return [r for r in self.found if (r["row"], r["column"]) == (row, column) and r["failed"] is None]

    def by_seed(self, row: str, column: int | str, measure: str) -> dict[int, float]:
        """Return a measure of a place by seed, where it is a number; ``seconds`` are a measure too."""
        values = {
            r["seed"]: r["seconds"] if measure == "seconds" else r["measured"].get(measure)
            for r in self.at(row, column)
        }
        return {seed: value for seed, value in values.items() if value is not None}

    def values(self, row: str, column: int | str, measure: str) -> list[float]:
        """Return a measure of a place, in the order of seeds."""
        return list(self.by_seed(row, column, measure).values())

    def mean(self, row: str, column: int | str, measure: str) -> float | None:
        """Return the mean of a measure over seeds; None without any."""
        values = self.values(row, column, measure)
        return statistics.fmean(values) if values else None

    def is_whole(self, row: str, column: int | str, measure: str) -> bool:
        """Return whether every expected seed of a place has the measure."""
        n_expected = sum((cell.row, cell.column) == (row, column) for cell in self.expected)
        return 0 < n_expected == len(self.values(row, column, measure))

    def n_seeds(self) -> str:
        """Say which seeds the numbers are of."""
        seeds = self.seeds
        return f"one seed ({seeds[0]})" if len(seeds) == 1 else f"{len(seeds)} seeds ({seeds[0]}–{seeds[-1]})"

    def methods_chosen(self, row: str) -> str:
        """Say which methods ``model.info`` names, and of how many fits each."""
        infos = [r["measured"].get("info", "") for r in self.found if r["row"] == row and r["failed"] is None]
        methods = [info.split(";")[0].removeprefix("method: ") for info in infos if info]
        return ", ".join(f"`{method}` ({methods.count(method)})" for method in dict.fromkeys(methods)) or "nothing"


def mean_text(values: Sequence[float], form: str) -> str:
    """Write the mean of some values and, of several, their sample standard deviation.

    >>> mean_text([1.0, 2.0], ".2f"), mean_text([1.0], ".2f"), mean_text([], ".2f")
    ('1.50 ± 0.71', '1.00', '–')
    """
    if not values:
        return NOTHING
    mean = f"{statistics.fmean(values):{form}}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):{form}}"


def column_text(column: int | str) -> str:
    """Write a number of rows with its thousands apart, or the name of a data set."""
    return f"{column:,}" if isinstance(column, int) else column


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, its first column to the left and the others to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))


def measure_table(
    found: Findings,
    text: Callable[[str, int | str], str],
    rows: Sequence[str] | None = None,
    printed: Mapping[str, Callable[[int | str], str]] | None = None,
) -> str:
    """Return a table of rows and columns of a section; references and what is printed elsewhere slant.

    Parameters
    ----------
    found : Findings
        What was found.
    text : callable
        Given row and column, what stands there.
    rows : sequence of str, optional
        Keys of the rows to show; all by default.
    printed : mapping of str to callable, optional
        Rows of numbers that are not ours: names, and given a column what stands there.
    """
    section = found.section
    lines = []
    for row in section.rows if rows is None else rows:
        label = section.rows[row]
        name = f"*{label}*" if row in section.references else label
        lines.append([name, *(text(row, column) for column in found.columns)])
    for label, at in (printed or {}).items():
        lines.append([f"*{label}*", *(at(column) for column in found.columns)])
    return markdown(["", *map(column_text, found.columns)], lines)


def remarks(found: Findings) -> Iterator[str]:
    """Give what is absent, what was refused and what was warned of."""
    absent = len(found.expected) - len(found.found)
    if absent:
        yield f"{absent} of {len(found.expected)} cells have not been run; the numbers are of the others."
    lines = []
    for row, label in found.section.rows.items():
        here = [r for r in found.found if r["row"] == row]
        for what, said in (
            ("was refused", [r["failed"] for r in here if r["failed"] is not None]),
            ("warned", [r["warnings"][0] for r in here if r["warnings"]]),
        ):
            if said:
                lines.append(f"- {label} {what} in {len(said)} of {len(here)} cells, for example: {said[0]}")
    if lines:
        yield "Remarks of the fits:\n\n" + "\n".join(lines)


def table_csv(found: Findings) -> str:
    """Return a line for every cell, with its measures but for lists, which are in cells.jsonl."""
    scalars = [{k: v for k, v in r["measured"].items() if not isinstance(v, list)} for r in found.found]
    measures = list(dict.fromkeys(name for measured in scalars for name in measured))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*_ABOUT, *measures])
    for result, measured in zip(found.found, scalars, strict=True):
        cells: list[Any] = [*(result[name] for name in _ABOUT), *(measured.get(name) for name in measures)]
        writer.writerow(["" if cell is None else cell for cell in cells])
    return out.getvalue()
