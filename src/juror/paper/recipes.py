"""The paper's data: true models, rows drawn from them with holes, and the splits of Car and Mushroom.

The number of the recipe and the seed determine everything, through three independent random streams: for the true
model, the rows and the holes. So all sample sizes of a seed have the same truth, and a small sample is the first rows
of a larger one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from juror.datasets import load
from juror.domain import Domain
from juror.domain.variable import Label
from juror.kernels.random_streams import Stream
from juror.model import JointPMF
from juror.readers.columns import MISSING

if TYPE_CHECKING:
    import pandas as pd

# Part of every cell's fingerprint: raise it when a distribution below changes, so that old cells are run again.
LAW_VERSION = 1

_MOST_FREQUENCY = 5.0
TARGET = "class"
SHARES = {"car": (0.7, 0.1, 0.2), "mushroom": (0.5, 0.2, 0.3)}
# Car's labels have an order, which projections need; Mushroom's have none.
LEVELS: dict[str, dict[str, Sequence[Label]]] = {
    "car": {
        "buying": ("low", "med", "high", "vhigh"),
        "maint": ("low", "med", "high", "vhigh"),
        "doors": ("2", "3", "4", "5more"),
        "persons": ("2", "4", "more"),
        "lug_boot": ("small", "med", "big"),
        "safety": ("low", "med", "high"),
        "class": ("unacc", "acc", "good", "vgood"),
    },
    "mushroom": {},
}


@dataclass(frozen=True)
class Recipe:
    """The distribution of the synthetic data of a table.

    Attributes
    ----------
    number : int
        The table, part of the random seed. Table 6 has the data of Table 1.
    law : str
        ``"uniform"``: entries of the factors independent and uniform on [0, 1], columns scaled to sum one.
        ``"sinusoid"``: a column is 1 + a sin(2π(ν t + φ)) at t = (i + ½)/I, i = 0 … I−1, scaled to sum one, with
        amplitude a uniform on [0, 1], frequency ν uniform on [½, 5] and phase φ uniform on [0, 1]. Adding one keeps
        the column non-negative; the paper does not give its distribution.
        With both, entries of λ are uniform on [0, 1], scaled to sum one.
    F, I, N : int
        Classes, labels of every variable, variables.
    kappa : float
        The probability that a cell is observed, independently of all else.

    Examples
    --------
    >>> recipe = Recipe(2, "uniform", F=3, I=4, N=2, kappa=0.5)
    >>> recipe.truth(seed=0)
    JointPMF(rank 3, 2 variables: x0, x1)
    >>> recipe.rows(5, seed=0).tolist() == recipe.rows(9, seed=0)[:5].tolist()
    True
    """

    number: int
    law: str
    F: int
    I: int  # noqa: E741 - the paper's letter
    N: int
    kappa: float = 1.0

    @property
    def domain(self) -> Domain:
        """N variables with the ordered labels 0 … I−1."""
        return Domain.from_cardinalities([self.I] * self.N)

    def truth(self, seed: int) -> JointPMF:
        """Return the true model of a seed."""
        rng = Stream.PAPER_TRUTH.generator(self.number, seed)
        factors = [_LAWS[self.law](self.I, self.F, rng) for _ in range(self.N)]
        lam = rng.random(self.F)
        return JointPMF(lam / lam.sum(), [A / A.sum(axis=0) for A in factors], self.domain)

    def rows(self, n_rows: int, seed: int) -> np.ndarray:
        """Return codes drawn from the true model of a seed, (n_rows, N), with −1 in the holes."""
        codes = draw(self.truth(seed), n_rows, Stream.PAPER_ROWS.generator(self.number, seed))
        if self.kappa < 1:
            holes = Stream.PAPER_HOLES.generator(self.number, seed).random(codes.shape) >= self.kappa
            codes[holes] = MISSING
        return codes


def draw(model: JointPMF, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw rows of codes (n_rows, N) from N + 1 random numbers per row, so a smaller sample is the start of a larger.

    A class comes from inverting the cumulative sum of λ, then each variable from inverting that of its class's column.
    The cumulative sums of all columns are concatenated. The f-th is shifted by f, so one search serves all columns.
    """
    uniform = rng.random((n_rows, len(model.factors) + 1))
    classes = _invert(model.weights[:, None], np.zeros(n_rows, dtype=np.intp), uniform[:, 0])
    codes = np.empty((n_rows, len(model.factors)), dtype=np.int32)
    for n, factor in enumerate(model.factors):
        codes[:, n] = _invert(factor, classes, uniform[:, n + 1])
    return codes


def _invert(columns: np.ndarray, which: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Return for every row the label at which the cumulative sum of its column first exceeds a uniform number."""
    size, n_columns = columns.shape
    cumulative = np.cumsum(columns, axis=0)
    ladder = (cumulative / cumulative[-1] + np.arange(n_columns)).T.ravel()  # column f ends at exactly f + 1
    found = np.searchsorted(ladder, uniform + which, side="right") - which * size
    # Adding f rounds the number, in rare cases up to the end of its column.
    return np.minimum(found, size - 1)


def _sinusoid_columns(size: int, F: int, rng: np.random.Generator) -> np.ndarray:
    amplitude, phase = rng.random(F), rng.random(F)
    frequency = rng.uniform(0.5, _MOST_FREQUENCY, F)
    t = (np.arange(size) + 0.5) / size
    return 1 + amplitude * np.sin(2 * np.pi * (frequency * t[:, None] + phase))


_LAWS = {"uniform": lambda size, F, rng: rng.random((size, F)), "sinusoid": _sinusoid_columns}


@cache
def labelled(name: str) -> pd.DataFrame:
    """Return a data set with the column ``class``; it is read once per process."""
    return load(name)


def split(name: str, seed: int) -> list[pd.DataFrame]:
    """Split Car (70/10/20) or Mushroom (50/20/30) at random into training, validation and test rows."""
    rows = labelled(name)
    order = Stream.PAPER_SPLIT.generator(seed).permutation(len(rows))
    ends = np.round(np.cumsum(SHARES[name][:-1]) * len(rows)).astype(int)
    return [rows.iloc[part] for part in np.split(order, ends)]
