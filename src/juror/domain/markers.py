"""The markers of missing cells of two domains together."""

from __future__ import annotations

from collections.abc import Sequence

from juror.domain.variable import Label, Variable
from juror.errors import DataError
from juror.readers.columns import as_text, without_marked


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
