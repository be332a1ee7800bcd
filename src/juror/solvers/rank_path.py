"""Choose a rank: grow it along a path, score each fit on held-out rows, stop when growing no longer helps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice, takewhile

from juror.info import RankScore

# Growing must fail this often in a row before the path ends: held-out scores are noisy and starts random.
_PATIENCE = 2
# The least gain that counts, in nats a row: with many rows ever larger ranks gain ever less, and cost ever more.
_LEAST_GAIN = 1e-3


def growing_ranks(most: int) -> Iterator[int]:
    """Give 1, 2, 3, 4, 6, 8, 12, 16, 24, …, twice the density of powers of two, and the largest at last.

    >>> list(growing_ranks(20))
    [1, 2, 3, 4, 6, 8, 12, 16, 20]
    """
    ranks = chain([1], *((2**k, 2**k * 3 // 2) for k in range(1, most.bit_length() + 1)))
    yield from takewhile(lambda rank: rank < most, ranks)
    yield most


def choose_rank(score: Callable[[int], RankScore], most: int) -> tuple[int, tuple[RankScore, ...]]:
    """Return the rank after which no larger one is better, and the path.

    A rank is better than a smaller one if it scores higher by at least a thousandth of a nat and fills more classes: a
    gain without more classes comes from elsewhere, such as the smoothing that each class brings.

    Parameters
    ----------
    score : callable
        Fits a rank and scores it on held-out rows.
    most : int
        The largest rank to try.
    """
    path = [score(1)]
    best, failures = path[0], 0
    for rank in islice(growing_ranks(most), 1, None):
        path.append(score(rank))
        if path[-1].score > best.score + _LEAST_GAIN and path[-1].n_occupied > best.n_occupied:
            best, failures = path[-1], 0
        else:
            failures += 1
        if failures == _PATIENCE:
            break
    return best.rank, tuple(path)
