"""Rubin's rules: one estimate, its standard error and its interval from several completed tables.

With the estimates q_1 … q_m of m tables and their variances u_1 … u_m:

    W = mean of u,   B = variance of q (divided by m − 1),   T = W + (1 + 1/m) B,   λ = (1 + 1/m) B / T

W is the variance without missing cells, and λ the share of T that comes from them. The degrees of freedom are
ν_m = (m − 1) / λ² for a statistic that would have a normal distribution if no cell were missing. One that would have ν
degrees of freedom keeps ν_seen = (ν + 1) / (ν + 3) ν (1 − λ) of them, and 1 / (1 / ν_m + 1 / ν_seen) are left (Barnard
and Rubin, 1999). The fraction of missing information is λ + (1 − λ) 2 / (ν_m + 3) (Rubin, 1987). Other programs put the
degrees of freedom that are left here. Then few rows look like missing information even if no cell is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.table_texts import align
from juror.errors import DataError, ParameterError, shortlist, wrong

if TYPE_CHECKING:
    import pandas as pd

# Digits that are shown
_DIGITS = 4


@dataclass(frozen=True, eq=False)
class PooledEstimate:
    """An estimate from several completed tables; numbers, or arrays of the shape of the estimate.

    Attributes
    ----------
    estimate : float or numpy.ndarray
        The mean of the estimates of all tables.
    standard_error : float or numpy.ndarray
        √T: it includes the uncertainty about the missing cells.
    degrees_of_freedom : float or numpy.ndarray
        Those of the t distribution of the interval; infinite where it is normal.
    low, high : float or numpy.ndarray
        The ends of the interval.
    missing_information : float or numpy.ndarray
        The fraction of the information about the estimate that is missing, between 0 and 1. It is often lower than the
        share of missing cells, as other cells of a row tell about them.
    within, between : float or numpy.ndarray
        W, the mean variance of the tables, and B, the variance of their estimates.
    n_tables : int
        The number of tables m.
    level : float
        The confidence level of the interval.
    names : tuple
        The names of several estimates, if the statistic returned a pandas series; otherwise their numbers.
    """

    estimate: Any
    standard_error: Any
    degrees_of_freedom: Any
    low: Any
    high: Any
    missing_information: Any
    within: Any
    between: Any
    n_tables: int
    level: float
    names: tuple[Any, ...] = (0,)

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with one row per estimate."""
        import pandas as pd

        shown = ("estimate", "standard_error", "low", "high", "degrees_of_freedom", "missing_information")
        return pd.DataFrame({name: np.ravel(getattr(self, name)) for name in shown}, index=list(self.names))

    def __str__(self) -> str:
        head = ["", "estimate", "error", f"{100 * self.level:g} % from", "to", "df", "missing information"]
        parts = (self.estimate, self.standard_error, self.low, self.high, self.degrees_of_freedom)
        rows = zip(*(np.ravel(part) for part in (*parts, self.missing_information)), strict=True)
        body = [[str(name), *map(_text, row)] for name, row in zip(self.names, rows, strict=True)]
        if np.ndim(self.estimate) == 0:
            head, body = head[1:], [row[1:] for row in body]
        return f"pooled from {self.n_tables} tables\n" + align(head, body, 0)

    __repr__ = __str__


def pool(
    tables: Iterable[Any],
    statistic: Callable[[Any], tuple[Any, Any]],
    *,
    level: float = 0.95,
    complete_df: float | None = None,
) -> PooledEstimate:
    """Pool a statistic of several completed tables by Rubin's rules.

    Parameters
    ----------
    tables : iterable
        At least two tables whose missing cells were filled at random, such as ``model.impute(data, draws=20)``.
    statistic : callable
        Takes a table and returns an estimate and its variance, the square of its standard error: two numbers, or two
        arrays of one shape, for several estimates at once.
    level : float
        The confidence level of the interval.
    complete_df : float, optional
        The degrees of freedom that the estimate would have if no cell were missing, such as n − 1 for a mean of n rows.
        By default they are infinite, which is right for large tables.

    Returns
    -------
    PooledEstimate

    Examples
    --------
    >>> import juror
    >>> tables = [[1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [1.0, 2.0, 3.5]]
    >>> def mean(table):
    ...     return np.mean(table), np.var(table, ddof=1) / len(table)
    >>> juror.pool(tables, mean, complete_df=2)
    pooled from 3 tables
    estimate   error  95 % from     to     df  missing information
       2.167  0.7638     -5.377  9.711  1.121              0.06724
    """
    _check(tables, statistic, level, complete_df)
    answers = [_Answer.of(statistic(table), number) for number, table in enumerate(tables, 1)]
    if len(answers) < 2:
        raise DataError(
            "pool needs at least 2 completed tables. Got {n}. Pass model.impute(data, {draws:=20}).", n=len(answers)
        )
    kinds = list(dict.fromkeys(each.kind for each in answers))
    if len(kinds) > 1:
        raise DataError(
            f"statistic must return the same estimates for every table. It returned {kinds[0]}, and later {kinds[1]}."
        )
    estimates, variances = (np.stack([getattr(each, part) for each in answers]) for part in ("estimate", "variance"))
    return _pooled(estimates, variances, answers[0].names, level, complete_df)


