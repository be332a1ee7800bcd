"""Pair counts of a growing number of batches; new labels are added when they first occur."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from juror.counts.counts import PairCounts, TripleCounts
from juror.domain.discovery import Discovery
from juror.domain.uniting import united_variable
from juror.domain.variable import Label, Variable
from juror.errors import DataError, Option, ParameterError, check_count, shortlist
from juror.fitting.plan import check_method
from juror.readers import Column
from juror.readers.exact_numbers import plain
from juror.readers.tallies import Tally
from juror.readers.weights import read_weights
from juror.solvers.methods import METHODS


def check_fits_counts(method: str, rank: int | str) -> None:
    """Refuse a method or a rank that needs more than pair counts."""
    check_method(method)
    able = [name for name, known in METHODS.items() if PairCounts in known.accepts]
    if method not in ("auto", *able):
        by_triples = TripleCounts in METHODS[method].accepts
        needed = "those of triples" if by_triples else "rows"
        other = "add up juror.TripleCounts for juror.fit" if by_triples else "juror.fit, which reads files of any size"
        raise ParameterError(
            f"partial_fit keeps counts of pairs, and method {method!r} needs {needed}. Use one of {shortlist(able)}, "
            f"or {other}."
        )
    if rank == "auto" and (method == "auto" or METHODS[method].open_rank is not None):
        return
    if rank in ("auto", "cv"):
        raise ParameterError(
            "{given} needs rows to hold out, and partial_fit keeps counts of pairs only. Pass a number.",
            given=Option("rank", (rank,), f"={rank!r}"),
        )
    check_count("rank", rank)


def grown_by(
    counts: PairCounts | None,
    columns: Sequence[Column],
    missing: Collection[Label],
    sample_weight: Any,
    n_jobs: int | None,
) -> PairCounts:
    """Return the counts of earlier batches, if any, plus those of a batch with the same columns in the same order."""
    if len(columns) < 2:
        raise DataError("partial_fit counts pairs of columns, and there is 1 column. Use fit.")
    weights = None if sample_weight is None else read_weights(sample_weight, len(columns[0].index))
    if counts is None:
        return PairCounts.of(columns, missing=missing, sample_weight=weights, n_jobs=n_jobs)
    both = zip(counts.domain, columns, strict=True)
    domain = replace(counts.domain, variables=tuple(_grown(v, Tally.of(column, weights)) for v, column in both))
    return counts + PairCounts.of(columns, domain, sample_weight=weights, n_jobs=n_jobs)


def _grown(variable: Variable, batch: Tally) -> Variable:
    """Return a variable with the new labels of a batch; the intervals of a binned variable do not change."""
    if batch.infinite is not None:
        value, row = batch.infinite
        raise DataError(
            f"Column {batch.name!r} holds {value} in {row} of this batch; numbers must be finite. Replace it."
        )
    if variable.edges is not None and batch.form == "number":
        return variable
    # Declared categories are kept even if no row has them, as in the first batch.
    held = [v for v, n in zip(_as_labels(batch.values), batch.counts, strict=True) if n > 0 or batch.form == "category"]
    _check_type(variable, held)
    new = [label for label in held if variable.find(label) is None]
    if not new:
        return variable
    if variable.kind == "ordinal" and isinstance(new[0], str):
        raise DataError(
            f"Column {batch.name!r} has the ordered labels {shortlist(variable.labels)}, and this batch holds "
            f"{shortlist(new)} besides. Declare all of them, in their order, from the first batch on."
        )
    grown, most = united_variable(variable, replace(variable, labels=tuple(new))), Discovery().max_levels
    if grown.cardinality > most:
        raise DataError(
            f"Column {batch.name!r} has {grown.cardinality} distinct labels with this batch, more than {most}. Drop it "
            "if it is an identifier, group its labels, or cut its numbers into intervals."
        )
    return grown


def _check_type(variable: Variable, held: Sequence[Label]) -> None:
    """Refuse labels of a type that the variable does not have."""
    known = {"numbers"} if variable.edges is not None else {_type_of(label) for label in variable.labels}
    strange = {_type_of(label) for label in held} - known
    if strange:
        raise DataError(
            f"Column {variable.name!r} holds {' and '.join(sorted(strange))} in this batch and "
            f"{' and '.join(sorted(known))} in those before. Convert it to one type."
        )


def _type_of(label: Label) -> str:
    if isinstance(label, str):
        return "text"
    return "booleans" if isinstance(label, bool) else "numbers"


def _as_labels(values: Any) -> list[Any]:
    """Return Python values; whole numbers become int, like the labels of a variable."""
    return [int(value) if isinstance(value, float) and value.is_integer() else value for value in map(plain, values)]
