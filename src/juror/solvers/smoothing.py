"""Pseudo-counts for solutions that were found from statistics, not from rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from juror.domain import Domain
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking


def finished(
    lam: np.ndarray,
    factors: Sequence[np.ndarray],
    domain: Domain,
    marginal: Callable[[int], np.ndarray],
    n_rows: float,
    smoothing: float,
) -> Parameters:
    """Stack the factors, and add pseudo-counts as EM does to its counts.

    A class f stands for n λ_f rows, so that

        λ_f ← (n λ_f + α) / (n + α F),     A_n[x, f] ← (n λ_f A_n[x, f] + α I_n m_n[x]) / (n λ_f + α I_n).

    Here n is ``n_rows``, α the smoothing, and ``marginal`` returns m_n, (I_n,), given n. α = 0 changes nothing.
    """
    stacking = Stacking(domain.cardinalities)
    parameters = Parameters.of(lam, factors, stacking)
    if smoothing == 0:
        return parameters
    pseudo_counts = stacking.pseudo_counts(smoothing, stacked_marginals(marginal, n_rows, stacking))
    lam = n_rows * parameters.lam
    stack = stacking.normalise(lam * parameters.stack + pseudo_counts, otherwise=parameters.stack)
    return Parameters((lam + smoothing) / np.sum(lam + smoothing), stack)


def stacked_marginals(marginal: Callable[[int], np.ndarray], n_rows: float, stacking: Stacking) -> np.ndarray:
    """Return one-way marginals with one count more, shared by a variable's labels, (stacked rows, 1)."""
    columns: list[Any] = [
        (n_rows * marginal(n) + 1.0 / size)[:, None] / (n_rows + 1.0) for n, size in enumerate(stacking.cardinalities)
    ]
    return stacking.stack(columns)
