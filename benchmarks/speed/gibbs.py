"""A Gibbs sweep beside an EM pass over the same rows."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .facts import Goal, Row, Rows, Section, Tell, at_most, markdown, seconds_text
from .race import Job, race
from .tasks import em_task

RANKS = (10, 32, 100)


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Time passes and sweeps in turn, in one process."""
    n_rows, rounds = (10_000, 3) if quick else (200_000, 9)
    with tempfile.TemporaryDirectory() as folder:
        tell(f"gibbs: {n_rows:,} rows, ranks {', '.join(map(str, RANKS))}")
        tasks = {str(rank): str(em_task(Path(folder) / f"{rank}.npz", n_rows, [10] * 10, rank)) for rank in RANKS}
        job = Job("contestants:sweeps", Path(tasks[str(RANKS[0])]), {"tasks": tasks})
        found = race({"juror": job}, rounds, 60.0, tell)["juror"]
    if "failed" in found:
        return [found]
    times = found["times"]
    return [
        {"rank": rank, "rows": n_rows, "pass": times[f"pass {rank}"], "sweep": times[f"sweep {rank}"]} for rank in RANKS
    ]


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge the worst of the ranks."""
    ratios = [row["sweep"] / row["pass"] for row in rows if "failed" not in row]
    ranks = ", ".join(str(rank) for rank in RANKS)
    yield at_most(f"a Gibbs sweep over an EM pass, the most of F = {ranks}", 2, max(ratios, default=None))


def words(rows: Rows) -> Iterator[str]:
    """Tell both and their ratio."""
    if "failed" in rows[0]:
        yield f"It could not be run: {rows[0]['failed']}."
        return
    yield f"""{rows[0]["rows"]:,} distinct rows of N = 10 variables of I = 10 labels, one thread; the sweep draws a
class for every row and counts, random numbers included."""
    lines = [
        [
            f"F = {row['rank']}",
            seconds_text(row["pass"]),
            seconds_text(row["sweep"]),
            f"{row['sweep'] / row['pass']:.2f}",
        ]
        for row in rows
    ]
    yield markdown(["", "EM pass", "Gibbs sweep", "sweep over pass"], lines)


SECTION = Section("gibbs", "Gibbs sweeps", measure, words, goals)
