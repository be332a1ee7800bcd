"""Variables and markers of two parts of a table together, so that counts of both can be added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from juror.domain.variable import Label, Variable
from juror.errors import DataError, shortlist
from juror.readers.columns import as_text, united, without_marked


def united_variable(one: Variable, other: Variable) -> Variable:
    """Return the variable with the labels of two, which must be of one kind and, if binned, have the same edges."""
    if one == other:
        return one
    if one.missing_label != other.missing_label:
        raise DataError(
            f"Missing cells of variable {one.name!r} are {_missing_in_words(one)} here and "
            f"{_missing_in_words(other)} there. Count both with the same domain."
        )
    same = one.edges == other.edges and one.open_ended == other.open_ended and one.calendar == other.calendar
    if one.edges is not None and same:
        # each part of a table has its own law of the same numbers; either will do, as far apart as both are
        return one if one.law is None or other.law is None else replace(one, law=one.law.united(other.law))
    if one.kind != other.kind or one.edges is not None or _type_of(one) != _type_of(other):
        here, there = _described(one, other), _described(other, one)
        raise DataError(
            "Variable {name!r} is {here} here and {there} there. Count both with the same {domain:=}, such as "
            "that of the other counts.",
            name=one.name,
            here=here,
            there=there,
        )
    # rising numbers have a natural order; named levels must have the same order in both
    mine, theirs = one.present_labels, other.present_labels
    rising = _type_of(one) is not str and all(list(labels) == sorted(labels) for labels in (mine, theirs))
    named = one.kind == "ordinal" and not rising
    both = tuple(united(one.name, mine, theirs, ordered=named))
    return replace(one, labels=both + one.labels[len(mine) :])


def _type_of(variable: Variable) -> type | None:
    """Return the common type of all labels: text, number or boolean; None if there is none."""
    kinds = {float if type(label) is int else type(label) for label in variable.present_labels}
    return kinds.pop() if len(kinds) == 1 else None


def _missing_in_words(variable: Variable) -> str:
    return "summed out" if variable.missing_label is None else f"the label {variable.missing_label!r}"


def _described(variable: Variable, other: Variable) -> str:
    """Describe a variable; of the edges of intervals name only those that the other lacks."""
    if variable.edges is None:
        return f"{variable.kind} with labels {shortlist(variable.labels, 4)}"
    own = [edge for edge in variable.edges if edge not in (other.edges or ())]
    return f"cut at {shortlist(own or variable.edges, 4)}"


def united_markers(
    one: tuple[Label, ...], other: tuple[Label, ...], variables: Sequence[Variable]
) -> tuple[Label, ...]:
    """Return the markers of two domains; refuse a marker that is a label of one of the variables, united from both."""
    markers = {as_text(marker): marker for marker in (*other, *one)}
    for variable in variables:
        labels = variable.present_labels if variable.edges is None else ()
        are_free = without_marked(labels, markers.values())
        clash = [label for label, is_free in zip(labels, are_free, strict=True) if not is_free]
        if clash:
            raise DataError(
                "Variable {name!r} has the label {label!r} on one side, which is a marker for missing on the "
                "other. Count both with the same {missing:=}.",
                name=variable.name,
                label=clash[0],
            )
    return one if set(one) == set(other) else tuple(markers[text] for text in sorted(markers))
