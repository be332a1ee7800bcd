"""A thousand random cases with a fixed seed; ``make fuzz N=…`` runs more."""

from __future__ import annotations

import warnings
from collections import Counter

import fuzzing
import numpy as np
import pytest

N_CASES = 1000


@pytest.mark.parametrize("kind", fuzzing.KINDS)
def test_cases_are_answered_or_refused(kind, tmp_path):
    ends = Counter()
    fuzzing.get_ready()
    with fuzzing.memory_bounded():
        for case in range(N_CASES):
            if fuzzing.kind_of(case) == kind:
                end = fuzzing.ending(0, case, tmp_path)
                assert end in ("answered", "refused"), f"case {case}:\n{end}"
                ends[end] += 1
    # where all are refused, nothing behind the first check is tested
    assert min(ends["answered"], ends["refused"]) >= 20, ends


def crash(rng, folder):
    return {}["x"]


def hang(rng, folder):
    while True:
        pass


def use_memory(rng, folder):
    np.ones(2 * fuzzing.LIMIT_BYTES, np.uint8)


def warn(rng, folder):
    warnings.warn("overflow encountered", RuntimeWarning, stacklevel=1)


@pytest.mark.parametrize(
    ("case", "end"), [(crash, "KeyError"), (hang, "TooSlow"), (use_memory, "MemoryError"), (warn, "RuntimeWarning")]
)
def test_findings_are_found(case, end, tmp_path, monkeypatch):
    monkeypatch.setattr(fuzzing, "LIMIT_S", 0.05 if case is hang else 20.0)
    monkeypatch.setitem(fuzzing.KINDS, fuzzing.kind_of(0), case)
    with fuzzing.memory_bounded():
        assert end in fuzzing.ending(0, 0, tmp_path)


def test_a_case_is_the_same_each_time(tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setitem(fuzzing.KINDS, fuzzing.kind_of(0), lambda rng, folder: drawn.append(rng.random()))
    for seed in (0, 0, 1):
        fuzzing.run_case(seed, 0, tmp_path)
    assert drawn[0] == drawn[1] != drawn[2]
