"""How the time of ``juror-b`` grows with the number of directions M and, once pairs are counted, with the rows.

Run with ``make cost``. Best of several runs each, interleaved, as ratios; operators are made anew in every run.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import juror
from juror.counts import designs
from juror.paper.recipes import Recipe
from juror.solvers import spa
from juror.solvers.descent import descend
from juror.solvers.misfit import misfit_of_tables
from juror.solvers.pair_tables import PairTables

REPEATS = 5
RECIPE = Recipe(1, "uniform", F=25, I=10, N=6)
FIT = {"rank": 25, "method": "juror-b", "max_iter": 300, "tol": 0.0, "smoothing": 0.0}


def best_of(runs: dict[int, Callable[[], object]]) -> dict[int, float]:
    """Return the least seconds of every run, the runs taking turns."""
    best = dict.fromkeys(runs, np.inf)
    for _ in range(REPEATS):
        for key, run in runs.items():
            designs._KEPT.clear()
            began = time.perf_counter()
            run()
            best[key] = min(best[key], time.perf_counter() - began)
    return best


def show(what: str, seconds: dict[int, float]) -> None:
    first = next(iter(seconds.values()))
    print(f"{what}: " + ", ".join(f"{key:,}: {value:.2f} s ({value / first:.2f})" for key, value in seconds.items()))


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    truth = RECIPE.truth(seed=0)
    codes = RECIPE.rows(100_000, seed=0)
    counts = {n: juror.PairCounts.of(codes[:n], truth.domain) for n in (1_000, 10_000, 100_000)}
    juror.fit(counts[1_000], n_directions=50, **FIT)
    show(
        "directions",
        best_of({M: lambda M=M: juror.fit(counts[10_000], n_directions=M, **FIT) for M in (50, 200, 800)}),
    )
    show("rows, counted", best_of({n: lambda n=n: juror.fit(counts[n], **FIT) for n in counts}))
    show(
        "directions, literal route",
        best_of({M: lambda M=M: juror.fit(counts[10_000], n_directions=M, route="literal", **FIT) for M in (50, 800)}),
    )


def momentum() -> None:
    """Show what momentum is worth: the misfit of G3 with it as a share of that without, after as many steps."""
    truth, codes = RECIPE.truth(seed=0), RECIPE.rows(10_000, seed=0)
    tables = PairTables.of(juror.PairCounts.of(codes, truth.domain))
    design = designs.Design()
    operators = design.operators(truth.domain, design.directions(truth.domain))
    misfit = misfit_of_tables(operators, tables.tables, tables.weights)
    lam, factors = spa.solve(tables, RECIPE.F, spa.balanced_split(truth.domain.cardinalities))
    for steps in (30, 100, 300):
        ends = [descend(misfit.at, lam, factors, max_iter=steps, tol=0, accelerate=fast) for fast in (True, False)]
        print(f"misfit after {steps} steps, with momentum over without: {ends[0].trace[-1] / ends[1].trace[-1]:.2f}")


if __name__ == "__main__":
    main()
    momentum()
