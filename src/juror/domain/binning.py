"""Cut numbers into intervals: how many, and where."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from juror.domain.grid import Grid
from juror.domain.interval_texts import IntervalTexts
from juror.domain.law import Law
from juror.domain.law_estimate import estimate_law, grid_of, is_wide
from juror.domain.variable import Variable
from juror.readers.calendars import Calendar
from juror.readers.exact_numbers import Number, as_float, intervals_of

_FEWEST_BINS, _MOST_BINS = 2, 32
# A number recurs if it occurs so often; weights are counts, and less than two of them are hardly two rows.
RECURS = 2
# How much closer cuts are at the ends where that is asked for, from 0 for equal counts to 1 for the squares of sines
_CLOSER = 0.9
# The points of that curve
_PLACES = 4097


def bins_for(n: float) -> int:
    """Return the number of intervals for n numbers: the cube root of 2n (Terrell and Scott), between 2 and 32.

    >>> [bins_for(n) for n in (5, 100, 1000, 100000)]
    [3, 6, 13, 32]
    """
    return int(np.clip(np.ceil(np.cbrt(2 * n)), _FEWEST_BINS, _MOST_BINS))


def binned_variable(
    name: str,
    edges: Sequence[Number] | np.ndarray,
    numbers: np.ndarray,
    counts: np.ndarray,
    *,
    open_ended: bool,
    are_groups: bool = False,
    calendar: Calendar | None = None,
) -> Variable:
    """Make a binned variable, with the law of the numbers that lie in its intervals.

    Parameters
    ----------
    name : str
        The variable's name.
    edges : sequence of int or float, (n_bins + 1,)
        Rising interval ends.
    numbers, counts : numpy.ndarray, (n_values,)
        Sorted distinct numbers and how often each occurs.
    open_ended : bool
        Whether the outer intervals include numbers beyond the edges.
    are_groups : bool
        Whether each number is the lowest of a group of numbers that were not told apart.
    calendar : Calendar, optional
        How the numbers stand for dates or times.
    """
    ends = plain_numbers(edges)
    if open_ended and is_wide(numbers):
        ends = _apart(ends, grid_of(numbers, counts))
    held = (intervals_of(ends, numbers, open_ended) >= 0) & (counts > 0)
    law = estimate_law(numbers[held], counts[held], ends, open_ended, are_groups) if np.any(held) else None
    if law is not None and calendar is not None:
        law = _within(law, calendar, ends)
    if law is not None and open_ended and law.grid.decimals is not None and not is_wide(numbers):
        # edges that were computed become numbers that the column may have
        grid, seen = law.grid, set(numbers.tolist())
        ends[1:-1] = [end if end in seen else grid.number(grid.cut(end, after=False)) for end in ends[1:-1]]
    labels = IntervalTexts(ends, open_ended, law, calendar).labels()
    return Variable(name, labels, "binned", tuple(ends), law, open_ended, calendar=calendar)


def _apart(ends: Sequence[Number], grid: Grid) -> list[Number]:
    """Return interval ends of numbers that are further apart than floats are exact: those of cells that they lie in.

    Ends that lie in the same cell become one.
    """
    last = ends[-2] == ends[-1]
    own = sorted({grid.number(grid.cut(end, after=False)) for end in ends})
    return [*own, own[-1]] if last or len(own) == 1 else own


def _within(law: Law, calendar: Calendar, edges: Sequence[Number]) -> Law:
    """Return the law of dates without its tails beyond the calendar, whose ends programs use for *never* and *always*.

    Intervals that reach beyond the calendar, because rows do, are kept.
    """
    first, last = min(calendar.ends[0], edges[0]), max(calendar.ends[1], edges[-1])
    low, high = law.grid.cut(first, after=False), law.grid.cut(last, after=True)
    if low <= law.starts[0] and law.ends[-1] <= high:
        return law
    starts, ends, masses = (np.array(part) for part in (law.starts, law.ends, law.masses))
    widths, inner = ends - starts, np.clip(ends, low, high) - np.clip(starts, low, high)
    # a point has no width
    shares = np.divide(inner, widths, out=((low <= starts) & (starts < high)).astype(float), where=widths > 0)
    kept, masses = shares > 0, shares * masses / (shares @ masses)
    parts = (np.clip(starts, low, high), np.clip(ends, low, high), masses)
    starts, ends, masses = (part[kept] for part in parts)
    return replace(law, starts=tuple(starts.tolist()), ends=tuple(ends.tolist()), masses=tuple(masses.tolist()))


def divided(variable: Variable, positions: Iterable[float]) -> Variable:
    """Return a binned variable whose intervals are also cut at some positions of its law.

    Each part of an interval has its share of the law, so this changes no answer. Positions where the variable is cut
    already, or that lie outside all intervals, are left out.
    """
    assert variable.edges is not None
    assert variable.law is not None
    cuts = variable.inside.cuts
    new = {p for p in positions if np.isfinite(p) and p not in cuts and cuts[0] < p < cuts[-1]}
    if not new:
        return variable
    starts = dict(zip(cuts[1:-1].tolist(), variable.edges[1:-1], strict=True))
    inner = [starts[p] if p in starts else variable.law.grid.number(p) for p in sorted({*starts, *new})]
    # the outer edges of an open-ended variable are those of its numbers, and a cut may lie beyond
    edges = (min(variable.edges[0], inner[0]), *inner, max(variable.edges[-1], inner[-1]))
    return with_edges(variable, edges)


def with_edges(variable: Variable, edges: Sequence[Number]) -> Variable:
    """Return a variable with other intervals of the same numbers, and their labels."""
    intervals = IntervalTexts(edges, variable.open_ended, variable.law, variable.calendar).labels()
    labels = (*intervals, *variable.labels[len(variable.present_labels) :])
    return replace(variable, labels=labels, edges=tuple(edges))


def parts_of(whole: Variable, parts: Variable) -> tuple[np.ndarray, np.ndarray]:
    """Return for every label of a divided variable the code of the whole one's, and its share of it, (n_labels,)."""
    outer, inner = whole.inside, parts.inside
    codes = np.searchsorted(outer.cuts[1:-1], inner.cuts[:-1], side="right")
    shares = np.divide(inner.masses, outer.masses[codes], out=np.zeros(len(codes)), where=outer.masses[codes] > 0)
    # without any mass nothing tells the parts apart
    empty = outer.masses[codes] == 0
    shares[empty] = 1 / np.bincount(codes, minlength=len(outer.masses))[codes[empty]]
    if whole.missing_label is not None:
        codes, shares = np.append(codes, whole.missing_code), np.append(shares, 1.0)
    return codes, shares


