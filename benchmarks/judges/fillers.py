"""Imputers that juror is measured beside. Each fills the holes of a frame, given its columns of numbers and a seed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

_NEIGHBOURS = 5
# missForest: trees in a forest, and rounds over all columns
_TREES, _ROUNDS = 30, 2
_MICE_ROUNDS = 3


class _Encoded:
    """A frame as numbers: columns of numbers standardised, labels one-hot without the first, NaN for holes.

    With all labels, each would follow from the others of its column, and a regression would never move its first guess.
    """

    def __init__(self, frame: pd.DataFrame, numbers: list[str]):
        self.frame, self.numbers = frame, numbers
        self.labels = {name: np.unique(frame[name].dropna().astype(str)) for name in frame if name not in numbers}
        parts = []
        for name in frame:
            holes = frame[name].isna().to_numpy()
            if name in numbers:
                x = frame[name].to_numpy(dtype=float)[:, None]
                part = (x - np.nanmean(x)) / max(np.nanstd(x), 1e-12)
            else:
                part = (frame[name].astype(str).to_numpy()[:, None] == self.labels[name][1:]).astype(float)
                part[holes] = np.nan
            parts.append(part)
        self.x = np.concatenate(parts, axis=1)

    def decoded(self, x: np.ndarray) -> pd.DataFrame:
        """Return the frame with its holes filled from the same numbers without holes."""
        filled, at = self.frame.copy(), 0
        for name in self.frame:
            holes = self.frame[name].isna().to_numpy()
            if name in self.numbers:
                own = self.frame[name].to_numpy(dtype=float)
                filled[name] = np.where(holes, x[:, at] * np.nanstd(own) + np.nanmean(own), own)
                at += 1
            else:
                n = len(self.labels[name]) - 1
                chances = x[:, at : at + n]
                chances = np.concatenate([1 - chances.sum(axis=1, keepdims=True), chances], axis=1)
                guess = self.labels[name][chances.argmax(axis=1)]
                filled[name] = np.where(holes, guess, self.frame[name].astype(str).to_numpy())
                at += n
        return filled


def by_iterative(frame: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Fill by scikit-learn's IterativeImputer at its defaults (Bayesian ridge regressions in turn)."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    encoded = _Encoded(frame, numbers)
    return encoded.decoded(IterativeImputer(random_state=seed, keep_empty_features=True).fit_transform(encoded.x))


def by_knn(frame: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Fill by the mean of the nearest rows."""
    from sklearn.impute import KNNImputer

    encoded = _Encoded(frame, numbers)
    return encoded.decoded(KNNImputer(n_neighbors=_NEIGHBOURS, keep_empty_features=True).fit_transform(encoded.x))


def by_median(frame: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Fill with the median of each column of numbers and the most frequent label of the others."""
    return frame.fillna({name: frame[name].median() if name in numbers else frame[name].mode()[0] for name in frame})


def by_forests(frame: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Fill as missForest does: a random forest for each column in turn, from the others as they are filled so far."""
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    filled = by_median(frame, numbers, seed)
    labels = {name: np.unique(filled[name].astype(str)) for name in frame if name not in numbers}
    x = np.stack(
        [
            filled[name].to_numpy(dtype=float)
            if name in numbers
            else np.searchsorted(labels[name], filled[name].astype(str)).astype(float)
            for name in frame
        ],
        axis=1,
    )
    holes = frame.isna().to_numpy()
    options: dict[str, Any] = {"n_estimators": _TREES, "min_samples_leaf": 3, "random_state": seed, "n_jobs": -1}
    for _ in range(_ROUNDS):
        for n in np.argsort(holes.sum(axis=0), kind="stable"):
            if holes[:, n].any():
                forest = (RandomForestRegressor if frame.columns[n] in numbers else RandomForestClassifier)(**options)
                others = np.delete(x, n, axis=1)
                x[holes[:, n], n] = forest.fit(others[~holes[:, n]], x[~holes[:, n], n]).predict(others[holes[:, n]])
    for n, name in enumerate(frame):
        guess = x[:, n] if name in numbers else labels[name][x[:, n].astype(int)]
        filled[name] = np.where(holes[:, n], guess, filled[name] if name in numbers else filled[name].astype(str))
    return filled


def by_miceforest(frame: pd.DataFrame, numbers: list[str], seed: int) -> pd.DataFrame:
    """Fill by chained equations with gradient boosting and mean matching."""
    import miceforest

    typed = frame.astype({name: float if name in numbers else "category" for name in frame})
    kernel = miceforest.ImputationKernel(typed, num_datasets=1, random_state=seed)
    kernel.mice(_MICE_ROUNDS)
    return kernel.complete_data(0)
