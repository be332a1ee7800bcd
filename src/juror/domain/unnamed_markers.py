"""Warn of labels that probably mean missing, but were not passed as markers: the most common mistake."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from juror.domain.variable import Label, Variable
from juror.errors import DataWarning, Message, Option, shortlist, warn
from juror.readers.exact_numbers import as_number
from juror.readers.tallies import Tally

# What programs write for missing cells. "none", "unknown" and "-" often mean missing too, but may be answers.
_MARKERS = frozenset(("?", "NA", "na", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null"))
# Programs and people also write nines, more than any number of the column has. Two nines above zero may be a year or an
# age, unless all other numbers are below half of it.
_NINES = 3
# Surveys tell apart why there is no answer: 97, 98 and 99 for example.
_MOST_REASONS = 3
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
    option = Option("missing", tuple(map(str, markers)), f"={markers!r}")
    way_out = Message("Pass {markers} if so", markers=option)
    if others := [tally.name for tally in tallies if tally.name not in found and _has_any(tally, markers)]:
        way_out = Message(
            "Make them missing in the data if so: {markers} would empty cells of {others} too",
            markers=option,
            others=shortlist(others, 4),
        )
    warn(
        DataWarning(
            "{columns} {numbers} far from all other numbers, which {often} missing. {way_out}; otherwise nothing is "
            "wrong.",
            columns=columns,
            numbers=f"the number {markers[0]}" if len(markers) == 1 else f"numbers such as {shortlist(markers)}",
            often="often means" if len(markers) == 1 else "often mean",
            way_out=way_out,
        )
    )


def _counted_numbers(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of a column that occur, in their order, and how often; none if it holds no plain numbers."""
    if tally.form != "number" or tally.calendar is not None or tally.dropped:
        return np.empty(0), np.empty(0)
    counts = np.asarray(tally.counts)
    return np.asarray(tally.values, dtype=np.float64)[counts > 0], counts[counts > 0]


def _has_any(tally: Tally, numbers: Sequence[int]) -> bool:
    return bool(np.isin(_counted_numbers(tally)[0], numbers).any())


def _nines_apart(tally: Tally) -> list[int]:
    """Return the numbers at the ends of a column that are nines, recur, and are farther off than the others span.

    With nines go the one or two whole numbers next to them, such as 98 and 97.
    """
    numbers, counts = _counted_numbers(tally)
    if not np.all(np.isfinite(numbers)):
        return []
    below = _reasons(-numbers[::-1], counts[::-1], is_below=True)
    return [-number for number in below] + _reasons(numbers, counts, is_below=False)[::-1]


def _reasons(numbers: np.ndarray, counts: np.ndarray, *, is_below: bool) -> list[int]:
    """Return the markers at the upper end of numbers, the largest first; those below zero are given with their signs
    turned.
    """
    top = numbers[-1] if len(numbers) else 0.0
    n_reasons = 1
    while n_reasons < min(_MOST_REASONS, len(numbers)) and numbers[-n_reasons - 1] == top - n_reasons:
        n_reasons += 1
    others = numbers[:-n_reasons]
    if len(others) < 2 or counts[-n_reasons:].sum() <= 1 or set(f"{top:.0f}") != {"9"} or top != np.floor(top):
        return []
    is_long = is_below or len(f"{top:.0f}") >= _NINES or (top > 9 and others[-1] < top / 2)
    # numbers may lie further apart than the largest float; then no number is far from all others
    with np.errstate(over="ignore"):
        is_far = numbers[-n_reasons] - others[-1] > others[-1] - others[0]
    return [int(number) for number in numbers[-n_reasons:][::-1]] if is_long and is_far else []


def _strangers_among_numbers(labels: Sequence[str]) -> list[str]:
    """Return the one or two labels that are not numbers, if all others are; otherwise none."""
    strangers = [label for label in labels if not _is_number(label)]
    return strangers if len(labels) >= _SOME_LABELS and len(strangers) <= 2 else []


def _warn_of_strangers(name: str, strangers: Sequence[str]) -> None:
    warn(
        DataWarning(
            "{fact}. If these mean missing, pass {markers} with a CSV file, and make the column of a frame numbers, "
            "for example with pandas.to_numeric(…, errors='coerce'). If the labels are names, nothing is wrong.",
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
