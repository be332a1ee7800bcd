"""Pair tables as distributions: what the solvers that know only pairs work on.

Z_jk (I_j, I_k) is the share of rows with each combination among those that show both variables, and w_jk how much the
pair counts: its number of rows over the mean of all pairs, so that all are one when nothing is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.groups import check_seen_together
from juror.domain import Domain
from juror.kernels import kernels

# Least squares for λ, which is small and should be exact
_STEPS, _TOL = 5000, 1e-12


@dataclass(frozen=True)
class PairTables:
    """Distributions of every two variables.

    Attributes
    ----------
    tables, weights : tuple of numpy.ndarray, numpy.ndarray (n_pairs,)
        Z_jk (I_j, I_k) and w_jk for j < k, in the order (0, 1), (0, 2), …, (1, 2), …
    """

    domain: Domain
    tables: tuple[np.ndarray, ...]
    weights: np.ndarray

    @classmethod
    def of(cls, counts: PairCounts) -> PairTables:
        """Scale counts to distributions."""
        totals = counts.totals
        check_seen_together(counts.domain, totals)
        tables = tuple(table / total for table, total in zip(counts.tables, totals, strict=True))
        return cls(counts.domain, tables, totals / totals.mean())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The positions of the variables of every table."""
        return list(combinations(range(len(self.domain)), 2))

    def each(self) -> Iterator[tuple[tuple[int, int], np.ndarray, float]]:
        """Give every pair with its table and weight."""
        return zip(self.pairs, self.tables, self.weights, strict=True)

    def marginal(self, n: int) -> np.ndarray:
        """Return the distribution of a variable, (I_n,): the mean of what its pairs say, by their weight."""
        total = np.zeros(self.domain.cardinalities[n])
        for (j, k), table, weight in self.each():
            if n in (j, k):
                total += weight * table.sum(axis=1 if n == j else 0)
        return total / total.sum()

    def best_weights(self, factors: Sequence[np.ndarray], start: np.ndarray) -> np.ndarray:
        """Return the λ (F,) on the simplex that minimises Σ_{j<k} w_jk ‖Z_jk − A_j D(λ) A_kᵗ‖² for given factors."""
        inner = [A.T @ A for A in factors]
        gram = np.zeros((len(start), len(start)))
        right = np.zeros(len(start))
        for (j, k), table, weight in self.each():
            gram += weight * inner[j] * inner[k]
            right += weight * np.einsum("if,if->f", factors[j], table @ factors[k])
        return kernels().least_squares_weights(gram, right, start, _STEPS, _TOL)
