"""plants and baudio with ensembles ten times as large as those on the CPU, which have 12,288 classes."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

import juror
from juror.answers.scores import log_prob
from juror.fitting.choose import FitSetting
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.members import fit_members
from juror.kernels import card_kernels
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner
from juror.solvers.em import EMOptions
from juror.solvers.methods import METHODS
from juror.solvers.solver import Context

# Members are fitted and tested by twelves; baudio still gained at ten times as many as on the CPU.
RANK, MEMBERS, MORE = 1024, 12, {"baudio": 156, "plants": 120}
# Compared by four members each, on the rows for validation
SETTINGS = [FitSetting(RANK, smoothing, True) for smoothing in (0.3, 1.0, 3.0)]


@dataclass(frozen=True)
class Found:
    """The setting that was chosen, and mean log-probabilities of test rows after some members, by their number."""

    name: str
    setting: FitSetting
    seconds: float
    tests: dict[int, float]
    valid: dict[str, float]

    @classmethod
    def of(cls, facts: dict[str, Any]) -> Found:
        """Read what was written as JSON."""
        tests = {int(n): score for n, score in facts["tests"].items()}
        return cls(**{**facts, "setting": FitSetting(**facts["setting"]), "tests": tests})


def fitted(name: str, seconds: float) -> Found:
    """Choose a setting on the validation rows, then fit members until there are enough or the time is spent."""
    began = time.perf_counter()
    with np.load(Path(os.environ["JUROR_DATA"]) / "debd" / f"{name}.npz") as file:
        train, valid, test = (file[part].astype(np.int64) for part in ("train", "valid", "test"))
    domain = juror.Domain.from_cardinalities([2] * train.shape[1])
    with LocalRunner(None, "cuda") as runner:
        rows = MemoryTable(WeightedRows.of(train), domain, runner)
        trial = Trial(rows, METHODS["em"], None, Context(0, runner))
        options = EMOptions(forest=True)

        def logs_of(setting: FitSetting, numbers: range, codes: np.ndarray) -> list[np.ndarray]:
            members = fit_members(trial, options, setting, numbers)
            card = card_kernels()
            return [log_prob(as_mixture([member.parameters], domain), codes, card) for member in members]

        def mean_of(logs: list[np.ndarray]) -> float:
            return float(np.mean(reduce(np.logaddexp, logs) - np.log(len(logs))))

        scores = {setting: mean_of(logs_of(setting, range(4), valid)) for setting in SETTINGS}
        best = max(scores, key=lambda setting: scores[setting])
        for change in ({"seeded": True}, {"relearned": True}):
            other = replace(best, **change)
            scores[other] = mean_of(logs_of(other, range(4), valid))
            best = max(scores, key=lambda setting: scores[setting])
        logs: list[np.ndarray] = []
        tests: dict[int, float] = {}
        while len(logs) < MORE[name] and (len(logs) < MEMBERS or time.perf_counter() - began < seconds):
            logs += logs_of(best, range(len(logs), len(logs) + MEMBERS), test)
            tests[len(logs)] = mean_of(logs)
    named = {f"smoothing {s.smoothing:g}, {'seeded' if s.seeded else 'scattered'}{', again' if s.relearned else ''}": v
             for s, v in scores.items()}  # fmt: skip
    return Found(name, best, time.perf_counter() - began, tests, named)
