"""Expected counts under a current model: all that an EM step needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.kernels import kernels
from juror.rows.packing import PackedCells
from juror.runners.local import LocalRunner, partitions


def tables_of(cells: PackedCells, lam: np.ndarray, stack: np.ndarray) -> Any:
    """Return what kernels read of λ (F,) and the stack in passes over these cells."""
    # All arrays have the same layout, so that kernels are compiled once.
    lam, stack = (np.require(array, requirements=["C", "W"]) for array in (lam, stack))
    return kernels().tables(lam, stack, cells.parts, *cells.packed.shape)


def log_prob_of_cells(cells: PackedCells, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner) -> np.ndarray:
    """Return log Σ_f λ_f Π_n A_n[x_n, f] of every row of cells under λ (F,) and the stack, (rows,)."""
    tables, log_prob = tables_of(cells, lam, stack), kernels().log_prob

    def of_partition(rows: slice) -> np.ndarray:
        return np.asarray(log_prob(cells.packed[rows], tables))

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
        Expected counts of every label in every class, stacked as in :mod:`juror.rows.stacking`.
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
        cls, cells: PackedCells, weights: np.ndarray, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner
    ) -> ExpectedCounts:
        """Count over a table of cells with row weights (rows,) under λ (F,) and the stack."""
        tables, count = tables_of(cells, lam, stack), kernels().expected_counts

        def of_partition(rows: slice) -> ExpectedCounts:
            return cls(*count(cells.packed[rows], weights[rows], tables))

        return runner.map_reduce(of_partition, partitions(len(cells)), ExpectedCounts.__add__)
