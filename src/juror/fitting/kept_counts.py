"""The pair counts of the table that a model was fitted to, which the model keeps to say how many rows are behind it."""

from __future__ import annotations

from itertools import combinations

from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.files import KINDS
from juror.rows.table import Table
from juror.solvers.solver import Statistic

# Beyond this many cells of all pair tables, 160 MB in memory, a model keeps no counts.
MOST_CELLS = 20_000_000


def kept_counts(read: Table | Statistic, keep: bool) -> tuple[PairCounts | None, str]:
    """Return the pair counts of rows, or those that were fitted; if there are none, say why.

    Rows that are not in memory are passed over once more, unless the fit has counted their pairs already. Weighted rows
    have weighted counts.
    """
    if not keep:
        return None, "left out, as asked"
    n_cells = _n_cells(read.domain)
    if n_cells > MOST_CELLS:
        return None, f"left out, as {n_cells:,} cells are more than the {MOST_CELLS:,} that a model keeps"
    if isinstance(read, PairCounts):
        return read, ""
    if isinstance(read, Statistic):
        return None, f"unknown, as the fit had {KINDS[type(read).__name__]} only"
    return PairCounts.of_rows(read), ""


def _n_cells(domain: Domain) -> int:
    """Return how many cells the tables of all pairs have."""
    return sum(one * other for one, other in combinations(domain.cardinalities, 2))
