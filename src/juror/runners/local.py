"""What every runner does, and the runner of this machine: threads.

A runner applies a function to the parts of a table and merges the results, always in the same order.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import partial, reduce
from threading import Lock, local
from types import ModuleType
from typing import Any, Generic, Protocol, Self, TypeVar

from juror.errors import DataError, check_count
from juror.kernels import card_for, check_device

P = TypeVar("P")
R = TypeVar("R")
K = TypeVar("K")

# The number of rows in a partition never depends on the number of threads, so neither do the sums. Merging one result
# costs as much as a few hundred rows, so partitions are not too small; there are enough of them for many threads.
_LEAST_ROWS = 8192
_MOST_PARTITIONS = 64


def partitions(n_rows: int, size: int | None = None) -> Iterator[slice]:
    """Cut a table into slices of consecutive rows. The default size depends only on the number of rows.

    >>> list(partitions(5, size=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    if size is None:
        size = max(_LEAST_ROWS, -(-n_rows // _MOST_PARTITIONS))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def check_any_rows(n_rows: int) -> None:
    """Refuse a table without rows."""
    if n_rows == 0:
        raise DataError("The data have no rows. juror needs at least one.")


class Kept(Protocol):
    """The values loaded from every part of a table. They stay where they were loaded until they are released."""

    def map_reduce(self, fn: Callable[[Any], R], merge: Callable[[R, R], R]) -> R:
        """Apply a function to every value, and merge the results in the order of the parts."""
        ...

    def release(self) -> None:
        """Free the values."""
        ...


class Runner(Protocol):
    """Applies functions to the parts of a table: threads of this process, or a cluster.

    Functions must be pure, as a cluster may run one again for the same part when a machine is lost. Functions and
    results must be picklable. An error of a function is raised here unchanged.
    """

    def map_reduce(self, fn: Callable[[Any], R], parts: Any, merge: Callable[[R, R], R]) -> R:
        """Apply a function to every part, and merge the results in the order of the parts."""
        ...

    def keep(self, load: Callable[[Any], Any], parts: Any) -> Kept:
        """Load a value from every part, and keep it where the part is read. A lost value is loaded again."""
        ...


class _KeptHere:
    """Values in this process."""

    def __init__(self, runner: LocalRunner, values: list[Any]):
        self._runner, self._values = runner, values

    def map_reduce(self, fn: Callable[[Any], R], merge: Callable[[R, R], R]) -> R:
        return self._runner.map_reduce(fn, self._values, merge)

    def release(self) -> None:
        self._values = []


class _Merging(Generic[R]):
    """Merges results in the order of their numbers, and holds only those that come too early."""

    def __init__(self, merge: Callable[[R, R], R]):
        self._merge = merge
        self._early: dict[int, R] = {}
        self._next = 0
        self._lock = Lock()
        self.merged: Any = None

    def put(self, number: int, result: R) -> None:
        with self._lock:
            self._early[number] = result
            while self._next in self._early:
                result = self._early.pop(self._next)
                self.merged = result if self._next == 0 else self._merge(self.merged, result)
                self._next += 1


class _Task(Generic[P, R]):
    """Parts of which every thread that works on them takes the next one when it is free."""

    def __init__(self, fn: Callable[[P], R], parts: Sequence[P], put: Callable[[int, R], None]):
        self._left = iter(range(len(parts)))
        self._do: Callable[[int], None] | None = lambda number: put(number, fn(parts[number]))

    def work(self) -> None:
        """Take parts until none is left; after an error no thread takes another."""
        do = self._do
        if do is None:
            return
        try:
            for number in self._left:
                do(number)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Let no thread take another part."""
        deque(self._left, maxlen=0)

    def forget(self) -> None:
        """Let go of the parts: the pool keeps a task that was cancelled until one of its threads is free."""
        self._do = None


class LocalRunner:
    """Threads on this machine.

    Work inside of work, such as the passes of a member, is shared with those threads alone that have nothing else to
    do: the thread that asks takes part in it, and waits for no other that has not begun.

    Parameters
    ----------
    n_jobs : int, optional
        How many threads; all cores by default and for −1. The result does not depend on it.
    device : {"auto", "cpu", "cuda"}
        Where passes over rows are made.
    """

    def __init__(self, n_jobs: int | None = None, device: str = "cpu"):
        check_device(device)
        self.device = device
        available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        if n_jobs is not None and n_jobs != -1:
            check_count("n_jobs", n_jobs)
        self.n_jobs = available if n_jobs is None or n_jobs == -1 else n_jobs
        self._pool: ThreadPoolExecutor | None = None
        if self.n_jobs > 1:
            # What the threads of the pool have, and the one that asks first has not
            self._of_pool = local()
            self._pool = ThreadPoolExecutor(self.n_jobs, initializer=partial(setattr, self._of_pool, "mark", True))
        self._has_ended = False

    @property
    def has_ended(self) -> bool:
        """Whether the block of this runner has ended, by an error or Ctrl-C: threads that still run should stop."""
        return self._has_ended

    def card(self, n_cells: int) -> ModuleType | None:
        """Return the kernels of a card if passes over a table of n_cells cells are made there, else None."""
        return card_for(self.device, n_cells)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._has_ended = True
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def map(self, fn: Callable[[P], R], parts: Iterable[P]) -> Iterator[R]:
        """Apply a function to every partition, results in the partitions' order."""
        parts = list(parts)
        if self._pool is None or len(parts) < 2:
            return map(fn, parts)
        results: dict[int, R] = {}
        self._run(fn, parts, results.__setitem__)
        return (results[number] for number in range(len(parts)))

    def map_reduce(self, fn: Callable[[P], R], parts: Iterable[P], merge: Callable[[R, R], R]) -> R:
        """Apply a function to every partition, and merge the results from left to right as soon as possible."""
        parts = list(parts)
        if not parts:
            check_any_rows(0)
        if self._pool is None or len(parts) < 2:
            return reduce(merge, self.map(fn, parts))
        merging = _Merging(merge)
        self._run(fn, parts, merging.put)
        return merging.merged

    def _run(self, fn: Callable[[P], R], parts: Sequence[P], put: Callable[[int, R], None]) -> None:
        """Work on the parts with all threads that are free. One call of the pool for each part would cost more."""
        assert self._pool is not None
        task, is_inside = _Task(fn, parts, put), hasattr(self._of_pool, "mark")
        others = [self._pool.submit(task.work) for _ in range(min(self.n_jobs, len(parts)) - is_inside)]
        try:
            if is_inside:
                task.work()
            # What is left to do here is nothing for threads that were busy until now.
            begun = [other for other in others if not (is_inside and other.cancel())]
            for done in as_completed(begun):
                done.result()
        except BaseException:
            task.stop()
            raise
        finally:
            task.forget()

    def keep(self, load: Callable[[P], K], parts: Iterable[P]) -> Kept:
        """Load a value from every part, and keep it in memory."""
        return _KeptHere(self, list(self.map(load, parts)))
