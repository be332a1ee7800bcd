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
from juror.sources.tables import column_names

# told once, and shown by help() on each of the estimators
_PARAMETERS = """Parameters
    ----------
    rank : int or "auto", default="auto"
        The number of classes; ``"auto"`` chooses it on held-out rows, or learns it.
    method : str, default="auto"
        The solver, see :func:`juror.fit`; ``"auto"`` decides by the size of the table.
    n_init : int, optional
        How many starts, for ``"em"`` and ``"ctf"``.
    ensemble : int or "auto", optional
        How many fits to average, for ``"em"``.
    smoothing : float, optional
        A pseudo-count for every cell, for all methods but ``"bayes"``.
    max_iter : int, optional
        The most passes over the rows from one start.
    tol : float, optional
        Stop when a step gains at most this, in nats a row.
    max_seconds : float, optional
        A budget of time.
    missing : list, optional
        Markers that stand for a missing value besides null and NaN.
    unknown : {"warn", "missing", "error"}, default="warn"
        What to do with labels that were not there when fitting: treat them as missing, with a warning or without, or
        refuse them.
    random_state : int, RandomState or None, default=0
        Where chance comes from: starts, chains and rows held out.
    n_jobs : int, optional
        How many threads; all cores by default. The result does not depend on it but with ``max_seconds``."""

_OPTIONS = ("n_init", "ensemble", "smoothing", "max_iter", "tol", "max_seconds")

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
        method: str = "auto",
        n_init: int | None = None,
        ensemble: int | str | None = None,
        smoothing: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        max_seconds: float | None = None,
        missing: Any = None,
        unknown: str = "warn",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.rank = rank
        self.method = method
        self.n_init = n_init
        self.ensemble = ensemble
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.max_seconds = max_seconds
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
        given = {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}
        model = fit(
            columns,
            rank=self.rank,
            method=self.method,
            seed=int(seed),
            missing=() if self.missing is None else self.missing,
            sample_weight=sample_weight,
            target=target,
            n_jobs=self.n_jobs,
            **given,
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
