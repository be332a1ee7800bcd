"""Choosing a rank for EM: every rank from random starts against classes split from the fit before.

Run with ``python benchmarks/ranks.py``, or with names of tables after it. A quarter of the rows is set apart for
testing and takes no part in the choice; the rest goes through ``rank="auto"`` and a last fit of the rank chosen. The
rows compared are

anew
    The reference: two random starts at every rank of the path, three for the last fit.
grown
    What ``juror.fitting.choose`` does, and the last fit from what the path found.
grown, last anew
    The same path, three random starts for the last fit.
grown, smoothing too
    With a target: the smoothing chosen as well.

Work is the number of class probabilities of rows that were computed, over the number of distinct rows trained on: the
passes over the rows times their rank. Unlike seconds it does not depend on what else the machine does. The score is the
mean over the seeds of the log-probability of test rows, or of their labels, in nats; gain is that over the reference,
with its standard error over the seeds.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import juror
from juror.answers.scores import predict_proba
from juror.fitting.choose import choose_rank_for, choose_smoothing
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.rank_path import choose_rank
from juror.kernels import kernels
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.solvers.diagnosis import empty_classes
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context
from juror.solvers.starts import random_start, seeded_start

TESTED = 0.25
ROUGH_STARTS, ROUGH_TOL = 2, 1e-5
LAST_STARTS, LAST_TOL = 3, 1e-6
SMOOTHING = 0.1


@dataclass(frozen=True)
class Table:
    """Where a table comes from, how many of its rows are used, what is predicted if anything, and how many seeds."""

    load: Callable[[], pd.DataFrame]
    n_rows: int | None = None
    target: str | None = None
    n_seeds: int = 3


def gss() -> pd.DataFrame:
    """Return the survey from the folder that JUROR_DATA names."""
    return pd.read_parquet(Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet")


TABLES = {
    "titanic": Table(juror.datasets.titanic, n_seeds=20),
    "car, for its class": Table(lambda: juror.datasets.load("car"), target="class", n_seeds=10),
    "votes": Table(lambda: juror.datasets.load("votes"), n_seeds=20),
    "mushroom": Table(lambda: juror.datasets.load("mushroom")),
    "adult": Table(lambda: juror.datasets.load("adult"), n_rows=10_000, n_seeds=8),
    "gss": Table(gss, n_rows=10_000, n_seeds=8),
}


@contextmanager
def counted_work() -> Iterator[list[float]]:
    """Count rows times classes that go through the kernels."""
    module, work = kernels(), [0.0]
    originals = {name: getattr(module, name) for name in ("expected_counts", "log_prob", "posterior")}

    def counting(kernel: Callable[..., object]) -> Callable[..., object]:
        def run(cells: np.ndarray, *arguments: Any) -> object:
            # the last argument is the tables, and these begin with the weights of the classes
            work[0] += len(cells) * len(arguments[-1][0])
            return kernel(cells, *arguments)

        return run

    for name, kernel in originals.items():
        setattr(module, name, counting(kernel))
    try:
        yield work
    finally:
        for name, kernel in originals.items():
            setattr(module, name, kernel)


def best_of_random(table: MemoryTable, trial: Trial, rank: int, n_starts: int, tol: float) -> Parameters:
    """Ascend from scattered and seeded starts in turn and return the best end."""
    objective = Objective.of(table.packed, Stacking(trial.domain.cardinalities), SMOOTHING)
    runs = []
    for number in range(1 if rank == 1 else n_starts):
        shared = (
            objective.marginals,
            rank,
            objective.stacking,
            np.random.default_rng([trial.context.seed, rank, number]),
        )
        scattered = number % 2 == 0
        start = random_start(*shared) if scattered else seeded_start(objective.rows, *shared)
        runs.append(ascend(objective, start, max_iter=1000, tol=tol, accelerate=True))
    return max(runs, key=lambda run: run.point.objective).point.parameters


def anew(trial: Trial) -> Parameters:
    """Choose and fit from random starts only."""
    ((kept, held),) = trial.parts("auto")

    def score(rank: int) -> RankScore:
        found = best_of_random(kept, trial, rank, ROUGH_STARTS, ROUGH_TOL)
        n_occupied = int(np.sum(~empty_classes(found, kept.total)))
        return RankScore(rank, trial.score(found, held), n_occupied)

    rank, _ = choose_rank(score, len(kept.rows.codes))
    return best_of_random(trial.table, trial, rank, LAST_STARTS, LAST_TOL)


def grown(trial: Trial) -> Parameters:
    """Choose by splitting, and fit from what was found."""
    options = EMOptions(smoothing=SMOOTHING, tol=LAST_TOL)
    chosen = choose_rank_for(trial, options, "auto")
    return trial.fit(trial.table, chosen.rank, options, "fitting", chosen.found[0])


def grown_last_anew(trial: Trial) -> Parameters:
    """Choose by splitting, and fit from random starts."""
    chosen = choose_rank_for(trial, EMOptions(smoothing=SMOOTHING), "auto")
    return best_of_random(trial.table, trial, chosen.rank, LAST_STARTS, LAST_TOL)


def grown_smoothing_too(trial: Trial) -> Parameters:
    """Choose rank and smoothing, and fit from what was found."""
    options = EMOptions(smoothing=SMOOTHING, tol=LAST_TOL)
    chosen = choose_rank_for(trial, options, "auto")
    chosen = choose_smoothing(trial, options, chosen, "auto")
    return trial.fit(trial.table, chosen.rank, replace(options, smoothing=chosen.smoothing), "fitting", chosen.found[0])


WAYS = {"anew": anew, "grown": grown, "grown, last anew": grown_last_anew, "grown, smoothing too": grown_smoothing_too}


def run(table: Table, way: Callable[[Trial], Parameters], seed: int) -> dict[str, float]:
    """Return seconds, work, the rank, and the score on rows set apart, in nats a row; with a target the accuracy."""
    frame = table.load()
    domain = juror.Domain.infer(frame)
    codes = domain.encode(frame)[np.random.default_rng(seed).permutation(len(frame))[: table.n_rows]]
    n_tested = round(TESTED * len(codes))
    test, rows = WeightedRows.of(codes[:n_tested]), WeightedRows.of(codes[n_tested:])
    target = None if table.target is None else domain.position(table.target)
    with LocalRunner(1) as runner, counted_work() as work:
        trial = Trial(MemoryTable(rows, domain, runner), METHODS["em"], target, Context(seed, runner))
        began = time.perf_counter()
        found = way(trial)
        seconds = time.perf_counter() - began
        result = {"seconds": seconds, "work": work[0] / len(rows.codes), "rank": found.rank}
    result["score"] = trial.score(found, MemoryTable(test, domain, trial.context.runner))
    if target is not None:
        guessed = predict_proba(as_mixture((found,), domain), test.codes, target).argmax(axis=1)
        result["right, %"] = 100 * float(np.average(guessed == test.codes[:, target], weights=test.weights))
    return result


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    # compile before the clock runs
    run(TABLES["titanic"], grown, 0)
    for name in sys.argv[1:] or TABLES:
        table = TABLES[name]
        print(f"\n{name}, {table.n_seeds} seeds")
        shown: dict[str, dict[str, object]] = {}
        reference = np.empty(0)
        for way in WAYS:
            if way == "grown, smoothing too" and table.target is None:
                continue
            results = pd.DataFrame([run(table, WAYS[way], seed) for seed in range(table.n_seeds)])
            reference = results["score"].to_numpy() if way == "anew" else reference
            gain = results["score"].to_numpy() - reference
            shown[way] = results.mean().round(4).to_dict() | {
                "work": round(results["work"].mean()),
                "rank": " ".join(str(int(rank)) for rank in results["rank"]),
                "gain": f"{gain.mean():+.4f} ± {gain.std(ddof=1) / np.sqrt(len(gain)):.4f}",
            }
        print(pd.DataFrame(shown).T.to_string(), flush=True)


if __name__ == "__main__":
    main()
