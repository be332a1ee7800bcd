"""What counts of pairs can tell: the default fit, ``tree`` and ``pair-em`` against ``juror-b`` from the same counts.

- ``tables``: mean log-probability, in nats a row, of a fifth of the rows of Votes, GSS and Adult, missing cells summed
  out; the counts are those of the other rows.
- ``table2``: squared relative error of the tensor in the setting of the paper's Table 2, rank given, with other seeds
  than the paper's tables have.
- ``starts``: in Table 5's setting with 50,000 rows, L a row and the factor error that EM on pairs reaches from several
  starts, beside the run started at the truth.

The data are read from the folder in JUROR_DATA.

    python benchmarks/pairs.py [tables] [table2] [starts]
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

import juror
from juror.compare import factor_mse, tensor_error
from juror.errors import ParameterError
from juror.model import JointPMF
from juror.paper.settings import SETTINGS
from juror.rows.parameters import Parameters
from juror.solvers.ascent import Objective, ascend
from juror.solvers.pair_likelihood import PairLikelihood
from juror.solvers.starts import random_start

RANKS = (2, 4, 8, 16)
TEST_SHARE = 0.2
SEEDS = range(100, 105)


def gss() -> object:
    import pandas as pd

    return pd.read_parquet(Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet").drop(columns="id")


TABLES = {"votes": lambda: juror.datasets.load("votes"), "gss": gss, "adult": lambda: juror.datasets.load("adult")}


def tables() -> None:
    for name, load in TABLES.items():
        data = load()
        domain = juror.Domain.infer(data, missing=["?"])
        codes = np.asarray(domain.encode(data), dtype=np.int64)
        order = np.random.default_rng(0).permutation(len(codes))
        test, train = np.split(codes[order], [round(TEST_SHARE * len(codes))])
        counts = juror.PairCounts.of_codes(train, domain)
        print(f"{name}: {len(train):,} rows of {len(domain)} variables are counted, {len(test):,} are for the test")
        fits: dict[str, dict[str, object]] = {"default": {}, "tree": {"method": "tree"}}
        fits |= {f"pair-em, rank {rank}": {"rank": rank, "method": "pair-em"} for rank in RANKS}
        fits |= {f"juror-b, rank {rank}": {"rank": rank, "method": "juror-b"} for rank in RANKS}
        for label, options in fits.items():
            began = time.perf_counter()
            try:
                model = juror.fit(counts, **options)
            except ParameterError:
                # SPA's split carries no such rank.
                continue
            seconds = time.perf_counter() - began
            chosen = f" ({model.info.why}; rank {model.rank})" if label == "default" else ""
            print(f"  {label}: {model.log_prob(test).mean():.4f} in {seconds:.1f} s{chosen}", flush=True)


def table2() -> None:
    recipe = SETTINGS[2].recipe
    assert recipe is not None
    for n_rows in (100, 1000, 5000, 10_000):
        errors = []
        for seed in SEEDS:
            truth = recipe.truth(seed)
            counts = juror.PairCounts.of_codes(recipe.rows(n_rows, seed), truth.domain)
            fits = [juror.fit(counts, truth.rank, method, seed=seed) for method in ("pair-em", "juror-b")]
            errors.append([tensor_error(truth, fit) for fit in fits])
        ours, theirs = np.mean(errors, axis=0)
        print(f"{n_rows:,} rows: pair-em {ours:.4f}, juror-b {theirs:.4f}, ratio {ours / theirs:.2f}", flush=True)


def starts() -> None:
    recipe = SETTINGS[5].recipe
    assert recipe is not None
    for seed in SEEDS:
        truth = recipe.truth(seed)
        counts = juror.PairCounts.of_codes(recipe.rows(50_000, seed), truth.domain)
        pairs = PairLikelihood.of(counts)
        objective = Objective.of(pairs, pairs.stacking, 0.1)
        begun = {"truth": Parameters.of(truth.weights, truth.factors, pairs.stacking)}
        least_squares = juror.fit(counts, truth.rank, "juror-b", seed=seed)
        begun["juror-b"] = Parameters.of(least_squares.weights, least_squares.factors, pairs.stacking)
        for number in range(3):
            rng = np.random.default_rng([seed, number])
            begun[f"random {number}"] = random_start(objective.marginals, truth.rank, pairs.stacking, rng)
        print(f"seed {seed}")
        for label, start in begun.items():
            run = ascend(objective, start, max_iter=2000, tol=1e-7, accelerate=True)
            found = run.point.parameters
            error = factor_mse(truth, JointPMF(found.lam, pairs.stacking.unstack(found.stack), truth.domain))
            print(
                f"  from {label}: L {run.point.objective / pairs.total:.6f} a row, factor error {error:.3f}", flush=True
            )


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for name in sys.argv[1:] or ["tables", "table2", "starts"]:
        {"tables": tables, "table2": table2, "starts": starts}[name]()


if __name__ == "__main__":
    main()