def _pooled(
    estimates: np.ndarray, variances: np.ndarray, names: tuple[Any, ...], level: float, complete_df: float | None
) -> PooledEstimate:
    """Pool the estimates and variances of all tables, (m, …)."""
    m = len(estimates)
    estimate, within, between = estimates.mean(axis=0), variances.mean(axis=0), estimates.var(axis=0, ddof=1)
    added = (1 + 1 / m) * between
    total = within + added
    # Where nothing varies, nothing is missing.
    share = np.divide(added, total, out=np.zeros_like(total), where=total > 0)
    df = _degrees_of_freedom(share, m, complete_df)
    missing = share + (1 - share) * 2 / (_degrees_of_freedom(share, m, None) + 3)
    error = np.sqrt(total)
    reach = np.where(error > 0, _quantile(df, level) * np.where(error > 0, error, 1.0), 0.0)
    ends = estimate - reach, estimate + reach
    arrays = (estimate, error, df, *ends, missing, within, between)
    # The parts of a single estimate are plain numbers.
    parts: tuple[Any, ...] = tuple(each if each.ndim else float(each) for each in arrays)
    known: tuple[Any, ...] = (m, float(level), names)
    return PooledEstimate(*parts + known)


def _degrees_of_freedom(share: np.ndarray, m: int, complete: float | None) -> np.ndarray:
    """Return the degrees of freedom, given the share of the variance that comes from missing cells."""
    by_tables = np.divide(share**2, m - 1)
    by_rows = np.zeros_like(share)
    if complete is not None and np.isfinite(complete):
        left = (complete + 1) / (complete + 3) * complete * (1 - share)
        by_rows = np.divide(1.0, left, out=np.full_like(share, np.inf), where=left > 0)
    inverse = by_tables + by_rows
    return np.divide(1.0, inverse, out=np.full_like(share, np.inf), where=inverse > 0)


def _quantile(df: np.ndarray, level: float) -> np.ndarray:
    """Return the upper end of the central part of a t distribution; infinite without a degree of freedom."""
    from scipy.special import ndtri, stdtrit  # slow to import

    upper = (1 + level) / 2
    finite = np.isfinite(df) & (df > 0)
    inside = stdtrit(np.where(finite, df, 1.0), upper)
    return np.where(finite, inside, np.where(df > 0, ndtri(upper), np.inf))


@dataclass(frozen=True, eq=False)
class _Answer:
    """The estimate and the variance of one table, two arrays of one shape, and the names of the estimates."""

    estimate: np.ndarray
    variance: np.ndarray
    names: tuple[Any, ...]

    @classmethod
    def of(cls, answer: Any, number: int) -> _Answer:
        """Check what a statistic returned for the table of a number."""
        try:
            estimate, variance = (np.array(part, dtype=float) for part in answer)
        except (TypeError, ValueError):
            raise DataError(
                f"statistic must return an estimate and its variance, two numbers or two arrays. Got {answer!r} from "
                f"table {number}."
            ) from None
        if estimate.shape != variance.shape:
            raise DataError(
                f"statistic must return as many variances as estimates. Got the shapes {estimate.shape} and "
                f"{variance.shape} from table {number}; of a covariance matrix, pass the diagonal."
            )
        if not (np.all(np.isfinite(estimate)) and np.all(np.isfinite(variance)) and np.all(variance >= 0)):
            raise DataError(
                f"statistic must return finite estimates, and variances of at least 0. Got {answer!r} from table "
                f"{number}."
            )
        first = next(iter(answer))
        # Coefficients of a regression may come as a pandas series, with their names as its index.
        named = hasattr(first, "iloc") and len(first.index) == estimate.size
        return cls(estimate, variance, tuple(first.index) if named else tuple(range(estimate.size)))

    @property
    def kind(self) -> str:
        """What is estimated, in words."""
        numbered = self.names == tuple(range(self.estimate.size))
        return f"an array of shape {self.estimate.shape}" if numbered else shortlist(self.names)


def _check(tables: Any, statistic: Any, level: Any, complete_df: Any) -> None:
    is_one = hasattr(tables, "columns") or (isinstance(tables, np.ndarray) and tables.ndim < 3)
    if is_one or isinstance(tables, (str, bytes, dict)) or not isinstance(tables, Iterable):
        raise DataError(
            "pool takes a list of completed tables. Got one {kind}. Pass model.impute(data, {draws:=20}).",
            kind=type(tables).__name__,
        )
    if not callable(statistic):
        raise wrong("statistic", "a function of a table that returns an estimate and its variance", statistic)
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise wrong("level", "a number in the range (0, 1)", level)
    known = isinstance(complete_df, (int, float, np.number)) and not isinstance(complete_df, bool)
    if complete_df is not None and not (known and complete_df > 0):
        raise ParameterError(f"complete_df must be a number above 0, or None. Got {complete_df!r} instead.")


def _text(number: float) -> str:
    return f"{number:.{_DIGITS}g}"
