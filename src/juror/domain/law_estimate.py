"""Estimate the law of a column of numbers from how often each occurs.

The law has four parts. *Values that recur* stand alone: cells of a grid, or points. *All others* follow pieces between
quantiles. Held-out rows choose how many, and the mean over shifted pieces is smoother. Quantiles are closer together at
both ends, where densities change most. Held-out rows also choose whether densities are constant inside pieces, or fall
there as they do on a logarithmic scale, for columns with long tails. *Half a row in each interval*, or less if there
are many, keeps values possible that no row shows. *A row beyond either end* falls exponentially, unless the numbers end
in a value that recurs, or at zero.

What is added beyond the ends, and before them, would move the mean of a skewed column. So the law inside the outer
intervals is tilted, by a factor e^{θx}, until its mean there is that of the rows. This leaves a part of the row beyond,
a small part where a few rows lie far out.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from juror.domain.grid import EXACT, Grid
from juror.domain.law import Law, uniform_law
from juror.domain.law_pieces import LawPart, smooth_part, tilted
from juror.readers.exact_numbers import Number

# Columns of more decimals than this have no grid.
_MOST_DECIMALS = 8
# A stride needs at least this many distinct numbers, and must be unlikely among unrelated numbers: 1 in 10⁹ columns.
_FEWEST_APART, _LUCK = 10, 1e9
# The most values that stand alone. If a column has no more distinct values, and they recur on average, all stand alone.
_MOST_ALONE = 256
# A value recurs if this many rows have it, and this many times more than its neighbours
_RECURS, _ABOVE_NEIGHBOURS = 5, 3.0
_NEIGHBOURS = 8
# Numbers closer together or further apart than this are taken to be uniform: arithmetic with them would overflow
_LEAST_SPREAD, _MOST_SPREAD = 1e-280, 1e300
# A smaller share of the rows hardly moves the mean of a column.
_LEAST_SHARE = 0.01
# The steepest tilt of an outer interval
_STEEPEST = 200.0
# Mass beyond the ends falls exponentially, in pieces that end at these multiples of its scale
_TAIL = np.array([0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 16.0, 64.0])


def estimate_law(
    numbers: np.ndarray, counts: np.ndarray, edges: Sequence[Number], open_ended: bool, are_groups: bool = False
) -> Law:
    """Return the law of a column.

    Parameters
    ----------
    numbers, counts : numpy.ndarray, (n_values,)
        Sorted distinct numbers and how often each occurs.
    edges : sequence of int or float
        The ends of the intervals that the column is cut into.
    open_ended : bool
        Whether numbers may lie beyond the outer edges.
    are_groups : bool
        Whether each number is the lowest of a group that was not told apart.
    """
    grid = grid_of(numbers, counts, are_groups)
    if grid.decimals is not None and not is_wide(numbers) and np.any(np.diff(_cuts_at(edges[:-1], grid)) == 0):
        # an interval between two numbers of the grid would be empty
        grid = Grid()
    x, counts = _in_cells(grid.positions(numbers), counts)
    with np.errstate(over="ignore"):
        spread = x[-1] - x[0]
    if grid.decimals is None and spread > 0 and not _LEAST_SPREAD < spread < _MOST_SPREAD:
        return uniform_law(edges)
    alone = np.zeros(len(x), dtype=bool) if are_groups else _stand_alone(x, counts, grid)
    # the highest number stands alone if it is an interval of its own
    alone[-1] |= edges[-2] == edges[-1]
    parts = [LawPart.of_values(x[alone], counts[alone], grid)]
    if not np.all(alone):
        parts.append(smooth_part(x[~alone], counts[~alone], grid))
    cuts = _cuts_at(edges, grid)
    if open_ended:
        cuts = np.clip(cuts, x[0], x[-1])
        # only an end that several rows share is a bound: fewer may be the first of others beyond
        parts += _tails(x, alone & (counts >= _RECURS), grid)
    parts.append(LawPart.even(np.unique(cuts), grid))
    law = _joined(parts, grid)
    for outer in {0, len(cuts) - 2} if open_ended else ():
        low = -np.inf if outer == 0 else cuts[outer]
        high = np.inf if outer == len(cuts) - 2 else cuts[outer + 1]
        law = _with_mean_of_rows(law, (low, high), x, counts)
    # positions far from the origin are rounded, and only one number of each group is known
    is_exact = grid.decimals is not None and not are_groups and not is_wide(numbers)
    return replace(law, stride=stride_of(x)) if is_exact else law


def _cuts_at(edges: Sequence[Number], grid: Grid) -> np.ndarray:
    """Return the positions where intervals begin, and of the last edge, which lies in the last interval."""
    return np.array([grid.cut(edge, after=False) for edge in edges])


def is_wide(numbers: np.ndarray) -> bool:
    """Say whether sorted numbers are whole and too far apart to be exact as floats."""
    return numbers.dtype.kind in "iuO" and len(numbers) > 0 and int(numbers[-1]) - int(numbers[0]) >= EXACT


def grid_of(numbers: np.ndarray, counts: np.ndarray, are_groups: bool = False) -> Grid:
    """Return the coarsest grid on which all sorted numbers lie."""
    if numbers.dtype.kind in "iuO":
        if not is_wide(numbers):
            return Grid(0, int(numbers[0]))
        # Positions are exact around the middle of the rows: one number far away must not blur all others.
        rows = np.cumsum(counts)
        return Grid(0, int(numbers[np.searchsorted(rows, rows[-1] / 2)]))
    if are_groups:
        return Grid()
    for decimals in range(_MOST_DECIMALS + 1):
        grid = Grid(decimals)
        scaled = numbers * 10.0**decimals
        if not np.all(np.abs(scaled) < 2.0**46):
            break
        if np.all(grid.holds(numbers)):
            return Grid(decimals, int(np.rint(scaled[0])))
    return Grid()


def stride_of(positions: np.ndarray) -> int:
    """Return how far apart the numbers of rows lie, from distinct positions (n,) that are whole, one of them zero.

    With probability s^{1−k}, k unrelated numbers all differ by multiples of s.

    >>> stride_of(np.arange(0.0, 2000.0, 100.0)), stride_of(np.array([0.0, 10.0, 20.0]))
    (100, 1)
    """
    stride, others = int(np.gcd.reduce(positions.astype(np.int64))), len(positions) - 1
    is_shown = len(positions) >= _FEWEST_APART and others * math.log(max(stride, 1)) >= math.log(_LUCK)
    return stride if is_shown else 1


def _in_cells(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return distinct rising positions and the counts of each; large numbers may share a cell."""
    if np.all(x[1:] > x[:-1]):
        return x, counts
    cells, where = np.unique(x, return_inverse=True)
    return cells, np.bincount(where, counts)


