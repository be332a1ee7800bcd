"""Every question about one variable given another: what a model answers, and what the rows say.

P(t | c) is compared with the share of t among the rows that meet c and have the cell of t. If p were the true
probability, the share s of n rows would differ from it by chance. The root of its deviance,

    d = √(2 n (s log(s / p) + (1 − s) log((1 − s) / (1 − p))))

is then about the size of a standard normal variable, also for few rows and for p near zero or one. The largest of M
such variables is about √(2 log M). This is what chance explains, with M the number of cells of the tables of all pairs.

**Missing cells.** The rows that have both cells may differ from the others, and then a model may be right and differ
from the shares. If the chance that a cell is missing depends on c alone, the shares of t given c are those of all rows.
If it depends on t, they are not. So the model's table is also adjusted to the rows that have both cells: its rows and
columns are multiplied by numbers that give it the margins of the counts. This is what happens to a table whose cells
are missing with chances u(x_t) · v(x_c). The model agrees with a share that lies between the two probabilities. Chances
that depend on a third variable cannot be accounted for with counts of pairs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from juror.answers.block import Mixture
from juror.answers.pair_events import Events
from juror.answers.pairs import pair_tables
from juror.runners.local import LocalRunner

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts

# Of fewer rows a share says next to nothing.
LEAST_ROWS = 20
# The fewest tables in which one false alarm is expected, and one about rows that all agree
_TABLES_AN_ALARM, _TABLES_A_RULE = 50, 10
# Chances below exp of this are no chances.
_NO_CHANCE = -30.0
_MORE = 1.0 + 1e-9
# Differences up to the first are small, whatever the number of rows; beyond the second a model misleads.
SMALL, LARGE = 0.05, 0.1
# Adjusting to margins converges geometrically, and fast unless the variables nearly determine each other.
_MOST_ROUNDS, _CLOSE = 200, 1e-6


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions P(target | condition), and what the model and the rows say.

    Attributes
    ----------
    target, condition : numpy.ndarray of int, (n,)
        The places of the events among all targets and all conditions.
    probability : numpy.ndarray, (n,)
        The answer of the model.
    adjusted : numpy.ndarray, (n,)
        Its answer adjusted to the rows that have both cells; the same where no row lacks one, and where the probability
        agrees with the share as it is.
    share : numpy.ndarray, (n,)
        The share of the target among the rows that meet the condition and have the target's cell.
    rows : numpy.ndarray, (n,)
        The number of these rows.
    """

    target: np.ndarray
    condition: np.ndarray
    probability: np.ndarray
    adjusted: np.ndarray
    share: np.ndarray
    rows: np.ndarray

    @classmethod
    def one(cls, probability: float, share: float, rows: float) -> Questions:
        """Return a question with its answers, whatever it is about."""
        p, place = np.array([probability]), np.zeros(1, dtype=np.intp)
        return cls(place, place, p, p, np.array([share]), np.array([rows]))

    def __len__(self) -> int:
        return len(self.share)

    def some(self, chosen: np.ndarray) -> Questions:
        """Return some of the questions, in the order given."""
        return Questions(*(getattr(self, each.name)[chosen] for each in fields(self)))

    @classmethod
    def together(cls, parts: Sequence[Questions]) -> Questions:
        """Return the questions of several parts."""
        return cls(*(np.concatenate([getattr(part, each.name) for part in parts]) for each in fields(cls)))

    @classmethod
    def none(cls) -> Questions:
        """Return no questions."""
        places, numbers = np.empty(0, dtype=np.intp), np.empty(0)
        return cls(places, places, numbers, numbers, numbers, numbers)

    @cached_property
    def nearest(self) -> np.ndarray:
        """The number between the two probabilities of the model that is nearest to the share, (n,)."""
        low, high = np.minimum(self.probability, self.adjusted), np.maximum(self.probability, self.adjusted)
        return np.clip(self.share, low, high)

    @cached_property
    def gap(self) -> np.ndarray:
        """How far the share is from the model, (n,)."""
        return np.abs(self.share - self.nearest)

    @cached_property
    def deviation(self) -> np.ndarray:
        """The root of the deviance of every share, (n,)."""
        return deviance_root(self.share, self.nearest, self.rows)

    def is_off(self, chance: float, chance_of_rules: float, is_cell: np.ndarray) -> np.ndarray:
        """Return where the model misleads, (n,): by more than 0.1, or 0.05 if all rows agree, and beyond chance.

        The largest of many deviations is beyond chance in every other table, so that only one in fifty may be. Where
        all rows of a label show the same label, another bound holds, see :func:`chance_of_rules`. Ranges are many, and
        mostly probable, so that rows often agree on them by chance: ``is_cell`` says which questions are about two
        labels.
        """
        return self.misleads(chance, chance_of_rules, is_cell & (self.share == 1.0))

    def misleads(self, chance: float, chance_of_rules: float, agree: np.ndarray) -> np.ndarray:
        """Return this with the bounds of rules for the questions on which all rows ``agree``, (n,)."""
        rare = math.sqrt(chance**2 + 2.0 * math.log(_TABLES_AN_ALARM))
        return (self.gap > np.where(agree, SMALL, LARGE)) & (self.deviation > np.where(agree, chance_of_rules, rare))

    def log_chances_of_rules(self, worth: float) -> np.ndarray:
        """Return log p^n wherever all n rows may agree, by chance alone, on what the model holds for less than sure.

        Every row is worth some independent rows.
        """
        p = np.maximum(self.probability, self.adjusted)
        less = (p < 1.0 - SMALL) & (p > 0.0)
        logs = self.rows[less] * worth * np.log(p[less])
        return np.asarray(logs[logs > _NO_CHANCE])

    def can_tell(self, chance: float) -> np.ndarray:
        """Return where there are enough rows to tell a large error from chance, (n,)."""
        off = self.nearest + np.where(self.nearest < 0.5, LARGE, -LARGE)
        return (deviance_root(off, self.nearest, self.rows) > chance) | (self.deviation > chance)

    def beyond(self, chance: float) -> np.ndarray:
        """Return the part of every difference that chance does not explain, (n,); below zero within chance."""
        times = self.deviation / chance
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(times > 1, self.gap * (1 - 1 / times), np.minimum(times - 1, 0.0))


