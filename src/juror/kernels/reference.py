"""The kernels' definition, in NumPy.

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
    for n in range(cells.shape[1]):
        np.add.at(counts, cells[:, n], R)
    return float(weights @ total), R.sum(axis=0), counts
