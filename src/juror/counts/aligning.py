"""Counts of the same variables in another order, or over the same labels in another order."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.domain.variable import Variable
from juror.errors import DataError, did_you_mean, shortlist


def aligned(counts: PairCounts, domain: Domain) -> PairCounts:
    """Return pair counts over the labels of a domain, of the variables that were counted, in the order of the domain.

    Labels that were not counted have zero rows. A label that only the counts have is dropped if no row shows it.

    >>> counts = PairCounts.of({"b": ["x", "y"], "a": ["u", "v"]})
    >>> levels = {"a": ["v", "u", "w"], "b": ["y", "x"], "c": [0]}
    >>> there = aligned(counts, Domain.infer({"a": ["u"], "b": ["x"], "c": [0]}, levels=levels))
    >>> there.domain.names, there.tables[0].tolist()
    (('a', 'b'), [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    """
    if counts.domain == domain:
        return counts
    for name in counts.domain.names:
        if name not in domain:
            raise DataError(
                f"The counts have a variable {name!r} that the model does not know. {did_you_mean(name, domain.names)} "
                "Count the rows without it."
            )
    kept = Domain(tuple(variable for variable in domain if variable.name in counts.domain), domain.missing)
    places = [counts.domain.position(name) for name in kept.names]
    moves = [_move(counts, place, variable) for place, variable in zip(places, kept, strict=True)]
    pairs = tuple(combinations(range(len(places)), 2))
    tables = tuple(moves[one].T @ counts.pair(places[one], places[other]) @ moves[other] for one, other in pairs)
    alone = counts.singles
    singles = None if alone is None else tuple(alone[place] @ move for place, move in zip(places, moves, strict=True))
    return PairCounts(kept, pairs, tables, counts.n_rows, singles)


def _move(counts: PairCounts, place: int, variable: Variable) -> np.ndarray:
    """Return which label of a counted variable is which of the model's, a matrix of zeros and ones (labels, labels)."""
    counted = counts.domain[place]
    if counted.edges != variable.edges:
        raise DataError(
            f"The counts have the intervals {shortlist(counted.labels)} of {counted.name!r}, and the model has others, "
            f"{shortlist(variable.labels)}. Count the rows with the model's domain, or check the rows themselves."
        )
    codes = [variable.find(label) for label in counted.labels]
    if variable.edges is not None:
        # The same intervals may be written differently, but not the label of missing cells.
        n_intervals = len(counted.present_labels)
        of_missing = [code if code == variable.missing_code else None for code in codes[n_intervals:]]
        codes = [*range(n_intervals), *of_missing]
    move = np.zeros((counted.cardinality, variable.cardinality))
    for label, code in enumerate(codes):
        if code is not None:
            move[label, code] = 1.0
        elif _n_rows(counts, place, label) > 0:
            raise DataError(
                f"The counts have rows with the label {counted.labels[label]!r} of {counted.name!r}, which is not "
                f"among the model's labels {shortlist(variable.labels)}. Count the rows with the model's domain."
            )
    return move


def _n_rows(counts: PairCounts, place: int, label: int) -> float:
    """Return how often a label was counted, alone or at least in pairs."""
    if counts.singles is not None:
        return float(counts.singles[place][label])
    others = [other for other in range(len(counts.domain)) if other != place]
    return max(float(counts.pair(place, other)[label].sum()) for other in others)
