"""The ends of intervals of probabilities, from posterior draws and from the rows behind an answer.

*Draws.* A draw p_d answers for the model: it is what the answer would be if classes and forests could follow the table.
They never quite do, and the prior draws small tables towards independence, so that draws lie closer together than the
truth lies to them. They are taken apart a little, each cell by itself, around the median of all draws:

    logit p'_d = logit p̃ + 1.1 (logit p_d − logit p̃)

The model may also miss altogether how two variables depend on each other. So wherever the rows behind an answer are
counted, k_x rows with the label x, the truth is either like the draws or apart from them, truth ~ Dirichlet(½). How
often it is apart, the :data:`Agreement`, is learned from all pairs of variables. The draws have seen the same rows, as
if the model were right, so that the case that the truth is apart has the odds

    P(apart) / P(right) · DirichletMultinomial(k | ½) · mean_d 1 / Multinomial(k | p_d)

and then truth | k ~ Dirichlet(½ + k). The ends are quantiles of the mixture of both cases. Where the model agrees with
the rows, they are those of the draws.

*Rows alone.* A model without draws says nothing about its uncertainty. Then the interval of a cell is Jeffreys' for the
rows: quantiles of Beta(½ + k, ½ + n − k).

A label that no row shows may be impossible. So its interval begins at 0, unless even its low end lets one expect half a
row or more; and that of a label that all rows show ends at 1, unless its high end lets one expect half a row of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

# In what share of the answers the truth is apart from the draws, and in what share it is like them
Agreement = tuple[float, ...]
# What is thought of a table before it is seen, as if from 24 answers
_PRIOR = 24.0 * np.array([0.03, 0.97])
UNSEEN: Agreement = (0.03, 0.97)
# How much further apart draws are taken. docs/coverage.md has what comes of it.
_WIDER = 1.1
_ROUNDS = 30
_TINY, _LEAST = 1e-300, 1e-15
# A label that fewer rows than this are expected to show may be impossible.
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


def ends_of_draws(
    answers: np.ndarray, counts: np.ndarray | None, level: float, agreement: Agreement
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends for all cells, each (cells,), given the answer of every draw, (draws, cells).

    ``counts`` (cells,) are the rows behind the answer, None if they are not known.
    """
    tails, wide = ((1.0 - level) / 2.0, (1.0 + level) / 2.0), widened(answers)
    if counts is None or counts.sum() <= 0:
        low, high = np.quantile(wide, tails, axis=0)
        return low, high
    apart = float(_share_apart(_log_ratio(answers, counts), agreement[0]))
    of_cell, of_rest = counts + 0.5, 0.5 * (len(counts) - 1) + counts.sum() - counts

    def share_below(x: np.ndarray) -> np.ndarray:
        from scipy.special import betainc

        return np.asarray(apart * betainc(of_cell, of_rest, x) + (1.0 - apart) * np.mean(wide <= x, axis=0))

    low, high = (_quantile(share_below, tail, answers.shape[1]) for tail in tails)
    return _open(low, high, counts)


def widened(answers: np.ndarray) -> np.ndarray:
    """Return the answers of draws, (draws, cells), taken apart around their median; zeros and ones stay.

    >>> widened(np.array([[0.2], [0.5], [0.8]])).round(3).tolist()
    [[0.179], [0.5], [0.821]]
    """
    from scipy.special import expit, logit

    logits = logit(np.clip(answers, _TINY, 1.0 - _LEAST))
    middle = np.median(logits, axis=0)
    wide = expit(middle + _WIDER * (logits - middle))
    return np.asarray(np.where((answers > 0.0) & (answers < 1.0), wide, answers))


def ends_of_rows(counts: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Return Jeffreys' ends for all cells, each (…, cells), from the rows in every cell of an answer, (…, cells).

    >>> low, high = ends_of_rows(np.array([0.0, 3.0, 7.0]), 0.9)
    >>> low.round(2).tolist(), high.round(2).tolist()
    ([0.0, 0.12, 0.44], [0.17, 0.56, 0.88])
    """
    from scipy.special import betaincinv

    of_cell, of_rest = counts + 0.5, counts.sum(axis=-1, keepdims=True) - counts + 0.5
    low, high = (betaincinv(of_cell, of_rest, tail) for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0))
    return _open(low, high, counts)


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


def _open(low: np.ndarray, high: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Let intervals of labels that no row shows begin at 0, and of labels that all rows show end at 1."""
    n = counts.sum(axis=-1, keepdims=True)
    is_absent, is_alone = (counts <= 0) & (n * low < _EXPECTED), (counts >= n) & (n * (1.0 - high) < _EXPECTED)
    return np.where(is_absent, 0.0, low), np.where(is_alone, 1.0, high)
