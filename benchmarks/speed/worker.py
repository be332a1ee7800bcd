"""A child process: prepare one contestant, then run it whenever a line comes, and tell time and memory.

The parent names a function as ``module:function``; it is given the path of the task and options, and returns a
:class:`Trial`. What a contestant needs beforehand, such as its own form of the data, it makes there, untimed.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

# seconds that each of several things is done for, and how often at most
_AT_LEAST, _AT_MOST = 0.1, 20


@dataclass(frozen=True)
class Trial:
    """What is timed, and what is made of its result afterwards, untimed: plain numbers to compare."""

    run: Callable[[], Any]
    check: Callable[[Any], dict[str, Any]] = lambda result: {}


def main(order: str) -> int:
    """Prepare what the order names, and run it once a line."""
    # what a library prints must not come between the lines of the answer
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(facts: dict[str, Any]) -> None:
        answers.write(json.dumps(facts) + "\n")
        answers.flush()

    asked = json.loads(order)
    module, function = asked["prepare"].split(":")
    try:
        warnings.simplefilter("ignore")
        trial = getattr(import_module(f"benchmarks.speed.{module}"), function)(asked["task"], **asked["options"])
        gc.collect()
        _hold_to(asked["threads"])
        say({"resident": memory("VmRSS"), "peak": memory("VmHWM")})
        for _ in sys.stdin:
            say(_timed(trial))
    except Exception as error:
        say({"failed": f"{type(error).__name__}: {error}"})
        raise
    return 0


def _hold_to(threads: int) -> None:
    """Let what runs have so many cores, whatever a library would take by itself; all may be used to prepare."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def _timed(trial: Trial) -> dict[str, Any]:
    gc.collect()
    _give_back()
    _forget_peak()
    before = memory("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    result = trial.run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = memory("VmHWM")
    return {"wall": wall, "cpu": cpu, "peak": peak, "working": max(0, peak - before), **trial.check(result)}


def memory(what: str) -> int:
    """Return the memory of this process in bytes: VmRSS that is held now, VmHWM the most so far.

    ``ru_maxrss`` would count what the parent held when it started this process; it is used only where there is no
    ``/proc``.
    """
    status = Path("/proc/self/status")
    if not status.is_file():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in status.read_text().splitlines() if line.startswith(what + ":"))
    return 1024 * int(line.split()[1])


def _give_back() -> None:
    """Give back what was freed and is kept for later, where the C library can; a run would not be seen to need it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _forget_peak() -> None:
    # where it is not allowed the peak is that of the whole life of the process, which is no less
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def timed_each(work: dict[str, Callable[[], Any]], clock: Callable[[], float] = time.process_time) -> Trial:
    """Do several things one after the other, and tell the seconds of each: of CPU, or of another clock.

    What takes little time is done again, and the best counts: the first finds the cache full of another's data.
    """

    def run() -> dict[str, float]:
        times = {}
        for name, do in work.items():
            spent = []
            while not spent or (sum(spent) < _AT_LEAST and len(spent) < _AT_MOST):
                began = clock()
                do()
                spent.append(clock() - began)
            times[name] = min(spent)
        return times

    return Trial(run, lambda times: {"times": times})


def nothing(task: str) -> Trial:
    """Hold the codes and do nothing: what a process needs that does."""
    from benchmarks.speed.tasks import load

    codes = load(task)["codes"].copy()
    return Trial(lambda: codes.shape)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
