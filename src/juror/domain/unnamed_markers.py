"""Warn of labels that probably mean missing, but were not passed as markers: the most common mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from juror.domain.variable import Label, Variable
from juror.errors import DataWarning, Option, shortlist, warn
from juror.readers.exact_numbers import as_number
from juror.readers.tallies import Tally

# What programs write for missing cells. "none", "unknown" and "-" often mean missing too, but may be answers.
_MARKERS = frozenset(("?", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"))
# Programs and people also write nines, more than any number of the column has. Two nines may be a year or an age.
_NINES = 3
# Fewer labels may be names that happen to be numbers.
_SOME_LABELS = 10


def warn_of_unnamed_markers(variables: Sequence[Variable], tallies: Mapping[str, Tally]) -> None:
    """Warn of markers in columns of text: of each column that would be numbers without them, and of all others at once.

    Of markers in columns of numbers, warn all at once. Columns without a tally are left out, as the user listed their
    labels.
    """
    _warn_of_nines([tallies[variable.name] for variable in variables if variable.name in tallies])
    named: dict[str, frozenset[Label]] = {}
    for variable in variables:
        if variable.name not in tallies or tallies[variable.name].form != "text":
            continue
        strangers = _strangers_among_numbers([str(label) for label in variable.labels])
        if strangers:
            _warn_of_strangers(variable.name, strangers)
        elif _MARKERS.intersection(variable.labels):
            named[variable.name] = _MARKERS.intersection(variable.labels)
    if named:
        _warn_of_markers(list(named), sorted(map(str, frozenset().union(*named.values()))))


def _warn_of_nines(tallies: Sequence[Tally]) -> None:
    found = {tally.name: nines for tally in tallies if (nines := _nines_apart(tally))}
    if not found:
        return
    markers = sorted({number for numbers in found.values() for number in numbers})
    columns = f"Column {next(iter(found))!r} has" if len(found) == 1 else f"Columns {shortlist(list(found), 4)} have"
    warn(
        DataWarning(
            "{columns} {numbers} far from all other numbers, which {often} missing. Pass {markers} if so; otherwise "
            "nothing is wrong.",
            columns=columns,
            numbers=f"the number {markers[0]}" if len(markers) == 1 else f"numbers such as {shortlist(markers)}",
            often="often means" if len(markers) == 1 else "often mean",
            markers=Option("missing", tuple(map(str, markers)), f"={markers!r}"),
        )
    )


def _nines_apart(tally: Tally) -> list[int]:
    """Return the ends of a column of numbers that are all nines, recur, and are farther off than the others span."""
    if tally.form != "number" or tally.calendar is not None or tally.dropped:
        return []
    counted = np.asarray(tally.counts) > 0
    numbers, counts = np.asarray(tally.values, dtype=np.float64)[counted], np.asarray(tally.counts)[counted]
    if len(numbers) <= 2 or not np.all(np.isfinite(numbers)):
        return []
    # numbers may lie further apart than the largest float; then no number is far from all others
    with np.errstate(over="ignore"):
        ends = {0: numbers[1] - numbers[0] > numbers[-1] - numbers[1]}
        ends[-1] = numbers[-1] - numbers[-2] > numbers[-2] - numbers[0]
    return [int(numbers[n]) for n, is_far in ends.items() if is_far and counts[n] > 1 and _is_nines(numbers[n])]


def _is_nines(number: float) -> bool:
    """Say whether a number is written in nines, three or more of them if it is above zero.

    >>> [_is_nines(number) for number in (999.0, -9.0, 99.0, 9.99)]
    [True, True, False, False]
    """
    digits = f"{abs(number):.0f}"
    is_whole = number == np.floor(number)
    return bool(is_whole and set(digits) == {"9"} and (number < 0 or len(digits) >= _NINES))


def _strangers_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the one or two labels that are not numbers, if all others are; otherwise none."""
    strangers = [label for label in labels if not _is_number(label)]
    return strangers if len(labels) >= _SOME_LABELS and len(strangers) <= 2 else []


def _warn_of_strangers(name: str, strangers: Sequence[str]) -> None:
    warn(
        DataWarning(
            "{fact}. If these mean missing, pass {markers}; data other than CSV files must also have the column as "
            "numbers.",
            fact=f"Column {name!r} is read as text, but all its labels are numbers except {shortlist(strangers)}",
            markers=_as_option(strangers),
        )
    )


def _warn_of_markers(names: Sequence[str], markers: Sequence[str]) -> None:
    columns = f"Column {names[0]!r} has" if len(names) == 1 else f"Columns {shortlist(names, 4)} have"
    labels = f"the label {markers[0]!r}" if len(markers) == 1 else f"labels such as {shortlist(markers)}"
    warn(
        DataWarning(
            "{columns} {labels}, which {often} missing. Pass {markers} if so; otherwise nothing is wrong.",
            columns=columns,
            labels=labels,
            often="often means" if len(markers) == 1 else "often mean",
            markers=_as_option(markers),
        )
    )


def _as_option(markers: Sequence[str]) -> Option:
    return Option("missing", tuple(markers), f"={list(markers)!r}")


def _is_number(text: str) -> bool:
    number = as_number(text)
    return number is not None and abs(number) < np.inf
