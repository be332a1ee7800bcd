"""EM: fifty steps from the same start to the same likelihood, without and with missing cells."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from .facts import (
    NOTHING,
    Comparison,
    Goal,
    Row,
    Rows,
    Section,
    Tell,
    at_least,
    check_equal,
    distinct,
    find,
    markdown,
    megabytes,
    percent,
    seconds_text,
)
from .pictures import em as draw
from .race import Job, race
from .tasks import em_task

JUROR, STEPS = "`juror.fit`", "juror, the steps alone"
STEPMIX, POMEGRANATE = "StepMix", "pomegranate"
NUMPY = {"products": "NumPy, products with indicators", "gathers": "NumPy, gathers and `bincount`"}
DEFINITIONS = "`juror.fit` on its NumPy definitions"
LOOP = "plain fused loop in numba"
HOLES = (0.0, 0.2)
# the likelihoods reached must be the same to this, in nats a row; pomegranate computes in single precision
_WITHIN, _WITHIN_SINGLE = 1e-6, 1e-4


def measure(quick: bool, tell: Tell) -> list[Row]:
    """Run all contestants without and with missing cells."""
    n_rows, passes = (5_000, 5) if quick else (50_000, 50)
    rounds, seconds = (2, 1.0) if quick else (7, 32.0)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for holes in HOLES:
            tell(f"em: {n_rows:,} rows, {passes} steps, {percent(holes)} missing")
            task = em_task(Path(folder) / f"{holes}.npz", n_rows, [10] * 10, 10, holes=holes)
            found = race(jobs(task, passes), rounds, seconds, tell)
            nothing = found.pop("nothing")
            agree(found, passes)
            about = {"holes": holes, "rows": n_rows, "passes": passes, "held": nothing["resident"]}
            rows += [result | about | {"who": who} for who, result in found.items()]
    return rows


def jobs(task: Path, passes: int) -> dict[str, Job]:
    """Return the contestants."""
    steps = {"passes": passes}
    on_numpy = Job("contestants:em_fit", task, steps, environment={"JUROR_KERNELS": "numpy"})
    return {
        "nothing": Job("worker:nothing", task),
        JUROR: Job("contestants:em_fit", task, steps),
        STEPS: Job("contestants:em_passes", task, steps),
        LOOP: Job("peers:loop_em", task, {**steps, "way": "columns"}),
        **{name: Job("peers:numpy_em", task, {**steps, "way": way}) for way, name in NUMPY.items()},
        DEFINITIONS: on_numpy,
        STEPMIX: Job("peers:stepmix_em", task, steps),
        POMEGRANATE: Job("peers:pomegranate_em", task, steps),
    }


def agree(found: dict[str, Row], passes: int) -> None:
    """Refuse contestants that took another number of steps or reached another likelihood."""
    fair = {who: result for who, result in found.items() if "failed" not in result}
    taken = {who: float(result["passes"]) for who, result in fair.items()}
    check_equal(taken | {"asked": float(passes)}, "asked", dict.fromkeys([*taken, "asked"], 0.0), "Steps of EM")
    reached = {who: result["log_likelihood"] for who, result in fair.items()}
    within = {who: _WITHIN_SINGLE if who == POMEGRANATE else _WITHIN for who in reached}
    check_equal(reached, NUMPY["gathers"], within, "Mean log-likelihood after EM")


def numpy_seconds(rows: Rows, holes: float) -> float | None:
    """Return the CPU seconds of the faster of what is written in NumPy here."""
    times = [row["cpu"] for name in NUMPY.values() if (row := find(rows, who=name, holes=holes))]
    return min(times, default=None)


def ratio(rows: Rows, who: str, holes: float) -> float | None:
    """Return how many times the CPU seconds of ``juror.fit`` another took."""
    juror, other = find(rows, who=JUROR, holes=holes), find(rows, who=who, holes=holes)
    return None if juror is None or other is None else other["cpu"] / juror["cpu"]


def goals(rows: Rows) -> Iterator[Goal]:
    """Judge the ratios of CPU seconds."""
    yield at_least("EM, complete: StepMix over `juror.fit`", 30, ratio(rows, STEPMIX, 0.0))
    yield at_least("EM, complete: pomegranate over `juror.fit`", 70, ratio(rows, POMEGRANATE, 0.0))
    juror, numpy = find(rows, who=JUROR, holes=0.0), numpy_seconds(rows, 0.0)
    value = None if juror is None or numpy is None else numpy / juror["cpu"]
    yield at_least("EM, complete: the faster of two ways in NumPy over `juror.fit`", 12, value)
    yield at_least("EM, 20 % missing: StepMix over `juror.fit`", 100, ratio(rows, STEPMIX, 0.2))


def comparisons(rows: Rows) -> Iterator[Comparison]:
    """Compare ``juror.fit`` with all but itself."""
    for holes in HOLES:
        juror = find(rows, who=JUROR, holes=holes)
        for row in rows if juror else ():
            if row["holes"] == holes and row["who"] not in (JUROR, STEPS, DEFINITIONS) and row.get("failed") is None:
                yield Comparison(f"EM, {percent(holes)} missing (CPU)", row["who"], juror["cpu"], row["cpu"])


def words(rows: Rows) -> Iterator[str]:
    """Tell times, memory and how they were taken."""
    first = rows[0]
    yield f"""N = 10 variables of I = 10 labels, F = 10 classes, {first["rows"]:,} rows, {first["passes"]} EM steps from
the same start in every contestant; the mean log-likelihood reached is the same to {_WITHIN:g} nats a row
({_WITHIN_SINGLE:g} for pomegranate, which computes in single precision), or the benchmark stops. CPU seconds, one
thread, the best of the runs told. A fit starts from codes in memory; others start from their own form of the table,
made beforehand. The ratio is to `juror.fit`. Memory is what a run needs at its most above what its process held
before, and the whole process above one that only holds the codes."""
    for holes in distinct(rows, "holes"):
        yield f"{percent(holes)} missing:" if holes else "Complete rows:"
        yield markdown(
            ["", "CPU", "wall", "runs", "ratio", "memory of a run", "whole process"],
            [_line(rows, row, holes) for row in rows if row["holes"] == holes],
        )
    yield """scikit-learn has no mixture of categorical distributions, so there is nothing of it to compare; its
CategoricalNB is under the answers below."""


def _line(rows: Rows, row: Row, holes: float) -> list[str]:
    if row.get("failed") is not None:
        return [row["who"], NOTHING, NOTHING, "0", NOTHING, NOTHING, row["failed"]]
    times = ratio(rows, row["who"], holes)
    return [
        row["who"],
        seconds_text(row["cpu"]),
        seconds_text(row["wall"]),
        str(row["runs"]),
        NOTHING if times is None else f"{times:.2f}",
        megabytes(row["working"]),
        megabytes(row["peak"] - row["held"]),
    ]


SECTION = Section(
    "em", "EM", measure, words, goals, comparisons, "CPU seconds of the EM steps, on a logarithmic scale", draw
)
