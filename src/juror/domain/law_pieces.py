"""Pieces between the quantiles of a column: the smooth part of its law, see :mod:`juror.domain.law_estimate`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juror.domain.grid import Grid
from juror.kernels.random_streams import Stream

# The numbers of pieces that are tried, and how often they are shifted
_PIECES = (4, 8, 16, 32, 64, 128)
_SHIFTS = 4
# A piece has at least this many rows on average
_FEWEST_ROWS = 8
# Fewer pieces with bent densities follow the rows about as well, but blur the numbers beside one that lies far away.
_FEWEST_BENT = 8
# How much a bent density may fall inside a part of a piece, and the most parts
_FALL, _MOST_PARTS = 1.25, 64
# The bounds of θ inside a piece, for places at most one from the mean
_STEEPEST = 8.0
_HALVINGS = 60
# The most rows that all intervals share, so that fine intervals far out get no more than their rows
_MOST_EVEN = 16.0
# A smaller distance of the quartiles is no scale: arithmetic with it would overflow
_LEAST_WIDTH = 1e-280
_NONE = np.zeros(0)
_LARGEST = np.finfo(np.float64).max


class LawPart(NamedTuple):
    """A part of a law, in rows: a piecewise linear count of the rows below each knot, and the rows of points."""

    knots: np.ndarray = _NONE
    below: np.ndarray = _NONE
    points: np.ndarray = _NONE
    of_points: np.ndarray = _NONE

    @classmethod
    def of_values(cls, x: np.ndarray, counts: np.ndarray, grid: Grid) -> LawPart:
        """Return values that stand alone: cells of a grid, or points."""
        if grid.decimals is None or not len(x):
            return cls(points=x, of_points=counts)
        knots, below = np.repeat(x, 2), np.repeat(np.concatenate([[0.0], np.cumsum(counts)]), 2)[1:-1]
        knots[1::2] = grid.ends_of(x)
        first = np.append(True, np.diff(knots) > 0)
        return cls(knots[first], below[first])

    @classmethod
    def even(cls, cuts: np.ndarray, grid: Grid) -> LawPart:
        """Return half a row in each interval, or less if there are many."""
        rows = min(0.5, _MOST_EVEN / max(1, len(cuts) - 1))
        if len(cuts) < 2:
            return cls.of_values(cuts, np.full(len(cuts), rows), grid)
        cuts = cuts.copy()
        if grid.decimals is not None:
            cuts[-1] = grid.ends_of(cuts[-1:])[0]
        return cls(cuts, np.arange(len(cuts)) * rows)

    def at(self, positions: np.ndarray) -> np.ndarray:
        """Return the rows below each position, without those of points."""
        return _between(positions, self.knots, self.below) if len(self.knots) else np.zeros(len(positions))


def _between(positions: np.ndarray, knots: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Interpolate the rows below rising knots at positions, (n,), also where the slope between two knots overflows.

    >>> _between(np.array([1e-313, 0.5]), np.array([0.0, 2e-313, 1.0]), np.array([0.0, 1.0, 2.0])).round(9).tolist()
    [0.5, 1.5]
    """
    rows = np.interp(positions, knots, below)
    steep = np.flatnonzero(~np.isfinite(rows))
    after = np.searchsorted(knots, positions[steep])
    share = (positions[steep] - knots[after - 1]) / (knots[after] - knots[after - 1])
    rows[steep] = below[after - 1] + share * (below[after] - below[after - 1])
    return rows


def smooth_part(x: np.ndarray, counts: np.ndarray, grid: Grid) -> LawPart:
    """Return pieces between quantiles, as many as held-out rows say."""
    sizes = [size for size in _PIECES if size * _FEWEST_ROWS <= counts.sum()]
    if not sizes:
        return _pieces(x, counts, grid, 1)
    kinds: list[tuple[int, Bend | None]] = [(size, None) for size in sizes]
    bend = Bend.of(x, counts)
    if bend is not None:
        kinds += [(size, bend) for size in sizes if size >= _FEWEST_BENT]
    scores = [_held_out(x, counts, grid, *kind) for kind in kinds] if len(kinds) > 1 else [0.0]
    return _pieces(x, counts, grid, *kinds[int(np.argmax(scores))])


