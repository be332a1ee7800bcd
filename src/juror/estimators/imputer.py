"""JointImputer: fill missing cells with their most probable labels given the other cells of the row."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
from sklearn.base import OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from juror.estimators.base import JointEstimator, as_array, documented


@documented
class JointImputer(OneToOneFeatureMixin, TransformerMixin, JointEstimator):
    """Fill every missing cell with its most probable label, or number, given the observed cells of its row.

    Columns of numbers are filled with the median given the observed cells, as :meth:`juror.JointPMF.impute` says. For
    random draws instead, as in multiple imputation, use ``imputer.model_.impute(X, draws=…)``.

    {parameters}

    Attributes
    ----------
    model_ : JointPMF
        The joint distribution of the columns.
    counts_ : PairCounts
        The counts of all batches, after ``partial_fit`` only.

    Examples
    --------
    >>> import juror
    >>> import pandas as pd
    >>> imputer = juror.JointImputer(rank=4, method="em").fit(juror.datasets.titanic())
    >>> holes = pd.DataFrame([["1st", "Female", None, None]], columns=["Class", "Sex", "Age", "Survived"])
    >>> imputer.transform(holes)
      Class     Sex    Age Survived
    0   1st  Female  Adult      Yes
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the joint distribution of the columns of X; y is not used."""
        return self._fit_rows(self._columns(X, reset=True), sample_weight)

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of X to the rows of earlier batches; y is not used.

        {growing}

        Examples
        --------
        >>> import juror
        >>> people = juror.datasets.titanic()[["Sex", "Age", "Survived"]]
        >>> imputer = juror.JointImputer(rank=2).partial_fit(people[:1000]).partial_fit(people[1000:])
        >>> imputer.transform(people[:1].assign(Survived=None))
            Sex    Age Survived
        0  Male  Child       No
        """
        return self._count(self._batch(X), sample_weight)

    def transform(self, X: Any) -> Any:
        """Return X with its missing cells filled: a frame for a frame, an array for an array."""
        check_is_fitted(self)
        table = self._table(X, reset=False)
        filled = self.model_.impute(table, unknown=self.unknown)  # type: ignore[arg-type]
        if nw.dependencies.is_into_dataframe(X):
            return filled
        dtype = check_array(X, dtype=None, ensure_all_finite="allow-nan").dtype
        return as_array({name: filled[name] for name in table}, dtype)
