"""What a page needs to draw a number and to take ranges of it: its law, and the bins of its histogram."""

from __future__ import annotations

from typing import Any

import numpy as np

from juror.answers.histograms import bins_of
from juror.domain.law import Inside, Law
from juror.domain.variable import Variable

# A law of more pieces is simplified: doubles of these take a few kilobytes when they are deflated.
MOST_PIECES = 640


def number_facts(variable: Variable, probabilities: np.ndarray) -> dict[str, Any] | None:
    """Return the law of a number as plain values; None if the variable has labels.

    Returns
    -------
    dict
        ``decimals`` and ``origin`` (as text) of the grid, and the ``calendar``, by which positions become numbers;
        ``stride``, how many positions the numbers of the rows lie apart; ``cuts``, the positions of the intervals, None
        for infinite ones; ``bounds`` and ``masses``, the pieces of the law; ``error``, how far the share of an interval
        below a number may be from that of the whole law, zero if the pieces are all of it; ``bins``, the bounds of the
        histogram; ``stems``, the bins that are values that stand out; ``axis``, the positions between which it is
        drawn.
    """
    if variable.edges is None:
        return None
    inside, calendar = variable.inside, variable.calendar
    grid, bins = inside.law.grid, bins_of(variable, probabilities)
    bounds, masses, error = pieces_of(inside)
    return {
        "decimals": grid.decimals,
        "origin": str(grid.origin),
        "stride": inside.law.stride,
        "calendar": None if calendar is None else {"unit": calendar.unit, "zone": calendar.zone},
        "cuts": [cut if np.isfinite(cut) else None for cut in inside.cuts.tolist()],
        "bounds": bounds.tolist(),
        "masses": masses.tolist(),
        "error": error,
        "bins": bins.bounds.tolist(),
        "stems": np.flatnonzero(bins.are_stems).tolist(),
        "axis": list(bins.axis),
    }


def pieces_of(inside: Inside, most: int = MOST_PIECES) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the bounds of the pieces of a law (n + 1,), their masses (n,), and the largest error of a share.

    Pieces follow each other without gaps. A law of too many is simplified: its distribution function is joined by
    straight lines between the cuts, and wherever it is furthest from them, as shares of an interval.
    """
    bounds, masses = _without_gaps(inside.law)
    if len(masses) <= most:
        return bounds, masses, 0.0
    # just after a point the distribution function has jumped
    after = np.nextafter(bounds[1:][np.diff(bounds) == 0], np.inf)
    cuts = inside.cuts[np.isfinite(inside.cuts)]
    places = np.unique(np.concatenate([bounds, after, cuts]))
    levels = inside.law.below(places)
    room = inside.masses[inside.intervals_of(places)]
    kept = np.isin(places, cuts) | np.isin(places, places[[0, -1]])
    while True:
        apart = np.abs(np.interp(places, places[kept], levels[kept]) - levels)
        shares = np.divide(apart, room, out=np.zeros_like(apart), where=room > 0)
        worst = int(np.argmax(shares))
        if shares[worst] == 0 or kept.sum() > most:
            return places[kept], np.diff(levels[kept]), float(shares[worst])
        kept[worst] = True


def _without_gaps(law: Law) -> tuple[np.ndarray, np.ndarray]:
    """Return the bounds and masses of a law's pieces, with pieces of no mass in its gaps."""
    bounds, masses = [law.starts[0]], []
    for start, end, mass in zip(law.starts, law.ends, law.masses, strict=True):
        if start > bounds[-1]:
            bounds.append(start)
            masses.append(0.0)
        bounds.append(end)
        masses.append(mass)
    return np.array(bounds), np.array(masses)