def cut_at_recurring(numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Cut before every number that occurs twice or more, and close the last interval.

    >>> cut_at_recurring(np.array([3, 6, 7, 9, 12]), np.array([1.0, 4.0, 1.0, 5.0, 1.0])).tolist()
    [3, 9, 12]
    """
    recurring = numbers[counts >= RECURS]
    return np.concatenate([numbers[:1], recurring[1:], numbers[-1:]])


def _equal_counts(numbers: np.ndarray, counts: np.ndarray, n_bins: int) -> np.ndarray:
    """Cut between distinct numbers so that every interval holds about the same count.

    A number (*atom*) that is more frequent than an interval's share gets its own interval. The runs of numbers between
    atoms share the other intervals in proportion to their counts.
    """
    runs = _runs_between(_atoms(counts, n_bins), len(counts))
    pieces = [1] * len(runs)
    for _ in range(n_bins - len(runs)):
        loads = [counts[run].sum() / k if k < len(counts[run]) else 0.0 for run, k in zip(runs, pieces, strict=True)]
        if max(loads) > 0:
            pieces[int(np.argmax(loads))] += 1
    starts = [run.start + s for run, k in zip(runs, pieces, strict=True) for s in _cuts(counts[run], k)]
    return np.append(numbers[starts], numbers[-1])


def _atoms(counts: np.ndarray, n_bins: int) -> np.ndarray:
    """Return the positions of numbers whose count exceeds an equal share of what is left."""
    by_count = np.argsort(-counts, kind="stable")
    left = float(counts.sum())
    n_atoms = 0
    while n_atoms < min(n_bins, len(counts)) and counts[by_count[n_atoms]] * (n_bins - n_atoms) > left:
        left -= float(counts[by_count[n_atoms]])
        n_atoms += 1
    # atoms and the runs between them all need an interval: give up the lightest atoms first
    while len(_runs_between(by_count[:n_atoms], len(counts))) > n_bins:
        n_atoms -= 1
    return by_count[:n_atoms]


def _runs_between(atoms: np.ndarray, n: int) -> list[slice]:
    """Return the atoms and the runs of positions between them, in order, as slices of range(n)."""
    ends = sorted({0, n, *atoms.tolist(), *(atoms + 1).tolist()})
    return [slice(start, end) for start, end in pairwise(ends)]


def _cuts(counts: np.ndarray, n_pieces: int) -> list[int]:
    """Return where the pieces of a run start; each gets about an equal share of what is left."""
    starts = [0]
    held, left = 0.0, float(counts.sum())
    for i, count in enumerate(counts):
        target = left / (n_pieces - len(starts) + 1)
        overshoot, shortfall = held + count - target, target - held
        if held > 0 and overshoot > shortfall and len(starts) < n_pieces:
            starts.append(i)
            left -= held
            held = 0.0
        held += count
    return starts


def _equal_widths(numbers: np.ndarray, counts: np.ndarray, n_bins: int) -> np.ndarray:
    low, high = float(numbers[0]), float(numbers[-1])
    # a mixture of both ends, as high − low may overflow; neighbouring floats give fewer intervals
    mixed = [low * (1 - i / n_bins) + high * (i / n_bins) for i in range(n_bins + 1)]
    # rounding may place edges beyond the ends
    edges = np.unique(np.clip(mixed, low, high))
    return edges if len(edges) > 1 else np.array([low, high])


def _closer_at_ends(numbers: np.ndarray, counts: np.ndarray, n_bins: int) -> np.ndarray:
    """Cut so that intervals hold fewer and fewer rows towards both ends, where numbers lie far apart."""
    places = np.linspace(0.0, 1.0, _PLACES)
    levels = _CLOSER * np.sin(np.pi / 2 * places) ** 2 + (1.0 - _CLOSER) * places
    below = np.concatenate([[0.0], np.cumsum(counts) / counts.sum()])
    # rows count by how far they reach along the curve, so that equal sums are cut at its levels
    shares = np.diff(np.interp(below, levels, places))
    return _equal_counts(numbers, shares, n_bins)


BINNINGS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "quantile": _equal_counts,
    "width": _equal_widths,
    "ends": _closer_at_ends,
}


def plain_numbers(numbers: Sequence[Number] | np.ndarray) -> list[Number]:
    """Return Python numbers, all as int if all are whole, so that they print without a fraction.

    Whole numbers that no float can represent stay int in any case.
    """
    plain: list[Number] = numbers.tolist() if isinstance(numbers, np.ndarray) else list(numbers)
    if all(isinstance(number, int) or (number.is_integer() and abs(number) < 2**53) for number in plain):
        return [int(number) for number in plain]
    return [number if as_float(number) != number else float(number) for number in plain]
