"""What the priors at the top of ``method="bayes"`` are worth: Table 2's setting at few rows, beside the Bayes limit.

Run with ``python benchmarks/prior.py``; for docs/decisions/015. Seeds are others than those of any table.
"""

from __future__ import annotations

import warnings
from unittest.mock import patch

import numpy as np

import juror
from juror.paper.limit import posterior_mean
from juror.paper.settings import SETTINGS
from juror.solvers import hyper

RECIPE = SETTINGS[2].recipe
SEEDS = range(100, 116)
# mean and spread of μ, and how many labels the scale of g is
PRIORS = {
    "as it is": (hyper._MEAN_OF_MU, hyper._SPREAD_OF_MU, hyper._EVEN),
    "μ around 0, wider": (0.0, 1.5, hyper._EVEN),
    "base measures less even": (hyper._MEAN_OF_MU, hyper._SPREAD_OF_MU, 10.0),
    "both": (0.0, 1.5, 10.0),
}


def error(n_rows: int, seed: int, prior: tuple[float, float, float]) -> float:
    """Return the squared relative tensor error of a fit under other priors."""
    truth = RECIPE.truth(seed)
    names = ("_MEAN_OF_MU", "_SPREAD_OF_MU", "_EVEN")
    with patch.multiple(hyper, **dict(zip(names, prior, strict=True))):
        model = juror.fit(RECIPE.rows(n_rows, seed), RECIPE.F, "bayes", domain=truth.domain, seed=seed)
    return juror.compare.tensor_error(truth, model)


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for n_rows in (100, 1_000):
        truths = [RECIPE.truth(seed) for seed in SEEDS]
        limits = [
            juror.compare.tensor_error(truth, posterior_mean(RECIPE.rows(n_rows, seed), truth, seed))
            for truth, seed in zip(truths, SEEDS, strict=True)
        ]
        for name, prior in PRIORS.items():
            over = np.array([error(n_rows, seed, prior) for seed in SEEDS]) - limits
            mean, spread = 1 + over.mean() / np.mean(limits), over.std(ddof=1) / np.mean(limits) / len(SEEDS) ** 0.5
            print(f"{n_rows:,} rows, {name}: {mean:.3f} ± {spread:.3f} times the limit", flush=True)


if __name__ == "__main__":
    main()
