"""The tables that come with the package."""

from __future__ import annotations

import gzip
from importlib.resources import files
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

_TITANIC_LABELS = {
    "Class": ("1st", "2nd", "3rd", "Crew"),
    "Sex": ("Male", "Female"),
    "Age": ("Child", "Adult"),
    "Survived": ("No", "Yes"),
}
# Dawson (1995), in the order of the labels above; the last variable varies fastest.
_TITANIC_COUNTS = (
    0, 5, 118, 57, 0, 1, 4, 140,
    0, 11, 154, 14, 0, 13, 13, 80,
    35, 13, 387, 75, 17, 14, 89, 76,
    0, 0, 670, 192, 0, 0, 3, 20,
)  # fmt: skip


def titanic() -> pd.DataFrame:
    """Return the 2201 people aboard the Titanic: class, sex, age and whether they survived.

    >>> table = titanic()
    >>> len(table), int((table["Survived"] == "Yes").sum())
    (2201, 711)
    """
    import pandas as pd

    cells = pd.DataFrame(list(product(*_TITANIC_LABELS.values())), columns=list(_TITANIC_LABELS))
    # Categories, so that a part of the table still knows labels that none of its rows has.
    cells = cells.astype({name: pd.CategoricalDtype(list(labels)) for name, labels in _TITANIC_LABELS.items()})
    return cells.loc[cells.index.repeat(_TITANIC_COUNTS)].reset_index(drop=True)


def military() -> pd.DataFrame:
    """Return the 1,414,593 members of the US armed forces as 1646 distinct rows with a ``count``.

    Fit it with ``juror.fit(military(), sample_weight="count")``.

    >>> table = military()
    >>> len(table), int(table["count"].sum())
    (1646, 1414593)
    """
    import pandas as pd

    source = files("juror.datasets") / "military_counts.csv.gz"
    with source.open("rb") as packed, gzip.open(packed, "rt", encoding="utf-8") as text:
        return pd.read_csv(text)
