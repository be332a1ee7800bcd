"""Random starts of a search.

There are two kinds, as neither won everywhere in ``benchmarks/starts.py`` (ten starts each): seeded starts won on two
equal columns, scattered starts on average on Car and Mushroom, and two tables showed no difference beyond the spread.
The reason is not known.
"""

from __future__ import annotations

import numpy as np

from juror.rows.packed import PackedRows
from juror.rows.stacking import Stacking
from juror.solvers.parameters import Parameters

# How much of a class that begins at one row is left to all other labels
_SEED_MARGIN = 0.1


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


def seeded_start(
    rows: PackedRows, marginals: np.ndarray, rank: int, stacking: Stacking, rng: np.random.Generator
) -> Parameters:
    """Begin every class at a row of the table, drawn by weight, no distinct row twice while there are enough.

    Parameters
    ----------
    rows : PackedRows
        Distinct rows and their weights.
    marginals, rank, stacking, rng
        As in :func:`random_start`.
    """
    shares = rows.weights / rows.weights.sum()
    seeds = rng.choice(len(rows), size=rank, replace=rank > len(rows), p=shares)
    stack = _SEED_MARGIN * marginals * rng.exponential(size=(len(marginals), rank))
    stack[rows.cells.unpacked(seeds).T, np.arange(rank)] += 1 - _SEED_MARGIN
    return Parameters(np.full(rank, 1.0 / rank), stacking.normalise(stack, otherwise=np.ones_like(stack)))
