"""Scattered against seeded starts of EM: the mean and the best objective a row that ten starts of each kind reach.

What it shows is that neither kind wins everywhere, which is why ``juror.fit`` takes them in turn. It does not show why.
"""

from __future__ import annotations

import warnings

import numpy as np

import juror
from juror.rows.distinct import WeightedRows
from juror.rows.packed import PackedRows
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.solvers.starts import random_start, seeded_start
from juror.testing import random_codes, random_model

N_STARTS = 10
UCI_RANKS = {"car": 40, "mushroom": 24, "votes": 8}


def tables() -> dict[str, tuple[np.ndarray, tuple[int, ...], int]]:
    """Return codes, cardinalities and rank of every table compared."""
    rng = np.random.default_rng(5)
    column = rng.integers(0, 20, size=5000)
    model = random_model([6] * 8, 8, rng, concentration=0.5)
    found = {
        "two equal columns": (np.column_stack([column, column]), (20, 20), 20),
        "drawn from a model": (random_codes(model, 5000, rng), model.domain.cardinalities, 8),
    }
    for name, rank in UCI_RANKS.items():
        rows = juror.datasets.load(name)
        domain = juror.Domain.infer(rows)
        found[name] = (domain.encode(rows), domain.cardinalities, rank)
    return found


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    print(f"{'table':20} {'rank':>4}  {'scattered: mean, sd, best':>28}  {'seeded: mean, sd, best':>28}")
    for name, (codes, cardinalities, rank) in tables().items():
        with LocalRunner() as runner:
            objective = Objective.of(
                PackedRows.of(WeightedRows.of(codes), Stacking(cardinalities), runner), Stacking(cardinalities), 0.1
            )
            reached: dict[str, list[float]] = {"scattered": [], "seeded": []}
            for seed in range(N_STARTS):
                for kind, values in reached.items():
                    shared = (objective.marginals, rank, objective.stacking, np.random.default_rng([seed, rank]))
                    start = random_start(*shared) if kind == "scattered" else seeded_start(objective.rows, *shared)
                    run = ascend(objective, start, max_iter=1000, tol=1e-6, accelerate=True)
                    values.append(run.point.objective / objective.total)
        cells = [f"{np.mean(v):.4f}, {np.std(v, ddof=1):.4f}, {max(v):.4f}" for v in reached.values()]
        print(f"{name:20} {rank:4}  {cells[0]:>28}  {cells[1]:>28}")


if __name__ == "__main__":
    main()