class Bend(NamedTuple):
    """A scale that is linear near the middle of a column and logarithmic far from it, asinh((x − middle) / width)."""

    middle: float
    width: float

    @classmethod
    def of(cls, x: np.ndarray, counts: np.ndarray) -> Bend | None:
        """Return the scale by the quartiles of a column; None if half of the rows are alike, or far too large."""
        low, middle, high = x[np.searchsorted(np.cumsum(counts), np.array([0.25, 0.5, 0.75]) * counts.sum())]
        width = float(high - low) / 2
        with np.errstate(over="ignore"):
            is_usable = width > _LEAST_WIDTH and np.isfinite((x[-1] - x[0]) / width)
        return cls(float(middle), width) if is_usable else None

    def places(self, x: np.ndarray) -> np.ndarray:
        """Return where numbers lie on the scale."""
        return np.arcsinh((x - self.middle) / self.width)

    def parted(self, part: LawPart, x: np.ndarray, rows: np.ndarray, grid: Grid) -> LawPart:
        """Return pieces divided into parts, in which densities fall or rise so that the mean place is that of the rows.

        Parameters
        ----------
        part : LawPart
            The pieces.
        x, rows : numpy.ndarray, (n,)
            Numbers, and the rows below each.
        grid : Grid
            Where parts may begin.
        """
        knots = self._divided(part.knots, grid)
        piece = np.searchsorted(part.knots, knots[:-1], side="right") - 1
        first, places = np.flatnonzero(np.diff(piece, prepend=-1)), self.places(knots)
        lengths, middles = np.diff(places), (places[1:] + places[:-1]) / 2
        held, whole = np.diff(part.below), np.add.reduceat(lengths, first)
        # A piece may be too short for the scale; then it has one part.
        masses = held[piece] * np.divide(lengths, whole[piece], out=np.ones(len(piece)), where=whole[piece] > 0)
        moments = np.concatenate([[0.0], np.cumsum(np.diff(rows) * self.places((x[1:] + x[:-1]) / 2))])
        # Pieces without rows stay as they are.
        wanted = np.diff(np.interp(part.below, rows, moments)) / np.where(held > 0, held, 1.0)
        moved = tilted(masses, middles - wanted[piece], first, _STEEPEST)
        return LawPart(knots, part.below[0] + np.concatenate([[0.0], np.cumsum(moved)]))

    def _divided(self, knots: np.ndarray, grid: Grid) -> np.ndarray:
        """Return the knots of pieces, and inside pieces those at even places between which densities fall too far."""
        places = self.places(knots)
        falls = np.logaddexp(places, -places)
        # The density is highest in the middle of the column, which lies inside one piece.
        across = np.sign(places[1:]) != np.sign(places[:-1])
        fall = np.where(across, np.maximum(falls[1:], falls[:-1]), np.abs(np.diff(falls)))
        n_parts = np.clip(np.ceil(fall / np.log(_FALL)), 1, _MOST_PARTS).astype(np.int64)
        piece = np.repeat(np.arange(len(n_parts)), n_parts)
        share = (np.arange(len(piece)) - np.repeat(np.cumsum(n_parts) - n_parts, n_parts)) / n_parts[piece]
        # Where pieces begin, places would give back their knots but for rounding.
        piece, share = piece[share > 0], share[share > 0]
        x = self.middle + self.width * np.sinh(places[piece] + share * np.diff(places)[piece])
        x = np.clip(np.rint(x) if grid.decimals is not None else x, knots[piece], knots[piece + 1])
        return np.unique(np.concatenate([x, knots]))


