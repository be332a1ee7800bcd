"""Columns of hidden states over the intervals of a number, drawn to bells."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class BellPrior(NamedTuple):
    """What the columns of states are drawn to, and how far.

    Attributes
    ----------
    rows : float
        The rows by which a column is drawn to its bell.
    spread, spread_rows : float
        The spread of a bell before any row, in normal scores, and its rows.
    leak : float
        The share of a bell that is the marginal.
    """

    rows: float
    spread: float
    spread_rows: float
    leak: float


def bells(ends: np.ndarray, means: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Return the mass of normal distributions in every interval, (I', K), from means and spreads (K,).

    The I' intervals lie between the ends, (I' + 1,), which increase; the first may be −inf, and the last inf.
    """
    from scipy.special import ndtr

    return np.asarray(np.diff(ndtr((ends[:, None] - means) / spreads), axis=0))


def drawn_to_bells(
    counts: np.ndarray, ends: np.ndarray, middles: np.ndarray, marginal: np.ndarray, prior: BellPrior
) -> np.ndarray:
    """Return the columns of states drawn to bells with the mean and spread of their rows, (I, K), each sums to one.

    Parameters
    ----------
    counts : numpy.ndarray, (I, K)
        The rows of every interval in each state. If I > I', the last line counts missing cells.
    ends, middles : numpy.ndarray, (I' + 1,) and (I',)
        The ends of the intervals in normal scores, and a score in each.
    marginal : numpy.ndarray, (I,)
        The share of every interval in all rows.
    prior : BellPrior
        How far columns are drawn.
    """
    inside, totals = counts[: len(middles)].astype(np.float64), counts.sum(axis=0, dtype=np.float64)
    rows = inside.sum(axis=0)
    means = np.divide(middles @ inside, rows, out=np.zeros_like(rows), where=rows > 0)
    squares = (inside * (middles[:, None] - means) ** 2).sum(axis=0)
    spreads = np.sqrt((squares + prior.spread_rows * prior.spread**2) / (rows + prior.spread_rows))
    missing = (counts[len(middles) :] + marginal[len(middles) :, None]) / (totals + 1.0)
    whole = np.vstack([bells(ends, means, spreads) * (1.0 - missing.sum(axis=0)), missing])
    drawn = (1.0 - prior.leak) * whole + prior.leak * marginal[:, None]
    aim = counts + prior.rows * drawn
    return np.asarray(aim / aim.sum(axis=0), dtype=counts.dtype)
