"""How much depends on the smoothing of EM: accuracy on Car and Mushroom at a fixed rank, for docs/decisions/003."""

from __future__ import annotations

import warnings

import numpy as np

import juror
from juror.paper.recipes import TARGET, labelled, split

RANKS = {"car": 60, "mushroom": 80}
SEEDS = range(5)


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for name, rank in RANKS.items():
        domain = juror.Domain.infer(labelled(name))
        for smoothing in (0.01, 0.1, 0.3):
            found = []
            for seed in SEEDS:
                train, _, test = split(name, seed)
                options = {"n_init": 1, "target": TARGET, "smoothing": smoothing}
                model = juror.fit(train, rank, "em", domain=domain, seed=seed, **options)
                found.append(np.mean(model.predict(test) == test[TARGET]))
            print(f"{name}, rank {rank}, smoothing {smoothing}: {100 * np.mean(found):.2f} %")


if __name__ == "__main__":
    main()
