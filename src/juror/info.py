"""What a fit leaves behind besides the model: how it went, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Self


@dataclass(frozen=True)
class RankScore:
    """One step of the path that chose a rank.

    Attributes
    ----------
    rank : int
        The rank tried.
    score : float
        The mean log-probability of held-out rows, or of their targets, in nats; higher is better.
    n_occupied : int
        How many of its classes hold at least half a row.
    """

    rank: int
    score: float
    n_occupied: int


@dataclass(frozen=True)
class FitInfo:
    """How a model was fitted.

    Attributes
    ----------
    method : str
        The solver.
    rank : int
        The number of classes F.
    n_rows : float
        The sum of the row weights.
    n_distinct : int
        How many distinct rows there were.
    log_likelihood : float
        Σ w log p of the training rows, in nats.
    n_parameters : int
        (F − 1) + F Σ (I_n − 1).
    smoothing : float
        The pseudo-count of a cell, on average; zero for maximum likelihood.
    seed : int
        What the random starts came from.
    starts : tuple of float
        The objective that every start reached.
    trace : tuple of float
        The objective along the best start.
    stopped : str
        Why the best start stopped.
    n_iter : int
        Passes over the rows that the best start took.
    rank_path : tuple of RankScore
        The ranks tried and their held-out scores; empty when the rank was given.
    target : str, optional
        The variable to predict unless another is named.
    warnings : tuple of str
        What the fit warned of.
    """

    method: str
    rank: int
    n_rows: float
    n_distinct: int
    log_likelihood: float
    n_parameters: int
    smoothing: float
    seed: int
    starts: tuple[float, ...]
    trace: tuple[float, ...]
    stopped: str
    n_iter: int
    rank_path: tuple[RankScore, ...] = ()
    target: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2k − 2 log-likelihood; lower is better."""
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float:
        """The Bayesian criterion, k log n − 2 log-likelihood; lower is better."""
        return self.n_parameters * math.log(self.n_rows) - 2 * self.log_likelihood

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, which has no −inf: None for the score of an impossible rank."""
        plain = asdict(self)
        for step in plain["rank_path"]:
            step["score"] = step["score"] if math.isfinite(step["score"]) else None
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make an info from what :meth:`to_dict` gave."""
        values = {f.name: plain[f.name] for f in fields(cls) if f.name in plain}
        for name in ("starts", "trace", "warnings"):
            values[name] = tuple(values[name])
        values["rank_path"] = tuple(
            RankScore(**step | {"score": -math.inf if step["score"] is None else step["score"]})
            for step in values["rank_path"]
        )
        return cls(**values)
