"""Groups of rows in which numbers vary together in different ways: a mixture of normal distributions in normal scores.

Group g has a share w_g, a mean m_g and a covariance matrix S_g over the numbers of a table, each in normal scores, and

    r_ig ∝ w_g N(z_i; m_g, S_g)

says how much of row i belongs to it. Groups overlap: what tells them apart is mainly how their numbers depend on each
other, and each may get a forest of its own. Groups that only divide a table into places are of no use for that.
"""

from __future__ import annotations

import numpy as np

# Steps of EM, on no more rows than this; the groups are only a start
_STEPS, _MOST_ROWS = 40, 20_000
# Steps of k-means that find the first groups
_FIRST_STEPS = 10
# The least variance of a number in a group, in squared normal scores
_LEAST_VARIANCE = 1e-3
# A share of a row below this does not count
_LEAST_SHARE = 1e-3


def normal_scores(code: np.ndarray, counts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the normal score of every row in a column of intervals, (rows,), at random inside the interval.

    Parameters
    ----------
    code : numpy.ndarray, (rows,)
        The interval of each row. Rows with a negative code, or one beyond all intervals, are missing: their score is
        random.
    counts : numpy.ndarray, (n_intervals,)
        The rows of every interval.
    rng : numpy.random.Generator
        Where random numbers come from.
    """
    from scipy.special import ndtri

    ends = np.concatenate([[0.0], np.cumsum(counts) / max(counts.sum(), 1e-300)])
    uniform = rng.random(len(code))
    seen = (code >= 0) & (code < len(counts))
    at = code[seen].astype(np.int64)
    uniform[seen] = ends[at] + uniform[seen] * (ends[at + 1] - ends[at])
    return np.asarray(ndtri(np.clip(uniform, 1e-4, 1 - 1e-4)))


def group_rows(scores: np.ndarray, weights: np.ndarray, n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """Return how much of every row belongs to each group, (rows, n_groups); every row sums to one.

    Parameters
    ----------
    scores : numpy.ndarray, (rows, n_numbers)
        Numbers in normal scores.
    weights : numpy.ndarray, (rows,)
        How often each row counts.
    n_groups : int
        How many groups there are.
    rng : numpy.random.Generator
        Where random numbers come from.
    """
    n_rows = len(scores)
    if n_groups == 1:
        return np.ones((n_rows, 1))
    some = np.arange(n_rows) if n_rows <= _MOST_ROWS else rng.choice(n_rows, _MOST_ROWS, replace=False)
    z, w = scores[some], weights[some]
    shares = _nearest(z, z[rng.choice(len(z), n_groups, replace=len(z) < n_groups)])
    for _ in range(_STEPS):
        groups = _Normals.of(z, w[:, None] * shares)
        shares = groups.shares(z)
    shares = groups.shares(scores)
    shares[shares < _LEAST_SHARE] = 0.0
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _nearest(z: np.ndarray, centres: np.ndarray) -> np.ndarray:
    """Return a one in the group whose mean is nearest, (rows, n_groups), after some steps of k-means."""
    for _ in range(_FIRST_STEPS):
        distance = (centres**2).sum(axis=1) - 2 * z @ centres.T
        near = np.eye(len(centres))[distance.argmin(axis=1)]
        totals = near.sum(axis=0)[:, None]
        centres = np.where(totals > 0, near.T @ z / np.maximum(totals, 1.0), centres)
    return near


class _Normals:
    """The shares (G,), means (G, n) and covariances of groups; of these the inverse roots L^-T with L L^T = S."""

    def __init__(self, logs: np.ndarray, means: np.ndarray, roots: np.ndarray):
        self._logs, self._means, self._roots = logs, means, roots

    @classmethod
    def of(cls, z: np.ndarray, counts: np.ndarray) -> _Normals:
        """Estimate groups from how much each row counts in them, (rows, G)."""
        totals = counts.sum(axis=0) + 1e-9
        means = counts.T @ z / totals[:, None]
        roots, logs = [], []
        for count, total, mean in zip(counts.T, totals, means, strict=True):
            off = z - mean
            spread = (off * count[:, None]).T @ off / total + _LEAST_VARIANCE * np.eye(z.shape[1])
            lower = np.linalg.cholesky(spread)
            roots.append(np.linalg.inv(lower).T)
            logs.append(np.log(total / totals.sum()) - np.log(np.diag(lower)).sum())
        return cls(np.array(logs), means, np.stack(roots))

    def shares(self, z: np.ndarray) -> np.ndarray:
        """Return how much of every row belongs to each group, (rows, G)."""
        squares = [(((z - mean) @ root) ** 2).sum(axis=1) for mean, root in zip(self._means, self._roots, strict=True)]
        logs = self._logs - np.stack(squares, axis=1) / 2
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
