"""Answers with intervals, from the posterior draws that a model is the mean of and from the rows behind an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.interval_ends import UNSEEN, Agreement, ends_of_draws, ends_of_rows
from juror.answers.label_frames import AsFrame, free_name
from juror.answers.marginals import ProbabilityTable, marginal
from juror.answers.posterior import log_mass, posterior
from juror.answers.posterior_draws import posterior_draws
from juror.answers.short_tables import Groups, summed
from juror.answers.support import CELLS, counted_in_words, is_countable
from juror.answers.table_texts import TableText, most_probable
from juror.domain.evidence import Evidence
from juror.domain.variable import Label
from juror.errors import Message, QueryError, shortlist, wrong

# Sums of the same numbers in another order differ by this.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class IntervalTable(AsFrame):
    """Probabilities with intervals, for every combination of labels of some variables.

    Attributes
    ----------
    table : ProbabilityTable
        The answer of the model. If it is the mean of draws, those that make the evidence more probable have more
        weight in it; in the interval ends all draws have the same weight.
    low, high : numpy.ndarray, (I_a, I_b, …)
        The interval ends.
    level : float
        The probability that the true value lies between the ends.
    basis : str
        What the ends are from: draws, rows or both.
    shown : IntervalTable, optional
        The same answer with intervals of numbers joined, for people to read; None if it has few of them.
    """

    table: ProbabilityTable
    low: np.ndarray
    high: np.ndarray
    level: float
    basis: str
    shown: IntervalTable | None = None

    def __getitem__(self, labels: Any) -> tuple[float, float]:
        codes = self.table.codes(labels)
        return float(self.low[codes]), float(self.high[codes])

    def outside(self) -> list[tuple[Label, ...]]:
        """Return the labels of the cells whose probability under the model lies outside their interval."""
        return [labels for labels, p, low, high in self.rows() if p < low - _ROUNDING or p > high + _ROUNDING]

    def remarks(self) -> list[str]:
        """Return a sentence that names the cells whose probability lies outside their interval, if there are any."""
        cells = [labels if len(labels) > 1 else labels[0] for labels in self.outside()]
        sentence = (
            f"The model's probability of {shortlist(cells)} is outside its interval, which is from {self.basis}. Rely "
            "on the interval there."
        )
        return [sentence] if cells else []

    def rows(self) -> Iterator[tuple[tuple[Label, ...], float, float, float]]:
        """Iterate over every cell: labels, probability, and both ends."""
        cells = product(*(variable.labels for variable in self.table.variables))
        numbers = (self.table.to_numpy().ravel(), self.low.ravel(), self.high.ravel())
        for labels, p, low, high in zip(cells, *numbers, strict=True):
            yield labels, float(p), float(low), float(high)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: labels, ``probability``, ``low``, ``high``, then shares and rows if they are known."""
        columns = self.table.to_dict()
        more = {"low": self.low.ravel().tolist(), "high": self.high.ravel().tolist()}
        if self.table.support is not None:
            known = self.table.support.to_dict()
            more |= {name: known[name] for name in list(known)[len(columns) :]}
        for heading, values in more.items():
            columns[free_name(heading, columns)] = values
        return columns

    def __str__(self) -> str:
        shown = self.shown or self
        support = self.table.support
        below = [*(self.table if support is None else support).in_words(), f"from {self.basis}", *shown.remarks()]
        return shown._lines().as_text(self.table.title, [*below, *self.table.joined_in_words()])

    def _lines(self) -> TableText:
        """Return the lines shown: labels, probability, both ends, and shares and rows if they are known."""
        names, support = self.table.names, self.table.support
        numbers = (self.table.to_numpy().ravel(), self.low.ravel(), self.high.ravel())
        places, note = most_probable(numbers[0])
        body = [
            [
                *self.table.labels_of(n),
                *(f"{each[n]:.4f}" for each in numbers),
                *([] if support is None else support.cells_of(n)),
            ]
            for n in places
        ]
        head = [*names, "probability", f"{100 * self.level:g} % from", "to", *(() if support is None else CELLS)]
        return TableText(head, body, len(names), note)

    __repr__ = __str__


