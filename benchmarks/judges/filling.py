"""Imputation: cells hidden at random or by a skip pattern, filled by juror and by others."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.accuracy.cells import Cell, Goal, Measured, about, timed
from benchmarks.accuracy.findings import Findings, markdown

import juror

from . import fillers
from .judged import Judged, Measure, beside
from .tables import numbers_of, table

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "juror": '`impute(numbers="mean")`',
    "juror-median": "`impute()`: medians",
    "juror-draws": "mean of `impute(draws=20)`, labels by vote",
    "iterative": "IterativeImputer",
    "knn": "KNNImputer",
    "forests": "missForest-like forests",
    "miceforest": "miceforest, one data set",
    "median": "median and most frequent label",
}
_SHARE_HIDDEN = 0.2
_SHARE_SKIPPED = 0.8
_DRAWS = 20
# Who skips: the rows whose first column is above its 70th percentile have most cells of the others hidden
SKIPS = {"adult": ("c0", ("c4", "c6", "c12")), "magic": ("FLength", ("FAsym", "FM3Long", "FM3Trans"))}
Parts = tuple["pd.DataFrame", np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    if quick:
        return {"magic, at random": {"rows": 500}}
    return {f"{name}, {how}": {"rows": 8000} for name in ("adult", "magic") for how in ("at random", "skip pattern")}


def load(cell: Cell) -> Parts:
    return hidden(str(cell.column), cell.options["rows"], cell.seed)


def hidden(column: str, n_rows: int, seed: int) -> Parts:
    """Return some rows of a table, and which cells are hidden, (n_rows, N)."""
    name, how = column.split(", ")
    frame = table(name).sample(n_rows, random_state=seed).reset_index(drop=True)
    # labels as text: whole numbers with holes would become floats, and 1 and 1.0 are different texts
    labels = [column for column in frame.columns if column not in numbers_of(name)]
    frame[labels] = frame[labels].astype(object).where(frame[labels].isna(), frame[labels].astype(str))
    rng = np.random.default_rng([seed, 1])
    if how == "at random":
        mask = rng.random(frame.shape) < _SHARE_HIDDEN
    else:
        by, skipped = SKIPS[name]
        skips = frame[by].to_numpy() > frame[by].quantile(0.7)
        mask = np.outer(skips, frame.columns.isin(skipped)) & (rng.random(frame.shape) < _SHARE_SKIPPED)
    return frame, mask & frame.notna().to_numpy()


def measure(cell: Cell, data: Parts) -> Measured:
    frame, mask = data
    filled = _ROWS[cell.row](cell, frame.mask(mask), numbers_of(str(cell.column).split(", ")[0]))
    return {**errors(frame, filled.pop("frame"), mask, numbers_of(str(cell.column).split(", ")[0])), **filled}


def errors(truth: pd.DataFrame, filled: pd.DataFrame, mask: np.ndarray, numbers: list[str]) -> Measured:
    """Return root mean squared errors of numbers, in standard deviations, and the share of labels right."""
    by_column: dict[str, float] = {}
    right: list[np.ndarray] = []
    for n, name in enumerate(truth.columns):
        rows = mask[:, n]
        if not rows.any():
            continue
        if name in numbers:
            true, guess = (frame[name].to_numpy(dtype=float)[rows] for frame in (truth, filled))
            by_column[name] = float(np.sqrt(np.mean((guess - true) ** 2)) / truth[name].std())
        else:
            right.append((truth[name].astype(str) == filled[name].astype(str)).to_numpy()[rows])
    return {
        "rmse": float(np.mean(list(by_column.values()))),
        "columns": list(by_column),
        "rmse_by_column": list(by_column.values()),
        "right": float(np.mean(np.concatenate(right))) if right else None,
        "n_hidden": int(mask.sum()),
    }


@cache
def _fitted(column: str, n_rows: int, seed: int) -> tuple[juror.JointPMF, float]:
    """Fit once for all ways to fill by juror."""
    frame, mask = hidden(column, n_rows, seed)
    holed = frame.mask(mask)
    return timed(lambda: juror.fit(holed, seed=seed, missing_as={}))


def _by_juror(fill: Callable[[juror.JointPMF, pd.DataFrame, list[str]], pd.DataFrame]) -> Callable[..., Measured]:
    def filled(cell: Cell, holed: pd.DataFrame, numbers: list[str]) -> Measured:
        model, of_fit = _fitted(str(cell.column), cell.options["rows"], cell.seed)
        frame, of_fill = timed(lambda: fill(model, holed, numbers))
        return {"frame": frame, "seconds": of_fit + of_fill, **about(model)}

    return filled


def _voted(model: juror.JointPMF, holed: pd.DataFrame, numbers: list[str]) -> pd.DataFrame:
    import pandas as pd

    draws = model.impute(holed, draws=_DRAWS)
    return pd.DataFrame({
        name: np.mean([one[name].to_numpy(dtype=float) for one in draws], axis=0)
        if name in numbers
        else pd.concat([one[name].astype(str) for one in draws], axis=1).mode(axis=1)[0]
        for name in holed.columns
    })  # fmt: skip


def _by(fill: Callable[[pd.DataFrame, list[str], int], pd.DataFrame], package: str) -> Callable[..., Measured]:
    def filled(cell: Cell, holed: pd.DataFrame, numbers: list[str]) -> Measured:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that ten rounds were not enough is no news
            frame, cost = beside(package, lambda: fill(holed, numbers, cell.seed))
        return {"frame": frame, **cost}

    return filled


_ROWS: dict[str, Callable[..., Measured]] = {
    "juror": _by_juror(lambda model, holed, numbers: model.impute(holed, numbers="mean")),
    "juror-median": _by_juror(lambda model, holed, numbers: model.impute(holed)),
    "juror-draws": _by_juror(_voted),
    "iterative": _by(fillers.by_iterative, "scikit-learn"),
    "knn": _by(fillers.by_knn, "scikit-learn"),
    "forests": _by(fillers.by_forests, "scikit-learn"),
    "miceforest": _by(fillers.by_miceforest, "miceforest"),
    "median": _by(fillers.by_median, "scikit-learn"),
}


def words(found: Findings) -> Iterator[str]:
    yield (
        f"8,000 rows of each table. At random: every cell is hidden with probability {_SHARE_HIDDEN:g}. Skip pattern: "
        f"in the 30 % of the rows with the largest value of one column, {_SHARE_SKIPPED:.0%} of the cells of three "
        "others are hidden (" + "; ".join(f"{n}: {by} hides {', '.join(of)}" for n, (by, of) in SKIPS.items()) + "). "
        "Everything is fitted to the table with holes, and fills it. Root mean squared errors are in standard "
        "deviations of the column; the mean is over columns. Labels are one-hot without the first for "
        "IterativeImputer and KNNImputer (both on standardised columns); the largest is taken."
    )
    for column in found.columns:
        shown = [row for row in found.section.rows if found.at(row, column)]
        named = found.at(shown[0], column)[0]["measured"]["columns"]
        lines = [
            [found.section.rows[row], *(f"{v:.3f}" for v in found.at(row, column)[0]["measured"]["rmse_by_column"])]
            for row in shown
        ]
        yield f"Root mean squared error by column, {column}:"
        yield markdown(["", *named], lines)


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column in found.columns:
        own, other = (found.mean(row, column, "rmse") for row in ("juror", "iterative"))
        if own is not None and other is not None:
            bound = f"at most {1.02 * other:.3f} (1.02 × IterativeImputer)"
            reached.append(Goal(f"Holes, {column}: mean error", bound, f"{own:.3f}", own <= 1.02 * other))
    return reached


SECTION = Judged(
    "filling", "Imputation", ROWS, ("median",), range(1, 2), columns, load, measure, words, goals,
    measures=(
        Measure("rmse", "mean root mean squared error in standard deviations", ".3f", more_is_better=False),
        Measure("right", "share of hidden labels right", ".3f"),
    ),
    ours=("juror", "juror-median", "juror-draws"),
    needs={"miceforest": "miceforest"},
)  # fmt: skip
