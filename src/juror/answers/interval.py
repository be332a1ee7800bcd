"""Credible intervals from the posterior draws that a model is the mean of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture, edgeless
from juror.answers.marginals import ProbabilityTable, align, marginal
from juror.answers.posterior import posterior
from juror.domain.evidence import Evidence
from juror.domain.variable import Label
from juror.errors import Message, ParameterError, QueryError

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class IntervalTable:
    """Probabilities with credible intervals, for every combination of labels of some variables.

    Attributes
    ----------
    table : ProbabilityTable
        The answer of the model, the mean of the draws. Given evidence, draws that make it more probable have more
        weight in this mean; in the interval ends all draws have the same weight.
    low, high : numpy.ndarray, (I_a, I_b, …)
        The interval ends.
    level : float
        The probability that the true value lies between the ends, given the data and the model.
    """

    table: ProbabilityTable
    low: np.ndarray
    high: np.ndarray
    level: float

    def __getitem__(self, labels: Any) -> tuple[float, float]:
        codes = self.table.codes(labels)
        return float(self.low[codes]), float(self.high[codes])

    def rows(self) -> Iterator[tuple[tuple[Label, ...], float, float, float]]:
        """Iterate over every cell: labels, probability, and both ends."""
        cells = product(*(variable.labels for variable in self.table.variables))
        numbers = (self.table.to_numpy().ravel(), self.low.ravel(), self.high.ravel())
        for labels, p, low, high in zip(cells, *numbers, strict=True):
            yield labels, float(p), float(low), float(high)

    def to_pandas(self) -> pd.DataFrame:
        """Return a frame with one row per cell: labels, probability, low, high."""
        import pandas as pd

        lines = [(*labels, p, low, high) for labels, p, low, high in self.rows()]
        return pd.DataFrame(lines, columns=[*self.table.names, "probability", "low", "high"])

    def __str__(self) -> str:
        head = [*self.table.names, "probability", f"{100 * self.level:g} % from", "to"]
        body = [[*map(str, labels), f"{p:.4f}", f"{low:.4f}", f"{high:.4f}"] for labels, p, low, high in self.rows()]
        return self.table.title + "\n" + align(head, body, len(self.table.names))

    __repr__ = __str__


def intervals(
    model: Mixture, n_draws: int, positions: Sequence[int], evidence: Evidence, table: ProbabilityTable, level: float
) -> IntervalTable:
    """Ask every draw separately, and return quantiles of their answers with the answer of the mean, ``table``.

    The model holds the classes of all draws: concatenated in one block, each draw with the same number of classes, or
    in blocks with forests, each draw with the same number of blocks.
    """
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise ParameterError(f"level must be a number in the range (0, 1). Got {level!r} instead.")
    if n_draws < 2:
        raise QueryError(
            Message(
                "Intervals need the draws of a fit by {method:='bayes'}, at least two, and this model has none. Fit "
                "with {method:='bayes'}. If the model was conditioned, ask the fitted model with the evidence after "
                "'|'; if it was compressed, ask the model before compression."
            )
        )
    answers = np.stack([marginal(posterior(draw, evidence), positions) for draw in _draws(model, n_draws)])
    low, high = np.quantile(answers, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return IntervalTable(table, low, high, float(level))


def _draws(model: Mixture, n_draws: int) -> Iterator[BareMixture]:
    """Yield each draw as a model."""
    flat = edgeless(model)
    if flat is not None:
        blocks = [flat.classes(part) for part in np.split(np.arange(flat.rank), n_draws)]
        groups: list[Sequence[Block]] = [[block] for block in blocks]
    else:
        size = len(model.blocks) // n_draws
        groups = [model.blocks[first : first + size] for first in range(0, len(model.blocks), size)]
    for group in groups:
        total = np.concatenate([block.weights for block in group]).sum()
        yield BareMixture(tuple(replace(block, weights=block.weights / total) for block in group), model.domain)
