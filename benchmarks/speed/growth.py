"""How time grows with rows, variables, alphabet and rank, and how much memory a fit needs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .facts import (
    Comparison,
    Goal,
    Row,
    Rows,
    Section,
    Tell,
    at_most,
    exponent,
    markdown,
    megabytes,
    percent,
    seconds_text,
)
from .pictures import growth as draw
from .race import Job, race
from .tasks import em_task

JUROR, STEPMIX = "juror", "StepMix"
NUMPY = {"products": "NumPy, products", "gathers": "NumPy, gathers"}
MEMORY = "memory"
# of rows, variables, labels and classes; each axis moves one and leaves the others here
_BASE = {"rows": 50_000, "variables": 10, "labels": 10, "rank": 10}
AXES = {
    "rows": (10_000, 31_623, 100_000, 316_228, 1_000_000),
    "variables": (3, 10, 30, 100),
    "labels": (2, 5, 10, 30, 100),
    "rank": (10, 32, 100, 316, 1_000),
}
_QUICK_BASE = _BASE | {"rows": 2_000}
_QUICK_AXES = {"rows": (1_000, 10_000), "rank": (10, 100)}
_ALLOWED = 64 * 2**20
LINEAR = ("rows", "rank")


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Time EM steps along every axis, and look at the memory of fits."""
    axes, base = (_QUICK_AXES, _QUICK_BASE) if quick else (AXES, _BASE)
    rounds, seconds = (2, 1.0) if quick else (5, 25.0)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for axis, sizes in axes.items():
            tell(f"growth: {axis} {', '.join(f'{size:,}' for size in sizes)}")
            tasks = {str(size): str(_task(folder, base | {axis: size})) for size in sizes}
            found = race(_jobs(axis, tasks), rounds, seconds, tell)
            for who, result in found.items():
                rows += _along(axis, who, result)
        rows += _memory(folder, (10,) if quick else (10, 100), 20_000 if quick else 1_000_000, tell)
    return rows


def _task(folder: Path, size: dict[str, int]) -> Path:
    path = folder / ("-".join(str(value) for value in size.values()) + ".npz")
    return em_task(path, size["rows"], [size["labels"]] * size["variables"], size["rank"])


def _jobs(axis: str, tasks: dict[str, str]) -> dict[str, Job]:
    any_task = Path(next(iter(tasks.values())))
    jobs = {JUROR: Job("contestants:steps_of_sizes", any_task, {"tasks": tasks})}
    for way, name in NUMPY.items():
        jobs[name] = Job("peers:steps_of_sizes", any_task, {"tasks": tasks, "way": way})
    jobs[STEPMIX] = Job("peers:steps_of_sizes", any_task, {"tasks": tasks, "way": "stepmix"})
    return jobs


def _along(axis: str, who: str, result: Row) -> list[Row]:
    if "failed" in result:
        return [{"axis": axis, "who": who, "failed": result["failed"]}]
    times = result["times"].items()
    return [
        {"axis": axis, "who": who, "size": int(size), "cpu": seconds, "runs": result["runs"]} for size, seconds in times
    ]


def _memory(folder: Path, ranks: Sequence[int], n_rows: int, tell: Tell) -> list[Row]:
    rows = []
    for rank in ranks:
        for holes in (0.0, 0.2):
            tell(f"growth: memory of a fit of {n_rows:,} × 10 rows, F = {rank}, {percent(holes)} missing")
            task = em_task(folder / f"memory{rank}{holes}.npz", n_rows, [10] * 10, rank, holes=holes)
            found = race({JUROR: Job("contestants:fit_memory", task)}, 1, 1.0, tell)[JUROR]
            about = {"axis": MEMORY, "who": JUROR, "rank": rank, "holes": holes, "rows": n_rows, "codes": 10 * n_rows}
            rows.append(found | about)
    return rows


def line(rows: Rows, axis: str, who: str) -> dict[int, float]:
    """Return seconds by size."""
    here = [row for row in rows if row["axis"] == axis and row["who"] == who and row.get("failed") is None]
    return {row["size"]: row["cpu"] for row in here}


def slope(rows: Rows, axis: str, who: str) -> float | None:
    """Return the exponent of time along an axis."""
    times = line(rows, axis, who)
    return exponent(list(times), list(times.values())) if len(times) > 1 else None


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge exponents and memory."""
    for axis in LINEAR:
        value = slope(rows, axis, JUROR)
        measured = "–" if value is None else f"{value:.3f}"
        sizes = list(line(rows, axis, JUROR))
        reach = f"from {min(sizes):,} to {max(sizes):,}" if sizes else ""
        is_met = value is not None and 0.9 <= value <= 1.1
        yield Goal(f"exponent of time over {axis}, {reach}", "0.9 to 1.1", measured, is_met)
    fits = [row for row in rows if row["axis"] == MEMORY]
    above = [(row["working"] - row["codes"]) / 2**20 for row in fits if row.get("failed") is None]
    worst = max(above) if fits and len(above) == len(fits) else None
    yield at_most("memory of a fit above its codes, the most of F ≤ 100", _ALLOWED / 2**20, worst, " MiB")


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare an EM step at every size."""
    for axis in dict.fromkeys(row["axis"] for row in rows if row["axis"] != MEMORY):
        juror = line(rows, axis, JUROR)
        for who in (*NUMPY.values(), STEPMIX):
            for size, seconds in line(rows, axis, who).items():
                if size in juror:
                    yield Comparison(f"an EM step, {axis} = {size:,}", who, juror[size], seconds)


def words(rows: Rows) -> Iterator[str]:
    """Tell times and exponents along every axis, and memory."""
    yield """CPU time of an EM step, one thread, the step and the pass over the rows; but for what moves, 50,000 rows
(2,000 in a quick run), N = 10, I = 10, F = 10. The exponent is the slope of log time over log size by least
squares: 1 where twice the size takes twice the time."""
    for axis in dict.fromkeys(row["axis"] for row in rows if row["axis"] != MEMORY):
        sizes = sorted({row["size"] for row in rows if row["axis"] == axis and "size" in row})
        lines = []
        for who in dict.fromkeys(row["who"] for row in rows if row["axis"] == axis):
            times, value = line(rows, axis, who), slope(rows, axis, who)
            cells = [seconds_text(times[size]) if size in times else "–" for size in sizes]
            lines.append([who, *cells, "–" if value is None else f"{value:.2f}"])
        yield markdown([axis, *(f"{size:,}" for size in sizes), "exponent"], lines)
    failed = [row for row in rows if row.get("failed") is not None]
    if failed:
        yield "Not run: " + "; ".join(f"{row['who']}, {row['axis']}: {row['failed']}" for row in failed) + "."
    yield from _memory_words([row for row in rows if row["axis"] == MEMORY and row.get("failed") is None])


def _memory_words(fits: Rows) -> Iterator[str]:
    if not fits:
        return
    yield f"""Memory of `juror.fit` by EM from {fits[0]["rows"]:,} × 10 codes of one byte, which the process already
holds, above what it held before, at its most:"""
    lines = [
        [f"F = {row['rank']}, {percent(row['holes'])} missing", megabytes(row["working"]), megabytes(row["codes"])]
        for row in fits
    ]
    yield markdown(["", "needed", "codes"], lines)


SECTION = Section(
    "growth",
    "How cost grows",
    measure,
    words,
    goals,
    comparisons,
    "Time of an EM step against rows, variables, labels and rank",
    draw,
)
