"""One computation, what decides its result, and how it is run."""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import juror
from juror.errors import ParameterError

Measured = dict[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """A row and a column of a section at a seed, with all that decides its result but the code of juror.

    Attributes
    ----------
    section, row : str
        The section, and the estimator or reference in it.
    column : int or str
        A number of rows, or a data set.
    seed : int
        What data, splits and fits follow from.
    options : mapping
        Sizes, budgets and whatever else is set.
    quick : bool
        Whether it belongs to a quick look.
    """

    section: str
    row: str
    column: int | str
    seed: int
    options: Mapping[str, Any]
    quick: bool

    @property
    def label(self) -> str:
        """What to call it while it runs."""
        return f"{self.section}: {self.row}, {self.column}, seed {self.seed}"

    @property
    def fingerprint(self) -> str:
        """Sixteen digits that change with whatever decides the result, but not with the version of juror."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Goal:
    """What is to be reached, and whether it is."""

    what: str
    bound: str
    measured: str
    is_met: bool


@dataclass(frozen=True)
class Section:
    """One section of the page.

    Attributes
    ----------
    name, title : str
        For the command line and for people.
    rows : mapping of str to str
        The key of every row with its name for people.
    references : collection of str
        The keys of rows that are yardsticks.
    seeds : range
        The seeds of a full run.
    columns : callable
        Given whether the look is quick, the columns with the options of their cells.
    load : callable
        The data of a cell; an error here is no result, for the data cannot be had.
    measure : callable
        Given a cell and its data, plain numbers and texts; ``seconds`` among them is the time to keep.
    words : callable
        Given what was found, the paragraphs and tables of the page.
    goals : callable
        Given what was found, what was to be reached; only where all cells that it needs are there.
    more_seeds : mapping of int or str to int
        How many seeds a full run has in columns that need more of them.
    """

    name: str
    title: str
    rows: Mapping[str, str]
    references: Sequence[str]
    seeds: range
    columns: Callable[[bool], Mapping[int | str, Mapping[str, Any]]]
    load: Callable[[Cell], Any]
    measure: Callable[[Cell, Any], Measured]
    words: Callable[[Any], Iterator[str]]
    goals: Callable[[Any], list[Goal]] = field(default=lambda found: [])
    more_seeds: Mapping[int | str, int] = field(default_factory=dict)

    def cells(self, quick: bool = False, seeds: int | None = None) -> list[Cell]:
        """Return every computation of the section; of a quick look one seed unless told."""
        return [
            Cell(self.name, row, column, seed, dict(options), quick)
            for column, options in self.columns(quick).items()
            for seed in range(self.seeds.start, self.seeds.start + self._n_seeds(column, quick, seeds))
            for row in self.rows
        ]

    def _n_seeds(self, column: int | str, quick: bool, asked: int | None) -> int:
        if asked is not None:
            return asked
        return 1 if quick else self.more_seeds.get(column, len(self.seeds))


def run(section: Section, cell: Cell) -> Result:
    """Compute a cell. A refusal of juror is a result; absent data and options that it does not have are none."""
    data = section.load(cell)
    failed: str | None = None
    measured: Measured = {}
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            measured = section.measure(cell, data)
        except ParameterError:
            raise
        except juror.JurorError as error:
            failed = str(error)
    seconds = measured.pop("seconds", time.perf_counter() - began)
    return finished(cell, measured, seconds, {str(warning.message) for warning in caught}, failed)


def finished(
    cell: Cell, measured: Measured, seconds: float, said: Collection[str] = (), failed: str | None = None
) -> Result:
    """Return what is kept of a cell: its measures, or why it has none."""
    return {
        "fingerprint": cell.fingerprint,
        **asdict(cell),
        "measured": {name: plain(value) for name, value in measured.items()},
        "seconds": round(seconds, 3),
        "warnings": sorted(said),
        "failed": failed,
        "juror": juror.__version__,
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
    }


def plain(value: Any) -> Any:
    """Return what JSON can hold: −inf and nan, which it cannot, as None."""
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what some work gives and the seconds it took."""
    began = time.perf_counter()
    given = work()
    return given, time.perf_counter() - began


def about(model: juror.JointPMF) -> Measured:
    """Return the rank of a fitted model and every text of its record, which tell what was chosen and why."""
    said = {} if model.info is None else model.info.to_dict()
    texts = {name: value for name, value in said.items() if isinstance(value, str) and value and name != "target"}
    return {"rank": model.rank, "info": "; ".join(f"{name}: {value}" for name, value in texts.items())}
