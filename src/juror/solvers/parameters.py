"""The parameters that solvers move: class weights λ (F,) and the stacked factors S (stacked rows, F)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

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
    """One point of the search: λ on the simplex, every factor column on its own."""

    lam: np.ndarray
    stack: np.ndarray

    @property
    def rank(self) -> int:
        """The number of classes F."""
        return len(self.lam)

    @classmethod
    def of(cls, weights: np.ndarray, factors: Sequence[np.ndarray], stacking: Stacking) -> Parameters:
        """Stack the weights (F,) and factors (I_n, F) of a model."""
        return cls(np.array(weights), stacking.stack(factors))


def side_by_side(points: Sequence[Parameters], shares: np.ndarray | None = None) -> Parameters:
    """Return the mean of several models as one, whose rank is the sum of theirs.

    Their shares of the mean sum to one, (len(points),); they are equal by default.
    """
    if shares is None:
        shares = np.full(len(points), 1.0 / len(points))
    lam = np.concatenate([share * point.lam for share, point in zip(shares, points, strict=True)])
    return Parameters(lam, np.hstack([point.stack for point in points]))
