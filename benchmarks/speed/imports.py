"""What ``import`` costs in a fresh process."""

from __future__ import annotations

import subprocess
import sys
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


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Import every module in turns, each time in a process of its own."""
    tell("imports")
    rows: dict[str, Row] = {name: {"who": name, "runs": 0} for name in (JUROR, READY, *PEERS, *PARTS)}
    # the first turn fills the caches of the disk, and counts in a quick run only
    for turn in range(1 if quick else 8):
        for name, row in rows.items():
            if "failed" in row or (turn > 3 and row.get("wall", 0.0) > 1.0):
                continue
            began = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", _PROGRAM.format(name=name)], capture_output=True, text=True, check=False
            )
            whole = time.perf_counter() - began
            if done.returncode:
                row["failed"] = done.stderr.strip().splitlines()[-1]
            elif turn > 0 or quick:
                row["wall"] = min(row.get("wall", float("inf")), float(done.stdout))
                row["process"] = min(row.get("process", float("inf")), whole)
                row["runs"] += 1
    return list(rows.values())


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
loads its parts when they are first named, so what that costs is told too, and compared with the others."""
    lines = []
    for row in rows:
        told = (
            [row["failed"], NOTHING] if "failed" in row else [seconds_text(row["wall"]), seconds_text(row["process"])]
        )
        lines.append([f"`{row['who']}`", *told, str(row["runs"])])
    yield markdown(["", "statement", "process", "runs"], lines)


SECTION = Section("imports", "Import", measure, words, goals, comparisons)
