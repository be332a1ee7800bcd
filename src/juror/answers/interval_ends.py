"""The ends of intervals of probabilities, from posterior draws and from the rows behind an answer.

*Draws.* A draw p_d answers for the model: it is what the answer would be if classes and forests could follow the table.
They may miss how two variables depend on each other. So wherever the rows behind an answer are counted, k_x rows with
the label x, the truth is one of the draws with probability 0.65, and otherwise only near one:

    truth ~ Dirichlet(s p_d),  s one of a few strengths,    k | truth ~ Multinomial(truth)

The draws have seen the same rows, as if the model were right, so that a pair (d, s) has the weight

    w_ds ∝ P(s) · DirichletMultinomial(k | s p_d) / Multinomial(k | p_d),    truth | d, s, k ~ Dirichlet(s p_d + k)

and the ends are quantiles of this mixture. Where the model agrees with the rows, they are those of the draws.

*Rows alone.* A model without draws says nothing about its uncertainty. Then the interval of a cell is Jeffreys' for the
rows: quantiles of Beta(½ + k, ½ + n − k).

A label that no row shows may be impossible, so its interval begins at 0; one that all rows show has an interval that
ends at 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# The strengths s: how many rows a draw is worth that is only near the truth
_STRENGTHS = np.array([4.0, 16.0, 64.0, 256.0])
# The prior probability that the model is right about an answer
_RIGHT = 0.65
_TINY = 1e-300
# Quantiles are found by halving [0, 1] this often.
_HALVINGS = 24
# Only this many of the draws are spread around.
_MOST_SPREAD = 32
# Pairs (d, s) that together weigh less than this are left out.
_NEGLIGIBLE = 1e-6


def ends_of_draws(answers: np.ndarray, counts: np.ndarray | None, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends for all cells, each (cells,), given the answer of every draw, (draws, cells).

    ``counts`` (cells,) are the rows behind the answer, None if they are not known.
    """
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    if counts is None or counts.sum() <= 0:
        low, high = np.quantile(answers, tails, axis=0)
        return low, high
    sure, weights, alpha = _spread(answers, counts)
    rest = alpha.sum(axis=1, keepdims=True) - alpha

    def share_below(x: np.ndarray) -> np.ndarray:
        from scipy.special import betainc

        below = (weights[:, None] * betainc(alpha, rest, x)).sum(axis=0)
        return np.asarray(below + sure * np.mean(answers <= x, axis=0))

    low, high = (_quantile(share_below, tail, answers.shape[1]) for tail in tails)
    return _open(low, high, counts)


def ends_of_rows(counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Jeffreys' ends for all cells, each (cells,), from the rows in every cell (cells,).

    >>> low, high = ends_of_rows(np.array([0.0, 3.0, 7.0]), 0.9)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.12, 0.44], [0.17, 0.56, 0.88])
    """
    from scipy.special import betaincinv

    of_cell, of_rest = counts + 0.5, counts.sum() - counts + 0.5
    low, high = (betaincinv(of_cell, of_rest, tail) for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
    return _open(low, high, counts)


def _spread(answers: np.ndarray, counts: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the weight of s = ∞, the weights of other pairs (d, s), (pairs,), and their s p_d + k, (pairs, cells)."""
    from scipy.special import gammaln, logsumexp

    p = np.maximum(answers[:: -(-len(answers) // _MOST_SPREAD)], _TINY)
    near = (_STRENGTHS[:, None, None] * p).reshape(-1, p.shape[1])
    strengths = np.repeat(_STRENGTHS, len(p))
    logs = gammaln(strengths) - gammaln(strengths + counts.sum())
    logs += (gammaln(near + counts) - gammaln(near)).sum(axis=1) - np.tile(np.log(p) @ counts, len(_STRENGTHS))
    logs += np.log((1.0 - _RIGHT) / len(logs))
    total = logsumexp(np.append(logs, np.log(_RIGHT)))
    weights = np.exp(logs - total)
    kept = weights > _NEGLIGIBLE / len(weights)
    return 1.0 - float(weights[kept].sum()), weights[kept], (near + counts)[kept]


def _quantile(share_below: Callable[[np.ndarray], np.ndarray], tail: float, n_cells: int) -> np.ndarray:
    low, high = np.zeros(n_cells), np.ones(n_cells)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        enough = share_below(middle) >= tail
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high


def _open(low: np.ndarray, high: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let intervals of labels that no row shows begin at 0, and of labels that all rows show end at 1."""
    return np.where(counts <= 0, 0.0, low), np.where(counts >= counts.sum(), 1.0, high)
