"""Expected counts under a current model: all that an EM step needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from types import ModuleType
from typing import Any

import numpy as np

from juror.kernels.logarithms import log_of
from juror.rows.hidden_stack import HiddenNodes, HiddenTables
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.regions import Regions
from juror.runners.local import LocalRunner, partitions

# In a forest, classes are counted at once while their tables have at most this many floats: they should stay in the
# cache.
_FLOATS_AT_ONCE, _FEWEST_CLASSES = 1 << 20, 64
# Kernels take this many classes in one step. Classes are shared among threads if each has at least this many products,
# and among no more than this many threads: what each finds is added up.
_CLASSES_OF_STEP, _PRODUCTS_OF_THREAD, _MOST_THREADS = 16, 1 << 23, 8
# Rows whose log-probabilities one thread finds at once
_ROWS_AT_ONCE = 2048


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
    logs : numpy.ndarray, (n_messages or 0, F), optional
        The logarithms of their messages, if some may have lost digits.
    kernels : ModuleType
        The kernels that find messages and share their counts.
    """

    tables: Any
    stack: np.ndarray
    kernels: ModuleType
    regions: Regions | None = None
    logs: np.ndarray | None = None

    @classmethod
    def of(
        cls, cells: PackedCells, lam: np.ndarray, stack: np.ndarray, kernels_of_pass: ModuleType | None = None
    ) -> Prepared:
        """Prepare λ (F,) and the stack for passes over these cells; in a forest, find all messages.

        The pass may be made by other kernels than those of the cells.
        """
        # All arrays have the same layout, so that kernels are compiled once.
        if not (lam.flags.carray and stack.flags.carray):
            lam, stack = (np.require(array, requirements=["C", "W"]) for array in (lam, stack))
        passing = kernels_of_pass or cells.kernels
        make, shape = passing.tables, cells.packed.shape
        if cells.regions is None:
            return cls(make(lam, stack, cells.parts, *shape), stack, cells.kernels)
        extended, logs = _extended(cells, cells.regions, stack)
        tables = make(lam, extended, cells.parts, *shape)
        if len(logs):
            tables = passing.with_logs(tables, np.concatenate([log_of(stack), logs[cells.regions.used]]))
        return cls(tables, stack, cells.kernels, cells.regions, logs)

    def settled(self, counts: ExpectedCounts) -> ExpectedCounts:
        """Share the counts of messages, which stand below those of the stack, among the stacked rows."""
        if self.regions is None:
            return counts
        self.kernels.spread_counts(counts.cells, self.stack, self.regions.states, self.regions.used, self.logs)
        return replace(counts, cells=counts.cells[: len(self.stack)])

    def drawn(self, counts: ExpectedCounts, rng: np.random.Generator) -> ExpectedCounts:
        """Do the same with labels drawn at random."""
        if self.regions is None:
            return counts
        key, states, used = rng.integers(2**64, dtype=np.uint64), self.regions.states, self.regions.used
        self.kernels.draw_counts(counts.cells, key, self.stack, states, used, self.logs)
        return replace(counts, cells=counts.cells[: len(self.stack)])


