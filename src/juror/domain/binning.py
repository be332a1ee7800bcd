"""Cut numbers into intervals: how many, where, and what they are called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from juror.domain.variable import Variable
from juror.readers.exact_numbers import Number, as_float, intervals_of

_FEWEST_BINS, _MOST_BINS = 2, 32


def bins_for(n: float) -> int:
    """Return the number of intervals for n numbers: the cube root of 2n (Terrell and Scott), between 2 and 32.

    >>> [bins_for(n) for n in (5, 100, 1000, 100000)]
    [3, 6, 13, 32]
    """
    return int(np.clip(np.ceil(np.cbrt(2 * n)), _FEWEST_BINS, _MOST_BINS))


def binned_variable(
    name: str, edges: Sequence[Number] | np.ndarray, numbers: np.ndarray, counts: np.ndarray, open_ended: bool
) -> Variable:
    """Make a binned variable whose typical values are the medians of the numbers seen in each interval.

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
    """
    ends = plain_numbers(edges)
    n_bins = len(ends) - 1
    where = intervals_of(ends, numbers, open_ended=False)
    values = []
    for b in range(n_bins):
        mine = (where == b) & (counts > 0)
        values.append(_median(numbers[mine], counts[mine]) if np.any(mine) else _middle(*ends[b : b + 2]))
    labels = _interval_labels(ends, open_ended)
    return Variable(name, labels, "binned", tuple(ends), tuple(plain_numbers(values)), open_ended)


def _interval_labels(ends: Sequence[float], open_ended: bool) -> tuple[str, ...]:
    texts = _distinct_texts(ends)
    labels = [f"[{low}, {high})" for low, high in pairwise(texts)]
    labels[-1] = f"[{texts[-2]}, {texts[-1]}]"
    if open_ended:
        labels[0] = f"<{texts[1]}"
        labels[-1] = f">={texts[-2]}" if len(labels) > 1 else "any"
    return tuple(labels)


def _distinct_texts(ends: Sequence[float]) -> list[str]:
    """Write numbers with as few digits as keep them distinct, and integers in full."""
    for digits in range(6, 18):
        texts = [str(end) if isinstance(end, int) else f"{end:.{digits}g}" for end in ends]
        if len(set(texts)) == len(set(ends)):
            break
    return texts


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


BINNINGS: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "quantile": _equal_counts,
    "width": _equal_widths,
}


def _median(numbers: np.ndarray, counts: np.ndarray) -> Number:
    median: Number = numbers[np.searchsorted(np.cumsum(counts), counts.sum() / 2)].item()
    return median


def _middle(low: Number, high: Number) -> Number:
    """Return the middle of an interval. That of large whole numbers is rounded down, as a float may lie outside."""
    middle = (low + high) / 2
    return middle if low <= middle <= high or isinstance(low + high, float) else (low + high) // 2


def plain_numbers(numbers: Sequence[Number] | np.ndarray) -> list[Number]:
    """Return Python numbers, all as int if all are whole, so that they print without a fraction.

    Whole numbers that no float can represent stay int in any case.
    """
    plain: list[Number] = numbers.tolist() if isinstance(numbers, np.ndarray) else list(numbers)
    if all(isinstance(number, int) or (number.is_integer() and abs(number) < 2**53) for number in plain):
        return [int(number) for number in plain]
    return [number if as_float(number) != number else float(number) for number in plain]
