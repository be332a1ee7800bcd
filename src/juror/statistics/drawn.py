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

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator, runner: LocalRunner) -> ExpectedCounts:
        """Draw a class for every row under λ (F,) and the stack, and count.

        Chance is drawn before and after the threads are at work, so that their number does not matter.
        """
        log_lam, log_stack = log_of(lam), log_of(stack)
        counts = ExpectedCounts(0.0, np.zeros(len(lam)), np.zeros_like(stack))
        if len(self.single):
            uniform = rng.random(len(self.single))

            def of_single(rows: slice) -> ExpectedCounts:
                return ExpectedCounts(*kernels().draw_classes(self.single[rows], uniform[rows], log_lam, log_stack))

            counts += runner.map_reduce(of_single, partitions(len(self.single)), ExpectedCounts.__add__)
        if len(self.several):
            counts += self._draw_several(log_lam, log_stack, rng, runner)
        return counts

    def _draw_several(
        self, log_lam: np.ndarray, log_stack: np.ndarray, rng: np.random.Generator, runner: LocalRunner
    ) -> ExpectedCounts:
        def posterior(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            found: tuple[np.ndarray, np.ndarray] = kernels().posterior(self.several[rows], log_lam, log_stack)
            return found

        classes, cells, log_likelihood = np.zeros(len(log_lam)), np.zeros_like(log_stack), 0.0
        parts = list(partitions(len(self.several)))
        # a few posteriors at a time, (rows, F) each: all of them need not fit into memory
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
            kernels().add_counts(self.several[rows], drawn, cells)
        return ExpectedCounts(log_likelihood, classes, cells)
