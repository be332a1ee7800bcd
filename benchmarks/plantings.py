"""Planted contradictions: does the default fit answer them, or warn of them by name?

In a sample of rows of a table, one label of a random column (a condition that 1.5 to 3 % of the rows meet) is made to
determine a random label of another random column, which otherwise fewer than half of the rows have. Then the table is
fitted with defaults. A planting is met if the model answers P(label | condition) within 0.05 of one, or if the fit
warns with a question about these two columns. The tables, of 5,000 rows each:

- 8 columns of Adult, and 8 of GSS, which has missing cells: their fits sample;
- 26 columns of coil2000: their fits are ensembles of EM.

The data are read from the folder in JUROR_DATA.

    python benchmarks/plantings.py [--plantings 200] [--only adult,gss]
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

import juror

CLOSE = 0.05
RAREST, COMMONEST = 0.015, 0.03


@dataclass(frozen=True)
class Source:
    """A table, and how many of its rows and columns a planting has."""

    frame: pd.DataFrame
    n_rows: int
    n_columns: int


def sources() -> dict[str, Source]:
    """Return the tables by name."""
    folder = Path(os.environ["JUROR_DATA"])
    return {
        "adult": Source(juror.datasets.load("adult"), 5000, 8),
        "gss": Source(pd.read_parquet(folder / "gss_abortion" / "gss_abortion.parquet"), 5000, 8),
        "coil2000": Source(pd.read_csv(folder / "coil2000" / "coil2000.tsv.gz", sep="\t"), 5000, 26),
    }


@dataclass(frozen=True)
class Planting:
    """Rows of codes in which a condition determines a label.

    Attributes
    ----------
    domain : Domain
        The variables.
    codes : numpy.ndarray, (n_rows, N)
        The rows.
    condition, target : tuple of two int
        The position of the variable, and the code of its label.
    """

    domain: juror.Domain
    codes: np.ndarray
    condition: tuple[int, int]
    target: tuple[int, int]

    @classmethod
    def draw(cls, source: Source, rng: np.random.Generator) -> Planting:
        """Draw rows, columns, a condition and a label."""
        while True:
            columns = rng.choice(source.frame.columns, min(source.n_columns, source.frame.shape[1]), replace=False)
            rows = rng.choice(len(source.frame), source.n_rows, replace=False)
            frame = source.frame.iloc[rows][columns].reset_index(drop=True)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", juror.DataWarning)
                domain = juror.Domain.infer(frame)
            codes = np.array(domain.encode(frame), dtype=np.int64)
            shares = [
                np.bincount(column[column >= 0], minlength=v.cardinality) / len(column)
                for column, v in zip(codes.T, domain, strict=True)
            ]
            rare = [
                (n, x)
                for n, share in enumerate(shares)
                for x in np.flatnonzero((share >= RAREST) & (share <= COMMONEST))
            ]
            if rare:
                break
        b, y = rare[rng.integers(len(rare))]
        labels = [
            (n, x) for n, share in enumerate(shares) if n != b for x in np.flatnonzero((share > 0) & (share < 0.5))
        ]
        # First the column, so that those with many labels are not drawn more often
        a = rng.choice(sorted({n for n, _ in labels}))
        x = rng.choice([x for n, x in labels if n == a])
        codes[codes[:, b] == y, a] = x
        return cls(domain, codes, (int(b), int(y)), (int(a), int(x)))

    def outcome(self) -> tuple[str, float]:
        """Fit with defaults; return what came of it and the model's answer."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            model = juror.fit(self.codes, domain=self.domain)
        (b, y), (a, x) = self.condition, self.target
        one, other = self.domain[a], self.domain[b]
        p = model.prob({one.name: one.labels[x]}, given={other.name: other.labels[y]})
        if p >= 1 - CLOSE:
            return "answered", p
        asked = [part.partition(" is ")[0] for each in told for part in str(each.message).split("; ")]
        is_named = any(_is_about(question, one.name, other.name) for question in asked)
        return "warned of" if is_named else "missed", p


def _is_about(question: str, one: str, other: str) -> bool:
    """Whether a question such as P(a = x | b >= y) is about two variables."""
    target, bar, condition = question.partition(" | ")
    names = {target.removeprefix("P(").split(" ")[0], condition.split(" ")[0]}
    return bool(bar) and names == {one, other}


def main() -> None:
    """Print a line for each planting that is missed, and one for each table."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("--plantings", type=int, default=200)
    asked.add_argument("--only", default="", help="tables, with commas: their share of the plantings alone")
    arguments = asked.parse_args()
    tables, only = sources(), set(filter(None, arguments.only.split(",")))
    if not only <= tables.keys():
        asked.error(f"--only takes {', '.join(tables)}. Got {arguments.only} instead.")
    total: Counter[str] = Counter()
    for number, (name, source) in enumerate(tables.items()):
        if only and name not in only:
            continue
        found, began = Counter[str](), time.perf_counter()
        seeds = range(number, arguments.plantings, len(tables))
        for seed in seeds:
            planting = Planting.draw(source, np.random.default_rng([seed, 17]))
            outcome, p = planting.outcome()
            found[outcome] += 1
            if outcome == "missed":
                (b, y), (a, x) = planting.condition, planting.target
                one, other, rows = planting.domain[a], planting.domain[b], int((planting.codes[:, b] == y).sum())
                question = f"P({one.name} = {one.labels[x]} | {other.name} = {other.labels[y]})"
                print(f"{name} {seed}: {question} is {p:.2f}, but 1 in {rows} rows", flush=True)
        total += found
        seconds = (time.perf_counter() - began) / len(seeds)
        print(f"{name}: {len(seeds)} plantings, {_in_words(found)}; {seconds:.1f} s each", flush=True)
    print(f"all: {_in_words(total)}")


def _in_words(found: Counter[str]) -> str:
    return ", ".join(f"{found[outcome]} {outcome}" for outcome in ("answered", "warned of", "missed"))


if __name__ == "__main__":
    main()