def _stand_alone(x: np.ndarray, counts: np.ndarray, grid: Grid) -> np.ndarray:
    """Return which values stand alone, (n_values,)."""
    if len(x) <= _MOST_ALONE and counts.sum() >= _RECURS * len(x):
        return np.ones(len(x), dtype=bool)
    recur = counts >= _RECURS
    if grid.decimals is not None:
        # rows per cell among the neighbours
        rows = np.concatenate([[0.0], np.cumsum(counts)])
        low = np.maximum(np.arange(len(x)) - _NEIGHBOURS, 0)
        high = np.minimum(np.arange(len(x)) + _NEIGHBOURS, len(x) - 1)
        near = (rows[high + 1] - rows[low] - counts) / np.maximum(x[high] - x[low], 1.0)
        recur &= counts > _ABOVE_NEIGHBOURS * near
    often = np.argsort(-counts, kind="stable")
    often = often[recur[often]][:_MOST_ALONE]
    alone = np.zeros(len(x), dtype=bool)
    alone[often] = True
    return alone


def _tails(x: np.ndarray, are_bounds: np.ndarray, grid: Grid) -> list[LawPart]:
    """Return one row's mass beyond either end, whose scale is the mean excess of the numbers near that end."""
    zero = float(grid.positions(np.zeros(1, dtype=np.int64 if grid.decimals == 0 else float))[0])
    near = max(1, int(np.sqrt(len(x))))
    tails = []
    for sign in (-1.0, 1.0):
        end, is_bound = (x[0], are_bounds[0]) if sign < 0 else (x[-1], are_bounds[-1])
        limit = abs(zero - end) if sign * (zero - end) >= 0 else np.inf
        limit = min(limit, _room(grid, end, sign))
        nearest = x[: near + 1] if sign < 0 else x[-near - 1 :]
        # the excess over the innermost of them; an exponential tail has the same beyond any number
        scale = float(np.mean(np.abs(nearest - nearest[-1 if sign < 0 else 0])))
        if grid.decimals is not None:
            scale = np.ceil(scale)
        # a tail that is cut off at once has no mass
        if is_bound or not 0 < scale < np.inf or limit <= 1e-9 * scale:
            continue
        steps = scale * _TAIL if grid.decimals is None else np.unique(np.ceil(scale * _TAIL))
        steps = np.append(steps[steps < limit], min(limit, steps[-1]))
        steps = np.unique(steps)
        rows = -np.expm1(-steps / scale)
        if sign > 0:
            knots = (end if grid.decimals is None else end + 1) + steps
            tails.append(LawPart(knots, rows / rows[-1]))
        else:
            tails.append(LawPart(end - steps[::-1], 1 - rows[::-1] / rows[-1]))
    return [tail for tail in tails if np.all(np.isfinite(tail.knots)) and len(tail.knots) > 1]


