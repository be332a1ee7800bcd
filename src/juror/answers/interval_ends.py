"""The ends of intervals of probabilities, from posterior draws and from the rows behind an answer.

*Draws.* A draw p_d answers for the model: it is what the answer would be if classes and forests could follow the table.
They may miss how two variables depend on each other. So wherever the rows behind an answer are counted, k_x rows with
the label x, there are three cases: the truth is one of the draws; it is only near one; or the draws say nothing of it:

    truth = p_d,    truth ~ Dirichlet(s p_d),  s one of a few strengths,    truth ~ Dirichlet(½)
    k | truth ~ Multinomial(truth)

How often each is so, the :data:`Agreement`, is learned from all pairs of variables. The draws have seen the same rows,
as if the model were right, so that with α = s p_d or ½ a draw and a case together have the weight

    w ∝ P(case) · DirichletMultinomial(k | α) / Multinomial(k | p_d),    truth | d, case, k ~ Dirichlet(α + k)

and the ends are quantiles of this mixture. Where the model agrees with the rows, they are those of the draws.

*Rows alone.* A model without draws says nothing about its uncertainty. Then the interval of a cell is Jeffreys' for the
rows: quantiles of Beta(½ + k, ½ + n − k).

A label that no row shows may be impossible, so its interval begins at 0; one that all rows show has an interval that
ends at 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

# How often the truth is apart from the draws, near them with each strength, and one of them: shares that sum to one
Agreement = tuple[float, ...]
# The strengths s: how many rows a draw is worth that is only near the truth
_STRENGTHS = np.array([16.0, 64.0, 256.0])
# What is thought of a table before it is seen, as if from 24 answers: in two of five the model is right
_PRIOR = 24.0 * np.array([0.3, 0.1, 0.1, 0.1, 0.4])
UNSEEN: Agreement = tuple((_PRIOR / _PRIOR.sum()).tolist())
_ROUNDS = 30
_TINY = 1e-300
# Quantiles are found by halving [0, 1] this often.
_HALVINGS = 24
# Only this many of the draws are spread around.
MOST_SPREAD = 32
# Draws and cases that together weigh less than this are left out.
_NEGLIGIBLE = 1e-6


def learned_agreement(answers: Iterable[tuple[np.ndarray, np.ndarray]]) -> Agreement:
    """Return how often the model is right, by EM over many answers of all draws (draws, cells) and their rows (cells,).

    A share beyond the prior's is learned only from answers whose rows tell the cases apart.
    """
    from scipy.special import logsumexp

    evidence = [logsumexp(_log_ratios(p, counts)[1], axis=1) - np.log(len(p)) for p, counts in answers]
    logs = np.array([np.append(each, 0.0) for each in evidence]).reshape(-1, len(_PRIOR))
    shares = _PRIOR / _PRIOR.sum()
    for _ in range(_ROUNDS):
        joint = np.log(shares) + logs
        shares = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)).sum(axis=0) + _PRIOR
        shares /= shares.sum()
    return tuple(shares.tolist())


def ends_of_draws(
    answers: np.ndarray, counts: np.ndarray | None, level: float, agreement: Agreement
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends for all cells, each (cells,), given the answer of every draw, (draws, cells).

    ``counts`` (cells,) are the rows behind the answer, None if they are not known.
    """
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    if counts is None or counts.sum() <= 0:
        low, high = np.quantile(answers, tails, axis=0)
        return low, high
    sure, weights, alpha = _spread(answers, counts, agreement)
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


def thinned(answers: np.ndarray) -> np.ndarray:
    """Return evenly spaced ones of all draws, as many as are spread around."""
    return answers[:: -(-len(answers) // MOST_SPREAD)]


def _log_ratios(p: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return α of every case but the last and every draw, (cases, draws, cells), and its log-likelihood ratio to it."""
    from scipy.special import gammaln

    p = np.maximum(p, _TINY)
    alpha = np.concatenate([np.full((1, *p.shape), 0.5), _STRENGTHS[:, None, None] * p])
    strengths = alpha.sum(axis=2)
    # Labels without rows change nothing.
    seen = counts > 0
    logs = gammaln(strengths) - gammaln(strengths + counts.sum())
    logs += (gammaln(alpha[:, :, seen] + counts[seen]) - gammaln(alpha[:, :, seen])).sum(axis=2)
    return alpha, logs - np.log(p[:, seen]) @ counts[seen]


def _spread(answers: np.ndarray, counts: np.ndarray, agreement: Agreement) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the weight of the draws, the weights of other cases, (pairs,), and their α + k, (pairs, cells)."""
    from scipy.special import logsumexp

    alpha, logs = _log_ratios(thinned(answers), counts)
    logs = (logs + np.log(np.array(agreement[:-1]) / logs.shape[1])[:, None]).ravel()
    weights = np.exp(logs - logsumexp(np.append(logs, np.log(agreement[-1]))))
    kept = weights > _NEGLIGIBLE / len(weights)
    return 1.0 - float(weights[kept].sum()), weights[kept], (alpha.reshape(len(logs), -1) + counts)[kept]


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
