"""Runners apply a function to the partitions of a table and merge what comes back, always in the same order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import reduce
from types import TracebackType
from typing import Self, TypeVar

from juror.errors import check_count

P = TypeVar("P")
R = TypeVar("R")

# The number of rows in a partition never depends on the number of threads, so neither do the sums. What comes back for
# each costs as much as some hundred rows, so they are not too small, and no more than any machine's threads share.
_LEAST_ROWS = 8192
_MOST_PARTITIONS = 64


def partitions(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Cut a table into runs of rows, of a size that depends on the table only unless given.

    >>> list(partitions(5, size=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if size is None:
        size = max(_LEAST_ROWS, -(-n_rows // _MOST_PARTITIONS))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


class LocalRunner:
    """Threads on this machine.

    Parameters
    ----------
    n_jobs : int, optional
        How many threads; all cores by default and for −1. The result does not depend on it.
    """

    def __init__(self, n_jobs: int | None = None):
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if n_jobs is not None and n_jobs != -1:
            check_count("n_jobs", n_jobs)
        self.n_jobs = available if n_jobs is None or n_jobs == -1 else n_jobs
        self._pool = ThreadPoolExecutor(self.n_jobs) if self.n_jobs > 1 else None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, fn: Callable[[P], R], parts: Iterable[P]) -> Iterator[R]:
        """Apply a function to every partition, results in the partitions' order."""
        parts = list(parts)
        if self._pool is None or len(parts) < 2:
            return map(fn, parts)
        results: dict[int, R] = {}
        left = iter(range(len(parts)))

        def work() -> None:
            # every thread takes the next partition when it is done with one: a task each would cost more
            for number in left:
                results[number] = fn(parts[number])

        try:
            for done in as_completed([self._pool.submit(work) for _ in range(min(self.n_jobs, len(parts)))]):
                done.result()
        except BaseException:
            # the others need not go on
            deque(left, maxlen=0)
            raise
        return (results[number] for number in range(len(parts)))

    def map_reduce(self, fn: Callable[[P], R], parts: Iterable[P], merge: Callable[[R, R], R]) -> R:
        """Apply a function to every partition and merge the results from left to right."""
        return reduce(merge, self.map(fn, parts))
