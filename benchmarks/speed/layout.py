"""Factors on top of each other, for the contestants that are written here: NumPy's and the plain loop."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Layout:
    """Where each variable stands: I_n rows and one more, of logarithms zero, that a missing cell selects."""

    def __init__(self, cardinalities: Sequence[int]):
        self.sizes = np.asarray(cardinalities)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes + 1)])
        self.ones = self.starts[1:] - 1

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the stacked row that every code selects, (rows, N)."""
        return np.where(codes < 0, self.ones, codes + self.starts[:-1]).astype(np.int32)

    def stack(self, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Stack factors (I_n, F), each followed by a row of ones."""
        return np.vstack([block for factor in factors for block in (factor, np.ones((1, factor.shape[1])))])

    def unstack(self, stack: np.ndarray) -> list[np.ndarray]:
        """Take a stack apart."""
        return [stack[a:b] for a, b in zip(self.starts[:-1], self.ones, strict=True)]

    def normalised(self, counts: np.ndarray) -> np.ndarray:
        """Scale the columns of every factor to sum one: the M-step."""
        counts = counts.copy()
        counts[self.ones] = 0.0
        totals = np.add.reduceat(counts, self.starts[:-1], axis=0)
        counts /= np.repeat(totals, self.sizes + 1, axis=0)
        counts[self.ones] = 1.0
        return counts
