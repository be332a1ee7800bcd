"""``method="pair-em"``: classes from counts of pairs alone, by EM on their composite likelihood.

The likelihood is that of :mod:`juror.solvers.pair_likelihood`, with a forest shared by all classes that of
:mod:`juror.solvers.forest_likelihood`; pseudo-counts and steps are those of EM on rows (:mod:`juror.solvers.ascent`).

What pairs do not tell. With W_j = A_j D(√λ), all pair tables are W_j W_kᵗ, so they are the same for W_j Q with any
rotation Q; and if no entry of W is zero, small rotations leave all entries positive and all columns on the simplex.
So unless labels tell classes apart, as SPA assumes, no method can find the classes from pairs, whatever the start and
however many the rows: it finds some classes with these pair tables. Smoothing chooses among them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Self

import numpy as np

from juror.counts.counts import PairCounts, check_seen_together
from juror.counts.projections import Projections
from juror.errors import wrong
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.forest import Forest
from juror.rows.parameters import Parameters
from juror.rows.table import Table
from juror.solvers.ascent import Objective, Run, ascend
from juror.solvers.chow_liu import information, strongest_forest
from juror.solvers.counted_pairs import counted_pairs
from juror.solvers.diagnosis import diagnose, empty_classes
from juror.solvers.em import AscentOptions
from juror.solvers.forest_likelihood import ForestLikelihood
from juror.solvers.pair_likelihood import PairLikelihood
from juror.solvers.solver import Context, Solution
from juror.solvers.starts import random_start
from juror.solvers.thinning import Walk, thinned

# What settings are scored by, in words
CHOSEN_BY = "mean log-probability of pairs, on a fifth of the counts"
# Fits that only compare settings
_ROUGH_TOL, _ROUGH_STEPS = 1e-4, 100
_MOST_RANK = 64
# Cells of all classes' pair tables that a forest may hold in memory, about a gigabyte, where the rank is chosen
_MOST_CELLS = 1 << 26


@dataclass(frozen=True)
class PairEMOptions(AscentOptions):
    """What may be set about EM on pairs; a smoothing of None is chosen."""

    smoothing: float | None = None  # type: ignore[assignment]
    tol: float = 1e-5
    n_init: int = 3
    forest: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.forest, bool):
            raise wrong("forest", "True or False", self.forest)
        super().__post_init__()

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
    """Choose what is to be chosen, climb from random starts, and return the best end."""
    counts, complaints = counted_pairs(table)
    # Pairs that no row shows together do no harm here.
    check_seen_together(counts.domain, np.ones(len(counts.tables)))
    forest = strongest_forest(information(counts)) if options.forest else None
    forest = forest if forest is not None and forest.has_edges else None
    chosen = FitRecord(smoothing=options.smoothing or 0.0)
    if isinstance(options, _OpenRank) or options.smoothing is None:
        rank, chosen = _choose(counts, forest, rank, options, context)
    objective = _objective(counts, forest, chosen.smoothing)
    runs = [_climb(objective, rank, number, options, context) for number in range(1 if rank == 1 else options.n_init)]
    best = max(runs, key=lambda run: run.point.objective)
    record = replace(
        chosen,
        trace=best.trace,
        stopped=str(best.stopped),
        n_iter=best.n_passes,
        starts=tuple(run.point.objective for run in runs),
    )
    # A run of pairs counts every row N/2 times over; complaints are about rows.
    in_rows = replace(best.point.counts, classes=2 / len(counts.domain) * best.point.counts.classes)
    point = replace(best.point, counts=in_rows)
    said = diagnose(replace(best, point=point), objective.total, counts.domain) if forest is None else ()
    return Solution((replace(best.point.parameters, forest=forest),), record, complaints + said)


def _objective(counts: PairCounts, forest: Forest | None, smoothing: float) -> Objective[Any]:
    pairs: Any = PairLikelihood.of(counts) if forest is None else ForestLikelihood.of(counts, forest)
    return Objective.of(pairs, pairs.stacking, smoothing)


def _climb(objective: Objective[Any], rank: int, number: int, options: PairEMOptions, context: Context) -> Run:
    """Climb from one start, drawn from the seed, the rank and its number."""

    def report(n_passes: int, log_likelihood: float) -> None:
        mean = log_likelihood / objective.total
        context.tell(rank, number + 1, options.n_init, n_passes, options.max_iter, objective=mean)

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
    """Choose smoothing, and rank if it is open, on counts that are held out; return the rank and what to record."""
    kept, held = thinned(counts, Stream.THINNED.generator(context.seed, len(counts.domain)))
    rough = replace(options, tol=max(options.tol, _ROUGH_TOL), max_iter=min(options.max_iter, _ROUGH_STEPS))
    fitted, scored = (partial(_objective, part, forest) for part in (kept, held))
    judge = scored(0.0)

    def score(rank: int, smoothing: float) -> tuple[float, int]:
        run = _climb(fitted(smoothing), rank, 0, rough, replace(context, stage="choosing"))
        found = run.point.parameters
        reached = judge.rows.expected(found.lam, found.stack).log_likelihood
        return reached / max(judge.total, 1.0), int(np.sum(~empty_classes(found, fitted(smoothing).total)))

    is_open = isinstance(options, _OpenRank)
    walk = Walk(score, None if is_open else rank, options.smoothing, _most_rank(counts, forest))
    found, smoothing = walk.run()
    paths: dict[str, Any] = {"rank_path": walk.rank_path(smoothing), "smoothing_path": walk.smoothing_path(found)}
    return found, FitRecord(smoothing=smoothing, chosen_by=CHOSEN_BY, **paths)


def _most_rank(counts: PairCounts, forest: Forest | None) -> int:
    """Return the largest rank to try, so that a forest's pair tables stay in memory."""
    if forest is None:
        return _MOST_RANK
    return int(np.clip(_MOST_CELLS // sum(counts.domain.cardinalities) ** 2, 1, _MOST_RANK))
