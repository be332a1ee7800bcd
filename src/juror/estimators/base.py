"""What the estimators share: their parameters, and how X becomes columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from juror.fitting import fit
from juror.model import JointPMF
from juror.sources import Column, open_source
from juror.sources.opening import column_names

# told once, and shown by help() on each of the estimators
_PARAMETERS = """Parameters
    ----------
    rank : int or "auto", default="auto"
        The number of classes; ``"auto"`` chooses it on held-out rows.
    n_init : int, default=3
        How many random starts.
    smoothing : float, default=0.1
        A pseudo-count for every cell.
    max_iter : int, default=1000
        The most passes over the rows from one start.
    tol : float, default=1e-6
        Stop when a step gains at most this, in nats a row.
    missing : list, optional
        Markers that stand for a missing value besides null and NaN.
    unknown : {"warn", "missing", "error"}, default="warn"
        What to do with labels that were not there when fitting: treat them as missing, with a warning or without, or
        refuse them.
    random_state : int, RandomState or None, default=0
        Where the random starts come from.
    n_jobs : int, optional
        How many threads; all cores by default. The result does not depend on it."""

E = TypeVar("E", bound=type)


def documented(estimator: E) -> E:
    """Write the shared parameters into the docstring of an estimator, where it says ``{parameters}``."""
    estimator.__doc__ = (estimator.__doc__ or "").replace("{parameters}", _PARAMETERS)
    return estimator


class JointEstimator(BaseEstimator):
    """Base of the estimators: holds the parameters and fits the model."""

    def __init__(
        self,
        rank: int | str = "auto",
        *,
        n_init: int = 3,
        smoothing: float = 0.1,
        max_iter: int = 1000,
        tol: float = 1e-6,
        missing: Any = None,
        unknown: str = "warn",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.rank = rank
        self.n_init = n_init
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.missing = missing
        self.unknown = unknown
        self.random_state = random_state
        self.n_jobs = n_jobs

    n_iter_: int

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _columns(self, X: Any, *, reset: bool) -> list[Column]:
        """Check X as scikit-learn does and open its columns; the numbers of an array are values, not codes."""
        return open_source(self._table(X, reset=reset), () if self.missing is None else self.missing)

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Return a frame as it is, and an array as a dict of named columns."""
        if _has_named_columns(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names = getattr(self, "feature_names_in_", [f"x{n}" for n in range(X.shape[1])])
        return {str(name): X[:, n] for n, name in enumerate(names)}

    def _fit_model(self, columns: list[Column], sample_weight: Any, target: str | None = None) -> JointPMF:
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31))
        model = fit(
            columns,
            rank=self.rank,
            seed=int(seed),
            missing=() if self.missing is None else self.missing,
            sample_weight=sample_weight,
            target=target,
            n_init=self.n_init,
            smoothing=self.smoothing,
            max_iter=self.max_iter,
            tol=self.tol,
            n_jobs=self.n_jobs,
        )
        assert model.info is not None
        self.n_iter_ = model.info.n_iter
        return model


def _has_named_columns(X: Any) -> bool:
    """Tell whether X is a frame whose columns are named by text; scikit-learn takes other frames as arrays."""
    return nw.dependencies.is_into_dataframe(X) and all(isinstance(name, str) for name in column_names(X))


def as_array(columns: Mapping[str, Any], dtype: Any) -> np.ndarray:
    """Put columns side by side."""
    return np.column_stack([np.asarray(column) for column in columns.values()]).astype(dtype, copy=False)
