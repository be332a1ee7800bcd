"""``method="pair-em"``: classes from counts of pairs alone, by EM on their composite likelihood.

The likelihood is that of :mod:`juror.solvers.pair_likelihood`, with a forest shared by all classes that of
:mod:`juror.solvers.forest_likelihood`; pseudo-counts and steps are those of EM on rows (:mod:`juror.solvers.ascent`).

What pairs do not tell. With W_j = A_j D(√λ), all pair tables are W_j W_kᵗ, so they are the same for W_j Q with any
rotation Q; and if no entry of W is zero, small rotations leave all entries positive and all columns on the simplex.
So unless labels tell classes apart, as SPA assumes, no method can find the classes from pairs, whatever the start and
however many the rows: it finds some classes with these pair tables. The mean of several such models, each from its own
start and along its own forest, gave test rows of Adult, GSS and Votes more probability than each of them did.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Self

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.groups import check_seen_together
from juror.counts.projections import Projections
from juror.errors import Complaint, Option, check_count
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.forest import Forest
from juror.rows.parameters import Parameters, side_by_side
from juror.rows.table import Table
from juror.solvers.ascent import Objective, Run, ascend
from juror.solvers.chow_liu import edge_gains, perturbed, strongest_forest
from juror.solvers.counted_pairs import counted_pairs
from juror.solvers.diagnosis import diagnose, empty_classes
from juror.solvers.em import AscentOptions
from juror.solvers.forest_likelihood import ForestLikelihood
from juror.solvers.pair_likelihood import PairLikelihood
from juror.solvers.solver import Context, Solution
from juror.solvers.starts import random_start
from juror.solvers.stopping import Stop
from juror.solvers.thinning import HELD_SHARE, Walk, thinned

# What settings are scored by, in words
CHOSEN_BY = "mean log-probability of pairs, on a fifth of the counts"
# Fits that only compare settings
_ROUGH_TOL, _ROUGH_STEPS = 1e-4, 60
# How often counts are held out anew; once along a forest, where fits take longer
_SPLITS = 3
# The largest ranks to choose from, without a forest and along one, which takes longer
_MOST_RANK, _MOST_ALONG_A_FOREST = 64, 32
# The fewest rows to choose by, of which one is held out
_LEAST_ROWS = 1 / HELD_SHARE
# The share of the time left that the choice may take
TIME_TO_CHOOSE = 0.4
# Random starts, which end about equally high, and the noise of forests after the first
_STARTS, _STARTS_ALONG_A_FOREST = 3, 1
_NOISE = 0.3
# Cells of all classes' pair tables that a forest may hold in memory, about a gigabyte, where the rank is chosen
_MOST_CELLS = 1 << 26


@dataclass(frozen=True)
class PairEMOptions(AscentOptions):
    """What may be set about EM on pairs; a smoothing of None is chosen."""

    smoothing: float | None = None  # type: ignore[assignment]
    tol: float = 3e-5
    n_init: int | None = None
    forests: int = 0

    def __post_init__(self) -> None:
        check_count("forests", self.forests, least=0)
        super().__post_init__()

    @property
    def n_starts(self) -> int:
        """How many random starts each fit has."""
        default = _STARTS_ALONG_A_FOREST if self.forests else _STARTS
        return default if self.n_init is None else self.n_init

    def for_open_rank(self) -> Self:
        """Return options with which the rank is chosen too."""
        return _OpenRank(**{each.name: getattr(self, each.name) for each in fields(self)})  # type: ignore[return-value]


class _OpenRank(PairEMOptions):
    """Options of a fit whose rank is to be chosen."""


def solve(
    table: Table | PairCounts | Projections,
    rank: int,
    options: PairEMOptions,
    context: Context,
    start: Parameters | None = None,
) -> Solution:
    """Choose what is to be chosen; fit without a forest, or along each of several, and return the mean of the fits."""
    counts, complaints = counted_pairs(table)
    # Pairs that no row shows together do no harm here.
    check_seen_together(counts.domain, np.ones(len(counts.tables)))
    forests = _forests(counts, options.forests, context.seed)
    if not np.any(counts.totals):
        # Pseudo-counts are all there is.
        options = replace(options, smoothing=options.smoothing or AscentOptions.smoothing)
    chosen = FitRecord(smoothing=options.smoothing or 0.0)
    if isinstance(options, _OpenRank) or options.smoothing is None:
        rank, chosen = _choose(counts, forests[0], rank, options, context)
    if rank == 1 and len(set(forests)) == 1:
        # There is one best class along a forest.
        forests = forests[:1]
    fits: list[_Fit] = []
    for number, forest in enumerate(forests):
        if fits and context.seconds_left < 0:
            break
        objective = _objective(counts, forest, chosen.smoothing)
        fits.append(_fit(objective, rank, options, context, number * options.n_starts))
    record = replace(
        chosen,
        trace=fits[0].best.trace,
        stopped=str(fits[0].best.stopped),
        n_iter=sum(fit.best.n_passes for fit in fits),
        starts=tuple(run.point.objective for fit in fits for run in fit.runs),
        n_members=len(fits),
    )
    if forests == [None]:
        about = _about(fits[0].best, counts)
        # Some complaints advise a lower rank, and are for users who gave one.
        is_open = isinstance(options, _OpenRank)
        complaints += tuple(each for each in about if not (is_open and each.kind in ("copies", "empty-classes")))
    else:
        complaints += _about_members(fits, len(forests), options)
    pairs = zip(fits, forests, strict=False)
    parts = side_by_side([replace(fit.best.point.parameters, forest=forest) for fit, forest in pairs])
    return Solution(parts, record, complaints)


def _forests(counts: PairCounts, n: int, seed: int) -> list[Forest | None]:
    """Return n forests, the strongest and then perturbed ones; None for no edges."""
    if n == 0:
        return [None]
    found = edge_gains(counts)
    forests = [strongest_forest(found)]
    for number in range(1, n):
        rng = Stream.FORESTS.generator(seed, len(counts.domain), number)
        forests.append(strongest_forest(perturbed(found, _NOISE, rng)))
    return [forest if forest.has_edges else None for forest in forests]


@dataclass(frozen=True)
class _Fit:
    """The runs from all starts."""

    runs: tuple[Run, ...]

    @property
    def best(self) -> Run:
        """The run that came highest."""
        return max(self.runs, key=lambda run: run.point.objective)


def _fit(objective: Objective[Any], rank: int, options: PairEMOptions, context: Context, first: int) -> _Fit:
    """Climb from random starts while there is time, which are numbered from the first on."""
    runs: list[Run] = []
    for number in range(first, first + (1 if rank == 1 else options.n_starts)):
        if not runs or context.seconds_left > 0:
            runs.append(_climb(objective, rank, number, options, context))
    return _Fit(tuple(runs))


def _about_members(fits: list[_Fit], most: int, options: PairEMOptions) -> tuple[Complaint, ...]:
    """Complain about fits along forests that were cut short, and about fewer of them than were asked for."""
    complaints = []
    for stop, option in ((Stop.MAX_ITER, "max_iter"), (Stop.MAX_SECONDS, "max_seconds")):
        n = sum(fit.best.stopped.by is stop for fit in fits)
        if n:
            cut = Complaint(
                "members-cut-short",
                "{n} of {all} fits along forests spent {set} before they converged. Raise {option}.",
                n=n,
                all=len(fits),
                set=Option(option, source=f" = {getattr(options, option):g}"),
                option=Option(option),
            )
            complaints.append(cut)
    if len(fits) < most:
        fewer = Complaint(
            "fewer-members",
            "{max_seconds: = {seconds:g}} was enough for {n} of the {most} forests. Raise {max_seconds}.",
            seconds=options.max_seconds,
            n=len(fits),
            most=most,
        )
        complaints.append(fewer)
    return tuple(complaints)


def _about(run: Run, counts: PairCounts) -> tuple[Complaint, ...]:
    """Complain of what is odd about a run; it counts every row N/2 times over, and complaints are about rows."""
    if not np.any(counts.totals):
        return ()
    in_rows = replace(run.point.counts, classes=2 / len(counts.domain) * run.point.counts.classes)
    return diagnose(replace(run, point=replace(run.point, counts=in_rows)), counts.totals.mean(), counts.domain)


def _objective(counts: PairCounts, forest: Forest | None, smoothing: float) -> Objective[Any]:
    pairs: Any = PairLikelihood.of(counts) if forest is None else ForestLikelihood.of(counts, forest)
    return Objective.of(pairs, pairs.stacking, smoothing)


def _climb(objective: Objective[Any], rank: int, number: int, options: PairEMOptions, context: Context) -> Run:
    """Climb from one start, drawn from the seed, the rank and its number."""

    def report(n_passes: int, log_likelihood: float) -> None:
        mean = log_likelihood / (objective.total or 1.0)
        n_starts = options.n_starts * max(1, options.forests)
        context.tell(rank, number + 1, n_starts, n_passes, options.max_iter, objective=mean)

    start = Parameters(np.ones(1), objective.marginals)
    if rank > 1:
        rng = Stream.START.generator(context.seed, rank, number)
        start = random_start(objective.marginals, rank, objective.stacking, rng)
    return ascend(
        objective,
        start,
        max_iter=options.max_iter,
        tol=options.tol,
        accelerate=options.accelerate,
        until=context.until,
        report=report,
    )


def _choose(
    counts: PairCounts, forest: Forest | None, rank: int, options: PairEMOptions, context: Context
) -> tuple[int, FitRecord]:
    """Choose smoothing, and rank if it is open, on counts that are held out; return the rank and what to record.

    With too little to hold out, there is one class if the rank is open, and smoothing is that of EM on rows.
    """
    rough = replace(options, tol=max(options.tol, _ROUGH_TOL), max_iter=min(options.max_iter, _ROUGH_STEPS))
    choosing = replace(context, progress=None).with_share(TIME_TO_CHOOSE)
    splits = []
    for number in range(_SPLITS if forest is None else 1):
        parts = thinned(counts, Stream.THINNED.generator(context.seed, len(counts.domain), number))
        splits.append(tuple(_objective(part, forest, 0.0) for part in parts))
    is_open = isinstance(options, _OpenRank)
    if counts.totals.mean() < _LEAST_ROWS or any(part.total == 0 for split in splits for part in split):
        smoothing = AscentOptions.smoothing if options.smoothing is None else options.smoothing
        return 1 if is_open else rank, FitRecord(smoothing=smoothing)

    def score(rank: int, smoothing: float) -> tuple[float, int]:
        scores = []
        for kept, held in splits:
            found = _climb(kept.with_smoothing(smoothing), rank, 0, rough, choosing).point.parameters
            scores.append(held.rows.expected(found.lam, found.stack).log_likelihood / held.total)
        return float(np.mean(scores)), int(np.sum(~empty_classes(found, kept.total)))

    walk = Walk(score, None if is_open else rank, options.smoothing, _most_rank(counts, forest))
    chosen, smoothing = walk.run()
    paths: dict[str, Any] = {"rank_path": walk.rank_path(smoothing), "smoothing_path": walk.smoothing_path(chosen)}
    return chosen, FitRecord(smoothing=smoothing, chosen_by=CHOSEN_BY, **paths)


def _most_rank(counts: PairCounts, forest: Forest | None) -> int:
    """Return the largest rank to try: two rows a class, and so that a forest's pair tables stay in memory.

    A class for every combination of all variables but one, or but the two of an edge, can be any distribution.
    """
    sizes = counts.domain.cardinalities
    within = max(sizes) if forest is None else max(sizes[a] * sizes[b] for a, b in forest.edges)
    most = min(_MOST_RANK, math.prod(sizes) // within, int(counts.totals.mean()) // 2)
    if forest is not None:
        most = min(most, _MOST_ALONG_A_FOREST, _MOST_CELLS // sum(sizes) ** 2)
    return max(1, most)
