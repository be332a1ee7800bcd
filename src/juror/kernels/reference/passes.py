"""Passes over the rows of a table.

Cells c (rows, N), as in :mod:`juror.rows.stacking` or packed as in :mod:`juror.rows.packing`, select rows of S (L, F).
With class weights λ (F,):

    log joint    L[i, f] = log λ_f + Σ_n log S[c_in, f]
    log prob     ℓ_i     = log Σ_f exp L[i, f]
    posterior    R[i, f] = exp(L[i, f] − ℓ_i),  zero for an impossible row
    expected     C[s, f] = Σ_i w_i R[i, f] Σ_n [s is a part of c_in]   and   Σ_i w_i ℓ_i
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juror.kernels.logarithms import log_of
from juror.kernels.reference.random_numbers import uniform


class Tables(NamedTuple):
    """The parameters in the form that a pass over rows reads.

    Attributes
    ----------
    log_lam : numpy.ndarray, (F,)
        Log class weights.
    log_stack : numpy.ndarray, (L, F)
        Logarithms of the rows S that cells select.
    parts : numpy.ndarray of int32, (L, width)
        Each row of S is the product of these stacked rows, −1 for none.
    n_stacked : int
        The number of stacked rows.
    """

    log_lam: np.ndarray
    log_stack: np.ndarray
    parts: np.ndarray
    n_stacked: int


def tables(lam: np.ndarray, stack: np.ndarray, parts: np.ndarray, n_rows: int, n_columns: int) -> Tables:
    """Prepare the parameters for passes over a table of cells; one result serves all passes.

    Parameters
    ----------
    lam : numpy.ndarray, (F,)
        Class weights λ.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked factors S.
    parts : numpy.ndarray of int32, (L, width)
        Cells select one of L rows; each is the product of these stacked rows, −1 for none.
    n_rows, n_columns : int
        The size of the table of cells; it affects the speed only.
    """
    return Tables(log_of(lam), joined(parts, log_of(stack)), parts, len(stack))


def with_logs(tables: Tables, log_stack: np.ndarray) -> Tables:
    """Return the same tables with the logarithms of the stack, (stacked rows, F), given: its values may underflow."""
    return tables._replace(log_stack=joined(tables.parts, log_stack))


def _log_joint(cells: np.ndarray, log_lam: np.ndarray, log_stack: np.ndarray) -> np.ndarray:
    return log_lam + log_stack[cells].sum(axis=1)


def log_prob(cells: np.ndarray, tables: Tables) -> np.ndarray:
    """Return ℓ, the log-probability of every row, (rows,).

    Parameters
    ----------
    cells : numpy.ndarray of uint16 or int32, (rows, N)
        For every row of the table, the rows of S that it selects.
    tables : Tables
        The prepared parameters.
    """
    joint = _log_joint(cells, tables.log_lam, tables.log_stack)
    top = joint.max(axis=1)
    finite_top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(joint - finite_top[:, None]).sum(axis=1)) + finite_top


def posterior(cells: np.ndarray, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    total = log_prob(cells, tables)
    possible = np.isfinite(total)
    joint = _log_joint(cells, tables.log_lam, tables.log_stack)
    R = np.exp(joint - np.where(possible, total, 0.0)[:, None])
    return total, np.where(possible[:, None], R, 0.0)


def label_probabilities(cells: np.ndarray, tables: Tables, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and Σ_f R[i, f] A[y, f] for a factor A (I, F), (rows, I); zeros for an impossible row."""
    total, R = posterior(cells, tables)
    return total, R @ factor.T


def label_logs(cells: np.ndarray, tables: Tables, column: int, n_labels: int) -> np.ndarray:
    """Return ℓ of every row with each of n_labels labels in a column, (rows, n_labels).

    The cells of the column select the row of the first label; those of the other labels follow.
    """
    logs = np.empty((len(cells), n_labels))
    cells = cells.astype(np.int64)
    for label in range(n_labels):
        logs[:, label] = log_prob(cells, tables)
        cells[:, column] += 1
    return logs


