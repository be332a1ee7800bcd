"""Condition a CPD on evidence: re-weight the classes and restrict the factors of the observed variables.

    λ'_f ∝ λ_f Π_n (Σ_x w_n[x] A_n[x, f]),     A'_n[x, f] ∝ w_n[x] A_n[x, f]

for evidence weights w_n, in log space, so that hundreds of variables do not underflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from juror.answers.block import Block
from juror.domain import Domain
from juror.domain.evidence import Evidence, describe
from juror.errors import ZeroProbabilityError
from juror.kernels.logarithms import log_of, log_sum_exp


class CPD(Protocol):
    """A joint distribution in canonical polyadic form."""

    @property
    def weights(self) -> np.ndarray:
        """Class weights λ, (F,)."""

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        """One matrix (I_n, F) per variable, columns on the simplex."""

    @property
    def domain(self) -> Domain:
        """The variables."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The CPD as one block."""


@dataclass(frozen=True)
class BareCPD:
    """Weights, factors and domain, without the checks and methods of a model."""

    weights: np.ndarray
    factors: tuple[np.ndarray, ...]
    domain: Domain

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The CPD as one block."""
        return (Block.of_factors(self.weights, self.factors),)


@dataclass(frozen=True)
class Posterior(BareCPD):
    """A CPD over the same domain, given evidence, and the log-probability of that evidence."""

    log_mass: float


def log_mass(cpd: CPD, evidence: Evidence) -> float:
    """Return the log-probability of an event, or the log of the mean likelihood of soft evidence."""
    return float(log_sum_exp(_log_class_masses(cpd, evidence)))


def _log_class_masses(cpd: CPD, evidence: Evidence) -> np.ndarray:
    logs = log_of(cpd.weights)
    for n, weights in evidence.items():
        logs = logs + log_of(weights @ cpd.factors[n])
    return logs


def posterior(cpd: CPD, evidence: Evidence) -> Posterior:
    """Condition on evidence; raise ZeroProbabilityError if its probability is zero."""
    for n, label_weights in evidence.items():
        if not np.any(label_weights > 0):
            raise ZeroProbabilityError(
                f"The conditions on {cpd.domain[n].name!r} leave none of its labels, so they have probability zero."
            )
    if not evidence:
        return Posterior(cpd.weights, cpd.factors, cpd.domain, 0.0)
    logs = _log_class_masses(cpd, evidence)
    mass = float(log_sum_exp(logs))
    if mass == -np.inf:
        raise ZeroProbabilityError(
            "The evidence {evidence} has probability zero under this model, so nothing follows from it. Drop or "
            "widen a part of it, or fit with {smoothing} above zero.",
            evidence=describe(cpd.domain, evidence),
        )
    weights = np.exp(logs - mass)
    factors = list(cpd.factors)
    for n, label_weights in evidence.items():
        factors[n] = _restrict(cpd.factors[n], label_weights)
    return Posterior(weights / weights.sum(), tuple(factors), cpd.domain, mass)


def _restrict(factor: np.ndarray, label_weights: np.ndarray) -> np.ndarray:
    """Weight the labels of a factor; a class that the evidence excludes has weight zero and keeps its column."""
    weighted = label_weights[:, None] * factor
    totals = weighted.sum(axis=0)
    return np.divide(weighted, totals, out=factor.copy(), where=totals > 0)
