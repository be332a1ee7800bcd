"""``method="juror-a"``, ``"juror-b"`` and ``"juror-c"``: the founding paper's Algorithm 1 on pairs or projections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Self

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.designs import Design
from juror.counts.groups import check_seen_together
from juror.counts.projections import Projections
from juror.counts.radon import FILTERS, Radon
from juror.domain import Domain
from juror.errors import Complaint, Message, Option, ParameterError, check_choice, shortlist, wrong
from juror.record import FitRecord
from juror.rows.parameters import Parameters
from juror.rows.table import Table
from juror.solvers import spa
from juror.solvers.juror_stages import Outcome, Stages, StageSettings, run_stages
from juror.solvers.misfit import Misfit, misfit_of, misfit_of_tables
from juror.solvers.pair_tables import PairTables
from juror.solvers.priors import PRIORS, Prior
from juror.solvers.smoothing import finished
from juror.solvers.solver import ROUGHER, Context, Options, Solution, check_number
from juror.solvers.stopping import not_converged

# An upper bound for the share of Σ‖Y‖² that rounding histograms to three decimals leaves unexplained
_UNEXPLAINED = 1e-4
INVERSIONS = ("lstsq", "fbp")
_MOST_STRENGTH = 1e9
ROUTES = ("auto", "gram", "literal")


@dataclass(frozen=True)
class JurorOptions(Options):
    """What may be set about JUROR."""

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
        super().__post_init__()
        for name, choices in (("inversion", INVERSIONS), ("filter", (None, *FILTERS)), ("route", ROUTES)):
            check_choice(name, getattr(self, name), choices)
        if self.filter is not None and self.inversion != "fbp":
            text = Message("{filter} is a part of back projection: pass {inversion:='fbp'} too, or leave it out.")
            raise ParameterError(text)
        if self.rho is not None and self.rho != "cv":
            if isinstance(self.rho, str):
                raise wrong("rho", "'cv' or a number in the range (0, inf)", self.rho)
            check_number("rho", self.rho, above_zero=True)
        if self.prior is None and self.prior_strength is not None:
            raise ParameterError("{prior_strength} goes with a {prior}, one of {choices}.", choices=shortlist(PRIORS))
        if self.prior_strength is not None:
            check_number("prior_strength", self.prior_strength, above_zero=True)
            if self.prior_strength > _MOST_STRENGTH:
                raise wrong("prior_strength", f"in the range (0, {_MOST_STRENGTH:g}]", self.prior_strength)

    def rough(self) -> Self:
        """Return options with a larger tolerance, and the default ρ where it is still to be chosen."""
        return replace(self, tol=ROUGHER * self.tol, rho=None if self.rho == "cv" else self.rho)

    def design(self, seed: int) -> Design:
        """Return how to project pairs."""
        operator = "auto" if self.operator is None else self.operator
        if operator == "auto" and self.inversion == "fbp":
            # Back projection assumes strips. Where cells fall whole into bins, it would take the gaps for structure.
            operator = "strips"
        n_directions = Design.n_directions if self.n_directions is None else self.n_directions
        return Design(n_directions, seed, self.bins, operator, {} if self.scores is None else self.scores)

    def check_made(self) -> None:
        """Refuse options that were fixed when the projections were made."""
        for name in ("n_directions", "bins", "operator", "scores"):
            if getattr(self, name) is not None:
                raise ParameterError(
                    "{option} belongs to the projections, which are made already. Leave it out.", option=Option(name)
                )


def solve(
    table: Table | PairCounts | Projections,
    rank: int,
    options: JurorOptions,
    context: Context,
    start: Parameters | None = None,
    *,
    stages: Stages,
) -> Solution:
    """Run Algorithm 1 on counted pairs, as if they had been projected, or on projections alone."""
    data = table if isinstance(table, (PairCounts, Projections)) else PairCounts.of_rows(table)
    domain = data.domain
    check_seen_together(domain, data.totals)
    split = spa.read_split(domain, options.split)
    spa.check_rank(rank, domain, split)
    if options.rho is not None and not stages.shrink:
        raise ParameterError(Message("{rho} acts in stage G2, which 'juror-b' leaves out. Use 'juror-a' or 'juror-c'."))
    misfit, weights, complaints = _misfit(data, options, context.seed)
    settings = StageSettings(
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

    end = run_stages(misfit, domain, weights, stages, settings, report)
    last = list(end.traces.values())[-1]
    record = FitRecord(
        trace=last,
        stopped="; ".join(f"{stage} {stopped}" for stage, stopped in end.stops.items()),
        n_iter=end.n_iter,
        # G2 returns its lowest round, not its last.
        starts=(last[-1] if stages.descend else min(last[1:]),),
        stages=end.traces,
        rho=settings.rho if stages.shrink else None,
        projected=_projected([group.R for group in misfit.groups]),
    )
    n_rows = float(data.totals.mean())
    return Solution(
        (finished(end.lam, end.factors, domain, end.tables.marginal, n_rows, options.smoothing),),
        record,
        complaints + spa.fewer(rank, len(end.lam)) + _about_stages(end),
    )


def _misfit(
    data: PairCounts | Projections, options: JurorOptions, seed: int
) -> tuple[Misfit, np.ndarray, tuple[Complaint, ...]]:
    """Return J, the weights of pairs, and complaints about what the projections do not show."""
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
    # Exact tables explain their own projections.
    off = unexplained(misfit) if isinstance(data, Projections) else ()
    return misfit, weights, rank_deficient(operators) + off


def unexplained(misfit: Misfit) -> tuple[Complaint, ...]:
    """Complain about histograms that are projections of no table; those of rows always are."""
    left, whole = 0.0, 0.0
    for group in misfit.groups:
        Y = group.target.histograms()
        off = group.R.forward(group.target.least_squares()) - Y
        left += float(np.sum(off * off))
        whole += float(np.sum(Y * Y))
    if left <= _UNEXPLAINED * whole:
        return ()
    complaint = Complaint(
        "unexplained-histograms",
        "No tables explain the histograms: {share:.2g} of their square is left over. They were changed after they "
        "were taken, or belong to other directions, bins or scores than those given.",
        share=left / whole,
    )
    return (complaint,)


def _projected(operators: Sequence[Radon]) -> str:
    lost = [R for R in operators if R.rank < R.shape[0] * R.shape[1]]
    seen = f"{len(lost)} of {len(operators)} operators short of full rank" if lost else "full rank"
    bins = sorted({R.n_bins for R in operators})
    shown = f"{bins[0]}" if len(bins) == 1 else f"{bins[0]} to {bins[-1]}"
    worst = max(R.condition for R in operators)
    return f"{operators[0].n_directions} directions a pair, {shown} bins, {seen}, condition at most {worst:.3g}"


def rank_deficient(operators: Sequence[Radon]) -> tuple[Complaint, ...]:
    """Complain about directions that do not see all of a table."""
    worst: dict[tuple[int, int], Radon] = {}
    for R in operators:
        if R.rank < R.shape[0] * R.shape[1]:
            worst.setdefault(R.shape, R)
    if not worst:
        return ()
    seen = ", ".join(f"{R.shape[0]} × {R.shape[1]} labels with rank {R.rank}" for R in list(worst.values())[:3])
    others = f" and {len(worst) - 3} other shapes" if len(worst) > 3 else ""
    complaint = Complaint(
        "rank-deficient",
        "{n} directions do not see all of a table: those of {seen}. What is unseen is unknown. Raise {n_directions} or "
        "{bins}.",
        n=operators[0].n_directions,
        seen=seen + others,
    )
    return (complaint,)


def _prior(options: JurorOptions, domain: Domain, stages: Stages) -> Prior | None:
    if options.prior is None:
        return None
    if not stages.descend:
        text = Message("{prior} acts in stage G3, which 'juror-c' leaves out. Use 'juror-a' or 'juror-b'.")
        raise ParameterError(text)
    return Prior.over(domain, options.prior, 1.0 if options.prior_strength is None else options.prior_strength)


def _rho(options: JurorOptions, data: PairCounts | Projections, seed: int) -> float:
    if isinstance(options.rho, str):
        raise ParameterError(Message("{rho:='cv'} needs rows to hold out, and a statistic has none. Pass a number."))
    if options.rho is not None:
        return float(options.rho)
    return float((data.design if isinstance(data, Projections) else options.design(seed)).n_directions)


def _about_stages(end: Outcome) -> tuple[Complaint, ...]:
    complaints = sum((not_converged(f"Stage {stage}", stopped) for stage, stopped in end.stops.items()), ())
    shrinking = end.traces.get("G2", ())
    if len(shrinking) <= 1 or min(shrinking[1:]) <= shrinking[0]:
        return complaints
    no_help = Complaint(
        SHRINKING_DID_NOT_HELP,
        "Stage G2 began at J1 = {first:.4g} and no round came below {lowest:.4g}: shrinking pair tables did not help. "
        "'juror-b' leaves it out.",
        first=shrinking[0],
        lowest=min(shrinking[1:]),
    )
    return (*complaints, no_help)


# The kind of complaint about a stage G2 that ends above where it began
SHRINKING_DID_NOT_HELP = "shrinking-did-not-help"