def expected_counts(cells: np.ndarray, weights: np.ndarray, tables: Tables) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F).

    Parameters
    ----------
    cells, tables
        As in :func:`log_prob`.
    weights : numpy.ndarray, (rows,)
        The weight of each row.
    """
    total, R = posterior(cells, tables)
    R *= weights[:, None]
    counts = np.zeros_like(tables.log_stack)
    add_counts(cells, R, counts)
    return float(weights @ total), R.sum(axis=0), folded(tables.parts, counts, tables.n_stacked)


def row_sums(cells: np.ndarray, tables: Tables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and what :func:`counts_given` needs of every row, (rows,): the first of two passes."""
    logs = log_prob(cells, tables)
    return logs, logs


def counts_given(
    cells: np.ndarray, weights: np.ndarray, sums: np.ndarray, tables: Tables
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class counts (F,) and the expected counts C (stacked rows, F): the second of two passes.

    Parameters
    ----------
    cells, weights, tables
        As in :func:`expected_counts`.
    sums : numpy.ndarray, (rows,)
        The second result of :func:`row_sums`.
    """
    _, classes, counts = expected_counts(cells, weights, tables)
    return classes, counts


def add_counts(cells: np.ndarray, drawn: np.ndarray, counts: np.ndarray) -> None:
    """Add to counts (L, F), for the cells of every row, how often each class was drawn for it, drawn (rows, F)."""
    for n in range(cells.shape[1]):
        np.add.at(counts, cells[:, n], drawn)


def draw_classes(
    cells: np.ndarray, key: int, first_number: int, tables: Tables
) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts.

    The class of row i is the first f at which Σ_{g ≤ f} R[i, g] exceeds u_i; an impossible row has none.

    Parameters
    ----------
    cells, tables
        As in :func:`log_prob`.
    key : int
        The key of the random numbers u, see :func:`juror.kernels.reference.random_numbers.uniform`.
    first_number : int
        The counter of the first row; the next rows follow.
    """
    total, R = posterior(cells, tables)
    ladder, u = np.cumsum(R, axis=1), uniform(key, first_number + np.arange(len(cells)))
    F = R.shape[1]
    classes = np.minimum(np.sum(u[:, None] * ladder[:, -1:] >= ladder, axis=1), F - 1)
    possible = np.isfinite(total)
    counts = np.zeros_like(tables.log_stack)
    np.add.at(counts, (cells[possible], classes[possible, None]), 1.0)
    class_counts = np.bincount(classes[possible], minlength=F).astype(float)
    return float(total.sum()), class_counts, folded(tables.parts, counts, tables.n_stacked)


def joined(parts: np.ndarray, log_stack: np.ndarray) -> np.ndarray:
    """Return the log stack of packed rows, (L, F): for each the sum over its parts.

    Parameters
    ----------
    parts : numpy.ndarray of int32, (L, width)
        The stacked rows that each packed row joins, −1 for none.
    log_stack : numpy.ndarray, (stacked rows, F)
        Log stacked factors.
    """
    return np.where((parts >= 0)[:, :, None], log_stack[parts], 0.0).sum(axis=1)


def folded(parts: np.ndarray, counts: np.ndarray, n_stacked: int) -> np.ndarray:
    """Return counts of stacked rows, (n_stacked, F), from counts of packed rows, (L, F); parts as in :func:`joined`."""
    out = np.zeros((n_stacked, counts.shape[1]))
    row, place = np.nonzero(parts >= 0)
    np.add.at(out, parts[row, place], counts[row])
    return out


def lone_counts(
    cells: np.ndarray, weights: np.ndarray, log_base: np.ndarray, log_odds: np.ndarray, log_stack: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return, for every class added alone to a background, Σ w log(1 + e^t) (F,), its rows (F,) and its counts.

    With t_if = log o_f + Σ_n log S[c_in, f] − log b_i, the class has the share 1 / (1 + e^−t) of a row and the
    background has the rest. The classes do not compete with each other.

    Parameters
    ----------
    cells, weights, log_stack
        As in :func:`expected_counts`.
    log_base : numpy.ndarray, (rows,)
        log b, the finite log-probability of every row under the background.
    log_odds : numpy.ndarray, (F,)
        log o, the weight of each class divided by the weight of the background.
    """
    ratio = _log_joint(cells, log_odds, log_stack) - log_base[:, None]
    small = np.exp(-np.abs(ratio))
    share = weights[:, None] * (np.where(ratio >= 0.0, 1.0, small) / (1.0 + small))
    counts = np.zeros_like(log_stack)
    add_counts(cells, share, counts)
    return weights @ (np.maximum(ratio, 0.0) + np.log1p(small)), share.sum(axis=0), counts
