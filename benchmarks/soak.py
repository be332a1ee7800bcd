"""A soak: fits, questions, saves and loads from several processes with several threads each, some of which are killed.

    python benchmarks/soak.py --minutes 30

All processes share one folder of model files. Every thread draws at random what it does next: fit a small table, ask,
save over one of the files, or load one of them and compare its answer with that of the seed in its record. One process
lives from beginning to end; the others are killed at random moments, some in the middle of a save, and started again.

Printed at the end, as findings: files that do not load (torn), threads that made no step for STUCK_S (deadlock), other
exceptions, and memory of the lasting process that grows (leak). The exit status is 1 if there are any.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import multiprocessing
import os
import random
import signal
import statistics
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import juror

QUESTION = "a | b = 1, c in {u, v}"
N_FILES = 12
STUCK_S = 120.0
# Memory may grow by this much from the second fifth of the time to the last: allocators keep what they had.
MOST_GROWTH = 0.05


def table(seed: int) -> dict[str, list[Any]]:
    """Return a table of 200 rows with missing cells, in which "a" has the label "x" as often as the seed says."""
    rng = random.Random(seed)
    rows = [("x" if rng.random() < 0.1 + 0.08 * (seed % 10) else "y", rng.randrange(4)) for _ in range(200)]
    b = [None if rng.random() < 0.1 else (n + (a == "x")) % 4 for a, n in rows]
    return {"a": [a for a, _ in rows], "b": b, "c": [rng.choice("uvw") for _ in rows]}


def fitted(seed: int) -> Any:
    """Fit the table of a seed. The method follows from the seed too, so the model does."""
    if seed % 4 == 0:
        return juror.fit(table(seed), "auto", "tree", seed=seed, n_jobs=1)
    return juror.fit(table(seed), 2 + seed % 2, "em", seed=seed, n_jobs=1, max_iter=30)


class Worker:
    """One process: threads that work until there is a file "stop", or until they are killed.

    It reports in lines of a file. Locks and queues would stay locked when a process that holds them is killed.
    """

    def __init__(self, folder: Path, number: int, n_threads: int, expected: dict[int, float]):
        self.folder, self.number, self.expected = folder, number, expected
        self.steps: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.last = [time.monotonic()] * n_threads

    def run(self) -> None:
        """Start the threads, and report every five seconds what they did, the memory, and the longest wait."""
        threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(len(self.last))]
        for thread in threads:
            thread.start()
        while not self.is_over():
            time.sleep(2.0)
            self.tell()
        for thread in threads:
            thread.join(STUCK_S)
        self.tell()
        alive = sum(thread.is_alive() for thread in threads)
        if alive:
            self.report(finding=f"{alive} threads did not end in {STUCK_S:g} s")

    def is_over(self) -> bool:
        """Tell whether to stop."""
        return (self.folder / "stop").exists()

    def report(self, **what: Any) -> None:
        """Add a line to the reports of this process."""
        with open(self.folder / f"reports.{self.number}", "a") as stream:
            stream.write(json.dumps(what) + "\n")

    def tell(self) -> None:
        """Report what was done up to now."""
        self.report(steps=dict(self.steps), resident=resident_mb(), waited=time.monotonic() - min(self.last))

    def work(self, thread: int) -> None:
        """Do one thing after the other."""
        rng = random.Random(f"{self.number} {thread}")
        model, seed = fitted(thread), thread
        while not self.is_over():
            what = rng.choices(("fit", "ask", "save", "load"), (1, 8, 3, 6))[0]
            try:
                if what == "fit":
                    seed = rng.randrange(len(self.expected))
                    model = fitted(seed)
                elif what == "ask":
                    self.compare(model, seed)
                elif what == "save":
                    model.save(self.folder / f"{rng.randrange(N_FILES)}.juror")
                else:
                    self.load(rng.randrange(N_FILES))
            except Exception:
                self.report(finding=f"{what}:\n{traceback.format_exc()}")
            with self.lock:
                self.steps[what] += 1
            self.last[thread] = time.monotonic()

    def load(self, n: int) -> None:
        """Load a file that others are writing over: it holds one whole model, of some seed."""
        path = self.folder / f"{n}.juror"
        if path.exists():
            model = juror.load(path)
            self.compare(model, model.info.seed)

    def compare(self, model: Any, seed: int) -> None:
        """Check an answer of the model of a seed."""
        found = model.ask(QUESTION).to_numpy()[0]
        if abs(found - self.expected[seed]) > 1e-12:
            raise AssertionError(f"P(a | …) of seed {seed} is {found}, not {self.expected[seed]}")


def start_worker(*arguments: Any) -> None:
    """Run a worker in a process of its own."""
    warnings.simplefilter("ignore", juror.JurorWarning)
    Worker(*arguments).run()


def resident_mb() -> float:
    """Return the resident memory of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Watched:
    """A process, its number, what it has done, and when it was last heard of."""

    process: Any
    number: int
    heard: float
    n_lines: int = 0
    steps: Mapping[str, int] = field(default_factory=dict)


