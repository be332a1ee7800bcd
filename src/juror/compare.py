"""The error of an estimate: match its components to the true ones, and compute the error measures of the papers.

For a true model (λ, A_1 … A_N) of rank F and an estimate (λ̂, Â_1 … Â_N) whose components are in matching order:

    factor error     Σ_n ‖Â_n − A_n‖_F² / N + ‖λ̂ − λ‖²
    tensor error     ‖Ẑ − Z‖_F² / ‖Z‖_F²,     Z[x] = Σ_f λ_f Π_n A_n[x_n, f]

The papers use the first, an error of the parameters. It can be above zero although the distribution is right, because
different parameters can give the same distribution. The second is an error of the distribution and needs no matching.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from juror.answers.block import Block, edgeless
from juror.answers.marginals import whole_table
from juror.errors import ParameterError, shortlist
from juror.kernels.logarithms import log_of
from juror.model import JointPMF
from juror.runners.local import partitions

# Up to this many cells tensors are written out, so that small errors are not lost to cancellation.
_DENSE_CELLS = 1_000_000
# Numbers in each of two temporary arrays: 80 MB.
_NUMBERS_AT_ONCE = 10_000_000
# Among components with equal columns, the weights decide the matching.
_TIE_BREAK = 1e-9


class Components(Protocol):
    """Weights and factors of a canonical polyadic decomposition."""

    @property
    def weights(self) -> Any:
        """Class weights λ, (F,)."""

    @property
    def factors(self) -> Any:
        """One matrix (I_n, F) per variable."""


def factor_mse(true: Components, est: Components, per_component: bool = False) -> float:
    """Return the papers' error of the factors, Σ_n ‖Â_n − A_n‖_F² / N + ‖λ̂ − λ‖², after matching components.

    All factors and the weights share one permutation: the one with the smallest Σ_n ‖Â_n − A_n‖_F², and among equals
    the one with the smallest ‖λ̂ − λ‖².

    Parameters
    ----------
    true : JointPMF, or anything with weights (F,) and factors (I_n, F)
        The truth.
    est : JointPMF, or anything with weights (F',) and factors (I_n, F'), F' ≤ F
        The estimate. If its rank is lower, components of weight zero are added; their columns are its one-way
        marginals.
    per_component : bool
        Divide the factor term by F too, as the reference code of the paper on two-way marginals does.

    Examples
    --------
    >>> true = JointPMF([0.6, 0.4], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]])
    >>> est = JointPMF([0.4, 0.6], [[[0.2, 0.9], [0.8, 0.1]], [[0.1, 0.5], [0.9, 0.5]]])
    >>> round(factor_mse(true, est), 10)
    0.04
    >>> round(factor_mse(true, est, per_component=True), 10)
    0.02
    """
    true, est = _as_model(true), _as_model(est)
    lam, A = _matched(true, est)
    factor_term = sum(float(np.sum((a - b) ** 2)) for a, b in zip(A, true.factors, strict=True)) / len(A)
    if per_component:
        factor_term /= true.rank
    return factor_term + float(np.sum((lam - true.weights) ** 2))


def align(true: Components, est: JointPMF) -> JointPMF:
    """Return an estimate with its components in the order of the true components that they match.

    Parameters
    ----------
    true : JointPMF, or anything with weights (F,) and factors (I_n, F)
        The order to follow.
    est : JointPMF
        The estimate to reorder; extended to rank F as in :func:`factor_mse`.

    Examples
    --------
    >>> true = JointPMF([0.7, 0.3], [[[0.9, 0.2], [0.1, 0.8]]])
    >>> align(true, JointPMF([0.25, 0.75], [[[0.1, 0.8], [0.9, 0.2]]])).weights.tolist()
    [0.75, 0.25]
    """
    return JointPMF(*_matched(_as_model(true), est), est.domain, est.info, est.counts, est.conditions)


def tensor_error(true: Components, est: Components) -> float:
    """Return the relative error of the whole tensor, ‖Ẑ − Z‖_F² / ‖Z‖_F², without building a large tensor.

    Ranks may differ and may be thousands. Up to a million cells the difference is computed cell by cell; beyond that
    from inner products of components, Π_n A_nᵗ Â_n, where errors below about 1e-14 are lost to rounding. Models with
    edges have no more than a million cells.

    Parameters
    ----------
    true : JointPMF, or anything with weights (F,) and factors (I_n, F)
        The truth.
    est : JointPMF, or anything with weights (F',) and factors (I_n, F')
        The estimate.

    Examples
    --------
    >>> true = JointPMF([1.0], [[[0.5], [0.5]], [[0.5], [0.5]]])
    >>> est = JointPMF([0.5, 0.5], [[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> tensor_error(true, true), tensor_error(true, est)
    (0.0, 1.0)
    """
    true, est = _as_model(true), _as_model(est)
    _check_cardinalities(true, est)
    if math.prod(true.domain.cardinalities) <= _DENSE_CELLS:
        Z = whole_table(true)
        return float(np.sum((whole_table(est) - Z) ** 2) / np.sum(Z**2))
    flat, flat_est = edgeless(true), edgeless(est)
    if flat is None or flat_est is None:
        raise ParameterError(
            f"Models with edges are compared cell by cell, up to {_DENSE_CELLS:,} cells. These have "
            f"{math.prod(true.domain.cardinalities):,}. Compare marginals of fewer variables."
        )
    log_sizes, units = _sizes_and_units(flat)
    log_sizes_est, units_est = _sizes_and_units(flat_est)
    # Relative to the largest true component, ‖Z‖² is at least one, even if the cells themselves would underflow.
    sizes = np.exp(log_sizes - log_sizes.max())
    with np.errstate(over="ignore"):
        sizes_est = np.exp(log_sizes_est - log_sizes.max())
        square_est = _inner(sizes_est, units_est, sizes_est, units_est)
    if not math.isfinite(square_est):
        return math.inf
    square = _inner(sizes, units, sizes, units)
    return max(0.0, (square_est - 2 * _inner(sizes, units, sizes_est, units_est) + square) / square)


def _as_model(components: Components) -> JointPMF:
    """Return a model with these weights and factors, which checks that they are distributions."""
    return components if isinstance(components, JointPMF) else JointPMF(components.weights, components.factors)


def _check_cardinalities(true: JointPMF, est: JointPMF) -> None:
    sizes, sizes_est = true.domain.cardinalities, est.domain.cardinalities
    if sizes != sizes_est:
        raise ParameterError(
            f"The true model has cardinalities {shortlist(sizes)} and the estimate {shortlist(sizes_est)}; both must "
            "be over the same variables. Pass the true model's domain to the fit."
        )


def _matched(true: JointPMF, est: JointPMF) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return the estimate's weights and factors, extended to the true rank and in the order of the true components."""
    # SciPy is slow to import, and few sessions need it here.
    from scipy.optimize import linear_sum_assignment
    from scipy.spatial.distance import cdist

    _check_cardinalities(true, est)
    n_absent = true.rank - est.rank
    if n_absent < 0:
        raise ParameterError(
            f"The estimate has {est.rank} components and the true model {true.rank}, so they cannot be matched one to "
            f"one. Fit with a rank of at most {true.rank}, or use tensor_error, which takes any ranks."
        )
    lam = np.append(est.weights, np.zeros(n_absent))
    A = [np.column_stack([a, *[a @ est.weights] * n_absent]) for a in est.factors]
    # From differences, not from inner products, whose rounding would confuse nearly equal columns.
    distances = cdist(np.concatenate(true.factors).T, np.concatenate(A).T, "sqeuclidean")
    order = linear_sum_assignment(distances + _TIE_BREAK * np.subtract.outer(true.weights, lam) ** 2)[1]
    return lam[order], tuple(a[:, order] for a in A)


def _sizes_and_units(block: Block) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return log λ_f Π_n ‖A_n[:, f]‖, (F,), and the factors with columns of norm one.

    A component is its size times a tensor of norm one. The inner product of two such tensors is a product of cosines.
    If it underflows, it is negligible.
    """
    norms = [np.linalg.norm(a, axis=0) for a in block.factors]
    log_sizes = log_of(block.weights) + np.sum(np.log(norms), axis=0)
    return log_sizes, [a / norm for a, norm in zip(block.factors, norms, strict=True)]


def _inner(s: np.ndarray, A: Sequence[np.ndarray], t: np.ndarray, B: Sequence[np.ndarray]) -> float:
    """Return the inner product sᵗ (Π_n A_nᵗ B_n) t of two tensors of sizes s, t and columns A, B, in blocks of rows."""
    total = 0.0
    for block in partitions(len(s), max(1, _NUMBERS_AT_ONCE // len(t))):
        kernel = np.ones((len(s[block]), len(t)))
        for a, b in zip(A, B, strict=True):
            kernel *= a[:, block].T @ b
        total += float(s[block] @ (kernel @ t))
    return total
