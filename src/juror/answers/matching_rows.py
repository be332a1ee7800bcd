"""Count the rows of a table, of any size, that meet the conditions of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from juror.answers.marginals import ProbabilityTable
from juror.answers.number_summary import summary_of_tally
from juror.answers.support import SupportTable, is_countable
from juror.domain import Domain
from juror.domain.conditions import Conditions
from juror.domain.evidence import Evidence
from juror.domain.variable import Strangers, Unknown
from juror.errors import DataError, QueryError, shortlist
from juror.readers.columns import MISSING, Column
from juror.readers.scans import Part
from juror.readers.tallies import Tally
from juror.readers.weights import WeightSums, counted_rows
from juror.rows.reading import open_table
from juror.runners.local import LocalRunner, check_any_rows


@dataclass(frozen=True)
class _Matched:
    """What is known of some rows: how many match in each cell, how many may match, and how many there are.

    ``matching`` are the weights of the rows that match, ``weights`` those of all rows. ``numbers`` are the values of
    the only variable that is asked for, in the rows that match, if it is cut into intervals.
    """

    counts: np.ndarray
    n_possible: float
    strangers: Strangers
    n_rows: int
    matching: WeightSums
    weights: WeightSums
    numbers: Tally | None = None

    def __add__(self, other: _Matched) -> _Matched:
        return _Matched(
            self.counts + other.counts,
            self.n_possible + other.n_possible,
            self.strangers + other.strangers,
            self.n_rows + other.n_rows,
            self.matching + other.matching,
            self.weights + other.weights,
            self.numbers + other.numbers if self.numbers and other.numbers else self.numbers or other.numbers,
        )


@dataclass(frozen=True)
class _Count:
    """How a part of a table is counted: the variables of the question, those asked for, and the conditions."""

    domain: Domain
    targets: tuple[int, ...]
    evidence: Evidence
    unknown: Unknown
    weight: str | None

    def of_part(self, part: Part) -> _Matched:
        names = (*self.domain.names, *([] if self.weight is None else [self.weight]))
        shape = [self.domain.cardinalities[n] for n in self.targets]
        matched = _Matched(np.zeros(shape), 0.0, Strangers(), 0, WeightSums(), WeightSums())
        for columns in part.chunks(names):
            kept, weights, _ = counted_rows(columns, self.weight)
            codes, strangers = self.domain.encode_chunk(kept, self.unknown)
            weights = np.ones(len(codes)) if weights is None else weights
            matched += self._matched(codes, weights, strangers, len(columns[0].index), self._asked(kept))
        return matched

    def _matched(
        self, codes: np.ndarray, weights: np.ndarray, strangers: Strangers, n_rows: int, asked: Column | None
    ) -> _Matched:
        may_match = np.ones(len(codes), dtype=bool)
        for n, wanted in self.evidence.items():
            # Code −1 selects the last entry: a missing cell contradicts nothing.
            may_match &= np.append(wanted > 0, True)[codes[:, n]]
        matches = may_match & np.all(codes >= 0, axis=1)
        shape = [self.domain.cardinalities[n] for n in self.targets]
        cells = np.ravel_multi_index(tuple(codes[matches, n].astype(np.int64) for n in self.targets), shape)
        counts = np.bincount(cells, weights[matches], minlength=int(np.prod(shape))).reshape(shape)
        return _Matched(
            counts,
            float(weights[may_match].sum()),
            strangers,
            n_rows,
            WeightSums.of(weights[matches]),
            WeightSums.of(weights),
            None if asked is None else _tally(asked, matches, weights),
        )

    def _asked(self, columns: Sequence[Column]) -> Column | None:
        """Return the only column that is asked for, if it is cut into intervals."""
        first = self.domain[self.targets[0]]
        if len(self.targets) > 1 or first.edges is None:
            return None
        return next((column for column in columns if column.name == first.name and column.form == "number"), None)


def _tally(column: Column, matches: np.ndarray, weights: np.ndarray) -> Tally:
    return Tally.of(replace(column, index=np.where(matches, column.index, MISSING)), weights)


def _among(domain: Domain, names: Sequence[str]) -> Sequence[str]:
    """Return the variables among the columns of a table; all columns if it has none of them, which is refused later."""
    return [name for name in names if name in domain] or names


def matching_support(
    table: ProbabilityTable,
    domain: Domain,
    targets: Sequence[int],
    evidence: Evidence,
    conditions: Conditions,
    data: Any,
    unknown: Unknown,
    sample_weight: Any,
) -> SupportTable:
    """Count the rows of data that meet the conditions of the question and of the model.

    Only their columns are read. Targets and evidence are about the domain of the model, its conditions about the domain
    that it had before.
    """
    if not is_countable(evidence):
        raise QueryError("Rows have labels, and no likelihoods to count by. Leave out data, or the soft evidence.")
    if not is_countable(conditions.evidence):
        raise QueryError(
            "The model is conditioned on likelihoods, {on}, and rows have none to be counted by. Leave out {data}.",
            on=str(conditions),
        )
    targets, evidence = conditions.places(domain, targets), conditions.also(domain, evidence).evidence
    domain = conditions.domain
    involved = sorted({*targets, *evidence})
    asked = domain.without(set(range(len(domain))) - set(involved))
    places = {n: place for place, n in enumerate(involved)}
    with LocalRunner() as local:
        # The whole domain says how columns are read, and names those of an array.
        opened = open_table(data, domain, (), unknown, sample_weight, local, choose=partial(_among, domain))
        absent = [name for name in asked.names if name not in opened.scan.names]
        if absent:
            why = f", as the model is conditioned on {conditions}" if conditions.evidence else ""
            what = f"The data have no columns {shortlist(absent)}, which the question is about"
            raise DataError(f"{what}{why}. Add them.")
        known = {places[n]: wanted for n, wanted in evidence.items()}
        count = _Count(asked, tuple(places[n] for n in targets), known, unknown, opened.weight)
        of_part = partial(_Count.of_part, count)
        matched: _Matched = opened.runner.map_reduce(of_part, opened.scan.parts, _Matched.__add__)
    check_any_rows(matched.n_rows)
    if opened.weight is not None:
        matched.weights.check()
    matched.strangers.warn()
    # Weights are counts only if those of all rows are.
    worth = 1.0 if matched.weights.are_whole else matched.matching.worth
    numbers = matched.numbers
    exact = None if numbers is None else summary_of_tally(table.variables[0], numbers, matched.matching.total)
    return SupportTable(table, matched.counts, matched.n_possible, worth, exact)