class Soak:
    """The parent: it starts, kills and watches the processes."""

    def __init__(self, folder: Path, n_threads: int, seed: int):
        self.folder, self.n_threads = folder, n_threads
        self.rng = random.Random(seed)
        self.context = multiprocessing.get_context("spawn")
        self.numbers = itertools.count()
        self.steps: Counter[str] = Counter()
        self.kills: Counter[str] = Counter()
        self.memory: list[float] = []
        self.longest = 0.0
        self.findings: list[str] = []
        self.expected = {seed: float(fitted(seed).ask(QUESTION).to_numpy()[0]) for seed in range(40)}
        self.began = time.monotonic()

    def start(self) -> Watched:
        """Start a process."""
        number = next(self.numbers)
        arguments = (self.folder, number, self.n_threads, self.expected)
        process = self.context.Process(target=start_worker, args=arguments)
        process.start()
        return Watched(process, number, time.monotonic())

    def run(self, minutes: float, n_processes: int) -> None:
        """Run for some minutes. The first process is never killed."""
        lasting, *others = (self.start() for _ in range(n_processes))
        next_kill = self.began + 10
        while time.monotonic() < self.began + 60 * minutes:
            time.sleep(0.5)
            for one in (lasting, *others):
                self.read(one)
                if time.monotonic() - one.heard > STUCK_S:
                    self.find(f"process {one.number} was not heard of for {STUCK_S:g} s")
                    one.heard = time.monotonic()
            if time.monotonic() > next_kill and others:
                self.kill(others.pop(self.rng.randrange(len(others))))
                others.append(self.start())
                next_kill = time.monotonic() + self.rng.uniform(1.0, 15.0)
        (self.folder / "stop").touch()
        for one in (lasting, *others):
            one.process.join(2 * STUCK_S)
            if one.process.is_alive():
                self.find(f"process {one.number} did not end in {2 * STUCK_S:g} s")
                one.process.kill()
            self.read(one)
            self.steps.update(one.steps)

    def find(self, finding: str) -> None:
        """Keep a finding, and show it."""
        self.findings.append(finding)
        print(finding, flush=True)

    def kill(self, one: Watched) -> None:
        """Kill a process at once, or ask it to end."""
        how = self.rng.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM))
        os.kill(one.process.pid, how)
        one.process.join(STUCK_S)
        if one.process.is_alive():
            self.find(f"process {one.number} did not end in {STUCK_S:g} s after {how.name}")
            one.process.kill()
        self.kills[how.name] += 1
        self.read(one)
        self.steps.update(one.steps)

    def read(self, one: Watched) -> None:
        """Read what a process has reported since the last time. The last line may be half written."""
        path = self.folder / f"reports.{one.number}"
        lines = path.read_text().split("\n")[:-1] if path.exists() else []
        for line in lines[one.n_lines :]:
            told = json.loads(line)
            one.heard = time.monotonic()
            if "finding" in told:
                self.find(told["finding"])
                continue
            one.steps = told["steps"]
            self.longest = max(self.longest, told["waited"])
            if told["waited"] > STUCK_S:
                self.find(f"a thread of process {one.number} made no step for {told['waited']:.0f} s")
            # not before everything is imported and has been done a few times
            if one.number == 0 and len(one.steps) == 4 and min(one.steps.values()) >= 20:
                self.memory.append(told["resident"])
        one.n_lines = len(lines)

    def look_at_files(self) -> tuple[int, int]:
        """Load every file, and return how many there are, and how many temporary files killed processes left."""
        paths = list(self.folder.glob("[0-9]*.juror"))
        for path in paths:
            try:
                juror.load(path)
            except juror.JurorError as error:
                self.find(f"torn: {error}")
        left = len(list(self.folder.glob(".*")))
        # The next save of a name cleans up beside it.
        for n in range(N_FILES):
            fitted(n).save(self.folder / f"{n}.juror")
        still = sorted(path.name for path in self.folder.glob(".*"))
        if still:
            self.find(f"temporary files stay after another save: {still[:5]}")
        return len(paths), left

    def tell(self, n_paths: int, left: int) -> None:
        """Print the figures."""
        early, late = self.part(0.2, 0.4), self.part(0.8, 1.0)
        if not late <= early * (1 + MOST_GROWTH):
            self.find(f"memory grew from {early:.1f} to {late:.1f} MB")
        print(f"{(time.monotonic() - self.began) / 60:.1f} minutes, {self.n_threads} threads in each process")
        print("steps: " + ", ".join(f"{n:,} {what}" for what, n in sorted(self.steps.items())))
        print("kills: " + ", ".join(f"{n} {how}" for how, n in sorted(self.kills.items())))
        print(f"{n_paths} files, and {left} temporary ones, left by kills until the next save")
        print(
            f"memory of the lasting process: {early:.1f} MB in the second fifth of the time, {late:.1f} MB in the last"
        )
        print(f"longest step: {self.longest:.1f} s")
        print(f"{len(self.findings)} findings")

    def part(self, start: float, end: float) -> float:
        """Return the median memory in a part of the time."""
        some = self.memory[int(start * len(self.memory)) : math.ceil(end * len(self.memory))]
        return statistics.median(some) if some else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit, ask, save and load for a while, and kill processes meanwhile.")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--processes", type=int, default=4)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    warnings.simplefilter("ignore", juror.JurorWarning)
    with tempfile.TemporaryDirectory() as folder:
        soak = Soak(Path(folder), chosen.threads, chosen.seed)
        soak.run(chosen.minutes, chosen.processes)
        soak.tell(*soak.look_at_files())
    sys.exit(bool(soak.findings))


if __name__ == "__main__":
    main()
