"""Draw classes for a few distinct rows without missing cells, in as few calls of NumPy as possible.

A sweep over a small table costs mostly calls, not arithmetic. With M[s, i] = 1 if row i selects the stacked row s, the
counts are M times the classes drawn, whole numbers, which are exact in any order.
"""

from __future__ import annotations

import numpy as np

from juror.kernels import are_few
from juror.kernels.logarithms import log_of
from juror.rows.expected import ExpectedCounts
from juror.rows.stacking import Stacking

# Rows whose products sum to less are computed in log space.
_SAFE = 1e-200


class FewRows:
    """Distinct rows of codes (n, N) and how many rows each stands for, (n,), laid out for the tables of a forest."""

    def __init__(self, codes: np.ndarray, n_rows: np.ndarray, stacking: Stacking):
        self._cells = np.ascontiguousarray(stacking.cells(codes).T, dtype=np.intp)
        self._n_rows = n_rows
        self._selects = np.zeros((stacking.n_rows, len(codes)))
        self._selects[self._cells, np.arange(len(codes))] = 1.0

    @staticmethod
    def takes(codes: np.ndarray, weights: np.ndarray) -> bool:
        """Whether rows of codes with these weights are few, complete and counted in whole numbers."""
        return are_few(codes.size) and bool(np.all(codes >= 0) and np.all(weights == np.floor(weights)))

    def posterior(self, lam: np.ndarray, stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-probability of every row, (n,), and the posterior of its classes, (n, F)."""
        R = stack.take(self._cells[0], axis=0)
        R *= lam
        for cells in self._cells[1:]:
            R *= stack.take(cells, axis=0)
        totals = R.sum(axis=1)
        if totals.min() >= _SAFE:
            R /= totals[:, None]
            return np.log(totals), R
        logs = log_of(stack)[self._cells].sum(axis=0) + log_of(lam)
        top = logs.max(axis=1, keepdims=True)
        R = np.exp(logs - top)
        totals = R.sum(axis=1, keepdims=True)
        return (top + np.log(totals))[:, 0], R / totals

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw a class for every row that the distinct rows stand for, and count."""
        logs, R = self.posterior(lam, stack)
        drawn = rng.multinomial(self._n_rows, R).astype(np.float64)
        return ExpectedCounts(float(self._n_rows @ logs), drawn.sum(axis=0), self._selects @ drawn)
