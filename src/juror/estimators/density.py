"""JointDensity: the joint distribution as a scikit-learn density estimator."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from juror.answers.scores import mean_log_prob
from juror.answers.typed_frames import library_of, with_types
from juror.estimators.base import JointEstimator, documented
from juror.readers.frame_types import FrameType


@documented
class JointDensity(DensityMixin, JointEstimator):
    """Estimate the joint distribution of the columns of X.

    {parameters}

    Attributes
    ----------
    model_ : JointPMF
        The fitted joint distribution.
    counts_ : PairCounts
        The counts of all batches, after ``partial_fit`` only.

    Examples
    --------
    >>> import juror
    >>> density = juror.JointDensity(rank=4, method="em").fit(juror.datasets.titanic())
    >>> round(density.score(juror.datasets.titanic()), 2)
    -2.35
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the joint distribution of the columns of X; y is not used."""
        self._fit_rows(self._columns(X, reset=True), sample_weight)
        self._frame = _type_of_frame(X)
        return self

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of X to the rows of earlier batches; y is not used.

        {growing}

        Examples
        --------
        >>> import juror
        >>> people = juror.datasets.titanic()[["Sex", "Age", "Survived"]]
        >>> density = juror.JointDensity(rank=2)
        >>> for start in range(0, len(people), 1000):
        ...     density = density.partial_fit(people[start : start + 1000])
        >>> density.counts_
        PairCounts(3 variables, 3 tables, 2,201 rows)
        >>> round(density.score(people), 2)
        -1.24
        """
        self._count(self._batch(X), sample_weight)
        self._frame = _type_of_frame(X)
        return self

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the log-probability of every row, (n_rows,)."""
        check_is_fitted(self)
        return self.model_.log_prob(self._columns(X, reset=False), unknown=self.unknown)  # type: ignore[arg-type]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-probability per row; higher is better."""
        return mean_log_prob(self.score_samples(X))

    def sample(self, n_samples: int = 1, *, random_state: int = 0) -> Any:
        """Draw rows, as a frame of the kind that was fitted, or as an array if an array was fitted."""
        check_is_fitted(self)
        if self._frame is None:
            return self.model_.sample(n_samples, seed=random_state, frame="pandas").to_numpy()
        drawn = self.model_.sample(n_samples, seed=random_state, frame=library_of(self._frame))
        return with_types(drawn, self.model_.domain.variables, self._frame)


def _type_of_frame(X: Any) -> FrameType | None:
    return FrameType.of(X) if nw.dependencies.is_into_dataframe(X) else None
