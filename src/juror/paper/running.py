"""Run cells in worker processes, longest first, and store the finished ones.

With a folder, every finished cell is one line of JSON in ``cells.jsonl``, identified by the fingerprint of its setting.
A killed run may leave an incomplete last line; it is dropped, and its cell is run again.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from juror.errors import DataError, JurorError
from juror.files.writing import write_whole
from juror.paper.cells import run
from juror.paper.costs import expected_seconds
from juror.paper.settings import Cell

Result = dict[str, Any]
CELLS_FILE = "cells.jsonl"


@dataclass(frozen=True)
class Step:
    """The progress of a run, reported after every cell, with the cell that was finished last.

    Finished cells include those of earlier runs. ``seconds`` is the time since this run began; ``seconds_left`` is
    estimated from the expected and actual times so far.
    """

    done: int
    total: int
    label: str
    seconds: float
    seconds_left: float


ProgressCallback = Callable[[Step], None]


class Store:
    """Finished cells by fingerprint, in memory and, with a folder, in its file ``cells.jsonl``.

    The folder is created if needed.
    """

    def __init__(self, folder: Path | None = None):
        self.path = None if folder is None else folder / CELLS_FILE
        self.results: dict[str, Result] = {}
        if folder is None or self.path is None:
            return
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{str(folder)!r} is not a folder, and results are kept in one. Name another place.")
        folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists():
            self._read(self.path)

    def _read(self, path: Path) -> None:
        *lines, torn = path.read_bytes().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                result = json.loads(line)
                self.results[result["fingerprint"]] = result
            except (ValueError, TypeError, KeyError):
                raise DataError(
                    f"Line {number} of {str(path)!r} is not a finished cell. Delete it, or the file to begin anew."
                ) from None
        if torn:
            whole = b"".join(line + b"\n" for line in lines)
            write_whole(path, lambda stream: stream.write(whole))

    def add(self, result: Result) -> None:
        """Store a finished cell."""
        self.results[result["fingerprint"]] = result
        if self.path is not None:
            with self.path.open("ab") as stream:
                stream.write(json.dumps(result, ensure_ascii=False, allow_nan=False).encode() + b"\n")
                stream.flush()
                os.fsync(stream.fileno())

    def has(self, cells: Sequence[Cell]) -> bool:
        """Return whether all these cells are finished."""
        return all(cell.fingerprint in self.results for cell in cells)


def run_cells(cells: Sequence[Cell], store: Store, jobs: int = 2, progress: ProgressCallback | None = None) -> None:
    """Run the cells that are not in the store, equal ones once, and add each to it when finished.

    There are ``jobs`` processes, each with one thread; with 1 this process does the work.
    """
    wanted = {cell.fingerprint: cell for cell in reversed(cells)}
    to_do = [cell for fingerprint, cell in wanted.items() if fingerprint not in store.results]
    to_do.sort(key=expected_seconds, reverse=True)
    began = time.perf_counter()
    n_before, expected_left = len(wanted) - len(to_do), sum(map(expected_seconds, to_do))
    expected_done = 0.0
    with closing(_results(to_do, jobs)) as results:
        for number, (cell, result) in enumerate(results, 1):
            store.add(result)
            if progress is not None:
                expected_done += expected_seconds(cell)
                seconds = time.perf_counter() - began
                left = seconds / expected_done * max(0.0, expected_left - expected_done)
                progress(Step(n_before + number, len(wanted), cell.label, seconds, left))


def _results(cells: Sequence[Cell], jobs: int) -> Generator[tuple[Cell, Result], None, None]:
    """Yield every cell with its result, in the order of completion."""
    jobs = min(jobs, len(cells))
    if jobs <= 1:
        with threadpool_limits(limits=1):
            for cell in cells:
                yield cell, run(cell)
        return
    if multiprocessing.parent_process() is not None:
        raise JurorError(
            "The paper's tables were asked for while a worker process was starting. In a script, call them under "
            "if __name__ == '__main__':, or pass jobs=1."
        )
    context = multiprocessing.get_context("spawn")
    pids: Any = context.SimpleQueue()
    pool = ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(pids,))
    try:
        # Submit a few more than there are workers, so that none waits and Ctrl-C has little to cancel.
        waiting = list(reversed(cells))
        running = {pool.submit(run, cell): cell for cell in _take(waiting, 2 * jobs)}
        while running:
            finished, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                cell = running.pop(future)
                yield cell, future.result()
                running |= {pool.submit(run, following): following for following in _take(waiting, 1)}
    except BrokenProcessPool:
        raise JurorError(
            "A worker process ended before its cell was finished: killed, out of memory, or started from a script "
            "without if __name__ == '__main__':. Finished cells are kept in the folder, if one was named."
        ) from None
    except BaseException:
        while not pids.empty():
            # It may have ended by itself.
            with suppress(ProcessLookupError):
                os.kill(pids.get(), signal.SIGTERM)
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _take(waiting: list[Cell], n: int) -> list[Cell]:
    return [waiting.pop() for _ in range(min(n, len(waiting)))]


def _begin(pids: Any) -> None:
    """Set up a worker: one thread, ignore Ctrl-C, end when the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threadpool_limits(limits=1)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    pids.put(os.getpid())


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
