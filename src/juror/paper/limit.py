"""The Bayes limit: the smallest mean error of any estimator, given the distribution of the truths.

The posterior mean under that distribution reaches it. Columns of independent uniforms, scaled to sum one, are close to
a Dirichlet distribution with the same mean and variance. Then Gibbs sampling alternates two simple draws: a class for
every row given (λ, A), and (λ, A) given the classes. The mean of all kept draws is one model: it has the classes of
every draw, and each draw has the same total weight.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from juror.kernels.random_streams import Stream
from juror.model import JointPMF
from juror.rows.expected import tables_of
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking

# Draws for estimating the variance of a scaled uniform: enough for three digits of the concentration.
_DRAWS = 200_000


@cache
def matched_concentration(size: int) -> float:
    """Return the a of the Dirichlet(a, …, a) with the variance of ``size`` uniforms scaled to sum one.

    Var = (1/K)(1 − 1/K) / (K a + 1).

    >>> round(matched_concentration(10), 1)
    2.6
    """
    if size == 1:
        return 1.0
    uniform = np.random.default_rng(size).random((_DRAWS, size))
    variance = float(np.var(uniform[:, 0] / uniform.sum(axis=1)))
    return ((1 / size) * (1 - 1 / size) / variance - 1) / size


def posterior_mean(
    codes: np.ndarray, truth: JointPMF, seed: int, *, sweeps: int = 1500, burnt: int = 500, thin: int = 2
) -> JointPMF:
    """Return the mean over Gibbs draws from the posterior of rows (n_rows, N), with uniform entries as the prior.

    The true model gives the sizes, the rank and the start, which shortens the burn-in. Of ``sweeps`` sweeps, every
    ``thin``-th is kept after the first ``burnt``.
    """
    rng = Stream.PAPER_LIMIT.generator(seed, len(codes))
    stacking = Stacking(truth.domain.cardinalities)
    cells = PackedCells.plain(codes, stacking)
    F = truth.rank
    prior = np.repeat(
        [matched_concentration(size) for size in stacking.cardinalities], np.add(stacking.cardinalities, 1)
    )
    lam, stack = truth.weights, stacking.stack(truth.factors)
    kept = []
    for sweep in range(sweeps):
        _, R = cells.kernels.posterior(cells.packed, tables_of(cells, lam, stack))
        ladder = np.cumsum(R, axis=1)
        classes = np.minimum(np.sum(rng.random((len(codes), 1)) * ladder[:, -1:] >= ladder, axis=1), F - 1)
        counts = np.zeros_like(stack)
        np.add.at(counts, (cells.packed, classes[:, None]), 1.0)
        gamma = rng.standard_gamma(counts + prior[:, None])
        stack = stacking.normalise(gamma, otherwise=stack)
        lam = rng.dirichlet(matched_concentration(F) + np.bincount(classes, minlength=F))
        if sweep >= burnt and (sweep - burnt) % thin == 0:
            kept.append((lam, stack))
    weights = np.concatenate([draw for draw, _ in kept]) / len(kept)
    return JointPMF(weights, stacking.unstack(np.hstack([draw for _, draw in kept])), truth.domain)
