"""Algorithm 1 of the founding paper: factors from the histograms Y_jk of random projections of pairs.

- **G1**: pair tables Z_jk by inverting the projections, then factors by SPA;
- **G2**: Z_jk ← (RᵗR + ρI)⁻¹ (RᵗY_jk + ρ A_j D(λ) A_kᵗ), SPA again, and so on: tables are drawn towards what the model
  says of them, which couples them. The objective is J₁ = Σ w (‖Y − R z‖² + ρ ‖z − vec(A_j D(λ) A_kᵗ)‖²);
- **G3**: projected gradient on J = Σ w ‖Y − R vec(A_j D(λ) A_kᵗ)‖² from there.

``juror-a`` is all three, ``juror-b`` G1 and G3, ``juror-c`` G1 and G2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from juror.counts.radon import as_distribution, filtered_back_projection
from juror.domain import Domain
from juror.solvers import spa
from juror.solvers.descent import Descent, descend
from juror.solvers.misfit import Factors, Misfit
from juror.solvers.pair_tables import PairTables
from juror.solvers.priors import Prior
from juror.solvers.stopping import Stop, Stopped

# SPA jumps from one choice of columns to another, so J₁ may rise for a while: wait this long for a new minimum.
_PATIENCE = 10
# J of this share of Σ w ‖Y‖² is close to rounding.
_GOOD_ENOUGH = 1e-9


@dataclass(frozen=True)
class Stages:
    """Which of G2 and G3 follow G1."""

    shrink: bool
    descend: bool


@dataclass(frozen=True)
class StageSettings:
    """The settings of Algorithm 1; see :func:`juror.fit`."""

    rank: int
    split: spa.Split
    inversion: str
    filter: str
    rho: float
    max_iter: int
    tol: float
    prior: Prior | None


@dataclass(frozen=True)
class Outcome:
    """The factors found, with the objective along each stage and why it stopped.

    Attributes
    ----------
    tables : PairTables
        What G1 made of the histograms.
    traces : dict of str to tuple of float
        J after G1, J₁ along G2 from its first tables on, J (and the prior's term, if there is one) along G3.
    """

    lam: np.ndarray
    factors: Factors
    tables: PairTables
    traces: dict[str, tuple[float, ...]]
    stops: dict[str, Stopped]

    @property
    def n_iter(self) -> int:
        """Rounds of G2 and steps of G3."""
        return sum(len(trace) - 1 for trace in self.traces.values())


def run_stages(
    misfit: Misfit,
    domain: Domain,
    weights: np.ndarray,
    stages: Stages,
    settings: StageSettings,
    report: Callable[[float], None],
) -> Outcome:
    """Run Algorithm 1 on the misfit J of histograms or tables with weights w_jk, (n_pairs,).

    ``report`` is called with the objective after every round of G2 and every step of G3.
    """
    tables = invert(misfit, domain, weights, settings.inversion, settings.filter)
    lam, factors = spa.factorise(tables, settings.rank, settings.split)
    traces: dict[str, tuple[float, ...]] = {"G1": (misfit.value(lam, factors),)}
    stops = {}
    if stages.shrink:
        lam, factors, traces["G2"], stops["G2"] = _shrink(misfit, tables, lam, factors, settings, report)
    if stages.descend:
        end = _descend(misfit, lam, factors, settings, report)
        lam, factors, traces["G3"], stops["G3"] = end.lam, end.factors, end.trace, end.stopped
    return Outcome(lam, factors, tables, traces, stops)


def invert(misfit: Misfit, domain: Domain, weights: np.ndarray, inversion: str, filter: str) -> PairTables:  # noqa: A002
    """Return the pair tables behind the histograms, as distributions: negative cells at zero, scaled to sum to one."""
    if inversion == "fbp":
        found = [filtered_back_projection(group.R, group.target.histograms(), filter) for group in misfit.groups]
    else:
        found = [group.target.least_squares() for group in misfit.groups]
    return _as_tables(misfit, domain, weights, found)


def _shrink(
    misfit: Misfit,
    tables: PairTables,
    lam: np.ndarray,
    factors: Factors,
    settings: StageSettings,
    report: Callable[[float], None],
) -> tuple[np.ndarray, Factors, tuple[float, ...], Stopped]:
    """Run G2; return the factors of the round with the lowest J₁, J₁ from the first tables on, and why it stopped."""
    against = [group.target.against() for group in misfit.groups]
    trace: list[float] = []
    best, lowest, at = (lam, factors), np.inf, 0
    stopped = Stopped(Stop.MAX_ITER, settings.max_iter)
    for number in range(1, settings.max_iter + 1):
        shrunk, misses = _tables_towards(misfit, against, lam, factors, settings.rho)
        if not trace:
            trace.append(misses + _penalty(misfit, shrunk, lam, factors, settings.rho))
        as_tables = _as_tables(misfit, tables.domain, tables.weights, shrunk)
        lam, factors = spa.factorise(as_tables, settings.rank, settings.split)
        trace.append(misses + _penalty(misfit, shrunk, lam, factors, settings.rho))
        report(trace[-1])
        if trace[-1] < lowest:
            best, lowest, at = (lam, factors), trace[-1], number
        if abs(trace[-2] - trace[-1]) <= settings.tol * trace[-1]:
            stopped = Stopped(Stop.CHANGE_OF_ROUND, settings.tol)
            break
        if number - at >= _PATIENCE:
            stopped = Stopped(Stop.NO_LOWER_ROUND, count=_PATIENCE)
            break
    return *best, tuple(trace), stopped


def _tables_towards(
    misfit: Misfit, against: Sequence[np.ndarray], lam: np.ndarray, factors: Factors, rho: float
) -> tuple[list[np.ndarray], float]:
    """Return the minimiser of J₁ over tables, a group an array, and its first term."""
    shrunk, misses = [], 0.0
    for group, right in zip(misfit.groups, against, strict=True):
        Z = group.R.ridge(right + rho * group.tables(lam, factors), rho)
        misses += float(group.weights @ group.target.compare(Z)[0])
        shrunk.append(Z)
    return shrunk, misses


def _penalty(misfit: Misfit, shrunk: Sequence[np.ndarray], lam: np.ndarray, factors: Factors, rho: float) -> float:
    """Return ρ Σ w ‖z − vec(A_j D(λ) A_kᵗ)‖²."""
    total = 0.0
    for group, Z in zip(misfit.groups, shrunk, strict=True):
        off = Z - group.tables(lam, factors)
        total += float(group.weights @ np.einsum("nij,nij->n", off, off))
    return rho * total


def _as_tables(misfit: Misfit, domain: Domain, weights: np.ndarray, found: Sequence[np.ndarray]) -> PairTables:
    """Return tables that were found group by group as distributions, in the order of the pairs."""
    tables: list[np.ndarray] = [np.empty(0)] * len(weights)
    for group, Z in zip(misfit.groups, found, strict=True):
        for number, table in zip(group.numbers, as_distribution(Z), strict=True):
            tables[number] = table
    return PairTables(domain, tuple(tables), weights)


def _descend(
    misfit: Misfit, lam: np.ndarray, factors: Factors, settings: StageSettings, report: Callable[[float], None]
) -> Descent:
    """Run G3."""
    prior = settings.prior

    def objective(lam: np.ndarray, factors: Sequence[np.ndarray]) -> tuple[float, np.ndarray, Factors]:
        value, by_lam, by_factor = misfit.at(lam, factors)
        if prior is None:
            return value, by_lam, by_factor
        roughness, by_roughness = prior.at(factors)
        return value + roughness, by_lam, tuple(a + b for a, b in zip(by_factor, by_roughness, strict=True))

    return descend(
        objective,
        lam,
        factors,
        max_iter=settings.max_iter,
        tol=settings.tol,
        good_enough=_GOOD_ENOUGH * misfit.value(np.zeros_like(lam), factors),
        report=lambda step, value: report(value),
    )
