"""Tables of cells and models, drawn at random, for the tests of kernels."""

import numpy as np

from juror.rows.stacking import Stacking


class Case:
    """What the kernels are given: cells, weights, log λ and the log stack, drawn at random."""

    def __init__(self, sizes, rank, n_rows, *, missing=0.0, zeros=0.0, dead=0, tilt=1.0, seed=0):
        rng = np.random.default_rng(seed)
        self.sizes = sizes
        self.stacking = Stacking(tuple(sizes))
        self.lam = rng.dirichlet(np.ones(rank))
        self.lam[:dead] = 0.0
        self.factors = [rng.dirichlet(np.ones(size), size=rank).T ** tilt for size in sizes]
        for factor in self.factors:
            factor[rng.random(factor.shape) < zeros] = 0.0
        self.codes = np.column_stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.int32)
        self.codes[rng.random(self.codes.shape) < missing] = -1
        self.cells = self.stacking.cells(self.codes)
        self.weights = rng.integers(1, 5, n_rows).astype(float)
        self.stack = self.stacking.stack(self.factors)
        self.parts = np.arange(len(self.stack), dtype=np.int32)[:, None]

    def tables(self, module, n_rows):
        return module.tables(self.lam, self.stack, self.parts, n_rows, len(self.sizes))