def chance_of_rules(log_chances: np.ndarray, worth: float) -> float:
    """Return the largest deviation of rows that all agree that chance explains, if the model is true.

    n rows all show a label of probability p with the chance p^n, and their deviation is √(−2 log p^n). Few conditions
    have a label that is probable enough to be that of all rows. So the bound is found from the chances of all cells:
    beyond it, one false alarm is expected in ten tables.

    >>> found = chance_of_rules(np.log([0.001, 0.03, 0.06, 0.3]), 1.0)
    >>> f"{np.exp(-(found**2) / 2):.2f}"
    '0.30'
    """
    logs = np.sort(log_chances)
    n_below = int(np.searchsorted(np.cumsum(np.exp(logs)), 1.0 / _TABLES_A_RULE, side="right"))
    # A little more, so that rounding does not let the cell at the bound pass.
    return _MORE * math.sqrt(-2.0 * logs[n_below] / worth) if n_below < len(logs) else 0.0


def deviance_root(share: np.ndarray, p: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the root of the deviance of shares of some rows from probabilities.

    >>> deviance_root(np.array([0.5, 0.0, 0.1]), np.array([0.5, 0.02, 0.0]), np.array([10, 100, 10])).round(2).tolist()
    [0.0, 2.01, inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(share > 0, share * np.log(share / p), 0.0)
        miss = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - p)), 0.0)
    # Rounding may give a little less than zero where both are equal.
    return np.sqrt(2 * rows * np.maximum(hit + miss, 0.0))


# A variable, and with every later one the fitted table, that of the rows, and whether some rows lack a cell of the two
_OfVariable = tuple[int, list[tuple[np.ndarray, np.ndarray, bool]]]


