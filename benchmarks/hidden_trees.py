"""How states, passes and members of hidden trees change the density of rows that they have not seen.

    JUROR_DATA=… python -m benchmarks.hidden_trees [--table magic] [--states 32,64,128] [--passes 10,20]
        [--groups 4] [--members 8] [--bins 256] [--binning ends] [--bell-rows 300] [--rows 16000] [--drop A,B]

Four fifths of a table of numbers, a name or a CSV file, are fitted.
Prints the mean log-density of the others, in original units, for one member and for the mean of 2, 4, … members, with
the seconds of processor time of all members.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from benchmarks.judges.tables import numeric_table, split

import juror
from juror.fitting.held_out import as_mixture
from juror.rows.distinct import WeightedRows
from juror.rows.parameters import Parameters, mean_of
from juror.solvers.grouped_trees import GroupedTrees
from juror.solvers.hidden_tree import BATCH, StateOptions

SHARE = 0.8


def members(
    rows: WeightedRows, domain: juror.Domain, groups: int, passes: int, states: StateOptions
) -> Iterator[tuple[Parameters, ...]]:
    """Fit one member after another, each from its own seed."""
    for seed in itertools.count():
        rng = np.random.default_rng([3, seed])
        trees = GroupedTrees.of(rows, domain, groups, states, rng)
        *_, found = trees.steps(trees.start(rng), passes * len(rows.codes) // BATCH, rng)
        yield trees.parameters(found)


def _table(name: str, dropped: Sequence[str]) -> pd.DataFrame:
    """Return the numbers of a table of the judges, or all columns of a CSV file but some."""
    if not name.endswith(".csv"):
        return numeric_table(name, 0)
    return pd.read_csv(name).drop(columns=[column for column in dropped if column])


def main() -> None:
    """Print a line for each number of states and passes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", default="magic")
    parser.add_argument("--drop", default="", help="columns of a CSV file to leave out")
    parser.add_argument("--rows", type=int, default=16_000, help="the most rows that are fitted")
    parser.add_argument("--bins", type=int, default=256, help="intervals of a number")
    parser.add_argument("--binning", default="ends")
    parser.add_argument("--states", default="32,64,128")
    parser.add_argument("--passes", default="10,20")
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--smoothing", type=float, default=0.1)
    parser.add_argument("--bell-rows", type=float, default=300.0)
    parser.add_argument("--members", type=int, default=8)
    asked = parser.parse_args()
    train, test = split(_table(asked.table, asked.drop.split(",")), SHARE, 0)
    train, test = train[: asked.rows], test[:4000]
    domain = juror.Domain.infer(train, bins=asked.bins, binning=asked.binning)
    rows = WeightedRows.of(domain.encode(train))
    for states, passes in itertools.product(*(map(int, each.split(",")) for each in (asked.states, asked.passes))):
        began, found, scores = time.process_time(), [], []
        drawn = StateOptions(states, asked.smoothing, asked.bell_rows)
        some = members(rows, domain, asked.groups, passes, drawn)
        for member in itertools.islice(some, asked.members):
            found.append(member)
            if len(found) & (len(found) - 1) == 0:
                mixture = as_mixture(mean_of(found), domain)
                model = juror.JointPMF.of_blocks(mixture.blocks, domain)
                scores.append(f"{len(found)}: {model.log_density(test, unknown='missing').mean():.3f}")
        seconds = time.process_time() - began
        print(f"{states} states, {passes} passes, members {', '.join(scores)}; {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
