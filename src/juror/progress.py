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
        ``"choosing rank"`` or ``"fitting"``.
    rank : int
        The rank being fitted.
    start, n_starts : int
        Which start this is, from 1, and how many there will be.
    iteration, max_iter : int
        Passes over the rows so far, and the most there may be.
    log_likelihood : float
        Mean log-likelihood of a row, in nats.
    """

    stage: str
    rank: int
    start: int
    n_starts: int
    iteration: int
    max_iter: int
    log_likelihood: float


ProgressCallback = Callable[[Progress], None]
