"""Place a variable on the number line: a score and a cell for every label, as projections need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.domain.variable import Variable
from juror.errors import ParameterError, shortlist

# Intervals keep their proportions if the widest is at most this many times as wide as the narrowest.
_MOST_UNEVEN = 3.0


@dataclass(frozen=True)
class Axis:
    """The positions of a variable's labels on the number line.

    Attributes
    ----------
    edges : tuple of float
        The I + 1 ends of the cells, in increasing order; a cell of length zero is a point.
    centres : tuple of float
        The I scores, one per cell.

    Examples
    --------
    >>> Axis(edges=(-1.0, 0.0, 1.0), centres=(-0.5, 0.5)).widths
    array([1., 1.])
    """

    edges: tuple[float, ...]
    centres: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", tuple(map(float, self.edges)))
        object.__setattr__(self, "centres", tuple(map(float, self.centres)))
        if not self.centres or len(self.edges) != len(self.centres) + 1:
            raise ParameterError(
                f"An axis needs at least one centre and one edge more. Got {len(self.centres)} centres and "
                f"{len(self.edges)} edges."
            )
        if not np.all(np.isfinite(self.edges)) or not np.all(np.diff(self.edges) >= 0):
            raise ParameterError(f"The edges of an axis must be finite and rise. Got {shortlist(self.edges)}.")
        low, high = np.asarray(self.edges[:-1]), np.asarray(self.edges[1:])
        if not np.all((low <= self.centres) & (self.centres <= high)):
            raise ParameterError(
                f"Every centre of an axis must lie in its own cell. Got the centres {shortlist(self.centres)} and the "
                f"edges {shortlist(self.edges)}."
            )

    def __len__(self) -> int:
        return len(self.centres)

    @cached_property
    def widths(self) -> np.ndarray:
        """The length of every cell, (I,)."""
        return np.diff(self.edges)


def axis_of(variable: Variable, scores: Sequence[float] | None = None) -> Axis:
    """Place the labels of a variable on the number line.

    Labels have the scores 0 … I−1, centred, in cells of length one. The intervals of a binned variable keep their
    proportions but not their units: they are scaled to a total length of I and centred, so that a salary does not
    dominate an age in a projection. Their scores are the midpoints. If the widest is more than three times as wide as
    the narrowest, as is common for intervals of equal counts, they are placed by rank like labels: otherwise many
    narrow intervals would share one bin of a histogram.

    The labels of a nominal variable have no order, so its projections depend on their arbitrary numbering.

    Parameters
    ----------
    variable : Variable
        The variable, with I labels.
    scores : sequence of float, (I,), optional
        Numbers for the labels, strictly increasing. Their mean is subtracted, and they are not scaled. Cells end
        halfway between scores, and the outer cells are symmetric. A single label has a cell of length one.

    Returns
    -------
    Axis

    Examples
    --------
    >>> safety = Variable("safety", ("low", "med", "high"), kind="ordinal")
    >>> axis_of(safety).centres
    (-1.0, 0.0, 1.0)
    >>> axis_of(safety, scores=[0, 1, 5]).edges
    (-2.5, -1.5, 1.0, 5.0)
    >>> age = Variable("age", ("[0, 20)", "[20, 60]"), kind="binned", edges=(0, 20, 60))
    >>> axis_of(age).edges
    (-1.0, -0.33333333333333337, 1.0)
    """
    if scores is not None:
        return _scored(variable, scores)
    size = variable.cardinality
    by_rank = _axis(np.arange(size + 1) - size / 2)
    if variable.edges is None:
        return by_rank
    # Halve first: the difference of finite edges may overflow.
    halves = np.asarray(variable.edges, dtype=float) / 2
    if variable.missing_label is not None:
        # missing cells get a cell beside the intervals, of their mean width
        halves = np.append(halves, halves[-1] + (halves[-1] - halves[0]) / (len(halves) - 1))
    widths = np.diff(halves)
    if widths.max() / _MOST_UNEVEN > widths.min() or widths.max() == 0.0:
        return by_rank
    return _axis(((halves - halves[0]) / (halves[-1] - halves[0]) - 0.5) * size)


def _axis(edges: np.ndarray) -> Axis:
    return Axis(tuple(edges.tolist()), tuple(((edges[:-1] + edges[1:]) / 2).tolist()))


def _scored(variable: Variable, scores: Sequence[float]) -> Axis:
    try:
        numbers = np.array(scores, dtype=float)
    except (TypeError, ValueError):
        numbers = np.full(variable.cardinality, np.nan)
    if numbers.shape == (variable.cardinality,):
        # Overflow is refused below, together with scores that are not finite.
        with np.errstate(over="ignore", invalid="ignore"):
            centres = numbers - numbers.mean()
            halves = np.diff(centres) / 2 if len(centres) > 1 else np.array([0.5])
            between = centres[:-1] + np.diff(centres) / 2
            edges = np.concatenate([centres[:1] - halves[0], between, centres[-1:] + halves[-1]])
        if np.all(np.isfinite(edges)) and np.all(halves > 0):
            return Axis(tuple(edges.tolist()), tuple(centres.tolist()))
    raise ParameterError(
        f"The scores of {variable.name!r} must be {variable.cardinality} finite, strictly rising numbers, one for "
        f"each of its labels in order. Got {shortlist(np.atleast_1d(np.asarray(scores, dtype=object)).tolist())}."
    )
