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


def mixing(chains: Sequence[np.ndarray]) -> Mixing:
    """Compare the halves of chains, each (n_sweeps, n_quantities).

    With W the mean variance within halves of n sweeps and B the variance between their means, R̂² = ((n−1)/n W + B)/W.
    """
    n = min(len(chain) for chain in chains) // 2
    halves = np.stack([part for chain in chains for part in (chain[:n], chain[-n:])])
    within = halves.var(axis=1, ddof=1).mean(axis=0)
    between = halves.mean(axis=1).var(axis=0, ddof=1)
    whole = (n - 1) / n * within + between
    constant = within <= 1e-12 * np.maximum(1.0, np.abs(halves).max(axis=(0, 1)))
    rhat = np.where(constant, 1.0, np.sqrt(whole / np.where(constant, 1.0, within)))
    size = np.array([_effective(halves[:, :, q], whole[q]) for q in range(halves.shape[2])])
    return Mixing(rhat, np.where(constant, float(halves.shape[0] * n), size))


def _effective(halves: np.ndarray, whole: float) -> float:
    """Return m n / (1 + 2 Σ ρ_t), the autocorrelations ρ_t summed until a pair of neighbours is negative."""
    m, n = halves.shape
    if whole <= 0:
        return float(m * n)
    total = 0.0
    before = 1.0
    for lag in range(1, n):
        apart = np.mean((halves[:, lag:] - halves[:, :-lag]) ** 2)
        rho = 1.0 - apart / (2.0 * whole)
        if lag % 2 == 0 and before + rho < 0:
            break
        total += rho
        before = rho
    return float(m * n / max(1.0 + 2.0 * total, 1.0 / (m * n)))
