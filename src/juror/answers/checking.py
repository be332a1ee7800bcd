"""Hold a model against the counts of a table: which answers about two variables differ from the rows, worst first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.label_frames import AsFrame
from juror.answers.pair_events import Event, Events
from juror.answers.pair_questions import LEAST_ROWS, SMALL, PairQuestions, Questions, chance_of_rules
from juror.answers.table_texts import align, html_table
from juror.errors import ModelError, shortlist
from juror.record import FitRecord
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts

# So that the table of a wide domain fits in memory; only the best answers are left out.
_MOST_LINES = 1_000_000
_PAIRS_SHOWN = 10
_SHOWN = ("question", "probability", "share", "rows", "difference")


@dataclass(frozen=True)
class Finding:
    """One question about two variables, P(target | condition), with the answers of the model and of the rows."""

    target: Event
    condition: Event
    probability: float
    share: float
    rows: float

    @property
    def question(self) -> str:
        """The question as text."""
        return f"P({self.target} | {self.condition})"

    def __str__(self) -> str:
        return f"{self._answer}, but {self.share:.2f} of {self.rows:,.0f} rows"

    @property
    def without_rows(self) -> str:
        """The question and the model's answer as text, without share and number of rows, which may be private."""
        return f"{self._answer}, which the rows contradict"

    @property
    def is_cell(self) -> bool:
        """Whether the question is about two labels, not ranges."""
        return self.target.high - self.target.low == self.condition.high - self.condition.low == 1

    @property
    def _answer(self) -> str:
        return f"{self.question} is {self.probability:.2f}"


