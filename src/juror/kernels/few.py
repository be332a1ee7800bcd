"""Kernels for few rows: NumPy, but by products of scaled probabilities as in numba, and without a compiler.

A pass over a small table takes about as long here as a call of a compiled kernel, and the first one waits for nothing.
As in :mod:`juror.kernels.jit.products`, every stacked row is divided by its largest entry, in the same order of
operations, and rows whose products sum to less than 1e-200 are computed again in log space. So classes underflow to
zero in the same places, and a sampler draws the same classes with either. What is not written here is the definition.
"""

# The imports are the list of kernels.
# ruff: noqa: F401

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from juror.kernels.few_edges import edge_evidence
from juror.kernels.few_states import draw_counts, messages
from juror.kernels.reference import passes as definition
from juror.kernels.reference.bells import bells, drawn_columns
from juror.kernels.reference.drawing import draw_columns, draw_holes, draw_labels, most_probable
from juror.kernels.reference.forest_states import spread_counts
from juror.kernels.reference.group_counts import count_groups, pack_columns, weigh_groups
from juror.kernels.reference.hidden_passes import hidden_counts, hidden_logs
from juror.kernels.reference.passes import joined, lone_counts
from juror.kernels.reference.random_numbers import uniform
from juror.kernels.reference.simplices import least_squares_factor, least_squares_weights, project_columns
from juror.kernels.reference.tilts import label_gradient

# A row whose products sum to less is computed again in log space.
_SAFE = 1e-200
_LEAST = np.finfo(float).tiny


class FewTables(NamedTuple):
    """The parameters in the form that a pass over few rows reads.

    Attributes
    ----------
    lam : numpy.ndarray, (F,)
        Class weights λ.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked factors S.
    parts : numpy.ndarray of int32, (L, width)
        Cells select one of L rows; each is the product of these stacked rows, −1 for none.
    scaled_lam : numpy.ndarray, (F,)
        Class weights divided by the largest.
    scaled : numpy.ndarray, (L, F)
        The L rows, each divided by its largest entry.
    log_scale_lam : float
        The logarithm of the divisor of the weights.
    log_scales : numpy.ndarray, (L,)
        The logarithms of the divisors of the L rows.
    log_stack : numpy.ndarray, (stacked rows, F), optional
        The logarithms of the stack, if its values may underflow.
    """

    lam: np.ndarray
    stack: np.ndarray
    parts: np.ndarray
    scaled_lam: np.ndarray
    scaled: np.ndarray
    log_scale_lam: float
    log_scales: np.ndarray
    log_stack: np.ndarray | None = None

    def in_logs(self) -> definition.Tables:
        """Return the same for passes in log space."""
        found = definition.tables(self.lam, self.stack, self.parts, 0, 0)
        return found if self.log_stack is None else definition.with_logs(found, self.log_stack)


def tables(lam: np.ndarray, stack: np.ndarray, parts: np.ndarray, n_rows: int, n_columns: int) -> FewTables:
    """Prepare λ (F,) and the stack for passes over a table of cells; see the definition."""
    units, log_tops = _scaled(stack)
    scaled, log_scales = units.take(parts[:, 0], axis=0), log_tops.take(parts[:, 0])
    if parts.shape[1] > 1:
        # A row of ones below the stack is the part −1.
        units, log_tops = np.concatenate([units, np.ones((1, len(lam)))]), np.append(log_tops, 0.0)
        for part in parts.T[1:]:
            scaled *= units.take(part, axis=0, mode="wrap")
            log_scales += log_tops.take(part, mode="wrap")
        scaled, log_products = _divided(scaled)
        log_scales += log_products
    top = max(lam.max(), _LEAST)
    return FewTables(lam, stack, parts, lam / top, scaled, math.log(top), log_scales)


