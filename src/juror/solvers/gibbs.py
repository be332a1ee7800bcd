"""Gibbs sampling of λ and the factors, which the Bayesian estimator averages and other searches start from.

A sweep draws a class for every row given (λ, A), the prior given the classes (:mod:`juror.solvers.hyper`), and (λ, A)
given both: λ ~ Dirichlet(a + classes), A_n(:, f) ~ Dirichlet(c_n m_n + C_n(:, f)). A missing cell takes no part.
"""

from __future__ import annotations

import numpy as np

from juror.rows.expected import ExpectedCounts
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Countable
from juror.solvers.hyper import Hyper, first_hyper, next_hyper
from juror.solvers.starts import random_start

# The prior moves slowly and costs as much to draw as a thousand rows.
PRIOR_EVERY = 5
_TINY = 1e-300


class Sampler:
    """A chain of draws of F = ``rank`` classes for some rows, from a random start of its own.

    The positive one-way marginals of the rows are of shape (stacked rows, 1). If ``sparse``, the prior of the weights
    favours few classes, see :mod:`juror.solvers.hyper`. ``point`` and
    ``hyper`` are the last draws of the parameters and of the prior.
    """

    def __init__(
        self,
        rows: Countable,
        marginals: np.ndarray,
        stacking: Stacking,
        rank: int,
        rng: np.random.Generator,
        *,
        sparse: bool,
    ):
        self._rows = rows
        self._stacking = stacking
        self._rng = rng
        self._scale_of_a = 2.0 / rank if sparse else 1.0
        self.point = random_start(marginals, rank, stacking, rng)
        self.hyper = first_hyper(stacking.cardinalities)
        self.n_sweeps = 0

    def sweep(self) -> ExpectedCounts:
        """Draw classes, the prior now and then, and the next point; return the counts under the drawn classes."""
        counts = self._rows.draw(self.point.lam, self.point.stack, self._rng)
        if self.n_sweeps % PRIOR_EVERY == 0:
            cells = self._stacking.unstack(counts.cells)
            self.hyper = next_hyper(self.hyper, counts.classes, cells, self._rng, self._scale_of_a)
        self.point = draw_point(counts, self.hyper, self._stacking, self._rng)
        self.n_sweeps += 1
        return counts


def draw_point(counts: ExpectedCounts, hyper: Hyper, stacking: Stacking, rng: np.random.Generator) -> Parameters:
    """Draw λ and the factors given the counts and the prior."""
    prior = np.ones(stacking.n_rows)
    for n, (c, m) in enumerate(zip(hyper.c, hyper.m, strict=True)):
        prior[stacking.rows(n)] = c * m
    # Gamma variates make Dirichlet draws. The floor keeps cells above zero where a variate underflows.
    gamma = np.maximum(rng.standard_gamma(counts.cells + prior[:, None]), _TINY)
    lam = np.maximum(rng.standard_gamma(counts.classes + hyper.a), _TINY)
    return Parameters(lam / lam.sum(), stacking.normalise(gamma, otherwise=gamma))
