"""The parameters that solvers move: class weights λ (F,) and the stacked tables S (stacked rows, F)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from juror.rows.forest import Forest
from juror.rows.stacking import Stacking


class Factored(Protocol):
    """Anything with class weights (F,) and factors (I_n, F), such as a model."""

    @property
    def weights(self) -> np.ndarray:
        """λ."""

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        """The A_n."""


@dataclass(frozen=True)
class Parameters:
    """One point of the search: λ on the simplex, every column of a table on its own; classes share a forest or none.

    ``hidden`` has the number of states of every hidden node, which the forest has after its variables.
    """

    lam: np.ndarray
    stack: np.ndarray
    forest: Forest | None = None
    hidden: tuple[int, ...] = ()

    def stacking(self, cardinalities: tuple[int, ...]) -> Stacking:
        """Return where every node stands in the stack, for variables with these numbers of labels."""
        return Stacking((*cardinalities, *self.hidden), self.forest)

    @property
    def rank(self) -> int:
        """The number of classes F."""
        return len(self.lam)

    @classmethod
    def of(cls, weights: np.ndarray, factors: Sequence[np.ndarray], stacking: Stacking) -> Parameters:
        """Stack the weights (F,) and factors (I_n, F) of a model."""
        return cls(np.array(weights), stacking.stack(factors))


def side_by_side(points: Sequence[Parameters], shares: np.ndarray | None = None) -> tuple[Parameters, ...]:
    """Return the mean of several models as parts of one, whose weights together sum to one.

    Models without a forest become one part, whose rank is the sum of theirs. Their shares of the mean sum to one,
    (len(points),); they are equal by default.
    """
    if shares is None:
        shares = np.full(len(points), 1.0 / len(points))
    parts = [replace(point, lam=share * point.lam) for share, point in zip(shares, points, strict=True)]
    if any(part.forest is not None for part in parts):
        return tuple(parts)
    return (Parameters(np.concatenate([part.lam for part in parts]), np.hstack([part.stack for part in parts])),)


def mean_of(models: Sequence[tuple[Parameters, ...]]) -> tuple[Parameters, ...]:
    """Return the mean of several models, each of one or more parts whose weights sum to one."""
    parts = [part for model in models for part in model]
    return side_by_side(parts, np.full(len(parts), 1.0 / len(models)))
