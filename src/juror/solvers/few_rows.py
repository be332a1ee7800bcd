"""Draw classes for few distinct rows, in as few calls of NumPy as possible and without compiled kernels.

A sweep over a small table costs mostly calls, not arithmetic. For very few rows without missing cells, with M[s, i] = 1
if row i selects the stacked row s, the counts are M times the classes drawn, whole numbers, which are exact in any
order. For others the cells of every row are counted.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from juror.kernels import are_few, few_states
from juror.kernels.logarithms import log_of
from juror.rows.expected import ExpectedCounts
from juror.rows.regions import Regions, find_regions
from juror.rows.stacking import Stacking

# Rows whose products sum to less are computed in log space.
_SAFE = 1e-200
# The most messages: all are in memory, for every class.
_MOST_MESSAGES = 1 << 15


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
        return _posterior(self._cells, lam, stack)

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw a class for every row that the distinct rows stand for, and count."""
        logs, R = self.posterior(lam, stack)
        drawn = rng.multinomial(self._n_rows, R).astype(np.float64)
        return ExpectedCounts(float(self._n_rows @ logs), drawn.sum(axis=0), self._selects @ drawn)


class FewCells:
    """Distinct rows of codes (n, N), −1 for missing, of any weights (n,), laid out for the tables of a forest.

    Missing cells between observed ones in the forest have messages (:mod:`juror.rows.regions`).
    """

    def __init__(self, cells: np.ndarray, regions: Regions | None, weights: np.ndarray):
        self._cells = np.ascontiguousarray(cells.T, dtype=np.intp)
        self._regions, self._weights = regions, weights
        self._nodes = [] if regions is None else few_states.nodes_of(regions.states)
        whole = np.floor(weights)
        self._single, self._several = np.flatnonzero(weights == 1.0), np.flatnonzero((whole > 0) & (weights != 1.0))
        self._parts = np.flatnonzero(weights > whole)
        self._n_rows, self._rest = whole[self._several].astype(np.int64), (weights - whole)[self._parts]

    @classmethod
    def of(cls, codes: np.ndarray, weights: np.ndarray, stacking: Stacking) -> Self | None:
        """Lay out rows; None if there are too many messages."""
        cells, regions = find_regions(codes, stacking)
        if regions is not None and regions.n_messages > _MOST_MESSAGES:
            return None
        return cls(cells, regions, weights)

    def posterior(self, lam: np.ndarray, stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the log-probability of every row, (n,), and the posterior of its classes, (n, F)."""
        return self._posterior(lam, stack)[:2]

    def _posterior(
        self, lam: np.ndarray, stack: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, few_states.StackAndMessages | None]:
        """Return the same, and the messages."""
        if self._regions is None:
            return *_posterior(self._cells, lam, stack), None
        rows, used = few_states.all_messages(stack, self._nodes), self._regions.used
        extended = np.concatenate([stack, np.empty((len(used), len(lam)))])
        logs = few_states.filled_in(rows, extended, len(stack), used)
        return *_posterior(self._cells, lam, extended, logs[used] if len(logs) else None), rows

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Draw classes, and missing labels that connect observed ones in the forest, and count."""
        logs, R, rows = self._posterior(lam, stack)
        F, drawn = len(lam), []
        for some, worth in ((self._single, None), (self._parts, self._rest)):
            if len(some):
                ladder = R[some].cumsum(axis=1)
                levels = rng.random(len(some)) * ladder[:, -1]
                classes = np.minimum((ladder <= levels[:, None]).sum(axis=1), F - 1)
                drawn.append((some, classes, np.ones(len(some)) if worth is None else worth))
        if len(self._several):
            n_drawn = rng.multinomial(self._n_rows, R[self._several])
            place, classes = np.nonzero(n_drawn)
            drawn.append((self._several[place], classes, n_drawn[place, classes].astype(np.float64)))
        row, classes, worth = (np.concatenate(each) for each in zip(*drawn, strict=True))
        height = len(stack) + (0 if self._regions is None else len(self._regions.used))
        places = self._cells[:, row] * F + classes
        each = np.broadcast_to(worth, places.shape).ravel()
        counts = np.bincount(places.ravel(), each, minlength=height * F).reshape(height, F)
        if rows is not None and self._regions is not None:
            key = int(rng.integers(2**64, dtype=np.uint64))
            few_states.draw_from(counts, key, rows, self._nodes, self._regions.used)
        in_classes = np.bincount(classes, worth, minlength=F)
        return ExpectedCounts(float(self._weights @ logs), in_classes, counts[: len(stack)])


def _posterior(
    columns: np.ndarray, lam: np.ndarray, stack: np.ndarray, log_messages: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probability of every row, (n,), and the posterior of its classes, (n, F).

    Parameters
    ----------
    columns : numpy.ndarray of int, (N, n)
        The stacked row that every cell selects.
    lam, stack : numpy.ndarray, (F,) and (stacked rows, F)
        The weights and the stack, perhaps with messages at its end.
    log_messages : numpy.ndarray, (n_used, F), optional
        The logarithms of the messages, if some may have lost digits.
    """
    R = stack.take(columns[0], axis=0)
    R *= lam
    for cells in columns[1:]:
        R *= stack.take(cells, axis=0)
    totals = R.sum(axis=1)
    if totals.min() >= _SAFE:
        R /= totals[:, None]
        return np.log(totals), R
    log_stack = log_of(stack)
    if log_messages is not None:
        log_stack[len(stack) - len(log_messages) :] = log_messages
    logs = log_stack[columns].sum(axis=0) + log_of(lam)
    top = logs.max(axis=1, keepdims=True)
    R = np.exp(logs - top)
    totals = R.sum(axis=1, keepdims=True)
    return (top + np.log(totals))[:, 0], R / totals
