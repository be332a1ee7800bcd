"""Logarithms of probabilities: zeros are common and give −inf without a warning."""

from __future__ import annotations

import numpy as np


def log_of(probabilities: np.ndarray) -> np.ndarray:
    """Return natural logarithms, −inf for zeros."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(probabilities))


def log_sum_exp(logs: np.ndarray) -> np.ndarray:
    """Return log Σ exp over the last axis, −inf where all entries are −inf.

    >>> log_sum_exp(log_of(np.array([[0.25, 0.5], [0.0, 1.0]]))).round(4).tolist()
    [-0.2877, 0.0]
    """
    top = logs.max(axis=-1, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    return log_of(np.exp(logs - shift).sum(axis=-1)) + shift[..., 0]
