"""Rows in memory, equal ones merged: the table that most fits and all searches work on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np

from juror.counts.counting import count_tables
from juror.domain import Domain
from juror.rows.distinct import WeightedRows
from juror.rows.expected import ExpectedCounts, log_prob_of_codes
from juror.rows.forest import Forest
from juror.rows.on_card import pack
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner


@dataclass(frozen=True, eq=False)
class MemoryTable:
    """Distinct rows over a domain; a :class:`juror.rows.table.Table`, which says what its methods return."""

    rows: WeightedRows
    domain: Domain
    runner: LocalRunner

    @property
    def total(self) -> float:
        """The sum of the weights."""
        return self.rows.total

    @property
    def n_rows(self) -> int:
        """How many rows were merged."""
        return int(self.rows.n_merged.sum())

    @property
    def n_counted(self) -> float:
        """The number of rows, or the sum of their weights if that is more."""
        return max(self.total, float(self.n_rows))

    @property
    def n_effective(self) -> float | None:
        """How many independent rows fractional weights are worth."""
        return None if self.rows.squares is None else min(self.total**2 / self.rows.squares, self.total)

    @property
    def label_counts(self) -> np.ndarray:
        """The weight of every label."""
        return self.packed.label_counts

    @cached_property
    def packed(self) -> PackedRows:
        """The rows as passes read them, packed once."""
        return pack(self.rows, Stacking(self.domain.cardinalities), self.runner)

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Count under a model."""
        return self.packed.expected(lam, stack)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes and count."""
        return self.packed.draw(lam, stack, rng)

    def along(self, forest: Forest) -> PackedRows:
        """Return the rows with joint codes of variables and their parents."""
        return pack(self.rows, Stacking(self.domain.cardinalities, forest), self.runner)

    def log_prob(self, parts: Sequence[Parameters]) -> float:
        """Return the log-likelihood."""
        return float(self.rows.weights @ self.log_prob_of_rows(parts))

    def log_prob_of_rows(self, parts: Sequence[Parameters]) -> np.ndarray:
        """Return the log-probability of every distinct row, (rows,)."""
        logs = [log_prob_of_codes(self.rows.codes, self.domain.cardinalities, part, self.runner) for part in parts]
        return np.asarray(reduce(np.logaddexp, logs))

    def joint_counts(self, groups: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        """Count groups of variables."""
        # Rows that all count once are counted in integers, which is faster.
        weights = None if np.all(self.rows.weights == 1.0) else self.rows.weights
        return count_tables(self.rows.codes, self.domain.cardinalities, groups, weights, self.runner)

    def sample(self, seed: int) -> MemoryTable:
        """Return the table itself: a search may look at all rows in memory."""
        return self

    def split(self, fraction: float, rng: np.random.Generator) -> tuple[MemoryTable, MemoryTable]:
        """Hold out a fraction of the rows at random; return what is kept and what is held out."""
        kept, held = self.rows.split(fraction, rng)
        return self._of(kept), self._of(held)

    def folds(self, n: int, rng: np.random.Generator) -> list[tuple[MemoryTable, MemoryTable]]:
        """Deal the rows into n even parts at random; return for each part all others and the part itself."""
        return [(self._of(kept), self._of(held)) for kept, held in self.rows.folds(n, rng)]

    def _of(self, rows: WeightedRows) -> MemoryTable:
        return MemoryTable(rows, self.domain, self.runner)
