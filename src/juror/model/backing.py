"""The rows behind an answer of a model: those that are given, or the counts of the table that it was fitted to."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from juror.answers.checking import worth_of_rows
from juror.answers.marginals import ProbabilityTable
from juror.answers.support import counted_support
from juror.domain import Domain
from juror.domain.conditions import Conditions
from juror.domain.variable import Unknown
from juror.errors import ModelError, Option, ParameterError, QueryError
from juror.model.asking import Asked
from juror.record import FitRecord

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts


def backed_by_rows(
    table: ProbabilityTable,
    asked: Asked,
    conditions: Conditions | None,
    data: Any,
    sample_weight: Any,
    unknown: Unknown,
) -> ProbabilityTable:
    """Return an answer with its support in rows of data, which must meet the conditions of the model."""
    from juror.answers.matching_rows import matching_support  # imports readers, which are slow to import

    domain = asked.model.domain
    conditions = Conditions(domain, {}) if conditions is None else conditions.divided(domain)
    support = matching_support(table, domain, asked.targets, asked.evidence, conditions, data, unknown, sample_weight)
    return table.with_support(support)


def backed_by_counts(
    table: ProbabilityTable, asked: Asked, counts: PairCounts | None, info: FitRecord | None
) -> ProbabilityTable:
    """Return an answer with its support in the counts of a model, if these say something about it.

    Counts know intervals, and nothing about their parts.
    """
    involved = {*asked.targets, *asked.evidence}
    if counts is None or any(asked.model.domain[n] != counts.domain[n] for n in involved):
        return table
    worth = worth_of_rows(info)
    return table.with_support(counted_support(table, counts, asked.targets, asked.evidence, worth))


def rows_that_show(variables: Iterable[int], counts: PairCounts | None, info: FitRecord | None) -> float:
    """Return about how many rows of a fit have the cells of some variables, by the sum of their weights.

    Without counts no cell is taken to be missing, and with them cells to be missing independently of each other.
    """
    if info is None:
        return 0.0
    if counts is None or counts.singles is None or not counts.n_rows:
        return info.n_rows
    shares = [float(counts.singles[n].sum()) / counts.n_rows for n in variables]
    return info.n_rows * math.prod(shares)


def refuse_rows(conditions: Conditions | None, way_out: str) -> None:
    """Refuse rows to compare a conditioned model with, if nothing chooses those that meet its conditions."""
    if conditions is not None:
        raise QueryError(
            f"The model is conditioned on {conditions}, and a comparison with data cannot choose the rows that meet "
            f"this. {way_out}"
        )


def refuse_without_rows(sample_weight: Any, unknown: Unknown) -> None:
    """Refuse options about rows if there are none."""
    if sample_weight is not None or unknown != "error":
        name = "unknown" if sample_weight is None else "sample_weight"
        raise ParameterError("{option} is about {data}, and there are none.", option=Option(name))


def check_conditions(conditions: Conditions | None, domain: Domain) -> Conditions | None:
    """Return conditions, unless the variables of the model are not among those before the conditions."""
    if conditions is not None and not all(v in conditions.domain.variables for v in domain):
        raise ModelError("The conditions are on another domain. It must have all variables of the model.")
    return conditions


def check_counts(counts: PairCounts | None, domain: Domain) -> PairCounts | None:
    """Return counts, unless they are of other variables or labels than those of the model."""
    if counts is not None and counts.domain != domain:
        raise ModelError("The counts are of other variables or labels than the model. They must have the same domain.")
    return counts
