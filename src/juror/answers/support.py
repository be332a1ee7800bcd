"""The support of an answer: how many rows of a table it is about, and what shares they have.

An answer about one or two variables is supported by the pair counts that a model keeps, :func:`counted_support`; other
answers by rows that are counted for them (:mod:`juror.answers.matching_rows`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from juror.answers.label_frames import AsFrame, free_name
from juror.answers.marginals import ProbabilityTable
from juror.answers.number_summary import NumberSummary, number_summary
from juror.answers.short_tables import summed
from juror.answers.table_texts import TableText, bar, most_probable
from juror.domain import Domain
from juror.domain.binning import parts_of
from juror.domain.evidence import Evidence
from juror.domain.variable import Variable

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts

# A probability and a share differ if they are further apart than this many standard errors and this many rows. One row
# more or less is nothing to wonder at, though it may be many standard errors of a rare label.
_STANDARD_ERRORS, _ROWS = 3.0, 1.0
_MARK = "≠"
# The headings of what is known of the rows of a cell
CELLS = ("share", "rows")
_CERTAIN = frozenset((0.0, 1.0))


@dataclass(frozen=True, eq=False)
class SupportTable(AsFrame):
    """An answer beside the rows of a table: their number and their shares.

    Attributes
    ----------
    table : ProbabilityTable
        The answer of the model.
    counts : numpy.ndarray, (I_a, I_b, …)
        How many rows meet the conditions and have the labels of each cell; the sum of their weights if rows have
        weights.
    n_possible : float, optional
        How many rows contradict none of the conditions: those that are counted, and those that have a missing cell
        among the variables of the question. None if this is unknown.
    worth : float
        The number of independent rows that a weight of one is worth, by Kish's formula if weights have fractions; one
        for rows without weights, and for whole weights, which count equal rows.
    exact : NumberSummary, optional
        Where the number asked for lies in the rows, from its values; None if only their intervals are known.
    """

    table: ProbabilityTable
    counts: np.ndarray
    n_possible: float | None = None
    worth: float = 1.0
    exact: NumberSummary | None = None

    @cached_property
    def rows(self) -> float:
        """How many rows meet the conditions and have the variables asked for; the sum of their weights."""
        return float(self.counts.sum())

    @property
    def n_missing(self) -> float | None:
        """How many more rows may meet the conditions, but have a missing cell; None if this is unknown."""
        if self.n_possible is None:
            return None
        # Rounding of sums of weights is no row.
        more = self.n_possible - self.rows
        return more if more > 1e-9 * self.n_possible else 0.0

    @cached_property
    def shares(self) -> np.ndarray:
        """The share of these rows in each cell, (I_a, I_b, …); NaN if there are no rows."""
        return self.counts / self.rows if self.rows > 0 else np.full(self.counts.shape, np.nan)

    @cached_property
    def differs(self) -> np.ndarray:
        """Where probability p and share s differ by more than chance would, (I_a, I_b, …).

        That is ``|s − p| > 3 √(p (1 − p) / n) + 1 / n`` for n rows: three standard errors of a share of n rows drawn
        from the model, and one row.
        """
        return beyond_chance(self.counts * self.worth, self.rows * self.worth, self.table.to_numpy())

    @property
    def summary(self) -> NumberSummary | None:
        """Mean, standard deviation and median of the rows, if the answer is about a number and there are rows.

        Counts that a model keeps are of intervals, in which numbers are taken to follow the law of the column.
        """
        if self.table.summary is None or not self.rows > 0:
            return None
        return self.exact or number_summary(self.table.variables[0], self.shares, settled=None)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns: one per variable, ``probability``, ``share``, ``rows`` and ``differs``."""
        columns = self.table.to_dict()
        are_whole = bool(np.all(self.counts == np.floor(self.counts)))
        counts = self.counts.astype(np.int64) if are_whole else self.counts
        more = {"share": self.shares, "rows": counts, "differs": self.differs}
        for heading, values in more.items():
            columns[free_name(heading, columns)] = values.ravel().tolist()
        return columns

    def __str__(self) -> str:
        return self.shown._lines().as_text(self.table.title, self._below())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.shown._lines().as_html(self.table.title, self._below())

    @cached_property
    def shown(self) -> SupportTable:
        """The same answer with fewer intervals, where there are many."""
        groups = self.table.groups
        return replace(self, table=self.table.summed_over(groups), counts=summed(self.counts, groups))

    def _below(self) -> list[str]:
        return [*self.in_words(), *self.shown.notes(), *self.table.joined_in_words()]

    def in_words(self) -> list[str]:
        """Say where the number lies, by the model and then by the rows; nothing if the table is about labels."""
        known = "of the rows" if self.exact is not None else "of the rows, by their intervals"
        return self.table.in_words() + ([] if self.summary is None else [f"{known}: {self.summary}"])

    def notes(self) -> list[str]:
        """Say below the table how many rows there are, and what the mark means."""
        note = "no row meets the conditions"
        if self.rows > 0:
            note = f"shares of {counted_in_words(self.rows)}"
        if self.n_missing:
            note += f"; {in_words(self.n_missing)} more may meet the conditions, but have missing cells"
        notes = [note]
        if self.differs.any():
            notes.append(f"{_MARK} differs by more than chance")
        return notes

    def _lines(self) -> TableText:
        """Return the lines shown: labels, probability, share, rows, and if needed a mark and a bar."""
        p, names = self.table.to_numpy().ravel(), self.table.names
        places, note = most_probable(p)
        marks, bars = bool(self.differs.any()), len(names) == 1
        body = []
        for n in places:
            line = [*self.table.labels_of(n), f"{p[n]:.4f}", *self.cells_of(n)]
            body.append(line + [_MARK if self.differs.flat[n] else ""] * marks + [bar(p[n])] * bars)
        return TableText([*names, "probability", *CELLS, *[""] * (marks + bars)], body, len(names), note)

    def cells_of(self, place: int) -> list[str]:
        """Return the share and the rows of a cell as they are shown, see :data:`CELLS`."""
        share = self.shares.flat[place]
        return ["–" if np.isnan(share) else f"{share:.4f}", in_words(self.counts.flat[place])]


