"""Counts under classes drawn for every row: all that a Gibbs sweep needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np

from juror.kernels import are_few, card_kernels
from juror.rows.expected import ExpectedCounts, Prepared
from juror.rows.packing import PackedCells
from juror.runners.local import LocalRunner, partitions

_WHOLE = 1e-9


def without_rounding(weights: np.ndarray) -> np.ndarray:
    """Return weights in which those are whole numbers that are so up to rounding, such as sums of tenths.

    >>> without_rounding(np.array([0.1 + 0.2 + 0.7, 1.5])).tolist()
    [1.0, 1.5]
    """
    nearest = np.round(weights)
    return np.where(np.abs(weights - nearest) <= _WHOLE * np.maximum(nearest, 1.0), nearest, weights)


@dataclass(frozen=True)
class RowsToDraw:
    """Rows laid out for drawing: single ones, and distinct ones that stand for several.

    Attributes
    ----------
    single, several : PackedCells
        Rows of weight one, and distinct rows of any other weight.
    n_rows, rest : numpy.ndarray, (n_several,)
        How many whole rows each of the latter stands for, and the rest of its weight, for which one class is drawn.
    """

    single: PackedCells
    several: PackedCells
    n_rows: np.ndarray
    rest: np.ndarray

    @classmethod
    def of(cls, cells: PackedCells, weights: np.ndarray) -> RowsToDraw:
        """Separate single rows from others, by their weights (n_distinct,)."""
        weights = without_rounding(weights)
        single = weights == 1.0
        n_rows = np.floor(weights[~single])
        return cls(cells.rows(single), cells.rows(~single), n_rows.astype(np.int64), weights[~single] - n_rows)

    @cached_property
    def _few(self) -> bool:
        """Whether there are so few rows of both kinds that they have the same tables."""
        few = are_few(self.single.packed.size) and are_few(self.several.packed.size)
        return few and self.single.regions is None

    @cached_property
    def _single_on_card(self) -> Any:
        return card_kernels().Placed.of(self.single.packed, None, self.single.n_packed)

    def draw(
        self,
        lam: np.ndarray,
        stack: np.ndarray,
        rng: np.random.Generator,
        runner: LocalRunner,
        card: ModuleType | None = None,
    ) -> ExpectedCounts:
        """Draw a class for every row under λ (F,) and the stack, and count; in a forest, draw missing labels too.

        The random numbers of single rows depend on their numbers. Those of others are drawn after the threads are done.
        So the number of threads does not matter. With the kernels of a card, passes are made there.
        """
        counts = ExpectedCounts(0.0, np.zeros(len(lam)), np.zeros_like(stack))
        prepared = None
        if len(self.single):
            prepared = Prepared.of(self.single, lam, stack, card)
            counts += prepared.drawn(self._draw_single(prepared.tables, rng, runner, card), rng)
        if len(self.several):
            if prepared is None or card is not None or not self._few:
                prepared = Prepared.of(self.several, lam, stack, card)
            counts += prepared.drawn(self._draw_several(prepared.tables, len(lam), rng, runner, card), rng)
        return counts

    def _draw_single(
        self, tables: Any, rng: np.random.Generator, runner: LocalRunner, card: ModuleType | None
    ) -> ExpectedCounts:
        key, draw = rng.integers(2**64, dtype=np.uint64), self.single.kernels.draw_classes
        if card is not None:
            return ExpectedCounts(*card.draw_classes(self._single_on_card, int(key), 0, tables))

        def of_partition(rows: slice) -> ExpectedCounts:
            return ExpectedCounts(*draw(self.single.packed[rows], key, rows.start, tables))

        return runner.map_reduce(of_partition, partitions(len(self.single)), ExpectedCounts.__add__)

    def _draw_several(
        self, tables: Any, rank: int, rng: np.random.Generator, runner: LocalRunner, card: ModuleType | None
    ) -> ExpectedCounts:
        passing = card or self.several.kernels

        def posterior(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            found: tuple[np.ndarray, np.ndarray] = passing.posterior(self.several.packed[rows], tables)
            return found

        classes, cells, log_likelihood = np.zeros(rank), np.zeros((self.several.n_packed, rank)), 0.0
        parts = list(partitions(len(self.several)))
        # A few posteriors at a time, (rows, F) each: all of them need not fit into memory.
        at_once = 2 * runner.n_jobs
        groups = (parts[first : first + at_once] for first in range(0, len(parts), at_once))
        for rows, (total, R) in (
            pair for group in groups for pair in zip(group, runner.map(posterior, group), strict=True)
        ):
            drawn = rng.multinomial(self.n_rows[rows], R).astype(float)
            if np.any(self.rest[rows]):
                drawn += self.rest[rows, None] * rng.multinomial(1, R)
            log_likelihood += float((self.n_rows[rows] + self.rest[rows]) @ total)
            classes += drawn.sum(axis=0)
            self.several.kernels.add_counts(self.several.packed[rows], drawn, cells)
        return ExpectedCounts(log_likelihood, classes, self.several.folded(cells))
