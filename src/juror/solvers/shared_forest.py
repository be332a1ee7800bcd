"""EM for classes that share a forest, each of whose tables is drawn to what the forest and the class say apart.

With expected counts C_n[y, x, f] of the label x of a variable and y of its parent in class f, T_n[y, x] the forest's
own table, m_n[x] the marginal and s the strength, the step is

    A_n[y, x, f] = (C_n[y, x, f] + s B_n[y, x, f]) / (Σ_x C_n[y, x, f] + s)
    B_n[y, x, f] ∝ T_n[y, x] m_nf[x] / m_n[x],     m_nf[x] = (Σ_y C_n[y, x, f] + s₀ m_n[x]) / (Σ_yx C_n[y, x, f] + s₀)

A class shows most combinations of two labels in few rows or none, but every single label in many. So B combines the
effect of the parent with that of the class as if they were independent, as naive Bayes does. With 128 classes, drawing
them to T alone costs 0.12 nats a row on Adult, 0.04 on plants, 0.27 on dna and nothing on nltcs
(``benchmarks/forests.py``). B moves with the counts, so the steps climb no fixed objective: they are for fits that are
stopped by held-out rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from juror.counts.counting import count_tables
from juror.kernels import card_kernels, kernels_for_one_pass
from juror.rows.expected import Prepared
from juror.rows.in_memory import MemoryTable
from juror.rows.on_card import CardRows
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.local import partitions
from juror.solvers.ascent import Objective, Point

# s₀: the rows by which the labels of a class are drawn to the marginal
_CLASS_STRENGTH = 10.0
# Shares of rows are drawn to this power: at higher powers, classes begin further apart.
_SPREAD = 4
_ROWS_AT_ONCE = 4096
# From this many floats in the table of a variable on, tables of the same shape are not put together.
_MANY_FLOATS = 1 << 14
# The most labels of all variables whose pairs are counted on a card
_MOST_LABELS = 1 << 13
# Combinations of a class and two labels, of all pairs, are counted in one pass if there are this many rows for each.
_ROWS_EACH = 8


@dataclass(frozen=True)
class _Alike:
    """Variables whose tables have the same shape (I_pa, I_n).

    Attributes
    ----------
    rows : numpy.ndarray, (n_variables · I_pa · I_n,), or slice
        Their stacked rows; a slice if there is one variable.
    own, once : numpy.ndarray, (n_variables, I_pa, I_n, 1) and (n_variables, I_n, 1)
        The forest's own tables T and the marginals m.
    """

    rows: np.ndarray | slice
    shape: tuple[int, int]
    own: np.ndarray
    once: np.ndarray

    def combined(self, counts: np.ndarray) -> np.ndarray:
        """Return B from the counts C, (n_variables, I_pa, I_n, F) both."""
        of_class = counts.sum(axis=1) + _CLASS_STRENGTH * self.once
        of_class /= of_class.sum(axis=1, keepdims=True) * self.once
        combined = self.own * of_class[:, None]
        combined /= combined.sum(axis=2, keepdims=True)
        return combined


@dataclass(frozen=True, eq=False)
class SharedForest(Objective[PackedRows]):
    """The rows, and the strength in rows for every column of a table, that EM steps along a forest need."""

    strength: float = 1.0

    @classmethod
    def along(cls, rows: Any, stacking: Stacking, smoothing: float) -> SharedForest:
        """Make the steps for some rows.

        A pseudo-count of ``smoothing`` per cell is, for columns of the mean length, that many rows per column.
        """
        own = stacking.marginals(rows.label_counts)
        strength = smoothing * float(np.mean(stacking.cardinalities))
        return cls(rows, stacking, 0.0, own, strength * own, rows.total, strength)

    @cached_property
    def _alike(self) -> list[_Alike]:
        """The variables, those with tables of the same shape together."""
        by_shape: dict[tuple[int, int], list[int]] = {}
        for n, (height, size) in enumerate(zip(self.stacking.heights, self.stacking.cardinalities, strict=True)):
            by_shape.setdefault((height // size, size), []).append(n)
        every = np.arange(self.stacking.n_rows)
        return [
            self._tables_at(np.concatenate([every[self.stacking.rows(n)] for n in variables]), shape)
            for shape, variables in by_shape.items()
        ]

    @cached_property
    def _apart(self) -> list[_Alike]:
        """The variables, each by itself."""
        pairs = zip(self.stacking.heights, self.stacking.cardinalities, strict=True)
        return [
            self._tables_at(self.stacking.rows(n), (height // size, size)) for n, (height, size) in enumerate(pairs)
        ]

    def _tables_at(self, rows: np.ndarray | slice, shape: tuple[int, int]) -> _Alike:
        counted, own = (each[rows, 0].reshape(-1, *shape, 1) for each in (self.rows.label_counts, self.marginals))
        once = counted.sum(axis=1) + 1.0 / shape[1]
        return _Alike(rows, shape, own, once / once.sum(axis=1, keepdims=True))

    def update(self, point: Point) -> Parameters:
        """Take the EM step from a point."""
        lam, cells = point.counts.classes, point.counts.cells
        stack = np.ones_like(cells)
        # Small tables are gathered, as each operation has a cost of its own. Large ones are not, as copies cost more.
        for alike in self._alike if cells.size < _MANY_FLOATS * len(self.stacking.heights) else self._apart:
            counts = cells[alike.rows].reshape(-1, *alike.shape, len(lam))
            drawn = np.broadcast_to(alike.own, counts.shape).copy() if alike.shape[0] == 1 else alike.combined(counts)
            drawn *= self.strength
            drawn += counts
            totals = drawn.sum(axis=2, keepdims=True)
            if self.strength > 0:
                drawn /= totals
            else:
                drawn = np.divide(drawn, totals, out=np.broadcast_to(alike.own, drawn.shape).copy(), where=totals > 0)
            stack[alike.rows] = drawn.reshape(-1, len(lam))
        return Parameters(lam / lam.sum(), stack, self.stacking.forest)

    def on_card(self) -> SharedForest:
        """Return the steps with points that stay on the card, if the rows are passed over there."""
        return _ForestOnCard(**vars(self)) if isinstance(self.rows, CardRows) else self

    def scattered_start(self, rank: int, rng: np.random.Generator, rows: PackedRows | None = None) -> Parameters:
        """Share every row among the classes at random, and take the step from there: classes near the forest's own.

        The same rows may be given in another order, to draw their shares in.
        """
        lam, counts = (self.rows if rows is None else rows).scattered(rank, _SPREAD, rng)
        stack = self.stacking.normalise(
            counts + self.marginals, otherwise=np.broadcast_to(self.marginals, counts.shape)
        )
        return Parameters(lam / lam.sum(), stack, self.stacking.forest)


class _ForestOnCard(SharedForest):
    """The same steps on tensors: tables of forests are large, and to move them would take longer than a pass."""

    @cached_property
    def _steps(self) -> Any:
        sizes, heights = np.asarray(self.stacking.cardinalities), np.asarray(self.stacking.heights)
        counted = [self.rows.label_counts[self.stacking.rows(n), 0] for n in range(len(sizes))]
        once = [each.reshape(-1, size).sum(axis=0) + 1.0 / size for each, size in zip(counted, sizes, strict=True)]
        shares = np.concatenate([each / each.sum() for each in once])
        steps = card_kernels().ForestSteps
        return steps.of(self.marginals[:, 0], shares, self.stacking.starts[:-1], sizes, heights // sizes)

    def at(self, parameters: Parameters) -> Point:
        """Pass over the rows."""
        to = card_kernels().as_tensor
        return super().at(replace(parameters, lam=to(parameters.lam), stack=to(parameters.stack)))

    def update(self, point: Point) -> Parameters:
        """Take the EM step from a point."""
        lam, stack = self._steps.step(point.counts.classes, point.counts.cells, self.strength, _CLASS_STRENGTH)
        return Parameters(lam, stack, self.stacking.forest)


def fetched(parameters: Parameters) -> Parameters:
    """Return parameters as arrays, also if they are on a card."""
    lam: Any = parameters.lam
    if isinstance(lam, np.ndarray):
        return parameters
    to = card_kernels().as_array
    return replace(parameters, lam=to(lam), stack=to(parameters.stack))


def most_probable_classes(table: MemoryTable, parameters: Parameters) -> np.ndarray:
    """Return the most probable class of every distinct row, (rows,)."""
    cells = PackedCells.plain(table.rows.codes, Stacking(table.domain.cardinalities, parameters.forest))
    card = table.runner.card(table.rows.codes.size)
    passing = card or kernels_for_one_pass(cells.packed.size)
    tables = Prepared.of(cells, parameters.lam, parameters.stack, passing).tables
    if card is not None:
        # Posteriors of all rows would take longer to move than to find.
        on_card: np.ndarray = card.likeliest_classes(cells.packed, tables)
        return on_card
    classes = np.empty(len(cells), dtype=np.int64)
    for rows in partitions(len(cells), _ROWS_AT_ONCE):
        classes[rows] = passing.posterior(cells.packed[rows], tables)[1].argmax(axis=1)
    return classes


def information_given(table: MemoryTable, classes: np.ndarray) -> np.ndarray:
    """Return the mutual information of every two variables within classes (rows,), less that by chance, (N, N)."""
    codes, weights, sizes = table.rows.codes, table.rows.weights, table.domain.cardinalities
    card = table.runner.card(codes.size)
    if card is not None and sum(sizes) <= _MOST_LABELS and np.all(weights == np.round(weights)):
        # Sums of whole numbers are the same in any order.
        shares: np.ndarray = card.within_classes(codes, weights, classes, sizes)
        return shares
    if _ROWS_EACH * (int(classes.max(initial=0)) + 1) * sum(sizes) ** 2 <= len(codes):
        return _of_many_rows(table, classes)
    found = np.zeros((len(sizes),) * 2)
    columns = [np.ascontiguousarray(column) for column in codes.T.astype(np.int64)]
    for j, first in enumerate(columns):
        for k in range(j):
            both = (first >= 0) & (columns[k] >= 0)
            known = slice(None) if np.all(both) else both
            labels = (classes[known], first[known], columns[k][known])
            found[j, k] = found[k, j] = _within(labels, (sizes[j], sizes[k]), weights[known])
    return found


def _of_many_rows(table: MemoryTable, classes: np.ndarray) -> np.ndarray:
    """Return the same, from tables of two variables and the class."""
    codes, weights, N = table.rows.codes, table.rows.weights, len(table.domain)
    sizes = (*table.domain.cardinalities, int(classes.max()) + 1)
    joined = np.empty((len(codes), N + 1), dtype=np.result_type(codes.dtype, np.min_scalar_type(-sizes[-1])), order="F")
    joined[:, :N], joined[:, N] = codes, classes
    pairs = [(k, j, N) for j in range(N) for k in range(j)]
    counted = count_tables(joined, sizes, pairs, None if np.all(weights == 1.0) else weights, table.runner)
    found = np.zeros((N, N))
    for (k, j, _), both in zip(pairs, counted, strict=True):
        of_first, of_second, n_f = both.sum(axis=1), both.sum(axis=0), both.sum(axis=(0, 1))
        gain = n_log_n(both) + n_log_n(n_f) - n_log_n(of_first) - n_log_n(of_second)
        shown = [np.maximum(np.count_nonzero(each, axis=0) - 1, 0) for each in (of_first, of_second)]
        found[j, k] = found[k, j] = (gain - float(shown[0] @ shown[1]) / 2) / max(float(n_f.sum()), 1.0)
    return found


def n_log_n(counts: np.ndarray) -> float:
    """Return Σ n log n of counts."""
    return float(np.sum(counts * np.log(np.maximum(counts, 1e-300))))


def _within(labels: tuple[np.ndarray, ...], sizes: tuple[int, int], weights: np.ndarray) -> float:
    """Return Σ_f n_f I_f / n − Σ_f (J_f − 1)(K_f − 1) / 2n of two variables, where class f shows J_f and K_f labels."""
    if not len(weights):
        return 0.0
    classes, first, second = labels
    n_f, of_first = _counted(classes, weights), _counted(classes * sizes[0] + first, weights)
    of_second = _counted(classes * sizes[1] + second, weights)
    of_both = _counted((classes * sizes[0] + first) * sizes[1] + second, weights)
    gain = of_both.n_log_n + n_f.n_log_n - of_first.n_log_n - of_second.n_log_n
    shown = (np.bincount(of_first.keys // sizes[0]) - 1, np.bincount(of_second.keys // sizes[1]) - 1)
    chance = float(np.sum(np.maximum(shown[0], 0) * np.maximum(shown[1], 0))) / 2
    return (gain - chance) / float(weights.sum())


class _Counted(NamedTuple):
    """The distinct keys, sorted, and Σ n log n of their counts n."""

    keys: np.ndarray
    n_log_n: float


def _counted(keys: np.ndarray, weights: np.ndarray) -> _Counted:
    # Sorting costs more than a table of all keys, unless there are many more keys than rows.
    most = int(keys.max()) + 1
    if most <= 8 * len(keys):
        counts = np.bincount(keys, weights, minlength=most)
        keys = np.flatnonzero(counts)
        counts = counts[keys]
    else:
        keys, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place, weights)
    return _Counted(keys, float(counts @ np.log(counts)))
