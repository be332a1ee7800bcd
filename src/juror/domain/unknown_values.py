"""What to say of a value that a variable does not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from juror.errors import DataError, QueryError, did_you_mean, shortlist
from juror.printing import shortened
from juror.readers.columns import Column
from juror.readers.commas import way_out_of_commas
from juror.readers.exact_numbers import Number, plain

if TYPE_CHECKING:
    from juror.domain.variable import Label, Variable


def no_label(variable: Variable, value: object) -> QueryError:
    """Return the error for a question about a value that is neither a label nor in an interval."""
    if variable.calendar is not None and variable.number(value) is None:
        hint = variable.calendar.fault(value)
    elif variable.edges is not None:
        edges = variable.edges if variable.calendar is None else [_edge(variable, edge) for edge in variable.edges]
        hint = f"Its edges are {shortlist(edges)}."
    else:
        hint = did_you_mean(value, _shown(variable.labels))
    return QueryError(f"Variable {variable.name!r} has no label {value!r}. {hint}")


def no_bound(variable: Variable, value: object) -> QueryError:
    """Return the error for a range of a binned variable that ends at neither a number nor an interval."""
    if variable.calendar is None:
        return QueryError(f"{value!r} is neither a number nor an interval of {variable.name!r}.")
    hint = variable.calendar.fault(value)
    return QueryError(f"{value!r} is neither a date nor an interval of {variable.name!r}. {hint}")


def unknown_cell(variable: Variable, column: Column, row: int) -> DataError:
    """Return the error for a row of a column that holds a value the variable does not have."""
    value = plain(column.values[column.index[row]])
    written = repr(value) if column.calendar is None else column.calendar.text(value)
    held = f"Column {column.name!r} holds {written} in {column.row_in_words(row)}"
    of_commas = way_out_of_commas([value]) if variable.edges is not None else None
    if of_commas is not None:
        return DataError("{held}. {way_out}", held=held, way_out=of_commas)
    what, way_out = _what_is_wrong(variable, column, value)
    return DataError(
        '{held}{what}. Pass {unknown:="missing"} to treat it as missing{way_out}.',
        held=held,
        what=what,
        way_out=way_out,
    )


def _what_is_wrong(variable: Variable, column: Column, value: Any) -> tuple[str, str]:
    """Return what is wrong with a value, and another way out than to treat it as missing, if there is one."""
    number = None
    if column.form == "number" or variable.edges is not None:
        number = value if column.form == "number" else variable.number(value)
    if number is not None and abs(number) == math.inf:
        return "; numbers must be finite", ", or replace it"
    if variable.edges is not None and number is not None:
        low, high = (_edge(variable, edge) for edge in (variable.edges[0], variable.edges[-1]))
        return f", which is outside its edges {low} to {high}", ", or fit with wider edges"
    if variable.edges is not None:
        kind = "number" if variable.calendar is None else "date"
        return f", which is neither a {kind} nor one of its intervals {shortlist(variable.present_labels)}", ""
    if column.form == "code":
        return f", which is not a code in the range [0, {variable.cardinality - 1}]", ""
    return f", which is not among its {variable.cardinality} labels {shortlist(_shown(variable.labels))}", ""


def _edge(variable: Variable, edge: Number) -> str:
    return f"{edge:g}" if variable.calendar is None else variable.calendar.text(int(edge))


def _shown(labels: Sequence[Label]) -> list[Label]:
    """Return labels as messages show them: of long text, the beginning."""
    return [shortened(label) if isinstance(label, str) else label for label in labels]
