"""The composite likelihood of pair counts: what EM climbs when it knows pairs and no rows.

With n_jk[a, b] rows that show label a of variable j and b of variable k, class weights λ (F,) and factors A_n (I_n, F),

    L(λ, A) = 1/(N − 1) Σ_{j<k} Σ_ab n_jk[a, b] log P_jk[a, b],     P_jk = A_j D(λ) A_kᵗ.

Every variable is in N − 1 pairs, so each row counts once for each of its cells, and pseudo-counts weigh as they do for
rows. A pair that fewer rows show counts less. The expected count of label a of variable j in class f is

    λ_f A_j[a, f] Σ_{k≠j} Σ_b n_jk[a, b] / P_jk[a, b] · A_k[b, f] / (N − 1).

With all labels of all variables side by side, both P and the sum are one matrix product, and their cost does not depend
on the number of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.counts.counts import PairCounts
from juror.rows.expected import ExpectedCounts
from juror.rows.stacking import Stacking

# Cells of P that are in memory at once
_CELLS_AT_ONCE = 1 << 21


@dataclass(frozen=True, eq=False)
class PairLikelihood:
    """Pair counts as EM reads them: a :class:`juror.rows.table.Countable` whose likelihood is that of pairs.

    Attributes
    ----------
    n : numpy.ndarray, (Σ I, Σ I)
        The counts of every two labels over N − 1, symmetric; zero for labels of the same variable.
    stacking : Stacking
        Where labels stand in the stack.
    total : float
        The mean number of rows behind a pair.
    """

    n: np.ndarray
    stacking: Stacking
    total: float

    @classmethod
    def of(cls, counts: PairCounts) -> PairLikelihood:
        """Put the tables of counts side by side."""
        sizes = counts.domain.cardinalities
        ends = np.cumsum((0, *sizes))
        n = np.zeros((ends[-1], ends[-1]))
        for (j, k), table in zip(counts.groups, counts.tables, strict=True):
            block = (slice(ends[j], ends[j + 1]), slice(ends[k], ends[k + 1]))
            n[block] = table / (len(sizes) - 1)
            n[block[::-1]] = n[block].T
        return cls(n, Stacking(sizes), float(counts.totals.mean()))

    @cached_property
    def labels(self) -> np.ndarray:
        """The stacked row of every label, (Σ I,): all but the rows of ones."""
        return np.delete(np.arange(self.stacking.n_rows), self.stacking.missing_rows)

    @cached_property
    def label_counts(self) -> np.ndarray:
        """The mean count of every label over its pairs, (stacked rows, 1)."""
        return self._stacked(self.n.sum(axis=1)[:, None])

    def _stacked(self, of_labels: np.ndarray) -> np.ndarray:
        stacked = np.zeros((self.stacking.n_rows, of_labels.shape[1]))
        stacked[self.labels] = of_labels
        return stacked

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Return the expected counts under λ (F,) and the stack, and L.

        The counts of classes sum to N/2 times the rows, because N/2 pairs of each row count.
        """
        A = stack[self.labels]
        weighted = A * lam
        cells = np.empty_like(A)
        log_likelihood = 0.0
        step = max(1, _CELLS_AT_ONCE // len(A))
        for first in range(0, len(A), step):
            band = slice(first, first + step)
            n, P = self.n[band], weighted[band] @ A.T
            seen = n > 0
            with np.errstate(divide="ignore"):
                log_likelihood += 0.5 * float(np.sum(n[seen] * np.log(P[seen])))
                ratio = np.divide(n, P, out=np.zeros_like(P), where=seen)
            cells[band] = weighted[band] * (ratio @ A)
        return ExpectedCounts(log_likelihood, 0.5 * cells.sum(axis=0), self._stacked(cells))

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Refuse: pairs have no classes to draw for rows."""
        raise NotImplementedError("Pair counts have no rows whose classes could be drawn.")
