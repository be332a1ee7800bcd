"""A section whose rows may be peers that are not installed, with the measures that juror is compared by."""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.accuracy.cells import Section, timed
from benchmarks.accuracy.findings import NOTHING, Findings, column_text, mean_text, measure_table

import juror

# Printed figures: by row, by column, by measure
Printed = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Measure:
    """A figure of a cell that is compared: its key, what people call it, its form, and whether more is better."""

    key: str
    name: str
    form: str = ".4f"
    more_is_better: bool = True


@dataclass(frozen=True)
class Judged(Section):
    """A section with what its rows need and how they are compared.

    Attributes
    ----------
    measures : sequence of Measure
        What is compared, the most important first.
    ours : sequence of str
        The rows that are juror's; the first is the default.
    needs : mapping of str to str
        The package that a row needs besides juror's own dependencies.
    printed : mapping
        Figures that others have printed.
    """

    measures: Sequence[Measure] = ()
    ours: Sequence[str] = ("juror",)
    needs: Mapping[str, str] = field(default_factory=dict)
    printed: Printed = field(default_factory=dict)

    def lacking(self, row: str) -> str | None:
        """Return the package that a row lacks here, or None."""
        needed = self.needs.get(row)
        return needed if needed is not None and importlib.util.find_spec(_MODULES.get(needed, needed)) is None else None


# Packages whose module has another name
_MODULES = {"pylace": "lace"}


def version(package: str) -> str:
    """Return a package with its version, as results record it."""
    return f"{package} {importlib.metadata.version(package)}"


def beside(package: str, work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what a peer gives and its seconds. If it fails, the page says so instead of a figure."""
    try:
        return timed(work)
    except Exception as error:
        raise juror.JurorError(f"{version(package)} failed with {type(error).__name__}: {error}") from error


def tables(found: Findings) -> Iterator[str]:
    """Give a table for every measure, with printed figures, and then the seconds."""
    section = found.section
    assert isinstance(section, Judged)
    for measure in section.measures:
        printed = {
            f"{name} (printed)": lambda column, of=of, m=measure: _text(of.get(str(column), {}).get(m.key), m)
            for name, of in section.printed.items()
            if any(measure.key in figures for figures in of.values())
        }
        direction = "higher" if measure.more_is_better else "lower"
        yield f"{measure.name} ({direction} is better):"

        def text(row: str, column: int | str, m: Measure = measure) -> str:
            return mean_text(found.values(row, column, m.key), m.form).replace("-", "−")

        yield measure_table(found, text, _with_cells(found, measure.key), printed)
    yield "Seconds:"
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "seconds"), ".1f"))


def _with_cells(found: Findings, key: str) -> list[str]:
    """Return the rows that have a measure somewhere."""
    return [row for row in found.section.rows if any(found.values(row, column, key) for column in found.columns)]


def _text(value: float | None, measure: Measure) -> str:
    return NOTHING if value is None else f"{value:{measure.form}}".replace("-", "−")


def losses(found: Findings) -> str:
    """Say, for every measure and column, who is better than juror's default row, and by how much.

    Yardsticks such as the truth or rows held out are no contestants.
    """
    section = found.section
    assert isinstance(section, Judged)
    lines = []
    for column in found.columns:
        for measure in section.measures:
            own = found.mean(section.ours[0], column, measure.key)
            if own is None:
                continue
            sign = 1 if measure.more_is_better else -1
            better = [
                (sign * (value - own), name)
                for name, value in _others(found, column, measure)
                if sign * (value - own) > 0
            ]
            if better:
                said = "; ".join(f"{name} by {gap:{measure.form}}" for gap, name in sorted(better, reverse=True))
                lines.append(f"- {column_text(column)}, {measure.name}: {said}")
    if not lines:
        return "**Where juror loses.** Nowhere in this section, among the rows that were run."
    return "**Where juror loses** (its default row), and by how much:\n\n" + "\n".join(lines)


def _others(found: Findings, column: int | str, measure: Measure) -> Iterator[tuple[str, float]]:
    section = found.section
    assert isinstance(section, Judged)
    for row, name in section.rows.items():
        value = found.mean(row, column, measure.key)
        if row != section.ours[0] and row not in section.references and value is not None:
            yield name, value
    for name, of in section.printed.items():
        if measure.key in of.get(str(column), {}):
            yield f"{name} (printed)", of[str(column)][measure.key]


def versions(found: Findings) -> str:
    """Say which versions of the peers were measured."""
    said = {r["measured"]["version"] for r in found.found if r["measured"].get("version")}
    return f"Versions: {', '.join(sorted(said))}." if said else ""


def missing_rows(found: Findings) -> str:
    """Say which rows have no cell at all."""
    run = {result["row"] for result in found.found}
    absent = [name for row, name in found.section.rows.items() if row not in run]
    return f"Not measured yet: {', '.join(absent)}." if absent else ""
