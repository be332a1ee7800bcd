"""Whether probabilities mean what they say: the most probable label's probability against how often it is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import juror

N_BINS = 10


def calibration(
    shown: np.ndarray, true: np.ndarray, probabilities: Callable[[str], np.ndarray], domain: juror.Domain
) -> dict[str, Any]:
    """Return the calibration error, the mean log-probability and the bins of cells that were hidden.

    Parameters
    ----------
    shown, true : numpy.ndarray, (n_rows, N)
        Codes with −1 in the cells hidden, and as they were.
    probabilities : callable
        Given the name of a variable, its distribution in every row, (n_rows, I_n).
    domain : juror.Domain
        The variables.
    """
    tops, rights, chances = [], [], []
    for n, name in enumerate(domain.names):
        rows = np.flatnonzero((shown[:, n] < 0) & (true[:, n] >= 0))
        p = probabilities(name)[rows]
        tops.append(p.max(axis=1))
        rights.append(p.argmax(axis=1) == true[rows, n])
        chances.append(p[np.arange(len(rows)), true[rows, n]])
    bins = count_bins(np.concatenate(tops), np.concatenate(rights))
    with np.errstate(divide="ignore"):
        log_prob = float(np.mean(np.log(np.concatenate(chances))))
    return {"ece": 100 * expected_error(bins), "log_prob": log_prob, "bins": bins}


def count_bins(top: np.ndarray, right: np.ndarray) -> list[list[float]]:
    """Return for every bin of probabilities how many there are, their sum, and how many labels were right.

    >>> count_bins(np.array([0.95, 1.0, 0.5]), np.array([True, False, True]))[-1]
    [2.0, 1.95, 1.0]
    """
    # a probability of one belongs to the last bin
    which = np.minimum((top * N_BINS).astype(int), N_BINS - 1)
    columns = [np.bincount(which, weights, minlength=N_BINS) for weights in (None, top, right.astype(float))]
    return np.column_stack(columns).astype(float).tolist()


def expected_error(bins: Sequence[Sequence[float]]) -> float:
    """Return the expected calibration error, Σ_b |right_b − sum_b| / n: bins weigh as much as they hold.

    >>> expected_error([[2.0, 1.0, 2.0], [2.0, 2.0, 2.0]])
    0.25
    """
    return sum(abs(right - total) for _, total, right in bins) / sum(n for n, _, _ in bins)