@dataclass(frozen=True, eq=False)
class PairQuestions:
    """All questions about two variables of a model, and the counts to compare its answers with."""

    model: Mixture
    counts: PairCounts
    worth: float
    targets: Events
    conditions: Events

    @classmethod
    def of(cls, model: Mixture, counts: PairCounts, worth: float) -> PairQuestions:
        """Prepare the questions; the counts are of the domain of the model, and each is worth some independent rows."""
        return cls(model, counts, worth, Events.targets(model.domain), Events.conditions(model.domain))

    @cached_property
    def chance(self) -> float:
        """The largest deviation that chance explains: about that of as many normal variables as pairs have cells.

        There are more questions than cells, but those of a pair depend on each other. If rows are worth less than one
        row, their shares deviate more.
        """
        n_cells = sum(table.size for table in self.counts.tables)
        return math.sqrt(2 * math.log(max(n_cells, 2)) / self.worth)

    def by_variable(self, runner: LocalRunner) -> Iterator[_OfVariable]:
        """Yield, for every variable but the last, what is fitted and counted of it and any later one."""
        totals = self.counts.totals
        n_rows = totals.max(initial=0.0) if self.counts.n_rows is None else self.counts.n_rows
        pairs = zip(pair_tables(self.model, runner), self.counts.tables, totals, strict=True)
        for a, group in groupby(pairs, key=lambda pair: pair[0][0]):
            yield a, [(fitted, counted, total < n_rows) for (_, _, fitted), counted, total in group]

    def about(self, of_variable: _OfVariable) -> Questions:
        """Return the questions about a variable and any later one that have enough rows."""
        a, tables = of_variable
        fitted, counted = (np.hstack([each[side] for each in tables]) for side in (0, 1))
        questions = self._compared(a, range(a + 1, len(self.model.domain)), fitted, counted)
        return self._adjusted(questions, a, {b: each[:2] for b, each in enumerate(tables, a + 1) if each[2]})

    def _compared(self, a: int, later: range, fitted: np.ndarray, counted: np.ndarray) -> Questions:
        """Compare the tables of a variable and of some later ones, which stand side by side, (I_a, Σ I_b)."""
        joint, condition = self._sums(a, later, fitted)
        hits, rows = self._sums(a, later, counted)
        targets, conditions = np.arange(len(self.targets)), np.arange(len(self.conditions))
        there = np.meshgrid(conditions[self.conditions.of(a)], targets[self.targets.span(later)], indexing="ij")
        back = np.meshgrid(targets[self.targets.of(a)], conditions[self.conditions.span(later)], indexing="ij")
        enough = np.flatnonzero(rows >= LEAST_ROWS)
        with np.errstate(divide="ignore", invalid="ignore"):
            # A condition that is impossible under the model has no probability: what was seen is then all the more odd.
            p = np.nan_to_num(joint[enough] / condition[enough]).clip(0.0, 1.0)
        share = (hits[enough] / rows[enough]).clip(0.0, 1.0)
        target = np.concatenate([there[1].ravel(), back[0].ravel()])[enough]
        given = np.concatenate([there[0].ravel(), back[1].ravel()])[enough]
        return Questions(target, given, p, p, share, rows[enough])

    def _sums(self, a: int, later: range, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the sums of a table over target and condition, and over the condition, of all questions.

        First those about later variables given this one, then those about this one given later ones.
        """
        cumulated = np.zeros((table.shape[0] + 1, table.shape[1] + 1))
        cumulated[1:, 1:] = table.cumsum(axis=0).cumsum(axis=1)
        sizes = np.array(self.model.domain.cardinalities)
        ends = np.concatenate([[0], np.cumsum(sizes[later.start : later.stop])])
        whole = ends[:-1], ends[1:]
        given, (wanted, owner) = self.conditions.runs(a), self.targets.columns(later, ends)
        there = _over(cumulated, given, wanted), _over(cumulated, given, whole)[:, owner]
        wanted_here, (given_later, _) = self.targets.runs(a), self.conditions.columns(later, ends)
        joint = _over(cumulated, wanted_here, given_later)
        back = joint, np.broadcast_to(_over(cumulated, (np.array([0]), sizes[[a]]), given_later), joint.shape)
        joint, condition = (
            np.concatenate([one.ravel(), other.ravel()]) for one, other in zip(there, back, strict=True)
        )
        return joint, condition

    def _adjusted(
        self, questions: Questions, a: int, incomplete: Mapping[int, tuple[np.ndarray, np.ndarray]]
    ) -> Questions:
        """Adjust the model to the rows that have both cells, for the pairs in which this may explain a difference."""
        if not incomplete:
            return questions
        wrong = (questions.gap > SMALL) & (questions.deviation > self.chance)
        later = np.maximum(self.targets.variable[questions.target], self.conditions.variable[questions.condition])
        adjusted = questions.probability.copy()
        for b in np.unique(later[wrong]).tolist():
            if b in incomplete:
                fitted, counted = incomplete[b]
                raked = adjust(fitted, counted)
                adjusted[later == b] = self._compared(a, range(b, b + 1), raked, counted).probability
        return replace(questions, adjusted=adjusted)


def _over(
    cumulated: np.ndarray, rows: tuple[np.ndarray, np.ndarray], columns: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """Return the sums of a table over runs of rows and of columns, given its cumulated sums."""
    part = cumulated[rows[1]] - cumulated[rows[0]]
    return part[:, columns[1]] - part[:, columns[0]]


def adjust(table: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Multiply rows and columns of a table so that its margins become those of counts.

    >>> adjust(np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([[8.0, 4.0], [1.0, 8.0]])).round(1).tolist()
    [[8.0, 4.0], [1.0, 8.0]]
    """
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    for _ in range(_MOST_ROUNDS):
        table = table * _ratio(columns, table.sum(axis=0))
        sums = table.sum(axis=1)
        table = table * _ratio(rows, sums)[:, None]
        if np.abs(sums - rows).max() <= _CLOSE * rows.sum():
            break
    return table


def _ratio(wanted: np.ndarray, got: np.ndarray) -> np.ndarray:
    return np.divide(wanted, got, out=np.zeros_like(wanted), where=got > 0)
