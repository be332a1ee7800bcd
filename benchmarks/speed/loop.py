"""An EM pass beside the plain fused loop, on a wide binary table and on ten variables of ten labels."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from .facts import Comparison, Goal, Row, Rows, Section, Tell, at_least, check_equal, find, markdown, seconds_text
from .race import Job, race
from .tasks import em_task, random_model, save

JUROR = "juror"
LOOPS = {"classes": "plain loop, columns inside", "columns": "plain loop, classes inside"}
PLANTS, TEN = "plants", "N = I = F = 10"
_WITHIN = 1e-6


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Run a pass over both tables."""
    rounds, seconds = (2, 1.0) if quick else (9, 15.0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for data, task in _tasks(Path(folder), quick, tell).items():
            tell(f"loop: {data}")
            jobs = {JUROR: Job("contestants:em_step", task)}
            jobs |= {name: Job("peers:loop_step", task, {"way": way}) for way, name in LOOPS.items()}
            found = race(jobs, rounds, seconds, tell)
            reached = {who: result["log_likelihood"] for who, result in found.items() if "failed" not in result}
            check_equal(reached, LOOPS["columns"], dict.fromkeys(reached, _WITHIN), f"Mean log-likelihood of {data}")
            with np.load(task) as arrays:
                shape, rank = arrays["codes"].shape, len(arrays["lam"])
            about = {"data": data, "rows": shape[0], "variables": shape[1], "rank": rank}
            rows += [result | about | {"who": who} for who, result in found.items()]
    return rows


def _tasks(folder: Path, quick: bool, tell: Tell) -> dict[str, Path]:
    tasks = {TEN: em_task(folder / "ten.npz", 5_000 if quick else 50_000, [10] * 10, 10)}
    path = Path(os.environ.get("JUROR_DATA", "")) / "debd" / "plants.npz"
    if not path.is_file():
        tell(f"loop: JUROR_DATA names no folder with 'debd/plants.npz', so {PLANTS} is not measured")
        return tasks
    with np.load(path) as arrays:
        codes = arrays["train"].astype(np.int8)
    rank = 20 if quick else 300
    model = random_model([2] * codes.shape[1], rank, np.random.default_rng(5))
    return {PLANTS: save(folder / "plants.npz", codes=codes[: 2_000 if quick else None], **model), **tasks}


def ratio(rows: Rows, data: str, who: str) -> float | None:
    """Return how many times the CPU seconds of juror another takes."""
    juror, other = find(rows, who=JUROR, data=data), find(rows, who=who, data=data)
    return None if juror is None or other is None else other["cpu"] / juror["cpu"]


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge plants by the loop as it is written at once, and tell the same for the loops turned round."""
    rank = next((row["rank"] for row in rows if row["data"] == PLANTS), 300)
    goal = at_least(f"`plants`, F = {rank}: the plain loop over an EM pass", 8, ratio(rows, PLANTS, LOOPS["classes"]))
    turned = ratio(rows, PLANTS, LOOPS["columns"])
    yield goal if turned is None else replace(goal, measured=f"{goal.measured} ({turned:.3g}× with classes inside)")


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare with both loops."""
    for row in rows:
        juror = find(rows, who=JUROR, data=row["data"])
        if row["who"] != JUROR and juror and row.get("failed") is None:
            yield Comparison(f"an EM pass, {row['data']}", row["who"], juror["cpu"], row["cpu"])


def words(rows: Rows) -> Iterator[str]:
    """Tell the CPU seconds of a pass."""
    yield """One pass over the rows in double precision as anyone would write it in numba: for rows, for classes, for
columns, `np.exp`, and the posteriors added to the counts. That is the loop that was to be beaten; turned round, with
classes inside, it reads its tables in order and is the better reference at a large rank, so both are told. Equal rows
are not merged for either. The log-likelihood is the same to 1e-6 nats a row."""
    lines = []
    for row in rows:
        shape = f"{row['data']}: {row['rows']:,} × {row['variables']}, F = {row['rank']}"
        times = ratio(rows, row["data"], row["who"])
        said = [row["failed"], "", ""] if row.get("failed") else [seconds_text(row["cpu"]), _rate(row), f"{times:.2f}"]
        lines.append([shape, row["who"], *said])
    yield markdown(["", "who", "CPU seconds of a pass", "ns a row, class and column", "ratio"], lines)


def _rate(row: Row) -> str:
    return f"{1e9 * row['cpu'] / (row['rows'] * row['variables'] * row['rank']):.3f}"


SECTION = Section("loop", "An EM pass beside the plain fused loop", measure, words, goals, comparisons)
