"""Where a search begins.

Two kinds, as neither won everywhere in ``benchmarks/starts.py`` (ten starts each): seeded ones did on two equal
columns, scattered ones on average on Car and Mushroom, and two tables showed no difference beyond the spread. Why is
not known.
"""

from __future__ import annotations

import numpy as np

from juror.rows.packing import PackedCells
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
    cells: PackedCells,
    weights: np.ndarray,
    marginals: np.ndarray,
    rank: int,
    stacking: Stacking,
    rng: np.random.Generator,
) -> Parameters:
    """Begin every class at a row of the table, drawn by weight, no distinct row twice while there are enough.

    Parameters
    ----------
    cells : PackedCells
        Distinct rows.
    weights : numpy.ndarray, (n_distinct,)
        How often each counts.
    marginals, rank, stacking, rng
        As in :func:`random_start`.
    """
    seeds = rng.choice(len(cells), size=rank, replace=rank > len(cells), p=weights / weights.sum())
    stack = _SEED_MARGIN * marginals * rng.exponential(size=(len(marginals), rank))
    stack[cells.unpacked(seeds).T, np.arange(rank)] += 1 - _SEED_MARGIN
    return Parameters(np.full(rank, 1.0 / rank), stacking.normalise(stack, otherwise=np.ones_like(stack)))


def smoothed_marginals(cells: PackedCells, weights: np.ndarray, stacking: Stacking) -> np.ndarray:
    """Return one-way marginals with one count more, shared by a variable's labels, (stacked rows, 1)."""
    packed = np.zeros(cells.n_packed)
    for column in cells.packed.T:
        packed += np.bincount(column, weights, minlength=cells.n_packed)
    return smoothed_shares(cells.folded(packed[:, None]), stacking)


def smoothed_shares(counts: np.ndarray, stacking: Stacking) -> np.ndarray:
    """Return one-way marginals from how often labels are seen, (stacked rows, 1) both, with one count more."""
    share = np.repeat(1.0 / np.asarray(stacking.cardinalities), np.asarray(stacking.cardinalities) + 1)
    smoothed = counts + share[:, None]
    return stacking.normalise(smoothed, otherwise=np.ones_like(smoothed))