def tilted(masses: np.ndarray, places: np.ndarray, first: np.ndarray, steepest: float) -> np.ndarray:
    """Return masses times e^{θ places} with the same sum in each piece, for the θ that makes its mean place zero.

    Parameters
    ----------
    masses, places : numpy.ndarray, (n_parts,)
        Of every part.
    first : numpy.ndarray, (n_pieces,)
        The first part of every piece.
    steepest : float
        The largest |θ|, if the place farthest from zero is one.

    Examples
    --------
    >>> masses = tilted(np.array([1.0, 1.0, 2.0]), np.array([-0.2, 0.6, 0.0]), np.array([0, 2]), 200.0)
    >>> masses.round(6).tolist()
    [1.5, 0.5, 2.0]
    """
    piece = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(masses))))
    totals, scale = np.add.reduceat(masses, first), np.maximum.reduceat(np.abs(places), first)
    scaled = places / np.where(scale > 0, scale, 1.0)[piece]
    low, high = np.full(len(first), -steepest), np.full(len(first), steepest)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        moved = masses * np.exp(middle[piece] * scaled - np.abs(middle[piece]))
        is_high = np.add.reduceat(moved * scaled, first) > 0
        low, high = np.where(is_high, low, middle), np.where(is_high, middle, high)
    after = np.add.reduceat(moved, first)
    return np.asarray(moved * np.divide(totals, after, out=np.zeros(len(first)), where=after > 0)[piece])


def _held_out(x: np.ndarray, counts: np.ndarray, grid: Grid, size: int, bend: Bend | None) -> float:
    """Return the log-likelihood of each half of the rows under the pieces of the other half."""
    # whole rows are divided; weights are divided in the same proportions
    rows = np.maximum(np.rint(counts), 1).astype(np.int64)
    half = Stream.LAWS.generator(0).binomial(rows, 0.5) * (counts / rows)
    total = 0.0
    for some, others in ((half, counts - half), (counts - half, half)):
        seen = some > 0
        if np.count_nonzero(seen) < 2:
            return -np.inf
        part = _pieces(x[seen], some[seen], grid, size, bend)
        width = np.diff(part.knots)
        with np.errstate(over="ignore"):
            density = np.diff(part.below) / width / part.below[-1]
        piece = np.searchsorted(part.knots, x, side="right") - 1
        held = (piece >= 0) & (piece < len(width)) & (others > 0)
        total += float(others[held] @ np.log(np.clip(density[piece[held]], 1e-300, _LARGEST)))
    return total


def _pieces(x: np.ndarray, counts: np.ndarray, grid: Grid, size: int, bend: Bend | None = None) -> LawPart:
    """Return the mean over shifts of pieces between quantiles, with constant densities or with bent ones."""
    if grid.decimals is None:
        # half of the rows of a value lie below it
        xs, rows = x, np.cumsum(counts) - counts / 2
        rows = (rows - rows[0]) * (counts.sum() / max(rows[-1] - rows[0], 1e-300))
    else:
        cells = LawPart.of_values(x, counts, grid)
        xs, rows = cells.knots, cells.below
    if len(xs) < 2:
        return LawPart(points=x, of_points=counts)
    total = rows[-1]
    grids = []
    for shift in range(_SHIFTS):
        angles = (np.arange(size + 1) + shift / _SHIFTS) / size
        levels = np.sin(np.pi / 2 * np.concatenate([[0.0], angles[(angles > 0) & (angles < 1)], [1.0]])) ** 2
        knots = np.interp(levels * total, rows, xs)
        knots = np.unique(np.rint(knots) if grid.decimals is not None else knots)
        part = LawPart(knots, _between(knots, xs, rows))
        grids.append(part if bend is None else bend.parted(part, xs, rows, grid))
    knots = np.unique(np.concatenate([part.knots for part in grids]))
    return LawPart(knots, np.mean([part.at(knots) for part in grids], axis=0))
