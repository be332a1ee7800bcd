"""How probable ``method="bayes"`` makes rows that it has not seen, for docs/decisions/015.

    JUROR_DATA=… python benchmarks/unseen_rows.py [--only votes,gss] [--repeats 3]

Samples of public tables, and rows drawn from the truths of Table 2, are fitted. Prints the mean log-probability of
other rows, in nats a row, and how many fits warned that chains have not mixed.
"""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.held_truths import adult, drawn, gss, sampled

import juror
from juror.paper.settings import SETTINGS

MOST_UNSEEN = 4000
# The rows to fit, those to score, and the domain of both
Part = tuple[pd.DataFrame | np.ndarray, pd.DataFrame | np.ndarray, juror.Domain]


def parts_of(whole: pd.DataFrame, n_rows: int, repeats: int) -> Iterator[Part]:
    """Yield samples of a table, each with other rows of it."""
    for repeat in range(repeats):
        case = sampled(whole, n_rows, repeat)
        rest = whole.drop(case.rows.index)
        yield case.rows, rest.sample(min(MOST_UNSEEN, len(rest)), random_state=99), case.domain


def drawn_parts(n_rows: int, repeats: int) -> Iterator[Part]:
    """Yield rows drawn from truths of Table 2, each with others of the same truth."""
    recipe = SETTINGS[2].recipe
    assert recipe is not None
    for repeat in range(repeats):
        truth = recipe.truth(40 + repeat)
        yield drawn(truth, n_rows, repeat).rows, truth.sample(MOST_UNSEEN, seed=1000 + repeat), truth.domain


def read(file: str) -> pd.DataFrame:
    """Read a table of labels without a header."""
    return pd.read_csv(Path(os.environ["JUROR_DATA"]) / file, header=None, na_values="?").add_prefix("v")


TABLES: dict[str, Callable[[int], Iterator[Part]]] = {
    "Adult, 300 rows": lambda repeats: parts_of(adult(), 300, repeats),
    "Adult, 1,000 rows": lambda repeats: parts_of(adult(), 1000, repeats),
    "Car, 300 rows": lambda repeats: parts_of(read("car/car.data").astype(str), 300, repeats),
    "Car, 1,000 rows": lambda repeats: parts_of(read("car/car.data").astype(str), 1000, repeats),
    "Votes, 290 rows": lambda repeats: parts_of(read("votes/house-votes-84.data"), 290, repeats),
    "GSS, 300 rows": lambda repeats: parts_of(gss(), 300, repeats),
    "GSS, 1,000 rows": lambda repeats: parts_of(gss(), 1000, repeats),
    "Table 2, 100 rows": lambda repeats: drawn_parts(100, repeats),
    "Table 2, 1,000 rows": lambda repeats: drawn_parts(1000, repeats),
}


def main() -> None:
    """Print a line for each table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="beginnings of names, with commas")
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    for name, parts in TABLES.items():
        if not name.lower().startswith(tuple(asked.only.lower().split(","))):
            continue
        scores, n_warned = [], 0
        for seed, (rows, unseen, domain) in enumerate(parts(asked.repeats)):
            with warnings.catch_warnings(record=True) as warned:
                warnings.simplefilter("always")
                model = juror.fit(rows, domain=domain, method="bayes", seed=seed, missing_as={})
            n_warned += any("mixed" in str(each.message) for each in warned)
            scores.append(float(model.log_prob(unseen).mean()))
        each = ", ".join(f"{score:.4f}" for score in scores)
        print(f"{name}: {np.mean(scores):.4f} ({each}); {n_warned} of {len(scores)} fits warned of mixing", flush=True)


if __name__ == "__main__":
    main()
