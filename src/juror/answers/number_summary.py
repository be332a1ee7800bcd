"""Mean, standard deviation and median of a number, from the probabilities of its intervals, and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.answers.numbers import as_cells, check_numeric, moments, quantiles_of
from juror.domain.variable import Variable
from juror.readers.exact_numbers import Number, as_float
from juror.readers.tallies import Tally

# Standard deviations are written with three digits, and means to the same place
_DIGITS = 3
_MOST_PLACES = 12
_UNITS = {"D": "days", "s": "seconds", "ms": "milliseconds", "us": "microseconds", "ns": "nanoseconds"}
# The longest first
_SECONDS = {
    "days": 86_400.0,
    "hours": 3_600.0,
    "minutes": 60.0,
    "seconds": 1.0,
    "milliseconds": 1e-3,
    "microseconds": 1e-6,
    "nanoseconds": 1e-9,
}


@dataclass(frozen=True)
class NumberSummary:
    """Where a number lies: its mean, its standard deviation and its median, in the units of the column.

    Of dates and times, mean and median are dates and times, and the standard deviation has a ``unit``.

    Examples
    --------
    >>> print(NumberSummary(38.5816, 13.6402, 37))
    mean 38.6, standard deviation 13.6, median 37
    """

    mean: Any
    std: float
    median: Any
    unit: str | None = None

    def __str__(self) -> str:
        mean, median = (str(value).removesuffix(" 00:00:00") for value in (self.mean, self.median))
        if isinstance(self.mean, float):
            mean = _written(self.mean, self.std)
        if isinstance(self.median, float):
            # as many digits as the number has, but no more than the standard deviation allows
            rounded = _written(self.median, min(self.std, abs(self.median)))
            median = min(f"{self.median:.6g}", rounded, key=len)
        std = _written(self.std, self.std) if self.unit is None else _duration(self.std, self.unit)
        return f"mean {mean}, standard deviation {std}, median {median}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, dates and times as text."""
        mean, median = (value if isinstance(value, (int, float)) else str(value) for value in (self.mean, self.median))
        return {"mean": mean, "standard_deviation": self.std, "median": median}


def _duration(length: float, unit: str) -> str:
    """Write a length of time in the longest unit of which it has one or more.

    >>> _duration(2271226.0, "seconds"), _duration(0.5, "days"), _duration(0.25, "seconds")
    ('26.3 days', '12.0 hours', '0.250 seconds')
    """
    seconds = length * _SECONDS[unit]
    longest = next((name for name in _SECONDS if 1.0 <= _SECONDS[name] <= seconds), unit)
    value = seconds / _SECONDS[longest]
    return f"{_written(value, value)} {longest}"


def _written(value: float, std: float) -> str:
    """Write a number to the place of the last digit of a standard deviation."""
    if not std > 0 or not math.isfinite(std):
        return f"{value:.6g}"
    places = _DIGITS - 1 - math.floor(math.log10(std))
    return f"{value:.{max(places, 0)}f}" if abs(places) <= _MOST_PLACES else f"{value:.6g}"


def number_summary(variable: Variable, probabilities: np.ndarray, settled: Number | None) -> NumberSummary:
    """Return the summary of a number from the probabilities of its labels (cardinality,); of missing cells, NaN.

    ``settled`` is the number that evidence says it is, if it does.
    """
    check_numeric(variable)
    if not np.any(probabilities[: len(variable.present_labels)] > 0):
        return NumberSummary(math.nan, math.nan, math.nan)
    if settled is not None:
        mean, variance, median = as_float(settled), 0.0, settled
    else:
        mean, variance = moments(variable, probabilities)
        median = quantiles_of(variable, probabilities[None], np.array([0.5])).tolist()[0]
    return _in_units(variable, mean, math.sqrt(variance), median)


def summary_of_tally(variable: Variable, tally: Tally, total: float) -> NumberSummary | None:
    """Return the summary of a number of rows with some weight in total; None if the tally has not each of them.

    >>> ages = Variable("age", ("<2", ">=2"), "binned", edges=(0, 2, 9))
    >>> print(summary_of_tally(ages, Tally("age", "number", np.array([1, 8]), np.array([3.0, 1.0])), 4))
    mean 2.75, standard deviation 3.03, median 1
    """
    values, up_to, calendar = tally.values, np.cumsum(tally.counts), tally.calendar
    if tally.dropped or not len(values) or not math.isclose(up_to[-1], total):
        return None
    if calendar is not None and variable.calendar is not None:
        values = calendar.converted(values, variable.calendar.unit)
    mean = float(np.average(values, weights=tally.counts))
    std = math.sqrt(np.average((values - mean) ** 2, weights=tally.counts))
    low, high = (values[np.searchsorted(up_to, total / 2, side)].item() for side in ("left", "right"))
    return _in_units(variable, mean, std, low if low == high else (low + high) / 2)


def _in_units(variable: Variable, mean: float, std: float, median: Any) -> NumberSummary:
    """Return the summary of a number, of dates and times by their calendar."""
    if variable.calendar is None:
        return NumberSummary(mean, std, median)
    cells = as_cells(variable, [math.floor(mean), math.floor(median)])
    return NumberSummary(cells[0], std, cells[1], _UNITS[variable.calendar.unit])
