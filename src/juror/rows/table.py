"""The table protocol: what solvers ask of rows, whether these are in memory, on disk or on a cluster.

A model travels as its class weights λ (F,) and its stacked factors S (stacked rows, F), see
:mod:`juror.rows.stacking`. Every answer but a sample is a sum over the rows, so it does not depend on their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from juror.rows.expected import ExpectedCounts

if TYPE_CHECKING:
    from juror.domain import Domain
    from juror.rows.forest import Forest
    from juror.rows.in_memory import MemoryTable
    from juror.rows.parameters import Parameters


class Countable(Protocol):
    """Rows that EM and Gibbs sampling pass over again and again."""

    @property
    def total(self) -> float:
        """The sum of the row weights."""

    @property
    def label_counts(self) -> np.ndarray:
        """The weight of every label, (stacked rows, 1)."""

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Return the expected counts under a model, and the log-likelihood."""

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw a class for every row under a model, and count; the number of threads does not matter."""


class Table(Countable, Protocol):
    """Rows over a domain."""

    @property
    def domain(self) -> Domain:
        """The variables."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    @property
    def n_counted(self) -> float:
        """The larger of the number of rows and the sum of weights."""

    @property
    def n_effective(self) -> float | None:
        """How many independent rows weights are worth, (Σ w)² / Σ w², at most Σ w; None if they are whole numbers."""

    def along(self, forest: Forest) -> Countable:
        """Return the rows for passes with models whose classes share a forest."""

    def log_prob(self, parts: Sequence[Parameters]) -> float:
        """Return Σ_i w_i log p(x_i) under a model, whose parts may have forests."""

    def joint_counts(self, groups: Sequence[tuple[int, ...]]) -> list[np.ndarray]:
        """Count the labels of groups of variables together, such as all pairs: one table per group."""

    def sample(self, seed: int) -> MemoryTable:
        """Return the rows that a search may read: all rows if they are in memory, otherwise a random sample."""
