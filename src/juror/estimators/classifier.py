"""JointClassifier: label rows by the most probable label given their other cells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from juror.errors import DataError
from juror.estimators.base import JointEstimator, documented
from juror.sources import Column


@documented
class JointClassifier(ClassifierMixin, JointEstimator):
    """Classify rows by the joint distribution of features and label; missing cells are summed out.

    {parameters}

    Attributes
    ----------
    model_ : JointPMF
        The joint distribution of features and label.
    classes_ : numpy.ndarray
        The labels, in the order of the columns of ``predict_proba``.

    Examples
    --------
    >>> import juror
    >>> people = juror.datasets.titanic()
    >>> survived = people.pop("Survived")
    >>> classifier = juror.JointClassifier(rank=6).fit(people, survived)
    >>> round(classifier.score(people, survived), 2)
    0.79
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the joint distribution of the columns of X and the label y."""
        columns = self._columns(X, reset=True)
        if y is None:
            raise DataError("JointClassifier requires y to be passed, but the target y is None.")
        y = column_or_1d(y, warn=True)
        check_consistent_length(columns[0].index, y)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._target = _free_name("target", [column.name for column in columns])
        label = Column(self._target, "code", np.arange(len(self.classes_)), codes)
        self.model_ = self._fit_model([*columns, label], sample_weight, self._target)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of every label for every row, (n_rows, n_classes)."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        return self.model_.predict_proba(columns, self._target, unknown=self.unknown)  # type: ignore[arg-type]

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable label of every row, (n_rows,)."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]


def _free_name(name: str, taken: list[str]) -> str:
    while name in taken:
        name += "_"
    return name
