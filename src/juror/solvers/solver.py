"""The solver protocol: what every method is called with, and what it returns.

A method is one file: its options, a dataclass that checks itself, and one function

    solve(table, rank, options, context, start=None) -> Solution

where ``table`` is a :class:`juror.rows.table.Table`, or a statistic that the method accepts in place of rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, Self

import numpy as np

from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.errors import Complaint, Option, ParameterError, check_count
from juror.progress import Progress, ProgressCallback
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.rows.table import Table
from juror.runners.local import LocalRunner
from juror.solvers.parameters import Parameters

Statistic = PairCounts | TripleCounts | Projections


class Options:
    """What a user may set about a method; see :func:`juror.fit`.

    A method's options are a frozen dataclass derived from this. What it does not have has the value given here.
    """

    smoothing: float = 0.0
    max_seconds: float | None = None
    ensemble: int | str = 1
    rho: float | str | None = None

    def __post_init__(self) -> None:
        check_search(self)

    def rough(self) -> Self:
        """Return options for fits that only compare settings: cheaper, and less exact."""
        return self

    def for_open_rank(self) -> Self:
        """Return options for a method that learns how many of its classes are in use."""
        return self


@dataclass(frozen=True)
class Context:
    """Shared context of a fit: seed, runner, progress callback, stage name, deadline."""

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
        """Report a step to the progress callback, if there is one."""
        if self.progress is not None:
            self.progress(Progress(self.stage, rank, start, n_starts, step, most, log_likelihood, objective))


@dataclass(frozen=True)
class Solution:
    """What a method found.

    Attributes
    ----------
    parameters : Parameters
        λ and the stacked factors.
    record : FitRecord
        What the method has to say about the fit; :mod:`juror.fitting` adds the rest.
    complaints : tuple of Complaint
        What to warn of.
    """

    parameters: Parameters
    record: FitRecord = field(default_factory=FitRecord)
    complaints: tuple[Complaint, ...] = ()


class Solve(Protocol):
    """The signature of every method."""

    def __call__(
        self, table: Any, rank: int, options: Any, context: Context, start: Parameters | None = None
    ) -> Solution:
        """Fit.

        Parameters
        ----------
        table : Table or statistic
            What to fit.
        rank : int
            How many classes F.
        options : Options
            The method's own options.
        context : Context
            Seed, runner, progress and time.
        start : Parameters, optional
            Where to begin, for methods that begin at a point.
        """


@dataclass(frozen=True)
class Growth:
    """How a method goes from one rank to the next while the rank is chosen.

    Attributes
    ----------
    grow : callable
        Makes a start of a larger rank from a fit of a smaller one.
    finish : callable
        Fits all rows from what was found for the chosen rank, and leaves out classes that hold nothing.
    """

    grow: Callable[[Parameters | None, MemoryTable, int, Any, np.random.Generator], Parameters]
    finish: Callable[[Table, int, Any, Context, Parameters], Solution]


@dataclass(frozen=True)
class Method:
    """A way to fit.

    Attributes
    ----------
    solve : callable
        Fits a table or a statistic.
    options : type
        What may be set.
    accepts : tuple of types
        The statistics it can be fitted from without rows.
    most_rank : callable
        Returns the largest rank that makes sense to try, given the domain and the options.
    projects : bool
        Whether it projects labels on a line, so that their order matters.
    open_rank : int, optional
        How many classes to begin with for ``rank="auto"``, if the method itself learns how many are in use.
    growth : Growth, optional
        How fits of growing ranks follow from each other; without it each rank is fitted by itself. Methods with growth
        also choose their smoothing for a target.
    """

    solve: Solve
    options: type[Options]
    accepts: tuple[type, ...] = ()
    most_rank: Callable[[Domain, Any], int] = lambda domain, options: MOST_RANK
    projects: bool = False
    open_rank: int | None = None
    growth: Growth | None = None

    @property
    def option_names(self) -> list[str]:
        """What may be set about it."""
        return [each.name for each in fields(self.options)]  # type: ignore[arg-type]


# The largest rank that is tried for a single fit
MOST_RANK = 512
# How many times their tolerance methods on pairs and triples are given for fits that only compare settings
ROUGHER = 10.0


def check_search(options: Any) -> None:
    """Check those of the options that methods share: starts, steps, tolerance, smoothing and time."""
    for name in ("n_init", "max_iter"):
        if getattr(options, name, None) is not None:
            check_count(name, getattr(options, name))
    for name in ("smoothing", "tol"):
        if hasattr(options, name):
            check_number(name, getattr(options, name))
    if options.max_seconds is not None:
        check_number("max_seconds", options.max_seconds, above_zero=True)


def check_number(name: str, value: object, *, above_zero: bool = False) -> None:
    """Refuse what is not a finite number from zero on, or above it."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf or (above_zero and value == 0):  # type: ignore[operator]
        raise ParameterError(
            "{option} must be a number in the range {range}. Got {got!r} instead.",
            option=Option(name),
            range="(0, inf)" if above_zero else "[0, inf)",
            got=value,
        )
