"""The law of a number: pieces of constant density and points, from which the laws inside intervals follow.

A numeric variable has two levels. Its interval takes part in classes and forests; the value inside the interval is
independent of all else, and follows the law H of the column, restricted to that interval. So with the interval i(x) of
a number x, and P the model's probability of the interval given whatever is known,

    p(x) = P(i) h(x) / H(i)            P(x < c) = Σ_{i below c} P(i) + P(i(c)) H(c, i) / H(i)

where h is the density of H, H(i) its mass in the interval, and H(c, i) its mass in the part of the interval below c.
Dividing an interval at a number changes no answer: both parts have their share of its law.

Numbers of a column with d decimals (whole numbers have none, and dates count days or seconds) lie on a grid of step
10^−d. There H is a law over the cells [x, x + step), and a number is a cell. In columns without a grid, values that
recur are points.

Rows may lie further apart than the grid: prices in hundreds, times on the hour. The law has the *stride* between them.
It changes no probability, as other numbers stay possible: a number that is drawn, or that stands for a share of the
law, is the last one of the stride that is not larger. Cuts lie at numbers of rows, where cells of the stride begin.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from juror.domain.grid import EXACT, Grid
from juror.readers.exact_numbers import Number, as_float

# A single value stands for an interval if it has more than this share of it: one of two values, but not one of three.
_SINGLE = 0.4


@dataclass(frozen=True)
class Law:
    """A distribution of numbers: pieces of constant density in positions of a grid, and points.

    Attributes
    ----------
    grid : Grid
        Which numbers there are.
    starts, ends, masses : tuples of float, (n_pieces,)
        Rising pieces [start, end) that do not overlap, and the probability of each. A piece of width zero is a point;
        on a grid there are none, and starts and ends are whole.
    stride : int
        How many positions of the grid the numbers of the rows lie apart; those at its multiples are like them.

    Examples
    --------
    >>> law = Law(Grid(0), (0.0, 1.0), (1.0, 11.0), (0.5, 0.5))
    >>> law.below(np.array([0.0, 1.0, 2.0])).tolist()
    [0.0, 0.5, 0.55]
    >>> law.grid.numbers(law.at(np.array([0.1, 0.62]))).tolist()
    [0, 3]
    """

    grid: Grid
    starts: tuple[float, ...]
    ends: tuple[float, ...]
    masses: tuple[float, ...]
    stride: int = 1

    def __post_init__(self) -> None:
        starts, ends, masses = self._arrays
        whole = self.grid.decimals is None or np.all((starts == np.floor(starts)) & (ends == np.floor(ends)))
        rises = np.all(starts <= ends) and np.all(ends[:-1] <= starts[1:])
        if not len(starts) or not len(starts) == len(ends) == len(masses) or not whole or not rises:
            raise ValueError("the pieces of a law must rise without overlap, on a grid in whole positions")
        if not np.all(np.isfinite([*starts, *ends])) or not np.all(masses >= 0) or abs(masses.sum() - 1) > 1e-6:
            raise ValueError("the pieces of a law must be finite, and their masses sum to one")
        if not isinstance(self.stride, int) or not 1 <= self.stride <= (1 if self.grid.decimals is None else EXACT):
            raise ValueError("the stride of a law must be a whole number in the range [1, 2^53], or 1 without a grid")

    @cached_property
    def _arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        starts, ends, masses = (np.array(part, dtype=np.float64) for part in (self.starts, self.ends, self.masses))
        return starts, ends, masses

    @cached_property
    def _cumulative(self) -> np.ndarray:
        """The mass of all pieces before each piece, and of all, (n_pieces + 1,)."""
        # sums are rounded, and must not be more than the whole
        return np.concatenate([[0.0], np.minimum(np.cumsum(self._arrays[2])[:-1], 1.0), [1.0]])

    def below(self, positions: np.ndarray) -> np.ndarray:
        """Return P(X < position) for every position, (n,)."""
        starts, ends, masses = self._arrays
        piece = np.maximum(np.searchsorted(starts, positions, side="left") - 1, 0)
        begun = positions > starts[piece]
        share = np.where(begun, 1.0, 0.0)
        # halves, as the difference of two finite numbers may overflow
        width = ends[piece] / 2 - starts[piece] / 2
        inside = begun & (width > 0) & (positions < ends[piece])
        np.divide(positions / 2 - starts[piece] / 2, width, out=share, where=inside)
        return self._cumulative[piece] + np.minimum(share, 1.0) * masses[piece]

    def at(self, levels: np.ndarray) -> np.ndarray:
        """Return the lowest position up to which the law has at least a mass, for every level, (n,)."""
        starts, ends, _ = self._arrays
        piece = np.clip(np.searchsorted(self._cumulative[1:], levels, side="left"), 0, len(starts) - 1)
        # as the sums are rounded, so that the whole mass ends where the law ends
        room = np.diff(self._cumulative)[piece]
        share = np.divide(levels - self._cumulative[piece], room, out=np.zeros_like(room), where=room > 0)
        share = np.clip(share, 0.0, 1.0)
        # rounding must not move a point
        positions = np.clip(starts[piece] * (1 - share) + ends[piece] * share, starts[piece], ends[piece])
        if self.grid.decimals is None:
            return positions
        return np.clip(np.floor(positions), starts[piece], self.grid.last_below(ends[piece]))

    def placed(self, positions: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Return the positions of numbers like those of the rows, in [low, high), (n,): multiples of the stride.

        Each is the last one that is not larger; if there is none, the first; in a range without any, the position.

        >>> law = Law(Grid(0), (0.0,), (100.0,), (1.0,), stride=25)
        >>> law.placed(np.array([60.0, 60.0, 60.0]), np.array([0.0, 55.0, 55.0]), np.array([100.0, 100.0, 75.0]))
        array([50., 75., 60.])
        """
        if self.stride == 1:
            return positions
        multiples = positions - np.mod(positions, self.stride)
        # a law ends at zero if no row is negative, where no multiple need be
        multiples = np.where(multiples < np.maximum(low, self.starts[0]), multiples + self.stride, multiples)
        return np.where(multiples < np.minimum(high, self.ends[-1]), multiples, positions)

    def united(self, other: Law) -> Law:
        """Return the law with a stride that the numbers of both laws have."""
        if (self.grid, self.stride) == (other.grid, other.stride):
            return self
        if self.grid.decimals is None or self.grid.decimals != other.grid.decimals:
            return replace(self, stride=1)
        return replace(self, stride=math.gcd(self.stride, other.stride, self.grid.origin - other.grid.origin))

    def nearest(self, positions: np.ndarray) -> np.ndarray:
        """Return the nearest multiples of the stride, (n,), where the law has them."""
        multiples = np.rint(positions / self.stride) * self.stride
        return np.where((multiples >= self.starts[0]) & (multiples < self.ends[-1]), multiples, positions)

    def log_density(self, positions: np.ndarray) -> np.ndarray:
        """Return log h at every position, (n,), per unit of the number; at a point the logarithm of its probability."""
        starts, ends, masses = self._arrays
        piece = np.maximum(np.searchsorted(starts, positions, side="right") - 1, 0)
        # a point comes before the piece that begins at it
        before = np.maximum(piece - 1, 0)
        piece = np.where((starts[before] == positions) & (ends[before] == positions), before, piece)
        is_point = starts[piece] == ends[piece]
        last = (positions == ends[piece]) & (piece == len(starts) - 1) & (self.grid.decimals is None)
        held = (positions >= starts[piece]) & (
            (positions < ends[piece]) | last | (is_point & (positions == starts[piece]))
        )
        width = np.where(is_point, 0.5, ends[piece] / 2 - starts[piece] / 2)
        with np.errstate(divide="ignore"):
            logs = np.log(masses[piece]) - np.log(width) - np.log(2.0)
        if self.grid.decimals is not None:
            logs = logs - np.log(self.grid.step)
        return np.where(held, logs, -np.inf)

    def stands_alone(self, number: Number) -> bool:
        """Tell whether a number is a piece of its own: a point, or a cell of the grid."""
        starts, ends, _ = self._arrays
        here, after = self.grid.cut(number, after=False), self.grid.cut(number, after=True)
        return bool(np.any((starts == here) & (ends <= after)))

    def has_point(self, position: float) -> bool:
        """Tell whether a number has a probability: on a grid, or as a value that recurs."""
        starts, ends, _ = self._arrays
        return self.grid.decimals is not None or bool(np.any((starts == position) & (ends == position)))


