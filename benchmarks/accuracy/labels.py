"""The labels of Car and Mushroom on the paper's splits, beside gradient boosting and naive Bayes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

import juror
from juror.paper.recipes import LAW_VERSION, SHARES, TARGET, labelled, split

from .cells import Cell, Goal, Measured, Section, about, timed
from .findings import NOTHING, Findings, column_text, mean_text, measure_table
from .published import GOAL_LABELS, most_printed

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "juror": f'`juror.fit(rows, target="{TARGET}")`',
    "boosting": "gradient boosting (scikit-learn)",
    "naive bayes": "naive Bayes",
    "most frequent": "most frequent label",
}
# naive Bayes counts every label of a feature so much too often
_PSEUDO_COUNT = 0.1
Parts = tuple["pd.DataFrame", "pd.DataFrame"]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    names = ("car",) if quick else ("car", "mushroom")
    return {name: {"law": LAW_VERSION, "shares": SHARES[name]} for name in names}


def load(cell: Cell) -> Parts:
    return parts(str(cell.column), cell.seed)


def parts(name: str, seed: int) -> Parts:
    """Return the paper's training and validation rows together, and its test rows."""
    import pandas as pd

    train, validation, test = split(name, seed)
    return pd.concat([train, validation]), test


@cache
def domain_of(name: str) -> juror.Domain:
    """Return the labels of all rows: which there may be is known beforehand, to the others too."""
    return juror.Domain.infer(labelled(name))


def measure(cell: Cell, data: Parts) -> Measured:
    train, test = data
    return _ROWS[cell.row](train, test, domain_of(str(cell.column)), cell.seed)


def per_cent(predicted: Any, rows: pd.DataFrame) -> float:
    """Return the per cent of rows whose label was predicted."""
    return 100 * float(np.mean(np.asarray(predicted) == rows[TARGET].to_numpy()))


def by_juror(train: pd.DataFrame, test: pd.DataFrame, domain: juror.Domain, seed: int) -> Measured:
    """Fit features and label together, and take the most probable label."""
    model, seconds = timed(lambda: juror.fit(train, target=TARGET, domain=domain, seed=seed))
    return {"accuracy": per_cent(model.predict(test), test), "seconds": seconds, **about(model)}


def by_boosting(train: pd.DataFrame, test: pd.DataFrame, domain: juror.Domain, seed: int) -> Measured:
    """Boost trees with every feature categorical and holes as they are."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    target = domain.position(TARGET)

    def features(rows: pd.DataFrame) -> np.ndarray:
        codes = np.delete(domain.encode(rows), target, axis=1).astype(float)
        return np.where(codes < 0, np.nan, codes)

    booster = HistGradientBoostingClassifier(categorical_features=list(range(len(domain) - 1)), random_state=seed)
    _, seconds = timed(lambda: booster.fit(features(train), train[TARGET].to_numpy()))
    return {"accuracy": per_cent(booster.predict(features(test)), test), "seconds": seconds}


def by_naive_bayes(train: pd.DataFrame, test: pd.DataFrame, domain: juror.Domain, seed: int) -> Measured:
    """Take features as independent given the label."""
    model, seconds = timed(lambda: naive_bayes(train, domain))
    return {"accuracy": per_cent(model.predict(test, TARGET), test), "seconds": seconds}


def naive_bayes(train: pd.DataFrame, domain: juror.Domain) -> juror.JointPMF:
    """Return naive Bayes as a model: a class for every label, which it decides."""
    codes = domain.encode(train)
    position = domain.position(TARGET)
    label, F = codes[:, position], domain[TARGET].cardinality
    factors = []
    for n, size in enumerate(domain.cardinalities):
        counts = np.full((size, F), _PSEUDO_COUNT)
        seen = codes[:, n] >= 0
        np.add.at(counts, (codes[seen, n], label[seen]), 1)
        factors.append(np.eye(F) if n == position else counts / counts.sum(axis=0))
    return juror.JointPMF(np.bincount(label, minlength=F) / len(label), factors, domain)


def by_most_frequent(train: pd.DataFrame, test: pd.DataFrame, domain: juror.Domain, seed: int) -> Measured:
    """Take the label that most training rows have."""
    return {"accuracy": per_cent(np.full(len(test), train[TARGET].mode()[0], dtype=object), test)}


_ROWS: dict[str, Callable[..., Measured]] = {
    "juror": by_juror,
    "boosting": by_boosting,
    "naive bayes": by_naive_bayes,
    "most frequent": by_most_frequent,
}


def printed_text(column: int | str) -> str:
    value = most_printed(7, column)
    return NOTHING if value is None else f"{value:.2f}"


def words(found: Findings) -> Iterator[str]:
    shares = "; ".join(
        f"{name} {'/'.join(f'{100 * share:g}' for share in SHARES[str(name)])}" for name in found.columns
    )
    yield (
        f"The paper's random splits into training, validation and test rows ({shares}). Every row of the table learns "
        "from the training and the validation rows together: juror holds out rows by itself where it has something to "
        "choose, and the others are at their defaults. Gradient boosting is scikit-learn's "
        "`HistGradientBoostingClassifier` with all features categorical; naive Bayes adds "
        f"{_PSEUDO_COUNT:g} to every count. Per cent of test rows labelled right, mean ± standard deviation over "
        f"{found.n_seeds()}; *best printed* is the best of all rows of the paper's Table 7."
    )
    yield measure_table(
        found,
        lambda row, column: mean_text(found.values(row, column, "accuracy"), ".2f"),
        printed={"best printed": printed_text},
    )
    yield (
        f"What `model.info` names as method, with the number of fits: {found.methods_chosen('juror')}. Ranks: "
        + "; ".join(f"{column} {_ranks(found, column)}" for column in found.columns)
        + ". Seconds of a fit:"
    )
    fitted = [row for row in ROWS if row != "most frequent"]
    yield measure_table(found, lambda row, column: mean_text(found.values(row, column, "seconds"), ".1f"), fitted)


def _ranks(found: Findings, column: int | str) -> str:
    return ", ".join(str(rank) for rank in found.values("juror", column, "rank")) or NOTHING


def goals(found: Findings) -> list[Goal]:
    reached = []
    for column, least in GOAL_LABELS.items():
        value = found.mean("juror", column, "accuracy")
        if value is not None and found.is_whole("juror", column, "accuracy"):
            what = f"{ROWS['juror']}, {column_text(column)}: mean per cent right"
            reached.append(Goal(what, f"at least {least:g}", f"{value:.2f}", value >= least))
    return reached


SECTION = Section(
    "labels", "Labels: Car and Mushroom", ROWS, ("naive bayes", "most frequent"), range(10), columns, load, measure,
    words, goals,
)  # fmt: skip
