"""Run the cell of a peer in a process of its own, which ends after some seconds of processor time.

Processor time, not that of the clock: peers may run beside other work. A peer that is stopped has no figure, and the
page says so.
"""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from benchmarks.accuracy.cells import Cell, Result, finished, run

# Processor seconds of one cell of a peer
LIMIT = 480


def run_by_section(cell: Cell) -> Result:
    """Compute a cell by the section that it names."""
    from .sections import SECTIONS

    return run(SECTIONS[cell.section], cell)


def run_within(limit: int, cell: Cell, work: Callable[[Cell], Result] = run_by_section) -> Result:
    """Let ``work``, a function of a module, compute a cell in a process with ``limit`` seconds of processor time."""
    before = _spent_by_children()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _allow, (limit,)) as pool:
        try:
            return pool.submit(work, cell).result()
        except BrokenProcessPool:
            pass
    spent = _spent_by_children() - before
    # The two clocks differ by some per cent.
    why = "stopped" if spent >= 0.9 * limit else "ended, perhaps for want of memory,"
    return finished(cell, {}, spent, failed=f"{why} after {spent:.0f} s of processor time")


def _allow(limit: int) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 10))


def _spent_by_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
