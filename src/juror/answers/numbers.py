"""Numbers from the probabilities of intervals: means, quantiles and draws, in the units of their column.

With P(i) the probability of interval i and H its law (:mod:`juror.domain.law`),

    E x = Σ_i P(i) E_H[x | i]               quantile q: the number in the first interval with Σ_{j ≤ i} P(j) ≥ q

below which the law of that interval has the share (q − Σ_{j < i} P(j)) / P(i). Labels that are numbers count as points.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from juror.answers.label_frames import label_array
from juror.domain.variable import Variable
from juror.errors import ParameterError, QueryError
from juror.readers.columns import as_text


def check_numeric(variable: Variable) -> None:
    """Refuse a variable whose labels are not numbers."""
    if not variable.is_numeric:
        label = next(label for label in variable.present_labels if isinstance(label, (str, bool)))
        raise QueryError(
            f"Variable {variable.name!r} has labels such as {label!r}, which are not numbers, so it has no mean and no "
            "quantiles. Ask for the probabilities of its labels."
        )


def moments(variable: Variable, probabilities: np.ndarray) -> tuple[float, float]:
    """Return the mean and the variance of a variable, from the probabilities of its labels (cardinality,)."""
    means, variances = _inner_moments(variable)
    shares = _of_present(variable, probabilities[None])[0]
    some = shares > 0
    mean = float(shares[some] @ means[some])
    with np.errstate(over="ignore"):
        return mean, float(shares[some] @ (variances[some] + (means[some] - mean) ** 2))


def means_of(variable: Variable, probabilities: np.ndarray) -> np.ndarray:
    """Return the mean of every row of probabilities (rows, cardinality)."""
    means = _inner_moments(variable)[0]
    return _of_present(variable, probabilities) @ means


def _inner_moments(variable: Variable) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of the numbers inside each label, (n_present,); a label that is a number is a point."""
    if variable.edges is not None:
        return variable.inside.means, variable.inside.variances
    labels = np.array(variable.present_labels, dtype=np.float64)
    return labels, np.zeros(len(labels))


def quantiles_of(variable: Variable, probabilities: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return a quantile for every row of probabilities (rows, cardinality), at its own level, (rows,)."""
    order = np.arange(len(variable.present_labels))
    if variable.edges is None:
        order = np.argsort(np.array(variable.present_labels, dtype=np.float64), kind="stable")
    shares = _of_present(variable, probabilities)[:, order]
    reached = np.cumsum(shares, axis=1)
    # rounding may leave the last sum below the level; labels without probability are never reached
    last = shares.shape[1] - 1 - np.argmax(shares[:, ::-1] > 0, axis=1)
    codes = np.minimum((reached < levels[:, None]).sum(axis=1), last)
    first = np.argmax(shares > 0, axis=1)
    codes = np.maximum(codes, first)
    rows = np.arange(len(shares))
    if variable.edges is None:
        return np.array(variable.present_labels)[order[codes]]
    room = shares[rows, codes]
    within = np.divide(levels - (reached[rows, codes] - room), room, out=np.zeros(len(room)), where=room > 0)
    return variable.inside.at(codes, np.clip(within, 0.0, 1.0))


def _of_present(variable: Variable, probabilities: np.ndarray) -> np.ndarray:
    """Return the probabilities of labels given that the cell is not missing, (rows, n_present)."""
    present = probabilities[:, : len(variable.present_labels)]
    total = present.sum(axis=1, keepdims=True)
    return np.divide(present, total, out=np.zeros_like(present), where=total > 0)


def check_levels(levels: Any) -> np.ndarray:
    """Return the levels of quantiles as an array, after refusing those outside [0, 1]."""
    try:
        array = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    except (TypeError, ValueError):
        array = np.array([np.nan])
    if array.ndim != 1 or not np.all((array >= 0) & (array <= 1)):
        raise ParameterError(f"Levels of quantiles must be numbers in the range [0, 1]. Got {levels!r} instead.")
    return array


def draw_numbers(variable: Variable, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw a number in each interval, (rows,). Codes beyond the intervals, of missing cells, get any number.

    Numbers beyond the smallest and the largest that rows showed are possible, but what they may be is not known: an
    angle may end at 90. They are drawn only in intervals that lie beyond, which a condition may ask for.
    """
    some = np.clip(codes.astype(np.int64), 0, len(variable.present_labels) - 1)
    low, high = _shares_seen(variable)
    return variable.inside.at(some, low[some] + (high - low)[some] * rng.random(len(some)))


def _shares_seen(variable: Variable) -> tuple[np.ndarray, np.ndarray]:
    """Return which shares of each interval's law lie below the least number seen, and up to the largest, (n_present,).

    Intervals that lie beyond these numbers have all of their law.
    """
    n = len(variable.present_labels)
    if not variable.open_ended:
        return np.zeros(n), np.ones(n)
    assert variable.edges is not None
    inside, grid, codes = variable.inside, variable.inside.law.grid, np.arange(n)
    low = inside.shares_below(codes, np.full(n, grid.cut(variable.edges[0], after=False)))
    high = inside.shares_below(codes, np.full(n, grid.cut(variable.edges[-1], after=True)))
    # A condition beyond all numbers cuts there, and moves the outer edge to its cut. The largest number may also be an
    # interval of its own, and then stands alone in the law.
    beyond = (low >= high) | (codes == 0) & (variable.edges[1] <= variable.edges[0])
    if variable.edges[-2] >= variable.edges[-1] and not inside.law.stands_alone(variable.edges[-1]):
        beyond |= codes == n - 1
    return np.where(beyond, 0.0, low), np.where(beyond, 1.0, high)


Centre = Literal["median", "mean"]


def centres_of(variable: Variable, probabilities: np.ndarray, centre: Centre) -> np.ndarray:
    """Return the median or the mean of every row of probabilities (rows, cardinality); means as numbers of the column.

    A mean of whole numbers is rounded to a whole number, and one of prices to cents, or to hundreds if rows are.
    """
    if centre == "median":
        return quantiles_of(variable, probabilities, np.full(len(probabilities), 0.5))
    means = means_of(variable, probabilities)
    law = variable.inside.law
    if law.grid.decimals is None:
        return means
    positions = law.grid.positions(np.round(means, law.grid.decimals))
    return law.grid.numbers(law.nearest(positions))


def best_guesses(variable: Variable, probabilities: np.ndarray) -> np.ndarray:
    """Return the most probable label of every row of probabilities (rows, cardinality); of numbers the median."""
    if variable.edges is None:
        return label_array(variable.labels)[probabilities.argmax(axis=1)]
    guesses = label_array(as_cells(variable, centres_of(variable, probabilities, "median").tolist()))
    if variable.missing_label is not None:
        is_missing = probabilities.argmax(axis=1) == variable.missing_code
        guesses = (
            np.where(is_missing, variable.missing_label, guesses.astype(object)) if np.any(is_missing) else guesses
        )
    return guesses


def as_cells(variable: Variable, numbers: Sequence[Any], is_text: bool = False) -> list[Any]:
    """Return numbers of a variable as cells of a column: dates and times by the calendar, or all as text."""
    calendar = variable.calendar
    if is_text:
        return [as_text(number) if calendar is None else calendar.text(number) for number in numbers]
    return list(numbers) if calendar is None else calendar.to_python(np.array(numbers, dtype=np.int64))
