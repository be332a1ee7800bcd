"""``method="tree"``: one class along the strongest forest, in closed form from counts of pairs.

    p(x) = Π_n T_n[x_pa(n), x_n],     T_n[i, x] = (n_{pa(n), n}[i, x] + α I_n m_n[x]) / (Σ_x n_{pa(n), n}[i, x] + α I_n)

where α is the smoothing, m_n the variable's marginal, and a variable without a parent has its one-way counts, the mean
over its pairs. Every pair is counted over the rows that show both variables. Edges are those of
:mod:`juror.solvers.chow_liu`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.errors import ParameterError
from juror.record import FitRecord
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.chow_liu import SMOOTHING, edge_counts, edge_gains, strongest_forest
from juror.solvers.counted_pairs import counted_pairs
from juror.solvers.solver import Context, Options, Solution
from juror.solvers.stopping import Stop, Stopped


@dataclass(frozen=True)
class TreeOptions(Options):
    """What may be set about a tree."""

    smoothing: float = SMOOTHING


def solve(
    table: Table | PairCounts | Projections,
    rank: int,
    options: TreeOptions,
    context: Context,
    start: Parameters | None = None,
) -> Solution:
    """Find the strongest forest, and count along it."""
    if rank != 1:
        raise ParameterError(
            "method 'tree' has one class, so {rank} must be 1 or 'auto'. Got {got} instead. For classes along a forest "
            "use {method:='pair-em'} with {forests:=1}.",
            got=rank,
        )
    counts, complaints = counted_pairs(table)
    found = edge_gains(counts)
    forest = strongest_forest(found)
    once = one_way(counts)
    if len(counts.domain) == 1 and not isinstance(table, (PairCounts, Projections)):
        # One variable has no pairs. More have the tree of their pair counts, from rows too.
        once = table.label_counts
    value = float(sum(found[edge] for edge in forest.edges))
    context.tell(1, 1, 1, 1, 1, objective=value)
    record = FitRecord(trace=(value,), stopped=str(Stopped(Stop.CLOSED_FORM)), n_iter=1, starts=(value,))
    return Solution((along(forest, counts, once, options.smoothing),), record, complaints)


def one_way(counts: PairCounts) -> np.ndarray:
    """Return the mean count of every label over the pairs of its variable, (stacked rows, 1)."""
    stacking = Stacking(counts.domain.cardinalities)
    found = np.zeros((stacking.n_rows, 1))
    for (j, k), table in zip(counts.groups, counts.tables, strict=True):
        found[stacking.rows(j), 0] += table.sum(axis=1)
        found[stacking.rows(k), 0] += table.sum(axis=0)
    return found / max(1, len(counts.domain) - 1)


def along(forest: Forest, counts: PairCounts, once: np.ndarray, smoothing: float) -> Parameters:
    """Return the class whose tables are counts along a forest; one-way counts are stacked, (stacked rows, 1)."""
    apart, stacking = Stacking(counts.domain.cardinalities), Stacking(counts.domain.cardinalities, forest)
    marginals = apart.unstack(apart.marginals(once))
    joint = joint_counts(forest, counts, once)
    repeats = (height // size for height, size in zip(stacking.heights, stacking.cardinalities, strict=True))
    otherwise = stacking.stack([np.tile(m, (n, 1)) for m, n in zip(marginals, repeats, strict=True)])
    stack = stacking.normalise(joint + stacking.pseudo_counts(smoothing, otherwise), otherwise)
    return Parameters(np.ones(1), stack, forest if forest.has_edges else None)


def joint_counts(forest: Forest, counts: PairCounts, once: np.ndarray) -> np.ndarray:
    """Return the counts of variables joined with their parents, stacked, (stacked rows of the forest, 1)."""
    apart, stacking = Stacking(counts.domain.cardinalities), Stacking(counts.domain.cardinalities, forest)
    of_edge = edge_counts(counts, forest.edges)
    found = np.zeros((stacking.n_rows, 1))
    for n, parent in enumerate(forest.parents):
        found[stacking.rows(n), 0] = once[apart.rows(n), 0] if parent == NO_PARENT else of_edge[parent, n].ravel()
    return found


def most_rank(domain: Domain, options: TreeOptions) -> int:
    """Return one, the only rank of a tree."""
    return 1
