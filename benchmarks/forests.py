"""What members of an ensemble with forests gain by each of their parts, in mean log-probability of rows not seen.

One member with the strongest forest, its smoothing the best of a few on a fifth of the training rows held out:

- ``products``: the same rank without a forest;
- ``to the forest``: every class is drawn to the forest's own tables T;
- ``to both``: it is drawn to B, which combines the parent's effect with that of the class (what juror does);
- ``learned again``: the forest is learned again within the classes.

A missing cell is one more label. The data are read from the folder in JUROR_DATA.

    python benchmarks/forests.py [--rank 128]
"""

from __future__ import annotations

import argparse
import os
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np

import juror
from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.fitting import members
from juror.fitting.choose import FOREST_SMOOTHINGS, MEMBER_SMOOTHINGS, FitSetting
from juror.fitting.held_out import Trial, as_mixture
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, Point
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.shared_forest import SharedForest
from juror.solvers.solver import Context


class DrawnToForest(SharedForest):
    """EM steps whose tables are drawn to those of the forest alone."""

    def update(self, point: Point) -> Parameters:
        """Add the pseudo-counts of the forest."""
        return Objective.update(self, point)


def tables() -> dict[str, tuple[np.ndarray, np.ndarray, tuple[int, ...]]]:
    """Return training codes, test codes and cardinalities of every table."""
    found = {}
    for name in ("adult", "mushroom"):
        data = juror.datasets.load(name)
        domain = Domain.infer(data, missing=["?"])
        codes = np.asarray(domain.encode(data), dtype=np.int64)
        sizes = np.array(domain.cardinalities) + (codes < 0).any(axis=0)
        codes = np.where(codes < 0, sizes - 1, codes)[np.random.default_rng(1).permutation(len(codes))]
        cut = len(codes) // 5
        found[name] = codes[cut:], codes[:cut], tuple(sizes.tolist())
    for name in ("nltcs", "plants", "dna"):
        parts = np.load(Path(os.environ["JUROR_DATA"]) / "debd" / f"{name}.npz")
        train, test = parts["train"].astype(np.int64), parts["test"].astype(np.int64)
        found[name] = train, test, (2,) * train.shape[1]
    return found


def best(train: np.ndarray, test: np.ndarray, sizes: tuple[int, ...], setting: FitSetting) -> float:
    """Return the score of the test rows at the smoothing that is best for rows held out."""
    domain, runner = Domain.from_cardinalities(sizes), LocalRunner(1)
    cut = len(train) // 5
    held, trial = (
        train[:cut],
        Trial(MemoryTable(WeightedRows.of(train[cut:]), domain, runner), METHODS["em"], None, Context(0, runner)),
    )
    scores = []
    for smoothing in FOREST_SMOOTHINGS if setting.forest else MEMBER_SMOOTHINGS:
        [member] = members.fit_members(trial, EMOptions(), replace(setting, smoothing=smoothing), [0])
        model = as_mixture((member.parameters,), domain)
        scores.append((float(log_prob(model, held).mean()), float(log_prob(model, test).mean())))
    return max(scores)[1]


def main() -> None:
    """Print a line for each table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--rank", type=int, default=128)
    rank = asked.parse_args().rank
    warnings.simplefilter("ignore")
    print(f"rank {rank}: products, to the forest, to both, learned again")
    for name, (train, test, sizes) in tables().items():
        forest = FitSetting(rank, forest=True)
        products = best(train, test, sizes, FitSetting(rank))
        members.SharedForest = DrawnToForest  # type: ignore[misc]
        to_forest = best(train, test, sizes, forest)
        members.SharedForest = SharedForest  # type: ignore[misc]
        others = (best(train, test, sizes, each) for each in (forest, replace(forest, relearned=True)))
        print(f"{name:10}", *(f"{score:9.4f}" for score in (products, to_forest, *others)), flush=True)


if __name__ == "__main__":
    main()
