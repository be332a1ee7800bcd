"""Hold a model against rows or counts that may lack some of its variables: those that are there are checked."""

from __future__ import annotations

from dataclasses import replace
from functools import partial, reduce
from typing import Any

from juror.answers.block import Mixture
from juror.answers.checking import CheckTable, check
from juror.answers.restricting import restricted
from juror.counts.aligning import aligned
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.domain.variable import Unknown
from juror.errors import DataError, shortlist
from juror.readers.scans import Part
from juror.readers.weights import WeightSums, counted_rows
from juror.rows.reading import OpenTable, open_table
from juror.runners.local import LocalRunner


def check_counts(model: Mixture, counts: PairCounts, worth: float = 1.0) -> CheckTable:
    """Compare a model with counts of some of its variables, in any order; the table names the others.

    A weight of one in the counts is worth ``worth`` independent rows.
    """
    there = aligned(counts, model.domain)
    absent = tuple(name for name in model.domain.names if name not in there.domain)
    if len(there.domain) < 2:
        raise DataError(
            f"A check needs two variables, and there are only {shortlist(there.domain.names)} of the model's "
            f"{shortlist(model.domain.names)}. Add columns."
        )
    if absent:
        model = restricted(model, [model.domain.position(name) for name in there.domain.names])
    return replace(check(model, there, worth=worth), absent=absent)


def check_rows(model: Mixture, data: Any, unknown: Unknown, sample_weight: Any) -> CheckTable:
    """Compare a model with rows, of which only the columns that are there are counted."""
    with LocalRunner() as local:
        opened = open_table(data, model.domain, (), unknown, sample_weight, local, choose=model.domain.known)
        there = tuple(variable for variable in model.domain if variable.name in opened.scan.names)
        counts = PairCounts.of_table(replace(opened, domain=Domain(there, model.domain.missing)))
        return check_counts(model, counts, _worth_of_weights(opened))


def _worth_of_weights(opened: OpenTable) -> float:
    """Return how many independent rows a weight of one is worth."""
    if opened.weight is None:
        return 1.0
    # Weights are read beside another column.
    names = [next(name for name in opened.scan.names if name != opened.weight), opened.weight]
    of_part = partial(_weights_of_part, names)
    sums: WeightSums = opened.runner.map_reduce(of_part, opened.scan.parts, WeightSums.__add__)
    return sums.worth


def _weights_of_part(names: list[str], part: Part) -> WeightSums:
    weights = (counted_rows(columns, names[1])[1] for columns in part.chunks(names))
    return reduce(WeightSums.__add__, (WeightSums.of(each) for each in weights if each is not None), WeightSums())
