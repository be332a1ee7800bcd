"""Expected counts under a current model: all that an EM step needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from juror.kernels import kernels
from juror.kernels.logarithms import log_of
from juror.rows.packing import PackedCells
from juror.rows.regions import Regions
from juror.runners.local import LocalRunner, partitions

# In a forest, this many classes are passed over at once.
_CLASSES_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class Prepared:
    """What passes over some cells read of a model.

    Attributes
    ----------
    tables : Any
        What kernels read.
    stack : numpy.ndarray, (stacked rows, F)
        The stack.
    regions : Regions, optional
        The missing regions of the cells, in a forest.
    messages : tuple of numpy.ndarray, (n_messages, F) and (n_messages or 0, F)
        Their messages, and the logarithms of these if some may have lost digits.
    """

    tables: Any
    stack: np.ndarray
    regions: Regions | None = None
    messages: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, cells: PackedCells, lam: np.ndarray, stack: np.ndarray) -> Prepared:
        """Prepare λ (F,) and the stack for passes over these cells; in a forest, find all messages."""
        # All arrays have the same layout, so that kernels are compiled once.
        lam, stack = (np.require(array, requirements=["C", "W"]) for array in (lam, stack))
        make, shape = kernels().tables, cells.packed.shape
        if cells.regions is None:
            return cls(make(lam, stack, cells.parts, *shape), stack)
        values, logs = kernels().messages(stack, cells.regions.states)
        used = cells.regions.used
        tables = make(lam, np.concatenate([stack, values[used]]), cells.parts, *shape)
        if len(logs):
            tables = kernels().with_logs(tables, np.concatenate([log_of(stack), logs[used]]))
        return cls(tables, stack, cells.regions, (values, logs))

    def settled(self, counts: ExpectedCounts) -> ExpectedCounts:
        """Share the counts of messages, which stand below those of the stack, among the stacked rows."""
        if self.regions is None:
            return counts
        spread = kernels().spread_counts(self._of_messages(counts), self.stack, self.regions.states, *self.messages)
        return replace(counts, cells=counts.cells[: len(self.stack)] + spread)

    def drawn(self, counts: ExpectedCounts, rng: np.random.Generator) -> ExpectedCounts:
        """Do the same with labels drawn at random."""
        if self.regions is None:
            return counts
        key = rng.integers(2**64, dtype=np.uint64)
        below = self._of_messages(counts)
        drawn = kernels().draw_counts(below, key, self.stack, self.regions.states, *self.messages)
        return replace(counts, cells=counts.cells[: len(self.stack)] + drawn)

    def _of_messages(self, counts: ExpectedCounts) -> np.ndarray:
        assert self.regions is not None
        below = np.zeros_like(self.messages[0])
        below[self.regions.used] = counts.cells[len(self.stack) :]
        return below


def tables_of(cells: PackedCells, lam: np.ndarray, stack: np.ndarray) -> Any:
    """Return what kernels read of λ (F,) and the stack in passes over these cells."""
    return Prepared.of(cells, lam, stack).tables


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
        if cells.in_forest:
            return _of_forest(cells, weights, lam, stack, runner)
        prepared, count = Prepared.of(cells, lam, stack), kernels().expected_counts

        def of_partition(rows: slice) -> ExpectedCounts:
            return cls(*count(cells.packed[rows], weights[rows], prepared.tables))

        return prepared.settled(runner.map_reduce(of_partition, partitions(len(cells)), ExpectedCounts.__add__))


def _of_forest(
    cells: PackedCells, weights: np.ndarray, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner
) -> ExpectedCounts:
    """Count in two passes over the rows, some classes at a time: the tables of a forest are larger than the cache.

    The first pass finds the log-probability of every row, the second counts. Threads share the classes.
    """
    ranges = list(partitions(len(lam), _CLASSES_AT_ONCE))

    def first_pass(classes: slice) -> tuple[Prepared, np.ndarray]:
        prepared = Prepared.of(cells, lam[classes], stack[:, classes])
        return prepared, np.asarray(kernels().log_prob(cells.packed, prepared.tables))

    found = list(runner.map(first_pass, ranges))
    totals = reduce(np.logaddexp, [logs for _, logs in found])

    def second_pass(pair: tuple[Prepared, np.ndarray]) -> ExpectedCounts:
        prepared, logs = pair
        counted = kernels().counts_given(cells.packed, weights, logs, totals, prepared.tables)
        return prepared.settled(ExpectedCounts(0.0, *counted))

    counts = list(runner.map(second_pass, found))
    likelihood = float(weights @ totals)
    if len(counts) == 1:
        return replace(counts[0], log_likelihood=likelihood)
    classes = np.concatenate([part.classes for part in counts])
    return ExpectedCounts(likelihood, classes, np.hstack([part.cells for part in counts]))
