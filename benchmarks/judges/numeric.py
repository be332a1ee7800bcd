"""Numbers: how probable test rows are in original units, beside kernel density and Gaussian mixtures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.accuracy.cells import Cell, Goal, Measured, about, timed
from benchmarks.accuracy.findings import Findings

import juror

from .judged import Judged, Measure, beside
from .tables import KNOWN, numeric_table, split

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "juror": "`juror.fit(rows)`",
    "uniform": "juror in up to 32 intervals, uniform inside",
    "gaussians": "Gaussian mixture, components by BIC",
    "kernel": "kernel density, bandwidth by cross-validation",
    "truth": "the true density",
}
Parts = tuple["pd.DataFrame", "pd.DataFrame"]
_COMPONENTS = (1, 2, 3, 5, 8, 12, 20, 30, 40)
_BANDWIDTHS = np.geomspace(0.03, 0.6, 9)
# A bandwidth is chosen on this many rows, and scaled to all rows by Scott's power
_ROWS_FOR_BANDWIDTH = 4000
_SHARE = 0.8
_MOST_DECIMALS = 6


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    options = {"train": 2000, "test": 500} if quick else {"train": 20_000, "test": 4000}
    return {name: dict(options) for name in (("synthetic",) if quick else ("magic", "adult", *KNOWN))}


def load(cell: Cell) -> Parts:
    train, test = split(numeric_table(str(cell.column), cell.seed), _SHARE, cell.seed)
    return train[: cell.options["train"]], test[: cell.options["test"]]


def measure(cell: Cell, data: Parts) -> Measured:
    return _ROWS[cell.row](cell, *data)


@cache
def _fitted(column: str, seed: int, n_train: int) -> tuple[juror.JointPMF, float]:
    """Fit once for the rows that share a model."""
    train, _ = split(numeric_table(column, seed), _SHARE, seed)
    return timed(lambda: juror.fit(train[:n_train], seed=seed))


def scores(logs: np.ndarray) -> Measured:
    """Return the mean over rows, that over rows that are possible, and how many are not."""
    possible = logs > -np.inf
    return {
        "log_density": float(logs.mean()),
        "of_possible": float(logs[possible].mean()),
        "n_impossible": int(np.sum(~possible)),
        "standard_error": float(logs[possible].std(ddof=1) / np.sqrt(possible.sum())),
    }


def by_juror(cell: Cell, train: pd.DataFrame, test: pd.DataFrame) -> Measured:
    model, seconds = _fitted(str(cell.column), cell.seed, cell.options["train"])
    return {**scores(model.log_density(test, unknown="missing")), "seconds": seconds, **about(model)}


def by_uniform(cell: Cell, train: pd.DataFrame, test: pd.DataFrame) -> Measured:
    """Take the density inside the intervals of a default domain as constant, between finite edges, as juror once did.

    ``ours_there`` is the mean log-density of the default model over the rows that have any density here.
    """
    ours, _ = _fitted(str(cell.column), cell.seed, cell.options["train"])
    coarse, seconds = timed(lambda: juror.fit(train, domain=juror.Domain.infer(train), seed=cell.seed))
    logs = uniform_inside(coarse).log_density(test, unknown="missing")
    there = ours.log_density(test, unknown="missing")[logs > -np.inf]
    return {**scores(logs), "ours_there": float(there.mean()), "seconds": seconds}


def uniform_inside(model: juror.JointPMF) -> juror.JointPMF:
    """Return a model whose numbers are uniform inside intervals."""
    plain = [variable if variable.edges is None else replace(variable, law=None) for variable in model.domain]
    return juror.JointPMF.of_blocks(model.blocks, juror.Domain(plain))


def by_gaussians(cell: Cell, train: pd.DataFrame, test: pd.DataFrame) -> Measured:
    from sklearn.mixture import GaussianMixture

    x, y, log_scale = standardised(train, test, cell.seed)

    def fit() -> Any:
        fits = [GaussianMixture(k, random_state=cell.seed).fit(x) for k in _COMPONENTS if k * 20 <= len(x)]
        return min(fits, key=lambda one: one.bic(x))

    best, cost = beside("scikit-learn", fit)
    return {**scores(best.score_samples(y) - log_scale), "chosen": best.n_components, **cost}


def by_kernel(cell: Cell, train: pd.DataFrame, test: pd.DataFrame) -> Measured:
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KernelDensity

    x, y, log_scale = standardised(train, test, cell.seed)

    def fit() -> Any:
        some = x[:_ROWS_FOR_BANDWIDTH]
        search = GridSearchCV(KernelDensity(rtol=1e-4), {"bandwidth": _BANDWIDTHS}, cv=3).fit(some)
        shrink = (len(x) / (len(some) * 2 / 3)) ** (-1 / (x.shape[1] + 4))
        return KernelDensity(bandwidth=search.best_params_["bandwidth"] * shrink, rtol=1e-4).fit(x)

    best, cost = beside("scikit-learn", fit)
    return {**scores(best.score_samples(y) - log_scale), "chosen": float(best.bandwidth), **cost}


def by_truth(cell: Cell, train: pd.DataFrame, test: pd.DataFrame) -> Measured:
    known = KNOWN.get(str(cell.column))
    return {"seconds": 0.0} if known is None else {**scores(known(test.to_numpy())), "seconds": 0.0}


def standardised(train: pd.DataFrame, test: pd.DataFrame, seed: int) -> tuple[np.ndarray, np.ndarray, float]:
    """Return both tables in standard deviations of the training rows, and the logarithm of the units they lost.

    Numbers on a grid get a uniform random number in their cell.
    """
    rng = np.random.default_rng([seed, 2])
    steps = np.array([step_of(train[name].to_numpy(dtype=float)) for name in train])
    x, y = (rows.to_numpy(dtype=float) + steps * rng.random(rows.shape) for rows in (train, test))
    mean, scale = x.mean(axis=0), x.std(axis=0)
    return (x - mean) / scale, (y - mean) / scale, float(np.log(scale).sum())


def step_of(numbers: np.ndarray) -> float:
    """Return the step of the grid of whole or decimal numbers on which all numbers lie, or 0.

    >>> step_of(np.array([1.0, 30.0])), step_of(np.array([0.25, 1.5])), step_of(np.array([np.pi]))
    (1.0, 0.01, 0.0)
    """
    for decimals in range(_MOST_DECIMALS + 1):
        if np.allclose(np.round(numbers, decimals), numbers, rtol=1e-12, atol=1e-12):
            return 10.0**-decimals
    return 0.0


_ROWS: dict[str, Callable[..., Measured]] = {
    "juror": by_juror,
    "uniform": by_uniform,
    "gaussians": by_gaussians,
    "kernel": by_kernel,
    "truth": by_truth,
}


def words(found: Findings) -> Iterator[str]:
    yield (
        "Mean log-density of test rows in the units of the columns, over tables of numbers alone: four fifths of the "
        "rows are fitted, and at most 4,000 of the others judge. The density of a whole number is its probability, and "
        "that of a number with d decimals its probability times 10^d, so densities of Gaussians can be compared. "
        "Gaussians and kernels see standardised columns, and on a grid of whole or decimal numbers they get a uniform "
        "random number inside each cell, in training and test rows: without that, a narrow Gaussian at a whole number "
        "would have any density. The synthetic table is a mixture of three Gaussians, so a Gaussian mixture is the "
        "right model for it. The curved table has two parts that are no Gaussians: a skewed number, one that follows "
        "it along a curve, and a share between 0 and 1. *Possible rows* leaves out rows that a model gives no density: "
        "uniform intervals end at the outermost training rows. A Gaussian mixture that knows the right number of "
        "components is as near to the truth of the synthetic table as 29 numbers learned from its rows can be."
    )
    impossible = {
        f"{found.section.rows[row]}, {column}: {int(n)}"
        for row in found.section.rows
        for column in found.columns
        for n in found.values(row, column, "n_impossible")
        if n
    }
    yield f"Rows without any density: {'; '.join(sorted(impossible)) or 'none'}."


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column in found.columns:
        own = found.mean("juror", column, "log_density")
        peers = {row: found.mean(row, column, "of_possible") for row in ("gaussians", "kernel")}
        known = {row: value for row, value in peers.items() if value is not None}
        if own is not None and len(known) == len(peers):
            best = max(known, key=known.__getitem__)
            reached.append(_above(f"Numbers, {column}: mean test log-density", own, known[best], ROWS[best]))
        # Rows beyond the training rows have no density inside uniform intervals, so both are held to the others.
        own, other = (found.mean("uniform", column, measure) for measure in ("ours_there", "of_possible"))
        if own is not None and other is not None:
            what = f"Numbers, {column}: the same over rows that both find possible"
            reached.append(_above(what, own, other, ROWS["uniform"]))
    return reached


def _above(what: str, own: float, other: float, whose: str) -> Goal:
    shown, bound = (f"{value:.3f}".replace("-", "−") for value in (own, other))
    return Goal(what, f"above {bound} ({whose})", shown, own > other)


SECTION = Judged(
    "numbers", "Numbers: density in original units", ROWS, ("truth",), range(1, 2), columns, load, measure, words,
    goals,
    measures=(
        Measure("log_density", "mean log-density of a test row", ".3f"),
        Measure("of_possible", "mean log-density of possible rows", ".3f"),
    ),
    ours=("juror", "uniform"),
)  # fmt: skip
