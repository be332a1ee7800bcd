"""Passes over the rows of a table.

With cells c (rows, N) as in :mod:`juror.stacking`, the stack S (stacked rows, F) and class weights λ (F,):

    log joint    L[i, f] = log λ_f + Σ_n log S[c_in, f]
    log prob     ℓ_i     = log Σ_f exp L[i, f]
    posterior    R[i, f] = exp(L[i, f] − ℓ_i),  zero for a row that no class can produce
    expected     C[s, f] = Σ_i w_i R[i, f] Σ_n [c_in = s]   and   Σ_i w_i ℓ_i
"""

from __future__ import annotations

import numpy as np


def _log_joint(cells: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray) -> np.ndarray:
    return log_lam + log_stack[cells].sum(axis=1)


def log_prob(cells: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray) -> np.ndarray:
    """Return ℓ, the log-probability of every row, (rows,).

    Parameters
    ----------
    cells : numpy.ndarray of int32, (rows, N)
        Stacked rows selected by every row of the table.
    log_lam : numpy.ndarray, (F,)
        Log class weights.
    log_stack : numpy.ndarray, (stacked rows, F)
        Log stacked factors.
    """
    joint = _log_joint(cells, log_lam, log_stack)
    top = joint.max(axis=1)
    finite_top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(joint - finite_top[:, None]).sum(axis=1)) + finite_top


def posterior(cells: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    total = log_prob(cells, log_lam, log_stack)
    possible = np.isfinite(total)
    joint = _log_joint(cells, log_lam, log_stack)
    R = np.exp(joint - np.where(possible, total, 0.0)[:, None])
    return total, np.where(possible[:, None], R, 0.0)


def expected_counts(
    cells: np.ndarray, weights: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F).

    Parameters
    ----------
    cells, log_lam, log_stack
        As in :func:`log_prob`.
    weights : numpy.ndarray, (rows,)
        How often each row counts.
    """
    total, R = posterior(cells, log_lam, log_stack)
    R *= weights[:, None]
    counts = np.zeros_like(log_stack)
    add_counts(cells, R, counts)
    return float(weights @ total), R.sum(axis=0), counts


def add_counts(cells: np.ndarray, drawn: np.ndarray, counts: np.ndarray) -> None:
    """Add to counts, (stacked rows, F), how often the cells of every row were drawn in every class, drawn (rows, F)."""
    for n in range(cells.shape[1]):
        np.add.at(counts, cells[:, n], drawn)


def draw_classes(
    cells: np.ndarray, uniform: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts.

    The class of row i is the first f at which Σ_{g ≤ f} R[i, g] exceeds u_i; an impossible row has none.

    Parameters
    ----------
    cells, log_lam, log_stack
        As in :func:`log_prob`.
    uniform : numpy.ndarray, (rows,)
        u, from 0 up to but not including 1.
    """
    total, R = posterior(cells, log_lam, log_stack)
    ladder = np.cumsum(R, axis=1)
    classes = np.minimum(np.sum(uniform[:, None] * ladder[:, -1:] >= ladder, axis=1), len(log_lam) - 1)
    possible = np.isfinite(total)
    counts = np.zeros_like(log_stack)
    np.add.at(counts, (cells[possible], classes[possible, None]), 1.0)
    class_counts = np.bincount(classes[possible], minlength=len(log_lam)).astype(float)
    return float(total.sum()), class_counts, counts


def lone_counts(
    cells: np.ndarray, weights: np.ndarray, log_base: np.ndarray, log_odds: np.ndarray, log_stack: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every class alone before a background, Σ w log(1 + e^t), its rows (F,) and its counts.

    With t_if = log o_f + Σ_n log S[c_in, f] − log b_i, the class has the share 1 / (1 + e^−t) of a row and the
    background has the rest; classes do not see each other.

    Parameters
    ----------
    cells, weights, log_stack
        As in :func:`expected_counts`.
    log_base : numpy.ndarray, (rows,)
        log b, the log-probability of every row under the background; finite.
    log_odds : numpy.ndarray, (F,)
        log o, the weight of each class over that of the background.
    """
    ratio = _log_joint(cells, log_odds, log_stack) - log_base[:, None]
    small = np.exp(-np.abs(ratio))
    share = weights[:, None] * (np.where(ratio >= 0.0, 1.0, small) / (1.0 + small))
    counts = np.zeros_like(log_stack)
    add_counts(cells, share, counts)
    return weights @ (np.maximum(ratio, 0.0) + np.log1p(small)), share.sum(axis=0), counts
