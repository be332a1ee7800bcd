"""How settings of an ensemble are compared: by a few members, on rows that none of them has seen.

A table of many rows is compared on a random sample, which can grow. The same rows are scored for all samples, so scores
of members that were fitted to different samples can be compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from juror.fitting import members
from juror.fitting.choose import Comparison, FitSetting
from juror.fitting.held_out import Parts, Trial
from juror.kernels.random_streams import Stream
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters
from juror.solvers.em import EMOptions

# The share of the rows that are scored
HELD_OUT = 0.2
# How many times as many rows the next larger sample has
_MORE = 4
# A few members are enough to compare settings. Labels are noisier than whole rows.
_COMPARED, _COMPARED_BY_LABELS = 2, 4
# Labels are scored by their quadratic score: accuracy is noisy, and a few rows decide the logarithm.
MEMBERS_SCORED_BY = "quadratic"


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to fit, those to score, and all rows that are not scored, from which a larger sample is drawn."""

    kept: MemoryTable
    held: MemoryTable
    rest: MemoryTable

    @classmethod
    def of(cls, table: MemoryTable, rng: np.random.Generator) -> Sample:
        """Hold out a fifth of the rows and keep the others, or that many of a sample if there are many rows."""
        n_rows = len(table.rows.codes)
        rest, held = table.split(HELD_OUT * members.ENOUGH_ROWS / max(members.ENOUGH_ROWS, n_rows), rng)
        if n_rows <= members.ENOUGH_ROWS:
            return cls(rest, held, rest)
        return cls(members.some_rows(rest, round((1.0 - HELD_OUT) * members.ENOUGH_ROWS), rng), held, rest)

    @property
    def is_whole(self) -> bool:
        """Whether all rows are fitted that are not scored."""
        return self.kept is self.rest

    def in_words(self) -> str:
        """Say how many rows settings were compared on; empty if on all rows."""
        if self.is_whole:
            return ""
        n_fitted, n_scored = self.kept.n_rows, self.held.n_rows
        return f"a sample of the rows: up to {n_fitted:,} were fitted, and {n_scored:,} others scored"

    def larger(self, seed: int) -> Iterator[Sample]:
        """Give samples with 4, 16, … times as many rows to fit, or all of them, while that is at least double."""
        n_rows, n_all = len(self.kept.rows.codes), len(self.rest.rows.codes)
        while 2 * n_rows <= n_all:
            n_rows = min(_MORE * n_rows, n_all)
            yield replace(self, kept=members.some_rows(self.rest, n_rows, Stream.MORE_ROWS.generator(seed, n_rows)))


def compare_members(trial: Trial, options: EMOptions, parts: Parts, least_share: float = 0.0) -> Comparison:
    """Return a comparison of settings by a few members, fitted to what is kept of each part.

    Members stop where steps gain less than ``least_share`` of the nats of a row.
    """
    numbers = range(n_compared(trial.target is not None))
    trials = [replace(trial, table=kept) for kept, _ in parts]

    def fit(number: int, kept: MemoryTable, setting: FitSetting) -> list[tuple[Parameters, ...]]:
        found = members.fit_members(trials[number], options, setting, numbers, least_share=least_share)
        return [each.parts for each in found]

    return Comparison(trial, parts, fit, MEMBERS_SCORED_BY, pooled=True)


def n_compared(by_labels: bool) -> int:
    """Return how many members of each setting are compared."""
    return _COMPARED_BY_LABELS if by_labels else _COMPARED
