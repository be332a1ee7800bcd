"""The grid of a column: numbers with d decimals are multiples of 10^−d.

Numbers become *positions*, which are floats: on a grid the multiple, counted from an origin; without one the number
itself. A position stands for its *cell*, the numbers [x, x + 10^−d).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from juror.readers.exact_numbers import Number, as_float

# Errors of decimal numbers, in units of the last place and in steps: some programs write 162.052 as 162.05200000000005
_ROUNDING, _OF_STEP = 64, 1e-3
# Grids of more decimals would be no different from all floats
_MOST_DECIMALS = 15
# Whole positions up to this are exact as floats, each a cell of its own; further ones share cells with neighbours.
EXACT = 2**53


@dataclass(frozen=True)
class Grid:
    """Which numbers a column may hold: multiples of 10^−decimals, or all. Numbers become positions, which are floats.

    Attributes
    ----------
    decimals : int, optional
        The digits after the point; None if there is no grid. Then positions are the numbers themselves.
    origin : int
        On a grid the position of a number is its multiple of 10^−decimals, minus this one, as a float that is not
        larger: whole numbers that are further than 2⁵³ from the origin share cells with their neighbours.

    Examples
    --------
    >>> Grid(1, 20).positions(np.array([2.0, 2.1, 2.3])).tolist(), Grid(1, 20).numbers(np.array([0.0, 3.0])).tolist()
    ([0.0, 1.0, 3.0], [2.0, 2.3])
    """

    decimals: int | None = None
    origin: int = 0

    def __post_init__(self) -> None:
        if self.decimals is not None and not 0 <= self.decimals <= _MOST_DECIMALS:
            raise ValueError(f"the decimals of a grid must be in the range [0, {_MOST_DECIMALS}], not {self.decimals}")
        if abs(self.origin) > 2**64:
            raise ValueError("the origin of a grid must lie within 64 bits")

    @property
    def step(self) -> float:
        """The width of a cell; zero without a grid."""
        return 0.0 if self.decimals is None else 10.0**-self.decimals

    def positions(self, numbers: np.ndarray) -> np.ndarray:
        """Return the positions of numbers, (n,); on a grid those of the cells that hold them. Infinite ones stay."""
        numbers = np.asarray(numbers)
        if self.decimals is None:
            return numbers.astype(np.float64)
        if self.decimals == 0 and numbers.dtype.kind in "iuO":
            return np.array([_float_up_to(int(x) - self.origin) for x in numbers.tolist()], dtype=np.float64)
        scaled = numbers.astype(np.float64) * 10.0**self.decimals
        return np.where(self.holds(numbers), np.rint(scaled), np.floor(scaled)) - self.origin

    def holds(self, numbers: np.ndarray) -> np.ndarray:
        """Return which floats lie on a grid, (n,), up to the errors of writing and reading decimal numbers."""
        power = 10.0 ** (self.decimals or 0)
        scaled = numbers.astype(np.float64) * power
        with np.errstate(invalid="ignore"):
            error = np.minimum(_ROUNDING * np.spacing(np.abs(scaled)), _OF_STEP)
            nearest = np.rint(scaled)
            # Of large numbers the error of the product may be more than a small part of a step.
            return (np.abs(scaled - nearest) <= error) | (nearest / power == numbers)

    def cut(self, number: Number, after: bool) -> float:
        """Return the lowest position of the numbers that are at least a number, or if ``after``, above it."""
        if self.decimals is None or math.isinf(number):
            position = as_float(number)
            return math.nextafter(position, math.inf) if after and math.isfinite(position) else position
        if isinstance(number, float) and self.holds(np.array([number]))[0]:
            multiple: Decimal | int = int(np.rint(number * 10.0**self.decimals))
        else:
            multiple = Decimal(number).scaleb(self.decimals)
        if not after:
            return _float_up_to(math.ceil(multiple) - self.origin)
        return float(self.ends_of(np.array(_float_up_to(math.floor(multiple) - self.origin))))

    def ends_of(self, positions: np.ndarray) -> np.ndarray:
        """Return where the cells of positions end, (n,), or without a grid the floats that follow.

        A cell is one wide, or as wide as floats are apart there.
        """
        after = np.nextafter(positions, np.inf)
        return after if self.decimals is None else np.maximum(positions + 1, after)

    def last_below(self, positions: np.ndarray) -> np.ndarray:
        """Return the last position that a number may have below each, (n,)."""
        below = np.nextafter(positions, -np.inf)
        return below if self.decimals is None else np.minimum(positions - 1, below)

    def number(self, position: float) -> Number:
        """Return the number of a position: an int if the grid has no decimals, else a float."""
        if self.decimals is None or math.isinf(position):
            return position
        multiple = self._multiple(position)
        # an integer divided by an integer is rounded once, as a decimal number is when it is read
        return multiple if self.decimals == 0 else multiple / 10**self.decimals

    def _multiple(self, position: float) -> int:
        """Return the multiple of 10^−decimals at a position; a float that is not larger may lie below all 64 bits."""
        return max(int(position) + self.origin, -(2**63))

    def numbers(self, positions: np.ndarray) -> np.ndarray:
        """Return the numbers of positions, (n,), as int64 if they fit, as objects if they do not, else as floats."""
        if self.decimals is None:
            return positions
        if max(abs(self.origin), np.abs(positions).max(initial=0.0)) > 2.0**62:
            multiples = np.array([self._multiple(position) for position in positions.tolist()], dtype=object)
        else:
            multiples = positions.astype(np.int64) + self.origin
        if self.decimals:
            return (multiples / 10**self.decimals).astype(np.float64)
        low, high = (min(multiples), max(multiples)) if len(multiples) else (0, 0)
        return multiples.astype(np.int64) if low >= -(2**63) and high < 2**63 else multiples


def _float_up_to(whole: int) -> float:
    """Return the largest float that is at most a whole number.

    >>> _float_up_to(2**53 + 3) == 2**53 + 2
    True
    """
    nearest = float(whole)
    return nearest if int(nearest) <= whole else math.nextafter(nearest, -math.inf)