def _with_mean_of_rows(law: Law, interval: tuple[float, float], x: np.ndarray, counts: np.ndarray) -> Law:
    """Return a law whose mean in an interval is that of the rows there; other intervals stay as they are."""
    starts, ends, masses = (np.array(part) for part in (law.starts, law.ends, law.masses))
    low, high = interval
    there, rows = (starts >= low) & (starts < high), (x >= low) & (x < high)
    if counts[rows].sum() < _LEAST_SHARE * counts.sum():
        return law
    places = (starts / 2 + ends / 2)[there]
    mean = float(np.average(x[rows], weights=counts[rows])) + (law.grid.decimals is not None) / 2
    scale = np.abs(places - mean).max()
    if not places.min() < mean < places.max() or not np.isfinite(scale):
        return law
    masses[there] = tilted(masses[there], places - mean, np.zeros(1, dtype=np.int64), _STEEPEST)
    return replace(law, masses=tuple(masses.tolist()))


def _room(grid: Grid, end: float, sign: float) -> float:
    """Return how many cells there are beyond the end of whole numbers until 64 bits are full."""
    if grid.decimals != 0:
        return np.inf
    if abs(end) >= EXACT:
        return 0.0
    number = int(grid.number(end))
    low, high = (0, 2**64 - 1) if number >= 2**63 else (-(2**63), 2**63 - 1)
    return float(number - low if sign < 0 else high - number)


def _joined(parts: Sequence[LawPart], grid: Grid) -> Law:
    """Return the law of all parts together."""
    points = np.concatenate([part.points for part in parts])
    knots = np.unique(np.concatenate([points, *(part.knots for part in parts)]))
    below = sum(part.at(knots) for part in parts)
    pieces, low = [], knots[0]
    for high, mass in zip(knots[1:], np.diff(below), strict=True):
        # On a grid, cells so far out that rounding leaves them no mass belong to the next piece, or at last to the one
        # before: rows may lie there.
        if mass > 0:
            pieces.append((low, high, mass))
        if mass > 0 or grid.decimals is None:
            low = high
    if pieces and grid.decimals is not None:
        pieces[-1] = (pieces[-1][0], knots[-1], pieces[-1][2])
    of_points: dict[float, float] = {}
    for part in parts:
        for point, mass in zip(part.points.tolist(), part.of_points.tolist(), strict=True):
            of_points[point] = of_points.get(point, 0.0) + mass
    # a point comes before the piece that begins at it
    pieces = sorted([*pieces, *((point, point, mass) for point, mass in of_points.items())])
    starts, ends, masses = (np.array(column, dtype=np.float64) for column in zip(*pieces, strict=True))
    return Law(grid, tuple(starts.tolist()), tuple(ends.tolist()), tuple((masses / masses.sum()).tolist()))
