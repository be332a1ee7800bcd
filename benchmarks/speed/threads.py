"""One and two threads: the same bits, sooner."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .facts import DisagreementError, Goal, Row, Rows, Section, Tell, at_least, distinct, find, markdown, seconds_text
from .pictures import threads as draw
from .race import Job, race
from .tasks import count_task, em_task

LEVELS = (4, 5, 6, 7, 8, 9, 10, 11, 12, 4, 8, 12)
EM_PASS = "EM pass"


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Do the same work with one thread and with two, in turn, in one process."""
    n_rows, n_counted, rounds = (20_000, 100_000, 2) if quick else (1_000_000, 10_000_000, 7)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n_jobs = [1, 2, *(n for n in (4, 8, 16) if n <= cores)]
    with tempfile.TemporaryDirectory() as folder:
        tell(f"threads: {n_rows:,} rows with {', '.join(map(str, n_jobs))} threads")
        task = em_task(Path(folder) / "em.npz", n_rows, [10] * 10, 10)
        counted = count_task(Path(folder) / "pairs.npz", n_counted, LEVELS, holes=0.05)
        options = {"counted": str(counted), "n_jobs": n_jobs}
        found = race({"juror": Job("contestants:threads", task, options, threads=max(n_jobs))}, rounds, 60.0, tell)[
            "juror"
        ]
    if "failed" in found:
        return [found]
    if not all(found["same"].values()):
        raise DisagreementError(f"The number of threads changes bits: {found['same']}.")
    sizes = {"pair counts": n_counted}
    return [
        {
            "what": what,
            "threads": n,
            "rows": sizes.get(what, n_rows),
            "wall": found["times"][f"{what} {n}"],
            "cores": cores,
        }
        for what in (EM_PASS, "Gibbs sweep", "pair counts")
        for n in n_jobs
    ]


def ratio(rows: Rows, what: str, n: int) -> float | None:
    """Return how many times as fast n threads are as one."""
    one, several = find(rows, what=what, threads=1), find(rows, what=what, threads=n)
    return None if one is None or several is None else one["wall"] / several["wall"]


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge two threads."""
    for what in (EM_PASS, "Gibbs sweep", "pair counts"):
        n_rows = next((row["rows"] for row in rows if row.get("what") == what), 0)
        yield at_least(f"two threads over one, {what}, {n_rows:,} rows", 1.6, ratio(rows, what, 2))


def words(rows: Rows) -> Iterator[str]:
    """Tell wall seconds by threads."""
    if "failed" in rows[0]:
        yield f"It could not be run: {rows[0]['failed']}."
        return
    yield f"""Wall seconds on {rows[0]["cores"]} core(s), one number of threads after the other in one process. The
results are the same bits for every number, or the benchmark stops. EM pass and Gibbs sweep: N = I = F = 10; pair
counts: 12 columns of 4–12 levels, 5 % missing."""
    lines = []
    for what in distinct(rows, "what"):
        for row in (row for row in rows if row["what"] == what):
            times = ratio(rows, what, row["threads"])
            lines.append([what, f"{row['rows']:,}", str(row["threads"]), seconds_text(row["wall"]), f"{times:.2f}"])
    yield markdown(["", "rows", "threads", "wall", "times one thread"], lines)


SECTION = Section(
    "threads", "Threads", measure, words, goals, caption="Times as fast as one thread; dashed: ideal", draw=draw
)
