"""Default fits: the card beside two cores of the same machine."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np

import juror


def generated(n_rows: int) -> np.ndarray:
    """Draw rows of 20 columns of 10 labels: eight classes, in each of which a column follows the one before."""
    rng = np.random.default_rng(3)
    n_classes, n_columns, n_labels = 8, 20, 10
    tables = rng.dirichlet(np.full(n_labels, 0.5), (n_columns, n_classes, n_labels)).cumsum(axis=-1).astype(np.float32)
    classes = rng.integers(0, n_classes, n_rows)
    codes = np.empty((n_rows, n_columns), dtype=np.int8)
    last = np.zeros(n_rows, dtype=np.int64)
    for n in range(n_columns):
        ladder = tables[n, classes, last]
        last = (rng.random(n_rows, dtype=np.float32)[:, None] >= ladder[:, :-1]).sum(axis=1)
        codes[:, n] = last
    return codes


def table(name: str) -> tuple[np.ndarray, np.ndarray, juror.Domain]:
    """Return the rows to fit, a part held out, and the domain."""
    if name == "coil2000":
        with gzip.open(Path(os.environ["JUROR_DATA"]) / name / "coil2000.tsv.gz") as file:
            codes = np.genfromtxt(file, skip_header=1, dtype=np.int64)
        codes = codes[np.random.default_rng(0).permutation(len(codes))]
        held = len(codes) // 5
    else:
        codes, held = generated(int(name) + 50_000), 50_000
    domain = juror.Domain.from_cardinalities((codes.max(axis=0) + 1).tolist())
    return codes[held:], codes[:held], domain


def timed(name: str, device: str, n_jobs: int | None, n_fits: int) -> dict[str, object]:
    """Fit a table with the defaults, after small fits that compile most kernels, and score the rows held out.

    The time is that of the last of ``n_fits`` equal fits, whose scores should be the same.
    """
    rows, held, domain = table(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for forest in (True, False):
            small = {"smoothing": 1.0, "ensemble": 2, "forest": forest, "device": device, "n_jobs": n_jobs}
            juror.fit(rows[:1000], 8, "em", domain=domain, **small)
        scores = []
        for _ in range(n_fits):
            began = time.perf_counter()
            model = juror.fit(rows, domain=domain, device=device, n_jobs=n_jobs)
            seconds = time.perf_counter() - began
            scores.append(float(model.log_prob(held).mean()))
    return {
        "table": name,
        "device": model.info.device or f"CPU, {n_jobs} threads",
        "seconds": seconds,
        "held_out": scores[-1],
        "same": len(set(scores)) == 1 if n_fits > 1 else None,
        "rank": model.info.rank,
        "members": model.info.n_members,
        "forests": model.info.forests,
        "smoothing": model.info.smoothing,
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table")
    parser.add_argument("device")
    parser.add_argument("n_jobs", type=int)
    parser.add_argument("n_fits", type=int, nargs="?", default=1)
    given = parser.parse_args()
    print(json.dumps(timed(given.table, given.device, given.n_jobs, given.n_fits)), flush=True)
