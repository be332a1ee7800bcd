"""What a fit leaves behind besides the model: how it went, and how good it is."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self


@dataclass(frozen=True)
class RankScore:
    """One step of the path that chose a rank.

    Attributes
    ----------
    rank : int
        The rank tried.
    score : float
        The mean log-probability of held-out rows, or of their targets, in nats, or with ``rank="cv"`` and a target the
        share of labels that are predicted, or for an ensemble their quadratic score; higher is better.
    n_occupied : int
        How many of its classes hold at least half a row.
    """

    rank: int
    score: float
    n_occupied: int


@dataclass(frozen=True)
class Compression:
    """One compression of a model to a smaller rank.

    Attributes
    ----------
    rank : int
        The rank before it.
    loss : float
        The divergence D(p‖q) of the model after it, q, from the one before, p, in nats a row.
    standard_error : float
        That of the loss; zero where it is exact.
    """

    rank: int
    loss: float
    standard_error: float = 0.0


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
    n_distinct : int, optional
        How many distinct rows there were; None for a fit to a statistic, and for rows that were not merged.
    n_searched : int, optional
        How many rows the start, and the rank where it was chosen, were looked for in, where the rows were passed over
        where they are; None otherwise.
    log_likelihood : float, optional
        Σ w log p of the training rows, in nats; None for a fit to a statistic and for a compressed model, −inf where
        a row is impossible.
    n_parameters : int
        (F − 1) + F Σ (I_n − 1).
    smoothing : float
        The pseudo-count of a cell, on average; zero for maximum likelihood, and for ``"bayes"``, which has a prior.
    seed : int
        What the random starts came from.
    starts : tuple of float
        The objective that every start reached: log-likelihood with smoothing for EM, squared misfit for the others;
        for an ensemble the mean log-probability of the rows that each member stopped by.
    trace : tuple of float
        The objective along the best start.
    stopped : str
        Why the best start stopped.
    n_iter : int
        Passes over the rows, or other steps, that the best start took, or all members of an ensemble.
    rank_path : tuple of RankScore
        The ranks tried and their held-out scores; empty when the rank was given.
    target : str, optional
        The variable to predict unless another is named.
    warnings : tuple of str
        What the fit warned of.
    stages : mapping of str to tuple of float
        The objective along each stage, for methods that have several.
    n_draws : int
        How many draws of a posterior the model is the mean of; zero where it is a single one.
    n_members : int
        How many fits of an ensemble the model is the mean of; one where it is a single fit.
    occupied : tuple of three floats, optional
        The 5, 50 and 95 per cent points of the number of classes that hold a row, for a fit by ``"bayes"``.
    mixing : mapping of str to (float, float)
        Split-R̂ and effective sample size of what was followed along the chains, at worst.
    projected : str
        How pairs were projected, for methods that do so, with rank and condition of the operators.
    rho : float, optional
        How strongly pair tables were drawn to the model, for methods that do so.
    smoothing_path : tuple of (float, float)
        Smoothings tried and their scores; empty when it was given or not chosen.
    why : str
        Why this method, where ``method="auto"`` left that to the fit.
    rho_path : tuple of (float, float)
        Values of rho tried and their scores; empty when rho was given.
    chosen_by : str
        What the scores of ranks, of smoothings and of rho are; empty when nothing was chosen.
    compressed : tuple of Compression
        From which ranks the model was compressed and at what loss, the last one last; empty when it was not.
    """

    method: str
    rank: int
    n_rows: float
    n_distinct: int | None
    log_likelihood: float | None
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
    stages: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    n_draws: int = 0
    n_members: int = 1
    occupied: tuple[float, float, float] | None = None
    mixing: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    projected: str = ""
    rho: float | None = None
    rho_path: tuple[tuple[float, float], ...] = ()
    chosen_by: str = ""
    smoothing_path: tuple[tuple[float, float], ...] = ()
    why: str = ""
    compressed: tuple[Compression, ...] = ()
    n_searched: int | None = None

    @property
    def aic(self) -> float | None:
        """Akaike's criterion, 2k − 2 log-likelihood; lower is better. None without likelihood, for draws, ensembles."""
        if self.log_likelihood is None or self.n_draws or self.n_members > 1:
            return None
        return 2 * self.n_parameters - 2 * self.log_likelihood

    @property
    def bic(self) -> float | None:
        """The Bayesian criterion, k log n − 2 log-likelihood; lower is better. None as for :attr:`aic`."""
        if self.log_likelihood is None or self.n_draws or self.n_members > 1:
            return None
        return self.n_parameters * math.log(self.n_rows) - 2 * self.log_likelihood

    @property
    def chosen_rank(self) -> int | None:
        """The rank that :attr:`rank_path` led to, that of one member of an ensemble; None without a path, and once a
        compression has made another of it.
        """
        return self.rank // max(1, self.n_members) if self.rank_path and not self.compressed else None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that JSON can hold, which has no −inf: the score of an impossible rank is None."""
        plain = asdict(self)
        for step in plain["rank_path"]:
            step["score"] = step["score"] if math.isfinite(step["score"]) else None
        if self.log_likelihood is not None and not math.isfinite(self.log_likelihood):
            plain["log_likelihood"] = str(self.log_likelihood)
        plain["mixing"] = {
            name: [value if math.isfinite(value) else None for value in pair] for name, pair in self.mixing.items()
        }
        for name in ("rho_path", "smoothing_path"):
            plain[name] = [[value, score if math.isfinite(score) else None] for value, score in getattr(self, name)]
        return plain

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Self:
        """Make an info from what :meth:`to_dict` gave."""
        values = {f.name: plain[f.name] for f in fields(cls) if f.name in plain}
        for name in ("starts", "trace", "warnings"):
            values[name] = tuple(values[name])
        if values.get("occupied") is not None:
            values["occupied"] = tuple(values["occupied"])
        values["mixing"] = {
            name: tuple(math.inf if value is None else value for value in pair)
            for name, pair in values.get("mixing", {}).items()
        }
        values["stages"] = {name: tuple(trace) for name, trace in values.get("stages", {}).items()}
        for name in ("rho_path", "smoothing_path"):
            values[name] = tuple(
                (value, -math.inf if score is None else score) for value, score in values.get(name, ())
            )
        values["compressed"] = tuple(Compression(**step) for step in values.get("compressed", ()))
        if values["log_likelihood"] is not None:
            values["log_likelihood"] = float(values["log_likelihood"])
        values["rank_path"] = tuple(
            RankScore(**step | {"score": -math.inf if step["score"] is None else step["score"]})
            for step in values["rank_path"]
        )
        return cls(**values)
