"""Columns of hidden states: those over the intervals of a number are drawn to bells, those of labels to the marginal.

The columns of N variables are stacked, those of variable n on the lines from ``starts[n]`` on. It has ``n_inside[n]``
intervals, none if its labels have no order. What is known of the L lines:

marginal : (L,) float64
    The share of every label in all rows.
middles : (L,) float64
    A normal score in every interval.
ends : (L + N,) float64
    The ends of the intervals in normal scores. Those of variable n begin at ``starts[n] + n``, one more than intervals.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class ColumnPrior(NamedTuple):
    """What the columns of states are drawn to, and how far.

    Attributes
    ----------
    of_labels : float
        The rows by which a column of labels without order is drawn to the marginal.
    rows : float
        The rows by which a column of intervals is drawn to its bell.
    spread, spread_rows : float
        The spread of a bell before any row, in normal scores, and its rows.
    leak : float
        The share of a bell that is the marginal.
    """

    of_labels: float
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


def drawn_columns(
    counts: np.ndarray,
    starts: np.ndarray,
    n_inside: np.ndarray,
    ends: np.ndarray,
    middles: np.ndarray,
    marginal: np.ndarray,
    prior: ColumnPrior,
) -> np.ndarray:
    """Return the columns of states drawn to bells or to the marginal, (L, K); those of every variable sum to one.

    Parameters
    ----------
    counts : numpy.ndarray, (L, K)
        The rows of every label in each state. Lines after the intervals of a number count missing cells.
    starts, n_inside, ends, middles, marginal : numpy.ndarray
        The variables, see above.
    prior : ColumnPrior
        How far columns are drawn.
    """
    aims = np.empty_like(counts)
    for n, inside in enumerate(n_inside):
        lines = slice(starts[n], starts[n + 1])
        if inside == 0:
            aim = counts[lines] + prior.of_labels * marginal[lines, None]
        else:
            first = starts[n] + n
            scores = ends[first : first + inside + 1], middles[lines][:inside]
            aim = counts[lines] + prior.rows * _bell_columns(counts[lines], *scores, marginal[lines], prior)
        aims[lines] = aim / aim.sum(axis=0)
    return aims


def _bell_columns(
    counts: np.ndarray, ends: np.ndarray, middles: np.ndarray, marginal: np.ndarray, prior: ColumnPrior
) -> np.ndarray:
    """Return bells with the mean and spread of the rows of every state, (I, K), each sums to one."""
    inside, totals = counts[: len(middles)].astype(np.float64), counts.sum(axis=0, dtype=np.float64)
    rows = inside.sum(axis=0)
    means = np.divide(middles @ inside, rows, out=np.zeros_like(rows), where=rows > 0)
    squares = (inside * (middles[:, None] - means) ** 2).sum(axis=0)
    spreads = np.sqrt((squares + prior.spread_rows * prior.spread**2) / (rows + prior.spread_rows))
    missing = (counts[len(middles) :] + marginal[len(middles) :, None]) / (totals + 1.0)
    whole = np.vstack([bells(ends, means, spreads) * (1.0 - missing.sum(axis=0)), missing])
    return np.asarray((1.0 - prior.leak) * whole + prior.leak * marginal[:, None])
