"""Cells hidden at random: how many are filled right, and whether the probabilities mean what they say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import juror

from .calibration import N_BINS, calibration
from .cells import Cell, Measured, Section, about, timed
from .findings import Findings, column_text, markdown, mean_text, measure_table
from .folder import data_file

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "juror": "`juror.fit(rows)`, then `impute`",
    "forest": "`IterativeImputer` with random forests",
    "neighbour": "`KNNImputer(n_neighbors=1)`",
    "simple": '`SimpleImputer(strategy="most_frequent")`',
    "marginals": "most frequent label, probabilities of the marginals",
}
HIDDEN = 0.2
# What is no property of the row, or another column in other words
DROPPED = {
    "votes": {},
    "adult": {"fnlwgt": "a sampling weight", "education-num": "`education` as a number"},
    "gss": {
        "id": "the number of the interview",
        "pid": "`partyid` as a number",
        "hispanic": "two labels for the many of `hispaniccat`",
    },
}
# training and test rows
SIZES = {"votes": (290, 145), "adult": (5_000, 2_000), "gss": (5_000, 2_000)}
QUICK_SIZES = {"votes": (290, 145), "gss": (600, 200)}


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    forest = {"n_estimators": 10, "max_iter": 1} if quick else {"n_estimators": 50, "max_iter": 3}
    return {
        name: {"n_train": n_train, "n_test": n_test, "hidden": HIDDEN, "forest": forest}
        for name, (n_train, n_test) in (QUICK_SIZES if quick else SIZES).items()
    }


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, rows with cells hidden, and what they were.

    Attributes
    ----------
    domain : juror.Domain
        Found in the training rows, numbers binned there.
    train : numpy.ndarray, (n_train, N)
        Codes, −1 in the holes that were there.
    shown, true : numpy.ndarray, (n_test, N)
        Codes of the test rows, with −1 in the cells hidden, and as they were.
    n_unknown : int
        Cells of test rows with labels that no training row shows; they are holes for everyone.
    """

    domain: juror.Domain
    train: np.ndarray
    shown: np.ndarray
    true: np.ndarray
    n_unknown: int

    @property
    def hidden(self) -> np.ndarray:
        """Which cells were hidden, (n_test, N)."""
        return (self.shown < 0) & (self.true >= 0)


@cache
def table(name: str) -> pd.DataFrame:
    """Return a data set without the columns of :data:`DROPPED`, read once."""
    import pandas as pd

    rows = (
        pd.read_parquet(data_file("gss_abortion/gss_abortion.parquet")) if name == "gss" else juror.datasets.load(name)
    )
    return rows.drop(columns=list(DROPPED[name]))


