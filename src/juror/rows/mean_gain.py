"""The mean gain of rows, and how sure it is."""

from __future__ import annotations

import math

import numpy as np


def mean_gain(gains: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """Return the weighted mean of what rows gain, and its standard error.

    A weight is the number of equal rows, so a row of weight three counts as three rows. Weights that sum to less than
    there are rows, such as shares, still come from as many rows as there are.

    Parameters
    ----------
    gains, weights : numpy.ndarray, (rows,)
        Of the same rows.

    Examples
    --------
    >>> mean_gain(np.array([1.0, 0.0]), np.array([1.0, 1.0])) == mean_gain(np.array([1.0, 0.0]), np.array([0.5, 0.5]))
    True
    """
    mean = float(np.average(gains, weights=weights))
    n_rows = max(float(weights.sum()), len(weights))
    return mean, math.sqrt(float(np.average((gains - mean) ** 2, weights=weights)) / n_rows)
