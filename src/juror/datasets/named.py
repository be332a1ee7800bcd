"""Four UCI tables by name: from the folder in ``JUROR_DATA``, or from OpenML by way of scikit-learn.

scikit-learn caches the downloads and verifies the checksum that OpenML publishes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from juror.errors import DataError, check_choice, shortlist

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class _Named:
    """The places of a table, and the names of its columns in the order of the files."""

    openml_id: int
    files: tuple[str, ...]
    columns: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()


_TABLES = {
    "car": _Named(40975, ("car/car.data",), ("buying", "maint", "doors", "persons", "lug_boot", "safety", "class")),
    "mushroom": _Named(
        24,
        ("mushroom/agaricus-lepiota.data",),
        (
            "class", "cap-shape", "cap-surface", "cap-color", "bruises", "odor", "gill-attachment", "gill-spacing",
            "gill-size", "gill-color", "stalk-shape", "stalk-root", "stalk-surface-above-ring",
            "stalk-surface-below-ring", "stalk-color-above-ring", "stalk-color-below-ring", "veil-type", "veil-color",
            "ring-number", "ring-type", "spore-print-color", "population", "habitat",
        ),
        (("bruises%3F", "bruises"), ("bruises?", "bruises")),
    ),
    "votes": _Named(
        56,
        ("votes/house-votes-84.data",),
        (
            "class", "handicapped-infants", "water-project-cost-sharing", "adoption-of-the-budget-resolution",
            "physician-fee-freeze", "el-salvador-aid", "religious-groups-in-schools", "anti-satellite-test-ban",
            "aid-to-nicaraguan-contras", "mx-missile", "immigration", "synfuels-corporation-cutback",
            "education-spending", "superfund-right-to-sue", "crime", "duty-free-exports",
            "export-administration-act-south-africa",
        ),
        (("Class", "class"),),
    ),
    "adult": _Named(
        1590,
        ("adult/adult.data", "adult/adult.test"),
        (
            "age", "workclass", "fnlwgt", "education", "education-num", "marital-status", "occupation", "relationship",
            "race", "sex", "capital-gain", "capital-loss", "hours-per-week", "native-country", "income",
        ),
        (("class", "income"),),
    ),
}  # fmt: skip


def load(name: str) -> pd.DataFrame:
    """Return a well-known table with its missing cells as nulls: car, mushroom, votes or adult.

    Parameters
    ----------
    name : {"car", "mushroom", "votes", "adult"}
        The table. It is read from the folder in the environment variable ``JUROR_DATA`` if that is set, and otherwise
        fetched from OpenML once and cached in scikit-learn's data folder.
    """
    check_choice("name", name, _TABLES)
    folder = os.environ.get("JUROR_DATA")
    return _read(Path(folder), name) if folder else _fetch(name, _openml)


def _read(folder: Path, name: str) -> pd.DataFrame:
    import pandas as pd

    table = _TABLES[name]
    parts = []
    for file in table.files:
        path = folder / file
        if not path.is_file():
            raise DataError(f"JUROR_DATA has no file {file!r}. Unset JUROR_DATA to fetch {name!r} from OpenML.")
        layout: Any = {"header": None, "names": list(table.columns), "skipinitialspace": True, "comment": "|"}
        parts.append(pd.read_csv(path, na_values=["?"], keep_default_na=False, **layout))
    whole = pd.concat(parts, ignore_index=True)
    if name == "adult":
        whole["income"] = whole["income"].str.rstrip(".")
    return whole


def _openml(openml_id: int) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    return fetch_openml(data_id=openml_id, as_frame=True, parser="auto").frame


def _fetch(name: str, fetch: Callable[[int], Any]) -> pd.DataFrame:
    """Fetch from OpenML; give the columns the names, order and types of the UCI files."""
    table = _TABLES[name]
    try:
        frame = fetch(table.openml_id)
    except OSError as error:
        raise DataError(
            f"{name!r} could not be fetched from OpenML ({error}). Set JUROR_DATA to a folder that has "
            f"{shortlist(table.files)}, or try again."
        ) from None
    frame = frame.rename(columns=dict(table.renamed))
    absent = [column for column in table.columns if column not in frame.columns]
    if absent:
        raise DataError(f"OpenML's {name!r} has no columns {shortlist(absent)}: it has changed. Set JUROR_DATA.")
    frame = frame[list(table.columns)]
    categories = frame.select_dtypes("category").columns
    return frame.astype(dict.fromkeys(categories, "str")).mask(frame.isna())
