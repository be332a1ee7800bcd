"""JointClassifier: label rows by the most probable label given their other cells."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from juror.answers.label_frames import free_name
from juror.errors import DataError, ParameterError, shortlist
from juror.estimators.base import JointEstimator, documented
from juror.readers import Column


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
    counts_ : PairCounts
        The counts of all batches, after ``partial_fit`` only.

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
        y = _check_labels(columns, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._target = free_name("target", [column.name for column in columns])
        label = Column(self._target, "code", np.arange(len(self.classes_)), codes)
        return self._fit_rows([*columns, label], sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of X and their labels y to the rows of earlier batches.

        {growing}

        Parameters
        ----------
        X : array-like or frame, (n_rows, n_features)
            The features of a batch.
        y : array-like, (n_rows,)
            Its labels.
        classes : array-like, (n_classes,), optional
            Labels to include in ``classes_`` even if no batch has them. Other labels are added when they occur.
        sample_weight : array-like, (n_rows,), optional
            The weight of each row.

        Examples
        --------
        >>> import juror
        >>> people = juror.datasets.titanic()[["Sex", "Age", "Survived"]]
        >>> survived = people.pop("Survived")
        >>> classifier = juror.JointClassifier(rank=2).partial_fit(people[:1000], survived[:1000])
        >>> classifier = classifier.partial_fit(people[1000:], survived[1000:])
        >>> round(classifier.score(people, survived), 2)
        0.78
        """
        first = not self._has_counts
        columns = self._batch(X)
        y = _check_labels(columns, y)
        labels = np.unique(y) if classes is None else _joined(np.unique(y), column_or_1d(classes))
        target = free_name("target", [column.name for column in columns])
        # By label, not by code: codes change when labels are added.
        label = Column(target, "category", labels.tolist(), np.searchsorted(labels, y))
        self._count([*columns, label], sample_weight)
        self.classes_ = labels if first else np.union1d(self.classes_, labels)
        self._target = target
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


def _check_labels(columns: list[Column], y: Any) -> np.ndarray:
    if y is None:
        raise DataError("JointClassifier requires y to be passed, but the target y is None.")
    y = column_or_1d(y, warn=True)
    check_consistent_length(columns[0].index, y)
    assert_all_finite(y, input_name="y")
    check_classification_targets(y)
    return y


def _joined(labels: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Return the sorted union of labels; refuse mixed types, which NumPy would turn into text."""
    try:
        sorted([*labels.tolist(), *classes.tolist()])
    except TypeError:
        raise ParameterError(
            f"classes must be labels of the same type as those of y, {shortlist(labels.tolist())}. Got "
            f"{shortlist(classes.tolist())} instead."
        ) from None
    return np.union1d(labels, classes)
