"""What ``import`` and a first fit cost in a fresh process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from .facts import NOTHING, Comparison, Goal, Row, Rows, Section, Tell, at_most, find, markdown, seconds_text

JUROR = "import juror"
# what is loaded late is loaded then, as the others load it at once
READY = "import juror; juror.fit"
PEERS = ("import stepmix", "import pomegranate.gmm", "import sklearn.mixture")
# parts of some of those
PARTS = ("import pandas", "import numpy")
_PROGRAM = "import time; b = time.perf_counter(); {name}; print(time.perf_counter() - b)"
# kernels are compiled when they are first called, and kept on disk
FIRST, NEXT = "a first fit, no kernel compiled yet", "a first fit, kernels kept on disk"
_FIT = "import numpy, juror; juror.fit(numpy.random.default_rng(0).integers(0, 3, (2000, 5)), 3, 'em')"


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Import every module in turns, each time in a process of its own."""
    tell("imports")
    rows: dict[str, Row] = {name: {"who": name, "runs": 0} for name in (JUROR, READY, *PEERS, *PARTS)}
    # the first turn fills the caches of the disk, and counts in a quick run only
    for turn in range(1 if quick else 8):
        for name, row in rows.items():
            if "failed" in row or (turn > 3 and row.get("wall", 0.0) > 1.0):
                continue
            _run(row, name, counts=turn > 0 or quick)
    tell("a first fit")
    rows |= {name: {"who": name, "runs": 0} for name in (FIRST, NEXT)}
    with tempfile.TemporaryDirectory() as cache:
        for row in (rows[FIRST], *[rows[NEXT]] * (1 if quick else 3)):
            _run(row, _FIT, NUMBA_CACHE_DIR=cache)
    return list(rows.values())


def _run(row: Row, statement: str, counts: bool = True, **settings: str) -> None:
    """Run a statement in a process of its own, and keep its best time in the row."""
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(name=statement)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | settings,
    )
    whole = time.perf_counter() - began
    if done.returncode:
        row["failed"] = done.stderr.strip().splitlines()[-1]
    elif counts:
        row["wall"] = min(row.get("wall", float("inf")), float(done.stdout))
        row["process"] = min(row.get("process", float("inf")), whole)
        row["runs"] += 1


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge juror."""
    juror = find(rows, who=JUROR)
    yield at_most("`import juror` in a fresh process", 0.3, None if juror is None else juror["wall"], " s")


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare with the libraries that do the same, all of juror loaded."""
    juror = find(rows, who=READY)
    for row in rows:
        if juror and row["who"] in PEERS and row.get("failed") is None:
            yield Comparison("import, all loaded", f"`{row['who']}`", juror["wall"], row["wall"])


def words(rows: Rows) -> Iterator[str]:
    """Tell the seconds of every import."""
    yield """The statement alone, and the whole process with the start of Python; the best of the runs told. juror
loads its parts when they are first named, so what that costs is told too, and compared with the others. Kernels are
compiled when they are first called, once for a machine and version: the first fit by EM of a small table (2,000 × 5)
waits for that, and later processes load what it kept on disk. The peers compile nothing."""
    lines = []
    for row in rows:
        told = (
            [row["failed"], NOTHING] if "failed" in row else [seconds_text(row["wall"]), seconds_text(row["process"])]
        )
        lines.append([row["who"] if row["who"] in (FIRST, NEXT) else f"`{row['who']}`", *told, str(row["runs"])])
    yield markdown(["", "statement", "process", "runs"], lines)


SECTION = Section("imports", "Import and first call", measure, words, goals, comparisons)
