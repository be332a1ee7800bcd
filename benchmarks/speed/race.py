"""Contestants run one at a time in turns, each in a process of its own, and the best of its runs counts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from .facts import Row, Tell, seconds_text

_ROOT = Path(__file__).parents[2]
_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "MKL_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "POLARS_MAX_THREADS",
)


@dataclass(frozen=True)
class Job:
    """One contestant.

    Attributes
    ----------
    prepare : str
        The function that prepares it, ``module:function`` of this package.
    task : pathlib.Path
        The file of its task, which the function is given.
    options : mapping
        What else the function is given.
    threads : int
        How many threads its libraries may use.
    environment : mapping of str to str
        Variables set in its process besides.
    """

    prepare: str
    task: Path
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)


class Child:
    """A process that has prepared a job and runs it when told."""

    def __init__(self, job: Job):
        order = {"prepare": job.prepare, "task": str(job.task), "options": dict(job.options), "threads": job.threads}
        environment = os.environ | dict.fromkeys(_THREAD_VARIABLES, str(job.threads)) | dict(job.environment)
        # a file and not a pipe, which would hold a talkative library up; closed when the child is
        self._complaints = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.speed.worker", json.dumps(order)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=_ROOT,
            env=environment,
        )

    @cached_property
    def ready(self) -> Row:
        """What it told when all was prepared."""
        return self._answer()

    def run(self) -> Row:
        """Run the job once."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> Row:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return json.loads(line)
        code = self._process.wait()
        self._complaints.seek(0)
        last = self._complaints.read().strip().splitlines()[-1:]
        return {"failed": f"the process ended with code {code}: {' '.join(last)}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._process.terminate()
        for stream in (self._process.stdin, self._process.stdout, self._complaints):
            assert stream is not None
            # a process that ended by itself has told why
            with suppress(BrokenPipeError):
                stream.close()
        self._process.wait()


def race(jobs: Mapping[str, Job], rounds: int, seconds: float, tell: Tell) -> dict[str, Row]:
    """Run contestants in turns, up to so many rounds, each until it has spent its seconds; return the best of each.

    Returns
    -------
    dict of str to dict
        For every contestant ``wall`` and ``cpu``, the least of its runs, ``runs``, their number, ``working``, the most
        memory a run needed above what was held before it, ``resident``, what was held when all was prepared, and what
        its check gave in the last run; or ``failed``, a sentence.
    """
    results: dict[str, list[Row]] = {name: [] for name in jobs}
    with ExitStack() as stack:
        # they prepare side by side, and run one at a time
        started = {name: stack.enter_context(Child(job)) for name, job in jobs.items()}
        children = {}
        for name, child in started.items():
            if "failed" in child.ready:
                results[name].append(child.ready)
                tell(f"  {name}: {child.ready['failed']}")
            else:
                children[name] = child
        for turn in range(rounds):
            for name, child in children.items():
                if not _failed(results[name]) and _spent(results[name]) < seconds:
                    results[name].append(child.run())
                    if turn == 0:
                        tell(f"  {name}: {_short(results[name][-1])}")
        held = {name: child.ready["resident"] for name, child in children.items()}
    return {name: _best(rows) | {"resident": held.get(name)} for name, rows in results.items()}


def _spent(rows: list[Row]) -> float:
    return sum(row["wall"] for row in rows)


def _failed(rows: list[Row]) -> bool:
    return any("failed" in row for row in rows)


def _best(rows: list[Row]) -> Row:
    failed = [row for row in rows if "failed" in row]
    if failed:
        return {"failed": failed[0]["failed"]}
    least = {name: min(row[name] for row in rows) for name in ("wall", "cpu")}
    # a later run finds memory that an earlier one left
    most = {name: max(row[name] for row in rows) for name in ("working", "peak")}
    # times that a contestant took itself, by name
    inner = [row.get("times", {}) for row in rows]
    times = {name: min(row[name] for row in inner) for name in inner[-1]}
    return rows[-1] | least | most | {"runs": len(rows)} | ({"times": times} if times else {})


def _short(row: Row) -> str:
    return row["failed"] if "failed" in row else seconds_text(row["wall"])
