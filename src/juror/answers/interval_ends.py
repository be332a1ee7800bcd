"""The ends of intervals of probabilities, from posterior draws and from the rows behind an answer.

*Rows alone.* A model without draws says nothing about its uncertainty. Then the law of the truth in a cell is Jeffreys'
for the rows: Beta(½ + k, ½ + n − k) with k of n rows in the cell.

*Draws and rows.* A draw p_d answers for the model: it is what the answer would be if classes and forests could follow
the table. They never quite do, and the prior draws small tables towards independence. So the law of the truth in a cell
is a mixture of the draws and of Jeffreys' law, in which each counts by its precision:

    weight of the rows = V_draws / (V_draws + V_rows)        V: the variance of each law

Where the model borrows little from other rows, its draws are as wide as the rows make them, and rows count half. Where
it borrows much, its draws are narrow, and rows count little.

The model may also miss altogether how two variables depend on each other. So the truth is either like this mixture or
apart from the draws, truth ~ Dirichlet(½). How often it is apart, the :data:`Agreement`, is learned from all pairs of
variables. The draws have seen the same rows, as if the model were right, so that the case that the truth is apart has
the odds

    P(apart) / P(right) · DirichletMultinomial(k | ½) · mean_d 1 / Multinomial(k | p_d)

and then the rows alone count.

A label that no row shows may be impossible. So its interval begins at 0, unless even its low end lets one expect half a
row or more; and that of a label that all rows show ends at 1, unless its high end lets one expect half a row of others.
All that such an interval leaves out is at its other end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

# In what share of the answers the truth is apart from the draws, and in what share it is like them
Agreement = tuple[float, ...]
# What is thought of a table before it is seen, as if from 24 answers
_PRIOR = 24.0 * np.array([0.03, 0.97])
UNSEEN: Agreement = (0.03, 0.97)
_ROUNDS = 30
_TINY = 1e-300
# A label that fewer rows than this show, or are expected to show, may be impossible.
_EXPECTED = 0.5
# Quantiles are found by halving [0, 1] this often.
_HALVINGS = 24
# How many of the draws agreement is learned from
MOST_COMPARED = 32


def learned_agreement(answers: Iterable[tuple[np.ndarray, np.ndarray]]) -> Agreement:
    """Return how often the model is right, by EM over many answers of all draws (draws, cells) and their rows (cells,).

    A share beyond the prior's is learned only from answers whose rows tell the two cases apart.
    """
    ratios = np.array([_log_ratio(p, counts) for p, counts in answers])
    apart = UNSEEN[0]
    for _ in range(_ROUNDS):
        apart = float((_share_apart(ratios, apart).sum() + _PRIOR[0]) / (len(ratios) + _PRIOR.sum()))
    return apart, 1.0 - apart


def widened(answers: np.ndarray, factor: float) -> np.ndarray:
    """Return answers of draws (draws, cells) that are ``factor`` times as far from each other, in logarithms.

    >>> widened(np.array([[0.5, 0.5], [0.2, 0.8]]), 2.0).round(3).tolist()
    [[0.667, 0.333], [0.111, 0.889]]
    """
    if factor == 1.0:
        return answers
    logs = np.log(np.maximum(answers, _TINY))
    middle = logs.mean(axis=0)
    logs = middle + factor * (logs - middle)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def ends_of_draws(
    answers: np.ndarray, counts: np.ndarray | None, level: float, agreement: Agreement, widening: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends for all cells, each (cells,), given the answer of every draw, (draws, cells).

    ``counts`` (cells,) are the rows behind the answer, None if they are not known. The truth is ``widening`` times as
    uncertain as the draws.
    """
    answers = widened(answers, widening)
    if counts is None or counts.sum() <= 0:
        low, high = np.quantile(answers, ((1.0 - level) / 2.0, (1.0 + level) / 2.0), axis=0)
        return low, high
    weight, (of_cell, of_rest) = weight_of_rows(answers, counts, agreement), _jeffreys(counts)

    def share_below(x: np.ndarray) -> np.ndarray:
        from scipy.special import betainc

        return np.asarray(weight * betainc(of_cell, of_rest, x) + (1.0 - weight) * np.mean(answers <= x, axis=0))

    return _ends(lambda share: _quantile(share_below, share, len(counts)), counts, level)


