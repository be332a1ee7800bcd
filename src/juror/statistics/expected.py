"""Expected counts under a current model: all that an EM step needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels
from juror.logs import log_of
from juror.sources.runners import LocalRunner, partitions


def log_prob_of_cells(cells: np.ndarray, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner) -> np.ndarray:
    """Return log Σ_f λ_f Π_n A_n[x_n, f] of every row of cells (rows, N) under λ (F,) and the stack, (rows,)."""
    log_lam, log_stack = log_of(lam), log_of(stack)

    def of_partition(rows: slice) -> np.ndarray:
        return np.asarray(kernels().log_prob(cells[rows], log_lam, log_stack))

    return np.concatenate([np.empty(0), *runner.map(of_partition, partitions(len(cells)))])


@dataclass(frozen=True)
class ExpectedCounts:
    """How often each label is expected in each class, and the log-likelihood on the way.

    Attributes
    ----------
    log_likelihood : float
        Σ_i w_i log p(x_i).
    classes : numpy.ndarray, (F,)
        Expected rows in every class.
    cells : numpy.ndarray, (stacked rows, F)
        Expected counts of every label in every class, stacked as in :mod:`juror.stacking`.
    """

    log_likelihood: float
    classes: np.ndarray
    cells: np.ndarray

    def __add__(self, other: ExpectedCounts) -> ExpectedCounts:
        return ExpectedCounts(
            self.log_likelihood + other.log_likelihood, self.classes + other.classes, self.cells + other.cells
        )

    @classmethod
    def of(
        cls, cells: np.ndarray, weights: np.ndarray, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner
    ) -> ExpectedCounts:
        """Count over a table of cells (rows, N) with row weights (rows,) under λ (F,) and the stack."""
        log_lam, log_stack = log_of(lam), log_of(stack)
        count = kernels().expected_counts

        def of_partition(rows: slice) -> ExpectedCounts:
            return cls(*count(cells[rows], weights[rows], log_lam, log_stack))

        return runner.map_reduce(of_partition, partitions(len(cells)), ExpectedCounts.__add__)