def _scaled(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows (n, F) times one over their largest entries, zeros if these are tiny, and the logarithms of these."""
    tops = rows.max(axis=1)
    scaled = rows * (1.0 / np.maximum(tops, _SAFE))[:, None]
    return _without_tiny(scaled, tops), np.log(np.maximum(tops, _SAFE))


def _divided(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Do the same by division, which rounds once."""
    tops = rows.max(axis=1)
    divided = rows / np.maximum(tops, _SAFE)[:, None]
    return _without_tiny(divided, tops), np.log(np.maximum(tops, _SAFE))


def _without_tiny(scaled: np.ndarray, tops: np.ndarray) -> np.ndarray:
    # With products of zero, rows of the table are computed in log space.
    if tops.min() < _SAFE:
        scaled[tops < _SAFE] = 0.0
    return scaled


def with_logs(tables: FewTables, log_stack: np.ndarray) -> FewTables:
    """Return the same tables with the logarithms of the stack, (stacked rows, F), given: its values may underflow."""
    return tables._replace(log_stack=log_stack)


def _products(cells: np.ndarray, tables: FewTables) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return λ_f Π S[c, f] up to a factor per row (rows, F), their sums (rows,) and ℓ (rows,)."""
    products = tables.scaled.take(cells[:, 0], axis=0)
    products *= tables.scaled_lam
    logs = tables.log_scales.take(cells[:, 0])
    logs += tables.log_scale_lam
    for column in cells.T[1:]:
        products *= tables.scaled.take(column, axis=0)
        logs += tables.log_scales.take(column)
    sums = products.sum(axis=1)
    if sums.min(initial=1.0) >= _SAFE:
        logs += np.log(sums)
        return products, sums, logs
    lost = sums < _SAFE
    logs[~lost] += np.log(sums[~lost])
    logs[lost], products[lost] = definition.posterior(cells[lost], tables.in_logs())
    sums[lost] = products[lost].sum(axis=1)
    return products, sums, logs


def log_prob(cells: np.ndarray, tables: FewTables) -> np.ndarray:
    """Return ℓ, the log-probability of every row, (rows,)."""
    return _products(cells, tables)[2]


def posterior(cells: np.ndarray, tables: FewTables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    products, sums, logs = _products(cells, tables)
    # The sum of an impossible row is zero, as its products are.
    products *= (1.0 / np.maximum(sums, _SAFE))[:, None]
    return logs, products


def label_probabilities(cells: np.ndarray, tables: FewTables, factor: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and Σ_f R[i, f] A[y, f] for a factor A (I, F), (rows, I); zeros for an impossible row."""
    logs, R = posterior(cells, tables)
    return logs, R @ factor.T


def label_logs(cells: np.ndarray, tables: FewTables, column: int, n_labels: int) -> np.ndarray:
    """Return ℓ of every row with each of n_labels labels in a column, (rows, n_labels)."""
    return definition.label_logs(cells, tables.in_logs(), column, n_labels)


def expected_counts(cells: np.ndarray, weights: np.ndarray, tables: FewTables) -> tuple[float, np.ndarray, np.ndarray]:
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F)."""
    logs, R = posterior(cells, tables)
    # An impossible row that does not count gives nan without a warning, as in numba.
    with np.errstate(invalid="ignore"):
        log_likelihood = float(weights @ logs)
    R *= weights[:, None]
    return log_likelihood, R.sum(axis=0), _counted(cells, R, tables)


def row_sums(cells: np.ndarray, tables: FewTables) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and what :func:`counts_given` needs of every row, (rows,): the first of two passes."""
    logs = log_prob(cells, tables)
    return logs, logs


def counts_given(
    cells: np.ndarray, weights: np.ndarray, sums: np.ndarray, tables: FewTables
) -> tuple[np.ndarray, np.ndarray]:
    """Return the class counts (F,) and the expected counts C (stacked rows, F): the second of two passes."""
    return expected_counts(cells, weights, tables)[1:]


def draw_classes(
    cells: np.ndarray, key: int, first_number: int, tables: FewTables
) -> tuple[float, np.ndarray, np.ndarray]:
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts."""
    products, _, logs = _products(cells, tables)
    ladder, F = products.cumsum(axis=1), products.shape[1]
    last = ladder[:, -1:]
    levels = uniform(key, np.arange(first_number, first_number + len(cells)))[:, None] * last
    classes, possible = np.minimum((levels >= ladder).sum(axis=1), F - 1), np.flatnonzero(last)
    if len(possible) < len(cells):
        cells, classes = cells[possible], classes[possible]
    class_counts = np.bincount(classes, minlength=F).astype(float)
    return float(logs.sum()), class_counts, _tallied(cells, classes, tables)


def add_counts(cells: np.ndarray, drawn: np.ndarray, counts: np.ndarray) -> None:
    """Add to counts (L, F), for the cells of every row, how often each class was drawn for it, drawn (rows, F)."""
    counts += _sums(cells, drawn, len(counts))


def folded(parts: np.ndarray, counts: np.ndarray, n_stacked: int) -> np.ndarray:
    """Return counts of stacked rows, (n_stacked, F), from counts of packed rows, (L, F)."""
    # The part −1, which is none, counts for a row below.
    return _sums(parts % (n_stacked + 1), counts, n_stacked + 1)[:-1]


def _counted(cells: np.ndarray, shares: np.ndarray, tables: FewTables) -> np.ndarray:
    """Return the counts of stacked rows, (stacked rows, F), from the shares of every row of the table, (rows, F)."""
    parts = tables.parts[cells].reshape(len(cells), cells.shape[1] * tables.parts.shape[1])
    return folded(parts, shares, len(tables.stack))


def _tallied(cells: np.ndarray, classes: np.ndarray, tables: FewTables) -> np.ndarray:
    """Return the counts of stacked rows, (stacked rows, F), of rows of the table with one class each, (rows,)."""
    n_stacked, F = tables.stack.shape
    # The part −1, which is none, counts for a row below.
    parts = tables.parts.take(cells, axis=0) % (n_stacked + 1)
    places = parts.astype(np.intp) * F + classes[:, None, None]
    counts = np.bincount(places.ravel(), minlength=(n_stacked + 1) * F)
    return counts[: n_stacked * F].reshape(n_stacked, F).astype(float)


def _sums(places: np.ndarray, rows: np.ndarray, height: int) -> np.ndarray:
    """Return (height, F): the sums of rows (n, F), each added at all of its places (n, width)."""
    F = rows.shape[1]
    cells = (places.T.astype(np.intp) * F)[:, :, None] + np.arange(F)
    each = rows.reshape(1, -1).repeat(len(cells), axis=0)
    # of no rows, counts are whole numbers
    counts = np.bincount(cells.ravel(), each.ravel(), minlength=height * F).astype(float, copy=False)
    return counts.reshape(height, F)
