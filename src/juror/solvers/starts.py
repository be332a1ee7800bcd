"""Random starts of a search.

There are two kinds, as neither won everywhere in ``benchmarks/starts.py`` (ten starts each): seeded starts won on two
equal columns, scattered starts on average on Car and Mushroom, and two tables showed no difference beyond the spread.
The reason is not known.
"""

from __future__ import annotations

import numpy as np

from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking

# The share of all other labels in a class that begins at one row
_SEED_MARGIN = 0.1


def random_start(marginals: np.ndarray, rank: int, stacking: Stacking, rng: np.random.Generator) -> Parameters:
    """Scatter classes around the one-way marginals: S[s, f] ∝ m[s] · e, with e exponential; λ uniform.

    Every class begins as a plausible distribution of each variable and no two begin alike. Labels that are rare in
    the data are rare in every class. The one-way marginals are positive and stacked, (stacked rows, 1).
    """
    scatter = marginals * rng.exponential(size=(len(marginals), rank))
    stack = stacking.normalise(scatter, otherwise=np.ones_like(scatter))
    return Parameters(np.full(rank, 1.0 / rank), stack, stacking.forest)


def seeded_start(
    rows: PackedRows, marginals: np.ndarray, rank: int, stacking: Stacking, rng: np.random.Generator
) -> Parameters:
    """Begin every class at a row of the table, drawn by weight, no distinct row twice while there are enough.

    Arguments as in :func:`random_start`.
    """
    shares = rows.weights / rows.weights.sum()
    # The share of a very small weight may be zero.
    seeds = rng.choice(len(rows), size=rank, replace=rank > int(np.count_nonzero(shares)), p=shares)
    stack = _SEED_MARGIN * marginals * rng.exponential(size=(len(marginals), rank))
    stack[rows.cells.unpacked(seeds).T, np.arange(rank)] += 1 - _SEED_MARGIN
    stack = stacking.normalise(stack, otherwise=np.ones_like(stack))
    return Parameters(np.full(rank, 1.0 / rank), stack, stacking.forest)
