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
from juror.errors import Complaint, check_count, wrong
from juror.progress import Progress, ProgressCallback
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters
from juror.rows.table import Table
from juror.runners.local import LocalRunner

Statistic = PairCounts | TripleCounts | Projections


class Options:
    """What a user may set about a method; see :func:`juror.fit`.

    A method's options are a frozen dataclass derived from this one. Options that it lacks have the values given here.
    """

    smoothing: float | None = 0.0
    max_seconds: float | None = None
    ensemble: int | str = 1
    rho: float | str | None = None

    def __post_init__(self) -> None:
        for name in ("n_init", "max_iter"):
            if getattr(self, name, None) is not None:
                check_count(name, getattr(self, name))
        for name in ("smoothing", "tol"):
            if getattr(self, name, None) is not None:
                check_number(name, getattr(self, name))
        if self.max_seconds is not None:
            check_number("max_seconds", self.max_seconds, above_zero=True)

    @property
    def has_members(self) -> bool:
        """Whether fits are stopped early, as members of an ensemble are."""
        return False

    def rough(self) -> Self:
        """Return options for fits that only compare settings: cheaper, and less exact."""
        return self

    def for_open_rank(self) -> Self:
        """Return options for a method that learns how many of its classes are in use."""
        return self


@dataclass(frozen=True)
class Context:
    """Shared context of a fit: seed, runner, progress callback, stage name, deadline, and what follows.

    ``n_later`` is the number of chains that follow in later stages, in chains as long as those of this stage.
    """

    seed: int
    runner: LocalRunner
    progress: ProgressCallback | None = None
    stage: str = "fitting"
    until: float = np.inf
    n_later: float = 0.0

    @property
    def seconds_left(self) -> float:
        """How long the fit may still take; infinite without a budget."""
        return self.until - time.monotonic()

    def with_share(self, share: float) -> Context:
        """Return a context that has only this share of the time left."""
        if not np.isfinite(self.until):
            return self
        return replace(self, until=self.until - (1.0 - share) * self.seconds_left)

    def tell(self, rank: int, start: int, n_starts: int, step: int, most: int, **reached: float | None) -> None:
        """Report a step to the progress callback, if there is one: what was reached, and perhaps the time left."""
        if self.progress is not None:
            self.progress(Progress(self.stage, rank, start, n_starts, step, most, **reached))


@dataclass(frozen=True)
class Solution:
    """What a method found, its record of the fit, to which :mod:`juror.fitting` adds the rest, and its complaints.

    The parts are blocks of classes; their weights together sum to one.
    """

    parts: tuple[Parameters, ...]
    record: FitRecord = field(default_factory=FitRecord)
    complaints: tuple[Complaint, ...] = ()

    @property
    def parameters(self) -> Parameters:
        """The only part."""
        (part,) = self.parts
        return part


class Solve(Protocol):
    """The signature of every method."""

    def __call__(
        self, table: Any, rank: int, options: Any, context: Context, start: Parameters | None = None
    ) -> Solution:
        """Fit a table or a statistic with F = ``rank`` classes, for some methods from a given start."""


@dataclass(frozen=True)
class Growth:
    """How a method goes from one rank to the next while the rank is chosen.

    ``grow`` makes a start of a larger rank from a fit of a smaller one. ``finish`` fits all rows from the fit of the
    chosen rank, and leaves out classes that hold nothing.
    """

    grow: Callable[[Parameters | None, MemoryTable, int, Any, np.random.Generator], Parameters]
    finish: Callable[[Table, int, Any, Context, Parameters], Solution]


@dataclass(frozen=True)
class Method:
    """A way to fit.

    Attributes
    ----------
    solve, options : callable, type
        The function that fits, and its options.
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
    on_card : bool
        Whether its passes over rows can be made on a card.
    """

    solve: Solve
    options: type[Options]
    accepts: tuple[type, ...] = ()
    most_rank: Callable[[Domain, Any], int] = lambda domain, options: MOST_RANK
    projects: bool = False
    open_rank: int | None = None
    growth: Growth | None = None
    on_card: bool = False

    @property
    def option_names(self) -> list[str]:
        """What may be set about it."""
        return [each.name for each in fields(self.options)]  # type: ignore[arg-type]


# The largest rank that is tried for a single fit, and in a budget of time
MOST_RANK = 512
MOST_RANK_IN_TIME = 4096
# The factor on the tolerance of methods on pairs and triples, for fits that only compare settings
ROUGHER = 10.0


def check_number(name: str, value: object, *, above_zero: bool = False) -> None:
    """Refuse a value that is not a finite number of at least zero, or above zero."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not 0 <= value < np.inf or (above_zero and value == 0):  # type: ignore[operator]
        raise wrong(name, f"a number in the range {'(' if above_zero else '['}0, inf)", value)
