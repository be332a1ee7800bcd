"""Do intervals hold the truth, and are effects still there? Writes docs/coverage.md.

    JUROR_DATA=… python benchmarks/held_truths.py [--repeats 120] [--only trial,adult] [--jobs 2]

Truths are known: a small trial of two arms, with and without an effect; real tables, samples of which are fitted; the
paper's truths of Table 2; random forests and random dense tables. Every label of one variable, given every label of
another that a tenth of the rows or more have, is asked for with an interval of 90 %.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

import juror
from juror.answers.block import Block
from juror.answers.interval_ends import ends_of_rows
from juror.paper.settings import SETTINGS
from juror.rows.forest import Forest

LEVEL, LEAST, BOUNDS = 0.90, 0.1, (0.86, 0.94)
METHODS = ("bayes", "em")
PAGE = Path(__file__).parents[1] / "docs" / "coverage.md"
Pair = Callable[[int, int], np.ndarray]


@dataclass
class Case:
    """A table to fit, and the true joint table of every pair of its variables."""

    rows: pd.DataFrame | np.ndarray
    domain: juror.Domain
    truth: Pair
    pairs: Sequence[tuple[int, int]]


@dataclass
class Found:
    """What intervals of one method did over all repeats."""

    held: list[list[bool]] = field(default_factory=list)
    widths: list[float] = field(default_factory=list)
    effects: list[float] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    n_warned: int = 0

    @property
    def coverage(self) -> tuple[float, float]:
        """The share of intervals that hold the truth, and its standard error; those of a fit depend on each other."""
        held, many = np.array([(sum(each), len(each)) for each in self.held]).T
        share = held.sum() / many.sum()
        return float(share), float(np.sqrt(np.sum((held - share * many) ** 2)) / many.sum())


def trial(n_rows: int, repeat: int, responses: tuple[float, float]) -> Case:
    """Two arms, and three columns that have nothing to do with the response."""
    rng, drug = np.random.default_rng([7, n_rows, repeat]), np.arange(n_rows) % 2 == 1
    rows = pd.DataFrame(
        {
            "arm": np.where(drug, "drug", "placebo"),
            "sex": rng.choice(["f", "m"], n_rows),
            "age": rng.integers(20, 80, n_rows),
            "severity": rng.choice(["mild", "moderate", "severe"], n_rows),
            "response": np.where(rng.random(n_rows) < np.where(drug, *responses), "yes", "no"),
        }
    )
    domain = juror.Domain.infer(rows)
    yes = np.array([responses[0] if label == "drug" else responses[1] for label in domain["arm"].labels])
    table = np.stack([yes if label == "yes" else 1 - yes for label in domain["response"].labels])
    return Case(rows, domain, lambda a, b: table / 2, [(domain.position("response"), domain.position("arm"))])


def sampled(whole: pd.DataFrame, n_rows: int, repeat: int) -> Case:
    """A sample of a table whose shares are the truth."""
    domain = juror.Domain.infer(whole)
    codes = domain.encode(whole)

    def truth(a: int, b: int) -> np.ndarray:
        table = np.zeros((domain[a].cardinality, domain[b].cardinality))
        np.add.at(table, (codes[:, a], codes[:, b]), 1.0)
        return table / len(codes)

    rows = whole.sample(n_rows, random_state=repeat)
    return Case(rows, domain, truth, list(itertools.permutations(range(len(domain)), 2)))


def drawn(model: juror.JointPMF, n_rows: int, repeat: int) -> Case:
    """Rows drawn from a model."""
    names = model.domain.names

    def truth(a: int, b: int) -> np.ndarray:
        return model.marginal(names[a], names[b]).to_numpy()

    pairs = list(itertools.permutations(range(len(names)), 2))
    return Case(model.sample(n_rows, seed=repeat), model.domain, truth, pairs)


def random_forest(repeat: int) -> juror.JointPMF:
    """Six variables of two to five labels along a random tree, every column uniform on the simplex."""
    rng = np.random.default_rng([11, repeat])
    sizes = rng.integers(2, 6, 6).tolist()
    parents = [-1, *(int(rng.integers(0, n)) for n in range(1, 6))]
    above = [1 if p < 0 else sizes[p] for p in parents]
    tables = tuple(rng.dirichlet(np.ones(i), (1, k)).transpose(1, 2, 0) for i, k in zip(sizes, above, strict=True))
    return juror.JointPMF.of_blocks(
        [Block(np.ones(1), Forest(tuple(parents)), tables)], juror.Domain.from_cardinalities(sizes)
    )


def random_dense(repeat: int) -> juror.JointPMF:
    """A table of 2 × 3 × 3 × 4 cells, uniform on the simplex: a class for each cell."""
    rng, sizes = np.random.default_rng([12, repeat]), (2, 3, 3, 4)
    weights = rng.dirichlet(np.ones(int(np.prod(sizes))))
    cells = np.array(np.unravel_index(np.arange(len(weights)), sizes))
    return juror.JointPMF(weights, [np.eye(size)[:, cells[n]] for n, size in enumerate(sizes)])


def adult() -> pd.DataFrame:
    """The columns of Adult but the weights, as text, rows with missing cells left out."""
    path = Path(os.environ["JUROR_DATA"]) / "adult" / "adult.data"
    columns = ["workclass", "education", "marital", "occupation", "relationship", "race", "sex", "income"]
    table = pd.read_csv(path, header=None, skipinitialspace=True, na_values="?")[[1, 3, 5, 6, 7, 8, 9, 14]]
    return table.set_axis(columns, axis=1).dropna().astype(str)


def gss() -> pd.DataFrame:
    """The seven items of the survey, sex and race, rows with missing cells left out."""
    path = Path(os.environ["JUROR_DATA"]) / "gss_abortion" / "gss_abortion.parquet"
    table = pd.read_parquet(path)
    items = [name for name in table.columns if name.startswith("ab")]
    return table[[*items, "sex", "race"]].dropna().astype(str)


def cases() -> dict[str, Callable[[int], Case]]:
    """Return the settings by name."""
    recipe = SETTINGS[2].recipe
    assert recipe is not None
    found: dict[str, Callable[[int], Case]] = {}
    for n in (30, 100, 300):
        found[f"trial, {n} rows"] = lambda r, n=n: trial(n, r, (0.75, 0.30))
    for n in (30, 100, 300):
        found[f"trial without effect, {n} rows"] = lambda r, n=n: trial(n, r, (0.5, 0.5))
    for name, load in (("Adult", adult), ("GSS", gss)):
        whole = load()
        for n in (300, 1000):
            found[f"{name}, {n} rows"] = lambda r, n=n, whole=whole: sampled(whole, n, r)
    for n in (100, 1000):
        found[f"Table 2 of the paper, {n} rows"] = lambda r, n=n: drawn(recipe.truth(40 + r), n, r)
    for n in (100, 1000):
        found[f"random forests, {n} rows"] = lambda r, n=n: drawn(random_forest(r), n, r)
        found[f"random dense tables, {n} rows"] = lambda r, n=n: drawn(random_dense(r), n, r)
    return found


def questions(case: Case) -> Iterator[tuple[str, np.ndarray]]:
    """Yield every question with its true answer."""
    for a, b in case.pairs:
        joint = case.truth(a, b)
        for y in np.flatnonzero(joint.sum(axis=0) >= LEAST):
            names = [case.domain[n].name for n in (a, b)]
            label = str(case.domain[b].labels[y])
            yield f'"{names[0]}" | "{names[1]}" = "{label}"', joint[:, y] / joint[:, y].sum()


def judge(case: Case, method: str, seed: int, found: Found) -> None:
    """Fit, ask everything, and note what the intervals hold."""
    began = time.perf_counter()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model = juror.fit(case.rows, domain=case.domain, method=method, seed=seed, missing_as={})
    found.seconds.append(time.perf_counter() - began)
    found.n_warned += any("mixed" in str(each.message) for each in warned)
    found.held.append([])
    for question, truth in questions(case):
        answer = model.interval(question, LEVEL)
        found.held[-1] += ((answer.low <= truth) & (truth <= answer.high)).tolist()
        found.widths += (answer.high - answer.low).tolist()
    if "response" in case.domain.names:
        drug, placebo = (model.ask(f"response | arm = {arm}") for arm in ("drug", "placebo"))
        found.effects.append(drug["yes"] - placebo["yes"])
        at = case.domain["response"].labels.index("yes")
        assert drug.support is not None
        assert placebo.support is not None
        found.shares.append(float(drug.support.shares[at] - placebo.support.shares[at]))


def line(name: str, method: str, found: Found) -> str:
    """Write a row of the table."""
    effect = "" if not found.effects else f"{np.mean(found.effects):.2f} (shares {np.mean(found.shares):.2f})"
    if found.effects and "without" in name:
        sizes = (np.mean(np.abs(each)) for each in (found.effects, found.shares))
        effect = "size {:.2f} (shares {:.2f})".format(*sizes)
    cover, error = found.coverage
    mark = "" if BOUNDS[0] <= cover <= BOUNDS[1] else " !"
    fits = f"{len(found.held)} | {len(found.widths):,}"
    numbers = f"{cover:.3f} ± {error:.3f}{mark} | {fits} | {np.mean(found.widths):.3f} | {effect}"
    return f"| {name} | `{method}` | {numbers} | {np.mean(found.seconds):.1f} | {found.n_warned} |"


HEAD = """# Do intervals hold the truth?

