"""The objective of the paper and its gradient, by two routes that agree to rounding.

    J(λ, A) = Σ_{j<k} w_jk ‖Y_jk − R_jk vec(A_j D(λ) A_kᵗ)‖²

The literal route forms the histograms of the model and compares them with Y. The Gram route knows of the histograms
only the least-squares table Z_jk and G = RᵗR: with Y = R z + e and e orthogonal to the range of R,

    ‖Y − R ẑ‖² = (ẑ − z)ᵗ G (ẑ − z) + ‖e‖²,

so neither the number of directions nor the number of rows enters its cost. Pairs that share an operator go together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Protocol

import numpy as np

from juror.counts.projections import Projections
from juror.counts.radon import Radon

Factors = tuple[np.ndarray, ...]


class Target(Protocol):
    """What the tables of some pairs with one operator R are compared with."""

    def compare(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return ‖Y − R ẑ‖² of every pair (n,) and its gradient by ẑ (n, I_j, I_k), for tables of the same shape."""

    def against(self) -> np.ndarray:
        """Return RᵗY of every pair, (n, I_j, I_k)."""

    def least_squares(self) -> np.ndarray:
        """Return the minimum-norm tables that minimise ‖Y − R z‖², (n, I_j, I_k)."""

    def histograms(self) -> np.ndarray:
        """Return Y, (n, M, bins)."""


@dataclass(frozen=True)
class _Literal:
    """Compare histograms with histograms Y (n, M, bins)."""

    R: Radon
    Y: np.ndarray

    def compare(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        off = self.R.forward(tables) - self.Y
        return np.einsum("nmb,nmb->n", off, off), 2.0 * self.R.adjoint(off)

    def against(self) -> np.ndarray:
        return self.R.adjoint(self.Y)

    def least_squares(self) -> np.ndarray:
        return self.R.least_squares(self.Y)

    def histograms(self) -> np.ndarray:
        return self.Y


@dataclass(frozen=True)
class Gram:
    """Compare tables with tables Z (n, I_j, I_k) through G.

    Attributes
    ----------
    R : Radon
        The operator.
    Z : numpy.ndarray, (n, I_j, I_k)
        Exact pair tables, or the least-squares tables behind Y.
    Y : numpy.ndarray, (n, M, bins), optional
        The histograms that Z comes from; None for exact pair tables, whose histograms are R z.
    """

    R: Radon
    Z: np.ndarray
    Y: np.ndarray | None = None

    @classmethod
    def of(cls, R: Radon, Y: np.ndarray) -> Gram:
        """Find the tables behind histograms."""
        return cls(R, R.least_squares(Y), Y)

    @cached_property
    def beyond(self) -> np.ndarray:
        """‖e‖² of every pair, (n,): what no table explains."""
        if self.Y is None:
            return np.zeros(len(self.Z))
        off = self.R.forward(self.Z) - self.Y
        return np.einsum("nmb,nmb->n", off, off)

    def compare(self, tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See :class:`Target`."""
        off = (tables - self.Z).reshape(len(tables), -1)
        weighed = off @ self.R.gram
        return np.einsum("nc,nc->n", off, weighed) + self.beyond, 2.0 * weighed.reshape(tables.shape)

    def against(self) -> np.ndarray:
        """See :class:`Target`."""
        return (self.Z.reshape(len(self.Z), -1) @ self.R.gram).reshape(self.Z.shape)

    def least_squares(self) -> np.ndarray:
        """See :class:`Target`."""
        full = self.R.rank == self.Z[0].size
        return self.Z if full or self.Y is not None else self.R.project_on_range(self.Z)

    def histograms(self) -> np.ndarray:
        """See :class:`Target`."""
        return self.R.forward(self.Z) if self.Y is None else self.Y


@dataclass(frozen=True)
class Group:
    """Pairs that share one operator: where their variables stand, their weights, and what they are compared with."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    numbers: tuple[int, ...]
    weights: np.ndarray
    target: Target
    R: Radon

    def sides(self, factors: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of both sides of every pair, (n, I_j, F) and (n, I_k, F)."""
        return np.stack([factors[j] for j in self.first]), np.stack([factors[k] for k in self.second])

    def tables(self, lam: np.ndarray, factors: Sequence[np.ndarray]) -> np.ndarray:
        """Return A_j D(λ) A_kᵗ of every pair, (n, I_j, I_k)."""
        left, right = self.sides(factors)
        return (left * lam) @ right.transpose(0, 2, 1)


@dataclass(frozen=True, eq=False)
class Misfit:
    """J for the histograms of all pairs, each in one group."""

    groups: Sequence[Group]

    def at(self, lam: np.ndarray, factors: Sequence[np.ndarray]) -> tuple[float, np.ndarray, Factors]:
        """Return J and its gradients by λ (F,) and by every factor (I_n, F)."""
        value = 0.0
        by_lam = np.zeros_like(lam)
        by_factor = [np.zeros_like(A) for A in factors]
        for group in self.groups:
            left, right = group.sides(factors)
            # Batched products of small matrices
            squares, P = group.target.compare((left * lam) @ right.transpose(0, 2, 1))
            value += float(group.weights @ squares)
            P = P * group.weights[:, None, None]
            across = P @ right
            by_lam += np.einsum("nif,nif->f", left, across)
            across = across * lam
            back = P.transpose(0, 2, 1) @ (left * lam)
            for at, (j, k) in enumerate(zip(group.first, group.second, strict=True)):
                by_factor[j] += across[at]
                by_factor[k] += back[at]
        return value, by_lam, tuple(by_factor)

    def value(self, lam: np.ndarray, factors: Sequence[np.ndarray]) -> float:
        """Return J alone."""
        return float(sum(g.weights @ g.target.compare(g.tables(lam, factors))[0] for g in self.groups))


def misfit_of(projections: Projections, weights: np.ndarray, route: str) -> Misfit:
    """Make J from histograms, by the route ``"literal"`` or ``"gram"``; weights w_jk (n_pairs,)."""
    shares = [mass / total for mass, total in zip(projections.masses, projections.totals, strict=True)]

    def target(R: Radon, numbers: Sequence[int]) -> Target:
        Y = np.stack([shares[number] for number in numbers])
        return _Literal(R, Y) if route == "literal" else Gram.of(R, Y)

    return Misfit(group_pairs(projections.operators, weights, target))


def misfit_of_tables(operators: Sequence[Radon], tables: Sequence[np.ndarray], weights: np.ndarray) -> Misfit:
    """Make J by the Gram route from exact pair tables, as if their histograms had been taken."""

    def target(R: Radon, numbers: Sequence[int]) -> Target:
        return Gram(R, np.stack([tables[number] for number in numbers]))

    return Misfit(group_pairs(operators, weights, target))


def group_pairs(
    operators: Sequence[Radon], weights: np.ndarray, target: Callable[[Radon, Sequence[int]], Target]
) -> list[Group]:
    """Group pairs by their operator, in the order in which the operators first appear."""
    n_variables = round((1 + np.sqrt(1 + 8 * len(operators))) / 2)
    pairs = list(combinations(range(n_variables), 2))
    members: dict[int, list[int]] = {}
    for number, R in enumerate(operators):
        members.setdefault(id(R), []).append(number)
    groups = []
    for numbers in members.values():
        R, (first, second) = operators[numbers[0]], zip(*(pairs[number] for number in numbers), strict=True)
        groups.append(Group(first, second, tuple(numbers), weights[numbers], target(R, numbers), R))
    return groups
