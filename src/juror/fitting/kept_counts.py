"""The pair counts of the table that a model was fitted to, which the model keeps to say how many rows are behind it."""

from __future__ import annotations

import math

from juror.counts.counts import PairCounts
from juror.files import KINDS
from juror.rows.table import Table
from juror.solvers.solver import Statistic

# A model keeps no counts of more cells than this, 160 MB in memory, or of more pairs, which about 700 variables have:
# these take seconds to count and to load.
MOST_CELLS = 20_000_000
MOST_PAIRS = 250_000


def kept_counts(read: Table | Statistic, keep: bool) -> tuple[PairCounts | None, str]:
    """Return the pair counts of rows, or those that were fitted; if there are none, say why.

    Rows that are not in memory are passed over once more, unless the fit has counted their pairs already. Weighted rows
    have weighted counts.
    """
    if not keep:
        return None, "left out, as asked"
    sizes = read.domain.cardinalities
    n_pairs = math.comb(len(sizes), 2)
    if n_pairs > MOST_PAIRS:
        return None, f"left out, as {n_pairs:,} pairs are more than the {MOST_PAIRS:,} that a model keeps"
    n_cells = (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2
    if n_cells > MOST_CELLS:
        return None, f"left out, as {n_cells:,} cells are more than the {MOST_CELLS:,} that a model keeps"
    if isinstance(read, PairCounts):
        return read, ""
    if isinstance(read, Statistic):
        return None, f"unknown, as the fit had {KINDS[type(read).__name__]} only"
    return PairCounts.of_rows(read), ""
