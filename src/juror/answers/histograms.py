"""Histograms of numbers: bins of true widths, whose areas are probabilities.

Bins begin and end with the intervals of a variable. Wide intervals are divided so that the law inside them shows, and
narrow ones joined. A value that is far more probable than the numbers around it has a bin of its own, a *stem*: it
would be too high for the scale of the others. All places are positions of the law (:mod:`juror.domain.law`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.answers.numbers import quantiles_of
from juror.domain.law import Inside
from juror.domain.variable import Variable

# Bins are at least this share of the axis wide. Intervals wider than the second share are divided into parts of equal
# probability, at most this many.
_NARROW, _WIDE, _MOST_PARTS = 1 / 48, 1 / 16, 8
# A stem has at least this probability, and this many times the density of the numbers within this share of the axis.
_STEM, _DENSER, _AROUND = 0.03, 5.0, 1 / 24
# Numbers beyond these quantiles may be left out, if the axis would be longer by this share with them.
_TAILS, _LONG = (0.005, 0.995), 0.25


@dataclass(frozen=True)
class Bins:
    """The bins of a number.

    Attributes
    ----------
    bounds : numpy.ndarray, (n_bins + 1,)
        Rising positions, all finite.
    are_stems : numpy.ndarray of bool, (n_bins,)
        Which bins hold a single value that stands out.
    axis : tuple of float
        The positions between which bins are drawn. Long tails lie beyond.
    """

    bounds: np.ndarray
    are_stems: np.ndarray
    axis: tuple[float, float]


def bins_of(variable: Variable, *probabilities: np.ndarray) -> Bins:
    """Return the bins of a number.

    Parameters
    ----------
    variable : Variable
        A variable of numbers.
    *probabilities : numpy.ndarray, (cardinality,)
        The probabilities of its labels. The axis is long enough for all of them; stems are those of the last.
    """
    inside, axis = variable.inside, _axis(variable, probabilities)
    extent = axis[1] - axis[0]
    stems = _stems(variable, probabilities[-1], extent)
    protected = {bound for stem in stems for bound in stem}
    cuts = _finite(inside)
    inner = {p for code in range(len(inside.masses)) for p in _divisions(inside, code, extent)}
    rising = sorted({*cuts.tolist(), *(p for p in {*inner, *protected} if cuts[0] < p < cuts[-1])})
    kept = np.array(_wide_enough(rising, protected | {rising[0], rising[-1]}, _NARROW * extent))
    return Bins(kept, np.isin(kept[:-1], [low for low, _ in stems]), axis)


def _wide_enough(rising: list[float], protected: set[float], least: float) -> list[float]:
    """Return bounds without those that are nearer to another than this, unless both are protected."""
    kept = rising[:1]
    for bound in rising[1:]:
        is_near = bound - kept[-1] < least
        if is_near and bound in protected and kept[-1] not in protected:
            kept[-1] = bound
        elif not is_near or bound in protected:
            kept.append(bound)
    return kept


def below(variable: Variable, probabilities: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the probability of all numbers below each position, (n,), from those of the labels (cardinality,)."""
    inside, n = variable.inside, len(variable.present_labels)
    codes = inside.intervals_of(positions)
    before = np.concatenate([[0.0], np.cumsum(probabilities[:n])])
    return before[codes] + probabilities[codes] * inside.shares_below(codes, positions)


def masses_of(variable: Variable, probabilities: np.ndarray, bins: Bins) -> np.ndarray:
    """Return the probability of every bin, (n_bins,)."""
    ends = bins.bounds.copy()
    # the last position itself may hold a point
    ends[-1] = np.nextafter(ends[-1], np.inf)
    return np.maximum(np.diff(below(variable, probabilities, ends)), 0.0)


def quantiles(variable: Variable, probabilities: np.ndarray, levels: tuple[float, ...]) -> np.ndarray:
    """Return quantiles of a number from the probabilities of its labels (cardinality,), one for each level."""
    return quantiles_of(variable, np.repeat(probabilities[None], len(levels), axis=0), np.array(levels))


def _axis(variable: Variable, probabilities: tuple[np.ndarray, ...]) -> tuple[float, float]:
    """Return the positions between which numbers are drawn: up to the outer edges, or without long tails."""
    assert variable.edges is not None
    grid = variable.inside.law.grid
    found = np.concatenate([grid.positions(quantiles(variable, one, _TAILS)) for one in probabilities])
    cell = 0.0 if grid.decimals is None else 1.0
    low, high = float(found.min()), float(found.max()) + cell
    first, last = grid.cut(variable.edges[0], after=False), grid.cut(variable.edges[-1], after=False) + cell
    room = _LONG * (high - low)
    low = first if low - room <= first <= low else low
    high = last if high <= last <= high + room else high
    if high - low > cell:
        return low, high
    room = 1.5 * cell or abs(low) * 1e-3 or 1.0
    return low - room, high + room


def _finite(inside: Inside) -> np.ndarray:
    """Return the cuts of intervals; infinite ones are moved to the ends of the law."""
    # a single interval that takes all numbers has no finite cut
    finite = inside.cuts[np.isfinite(inside.cuts)]
    low = min([inside.law.starts[0], *finite])
    high = max([inside.law.ends[-1], *finite])
    cuts = np.unique(np.clip(inside.cuts, low, high))
    return cuts if len(cuts) > 1 else np.array([low, np.nextafter(high, np.inf)])


def _divisions(inside: Inside, code: int, extent: float) -> list[float]:
    """Return where a wide interval is divided, into parts of equal probability."""
    level, mass = inside.law.below(inside.cuts[code : code + 1])[0], inside.masses[code]
    low, high = inside.law.at(level + np.array([0.01, 0.99]) * mass)
    if mass == 0 or high - low <= _WIDE * extent:
        return []
    parts = min(int(np.ceil((high - low) / (_WIDE * extent))), _MOST_PARTS)
    divisions: list[float] = inside.law.at(level + np.arange(1, parts) / parts * mass).tolist()
    return divisions


def _stems(variable: Variable, probabilities: np.ndarray, extent: float) -> list[tuple[float, float]]:
    """Return the beginning and the end of each value that stands out."""
    inside = variable.inside
    starts, ends, masses = (np.array(part) for part in (inside.law.starts, inside.law.ends, inside.law.masses))
    is_grid = inside.law.grid.decimals is not None
    codes = inside.intervals_of(starts)
    room = inside.masses[codes]
    share = np.divide(masses, room, out=np.zeros_like(masses), where=room > 0) * probabilities[codes]
    alone = (ends == inside.law.grid.ends_of(starts) if is_grid else ends == starts) & (share >= _STEM)
    found = []
    for value, mass in zip(starts[alone].tolist(), share[alone].tolist(), strict=True):
        end = float(inside.law.grid.ends_of(np.array(value)))
        reach = max(_AROUND * extent, 1.0 if is_grid else 0.0)
        window = np.array([value - reach, value, end, end + reach])
        shares = np.diff(below(variable, probabilities, window))
        # on a grid the numbers around it are as many cells; without one a point stands out from any density
        if not is_grid or mass >= _DENSER * (shares[0] + shares[2]) / (2 * reach):
            found.append((value, end))
    return found
