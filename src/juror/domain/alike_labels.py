"""Labels that are probably the same, written differently: two spellings share the rows of one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from juror.domain.variable import Variable
from juror.errors import DataWarning, shortlist, warn
from juror.readers.tallies import Tally


def warn_of_alike_labels(variables: Sequence[Variable], tallies: Mapping[str, Tally]) -> None:
    """Warn of text labels that differ only in capitals or spaces, of all columns at once.

    Columns without a tally have labels that their user listed, and those with categories had them listed, too.
    """
    alike: dict[str, tuple[str, str]] = {}
    for variable in variables:
        if variable.name in tallies and tallies[variable.name].form == "text":
            found = _first_alike([label for label in variable.labels if isinstance(label, str)])
            if found is not None:
                alike[variable.name] = found
    if alike:
        name, (one, other) = next(iter(alike.items()))
        columns = f"Column {name!r} has" if len(alike) == 1 else f"Columns {shortlist(list(alike), 4)} have"
        warn(
            DataWarning(
                f"{columns} labels that differ only in capitals or spaces, such as {one!r} and {other!r}. They count "
                "as different: write them alike in the data if they mean the same."
            )
        )


def _first_alike(labels: Sequence[str]) -> tuple[str, str] | None:
    """Return the first two labels that differ only in capitals or spaces.

    >>> _first_alike(["No", "Yes", "no ", "yes"])
    ('No', 'no ')
    """
    seen: dict[str, str] = {}
    for label in labels:
        before = seen.setdefault(" ".join(label.split()).casefold(), label)
        if before != label:
            return before, label
    return None