@dataclass(frozen=True, eq=False)
class CheckTable(AsFrame):
    """Questions about two variables, and what model and rows answer, worst first.

    A question is P(a = x | b = y), for all labels of any two variables and in both directions. Ordered variables are
    asked for ranges too, such as b >= y. A line has the model's probability, the share among the rows that meet the
    condition and have both cells, and the number of these rows, at least 20. First come the questions whose difference
    is beyond chance, by the part of it that chance does not explain.

    Beyond chance means: about further off than the furthest of all cells would be if the model were true and the rows
    were drawn from it. A model that was fitted to the same rows is usually nearer.

    Attributes
    ----------
    n_cells : int
        The number of cells P(a = x | b = y) that have enough rows to tell an error of 0.1 from chance, without ranges.
    n_well : int
        How many of these the model reproduces well: within 0.05 of the share, or within chance.
    n_off : int
        How many of all questions, also about ranges, are off, see :attr:`is_off`; also of those that are not kept.
    n_questions : int
        How many questions there are, also about ranges and not kept.
    chance, chance_of_rules : float
        The largest deviation, in standard errors, that chance explains, and that of conditions whose rows all agree.
    absent : tuple of str
        The variables of the model that the rows do not have, about which nothing was asked.
    """

    n_cells: int
    n_well: int
    n_off: int
    n_questions: int
    chance: float
    chance_of_rules: float
    _questions: Questions
    _targets: Events
    _conditions: Events
    absent: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """How many cells are well reproduced, how many questions are off, and which variables the rows do not have."""
        without = f", without {shortlist(self.absent)}, which the rows do not have" if self.absent else ""
        return reproduced_in_words(self.n_well, self.n_cells, self.n_off, self.n_questions) + without

    def __len__(self) -> int:
        return len(self._questions)

    def head(self, n: int) -> CheckTable:
        """Return the table with its first n questions only."""
        return replace(self, _questions=self._questions.some(np.arange(min(n, len(self)))))

    def worst_of_pairs(self, n: int) -> CheckTable:
        """Return the table with the worst question of each of the n pairs of variables that are furthest off."""
        pairs = np.sort([self._variables(self._targets), self._variables(self._conditions)], axis=0)
        _, first = np.unique(pairs, axis=1, return_index=True)
        return replace(self, _questions=self._questions.some(np.sort(first)[:n]))

    def _variables(self, events: Events) -> np.ndarray:
        """Return the positions of the variables of all targets, or of all conditions."""
        return events.variable[self._questions.target if events is self._targets else self._questions.condition]

    @property
    def is_off(self) -> np.ndarray:
        """Which questions are off by more than 0.1, or 0.05 if all rows of a label agree, and beyond chance, (n,)."""
        asked = self._questions
        is_cell = self._targets.is_label[asked.target] & self._conditions.is_label[asked.condition]
        return asked.is_off(self.chance, self.chance_of_rules, is_cell)

    def off(self) -> CheckTable:
        """Return the table with only the questions that are off, see :attr:`is_off`."""
        return replace(self, _questions=self._questions.some(np.flatnonzero(self.is_off)))

    def findings(self) -> Iterator[Finding]:
        """Iterate over the questions."""
        asked = self._questions
        numbers = zip(asked.probability.tolist(), asked.share.tolist(), asked.rows.tolist(), strict=True)
        places = zip(asked.target, asked.condition, strict=True)
        for (target, condition), (p, share, rows) in zip(places, numbers, strict=True):
            yield Finding(self._targets[target], self._conditions[condition], p, share, rows)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: question, target, given, probability, share, rows, difference, beyond_chance and adjusted.

        ``difference`` is share − probability. ``beyond_chance`` is the part of its size that chance does not explain,
        zero if it explains all. ``adjusted`` is the probability adjusted to the rows that have both cells: the model
        agrees with a share between the two.
        """
        asked = self._questions
        target, given = self._variables(self._targets), self._variables(self._conditions)
        names = self._targets.domain.names
        return {
            "question": [finding.question for finding in self.findings()],
            "target": [names[n] for n in target],
            "given": [names[n] for n in given],
            "probability": asked.probability.tolist(),
            "share": asked.share.tolist(),
            "rows": asked.rows.tolist(),
            "difference": (asked.share - asked.probability).tolist(),
            "beyond_chance": np.maximum(asked.beyond(self.chance), 0.0).tolist(),
            "adjusted": asked.adjusted.tolist(),
        }

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        columns = self.worst_of_pairs(_PAIRS_SHOWN).to_dict()
        numbers = zip(*(columns[name] for name in _SHOWN[1:]), strict=True)
        body = [
            [question, f"{p:.3f}", f"{share:.3f}", f"{rows:,.0f}", f"{difference:+.3f}"]
            for question, (p, share, rows, difference) in zip(columns["question"], numbers, strict=True)
        ]
        return list(_SHOWN), body

    def __str__(self) -> str:
        if not len(self):
            return f"{self.sentence}; no condition has {LEAST_ROWS} rows"
        return f"{self.sentence}\nThe worst question of each pair:\n" + align(*self._grid(), n_text=1)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(self.sentence, *self._grid())


def check(
    model: Mixture,
    counts: PairCounts,
    most: int = _MOST_LINES,
    worth: float = 1.0,
    runner: LocalRunner | None = None,
) -> CheckTable:
    """Compare all answers of a model about two variables with the counts of a table.

    Parameters
    ----------
    model : Mixture
        The distribution.
    counts : PairCounts
        The counts of a table with the same variables and labels.
    most : int
        How many questions to keep at most, the worst. All are looked at and counted.
    worth : float
        How many independent rows a row is worth, less than one for uneven weights.
    runner : LocalRunner, optional
        The threads to use; all cores by default. The result does not depend on their number.

    Examples
    --------
    >>> import juror
    >>> people = juror.datasets.titanic()
    >>> independent = juror.fit(people, rank=1, method="em")
    >>> check(independent, juror.PairCounts.of(people)).worst_of_pairs(2)
    30 of 72 pair cells with enough rows to tell are well reproduced; 26 of 72 questions about labels or ranges are off
    The worst question of each pair:
    question                          probability  share  rows  difference
    P(Survived = Yes | Sex = Female)        0.323  0.732   470      +0.409
    P(Class = Crew | Age = Child)           0.402  0.000   109      -0.402
    """
    if counts.domain != model.domain:
        raise ModelError("The counts are of other variables or labels than the model. They must have the same domain.")
    asked = PairQuestions.of(model, counts, worth)
    chance = asked.chance

    def judge(of_variable: Any) -> _Judged:
        questions = asked.about(of_variable)
        is_cell = asked.targets.is_label[questions.target] & asked.conditions.is_label[questions.condition]
        cells = questions.some(is_cell)
        rules = cells.log_chances_of_rules(worth)
        cells = cells.some(cells.can_tell(chance))
        n_well = int(np.sum((cells.gap <= SMALL) | (cells.deviation <= chance)))
        agree = is_cell & (questions.share == 1.0)
        n_far = int(questions.misleads(chance, math.inf, agree).sum())
        agreeing = questions.deviation[agree & (questions.gap > SMALL)]
        return _Judged(len(cells), len(questions), n_well, rules, n_far, agreeing, _worst(questions, chance, most))

    def merge(one: _Judged, other: _Judged) -> _Judged:
        worst = Questions.together([one.worst, other.worst])
        # Sorted only now and then, and never many more than are kept
        worst = _worst(worst, chance, most) if len(worst) > 2 * most else worst
        rules = np.concatenate([one.rules, other.rules])
        n_cells, n_questions = one.n_cells + other.n_cells, one.n_questions + other.n_questions
        n_well, n_far = one.n_well + other.n_well, one.n_far + other.n_far
        agreeing = np.concatenate([one.agreeing, other.agreeing])
        return _Judged(n_cells, n_questions, n_well, rules, n_far, agreeing, worst)

    with one_blas_thread(), LocalRunner() if runner is None else nullcontext(runner) as threads:
        of_variables = list(asked.by_variable(threads))
        nothing = _Judged(0, 0, 0, np.empty(0), 0, np.empty(0), Questions.none())
        found = threads.map_reduce(judge, of_variables, merge) if of_variables else nothing
    of_rules = chance_of_rules(found.rules, worth)
    worst = _worst(found.worst, chance, most)
    n_off = found.n_far + int(np.sum(found.agreeing > of_rules))
    bounds, events = (chance, of_rules), (asked.targets, asked.conditions)
    return CheckTable(found.n_cells, found.n_well, n_off, found.n_questions, *bounds, worst, *events)


@dataclass(frozen=True)
class _Judged:
    """The questions about a variable and later ones.

    Cells that can be told from chance, and all questions; the cells that are well reproduced; the log chances of rules;
    how many questions are far off, without those on which all rows agree; the deviations of these, if they are not
    near; and the worst questions.
    """

    n_cells: int
    n_questions: int
    n_well: int
    rules: np.ndarray
    n_far: int
    agreeing: np.ndarray
    worst: Questions


def worth_of_rows(info: FitRecord | None) -> float:
    """Return how many independent rows a weight of one in a fit is worth: less than one if weights are uneven."""
    if info is None or info.n_effective is None or not info.n_rows:
        return 1.0
    return info.n_effective / info.n_rows


def reproduced_in_words(n_well: int, n_cells: int, n_off: int | None = None, n_questions: int | None = None) -> str:
    """Say how many cells are well reproduced, and how many questions are off, if it is known, and of how many.

    >>> reproduced_in_words(1240, 1240, 1, 5200)
    '1,240 of 1,240 pair cells with enough rows to tell are well reproduced; 1 of 5,200 questions about labels or \
ranges is off'
    """
    well = f"{n_well:,} of {n_cells:,} pair cells with enough rows to tell are well reproduced"
    if not n_cells:
        well = "no pair cell has enough rows to tell whether it is well reproduced"
    return f"{well}; {_off_in_words(n_off, n_questions)}" if n_off or (n_cells and n_off is not None) else well


def _off_in_words(n_off: int, n_questions: int | None) -> str:
    """Say how many questions are off.

    >>> _off_in_words(0, 98), _off_in_words(1234, None)
    ('none of 98 questions about labels or ranges is off', '1,234 questions about labels or ranges are off')
    """
    of_all = "" if n_questions is None else f"of {n_questions:,} "
    number, verb = f"{n_off:,}" if n_off else "none" if of_all else "no", "are" if n_off > 1 else "is"
    questions = "question" if n_off <= 1 and not of_all else "questions"
    return f"{number} {of_all}{questions} about labels or ranges {verb} off"


def _worst(questions: Questions, chance: float, most: int) -> Questions:
    """Return the worst questions, the worst first; of two complements first the one that more rows show."""
    if not most:
        return Questions.none()
    # Rounded, as the numbers of complements differ by rounding errors
    beyond = np.round(questions.beyond(chance), 9)
    if len(beyond) > most:
        # To sort all questions about fine intervals takes long.
        far = np.flatnonzero(beyond >= np.partition(beyond, -most)[-most])
        questions, beyond = questions.some(far), beyond[far]
    order = np.lexsort((-questions.share, -beyond))
    return questions.some(order[:most])
