"""The contract of the kernels on a card, and what the card does: docs/gpu.md.

    python -m benchmarks.gpu [--tune] [--seconds 1800] [--only NAME ...] [--facts results/gpu.json]

Needs an NVIDIA card, PyTorch and Triton, and JUROR_DATA for coil2000, plants and baudio. Every section is written to
the file of facts when it is done, and is not measured again: a run that was cut short goes on where it ended. Fits on
two cores of the same machine run beside the rest, and are stopped when the time is spent.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from benchmarks.gpu import tuning
from benchmarks.gpu.crossing import passes
from benchmarks.gpu.ensembles import fitted
from benchmarks.gpu.page import page
from benchmarks.gpu.passes import Limits, Setting, measure

ROOT = Path(__file__).parents[2]
PASSES = [
    Setting("10 M rows, F = 64", 10_000_000, 20, 10, 64),
    Setting("10 M rows, F = 64, 20 % missing", 10_000_000, 20, 10, 64, missing=0.2),
    Setting("1 M rows, F = 1,024", 1_000_000, 20, 10, 1024),
    Setting("1 M rows with weights, F = 64", 1_000_000, 20, 10, 64, weighted=True),
    Setting("1 M rows of joint codes (100 labels), F = 64", 1_000_000, 20, 100, 64),
]
# Default fits, on the card, how often, and on two cores, once
TABLES = {"coil2000": 2, "200000": 3, "1000000": 3, "10000000": 1}


def contract(seconds: float) -> str:
    """Run the tests of the kernels on the card, and return the last line that they print."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "tests/test_card.py"]
    path = os.pathsep.join([*sys.path, str(ROOT / "tests")])
    env = os.environ | {"TRITON_INTERPRET": "0", "PYTHONPATH": path}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=seconds)
    print(done.stdout[-4000:], flush=True)
    return (done.stdout.strip().splitlines() or ["pytest did not start"])[-1]


def on_two_cores(name: str, number: int) -> tuple[subprocess.Popen[str], float]:
    """Begin a fit on two cores of their own."""
    cores = sorted(os.sched_getaffinity(0))[2 * number : 2 * number + 2]
    command = [sys.executable, "-m", "benchmarks.gpu.fits", name, "cpu", "2"]
    pin = lambda: os.sched_setaffinity(0, cores)  # noqa: E731
    begun = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=pin)
    return begun, time.perf_counter()


def on_card(name: str, seconds: float) -> dict[str, Any]:
    """Fit on the card, with the cores that are left."""
    command = [sys.executable, "-m", "benchmarks.gpu.fits", name, "cuda", str(len(os.sched_getaffinity(0)))]
    command.append(str(TABLES[name]))
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"table": name, "device": "card", "stopped": seconds}
    print(done.stdout, done.stderr[-2000:], flush=True)
    done.check_returncode()
    return dict(json.loads(done.stdout.splitlines()[-1]))


def ended(name: str, begun: subprocess.Popen[str], since: float, left: float) -> dict[str, Any]:
    """Wait for a fit on two cores, but no longer than there is time."""
    try:
        out, _ = begun.communicate(timeout=max(1.0, left))
        return dict(json.loads(out.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        begun.kill()
        return {"table": name, "device": "CPU, 2 threads", "stopped": time.perf_counter() - since}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tune", action="store_true", help="try tiles, print their times, and end")
    parser.add_argument("--seconds", type=float, default=1800.0, help="about how long all may take")
    parser.add_argument("--only", nargs="*", help="the sections to measure")
    parser.add_argument("--facts", type=Path, default=ROOT / "results" / "gpu.json")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "gpu.md")
    given = parser.parse_args()
    if given.tune:
        for setting in (PASSES[0], PASSES[2]):
            for name, classes, tile, milliseconds in tuning.tried(setting):
                print(setting.name, name, classes, tuple(tile), f"{milliseconds:.3f} ms")
        return
    given.facts.parent.mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = json.loads(given.facts.read_text()) if given.facts.exists() else {}
    facts["machine"] = f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__}"
    until = time.perf_counter() + given.seconds

    def left() -> float:
        return max(5.0, until - time.perf_counter())

    def is_wanted(name: str) -> bool:
        return name not in facts and (given.only is None or name in given.only)

    begun = {
        name: on_two_cores(name, number) for number, name in enumerate(TABLES) if is_wanted(f"{name} on two cores")
    }
    others = set(sorted(os.sched_getaffinity(0))[2 * len(begun) :])
    os.sched_setaffinity(0, others or os.sched_getaffinity(0))
    steps: dict[str, Callable[[], Any]] = {
        "limits": lambda: asdict(Limits.measured()),
        **{each.name: partial(lambda each: asdict(measure(each)), each) for each in PASSES},
        "contract": lambda: contract(left()),
        **{f"{name} on the card": partial(lambda name: on_card(name, left()), name) for name in TABLES},
        "crossing": passes,
        "baudio": lambda: asdict(fitted("baudio", left())),
        "plants": lambda: asdict(fitted("plants", left())),
        **{f"{name} on two cores": partial(lambda name: ended(name, *begun[name], left()), name) for name in TABLES},
    }
    failed = []
    for name, step in steps.items():
        if not is_wanted(name):
            continue
        print(f"{name}, {left():.0f} s left", flush=True)
        try:
            facts[name] = step()
        except Exception:
            # The other sections are worth having.
            traceback.print_exc()
            failed.append(name)
        given.facts.write_text(json.dumps(facts, indent=1))
        given.output.write_text(page(facts))
    sys.exit(f"failed: {failed}" if failed else 0)


if __name__ == "__main__":
    main()
