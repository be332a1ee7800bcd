"""Columns of numbers as they are searched for formulas: their numbers, and how exact these are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.domain.grid import EXACT
from juror.domain.variable import Variable
from juror.readers import Column

# The most rows of a column that are kept, and the fewest that are enough to find something
_MOST_ROWS, FEWEST_ROWS = 50_000, 50
# A column may have a formula if half a step of its decimals is at most the first share of its spread. Its formula may
# be one step off, as a sum of rounded parts often is, if a step is at most the second share.
_FINE, _FINEST = 0.025, 0.005
# Errors of floats: as a share of the step, or of the spread if a column has no step
_OF_STEP, _OF_SPREAD = 1e-4, 1e-6
# Errors of computing with the largest number, in units of its last place
_ULPS = 8
# The squares of larger numbers, and of smaller spreads, overflow or underflow.
_LARGEST, _SMALLEST_SPREAD = 1e100, 1e-100


@dataclass(frozen=True, eq=False)
class Measured:
    """A column of numbers, for the search of formulas.

    Attributes
    ----------
    numbers : numpy.ndarray, (n_rows,)
        Its numbers in some rows, NaN where missing.
    step : float
        The step of its decimals, 0 if it has none; for a column of labels, the smallest difference of two labels.
    has_intervals : bool
        Whether the column can have all numbers of its grid; otherwise it has only its labels.
    nanoseconds : int
        Of dates and times, how long one unit of their calendar is; zero of other numbers.
    """

    numbers: np.ndarray
    step: float
    has_intervals: bool = True
    nanoseconds: int = 0

    @classmethod
    def of(cls, variable: Variable, pieces: Iterable[Column]) -> Measured | None:
        """Measure the pieces of a column, in evenly spread rows if it has many; None if they do not hold numbers."""
        found = [observed_numbers(variable, piece) for piece in pieces]
        if any(numbers is None for numbers in found):
            return None
        numbers = np.concatenate([each for each in found if each is not None])
        numbers = numbers[np.linspace(0, len(numbers) - 1, min(_MOST_ROWS, len(numbers))).astype(np.int64)]
        if variable.edges is None:
            return cls(numbers, float(np.diff(np.sort(variable.present_labels)).min(initial=1.0)), has_intervals=False)
        unit = 0 if variable.calendar is None else variable.calendar.nanoseconds
        return cls(numbers, variable.inside.law.grid.step, nanoseconds=unit)

    @property
    def is_usable(self) -> bool:
        """Whether the numbers vary, and neither they nor their squares overflow."""
        if self.spread < _SMALLEST_SPREAD:
            return False
        largest = float(np.nanmax(np.abs(self.numbers)))
        return largest < _LARGEST and (self.step == 0 or largest / self.step < EXACT)

    @property
    def is_fine(self) -> bool:
        """Whether a step is so small that being one step off does not matter."""
        return self.step <= _FINEST * self.spread

    @property
    def can_be_target(self) -> bool:
        """Whether the numbers are so exact that a formula for them cannot hold by chance."""
        return self.has_intervals and self.near <= _FINE * self.spread

    @cached_property
    def near(self) -> float:
        """How near a number must be to count as equal."""
        return self._within(1.0 if self.is_fine else 0.5)

    @cached_property
    def nearest(self) -> float:
        """How near a number must be to be equal once it is rounded."""
        return self._within(0.5)

    @cached_property
    def coarseness(self) -> float:
        """How large a step is beside the spread."""
        return self.nearest / self.spread

    @property
    def rounding(self) -> float:
        """How far sums of floats may be off a number because each was rounded."""
        return float(_ULPS * np.spacing(np.nanmax(np.abs(self.numbers))))

    def _within(self, steps: float) -> float:
        return (steps + _OF_STEP) * self.step if self.step else _OF_SPREAD * self.spread

    @cached_property
    def spread(self) -> float:
        """The distance between the quartiles of the numbers besides the most frequent one; 0 if these are few."""
        others = self.numbers[~self.is_usual & np.isfinite(self.numbers)]
        return float(np.subtract(*np.quantile(others, (0.75, 0.25)))) if len(others) >= FEWEST_ROWS else 0.0

    @cached_property
    def is_usual(self) -> np.ndarray:
        """Whether a number is the most frequent one of the column, (n_rows,) of bool."""
        values, counts = np.unique(self.numbers[np.isfinite(self.numbers)], return_counts=True)
        return np.asarray(self.numbers == values[np.argmax(counts)]) if len(values) else np.isnan(self.numbers)


def observed_numbers(variable: Variable, column: Column) -> np.ndarray | None:
    """Return the numbers of a column as floats, (rows,), NaN where a cell is missing; None if it holds no numbers."""
    if not len(column.values):
        return np.full(len(column.index), np.nan)
    if column.form == "number":
        values = np.asarray(variable.own_numbers(column), dtype=np.float64)
    elif column.form == "code" and variable.edges is None:
        values = np.array(variable.present_labels, dtype=np.float64)
    elif column.form in ("text", "category"):
        found = [variable.number(value) for value in column.values]
        values = np.array([np.nan if number is None else float(number) for number in found])
        values[~np.isfinite(values)] = np.nan
    else:
        return None
    is_there = (column.index >= 0) & (column.index < len(values))
    return np.append(values, np.nan)[np.where(is_there, column.index, len(values))]
