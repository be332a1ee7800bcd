"""Where a search begins."""

from __future__ import annotations

import numpy as np

from juror.solvers.parameters import Parameters
from juror.stacking import Stacking


def random_start(marginals: np.ndarray, rank: int, stacking: Stacking, rng: np.random.Generator) -> Parameters:
    """Scatter classes around the one-way marginals: S[s, f] ∝ m[s] · e, with e exponential; λ uniform.

    Every class begins as a plausible distribution of each variable and no two begin alike. Labels that are rare in
    the data are rare in every class.

    Parameters
    ----------
    marginals : numpy.ndarray, (stacked rows, 1)
        Positive one-way marginals, stacked.
    rank : int
        How many classes F.
    stacking : Stacking
        Where variables stand in the stack.
    rng : numpy.random.Generator
        The source of the scatter.
    """
    scatter = marginals * rng.exponential(size=(len(marginals), rank))
    return Parameters(np.full(rank, 1.0 / rank), stacking.normalise(scatter, otherwise=np.ones_like(scatter)))


def smoothed_marginals(cells: np.ndarray, weights: np.ndarray, stacking: Stacking) -> np.ndarray:
    """Return one-way marginals with one count more, shared by a variable's labels, (stacked rows, 1)."""
    repeated = np.repeat(weights, cells.shape[1])
    counts = np.bincount(cells.ravel(), repeated, minlength=stacking.n_rows)[:, None]
    share = np.repeat(1.0 / np.asarray(stacking.cardinalities), np.asarray(stacking.cardinalities) + 1)
    smoothed = counts + share[:, None]
    return stacking.normalise(smoothed, otherwise=np.ones_like(smoothed))
