"""How much depends on the smoothing: test accuracy on Car and Mushroom at a fixed rank, for docs/decisions/003."""

from __future__ import annotations

import warnings

import numpy as np
from classification import SEEDS, SETTINGS, TARGET, accuracy, split

import juror

RANKS = {"car": 60, "mushroom": 80}


def main() -> None:
    warnings.simplefilter("ignore", juror.JurorWarning)
    for setting in SETTINGS:
        rows = juror.datasets.load(setting.table)
        domain = juror.Domain.infer(rows)
        for smoothing in (0.01, 0.1, 0.3):
            found = []
            for seed in SEEDS:
                train, _, test = split(rows, setting.shares, seed)
                options = {"domain": domain, "seed": seed, "n_init": 1, "target": TARGET, "smoothing": smoothing}
                found.append(accuracy(juror.fit(train, RANKS[setting.table], **options), test))
            print(f"{setting.table}, rank {RANKS[setting.table]}, smoothing {smoothing}: {100 * np.mean(found):.2f} %")


if __name__ == "__main__":
    main()
