"""Choose a rank: grow it along a path, score each fit on held-out rows, stop when growing no longer helps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import chain, islice, takewhile

from juror.record import RankScore

# Growing must fail this often in a row before the path ends: held-out scores are noisy and starts random.
_PATIENCE = 2
# The least gain that counts, in nats per row: with many rows ever larger ranks gain ever less, and cost ever more.
_LEAST_GAIN = 1e-3


def growing_ranks(most: int) -> Iterator[int]:
    """Give 1, 2, 3, 4, 6, 8, 12, 16, 24, …, twice the density of powers of two, and the largest at last.

    >>> list(growing_ranks(20))
    [1, 2, 3, 4, 6, 8, 12, 16, 20]
    """
    ranks = chain([1], *((2**k, 2**k * 3 // 2) for k in range(1, most.bit_length() + 1)))
    yield from takewhile(lambda rank: rank < most, ranks)
    yield most


def choose_rank(
    score: Callable[[int], RankScore],
    most: int,
    *,
    also: Callable[[int], RankScore] | None = None,
    hopeless: float = math.inf,
    least_gain: float = _LEAST_GAIN,
    is_late: Callable[[], bool] = lambda: False,
) -> tuple[int, tuple[RankScore, ...]]:
    """Return the rank after which no larger one is better, and the path.

    A rank is better than a smaller one if it scores higher by more than the least gain and fills more classes: a gain
    without more classes comes from elsewhere, such as the smoothing that each class brings.

    Parameters
    ----------
    score, most : callable, int
        Fits a rank and scores it on held-out rows, up to the largest rank.
    also : callable, optional
        Another score of the rank just fitted: the path does not end while it still improves, though it does not decide.
        So the score of labels may not change for a while as the rest of their rows is learned.
    hopeless : float
        A rank that scores lower than the best by more than this ends the path at once.
    least_gain : float
        The gain that counts, by default a thousandth of a nat.
    is_late : callable
        Whether there is no time for another rank, which ends the path too.
    """
    path = [score(1)]
    best, failures = path[0], 0
    other = None if also is None else also(1)
    for rank in islice(growing_ranks(most), 1, None):
        path.append(score(rank))
        failures += 1
        if _better(path[-1], best, least_gain):
            best, failures = path[-1], 0
        if also is not None and other is not None and _better(reached := also(rank), other, least_gain):
            other, failures = reached, 0
        if failures == _PATIENCE or path[-1].score < best.score - hopeless or (rank < most and is_late()):
            break
    return best.rank, tuple(path)


def _better(larger: RankScore, smaller: RankScore, least_gain: float) -> bool:
    return larger.score > smaller.score + least_gain and larger.n_occupied > smaller.n_occupied
