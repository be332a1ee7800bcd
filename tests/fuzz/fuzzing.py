"""Run random cases: ``make fuzz N=100000``, or one case again with its traceback: ``fuzzing.py --seed 0 --case 123``.

A case is known by the seed and its number, and the kinds take turns. It may end well or with one of juror's own errors.
All else is a finding: another exception, a warning that is not juror's, more than LIMIT_S of processor time, more than
LIMIT_BYTES of memory, or a process that dies.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from csv_mutants import csv_case
from odd_questions import question_case
from saved_mutants import counts_case, model_case

import juror

KINDS: dict[str, Callable[[np.random.Generator, Path], None]] = {
    "model": model_case,
    "counts": counts_case,
    "question": question_case,
    "csv": csv_case,
}
LIMIT_S = 20.0
LIMIT_BYTES = 2**31


class TooSlow(BaseException):
    """A case took too long. No handler of the code under test catches it."""


def kind_of(case: int) -> str:
    """Return the kind of a case: they take turns."""
    return list(KINDS)[case % len(KINDS)]


def run_case(seed: int, case: int, folder: Path) -> None:
    """Run one case; every exception of it passes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", juror.JurorWarning)
        KINDS[kind_of(case)](np.random.default_rng([seed, case]), folder)


def ending(seed: int, case: int, folder: Path) -> str:
    """Run one case and say how it ended: answered, refused, or a finding with its traceback."""
    try:
        with _in_time():
            run_case(seed, case, folder)
    except juror.JurorError as error:
        return "refused" if str(error).strip() else "an error without a message"
    except (Exception, TooSlow):
        return traceback.format_exc()
    return "answered"


@contextmanager
def _in_time() -> Iterator[None]:
    """Stop after LIMIT_S of processor time, or much later for code that waits: the machine may be busy."""

    def stop(*_: object) -> None:
        raise TooSlow(f"more than {LIMIT_S:g} s")

    timers = ((signal.ITIMER_PROF, signal.SIGPROF, LIMIT_S), (signal.ITIMER_REAL, signal.SIGALRM, 10 * LIMIT_S))
    before = [signal.signal(sent, stop) for _, sent, _ in timers]
    try:
        for timer, _, seconds in timers:
            signal.setitimer(timer, seconds)
        yield
    finally:
        for (timer, sent, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(sent, handler)


def get_ready() -> None:
    """Import and make what all cases of a kind share, which is not counted as memory of a case."""
    with tempfile.TemporaryDirectory() as folder:
        for case in range(10 * len(KINDS)):
            ending(0, case, Path(folder))


@contextmanager
def memory_bounded() -> Iterator[None]:
    """Let the process have LIMIT_BYTES more than it has now: beyond them an allocation is a MemoryError."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + LIMIT_BYTES, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _work(seed: int, cases: range, running: Any, results: Any) -> None:
    """Run cases in a process of its own, and say which one is running, so that its death is known too."""
    get_ready()
    with tempfile.TemporaryDirectory() as folder, memory_bounded():
        peak = _peak_mb()
        for case in cases:
            running.value = case
            # For code that no signal ends
            faulthandler.dump_traceback_later(20 * LIMIT_S, exit=True)
            start = time.process_time()
            end = ending(seed, case, Path(folder))
            results.put((case, end, time.process_time() - start, _peak_mb() - peak))
            peak = _peak_mb()
        faulthandler.cancel_dump_traceback_later()


class Fuzz:
    """Many cases in some processes, and what came of them."""

    def __init__(self, n: int, seed: int, n_workers: int):
        self.n, self.seed, self.n_workers = n, seed, n_workers
        self.context = multiprocessing.get_context("spawn")
        self.ends: Counter[tuple[str, str]] = Counter()
        self.slowest, self.largest = (0.0, -1), (0.0, -1)
        self.began = time.time()

    @property
    def n_findings(self) -> int:
        """The number of findings."""
        return sum(self.ends[kind, "finding"] for kind in KINDS)

    def run(self) -> None:
        """Run all cases. A process that dies is a finding, and another one goes on after its case."""
        threads = [threading.Thread(target=self._follow, args=(worker,)) for worker in range(self.n_workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _follow(self, first: int) -> None:
        """Run every n_workers-th case, in one process after the other."""
        while first < self.n:
            running, results = self.context.Value("q", first), self.context.SimpleQueue()
            cases = range(first, self.n, self.n_workers)
            process = self.context.Process(target=_work, args=(self.seed, cases, running, results))
            process.start()
            while process.is_alive() or not results.empty():
                process.join(0.05 if results.empty() else 0.0)
                while not results.empty():
                    self._take(*results.get())
            if not process.exitcode:
                return
            self._take(running.value, f"the process ended with {process.exitcode}", 0.0, 0.0)
            first = running.value + self.n_workers

    def _take(self, case: int, end: str, seconds: float, grown_mb: float) -> None:
        """Count how a case ended, and print findings."""
        kind = kind_of(case)
        is_known = end in ("answered", "refused")
        self.ends[kind, end if is_known else "finding"] += 1
        self.slowest, self.largest = max(self.slowest, (seconds, case)), max(self.largest, (grown_mb, case))
        if not is_known:
            print(f"case {case} ({kind}):\n{end}", flush=True)

    def tell(self) -> None:
        """Print the figures."""
        for kind in KINDS:
            print(
                f"{kind}: " + ", ".join(f"{self.ends[kind, end]:,} {end}" for end in ("answered", "refused", "finding"))
            )
        print(f"slowest: {self.slowest[0]:.2f} s of processor time (case {self.slowest[1]})")
        print(f"memory: at most {self.largest[0]:.0f} MB more in one case (case {self.largest[1]})")
        n = sum(self.ends.values())
        print(f"{n:,} cases of seed {self.seed} in {time.time() - self.began:.0f} s: {self.n_findings} findings")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Run random cases against juror.")
    parser.add_argument("-n", type=int, default=10_000, help="the number of cases")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2, help="the number of processes")
    parser.add_argument("--case", type=int, help="run this one case, and show where it fails")
    chosen = parser.parse_args()
    if chosen.case is None:
        fuzz = Fuzz(chosen.n, chosen.seed, chosen.workers)
        fuzz.run()
        fuzz.tell()
        sys.exit(fuzz.n_findings > 0)
    folder = Path(tempfile.mkdtemp(prefix="fuzz."))
    print(f"a {kind_of(chosen.case)} case, whose file stays in {folder}", flush=True)
    run_case(chosen.seed, chosen.case, folder)


if __name__ == "__main__":
    main()
