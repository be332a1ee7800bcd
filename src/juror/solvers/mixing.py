"""How well chains have mixed: split-R̂ and effective sample size (*Bayesian Data Analysis*, sections 11.4 and 11.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Mixing:
    """Of every quantity followed, split-R̂ and the effective sample size over all chains, (n_quantities,)."""

    rhat: np.ndarray
    size: np.ndarray

    @property
    def worst_of_rows(self) -> tuple[float, float]:
        """The largest split-R̂ and the smallest effective size of all quantities but the first, the likelihood.

        The likelihood often mixes more slowly than the probabilities of rows, and answers are probabilities.
        """
        return float(self.rhat[1:].max()), float(self.size[1:].min())


def mixing(chains: Sequence[np.ndarray]) -> Mixing:
    """Compare the halves of chains, each (n_sweeps, n_quantities).

    With W the mean variance within halves of n sweeps and B the variance between their means, R̂² = ((n−1)/n W + B)/W.
    """
    n = min(len(chain) for chain in chains) // 2
    halves = np.stack([part for chain in chains for part in (chain[:n], chain[-n:])])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    whole = (n - 1) / n * within + between
    tiny = 1e-12 * np.maximum(1.0, np.abs(halves).max(axis=(0, 1)))
    still = within <= tiny**2
    # A constant has mixed if it is the same in all halves, and not at all otherwise.
    apart = still & (between > tiny**2)
    rhat = np.where(still, np.where(apart, np.inf, 1.0), np.sqrt(whole / np.where(still, 1.0, within)))
    size = np.array([_effective(halves[:, :, q], whole[q]) for q in range(halves.shape[2])])
    m = len(halves)
    return Mixing(rhat, np.where(still, np.where(apart, float(m), float(m * n)), size))


def _effective(halves: np.ndarray, whole: float) -> float:
    """Return m n / (−1 + 2 Σ P_k), P_k = ρ_2k + ρ_2k+1, summed while positive and not rising (Geyer 1992)."""
    m, n = halves.shape
    if whole <= 0:
        return float(m * n)

    def rho(lag: int) -> float:
        return 1.0 if lag == 0 else 1.0 - float(np.mean((halves[:, lag:] - halves[:, :-lag]) ** 2)) / (2.0 * whole)

    total, before = 0.0, np.inf
    for k in range(n // 2):
        pair = min(rho(2 * k) + rho(2 * k + 1), before)
        if pair <= 0:
            break
        total, before = total + pair, pair
    return float(min(m * n, m * n / max(2.0 * total - 1.0, 1e-12)))
