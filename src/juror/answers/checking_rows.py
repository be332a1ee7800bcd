"""Hold a model against rows or counts that may lack some of its variables: those that are there are checked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from juror.answers.block import Mixture
from juror.answers.checking import CheckTable, check
from juror.answers.restricting import restricted
from juror.counts.aligning import aligned
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.domain.variable import Unknown
from juror.errors import DataError, shortlist
from juror.rows.reading import open_table
from juror.runners.local import LocalRunner


def check_counts(model: Mixture, counts: PairCounts) -> CheckTable:
    """Compare a model with counts of some of its variables, in any order; the table names the others."""
    there = aligned(counts, model.domain)
    absent = tuple(name for name in model.domain.names if name not in there.domain)
    if len(there.domain) < 2:
        raise DataError(
            f"A check needs two variables, and there are only {shortlist(there.domain.names)} of the model's "
            f"{shortlist(model.domain.names)}. Add columns."
        )
    if absent:
        model = restricted(model, [model.domain.position(name) for name in there.domain.names])
    return replace(check(model, there), absent=absent)


def check_rows(model: Mixture, data: Any, unknown: Unknown, sample_weight: Any) -> CheckTable:
    """Compare a model with rows, of which only the columns that are there are counted."""
    with LocalRunner() as local:
        opened = open_table(data, model.domain, (), unknown, sample_weight, local, choose=model.domain.known)
        there = tuple(variable for variable in model.domain if variable.name in opened.scan.names)
        return check_counts(model, PairCounts.of_table(replace(opened, domain=Domain(there, model.domain.missing))))