def weight_of_rows(answers: np.ndarray, counts: np.ndarray, agreement: Agreement) -> np.ndarray:
    """Return how much the rows count beside the draws in every cell, (cells,), given both.

    >>> half_known = np.array([[0.4, 0.6], [0.5, 0.5], [0.6, 0.4]])
    >>> weight_of_rows(half_known, np.array([18.0, 18.0]), (1e-9, 1.0)).round(2).tolist()
    [0.5, 0.5]
    """
    apart = _share_apart(_log_ratio(answers, counts), agreement[0])
    of_cell, of_rest = _jeffreys(counts)
    both = of_cell + of_rest
    of_rows, of_draws = of_cell * of_rest / (both**2 * (both + 1.0)), answers.var(axis=0)
    return np.asarray(apart + (1.0 - apart) * of_draws / (of_draws + of_rows))


def ends_of_rows(counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Jeffreys' ends for all cells, each (…, cells), from the rows in every cell of an answer, (…, cells).

    >>> low, high = ends_of_rows(np.array([0.0, 3.0, 7.0]), 0.9)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.12, 0.44], [0.12, 0.56, 0.88])
    """
    from scipy.special import betaincinv

    of_cell, of_rest = _jeffreys(counts)
    return _ends(lambda share: np.asarray(betaincinv(of_cell, of_rest, share)), counts, level)


def _jeffreys(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return both parameters of the law of every cell by the rows alone, Beta(½ + k, ½ + n − k)."""
    return counts + 0.5, counts.sum(axis=-1, keepdims=True) - counts + 0.5


def _ends(quantile: Callable[[float], np.ndarray], counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals from the quantiles of a law, both (…, cells).

    Those of labels that no row shows begin at 0, and those of labels that all rows show end at 1.
    """
    low, high = quantile((1.0 - level) / 2.0), quantile((1.0 + level) / 2.0)
    n = counts.sum(axis=-1, keepdims=True)
    is_absent = (counts < _EXPECTED) & (n * low < _EXPECTED)
    is_alone = (n - counts < _EXPECTED) & (n * (1.0 - high) < _EXPECTED)
    if not np.any(is_absent | is_alone):
        return low, high
    low = np.where(is_absent, 0.0, np.where(is_alone, quantile(1.0 - level), low))
    return low, np.where(is_alone, 1.0, np.where(is_absent, quantile(level), high))


def _log_ratio(answers: np.ndarray, counts: np.ndarray) -> float:
    """Return log of DirichletMultinomial(k | ½) · mean_d 1 / Multinomial(k | p_d)."""
    from scipy.special import gammaln, logsumexp

    # Labels without rows change nothing.
    seen, half = counts > 0, 0.5 * len(counts)
    of_rows = gammaln(half) - gammaln(half + counts.sum()) + (gammaln(0.5 + counts[seen]) - gammaln(0.5)).sum()
    of_draws = np.log(np.maximum(answers[:, seen], _TINY)) @ counts[seen]
    return float(of_rows + logsumexp(-of_draws) - np.log(len(answers)))


def _share_apart(log_ratios: np.ndarray | float, apart: float) -> np.ndarray:
    """Return the probability that the truth is apart from the draws, given what the rows say."""
    from scipy.special import expit

    return np.asarray(expit(log_ratios + np.log(apart) - np.log1p(-apart)))


def _quantile(share_below: Callable[[np.ndarray], np.ndarray], tail: float, n_cells: int) -> np.ndarray:
    low, high = np.zeros(n_cells), np.ones(n_cells)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        enough = share_below(middle) >= tail
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return high
