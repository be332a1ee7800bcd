"""What a section is, what it finds, and the files that keep it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from juror.errors import DataError
from juror.files.writing import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# One thing that was measured: plain names, numbers and sentences, so that it can be written as JSON
Row = dict[str, Any]
Rows = Sequence[Row]
Tell = Callable[[str], None]

NOTHING = "–"


class DisagreementError(Exception):
    """Two contestants gave different answers, so their times say nothing."""


@dataclass(frozen=True)
class Goal:
    """One line of what was to be shown, and whether it was."""

    what: str
    bound: str
    measured: str
    is_met: bool


@dataclass(frozen=True)
class Comparison:
    """The same work done by juror and by another, in seconds of the same kind."""

    what: str
    who: str
    juror: float
    other: float

    @property
    def ratio(self) -> float:
        """How many times as fast juror is."""
        return self.other / self.juror


def no_goals(rows: Rows) -> Iterator[Goal]:
    """Set no goal."""
    return iter(())


def no_comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare nothing."""
    return iter(())


@dataclass(frozen=True)
class Section:
    """One part of the page.

    Attributes
    ----------
    name : str
        What it is called on the command line.
    title : str
        Its heading.
    measure : callable
        Given whether to be quick and whom to tell of progress, returns rows of facts.
    words : callable
        Given rows, gives the paragraphs and tables of the page.
    goals, comparisons : callable
        Given rows, give what was to be shown, and every comparison with another.
    caption : str
        What the picture shows.
    draw : callable, optional
        Given rows, draws the picture.
    """

    name: str
    title: str
    measure: Callable[[bool, Tell], list[Row]]
    words: Callable[[Rows], Iterator[str]]
    goals: Callable[[Rows], Iterator[Goal]] = no_goals
    comparisons: Callable[[Rows], Iterator[Comparison]] = no_comparisons
    caption: str = ""
    draw: Callable[[Rows], Figure] | None = None


@dataclass(frozen=True)
class Facts:
    """The facts of a section and how they came about."""

    section: str
    quick: bool
    machine: dict[str, Any]
    rows: list[Row]

    def save(self, folder: Path) -> Path:
        """Write them into a folder, whole or not at all."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.section}.json"
        text = json.dumps(vars(self), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        write_whole(path, lambda stream: stream.write(text.encode()))
        return path

    @classmethod
    def load(cls, folder: Path, section: str) -> Facts | None:
        """Read those of a section, or return None where it has not been measured."""
        path = folder / f"{section}.json"
        if not path.is_file():
            return None
        try:
            read = json.loads(path.read_text(encoding="utf-8"))
            return cls(read["section"], read["quick"], read["machine"], read["rows"])
        except (ValueError, KeyError, TypeError):
            raise DataError(
                f"{str(path)!r} does not hold the facts of a section. Delete it, and measure again."
            ) from None


def find(rows: Rows, **wanted: Any) -> Row | None:
    """Return the first row that holds what is wanted and was not refused; None without one."""
    return next(found(rows, **wanted), None)


def found(rows: Rows, **wanted: Any) -> Iterator[Row]:
    """Give the rows that hold what is wanted and were not refused."""
    for row in rows:
        if row.get("failed") is None and all(row.get(name) == value for name, value in wanted.items()):
            yield row


def distinct(rows: Rows, name: str) -> list[Any]:
    """Return the different values of something, in the order they come."""
    return list(dict.fromkeys(row[name] for row in rows if name in row))


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Return the slope of log seconds over log size by least squares: 1 where time is linear in size.

    >>> round(exponent([1, 10, 100], [3, 30, 300]), 6), round(exponent([1, 10, 100], [3, 3, 3]), 6)
    (1.0, 0.0)
    """
    if len(sizes) != len(seconds) or len(sizes) < 2:
        raise ValueError(f"An exponent needs two sizes or more, each with its time. Got {len(sizes)}, {len(seconds)}.")
    x, y = [math.log(size) for size in sizes], [math.log(time) for time in seconds]
    middle, mean = sum(x) / len(x), sum(y) / len(y)
    return sum((a - middle) * (b - mean) for a, b in zip(x, y, strict=True)) / sum((a - middle) ** 2 for a in x)


def check_equal(values: dict[str, float], reference: str, within: dict[str, float], what: str) -> None:
    """Raise a sentence where a contestant's value is not the reference's to within its tolerance, if it is there."""
    if reference not in values:
        return
    for who, value in values.items():
        # written so that nan is refused
        if not abs(value - values[reference]) <= within[who]:
            raise DisagreementError(
                f"{what}: {who} has {value!r} and {reference} {values[reference]!r}, which differ by more than "
                f"{within[who]:g}, so their times are not of the same work."
            )


def at_least(what: str, bound: float, value: float | None, unit: str = "×") -> Goal:
    """Judge a ratio that is to be large."""
    return Goal(what, f"at least {bound:g}{unit}", _measured(value, unit), value is not None and value >= bound)


def at_most(what: str, bound: float, value: float | None, unit: str = "×") -> Goal:
    """Judge a number that is to be small."""
    return Goal(what, f"at most {bound:g}{unit}", _measured(value, unit), value is not None and value <= bound)


def _measured(value: float | None, unit: str) -> str:
    if value is None:
        return NOTHING
    return f"{value:,.0f}{unit}" if abs(value) >= 100 else f"{value:.3g}{unit}"


def seconds_text(seconds: float) -> str:
    """Write a time in a unit that suits it.

    >>> seconds_text(12.34), seconds_text(0.01234), seconds_text(1.2e-5)
    ('12.3 s', '12.3 ms', '12.0 µs')
    """
    scale, unit = next(((scale, unit) for scale, unit in ((1.0, "s"), (1e-3, "ms")) if seconds >= scale), (1e-6, "µs"))
    value = seconds / scale
    return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:#.3g} {unit}"


def percent(share: float) -> str:
    """Write a share in per cent.

    >>> percent(0.2)
    '20 %'
    """
    return f"{100 * share:.0f} %"


def megabytes(n_bytes: float | None) -> str:
    """Write an amount of memory in millions of bytes."""
    return NOTHING if n_bytes is None else f"{n_bytes / 1e6:,.0f} MB"


def markdown(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown, its first column to the left and the others to the right."""
    rule = ["---", *("---:" for _ in head[1:])]
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, rule, *lines))