def beyond_chance(counts: np.ndarray, n: float, p: np.ndarray) -> np.ndarray:
    """Return where counts among n rows are further from n p than chance, in fewer than one of 200 samples.

    >>> beyond_chance(np.array([1.0, 2.0, 30.0]), 100.0, np.array([0.0, 0.0, 0.2]))
    array([False,  True, False])
    """
    # Rounding may make a probability a little more than one.
    variance = n * np.maximum(p * (1.0 - p), 0.0)
    return np.asarray(np.abs(counts - n * p) > _STANDARD_ERRORS * np.sqrt(variance) + _ROWS)


def in_words(count: float) -> str:
    """Return a number of rows as text, with a decimal if it is a sum of weights with fractions.

    >>> in_words(1234.0), in_words(0.25)
    ('1,234', '0.2')
    """
    return f"{count:,.0f}" if float(count).is_integer() else f"{count:,.1f}"


def counted_in_words(count: float) -> str:
    """Return a number of rows with the noun.

    >>> counted_in_words(1.0), counted_in_words(1234.0)
    ('1 row', '1,234 rows')
    """
    return f"{in_words(count)} row{'' if count == 1 else 's'}"


def is_countable(evidence: Evidence) -> bool:
    """Whether each condition holds for some labels and not for the others; likelihoods cannot be counted."""
    return all(_CERTAIN.issuperset(weights.tolist()) for weights in evidence.values())


def counted_support(
    table: ProbabilityTable, counts: PairCounts, targets: Sequence[int], evidence: Evidence, worth: float
) -> SupportTable | None:
    """Return what pair counts say about an answer; None if it is about more than two variables, or has likelihoods."""
    if not is_countable(evidence):
        return None
    found = _counted(counts, targets, evidence)
    return None if found is None else SupportTable(table, found, _n_possible(counts, evidence), worth)


def nearly_counted(domain: Domain, counts: PairCounts, targets: Sequence[int], evidence: Evidence) -> np.ndarray | None:
    """Return about how many rows of a table are behind every cell of an answer whose conditions divide intervals.

    Rows of an interval count by the share of its law that meets the condition. The domain is that of the answer, with
    divided intervals. None if the counts do not say so either.
    """
    if not is_countable(evidence) or any(domain[n] != counts.domain[n] for n in targets):
        return None
    whole = {n: _in_whole(counts.domain[n], domain[n], weights) for n, weights in evidence.items()}
    return _counted(counts, targets, whole)


def _in_whole(whole: Variable, parts: Variable, weights: np.ndarray) -> np.ndarray:
    """Return for every interval the share of its law that meets a condition on parts of intervals, (I,)."""
    if parts == whole:
        return weights
    codes, shares = parts_of(whole, parts)
    return np.bincount(codes, weights * shares, minlength=whole.cardinality)


def _counted(counts: PairCounts, targets: Sequence[int], evidence: Evidence) -> np.ndarray | None:
    """Return what pair counts say about the cells of an answer; None if it is about more than two variables."""
    others = [n for n in evidence if n not in targets]
    n_involved = len(targets) + len(others)
    if n_involved > 2 or (n_involved == 1 and counts.singles is None):
        return None
    matching = _matching(counts, targets, others, evidence)
    for axis, n in enumerate(targets):
        if n in evidence:
            matching = matching * (evidence[n] if axis == len(targets) - 1 else evidence[n][:, None])
    return matching


def _matching(counts: PairCounts, targets: Sequence[int], others: Sequence[int], evidence: Evidence) -> np.ndarray:
    """Return the counts of the targets over the rows that meet the condition on another variable, if there is one."""
    if others:
        return np.asarray(evidence[others[0]] @ counts.pair(others[0], targets[0]))
    if len(targets) == 2:
        return counts.pair(*targets)
    assert counts.singles is not None
    return counts.singles[targets[0]]


def _n_possible(counts: PairCounts, evidence: Evidence) -> float | None:
    """Return how many rows contradict no condition with the cells that they have."""
    if counts.singles is None or counts.n_rows is None:
        return None
    possible = counts.n_rows
    for n, weights in evidence.items():
        possible -= float(counts.singles[n] @ (1.0 - weights))
    if len(evidence) == 2:
        # Rows that contradict both conditions were taken away twice.
        one, other = evidence
        possible += float((1.0 - evidence[one]) @ counts.pair(one, other) @ (1.0 - evidence[other]))
    return possible
