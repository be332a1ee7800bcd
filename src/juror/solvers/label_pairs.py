"""Which pairs of variables say more of a label together than both alone: the forest of a tilt's pairs.

What a pair says together is its interaction information with the label, I(a; b | y) − I(a; b), as both are gained for
rows that are left out (:mod:`juror.solvers.chow_liu`). It is above zero where the label follows from both as from
neither, and below where both say the same of it.
"""

from __future__ import annotations

import numpy as np

from juror.counts.counts import PairCounts
from juror.rows.distinct import WeightedRows
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.in_memory import MemoryTable
from juror.solvers.chow_liu import edge_gains, perturbed, strongest_forest

# The most cells of a pair, so that steps stay fast and cells have rows
_MOST_CELLS = 256
# How much the random factors of gains vary between members
_NOISE = 0.3


def pair_gains(table: MemoryTable, target: int) -> np.ndarray:
    """Return what every two variables say of a label beyond what both say alone, (N, N), in nats a labelled row.

    The target is not among the N variables. Pairs of too many cells gain nothing.
    """
    rows, domain = table.rows, table.domain.without([target])
    labels, others = rows.codes[:, target], np.delete(rows.codes, target, axis=1)

    def gains(chosen: np.ndarray) -> np.ndarray:
        some = WeightedRows.of(np.asfortranarray(others[chosen]), rows.weights[chosen])
        return rows.weights[chosen].sum() * edge_gains(PairCounts.of_rows(MemoryTable(some, domain, table.runner)))

    known = labels >= 0
    within = sum(gains(labels == label) for label in np.unique(labels[known]))
    sizes = np.asarray(domain.cardinalities)
    return np.where(np.outer(sizes, sizes) > _MOST_CELLS, 0.0, (within - gains(known)) / rows.weights[known].sum())


def forest_of_pairs(gains: np.ndarray, along: Forest | None, rng: np.random.Generator | None) -> Forest | None:
    """Return the forest of pairs that gain, among the edges of a model's forest if it has some; None if there are none.

    A generator draws random factors of gains, so that members differ.

    >>> gains = np.array([[0, 3, 2], [3, 0, -1], [2, -1, 0]])
    >>> forest_of_pairs(gains, None, None).edges, forest_of_pairs(gains, Forest((-1, 0, 1)), None).edges
    (((0, 1), (0, 2)), ((0, 1),))
    """
    if along is not None and along.has_edges:
        gaining = [
            parent if parent != NO_PARENT and gains[parent, child] > 0 else NO_PARENT
            for child, parent in enumerate(along.parents)
        ]
        forest = Forest(tuple(gaining))
    else:
        forest = strongest_forest(gains if rng is None else perturbed(gains, _NOISE, rng))
    return forest if forest.has_edges else None