def intervals(
    model: Mixture,
    n_draws: int,
    n_rows: float,
    positions: Sequence[int],
    evidence: Evidence,
    table: ProbabilityTable,
    level: float,
    agreement: Agreement | None = None,
    worth: float = 1.0,
    widening: float = 1.0,
    about: np.ndarray | None = None,
) -> IntervalTable:
    """Return an answer, ``table``, with intervals from the draws of a model, its rows, or both.

    Parameters
    ----------
    model : Mixture
        The model.
    n_draws : int
        The number of draws; 0 for a model that has none.
    n_rows : float
        The number of rows that the model was fitted to and that have the variables of the question, by the sum of their
        weights.
    positions, evidence : sequence of int, Evidence
        The question.
    table : ProbabilityTable
        The answer, with the rows behind it if they are counted.
    level : float
        The level.
    agreement : tuple of float, optional
        How often the draws agree with the rows of the fit, if this was learned.
    worth : float
        How many independent rows a weight of one in the fit is worth. Rows that are counted have a worth of their own.
    widening : float
        How many times as uncertain as the draws the truth is.
    about : numpy.ndarray, optional
        The estimated number of rows behind every cell, where conditions divide intervals, so that no counts fit.
    """
    if isinstance(level, bool) or not isinstance(level, (int, float, np.number)) or not 0 < level < 1:
        raise wrong("level", "a number in the range (0, 1)", level)
    counts, basis = _rows_behind(model, n_rows, evidence, table, worth, about)
    if counts is None and n_draws < 2:
        raise QueryError(
            Message(
                "Intervals need draws or rows, and this model has neither. Pass {data}, or ask a fitted model; if this "
                "model was conditioned, ask the model before that, with the evidence after '|'."
            )
        )
    each_draw = posterior_draws(model, n_draws) if n_draws >= 2 else ()
    draws = [marginal(posterior(draw, evidence), positions) for draw in each_draw]
    possible = _possible(table.to_numpy().shape, positions, evidence)
    if draws:
        basis = f"{n_draws} draws" + (f" and {basis}" if basis else "")

    def ends(groups: Groups) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the cells that are left when intervals are joined."""
        each, behind = [summed(draw, groups) for draw in draws], None if counts is None else summed(counts, groups)
        return _ends(each, behind, summed(possible, groups) > 0, float(level), agreement or UNSEEN, widening)

    whole = IntervalTable(table, *ends(tuple(np.arange(size) for size in possible.shape)), float(level), basis)
    if not table.joined_in_words():
        return whole
    short = table.summed_over(table.groups)
    if table.support is not None:
        short = short.with_support(
            replace(table.support, table=short, counts=summed(table.support.counts, table.groups))
        )
    return replace(whole, shown=IntervalTable(short, *ends(table.groups), float(level), basis))


def _ends(
    draws: Sequence[np.ndarray],
    counts: np.ndarray | None,
    possible: np.ndarray,
    level: float,
    agreement: Agreement,
    widening: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the interval ends of all cells, (I_a, I_b, …) as draws and counts of rows have them."""
    behind = None if counts is None else counts.ravel()
    if draws:
        both = ends_of_draws(np.stack([draw.ravel() for draw in draws]), behind, level, agreement, widening)
    else:
        assert behind is not None
        both = ends_of_rows(behind, level)
    low, high = (np.where(possible, end.reshape(possible.shape), 0.0) for end in both)
    if possible.sum() == 1:
        low, high = possible.astype(float), possible.astype(float)
    return low, high


def _rows_behind(
    model: Mixture,
    n_rows: float,
    evidence: Evidence,
    table: ProbabilityTable,
    worth: float,
    about: np.ndarray | None,
) -> tuple[np.ndarray | None, str]:
    """Return how many independent rows are behind every cell, (I_a, I_b, …), and what they are in words.

    They are counted, or estimated from counts where conditions divide intervals, or else expected by the model. None if
    neither counts nor the model tell.
    """
    support = table.support
    if support is not None:
        counts, worth, basis = support.counts, support.worth, counted_in_words(support.rows)
    elif about is not None:
        counts = about
        basis = (
            f"about {counted_in_words(round(float(counts.sum())))}, of divided intervals by the shares of their laws"
        )
    elif n_rows > 0:
        expected = n_rows * share_of_rows(model, evidence)
        met = "the model expects to meet the conditions"
        likely = "the model expects all rows to be worth by their likelihoods"
        basis = f"about {counted_in_words(round(expected))}, as many as {met if is_countable(evidence) else likely}"
        counts = expected * table.to_numpy()
    else:
        return None, ""
    if worth < 1.0:
        basis += f", worth {counted_in_words(round(float(counts.sum()) * worth))} by their weights"
    return counts * worth, basis


def share_of_rows(model: Mixture, evidence: Evidence) -> float:
    """Return what share of all rows evidence leaves: E[w]² / E[w²], with w the likelihood of a row of the model.

    For conditions this is their probability. Rows that count by their likelihoods are worth as many independent rows as
    this share of them, by Kish's formula; the scale of the likelihoods does not matter.
    """
    # Squares of large likelihoods would overflow.
    scaled = {n: weights / weights.max() for n, weights in evidence.items()}
    squares = {n: weights**2 for n, weights in scaled.items()}
    return float(np.exp(2 * log_mass(model, scaled) - log_mass(model, squares)))


def _possible(shape: tuple[int, ...], positions: Sequence[int], evidence: Evidence) -> np.ndarray:
    """Return which cells the evidence about the variables of the table allows, (I_a, I_b, …)."""
    allowed = np.ones(shape, dtype=bool)
    for axis, n in enumerate(positions):
        if n in evidence:
            allowed &= np.expand_dims(evidence[n] > 0, [other for other in range(len(shape)) if other != axis])
    return allowed
