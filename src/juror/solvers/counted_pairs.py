"""Pair counts, from whatever a method that knows only pairs is given: rows, counts, or histograms of projections."""

from __future__ import annotations

from juror.counts.counts import PairCounts
from juror.counts.groups import check_seen_together
from juror.counts.projections import Projections
from juror.errors import Complaint
from juror.rows.table import Table
from juror.solvers.juror import rank_deficient, unexplained
from juror.solvers.juror_stages import invert
from juror.solvers.misfit import misfit_of


def counted_pairs(data: Table | PairCounts | Projections) -> tuple[PairCounts, tuple[Complaint, ...]]:
    """Return the counts of pairs, and complaints about what projections do not show.

    The tables behind projections are those of least squares, with negative cells at zero, times the rows of the pair.
    """
    if isinstance(data, PairCounts):
        return data, ()
    if not isinstance(data, Projections):
        return PairCounts.of_rows(data), ()
    check_seen_together(data.domain, data.totals)
    misfit = misfit_of(data, data.totals / data.totals.mean(), "gram")
    found = invert(misfit, data.domain, data.totals / data.totals.mean(), "lstsq", "")
    tables = tuple(total * table for total, table in zip(data.totals, found.tables, strict=True))
    counts = PairCounts(data.domain, tuple(found.pairs), tables)
    return counts, rank_deficient(data.operators) + unexplained(misfit)
