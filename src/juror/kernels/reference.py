"""The kernels' definition, in NumPy: over rows of a table, and over simplices.

With cells c (rows, N) as in :mod:`juror.stacking`, the stack S (stacked rows, F) and class weights λ (F,):

    log joint    L[i, f] = log λ_f + Σ_n log S[c_in, f]
    log prob     ℓ_i     = log Σ_f exp L[i, f]
    posterior    R[i, f] = exp(L[i, f] − ℓ_i),  zero for a row that no class can produce
    expected     C[s, f] = Σ_i w_i R[i, f] Σ_n [c_in = s]   and   Σ_i w_i ℓ_i

Least squares over simplices steps along the projected gradient with momentum, which starts anew whenever it points
uphill; a step is as long as the largest row sum of |K|, which bounds its largest eigenvalue, allows.
"""

from __future__ import annotations

from collections.abc import Callable

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


def project_columns(points: np.ndarray) -> np.ndarray:
    """Return the nearest point of the simplex for every column.

    The nearest point is max(v − θ, 0) with the θ that makes it sum to one; θ follows from the sorted values.

    Parameters
    ----------
    points : numpy.ndarray, (I, F)
        Finite numbers.

    Examples
    --------
    >>> project_columns(np.array([[2.0, 0.5], [0.0, 0.5]])).tolist()
    [[1.0, 0.5], [0.0, 0.5]]
    """
    # the same for all entries of a column plus a number; near zero nothing is lost to rounding
    points = points - points.max(axis=0)
    falling = -np.sort(-points, axis=0)
    excess = np.cumsum(falling, axis=0) - 1.0
    size = np.arange(1, len(points) + 1)[:, None]
    # the support is as long as its smallest member stays above θ
    support = np.count_nonzero(falling * size > excess, axis=0)
    theta = np.take_along_axis(excess, support[None] - 1, axis=0) / support
    return np.maximum(points - theta, 0.0)


def least_squares_factor(
    gram: np.ndarray, right: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """Minimise ½ tr(A K Aᵗ) − tr(A rᵗ) over matrices A (I, F) with columns on the simplex.

    Parameters
    ----------
    gram : numpy.ndarray, (F, F)
        K, positive semi-definite.
    right : numpy.ndarray, (I, F)
        r.
    start : numpy.ndarray, (I, F)
        Where to begin.
    max_iter : int
        The most steps.
    tol : float
        Stop when no entry moves further than this in a step.
    """
    return _least_squares(lambda A: A @ gram - right, gram, start, max_iter, tol)


def least_squares_weights(
    gram: np.ndarray, right: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    """Minimise ½ λᵗ K λ − rᵗ λ over the simplex, (F,); arguments as in :func:`least_squares_factor`, r (F,)."""
    return _least_squares(lambda lam: gram @ lam - right[:, None], gram, start[:, None], max_iter, tol)[:, 0]


def _least_squares(
    gradient: Callable[[np.ndarray], np.ndarray], gram: np.ndarray, start: np.ndarray, max_iter: int, tol: float
) -> np.ndarray:
    steepest = np.abs(gram).sum(axis=1).max()
    if steepest == 0.0:
        return start.copy()
    x, ahead, momentum = start.copy(), start, 1.0
    for _ in range(max_iter):
        moved = project_columns(ahead - gradient(ahead) / steepest)
        step = moved - x
        if np.vdot(ahead - moved, step) > 0.0:
            momentum = 1.0
        following = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum * momentum))
        x, ahead, momentum = moved, moved + ((momentum - 1.0) / following) * step, following
        if np.abs(step).max() <= tol:
            break
    return x


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
