"""Warn of names of columns that were probably read wrongly from a file."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from juror.errors import DataWarning, shortlist, warn
from juror.readers.exact_numbers import as_float, as_number
from juror.readers.tallies import Tally

# Fewer names may be values of their columns by chance.
_FEWEST = 2


def warn_of_odd_names(tallies: Collection[Tally]) -> None:
    """Warn of names that begin or end with spaces, and of a first row that was read as names."""
    spaced = [tally.name for tally in tallies if tally.name != tally.name.strip()]
    if spaced:
        names = f"Column {spaced[0]!r} has a name" if len(spaced) == 1 else f"Columns {shortlist(spaced, 4)} have names"
        fact = f"{names} with spaces at an end"
        warn(DataWarning(f"{fact}, so that questions need quotes. Remove the spaces, also after commas of a file."))
    if _is_row(tallies):
        names = shortlist([tally.name for tally in tallies], 4)
        warn(
            DataWarning(
                f"The names of the columns, {names}, look like a row of the table. If the data have no line of names, "
                "write one: their first row is lost."
            )
        )


def _is_row(tallies: Collection[Tally]) -> bool:
    """Say whether names look like values: numbers above numbers, and labels that occur below.

    Numbers that count the columns are names.
    """
    numbers = {tally.name: as_number(tally.name) for tally in tallies if tally.form == "number"}
    if any(tally.calendar is not None for tally in tallies) or None in numbers.values():
        return False
    found = np.array([as_float(number) for number in numbers.values() if number is not None])
    if len(found) == len(tallies) and np.all(np.diff(found) == 1):
        return False
    n_again = 0
    for tally in tallies:
        number = numbers.get(tally.name)
        occurs = tally.name in tally.values if number is None else bool(np.isin(as_float(number), tally.values))
        if number is None and not occurs:
            return False
        n_again += occurs
    return n_again >= _FEWEST
