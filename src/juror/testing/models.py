"""Random models and tables, and the dense tensor as an oracle."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juror.domain import Domain
from juror.model import JointPMF


def random_model(
    cardinalities: Sequence[int],
    rank: int,
    rng: np.random.Generator,
    *,
    domain: Domain | None = None,
    concentration: float = 1.0,
    zeros: float = 0.0,
) -> JointPMF:
    """Draw weights and factor columns from symmetric Dirichlet distributions.

    Parameters
    ----------
    cardinalities : sequence of int
        The number of labels of each variable.
    rank : int
        The number of classes.
    rng : numpy.random.Generator
        The random generator.
    domain : Domain, optional
        Names and labels; ``x0, x1, …`` by default.
    concentration : float
        The Dirichlet parameter: small for classes that favour few labels, large for nearly uniform classes.
    zeros : float
        The share of factor cells to set to zero; every column keeps at least one label.
    """
    weights = rng.dirichlet(np.full(rank, 2.0))
    factors = []
    for size in cardinalities:
        factor = rng.dirichlet(np.full(size, concentration), size=rank).T
        gone = rng.random(factor.shape) < zeros
        gone[factor.argmax(axis=0), np.arange(rank)] = False
        factor = np.where(gone, 0.0, factor)
        factors.append(factor / factor.sum(axis=0))
    return JointPMF(weights, tuple(factors), domain)


def dense(model: JointPMF) -> np.ndarray:
    """Return the whole probability tensor, one axis per variable, directly from the definition."""
    shape = model.domain.cardinalities
    tensor = np.zeros(shape)
    for f in range(model.rank):
        term = model.weights[f]
        for n, factor in enumerate(model.factors):
            axes = [1] * len(shape)
            axes[n] = shape[n]
            term = term * factor[:, f].reshape(axes)
        tensor = tensor + term
    return tensor


def random_codes(model: JointPMF, n_rows: int, rng: np.random.Generator, *, missing: float = 0.0) -> np.ndarray:
    """Draw rows of codes (n_rows, N) from a model, a share of the cells missing at random."""
    classes = rng.choice(model.rank, size=n_rows, p=model.weights)
    codes = np.empty((n_rows, len(model.factors)), dtype=np.int32)
    for n, factor in enumerate(model.factors):
        # the draws of rng.choice(len(factor), p=factor[:, f]) for every class f, at once
        bounds = np.cumsum(factor, axis=0)
        codes[:, n] = ((bounds / bounds[-1])[:, classes] <= rng.random(n_rows)).sum(axis=0)
    codes[rng.random(codes.shape) < missing] = -1
    return codes
