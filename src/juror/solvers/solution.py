"""What every method is asked with, and what it gives back."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from juror.errors import ParameterError, check_count
from juror.progress import Progress, ProgressCallback
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner
from juror.solvers.parameters import Parameters


@dataclass(frozen=True)
class Context:
    """Around a fit: where chance comes from, who passes over rows, whom to tell, what to call it, until when."""

    seed: int
    runner: LocalRunner
    progress: ProgressCallback | None = None
    stage: str = "fitting"
    until: float = np.inf

    @property
    def seconds_left(self) -> float:
        """How long the fit may still take; infinite without a budget."""
        return self.until - time.monotonic()

    def with_share(self, share: float) -> Context:
        """Return a context that has only this share of the time left."""
        if not np.isfinite(self.until):
            return self
        return replace(self, until=self.until - (1.0 - share) * self.seconds_left)

    def tell(
        self,
        rank: int,
        start: int,
        n_starts: int,
        step: int,
        most: int,
        *,
        log_likelihood: float | None = None,
        objective: float | None = None,
    ) -> None:
        """Report a step to whoever asked for it."""
        if self.progress is not None:
            self.progress(Progress(self.stage, rank, start, n_starts, step, most, log_likelihood, objective))


@dataclass(frozen=True)
class Solution:
    """What a method found.

    Attributes
    ----------
    parameters : Parameters
        λ and the stacked factors.
    trace : tuple of float
        The objective along the best start: log-likelihood with smoothing, rising, for ``em``; the log-likelihood along
        the first chain for ``bayes``; nothing for ensembles; squared misfit, falling, for the others.
    reason : str
        Why the search stopped.
    n_iter : int
        Passes, sweeps or steps of the best start.
    starts : tuple of float
        The objective that every start reached.
    stages : mapping of str to tuple of float
        The objective along the stages of a method that has several.
    complaints : tuple of str
        What to warn of.
    rho : float, optional
        How strongly pair tables were drawn to the model, where they were.
    mixing : mapping of str to (float, float)
        Split-R̂ and effective sample size of what was followed along the chains of a sampler.
    occupied : tuple of three floats, optional
        The 5, 50 and 95 per cent points of the number of occupied classes, where there is a posterior of it.
    n_draws : int
        How many draws of a posterior stand side by side in the parameters; zero where it is one model.
    n_members : int
        How many fits stand side by side in the parameters.
    projected : str
        How pairs were projected, and what of their tables that shows, where they were.
    log_likelihood : float, optional
        Σ w log p of the training rows, where the method knows it.
    """

    parameters: Parameters
    trace: tuple[float, ...]
    reason: str
    n_iter: int
    starts: tuple[float, ...]
    stages: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    complaints: tuple[str, ...] = ()
    rho: float | None = None
    projected: str = ""
    n_draws: int = 0
    n_members: int = 1
    occupied: tuple[float, float, float] | None = None
    mixing: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    log_likelihood: float | None = None


def smoothed(
    parameters: Parameters, marginals: np.ndarray, n_rows: float, smoothing: float, stacking: Stacking
) -> Parameters:
    """Add pseudo-counts to a solution that no rows were counted for, as EM does to its counts.

    A class f stands for n λ_f rows, so that

        λ_f ← (n λ_f + α) / (n + α F),     A_n[x, f] ← (n λ_f A_n[x, f] + α I_n m_n[x]) / (n λ_f + α I_n).

    Parameters
    ----------
    parameters : Parameters
        λ and the stacked factors.
    marginals : numpy.ndarray, (stacked rows, 1)
        m, stacked.
    n_rows : float
        n.
    smoothing : float
        α; zero changes nothing.
    stacking : Stacking
        Where variables stand in the stack.
    """
    if smoothing == 0:
        return parameters
    pseudo_counts = stacking.pseudo_counts(smoothing, marginals)
    lam = n_rows * parameters.lam
    stack = stacking.normalise(lam * parameters.stack + pseudo_counts, otherwise=parameters.stack)
    return Parameters((lam + smoothing) / np.sum(lam + smoothing), stack)


def check_search(options: object) -> None:
    """Check those of the options that methods share: starts, steps, tolerance and smoothing."""
    for name in ("n_init", "max_iter"):
        if getattr(options, name, None) is not None:
            check_count(name, getattr(options, name))
    for name in ("smoothing", "tol"):
        if hasattr(options, name):
            check_number(name, getattr(options, name))
    if getattr(options, "max_seconds", None) is not None:
        check_number("max_seconds", options.max_seconds, above_zero=True)  # type: ignore[attr-defined]


def check_number(name: str, value: object, *, above_zero: bool = False) -> None:
    """Refuse what is not a finite number from zero on, or above it."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf or (above_zero and value == 0):  # type: ignore[operator]
        bound = "(0, inf)" if above_zero else "[0, inf)"
        raise ParameterError(f"{name} must be a number in the range {bound}. Got {value!r} instead.")
