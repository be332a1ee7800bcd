"""``method="spa-em"``: EM from the factors that SPA finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from juror.counts.counts import PairCounts
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers import spa
from juror.solvers.ascent import Objective
from juror.solvers.em import AscentOptions, climb, mixed_with_marginals
from juror.solvers.pair_tables import PairTables
from juror.solvers.solver import Context, Solution


@dataclass(frozen=True)
class SPAEMOptions(AscentOptions):
    """What may be set about EM after SPA."""

    split: Sequence[str] | None = None


def solve(
    table: Table, rank: int, options: SPAEMOptions, context: Context, start: Parameters | None = None
) -> Solution:
    """Climb from SPA's factors."""
    objective = Objective.of(table, Stacking(table.domain.cardinalities), options.smoothing)
    split = spa.read_split(table.domain, options.split)
    spa.check_rank(rank, table.domain, split)
    lam, factors = spa.factorise(PairTables.of(PairCounts.of_rows(table)), rank, split)
    first = mixed_with_marginals(Parameters.of(lam, factors, objective.stacking), objective.marginals)
    best = climb(objective, table, [first], options, context)
    return replace(best, complaints=spa.fewer(rank, len(lam)) + best.complaints)
