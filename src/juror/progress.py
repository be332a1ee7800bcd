"""The progress reports that a fit sends to a callback."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """One step of a fit.

    Attributes
    ----------
    stage : str
        ``"choosing rank"``, ``"choosing smoothing"``, ``"choosing rho"`` or ``"fitting"``.
    rank : int
        The rank being fitted.
    start, n_starts : int
        The number of this start, from 1, and the number of all starts.
    iteration, max_iter : int
        The number of passes over the rows, or other steps, so far, and its maximum.
    log_likelihood : float or None
        Mean log-likelihood per row, in nats; None for methods that do not read rows.
    objective : float or None
        The objective of those methods: the squared misfit of pair tables, triples or histograms.
    seconds_left : float or None
        How long the fit is expected to take from now on; None where nothing tells. While a rank is chosen, it grows
        whenever a larger rank turns out to be better.
    """

    stage: str
    rank: int
    start: int
    n_starts: int
    iteration: int
    max_iter: int
    log_likelihood: float | None = None
    objective: float | None = None
    seconds_left: float | None = None


ProgressCallback = Callable[[Progress], None]