def split(n_rows: int, n_train: int, n_test: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Choose training and test rows at random, none of them twice."""
    if n_train + n_test > n_rows:
        raise ValueError(f"{n_train} + {n_test} rows are asked for, and there are {n_rows}.")
    order = rng.permutation(n_rows)
    return order[:n_train], order[n_train : n_train + n_test]


def load(cell: Cell) -> Task:
    rows, options = table(str(cell.column)), cell.options
    rng = np.random.default_rng([cell.seed, len(rows)])
    train, test = split(len(rows), options["n_train"], options["n_test"], rng)
    return task(rows.iloc[train], rows.iloc[test], options["hidden"], rng)


def task(train: pd.DataFrame, test: pd.DataFrame, share: float, rng: np.random.Generator) -> Task:
    """Find the domain in the training rows, and hide each seen cell of the test rows with the chance ``share``."""
    domain = juror.Domain.infer(train)
    true = domain.encode(test, unknown="missing")
    n_unknown = int(np.sum(true < 0)) - int(test.isna().to_numpy().sum())
    hidden = (true >= 0) & (rng.random(true.shape) < share)
    return Task(domain, domain.encode(train), np.where(hidden, -1, true), true, n_unknown)


def measure(cell: Cell, data: Task) -> Measured:
    found, seconds = timed(lambda: _FILLERS[cell.row](cell, data))
    right = found.pop("filled")[data.hidden] == data.true[data.hidden]
    counts = {"n_hidden": len(right), "n_unknown": data.n_unknown}
    # what makes probabilities besides tells the seconds of filling itself
    return {"right": 100 * float(np.mean(right)), "seconds": seconds, **counts} | found


def by_juror(cell: Cell, data: Task) -> Measured:
    def fill() -> tuple[juror.JointPMF, np.ndarray]:
        model = juror.fit(data.train, domain=data.domain, seed=cell.seed)
        return model, model.impute(data.shown)

    (model, filled), seconds = timed(fill)
    found = calibration(data.shown, data.true, lambda name: model.predict_proba(data.shown, name), data.domain)
    return {"filled": filled, "seconds": seconds, **found, **about(model)}


def by_marginals(cell: Cell, data: Task) -> Measured:
    sizes = data.domain.cardinalities
    counts = [np.bincount(c[c >= 0], minlength=size) for c, size in zip(data.train.T, sizes, strict=True)]
    shares = {name: count / count.sum() for name, count in zip(data.domain.names, counts, strict=True)}
    filled = np.where(data.shown < 0, [int(count.argmax()) for count in counts], data.shown)

    def probabilities(name: str) -> np.ndarray:
        return np.tile(shares[name], (len(data.shown), 1))

    return {"filled": filled, **calibration(data.shown, data.true, probabilities, data.domain)}


def by_imputer(imputer: Any, data: Task) -> Measured:
    """Fill by an imputer of scikit-learn, to which a code is a number and a hole is nan."""
    train, shown = (np.where(codes < 0, np.nan, codes) for codes in (data.train, data.shown))
    # a neighbour's code is whole; where no neighbour is near, KNNImputer gives a mean
    return {"filled": np.rint(imputer.fit(train).transform(shown)).astype(int)}


def by_simple(cell: Cell, data: Task) -> Measured:
    from sklearn.impute import SimpleImputer

    return by_imputer(SimpleImputer(strategy="most_frequent", keep_empty_features=True), data)


def by_neighbour(cell: Cell, data: Task) -> Measured:
    from sklearn.impute import KNNImputer

    return by_imputer(KNNImputer(n_neighbors=1, keep_empty_features=True), data)


def by_forest(cell: Cell, data: Task) -> Measured:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    options = cell.options["forest"]
    forest = RandomForestClassifier(options["n_estimators"], min_samples_leaf=3, n_jobs=-1)
    imputer = IterativeImputer(
        forest,
        max_iter=options["max_iter"],
        initial_strategy="most_frequent",
        keep_empty_features=True,
        random_state=cell.seed,
    )
    return by_imputer(imputer, data)


_FILLERS: dict[str, Callable[[Cell, Task], Measured]] = {
    "juror": by_juror,
    "forest": by_forest,
    "neighbour": by_neighbour,
    "simple": by_simple,
    "marginals": by_marginals,
}


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Each seen cell of the test rows is hidden with chance {HIDDEN:g}; holes that were there stay in training and "
        f"test rows alike. Numbers are cut into bins by `Domain.infer` on the training rows. {_about_columns(found)} "
        "Per cent of the hidden cells that are filled with the label, or the bin, that they had, mean ± standard "
        f"deviation over {found.n_seeds()}:"
    )
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "right"), ".2f"))
    yield (
        "scikit-learn's imputers see codes, and to two of them a code is a number: the distances of `KNNImputer` and "
        "the splits of the forests depend on how nominal labels happen to be numbered. The forests are "
        f"{_about_forest(found)}. Classifiers that take categories as such, one a column, were not tried."
    )
    with_chances = [row for row in ROWS if any(found.values(row, column, "ece") for column in found.columns)]
    yield (
        "Calibration of `predict_proba` at the hidden cells. *Expected calibration error* in per cent: the mean "
        "distance between the largest probability and the share of cells where its label was right, over "
        f"{N_BINS} bins of equal width:"
    )
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "ece"), ".2f"), with_chances)
    yield "Mean log-probability of the hidden cells, nats:"
    yield measure_table(
        found,
        lambda row, column: mean_text(found.values(row, column, "log_prob"), ".4f").replace("-", "−"),
        with_chances,
    )
    yield f"{_about_data(found)}\n\nSeconds to fit and to fill:"
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "seconds"), ".1f"))


def _about_columns(found: Findings) -> str:
    said = [
        f"`{name}` ({why}) of {column_text(column)}"
        for column in found.columns
        for name, why in DROPPED[str(column)].items()
    ]
    return f"Left out beforehand: {', '.join(said)}." if said else ""


def _about_forest(found: Findings) -> str:
    said = {
        f"of {r['options']['forest']['n_estimators']} trees in {r['options']['forest']['max_iter']} round(s)"
        for r in found.found
    }
    return " or ".join(sorted(said))


def _about_data(found: Findings) -> str:
    lines = []
    for column in found.columns:
        here = next(r for r in found.found if r["column"] == column)
        unknown = ", ".join(str(n) for n in found.values("marginals", column, "n_unknown"))
        hidden = ", ".join(f"{n:,}" for n in found.values("marginals", column, "n_hidden"))
        sizes = [f"{here['options'][part]:,}" for part in ("n_train", "n_test")]
        lines.append([column_text(column), *sizes, hidden, unknown])
    head = ["", "training rows", "test rows", "hidden cells, by seed", "test cells of unknown label, by seed"]
    return markdown(head, lines)


SECTION = Section(
    "holes", "Holes: filling and calibration", ROWS, ("marginals",), range(3), columns, load, measure, words
)
