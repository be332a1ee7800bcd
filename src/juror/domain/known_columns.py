"""Which columns of a table a model knows: the others are left alone, unless one is probably misspelt."""

from __future__ import annotations

from collections.abc import Sequence

from juror.errors import DataError, misspelt, shortlist


def known_columns(variables: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the columns of a table that are variables, given the names of both.

    The others are left alone, so an identifier may stay beside its row. But a name that is probably a misspelling of a
    variable that the table lacks is refused, and so is a table that has no variable at all.

    >>> known_columns(["age", "sex"], ["id", "age"])
    ['age']
    """
    known = set(variables)
    absent = sorted(known.difference(names))
    for name in names:
        meant = None if name in known else misspelt(name, absent)
        if meant is not None:
            raise DataError(
                f"The data have a column {name!r} that the model does not know. Did you mean {meant!r}? Drop or rename "
                "it."
            )
    found = [name for name in names if name in known]
    if not found:
        raise DataError(
            f"The data have none of the model's columns {shortlist(variables)}. They have {shortlist(names)}."
        )
    return found
