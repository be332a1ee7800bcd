"""Counts under classes drawn for every row: all that a Gibbs sweep needs of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels
from juror.logs import log_of
from juror.sources.runners import LocalRunner, partitions
from juror.statistics.expected import ExpectedCounts

_WHOLE = 1e-9


@dataclass(frozen=True)
class RowsToDraw:
    """Rows laid out for drawing: single ones, and distinct ones that stand for several.

    Attributes
    ----------
    single : numpy.ndarray, (n_single, N)
        Cells of rows of weight one.
    several : numpy.ndarray, (n_several, N)
        Cells of distinct rows of any other weight.
    n_rows : numpy.ndarray, (n_several,)
        How many whole rows each of those stands for.
    rest : numpy.ndarray, (n_several,)
        What is left of its weight, below one; it goes to a class drawn for it.
    """

    single: np.ndarray
    several: np.ndarray
    n_rows: np.ndarray
    rest: np.ndarray

    @classmethod
    def of(cls, cells: np.ndarray, weights: np.ndarray) -> RowsToDraw:
        """Tell single rows from others, by their weights (n_distinct,)."""
        # sums of tenths and the like are whole to rounding
        nearest = np.round(weights)
        weights = np.where(np.abs(weights - nearest) <= _WHOLE * np.maximum(nearest, 1.0), nearest, weights)
        single = weights == 1.0
        n_rows = np.floor(weights[~single])
        return cls(
            np.ascontiguousarray(cells[single]),
            np.ascontiguousarray(cells[~single]),
            n_rows.astype(np.int64),
            weights[~single] - n_rows,
        )

    def draw(self, lam: np.ndarray, stack: np.ndarray, seed: tuple[int, ...], runner: LocalRunner) -> ExpectedCounts:
        """Draw a class for every row under λ (F,) and the stack, and count.

        Every partition has random numbers of its own, so that the number of threads does not matter.
        """
        log_lam, log_stack = log_of(lam), log_of(stack)

        def of_single(part: tuple[int, slice]) -> ExpectedCounts:
            number, rows = part
            uniform = np.random.default_rng([*seed, 0, number]).random(rows.stop - rows.start)
            return ExpectedCounts(*kernels().draw_classes(self.single[rows], uniform, log_lam, log_stack))

        def of_several(part: tuple[int, slice]) -> ExpectedCounts:
            number, rows = part
            total, R = kernels().posterior(self.several[rows], log_lam, log_stack)
            rng = np.random.default_rng([*seed, 1, number])
            drawn = rng.multinomial(self.n_rows[rows], R) + self.rest[rows, None] * rng.multinomial(1, R)
            counts = np.zeros_like(stack)
            for column in self.several[rows].T:
                np.add.at(counts, column, drawn)
            return ExpectedCounts(float((self.n_rows[rows] + self.rest[rows]) @ total), drawn.sum(axis=0), counts)

        nothing = ExpectedCounts(0.0, np.zeros(len(lam)), np.zeros_like(stack))
        for fn, cells in ((of_single, self.single), (of_several, self.several)):
            if len(cells):
                nothing = nothing + runner.map_reduce(fn, enumerate(partitions(len(cells))), ExpectedCounts.__add__)
        return nothing
