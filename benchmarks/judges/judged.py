"""A section whose rows may be peers that are not installed, with the measures that juror is compared by."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.accuracy.cells import Measured, Section, timed
from benchmarks.accuracy.findings import NOTHING, Findings, column_text, mean_text, measure_table

import juror

# Printed figures: by row, by column, by measure
Printed = Mapping[str, Mapping[str, Mapping[str, float]]]


@dataclass(frozen=True)
class Measure:
    """A figure of a cell: its key, what people call it, its form, and whether more is better (None: no contest)."""

    key: str
    name: str
    form: str = ".4f"
    more_is_better: bool | None = True


SECONDS = Measure("seconds", "seconds", ".1f", more_is_better=False)


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


def beside(package: str, work: Callable[[], Any]) -> tuple[Any, Measured]:
    """Return what a peer gives, and its version and seconds. If it fails, the page says so instead of a figure.

    Processor seconds are kept too: peers may run beside other work, and with one thread.
    """
    began = time.process_time()
    try:
        given, seconds = timed(work)
    except Exception as error:
        raise juror.JurorError(f"{version(package)} failed with {type(error).__name__}: {error}") from error
    spent = time.process_time() - began
    return given, {"seconds": seconds, "processor_seconds": round(spent, 3), "version": version(package)}


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
        yield f"{measure.name} ({_DIRECTIONS[measure.more_is_better]}):"

        def text(row: str, column: int | str, m: Measure = measure) -> str:
            values = found.values(row, column, m.key)
            return mean_text(values, m.form).replace("-", "−") if values else _absent(found, row, column)

        yield measure_table(found, text, _with_cells(found, measure.key), printed)
    yield "Seconds:"
    yield measure_table(found, lambda row, column: _seconds(found, row, column))


_DIRECTIONS = {True: "higher is better", False: "lower is better", None: "a yardstick, no contest"}


def _absent(found: Findings, row: str, column: int | str) -> str:
    """Say why a place has no figure: it failed, was stopped, or was not run."""
    failed = [r["failed"] for r in found.found if (r["row"], r["column"]) == (row, column) and r["failed"] is not None]
    return ("stopped" if failed[0].startswith("stopped") else "failed") if failed else NOTHING


def _seconds(found: Findings, row: str, column: int | str) -> str:
    """Write the seconds of a place and, where they are known, its processor seconds."""
    if not (seconds := found.values(row, column, "seconds")):
        return _absent(found, row, column)
    of_processor = found.values(row, column, "processor_seconds")
    return mean_text(seconds, ".1f") + (f" ({statistics.fmean(of_processor):.1f})" if of_processor else "")


def _with_cells(found: Findings, key: str) -> list[str]:
    """Return the rows that have a measure somewhere."""
    return [row for row in found.section.rows if any(found.values(row, column, key) for column in found.columns)]


def _text(value: float | None, measure: Measure) -> str:
    return NOTHING if value is None else f"{value:{measure.form}}".replace("-", "−")


def losses(found: Findings) -> str:
    """Say, for every measure and column, who is better than juror's default row, and by how much.

    Other rows of juror are no rivals, nor are yardsticks such as the truth or rows held out.
    """
    section = found.section
    assert isinstance(section, Judged)
    if not any(found.at(section.ours[0], column) for column in found.columns):
        return "**Where juror loses.** Not known yet: its default row has not been run."
    lines = []
    for column in found.columns:
        for measure in (*section.measures, SECONDS):
            better = sorted(((gap, name) for name, gap in _gaps(found, column, measure) if gap > 0), reverse=True)
            if better:
                said = "; ".join(f"{name} by {gap:{measure.form}}" for gap, name in better)
                lines.append(f"- {column_text(column)}, {measure.name}: {said}")
    if not lines:
        return "**Where juror loses.** Nowhere in this section, among the rows that were run."
    return "**Where juror loses** (its default row), and by how much:\n\n" + "\n".join(lines)


def _gaps(found: Findings, column: int | str, measure: Measure) -> Iterator[tuple[str, float]]:
    """Give every rival's name and how much better it is than juror's default row, over the seeds that both have."""
    section = found.section
    assert isinstance(section, Judged)
    own = found.by_seed(section.ours[0], column, measure.key)
    if not own or measure.more_is_better is None:
        return
    sign = 1 if measure.more_is_better else -1
    for row, name in section.rows.items():
        other = found.by_seed(row, column, measure.key)
        if measure is SECONDS:
            # A peer that ran beside other work waited; what it took from a processor is then less.
            spent = found.by_seed(row, column, "processor_seconds")
            other = {seed: min(seconds, spent.get(seed, seconds)) for seed, seconds in other.items()}
        both = own.keys() & other.keys()
        if row not in section.ours and row not in section.references and both:
            yield name, sign * statistics.fmean(other[seed] - own[seed] for seed in both)
    for name, of in section.printed.items():
        if measure.key in of.get(str(column), {}):
            yield f"{name} (printed)", sign * (of[str(column)][measure.key] - statistics.fmean(own.values()))


def versions(found: Findings) -> str:
    """Say which versions of the peers were measured."""
    said = {r["measured"]["version"] for r in found.found if r["measured"].get("version")}
    return f"Versions: {', '.join(sorted(said))}." if said else ""


def missing_rows(found: Findings) -> str:
    """Say which rows have no cell at all."""
    run = {result["row"] for result in found.found}
    absent = [name for row, name in found.section.rows.items() if row not in run]
    return f"Not measured yet: {', '.join(absent)}." if absent else ""
