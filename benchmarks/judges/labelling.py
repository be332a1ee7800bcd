"""Labels: accuracy, log-loss, AUC and calibration beside classifiers of scikit-learn."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.accuracy.cells import Cell, Goal, Measured, about, timed
from benchmarks.accuracy.findings import Findings

import juror

from .judged import Judged, Measure, beside
from .tables import label_of, numbers_of, split, table

if TYPE_CHECKING:
    import pandas as pd

ROWS = {
    "target": "`juror.fit(rows, target=…)`",
    "joint": "`juror.fit(rows)`",
    "boosting": "HistGradientBoosting",
    "logistic": "logistic regression",
    "bayes": "naive Bayes",
    "shares": "shares of labels",
}
_SETS = ("car", "mushroom", "votes", "adult", "coil2000", "magic")
# A small table is split more often, so that at least 2,000 rows judge: 87 of Votes in each split.
_MORE_SPLITS: dict[int | str, int] = {"votes": 23}
SHARE = 0.8
_LEAST = 1e-12
Parts = tuple["pd.DataFrame", "pd.DataFrame"]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {name: {"rows": 600 if quick else None} for name in (("car",) if quick else _SETS)}


def load(cell: Cell) -> Parts:
    train, test = split(table(str(cell.column)), SHARE, cell.seed)
    return train[: cell.options["rows"]], test


def measure(cell: Cell, data: Parts) -> Measured:
    name = str(cell.column)
    return measured_by(cell.row, *data, label_of(name), numbers_of(name))


def measured_by(row: str, train: pd.DataFrame, test: pd.DataFrame, target: str, numbers: list[str]) -> Measured:
    """Let a row fit the training rows, and judge its labels of the test rows."""
    labels = np.unique(train[target].astype(str))
    given = _ROWS[row](train, test, target, labels, numbers)
    return {**judged(given.pop("chances"), test[target].astype(str).to_numpy(), labels), **given}


def judged(chances: np.ndarray, truth: np.ndarray, labels: np.ndarray) -> Measured:
    """Return what chances (rows, labels) are worth; rows whose label no training row has are not counted."""
    from sklearn.metrics import roc_auc_score

    known = np.isin(truth, labels)
    codes, chances = np.searchsorted(labels, truth[known]), chances[known]
    of_truth = np.maximum(chances[np.arange(len(codes)), codes], _LEAST)
    right = chances.argmax(axis=1) == codes
    present = np.unique(codes)
    if len(labels) == 2:
        auc = roc_auc_score(codes, chances[:, 1])
    else:
        auc = np.mean([roc_auc_score(codes == label, chances[:, label]) for label in present])
    return {
        "accuracy": float(right.mean()),
        "log_loss": float(-np.log(of_truth).mean()),
        "auc": float(auc),
        "ece": calibration_error(chances.max(axis=1), right),
        "ece_if_calibrated": error_if_calibrated(chances.max(axis=1)),
        "n_test": len(codes),
    }


def calibration_error(confidence: np.ndarray, right: np.ndarray, n_bins: int = 15) -> float:
    """Return the expected calibration error: |confidence − share right| by bin of confidence, weighted by rows."""
    at = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(at, confidence - right, minlength=n_bins)
    return float(np.abs(gaps).sum() / len(right))


def error_if_calibrated(confidence: np.ndarray, n_draws: int = 200) -> float:
    """Return the mean calibration error of labels that are right exactly as often as confidences say."""
    rng = np.random.default_rng(0)
    return float(
        np.mean([calibration_error(confidence, rng.random(len(confidence)) < confidence) for _ in range(n_draws)])
    )


def _by_juror(with_target: bool) -> Callable[..., Measured]:
    def measured(train: pd.DataFrame, test: pd.DataFrame, target: str, labels: np.ndarray, _: list[str]) -> Measured:
        options = {"target": target} if with_target else {}
        began = time.process_time()
        model, seconds = timed(lambda: juror.fit(train, **options))
        spent = time.process_time() - began
        chances = model.predict_proba(test.drop(columns=target), target, unknown="missing")
        order = {str(label): n for n, label in enumerate(model.domain[target].labels)}
        cost = {"seconds": seconds, "processor_seconds": round(spent, 3)}
        return {"chances": chances[:, [order[label] for label in labels]], **cost, **about(model)}

    return measured


def _by_sklearn(make: Callable[[list[str], list[str]], Any]) -> Callable[..., Measured]:
    def measured(
        train: pd.DataFrame, test: pd.DataFrame, target: str, labels: np.ndarray, numbers: list[str]
    ) -> Measured:
        features = [c for c in train.columns if c != target]
        some = [c for c in features if c in numbers]
        others = [c for c in features if c not in numbers]
        x, y = (rows[features].astype(dict.fromkeys(others, object)) for rows in (train, test))
        for rows in (x, y):
            rows[others] = rows[others].where(rows[others].notna(), "missing").astype(str)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted, cost = beside("scikit-learn", lambda: make(some, others).fit(x, train[target].astype(str)))
            return {"chances": fitted.predict_proba(y), **cost}

    return measured


def _boosting(numbers: list[str], others: list[str]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OrdinalEncoder

    codes = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    first = make_column_transformer((codes, others), remainder="passthrough")
    categorical = list(range(len(others)))
    return make_pipeline(first, HistGradientBoostingClassifier(categorical_features=categorical, random_state=0))


def _logistic(numbers: list[str], others: list[str]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    first = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), others), (make_pipeline(SimpleImputer(), StandardScaler()), numbers)
    )
    return make_pipeline(first, LogisticRegression(max_iter=500))


def _bayes(numbers: list[str], others: list[str]) -> Any:
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.naive_bayes import BernoulliNB
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

    bins = KBinsDiscretizer(16, strategy="quantile", quantile_method="averaged_inverted_cdf")
    first = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), others), (make_pipeline(SimpleImputer(), bins), numbers)
    )
    return make_pipeline(first, BernoulliNB())


def by_shares(train: pd.DataFrame, test: pd.DataFrame, target: str, labels: np.ndarray, _: list[str]) -> Measured:
    shares = train[target].astype(str).value_counts(normalize=True)[labels].to_numpy()
    return {"chances": np.tile(shares, (len(test), 1)), "seconds": 0.0}


_ROWS: dict[str, Callable[..., Measured]] = {
    "target": _by_juror(with_target=True),
    "joint": _by_juror(with_target=False),
    "boosting": _by_sklearn(_boosting),
    "logistic": _by_sklearn(_logistic),
    "bayes": _by_sklearn(_bayes),
    "shares": by_shares,
}


def words(found: Findings) -> Iterator[str]:
    yield (
        f"Four fifths of the rows are fitted, the others judge, for {len(found.section.seeds)} seeds; "
        f"{' and '.join(f'{column} for {n}' for column, n in _MORE_SPLITS.items())}, as few of their rows judge in one "
        "split. AUC of more than two labels is the mean over labels of one against the rest. The expected calibration "
        "error compares the confidence in the most probable label with the share that is right, in 15 bins. With few "
        "rows it is above zero for any classifier, and more so for one that is less sure: *if confidences were exactly "
        "right* is the mean error of labels that are drawn with the same confidences. Boosting gets labels as "
        "categories and numbers as they are; for logistic regression labels are one-hot and numbers standardised, and "
        "for naive Bayes numbers are cut at 16 quantiles."
    )


def goals(found: Findings) -> list[Goal]:
    whole = [c for c in found.columns if all(found.is_whole(row, c, "auc") for row in ("target", "boosting"))]
    gaps = {c: _mean(found, "target", c, "auc") - _mean(found, "boosting", c, "auc") for c in whole}
    reached = []
    if len(gaps) == len(_SETS):
        mean, worst = float(np.mean(list(gaps.values()))), min(gaps, key=gaps.__getitem__)
        bound = "at least −0.01"
        reached.append(Goal("Labels: mean AUC beside boosting", bound, f"{mean:+.4f}".replace("-", "−"), mean >= -0.01))
        shown = f"{gaps[worst]:+.4f} ({worst})".replace("-", "−")
        reached.append(Goal("Labels: worst AUC beside boosting", "at least −0.02", shown, gaps[worst] >= -0.02))
    for column, least in (("car", 0.985), ("adult", 0.866)):
        if column in whole:
            value = _mean(found, "target", column, "accuracy")
            reached.append(Goal(f"Labels, {column}: accuracy", f"at least {least:g}", f"{value:.4f}", value >= least))
    for column in whole:
        own, other = (_mean(found, row, column, "ece") for row in ("target", "boosting"))
        bound = f"at most {other + 0.005:.4f} (boosting + 0.005)"
        reached.append(Goal(f"Labels, {column}: calibration error", bound, f"{own:.4f}", own <= other + 0.005))
    return reached


def _mean(found: Findings, row: str, column: int | str, measure: str) -> float:
    value = found.mean(row, column, measure)
    assert value is not None
    return value


SECTION = Judged(
    "labelling", "Labels", ROWS, ("shares",), range(6), columns, load, measure, words, goals,
    measures=(
        Measure("auc", "AUC"),
        Measure("accuracy", "accuracy"),
        Measure("log_loss", "log-loss", more_is_better=False),
        Measure("ece", "expected calibration error", more_is_better=False),
        Measure("ece_if_calibrated", "that error if confidences were exactly right", more_is_better=None),
    ),
    ours=("target", "joint"),
    more_seeds=_MORE_SPLITS,
)  # fmt: skip
