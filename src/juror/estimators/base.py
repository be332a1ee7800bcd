"""The common base of the estimators: their parameters, reading X, and counting batches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

import narwhals as nw
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import validate_data

from juror.counts.counts import PairCounts
from juror.errors import FitWarning, ParameterError, warn
from juror.estimators.growing import check_fits_counts, grown_by
from juror.fitting import fit
from juror.fitting.plan import decide_for_statistic, read_options
from juror.model import JointPMF
from juror.readers import Column, open_source
from juror.readers.frames import column_names

# Inserted into the docstring of each estimator.
_PARAMETERS = """Parameters
    ----------
    rank : int or "auto", default="auto"
        The number of classes; ``"auto"`` chooses it on held-out rows, or learns it.
    method : str, default="auto"
        The solver, see :func:`juror.fit`; ``"auto"`` decides by the size of the table.
    n_init : int, optional
        The number of starts, for ``"em"`` and ``"ctf"``.
    ensemble : int or "auto", optional
        The number of fits to average, for ``"em"``.
    forest : bool or "auto", optional
        Whether variables may depend on each other within classes, for ``"em"`` and ``"bayes"``.
    smoothing : float, optional
        A pseudo-count for every cell, for all methods but ``"bayes"``.
    max_iter : int, optional
        The maximum number of passes over the rows from one start.
    tol : float, optional
        Stop when a step gains at most this, in nats per row.
    max_seconds : float, optional
        A budget of time. The search goes on in it while it helps, see :func:`juror.fit`.
    missing : list, optional
        Values that mark a missing cell, besides null and NaN.
    missing_as : dict, "auto", "all" or None, default=None
        Columns whose missing cells are a label, and the label, see :func:`juror.fit`; for ``fit`` only. A missing cell
        of such a column is information, and is not filled by an imputer.
    unknown : {"warn", "missing", "error"}, default="warn"
        What to do with labels that the training rows did not have: treat them as missing, with or without a warning,
        or refuse them.
    random_state : int, RandomState or None, default=0
        The random seed of starts, chains and held-out rows.
    n_jobs : int, optional
        The number of threads; all cores by default. The result depends on it only with ``max_seconds``."""

# Inserted into the docstring of each partial_fit.
_GROWING = """Batches are counted and not kept: they are added to ``counts_``, a :class:`juror.PairCounts`, and
        ``model_`` is fitted to the counts on first access after a batch. So ``method`` must be one that fits pair
        counts: ``"auto"``, which is ``"pair-em"`` here, ``"tree"``, ``"spa"``, ``"juror-a"``, ``"juror-b"`` or
        ``"juror-c"``. With ``rank="auto"`` the rank is chosen anew with every such fit, on a held-out part of the
        counts of all batches; the last four methods need a number.

        The first batch decides the kind of every column, so it should be typical. New labels in later batches are
        added. Columns of numbers keep the intervals of the first batch; numbers beyond fall into the outer intervals.
        """

_OPTIONS = ("n_init", "ensemble", "forest", "smoothing", "max_iter", "tol", "max_seconds")

E = TypeVar("E", bound=type)


def documented(estimator: E) -> E:
    """Replace ``{parameters}`` and ``{growing}`` in the docstrings of an estimator by the shared text."""
    estimator.__doc__ = (estimator.__doc__ or "").replace("{parameters}", _PARAMETERS)
    grow = estimator.partial_fit  # type: ignore[attr-defined]
    grow.__doc__ = (grow.__doc__ or "").replace("{growing}", _GROWING.rstrip())
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
        forest: bool | str | None = None,
        smoothing: float | None = None,
        max_iter: int | None = None,
        tol: float | None = None,
        max_seconds: float | None = None,
        missing: Any = None,
        missing_as: Any = None,
        unknown: str = "warn",
        random_state: Any = 0,
        n_jobs: int | None = None,
    ):
        self.rank = rank
        self.method = method
        self.n_init = n_init
        self.ensemble = ensemble
        self.forest = forest
        self.smoothing = smoothing
        self.max_iter = max_iter
        self.tol = tol
        self.max_seconds = max_seconds
        self.missing = missing
        self.missing_as = missing_as
        self.unknown = unknown
        self.random_state = random_state
        self.n_jobs = n_jobs

    model_: JointPMF
    n_iter_: int
    counts_: PairCounts
    _target: str | None = None

    if not TYPE_CHECKING:  # a type checker would accept every attribute

        def __getattr__(self, name: str) -> Any:
            # Not a property: a notebook that shows the estimator reads all properties, which would fit the model.
            if name not in ("model_", "n_iter_") or not self._has_counts:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            self.model_ = self._fit_model(self.counts_)
            return vars(self)[name]

    def __sklearn_is_fitted__(self) -> bool:
        return "model_" in vars(self) or self._has_counts

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def _columns(self, X: Any, *, reset: bool) -> list[Column]:
        """Check X as scikit-learn does and open its columns; the numbers of an array are values, not codes."""
        return open_source(self._table(X, reset=reset), self._markers)

    @property
    def _markers(self) -> Any:
        return () if self.missing is None else self.missing

    @property
    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _OPTIONS if getattr(self, name) is not None}

    def _table(self, X: Any, *, reset: bool) -> Any:
        """Return a frame as it is, and an array as a dict of named columns."""
        if reset:
            self._forget("model_", "n_iter_", "counts_")
        if _has_named_columns(X):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        X = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan")
        names = getattr(self, "feature_names_in_", [f"x{n}" for n in range(X.shape[1])])
        return {str(name): X[:, n] for n, name in enumerate(names)}

    def _forget(self, *names: str) -> None:
        for name in names:
            self.__dict__.pop(name, None)

    def _fit_rows(self, columns: list[Column], sample_weight: Any) -> Self:
        how = {"missing": self._markers, "missing_as": self.missing_as, "sample_weight": sample_weight}
        self.model_ = self._fit_model(columns, **how)
        return self

    def _fit_model(self, data: list[Column] | PairCounts, **reading: Any) -> JointPMF:
        seed = self.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31))
        model = fit(
            data,
            rank=self.rank,
            method=self.method,
            seed=int(seed),
            target=self._target,
            n_jobs=self.n_jobs,
            **reading,
            **self._options,
        )
        assert model.info is not None
        self.n_iter_ = model.info.n_iter
        return model

    @property
    def _has_counts(self) -> bool:
        return "counts_" in vars(self)

    def _batch(self, X: Any) -> list[Column]:
        """Open the columns of a batch; the first batch decides their names."""
        check_fits_counts(self.method, self.rank)
        if self.missing_as:
            raise ParameterError("missing_as needs all rows at once, and partial_fit sees batches. Leave it out.")
        if "model_" in vars(self) and not self._has_counts:
            warn(
                FitWarning(
                    "fit keeps no counts to add to, so counting begins with this batch, and the model that was fitted "
                    "is discarded. Use partial_fit from the first batch on."
                )
            )
        return self._columns(X, reset=not self._has_counts)

    def _count(self, columns: list[Column], sample_weight: Any) -> Self:
        """Add the counts of a batch; if it is refused, the estimator does not change."""
        counts = grown_by(vars(self).get("counts_"), columns, self._markers, sample_weight, self.n_jobs)
        method = decide_for_statistic(counts, self.rank, self.method, self._options).method
        # Check the options now, not when the model is fitted later.
        read_options(method, self._options)
        self._forget("model_", "n_iter_")
        self.counts_ = counts
        return self


def _has_named_columns(X: Any) -> bool:
    """Return whether X is a frame whose column names are text; scikit-learn treats other frames as arrays."""
    return nw.dependencies.is_into_dataframe(X) and all(isinstance(name, str) for name in column_names(X))


def as_array(columns: Mapping[str, Any], dtype: Any) -> np.ndarray:
    """Stack columns into an array."""
    return np.column_stack([np.asarray(column) for column in columns.values()]).astype(dtype, copy=False)
