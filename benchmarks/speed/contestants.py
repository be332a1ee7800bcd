"""juror as a contestant; all that the benchmark knows of its inside is here.

Where rows are counted or passed over, equal rows are not merged first, though ``juror.fit`` would: times are of as many
rows as are told.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import juror
from juror.counts.counts import PairCounts, TripleCounts
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, Point, ascend
from juror.solvers.chow_liu import edge_gains, strongest_forest
from juror.solvers.starts import random_start

from .tasks import Task, digest, factors_of, load, mean_log_prob
from .worker import Trial, timed_each

# so many rows are passed over as many more are
_TO_COMPILE = 20_000
# plain EM steps: no smoothing, no long steps, no stopping early
_PLAIN = {"method": "em", "accelerate": False, "smoothing": 0.0, "tol": 0.0}


def as_rows(codes: np.ndarray) -> WeightedRows:
    """Return rows as they are, each of weight one."""
    return WeightedRows(codes, np.ones(len(codes)), np.ones(len(codes), dtype=np.int64))


class Passes:
    """EM steps and Gibbs sweeps over the rows of a task."""

    def __init__(self, task: Task, n_jobs: int = 1):
        stacking = Stacking(tuple(len(factor) for factor in factors_of(task)))
        self.runner = LocalRunner(n_jobs)
        self.objective = Objective.of(PackedRows.of(as_rows(task["codes"]), stacking, self.runner), stacking, 0.0)
        self.start = Parameters.of(task["lam"], factors_of(task), stacking)

    def ascend(self, passes: int) -> Any:
        """Take so many EM steps from the start."""
        return ascend(self.objective, self.start, max_iter=passes, tol=-np.inf, accelerate=False)

    def step(self, point: Point | None = None) -> Point:
        """Pass over the rows at the start, or take the EM step from a point and pass over them there."""
        return self.objective.at(self.start if point is None else self.objective.update(point))

    def sweep(self) -> Any:
        """Draw a class for every row under the start, and count."""
        return self.objective.rows.draw(self.start.lam, self.start.stack, np.random.default_rng(0))


def count_pairs(codes: np.ndarray, cardinalities: Sequence[int], n_jobs: int) -> PairCounts:
    """Count all pairs of codes in memory."""
    domain = juror.Domain.from_cardinalities([int(size) for size in cardinalities])
    return PairCounts.of_codes(codes, domain, n_jobs=n_jobs)


def count_triples(codes: np.ndarray, cardinalities: Sequence[int], n_jobs: int) -> TripleCounts:
    """Count all triples of codes in memory."""
    domain = juror.Domain.from_cardinalities([int(size) for size in cardinalities])
    return TripleCounts.of_codes(codes, domain, n_jobs=n_jobs)


def model_of(task: Task) -> juror.JointPMF:
    """Return the start of a task as a model."""
    return juror.JointPMF(task["lam"], factors_of(task))


def em_fit(task: str, passes: int) -> Trial:
    """``juror.fit`` from codes."""
    given = load(task)
    codes, model = given["codes"], model_of(given)

    def fit(rows: np.ndarray, passes: int) -> juror.JointPMF:
        return juror.fit(rows, rank=model.rank, init=model, domain=model.domain, max_iter=passes, n_jobs=1, **_PLAIN)

    def check(fitted: juror.JointPMF) -> dict[str, Any]:
        assert fitted.info is not None
        return {
            "log_likelihood": mean_log_prob(codes, fitted.weights, fitted.factors),
            "passes": fitted.info.n_iter,
            "distinct": fitted.info.n_distinct,
        }

    # compiles what is compiled for many rows, and leaves the memory that those need to the run
    fit(codes[:_TO_COMPILE], 2)
    return Trial(lambda: fit(codes, passes), check)


def em_passes(task: str, passes: int) -> Trial:
    """The EM steps of a fit alone, all that comes before them done."""
    given = load(task)
    prepared = Passes(given)
    prepared.ascend(2)

    def check(run: Any) -> dict[str, Any]:
        found = run.point.parameters
        factors = prepared.objective.stacking.unstack(found.stack)
        return {"log_likelihood": mean_log_prob(given["codes"], found.lam, factors), "passes": run.n_passes}

    return Trial(lambda: prepared.ascend(passes), check)


def em_step(task: str) -> Trial:
    """One pass over the rows."""
    given = load(task)
    prepared = Passes(given)
    prepared.step()

    def check(point: Point) -> dict[str, Any]:
        return {"log_likelihood": point.log_likelihood / len(given["codes"])}

    return Trial(prepared.step, check)


def steps_of_sizes(task: str, tasks: dict[str, str]) -> Trial:
    """EM steps over several tasks, each timed by itself."""
    prepared = {size: Passes(load(path)) for size, path in tasks.items()}
    points = {size: passes.step() for size, passes in prepared.items()}
    return timed_each({size: lambda size=size: prepared[size].step(points[size]) for size in tasks})


def sweeps(task: str, tasks: dict[str, str]) -> Trial:
    """EM passes and Gibbs sweeps over the same rows in turn, each timed by itself."""
    prepared = {size: Passes(load(path)) for size, path in tasks.items()}
    work: dict[str, Callable[[], Any]] = {}
    for size, passes in prepared.items():
        passes.step()
        passes.sweep()
        work |= {f"pass {size}": passes.step, f"sweep {size}": passes.sweep}
    return timed_each(work)


def forest_passes(task: str, ranks: list[int]) -> Trial:
    """EM passes of products and of classes that share the strongest forest, in turn, each timed by itself."""
    given = load(task)
    domain = juror.Domain.from_cardinalities([int(size) for size in given["cardinalities"]])
    table = MemoryTable(as_rows(given["codes"]), domain, LocalRunner(1))
    forest = strongest_forest(edge_gains(PairCounts.of_rows(table)))
    work: dict[str, Callable[[], Any]] = {}
    for rank in ranks:
        for name, rows, stacking in (
            ("product", table, Stacking(domain.cardinalities)),
            ("forest", table.along(forest).in_order(), Stacking(domain.cardinalities, forest)),
        ):
            start = random_start(stacking.marginals(rows.label_counts), rank, stacking, np.random.default_rng(rank))
            work[f"{name} {rank}"] = partial(rows.expected, start.lam, start.stack)
            work[f"{name} {rank}"]()
    return timed_each(work)


def threads(task: str, counted: str, n_jobs: list[int]) -> Trial:
    """Passes, sweeps and pair counts with these numbers of threads in turn; the results must be the same bits."""
    given, pairs = load(task), load(counted)
    by_columns = np.asfortranarray(pairs["codes"])
    work: dict[str, Callable[[], Any]] = {}
    seen: dict[str, dict[int, bytes]] = {"EM pass": {}, "Gibbs sweep": {}, "pair counts": {}}
    for n in n_jobs:
        passes = Passes(given, n)
        work[f"EM pass {n}"] = passes.step
        work[f"Gibbs sweep {n}"] = passes.sweep
        work[f"pair counts {n}"] = lambda n=n: count_pairs(by_columns, pairs["cardinalities"], n)
        seen["EM pass"][n] = passes.step().counts.cells.tobytes()
        seen["Gibbs sweep"][n] = passes.sweep().cells.tobytes()
        seen["pair counts"][n] = work[f"pair counts {n}"]().tables[0].tobytes()
    same = {name: len(set(found.values())) == 1 for name, found in seen.items()}
    return Trial(timed_each(work, time.perf_counter).run, lambda times: {"times": times, "same": same})


def pairs(task: str, order: str = "F", size: int = 2, n_jobs: int = 1) -> Trial:
    """All pair tables, or triples, of codes in memory, by column (F) or by row (C)."""
    given = load(task)
    codes, sizes = np.asarray(given["codes"], order=order), given["cardinalities"]
    count = {2: count_pairs, 3: count_triples}[size]
    count(codes, sizes, n_jobs)
    return Trial(lambda: count(codes, sizes, n_jobs), lambda found: {"digest": digest(found.tables)})


def opened_pairs(task: str, order: str = "F") -> Trial:
    """All pair tables of an array of codes whose domain is not known, with all checks: ``PairCounts.of``."""
    codes = np.asarray(load(task)["codes"], order=order)
    juror.PairCounts.of(codes, n_jobs=1)
    return Trial(lambda: juror.PairCounts.of(codes, n_jobs=1), lambda found: {"digest": digest(found.tables)})


def labelled(task: Task) -> juror.JointPMF:
    """Return a model with its class as one more variable, so that p(class | a row) can be asked for."""
    return juror.JointPMF(task["lam"], [*factors_of(task), np.eye(len(task["lam"]))])


def answers(task: str, what: str) -> Trial:
    """One question about every row."""
    given = load(task)
    codes, model, known = given["codes"], model_of(given), labelled(given)
    # the class is not known of any row
    padded = np.hstack([codes, np.full((len(codes), 1), -1, dtype=codes.dtype)])
    target = known.domain.names[-1]
    ask, check = {
        "log_prob": (lambda n: model.log_prob(codes[:n]), lambda logs: {"sum": float(logs.mean())}),
        "predict_proba": (
            lambda n: known.predict_proba(padded[:n], target),
            lambda R: {"sum": float((R**2).sum() / len(R))},
        ),
        "impute": (lambda n: model.impute(codes[:n]), lambda filled: {"holes": int((filled < 0).sum())}),
        "sample": (lambda n: model.sample(n), lambda drawn: {"sum": float((drawn.iloc[:, 0] == 0).mean())}),
    }[what]
    ask(_TO_COMPILE)
    return Trial(lambda: ask(len(codes)), check)


def label_proba(task: str) -> Trial:
    """p(last variable | the others), at any rank."""
    given = load(task)
    codes, model = given["codes"], model_of(given)
    target = model.domain.names[-1]
    model.predict_proba(codes[:_TO_COMPILE], target)
    return Trial(lambda: model.predict_proba(codes, target), lambda P: {"sum": float((P**2).sum() / len(P))})


def fit_memory(task: str) -> Trial:
    """``juror.fit`` of a few EM steps, for its memory; loaded and compiled before."""
    return em_fit(task, passes=2)
