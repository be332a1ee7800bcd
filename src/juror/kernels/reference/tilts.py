"""The gradient of the labels' conditional likelihood, for classes that each have one label.

A row has cells c (N,) and a label y. Classes come in n_labels groups of equal size, one for each label, with scores

    s_f = b_f + Σ_n U[c_n, f],     Z = Σ_f e^{s_f},     p(y | c) = Σ_{f of y} e^{s_f} / Z,

and the objective of a row is J = log p(y | c) − ½ τ (log Z)², so τ tethers Z to one. A row without a label has the
second term alone.
"""

from __future__ import annotations

import numpy as np

# The pull of the tether does not grow beyond this distance of log Z from zero, so that far rows do not rule a step.
FARTHEST = 3.0


def label_gradient(
    cells: np.ndarray, labels: np.ndarray, offsets: np.ndarray, scores: np.ndarray, n_labels: int, tether: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ log p(y | c) over the rows with labels, and ∂ΣJ/∂b (F,) and ∂ΣJ/∂U (L, F).

    Parameters
    ----------
    cells : numpy.ndarray of int32, (rows, N)
        The rows of U that every row of the table selects.
    labels : numpy.ndarray of int64, (rows,)
        The label of every row, from 0 to n_labels − 1, or −1 for none.
    offsets : numpy.ndarray, (F,)
        b.
    scores : numpy.ndarray, (L, F)
        U.
    n_labels : int
        How many groups of F / n_labels classes there are.
    tether : float
        τ.
    """
    s, known = offsets + scores[cells].sum(axis=1), labels >= 0
    log_all = np.logaddexp.reduce(s, axis=1)
    own = np.where(np.arange(len(offsets)) // (len(offsets) // n_labels) == labels[:, None], s, -np.inf)
    log_own = np.logaddexp.reduce(own, axis=1)
    log_own[~known] = log_all[~known]
    pull = known.astype(float) + tether * np.clip(log_all, -FARTHEST, FARTHEST)
    R = np.exp(own - log_own[:, None]) - pull[:, None] * np.exp(s - log_all[:, None])
    gradient = np.zeros_like(scores)
    for column in cells.T:
        np.add.at(gradient, column, R)
    return float(np.sum(log_own - log_all)), R.sum(axis=0), gradient
