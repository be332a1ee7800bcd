"""The methods that look at pairs, triples or projections in place of rows, behind one signature.

Each takes its statistic, a rank, its options and a context, and gives a :class:`Solution`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts, TripleCounts, check_seen_together
from juror.counts.designs import Design
from juror.counts.projections import Projections
from juror.counts.radon import FILTERS, Radon
from juror.domain import Domain
from juror.errors import ParameterError, shortlist
from juror.rows.stacking import Stacking
from juror.solvers import ctf, juror, spa
from juror.solvers.juror import Settings, Stages
from juror.solvers.misfit import Misfit, misfit_of, misfit_of_tables
from juror.solvers.pair_tables import PairTables
from juror.solvers.parameters import Parameters
from juror.solvers.priors import PRIORS, Prior
from juror.solvers.solution import Context, Solution, check_number, check_search, smoothed
from juror.solvers.starts import random_start

# the share of Σ‖Y‖² that rounding histograms to three decimals does not reach
_UNEXPLAINED = 1e-4
INVERSIONS = ("lstsq", "fbp")
_MOST_STRENGTH = 1e9
# what is said of a stage G2 that ends above where it began
NO_HELP = "shrinking pair tables did not help"
ROUTES = ("auto", "gram", "literal")
# Values of ρ that cross-validation tries, as shares of the number of directions
RHO_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True)
class SPAOptions:
    """What a user may set about SPA, checked; see :func:`juror.fit`."""

    split: Sequence[str] | None = None
    smoothing: float = 0.1

    def __post_init__(self) -> None:
        check_search(self)


@dataclass(frozen=True)
class CTFOptions:
    """What a user may set about CTF, checked; see :func:`juror.fit`."""

    triples: str | int | Sequence[Sequence[str]] | None = None
    n_init: int = 3
    smoothing: float = 0.1
    max_iter: int = 500
    tol: float = 1e-5

    def __post_init__(self) -> None:
        check_search(self)


@dataclass(frozen=True)
class JurorOptions:
    """What a user may set about JUROR, checked; see :func:`juror.fit`."""

    n_directions: int | None = None
    bins: int | None = None
    operator: str | None = None
    scores: Mapping[str, Sequence[float]] | None = None
    inversion: str = "lstsq"
    filter: str | None = None
    rho: float | str | None = None
    prior: str | None = None
    prior_strength: float | None = None
    route: str = "auto"
    split: Sequence[str] | None = None
    smoothing: float = 0.1
    max_iter: int = 1000
    tol: float = 1e-4

    def __post_init__(self) -> None:
        check_search(self)
        for name, choices in (("inversion", INVERSIONS), ("filter", (None, *FILTERS)), ("route", ROUTES)):
            value = getattr(self, name)
            if value not in choices:
                raise ParameterError(f"{name} must be one of {shortlist(choices)}. Got {value!r} instead.")
        if self.filter is not None and self.inversion != "fbp":
            raise ParameterError("filter is a part of back projection: pass inversion='fbp' too, or leave it out.")
        if self.rho is not None and self.rho != "cv":
            if isinstance(self.rho, str):
                raise ParameterError(f"rho must be 'cv' or a number in the range (0, inf). Got {self.rho!r} instead.")
            check_number("rho", self.rho, above_zero=True)
        if self.prior is None and self.prior_strength is not None:
            raise ParameterError(f"prior_strength goes with a prior, one of {shortlist(PRIORS)}.")
        if self.prior_strength is not None:
            check_number("prior_strength", self.prior_strength, above_zero=True)
            if self.prior_strength > _MOST_STRENGTH:
                raise ParameterError(
                    f"prior_strength must be in the range (0, {_MOST_STRENGTH:g}]. Got {self.prior_strength!r} instead."
                )

    def design(self, seed: int) -> Design:
        """Return how to project pairs."""
        operator = "auto" if self.operator is None else self.operator
        if operator == "auto" and self.inversion == "fbp":
            # back projection is made for strips; cells that fall whole into bins leave gaps that it takes for structure
            operator = "strips"
        n_directions = Design.n_directions if self.n_directions is None else self.n_directions
        return Design(n_directions, seed, self.bins, operator, {} if self.scores is None else self.scores)

    def check_made(self) -> None:
        """Refuse what was settled when projections were made."""
        for name in ("n_directions", "bins", "operator", "scores"):
            if getattr(self, name) is not None:
                raise ParameterError(f"{name} belongs to the projections, which are made already. Leave it out.")


def solve_spa(counts: PairCounts, rank: int, options: SPAOptions, context: Context) -> Solution:
    """Find factors from pair tables by successive projection."""
    tables = PairTables.of(counts)
    split = spa.read_split(counts.domain, options.split)
    spa.check_rank(rank, counts.domain, split)
    lam, factors = spa.solve(tables, rank, split)
    value = float(sum(w * np.sum((Z - (factors[j] * lam) @ factors[k].T) ** 2) for (j, k), Z, w in tables.each()))
    context.tell(rank, 1, 1, 1, 1, objective=value)
    parameters = _finish(lam, factors, counts.domain, tables.marginal, float(counts.totals.mean()), options.smoothing)
    return Solution(
        parameters,
        trace=(value,),
        reason="SPA has no steps to converge",
        n_iter=1,
        starts=(value,),
        complaints=spa.fewer(rank, len(lam)),
    )


def solve_ctf(counts: TripleCounts, rank: int, options: CTFOptions, context: Context) -> Solution:
    """Find factors from counted triples of variables by alternating least squares, from several random starts."""
    tables = ctf.TripleTables(counts)
    stacking = Stacking(counts.domain.cardinalities)
    n_rows = float(counts.totals.mean())
    marginals = _stacked_marginals(tables.marginal, n_rows, stacking)
    ends = []
    n_starts = 1 if rank == 1 else options.n_init
    for start in range(1, n_starts + 1):
        begin = random_start(marginals, rank, stacking, np.random.default_rng([context.seed, rank, start]))

        def report(step: int, value: float, start: int = start) -> None:
            context.tell(rank, start, n_starts, step, options.max_iter, objective=value)

        ends.append(
            ctf.solve(
                tables,
                begin.lam,
                stacking.unstack(begin.stack),
                max_iter=options.max_iter,
                tol=options.tol,
                report=report,
            )
        )
    best = min(ends, key=lambda end: end.trace[-1])
    complaints = _unfinished(best.reason)
    if tables.unseen:
        complaints += (f"{len(tables.unseen)} of {len(counts.groups)} triples of variables are seen whole in no row.",)
    return Solution(
        _finish(best.lam, best.factors, counts.domain, tables.marginal, n_rows, options.smoothing),
        trace=best.trace,
        reason=best.reason,
        n_iter=len(best.trace) - 1,
        starts=tuple(end.trace[-1] for end in ends),
        complaints=complaints,
    )


def solve_juror(
    data: PairCounts | Projections, rank: int, options: JurorOptions, context: Context, *, stages: Stages
) -> Solution:
    """Run Algorithm 1 on counted pairs, as if they had been projected, or on projections alone."""
    domain = data.domain
    check_seen_together(domain, data.totals)
    split = spa.read_split(domain, options.split)
    spa.check_rank(rank, domain, split)
    if options.rho is not None and not stages.shrink:
        raise ParameterError("rho acts in stage G2, which 'juror-b' leaves out. Use 'juror-a' or 'juror-c'.")
    misfit, weights, complaints = _misfit(data, options, context.seed)
    operators = [group.R for group in misfit.groups]
    settings = Settings(
        rank=rank,
        split=split,
        inversion=options.inversion,
        filter=options.filter or FILTERS[0],
        rho=_rho(options, data, context.seed),
        max_iter=options.max_iter,
        tol=options.tol,
        prior=_prior(options, domain, stages),
    )
    steps, most = count(1), options.max_iter * (stages.shrink + stages.descend)

    def report(value: float) -> None:
        context.tell(rank, 1, 1, next(steps), most, objective=value)

    end = juror.solve(misfit, domain, weights, stages, settings, report)
    last = list(end.traces.values())[-1]
    # of G2 the lowest round is returned, not the last
    reached = last[-1] if stages.descend else min(last[1:])
    n_rows = float(data.totals.mean())
    return Solution(
        _finish(end.lam, end.factors, domain, end.tables.marginal, n_rows, options.smoothing),
        trace=last,
        reason="; ".join(f"{stage} {reason}" for stage, reason in end.reasons.items()),
        n_iter=end.n_iter,
        starts=(reached,),
        stages=end.traces,
        rho=settings.rho if stages.shrink else None,
        projected=_projected(operators),
        complaints=complaints + spa.fewer(rank, len(end.lam)) + _about_stages(end),
    )


def _misfit(
    data: PairCounts | Projections, options: JurorOptions, seed: int
) -> tuple[Misfit, np.ndarray, tuple[str, ...]]:
    """Return J, the weights of pairs, and a sentence for every shape of table that is not seen whole."""
    weights = data.totals / data.totals.mean()
    if isinstance(data, Projections):
        options.check_made()
        misfit = misfit_of(data, weights, "literal" if options.route == "literal" else "gram")
        operators = data.operators
    else:
        design = options.design(seed)
        if options.route == "literal":
            projections = Projections.of_counts(data, design)
            operators = projections.operators
            misfit = misfit_of(projections, weights, "literal")
        else:
            operators = design.operators(data.domain, design.directions(data.domain))
            misfit = misfit_of_tables(operators, PairTables.of(data).tables, weights)
    # exact tables explain their own projections
    unexplained = _unexplained(misfit) if isinstance(data, Projections) else ()
    return misfit, weights, _rank_deficient(operators) + unexplained


def _unexplained(misfit: Misfit) -> tuple[str, ...]:
    """Return a sentence where histograms are no projections of any table: those of rows always are of one."""
    left, whole = 0.0, 0.0
    for group in misfit.groups:
        Y = group.target.histograms()
        off = group.R.forward(group.target.least_squares()) - Y
        left += float(np.sum(off * off))
        whole += float(np.sum(Y * Y))
    if left <= _UNEXPLAINED * whole:
        return ()
    return (
        f"No tables explain the histograms: {left / whole:.2g} of their square is left over. They were changed after "
        "they were taken, or belong to other directions, bins or scores than those given.",
    )


def _projected(operators: Sequence[Radon]) -> str:
    lost = [R for R in operators if R.rank < R.shape[0] * R.shape[1]]
    seen = f"{len(lost)} of {len(operators)} operators short of full rank" if lost else "full rank"
    bins = sorted({R.n_bins for R in operators})
    shown = f"{bins[0]}" if len(bins) == 1 else f"{bins[0]} to {bins[-1]}"
    worst = max(R.condition for R in operators)
    return f"{operators[0].n_directions} directions a pair, {shown} bins, {seen}, condition at most {worst:.3g}"


def _rank_deficient(operators: Sequence[Radon]) -> tuple[str, ...]:
    worst: dict[tuple[int, int], Radon] = {}
    for R in operators:
        if R.rank < R.shape[0] * R.shape[1]:
            worst.setdefault(R.shape, R)
    if not worst:
        return ()
    seen = ", ".join(f"{R.shape[0]} × {R.shape[1]} labels with rank {R.rank}" for R in list(worst.values())[:3])
    others = f" and {len(worst) - 3} other shapes" if len(worst) > 3 else ""
    return (
        f"{operators[0].n_directions} directions do not see all of a table: those of {seen}{others}. What is unseen is "
        "unknown. Raise n_directions or bins.",
    )


def _prior(options: JurorOptions, domain: Domain, stages: Stages) -> Prior | None:
    if options.prior is None:
        return None
    if not stages.descend:
        raise ParameterError("prior acts in stage G3, which 'juror-c' leaves out. Use 'juror-a' or 'juror-b'.")
    return Prior.over(domain, options.prior, 1.0 if options.prior_strength is None else options.prior_strength)


def _rho(options: JurorOptions, data: PairCounts | Projections, seed: int) -> float:
    if isinstance(options.rho, str):
        raise ParameterError("rho='cv' needs rows to hold out, and a statistic has none. Pass a number.")
    if options.rho is not None:
        return float(options.rho)
    return float((data.design if isinstance(data, Projections) else options.design(seed)).n_directions)


def _finish(
    lam: np.ndarray,
    factors: Sequence[np.ndarray],
    domain: Domain,
    marginal: Callable[[int], np.ndarray],
    n_rows: float,
    smoothing: float,
) -> Parameters:
    stacking = Stacking(domain.cardinalities)
    parameters = Parameters.of(lam, factors, stacking)
    if smoothing == 0:
        return parameters
    return smoothed(parameters, _stacked_marginals(marginal, n_rows, stacking), n_rows, smoothing, stacking)


def _stacked_marginals(marginal: Callable[[int], np.ndarray], n_rows: float, stacking: Stacking) -> np.ndarray:
    """Return one-way marginals with one count more, shared by a variable's labels, (stacked rows, 1)."""
    columns: list[Any] = [
        (n_rows * marginal(n) + 1.0 / size)[:, None] / (n_rows + 1.0) for n, size in enumerate(stacking.cardinalities)
    ]
    return stacking.stack(columns)


def _about_stages(end: juror.Outcome) -> tuple[str, ...]:
    complaints = [
        f"Stage {stage} {reason} before it converged. Raise max_iter or tol."
        for stage, reason in end.reasons.items()
        if reason.startswith("reached")
    ]
    shrinking = end.traces.get("G2", ())
    if len(shrinking) > 1 and min(shrinking[1:]) > shrinking[0]:
        complaints.append(
            f"Stage G2 began at J1 = {shrinking[0]:.4g} and no round came below {min(shrinking[1:]):.4g}: {NO_HELP}. "
            "'juror-b' leaves it out."
        )
    return tuple(complaints)


def _unfinished(reason: str) -> tuple[str, ...]:
    return (f"The fit {reason} before it converged. Raise max_iter or tol.",) if reason.startswith("reached") else ()
