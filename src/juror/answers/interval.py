"""Credible intervals from the draws of a posterior that stand side by side in a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.marginals import ProbabilityTable, align, marginal
from juror.answers.posterior import CPD, BareCPD, posterior
from juror.domain.evidence import Evidence
from juror.domain.variable import Label
from juror.errors import ParameterError, QueryError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """Probabilities with the ends of their credible intervals, for every combination of labels of some variables.

    Attributes
    ----------
    table : ProbabilityTable
        The answer of the model, the mean of the draws. Given evidence, draws that make it more probable count for more
        in it; the ends are of all draws alike.
    low, high : numpy.ndarray, (I_a, I_b, …)
        The ends.
    level : float
        The chance that a probability lies between them, given the data and the model.
    """

    table: ProbabilityTable
    low: np.ndarray
    high: np.ndarray
    level: float

    def __getitem__(self, labels: Any) -> tuple[float, float]:
        labels = labels if isinstance(labels, tuple) else (labels,)
        if len(labels) != len(self.table.variables):
            raise QueryError(
                f"The table has {len(self.table.variables)} axes {list(self.table.names)}; {len(labels)} labels given."
            )
        codes = tuple(v.code(label) for v, label in zip(self.table.variables, labels, strict=True))
        return float(self.low[codes]), float(self.high[codes])

    def rows(self) -> Iterator[tuple[tuple[Label, ...], float, float, float]]:
        """Give labels, probability, and both ends, for every cell."""
        cells = product(*(variable.labels for variable in self.table.variables))
        numbers = (self.table.to_numpy().ravel(), self.low.ravel(), self.high.ravel())
        for labels, p, low, high in zip(cells, *numbers, strict=True):
            yield labels, float(p), float(low), float(high)

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with a line a cell: labels, probability, low, high."""
        import pandas as pd

        lines = [(*labels, p, low, high) for labels, p, low, high in self.rows()]
        return pd.DataFrame(lines, columns=[*self.table.names, "probability", "low", "high"])

    def __str__(self) -> str:
        head = [*self.table.names, "probability", f"{100 * self.level:g} % from", "to"]
        body = [[*map(str, labels), f"{p:.4f}", f"{low:.4f}", f"{high:.4f}"] for labels, p, low, high in self.rows()]
        return self.table.title + "\n" + align(head, body, len(self.table.names))

    __repr__ = __str__


def intervals(
    cpd: CPD, n_draws: int, positions: Sequence[int], evidence: Evidence, table: ProbabilityTable, level: float
) -> IntervalTable:
    """Ask every draw by itself, and take quantiles of what they say.

    Parameters
    ----------
    cpd : CPD
        Draws side by side, each with an equal share of the classes.
    n_draws : int
        How many.
    positions : sequence of int
        The variables asked for.
    evidence : Evidence
        What is known.
    table : ProbabilityTable
        The answer of the whole.
    level : float
        How much of the draws lies within.
    """
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise ParameterError(f"level must be a number in the range (0, 1). Got {level!r} instead.")
    if n_draws < 2:
        raise QueryError(
            "Intervals come from the draws of a fit by method='bayes', at least two. This model has none: fit it so, "
            "or, if it was conditioned, ask the fitted model with the evidence after '|', or, if it was compressed, "
            "the model before that."
        )
    answers = np.stack([marginal(posterior(draw, evidence), positions) for draw in _draws(cpd, n_draws)])
    low, high = np.quantile(answers, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return IntervalTable(table, low, high, float(level))


def _draws(cpd: CPD, n_draws: int) -> Iterator[BareCPD]:
    """Take the draws apart again."""
    for part in np.split(np.arange(len(cpd.weights)), n_draws):
        weights = cpd.weights[part]
        yield BareCPD(weights / weights.sum(), tuple(A[:, part] for A in cpd.factors), cpd.domain)
