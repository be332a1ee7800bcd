"""Row weights: how often each row counts, from a column or an array beside the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juror.errors import DataError, DataWarning, Message, ParameterError, shortlist, warn
from juror.readers.columns import Column

# Up to here floats count exactly.
MOST_WEIGHT = 2.0**53
_LEAST_WEIGHT = 1e-150


@dataclass(frozen=True)
class WeightSums:
    """What is known of the weights of some rows; those of two parts add up.

    Attributes
    ----------
    n_counted : int
        The number of rows with weights above zero.
    total, squares : float
        The sum of the weights, and of their squares.
    are_whole : bool
        Whether every weight is a whole number. Whole weights count equal rows; fractions are survey weights.
    """

    n_counted: int = 0
    total: float = 0.0
    squares: float = 0.0
    are_whole: bool = True

    @classmethod
    def of(cls, weights: np.ndarray) -> WeightSums:
        """Sum up weights, (n_rows,).

        >>> WeightSums.of(np.array([0.5, 2.5, 0.0]))
        WeightSums(n_counted=2, total=3.0, squares=6.5, are_whole=False)
        """
        are_whole = bool(np.all(weights == np.floor(weights)))
        # Weights whose sums or squares are beyond all floats are refused by check.
        with np.errstate(over="ignore"):
            total, squares = float(weights.sum()), float(np.square(weights).sum())
        return cls(int(np.count_nonzero(weights)), total, squares, are_whole)

    @classmethod
    def of_rows(cls, weights: np.ndarray | None, n_rows: int) -> WeightSums:
        """Sum up the weights of rows; without weights every row counts once."""
        return cls(n_rows, float(n_rows), float(n_rows)) if weights is None else cls.of(weights)

    def __add__(self, other: WeightSums) -> WeightSums:
        return WeightSums(
            self.n_counted + other.n_counted,
            self.total + other.total,
            self.squares + other.squares,
            self.are_whole and other.are_whole,
        )

    @property
    def n_effective(self) -> float | None:
        """How many independent rows fractions are worth: (Σ w)² / Σ w² (Kish), at most Σ w; None for whole weights."""
        return None if self.are_whole else min(self.total**2 / self.squares, self.total)

    @property
    def worth(self) -> float:
        """The number of independent rows that a weight of one is worth: one for whole weights, and never more."""
        return 1.0 if self.are_whole or self.squares == 0 else min(1.0, self.total / self.squares)

    def check(self) -> None:
        """Refuse weights that are all zero or too large to be exact; warn of sums that look wrong."""
        if self.n_counted == 0:
            raise ParameterError(Message("{sample_weight} is zero in every row. At least one must count."))
        if self.total < _LEAST_WEIGHT:
            raise ParameterError(
                "{sample_weight} sums to {total:g}, and floats cannot square numbers below {least:g}. Scale it.",
                total=self.total,
                least=_LEAST_WEIGHT,
            )
        if self.total > MOST_WEIGHT:
            raise ParameterError(
                "{sample_weight} sums to {total:g}, and counts are exact up to {most:g} only. Scale it.",
                total=self.total,
                most=MOST_WEIGHT,
            )
        warning = None
        if self.total < self.n_counted / 10:
            warning = Message(
                "{sample_weight} sums to {total:g} for {n} rows. Weights count rows, so these say little beside the "
                "smoothing; scale them, for example to a mean of one.",
                total=self.total,
                n=self.n_counted,
            )
        # Counts may be as large as they are.
        elif self.total > 2 * self.n_counted and not self.are_whole:
            warning = Message(
                "{sample_weight} sums to {total:g} for {n} rows, in fractions. Weights count rows, so these stand for "
                "more rows than there are; scale them to a mean of one.",
                total=self.total,
                n=self.n_counted,
            )
        if warning is not None:
            warn(DataWarning(warning))


def check_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return row weights as floats: one per row, finite, non-negative, not all zero."""
    weights = read_weights(sample_weight, n_rows)
    WeightSums.of(weights).check()
    return weights


def read_weights(sample_weight: Any, n_rows: int) -> np.ndarray:
    """Return row weights as floats: one per row, finite, non-negative; their sum is not checked."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        listed = sample_weight if isinstance(sample_weight, (list, tuple)) else [sample_weight]
        raise ParameterError("{sample_weight} must be numbers, one a row. Got {got}.", got=shortlist(listed)) from None
    if weights.shape != (n_rows,):
        raise ParameterError(
            "{sample_weight} must have shape ({n},), one a row. Got {got} instead.", n=n_rows, got=weights.shape
        )
    check_rows(weights)
    return weights


def take_weights(columns: Sequence[Column], name: str) -> tuple[list[Column], np.ndarray]:
    """Split columns into the others and the weights."""
    others = [column for column in columns if column.name != name]
    found = [column for column in columns if column.name == name]
    if not found or not others:
        raise ParameterError("{sample_weight} names no column beside others: {name!r}.", name=name)
    (column,) = found
    if column.form not in ("number", "code") or column.calendar is not None or np.any(column.index < 0):
        # the form of a column without rows is not known
        if len(column.index) == 0:
            return others, np.empty(0)
        raise DataError(f"Column {name!r} must hold a number in every row to be the weights.")
    weights = np.asarray(column.values, dtype=np.float64)[column.index]
    check_rows(weights, column)
    return others, weights


def counted_rows(
    columns: Sequence[Column], weight: str | None
) -> tuple[list[Column], np.ndarray | None, np.ndarray | slice]:
    """Take out the column of weights, if there is one, and drop the rows of weight zero.

    Returns the other columns, the weights (n_counted,) or None, and an index (mask or slice) of the rows that are kept.
    """
    if weight is None:
        return list(columns), None, slice(None)
    others, weights = take_weights(columns, weight)
    counted = weights > 0
    if np.all(counted):
        return others, weights, slice(None)
    return [replace(column, index=column.index[counted]) for column in others], weights[counted], counted


def check_rows(weights: np.ndarray, column: Column | None = None) -> None:
    """Refuse weights (n_rows,) that are negative or not finite; a column is named in the message."""
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(wrong):
        row = int(wrong[0])
        where = f"row {row}" if column is None else column.row_in_words(row)
        raise ParameterError(
            "{sample_weight} must be finite and not negative. Got {got} in {where}.", got=weights[row], where=where
        )
