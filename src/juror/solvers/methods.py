"""The methods by name: what each needs from the rows, what may be set about it, and who solves it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.errors import ParameterError, did_you_mean, shortlist
from juror.rows.distinct import WeightedRows
from juror.rows.far import FarRows
from juror.solvers.bayes import BayesOptions, solve_bayes
from juror.solvers.juror import Stages
from juror.solvers.moments import CTFOptions, JurorOptions, SPAOptions, solve_ctf, solve_juror, solve_spa
from juror.solvers.search import EMOptions, SPAEMOptions, solve_em, solve_spa_em
from juror.solvers.solution import Context, Solution
from juror.solvers.spa import read_split

Statistic = PairCounts | TripleCounts | Projections
MOST_RANK = 512


@dataclass(frozen=True)
class Method:
    """A way to fit.

    Attributes
    ----------
    options : type
        A dataclass of what may be set, which checks itself.
    accepts : tuple of types
        The statistics it can be fitted from without rows.
    solve_rows : callable
        Fit distinct weighted rows: rows, domain, rank, options, context.
    solve_statistic : callable, optional
        Fit a statistic: statistic, rank, options, context.
    begins_with_spa : bool
        Whether its rank is bounded by what a split of the variables carries.
    solve_far : callable
        Fit rows where they are: a sample of them, domain, rank, options, context, the rows.
    over_complete : int, optional
        How many classes to begin with for ``rank="auto"``, if the method itself learns how many are in use.
    projects : bool
        Whether it projects labels on a line, which wants them to have an order.
    """

    options: type
    accepts: tuple[type, ...]
    solve_rows: Callable[[WeightedRows, Domain, int, Any, Context], Solution]
    solve_far: Callable[[WeightedRows, Domain, int, Any, Context, FarRows], Solution]
    solve_statistic: Callable[[Any, int, Any, Context], Solution] | None = None
    begins_with_spa: bool = False
    projects: bool = False
    over_complete: int | None = None

    @property
    def option_names(self) -> list[str]:
        """What may be set about it."""
        return [field.name for field in fields(self.options)]

    def read_options(self, name: str, given: Mapping[str, Any]) -> Any:
        """Make the options of this method, or say which it does not have."""
        known = self.option_names
        for option in given:
            if option not in known:
                hint = did_you_mean(option, known) if option not in ALL_OPTIONS else f"It has {shortlist(known, 20)}."
                raise ParameterError(f"method {name!r} has no option {option!r}. {hint}")
        return self.options(**given)

    def most_rank(self, domain: Domain, options: Any) -> int:
        """Return the largest rank that makes sense to try."""
        if not self.begins_with_spa:
            return MOST_RANK
        return min(MOST_RANK, read_split(domain, options.split).most_rank(domain.cardinalities))


def _from_pairs(
    solve: Callable[[Any, int, Any, Context], Solution], options: type, accepts: tuple[type, ...], projects: bool
) -> Method:
    def solve_rows(rows: WeightedRows, domain: Domain, rank: int, options: Any, context: Context) -> Solution:
        return solve(PairCounts.of_rows(rows, domain, context.runner.n_jobs), rank, options, context)

    def solve_far(
        rows: WeightedRows, domain: Domain, rank: int, options: Any, context: Context, far: FarRows
    ) -> Solution:
        return solve(PairCounts.of_far(far), rank, options, context)

    return Method(options, accepts, solve_rows, solve_far, solve, begins_with_spa=True, projects=projects)


def _juror(shrink: bool, descend: bool) -> Method:
    solve = partial(solve_juror, stages=Stages(shrink, descend))
    return _from_pairs(solve, JurorOptions, (PairCounts, Projections), projects=True)


def _ctf_rows(rows: WeightedRows, domain: Domain, rank: int, options: CTFOptions, context: Context) -> Solution:
    triples = "all" if options.triples is None else options.triples
    counts = TripleCounts.of_rows(rows, domain, triples, context.seed, context.runner.n_jobs)
    return solve_ctf(counts, rank, options, context)


def _ctf_far(
    rows: WeightedRows, domain: Domain, rank: int, options: CTFOptions, context: Context, far: FarRows
) -> Solution:
    counts = TripleCounts.of_far(far, "all" if options.triples is None else options.triples, context.seed)
    return solve_ctf(counts, rank, options, context)


def _ctf_counts(counts: TripleCounts, rank: int, options: CTFOptions, context: Context) -> Solution:
    if options.triples is not None:
        raise ParameterError("triples were chosen when they were counted. Leave triples= out.")
    return solve_ctf(counts, rank, options, context)


def _em_far(
    rows: WeightedRows, domain: Domain, rank: int, options: EMOptions, context: Context, far: FarRows
) -> Solution:
    return solve_em(rows, domain, rank, options, context, far=far)


METHODS: dict[str, Method] = {
    "em": Method(EMOptions, (), solve_em, _em_far),
    "bayes": Method(BayesOptions, (), solve_bayes, solve_bayes, over_complete=32),
    "spa": _from_pairs(solve_spa, SPAOptions, (PairCounts,), projects=False),
    "spa-em": Method(SPAEMOptions, (), solve_spa_em, solve_spa_em, begins_with_spa=True),
    "ctf": Method(CTFOptions, (TripleCounts,), _ctf_rows, _ctf_far, _ctf_counts),
    "juror-a": _juror(shrink=True, descend=True),
    "juror-b": _juror(shrink=False, descend=True),
    "juror-c": _juror(shrink=True, descend=False),
}
ALL_OPTIONS = frozenset(name for method in METHODS.values() for name in method.option_names)
