"""Smoothing over the neighbours of ordered labels: K g, with K[x, z] ∝ exp(−(x − z)² / 2h²) and rows that sum to one.

Neighbouring intervals of a number mostly mean the same. How wide h may be for one variable alone, the labels y of a
target say: p(y | x) is estimated from counts smoothed with every width, each row left out in turn, and the most
probable wins. Numbers that mean something of their own, such as a zero for "none", so stay apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np

# Widths to choose from, as shares of the number of labels; zero leaves labels apart
_WIDTHS = (0.0, 0.03, 0.06, 0.12, 0.24)
# Pseudo-rows, of labels as in the whole table, that a smoothed count has besides
_PRIOR = 2.0


@cache
def bell(n: int, width: float) -> np.ndarray:
    """Return exp(−(x − z)² / 2h²), (n, n), with h = width · n; the unit matrix for a width of zero.

    >>> bell(3, 1 / 3).round(2).tolist()
    [[1.0, 0.61, 0.14], [0.61, 1.0, 0.61], [0.14, 0.61, 1.0]]
    """
    if width == 0.0:
        return np.eye(n)
    apart = np.subtract.outer(np.arange(n), np.arange(n)) / (width * n)
    return np.asarray(np.exp(-0.5 * apart**2))


def smoother(n: int, width: float) -> np.ndarray:
    """Return K, (n, n)."""
    K = bell(n, width)
    return np.asarray(K / K.sum(axis=1, keepdims=True))


def best_width(counts: np.ndarray, shares: np.ndarray) -> float:
    """Return the width with which counts of labels (n_labels, n) predict best, every row left out in turn.

    ``shares`` are the labels' shares of all rows, (n_labels,).
    """
    scores = [_left_out_score(counts, shares, bell(counts.shape[1], width)) for width in _WIDTHS]
    return _WIDTHS[int(np.argmax(scores))]


def _left_out_score(counts: np.ndarray, shares: np.ndarray, K: np.ndarray) -> float:
    """Return Σ_i log p(y_i | x_i) with p from the other rows: each counts once in its own smoothed count."""
    of_label = np.maximum(counts @ K - 1.0, 0.0) + _PRIOR * shares[:, None]
    of_all = np.maximum(counts.sum(axis=0) @ K - 1.0, 0.0) + _PRIOR
    return float(np.sum(counts * np.log(of_label / of_all)))