class Inside:
    """The laws inside intervals: that of a column, restricted to each of them.

    Parameters
    ----------
    law : Law
        The law of the column.
    cuts : numpy.ndarray, (n_intervals + 1,)
        The positions where intervals begin, and where the last one ends; the outer ones may be infinite. An interval
        holds the positions from its cut to below the next.

    Attributes
    ----------
    masses, means, variances : numpy.ndarray, (n_intervals,)
        The mass of each interval in the law, and mean and variance of the numbers inside.
    """

    def __init__(self, law: Law, cuts: np.ndarray):
        self.law = law
        self.cuts = cuts
        self._levels = np.where(cuts == np.inf, law.below(np.array([np.inf]))[0], law.below(cuts))
        self.masses = np.maximum(np.diff(self._levels), 0.0)

    def intervals_of(self, positions: np.ndarray) -> np.ndarray:
        """Return the interval of every position, (n,); the outer ones for positions beyond them."""
        return np.clip(np.searchsorted(self.cuts, positions, side="right") - 1, 0, len(self.masses) - 1)

    def log_shares(self, codes: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return log h(x) − log H(i) for the positions of numbers and the codes of their intervals, (n,)."""
        with np.errstate(divide="ignore"):
            masses = np.log(self.masses)[codes]
        density = self.law.log_density(positions)
        return np.subtract(density, masses, out=density, where=density > -np.inf)

    def shares_below(self, codes: np.ndarray, positions: np.ndarray) -> np.ndarray:
        """Return which share of its interval's law lies below each position, (n,)."""
        room = self.masses[codes]
        below = self.law.below(positions) - self._levels[codes]
        return np.clip(np.divide(below, room, out=np.zeros_like(room), where=room > 0), 0.0, 1.0)

    def at(self, codes: np.ndarray, shares: np.ndarray) -> np.ndarray:
        """Return the numbers below which each interval has a share of its law, (n,), as far apart as rows are."""
        low, high = self.cuts[codes], self.cuts[codes + 1]
        positions = self.law.at(self._levels[codes] + shares * self.masses[codes])
        # Rounding must not leave the interval; one without mass has no numbers, so that the next one stands for it.
        inside = np.clip(positions, low, np.maximum(low, self.law.grid.last_below(high)))
        inside = self.law.placed(inside, low, high)
        return self.law.grid.numbers(np.where(self.masses[codes] > 0, inside, positions))

    @cached_property
    def are_single(self) -> np.ndarray:
        """Whether a value, a cell of the grid or a point, has so much of an interval's mass that it stands for it."""
        starts, ends, of_piece = self.law._arrays
        is_point, is_grid = starts == ends, self.law.grid.decimals is not None
        of_value = np.divide(of_piece, ends - starts, out=of_piece * is_point, where=~is_point & is_grid)
        # a piece in an interval begins there, or reaches over the cut where the interval begins
        before = np.maximum(np.searchsorted(starts, self.cuts[:-1], side="left") - 1, 0)
        heaviest = np.where(ends[before] > self.cuts[:-1], of_value[before], 0.0)
        np.maximum.at(heaviest, self.intervals_of(starts), of_value)
        return heaviest > _SINGLE * self.masses

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances by interval, from the parts that pieces and intervals have in common."""
        law, grid = self.law, self.law.grid
        starts, ends, of_piece = law._arrays
        is_point = starts == ends
        points, of_point = starts[is_point], of_piece[is_point]
        bounds = np.unique(np.concatenate([starts, ends, self.cuts[np.isfinite(self.cuts)]]))
        before = np.concatenate([[0.0], np.cumsum(of_point)])[np.searchsorted(points, bounds, side="left")]
        masses = np.maximum(np.diff(law.below(bounds) - before), 0.0)
        low, high = bounds[:-1], bounds[1:]
        is_cell = grid.decimals is not None
        with np.errstate(over="ignore"):
            spreads = ((high - low) ** 2 - is_cell) / 12
        places = np.concatenate([low / 2 + high / 2 - is_cell / 2, points])
        weights = np.concatenate([masses, of_point])
        spreads = np.concatenate([spreads, np.zeros(len(points))])
        where = np.searchsorted(self.cuts, np.concatenate([low, points]), side="right") - 1
        where = np.clip(where, 0, len(self.masses) - 1)
        n = len(self.masses)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            total = np.bincount(where, weights, n)
            means = np.bincount(where, weights * places, n) / total
            means = np.where(total > 0, means, law.at(self._levels[:-1]))
            variances = np.bincount(where, weights * (spreads + (places - means[where]) ** 2), n)
            variances = np.divide(variances, total, out=np.zeros(n), where=total > 0)
        if grid.decimals is None:
            return means, variances
        return means * grid.step + grid.number(0.0), variances * grid.step**2

    @property
    def means(self) -> np.ndarray:
        """The mean of the numbers in each interval."""
        return self._moments[0]

    @property
    def variances(self) -> np.ndarray:
        """The variance of the numbers in each interval."""
        return self._moments[1]


def uniform_law(edges: Sequence[Number]) -> Law:
    """Return a law that is uniform in each interval between edges: all that is known without numbers."""
    ends = np.array([as_float(edge) for edge in edges])
    n = len(ends) - 1
    return Law(Grid(), tuple(ends[:-1].tolist()), tuple(ends[1:].tolist()), (1.0 / n,) * n)