Made by `python benchmarks/held_truths.py` with {repeats} repeats of the trial, three times as many with 30 rows, half
as many without an effect, and a fifteenth of the others. Intervals of 90 % for every label of a variable, given a
label of another that a tenth of the rows have; `held` is the share of them that hold the truth, with its standard
error over fits ({low} to {high} is well, others are marked). Then the number of fits and of intervals, their mean
width, the mean effect in the trial (the truth is 0.45, or none), seconds of a fit on a machine that may have been
busy, and how many fits warned of poor mixing. Truths of Table 2, random forests and random dense tables are drawn
anew in each repeat; samples of Adult and GSS are judged by all rows. Intervals of `bayes` are from draws and rows,
those of `em` from rows alone ([intervals](mathematics.md#intervals)).

Intervals from rows alone are Jeffreys'. For 15, 50 and 150 rows in each arm, the sizes of the trial, their exact
coverage is {exact}: what figures of `em` in the trial differ from these is noise of the seeds.

| truth | method | held | fits | intervals | width | effect | s | warned |
|---|---|---|---|---|---|---|---|---|
"""


def exact_coverage(n_rows: int, responses: Sequence[float]) -> float:
    """Return the chance that intervals from rows alone hold the truth, the mean over arms of so many rows."""
    from scipy.stats import binom

    k = np.arange(n_rows + 1)
    ends = [ends_of_rows(np.array([yes, n_rows - yes], dtype=float), LEVEL) for yes in k]
    low, high = (np.array([end[side][0] for end in ends]) for side in (0, 1))
    return float(np.mean([binom.pmf(k, n_rows, p)[(low <= p) & (p <= high)].sum() for p in responses]))


def head(repeats: int) -> str:
    """Return the beginning of the page."""
    exact = " / ".join(f"{exact_coverage(n, (0.75, 0.30)):.3f}" for n in (15, 50, 150))
    return HEAD.format(repeats=repeats, low=BOUNDS[0], high=BOUNDS[1], exact=exact)


def n_repeats(name: str, repeats: int) -> int:
    """Return how often a setting is repeated: fits of the trial are quick, and have few intervals each."""
    if name == "trial, 30 rows":
        # The smallest has the largest noise.
        return 3 * repeats
    if name.startswith("trial,"):
        return repeats
    return max(2, repeats // 2) if name.startswith("trial") else max(2, repeats // 15)


def measured(name: str, method: str, repeats: int) -> str:
    """Repeat a setting, and return its row of the table."""
    found, make = Found(), cases()[name]
    for repeat in range(n_repeats(name, repeats)):
        judge(make(repeat), method, repeat, found)
    return line(name, method, found)


def main() -> None:
    """Run all settings and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=120)
    parser.add_argument("--only", default="", help="beginnings of names, with commas; prints only")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--jobs", type=int, default=1, help="processes; more make the seconds of a fit longer")
    asked = parser.parse_args()
    names = [name for name in cases() if name.lower().startswith(tuple(asked.only.lower().split(",")))]
    settings = list(itertools.product(names, asked.methods.split(",")))
    lines = []
    with ProcessPoolExecutor(asked.jobs, mp_context=get_context("spawn")) as pool:
        for text in pool.map(measured, *zip(*settings, strict=True), itertools.repeat(asked.repeats)):
            lines.append(text)
            print(text, flush=True)
    if not asked.only:
        PAGE.write_text(head(asked.repeats) + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