def _extended(cells: PackedCells, regions: Regions, stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the stack with messages below, (stacked rows + n_used, F), and logarithms of all messages if needed."""
    extended = np.empty((len(stack) + len(regions.used), stack.shape[1]))
    extended[: len(stack)] = stack
    return extended, cells.kernels.messages(extended, len(stack), regions.states, regions.used)


def tables_of(cells: PackedCells, lam: np.ndarray, stack: np.ndarray, kernels_of_pass: ModuleType | None = None) -> Any:
    """Return what kernels read of λ (F,) and the stack in passes over these cells."""
    return Prepared.of(cells, lam, stack, kernels_of_pass).tables


def log_prob_of_cells(cells: PackedCells, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner) -> np.ndarray:
    """Return log Σ_f λ_f Π_n A_n[x_n, f] of every row of cells under λ (F,) and the stack, (rows,)."""
    tables, log_prob = tables_of(cells, lam, stack), cells.kernels.log_prob

    def of_partition(rows: slice) -> np.ndarray:
        return np.asarray(log_prob(cells.packed[rows], tables))

    return np.concatenate([np.empty(0), *runner.map(of_partition, partitions(len(cells), _ROWS_AT_ONCE))])


def log_prob_of_codes(
    codes: np.ndarray, cardinalities: tuple[int, ...], part: Parameters, runner: LocalRunner
) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N) under one part of a model, (rows,).

    Under trees with hidden nodes it is in single precision, as their fits are.
    """
    if part.hidden:
        assert part.forest is not None
        tables = HiddenTables.stacked([table[..., 0] for table in part.stacking(cardinalities).tables(part.stack)])
        nodes = HiddenNodes.of(part.forest, cardinalities)
        logs = runner.map(lambda rows: nodes.logs(tables, codes[rows]), partitions(len(codes), _ROWS_AT_ONCE))
        return np.concatenate([np.empty(0), *logs]) + log_of(part.lam[0])
    # Packing does not pay for a single pass.
    sheets = PackedCells.in_sheets(codes, part.stacking(cardinalities), once=True)
    card = runner.card(codes.size)
    if card is not None:
        passes = ((cells, Prepared.of(cells, part.lam, part.stack, card).tables) for cells in sheets)
        return np.concatenate([card.log_prob(cells.packed, tables) for cells, tables in passes])
    return np.concatenate([log_prob_of_cells(cells, part.lam, part.stack, runner) for cells in sheets])


def lone_counts_of(
    cells: PackedCells,
    weights: np.ndarray,
    log_base: np.ndarray,
    log_odds: np.ndarray,
    stack: np.ndarray,
    runner: LocalRunner,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what :func:`juror.kernels.reference.passes.lone_counts` does, with counts of stacked rows.

    Parameters
    ----------
    cells, weights : PackedCells, numpy.ndarray, (rows,)
        The rows and their weights.
    log_base : numpy.ndarray, (rows,)
        The log-probability of every row under the background.
    log_odds : numpy.ndarray, (F,)
        The log of each class's weight divided by the background's.
    stack : numpy.ndarray, (stacked rows, F)
        The tables of the classes.
    runner : LocalRunner
        What passes over the rows.
    """
    count = cells.kernels.lone_counts
    stack, regions, logs = np.ascontiguousarray(stack), cells.regions, None
    log_stack = log_of(stack)
    if regions is not None:
        extended, logs = _extended(cells, regions, stack)
        below = logs[regions.used] if len(logs) else log_of(extended[len(stack) :])
        log_stack = np.concatenate([log_stack, below])
    log_stack = cells.joined(log_stack)

    def of_partition(some: slice) -> tuple[np.ndarray, ...]:
        return tuple(count(cells.packed[some], weights[some], log_base[some], log_odds, log_stack))

    def add(a: tuple[np.ndarray, ...], b: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        return tuple(x + y for x, y in zip(a, b, strict=True))

    gain, classes, counts = runner.map_reduce(of_partition, partitions(len(cells)), add)
    prepared = Prepared(None, stack, cells.kernels, regions, logs)
    return gain, classes, prepared.settled(ExpectedCounts(0.0, classes, cells.folded(counts))).cells


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
        prepared, count = Prepared.of(cells, lam, stack), cells.kernels.expected_counts

        def of_partition(rows: slice) -> ExpectedCounts:
            return cls(*count(cells.packed[rows], weights[rows], prepared.tables))

        return prepared.settled(runner.map_reduce(of_partition, partitions(len(cells)), ExpectedCounts.__add__))


def _of_forest(
    cells: PackedCells, weights: np.ndarray, lam: np.ndarray, stack: np.ndarray, runner: LocalRunner
) -> ExpectedCounts:
    """Count in two passes over the rows, a few classes at a time, because the tables of a forest are large.

    The first pass finds the log-probability of every row, the second counts. Threads share the classes.
    """
    ranges = list(partitions(len(lam), _classes_at_once(cells, len(lam))))

    def first_pass(classes: slice) -> tuple[Prepared, np.ndarray, np.ndarray]:
        prepared = Prepared.of(cells, lam[classes], stack[:, classes])
        return prepared, *cells.kernels.row_sums(cells.packed, prepared.tables)

    found = list(runner.map(first_pass, ranges))
    if len(found) == 1:
        ((prepared, logs, sums),) = found
        counted = cells.kernels.counts_given(cells.packed, weights, sums, prepared.tables)
        return prepared.settled(ExpectedCounts(_weighed(weights, logs), *counted))
    totals = _sum_of_logs([logs for _, logs, _ in found])
    over = np.where(totals > -np.inf, totals, 0.0)
    every, counts = np.empty(len(lam)), np.empty(stack.shape)

    def second_pass(number: int) -> None:
        prepared, logs, sums = found[number]
        counted = cells.kernels.counts_given(cells.packed, weights * np.exp(logs - over), sums, prepared.tables)
        every[ranges[number]] = counted[0]
        counts[:, ranges[number]] = prepared.settled(ExpectedCounts(0.0, *counted)).cells

    list(runner.map(second_pass, range(len(ranges))))
    return ExpectedCounts(_weighed(weights, totals), every, counts)


def _classes_at_once(cells: PackedCells, n_classes: int) -> int:
    """Return how many classes a thread takes: all threads about as many, and no more than stay in the cache."""
    in_cache = max(_FEWEST_CLASSES, _FLOATS_AT_ONCE // cells.n_packed)
    n_threads = min(cells.packed.size * n_classes // _PRODUCTS_OF_THREAD, _MOST_THREADS)
    n_ranges = max(-(-n_classes // in_cache), min(n_threads, n_classes // _CLASSES_OF_STEP), 1)
    return -(-n_classes // (n_ranges * _CLASSES_OF_STEP)) * _CLASSES_OF_STEP


def _weighed(weights: np.ndarray, logs: np.ndarray) -> float:
    """Return Σ w ℓ; a row that does not count may be impossible."""
    return float(weights @ np.where(weights > 0, logs, 0.0))


def _sum_of_logs(logs: list[np.ndarray]) -> np.ndarray:
    """Return log Σ exp over several arrays."""
    top = reduce(np.maximum, logs)
    shift = np.where(top > -np.inf, top, 0.0)
    return log_of(sum(np.exp(part - shift) for part in logs)) + shift
