"""The contract of the kernels on a card, and what the card does: docs/gpu.md.

    python -m benchmarks.gpu [--tune] [--seconds 200]

Needs an NVIDIA card, PyTorch and Triton, and JUROR_DATA for coil2000, plants and baudio. Fits on two cores of the same
machine run beside the rest, and are stopped when all else is done.
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
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from benchmarks.gpu import tuning
from benchmarks.gpu.ensembles import fitted
from benchmarks.gpu.page import Facts, page
from benchmarks.gpu.passes import Limits, Setting, measure

ROOT = Path(__file__).parents[2]
PASSES = [
    Setting("10 M rows, F = 64", 10_000_000, 20, 10, 64),
    Setting("10 M rows, F = 64, 20 % missing", 10_000_000, 20, 10, 64, missing=0.2),
    Setting("1 M rows, F = 1,024", 1_000_000, 20, 10, 1024),
    Setting("1 M rows with weights, F = 64", 1_000_000, 20, 10, 64, weighted=True),
    Setting("1 M rows of joint codes (100 labels), F = 64", 1_000_000, 20, 100, 64),
]
# Default fits of these are measured on two cores too.
TABLES, MORE_ON_CARD = ("coil2000", "200000"), ("1000000",)


def contract() -> subprocess.Popen[str]:
    """Begin the tests of the kernels on the card."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--noconftest", "tests/test_card.py"]
    path = os.pathsep.join([*sys.path, str(ROOT / "tests")])
    pipe: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | {"TRITON_INTERPRET": "0", "PYTHONPATH": path}, **pipe)


def outcome(begun: subprocess.Popen[str], seconds: float) -> str:
    """Return the last line that the tests print."""
    try:
        out, _ = begun.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        begun.kill()
        return f"not done after {seconds:.0f} s more"
    print(out[-4000:], flush=True)
    return (out.strip().splitlines() or ["pytest did not start"])[-1]


def on_two_cores(name: str, number: int) -> tuple[subprocess.Popen[str], float]:
    """Begin a fit on two cores of their own."""
    cores = sorted(os.sched_getaffinity(0))[2 * number : 2 * number + 2]
    command = [sys.executable, "-m", "benchmarks.gpu.fits", name, "cpu", "2"]
    pin = lambda: os.sched_setaffinity(0, cores)  # noqa: E731
    begun = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, preexec_fn=pin)
    return begun, time.perf_counter()


def on_card(name: str, seconds: float) -> dict[str, object]:
    """Fit on the card, with the cores that are left."""
    command = [sys.executable, "-m", "benchmarks.gpu.fits", name, "cuda", str(len(os.sched_getaffinity(0)))]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"table": name, "device": "card", "stopped": seconds}
    print(done.stdout, done.stderr[-2000:], flush=True)
    return dict(json.loads(done.stdout.splitlines()[-1])) if done.returncode == 0 else {"table": name, "failed": True}


def ended(name: str, begun: subprocess.Popen[str], since: float, left: float) -> dict[str, object]:
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
    parser.add_argument("--seconds", type=float, default=200.0, help="about how long all may take")
    parser.add_argument("--output", type=Path, default=ROOT / "docs" / "gpu.md")
    given = parser.parse_args()
    if given.tune:
        for setting in (PASSES[0], PASSES[2]):
            for name, tile, milliseconds in tuning.tried(setting):
                print(setting.name, name, tuple(tile), f"{milliseconds:.3f} ms")
        return
    until = time.perf_counter() + given.seconds
    begun = {name: on_two_cores(name, number) for number, name in enumerate(TABLES)}
    others = set(os.sched_getaffinity(0)) - set(sorted(os.sched_getaffinity(0))[: 2 * len(TABLES)])
    os.sched_setaffinity(0, others or os.sched_getaffinity(0))
    facts = Facts(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__}")

    begun_tests: list[subprocess.Popen[str]] = []

    def in_time(end: float) -> float:
        return max(5.0, until - end - time.perf_counter())

    def on_two_cores_ended() -> None:
        facts.fits += [ended(name, *each, in_time(0.0)) for name, each in begun.items()]

    def ensemble(name: str, share: float) -> None:
        facts.ensembles.append(fitted(name, share * in_time(20.0)))

    steps: dict[str, Callable[[], object]] = {
        "limits": lambda: setattr(facts, "limits", Limits.measured()),
        **{each.name: partial(lambda each: facts.passes.append(measure(each)), each) for each in PASSES},
        **{name: partial(lambda name: facts.fits.append(on_card(name, 45.0)), name) for name in TABLES + MORE_ON_CARD},
        "begin the contract": lambda: begun_tests.append(contract()),
        "baudio": lambda: ensemble("baudio", 0.65),
        "plants": lambda: ensemble("plants", 1.0),
        "contract": lambda: setattr(facts, "contract", outcome(begun_tests[0], in_time(5.0))),
        "two cores": on_two_cores_ended,
    }
    failed = []
    for name, step in steps.items():
        print(f"{name}, {until - time.perf_counter():.0f} s left", flush=True)
        try:
            step()
        except Exception:
            # The other sections are worth having.
            traceback.print_exc()
            failed.append(name)
        given.output.write_text(page(facts))
    print(given.output.read_text())
    sys.exit(f"failed: {failed}" if failed else 0)


if __name__ == "__main__":
    main()
