"""How near ``method="bayes"`` comes to the Bayes limit in Table 2's setting: F = 15, I = 10, N = 4.

Run with ``make limit``. The limit is the posterior mean under the law that truths come from, which the estimator is not
told. Seeds are others than those of ``juror paper``. Beside it stand maximum likelihood and the uniform table.
"""

from __future__ import annotations

import warnings

import numpy as np

import juror
from juror.paper.cells import one_class
from juror.paper.limit import posterior_mean
from juror.paper.settings import SETTINGS

SEEDS = range(10, 15)
RECIPE = SETTINGS[2].recipe


def errors(n_rows: int, seed: int) -> dict[str, float]:
    """Return the squared relative tensor error of every estimator."""
    truth, codes = RECIPE.truth(seed), RECIPE.rows(n_rows, seed)
    data = {"domain": truth.domain, "seed": seed}
    models = {
        "limit": posterior_mean(codes, truth, seed),
        "bayes, rank 15": juror.fit(codes, 15, "bayes", **data),
        "bayes, rank auto": juror.fit(codes, "auto", "bayes", **data),
        "em, rank 15": juror.fit(codes, 15, "em", **data),
        "uniform table": one_class(truth, [np.full(size, 1 / size) for size in truth.domain.cardinalities]),
    }
    return {name: juror.compare.tensor_error(truth, model) for name, model in models.items()}


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for n_rows in (100, 1_000, 5_000, 10_000):
        found = [errors(n_rows, seed) for seed in SEEDS]
        mean = {name: float(np.mean([errors[name] for errors in found])) for name in found[0]}
        shown = ", ".join(f"{name} {error:.4f} ({error / mean['limit']:.2f})" for name, error in mean.items())
        print(f"{n_rows:,} rows, mean of {len(SEEDS)} seeds (over the limit): {shown}")


if __name__ == "__main__":
    main()
