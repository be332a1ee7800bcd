"""What a long fit tells about itself while it runs, through one callback."""

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
        Which start this is, from 1, and how many there will be.
    iteration, max_iter : int
        Passes over the rows or other steps so far, and the most there may be.
    log_likelihood : float or None
        Mean log-likelihood of a row, in nats; None for methods that do not look at rows.
    objective : float or None
        What such methods lower: the squared misfit of pair tables, triples or histograms.
    """

    stage: str
    rank: int
    start: int
    n_starts: int
    iteration: int
    max_iter: int
    log_likelihood: float | None
    objective: float | None = None


ProgressCallback = Callable[[Progress], None]
