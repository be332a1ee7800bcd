"""Hold a fitted model against its own rows: which of its answers about two variables do they contradict?

Where cells are missing, the rows that have both cells of a question may differ from the others in any variable, and the
model may be right. If it is, and missing cells depend on observed ones only, then two things hold but for chance:

- the share of a target t among the rows that meet the condition and have its cell is the mean of P(t | all other cells
  of the row) over these rows;
- the answer is the share among all rows, after their missing cells are filled in from the others of each row.

So missing cells explain a difference only if both hold. If another column determines the target, the first holds nearly
always, even if the answer is wrong. The second alone says less, because the judged model itself fills the cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from juror.answers.agreement import agreement
from juror.answers.block import Mixture
from juror.answers.checking import CheckTable, Finding, check, worth_of_rows
from juror.answers.interval_ends import Agreement
from juror.answers.pair_questions import Questions
from juror.counts.counts import PairCounts
from juror.errors import Complaint, Option, ZeroProbabilityError
from juror.fitting.filled_share import expected_share, filled_share
from juror.fitting.wide_intervals import Reread, contradicted_inside
from juror.record import FitRecord
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.table import Table
from juror.runners.local import LocalRunner
from juror.solvers.solver import Statistic

# Pairs of variables that a warning names, pairs to look at, and questions to keep for them
_NAMED, _TRIED, _KEPT = 5, 30, 10_000


@dataclass(frozen=True)
class Verdict:
    """How well a model reproduces the pairs of variables of its own rows.

    Attributes
    ----------
    reproduced : tuple of two int, optional
        The number of cells that are well reproduced, and of all that have enough rows to tell; None without counts.
    findings : tuple of Finding
        The worst question of each of at most five pairs of variables that are off by more than 0.1, or 0.05 if all rows
        agree, and beyond chance.
    n_off : int, optional
        The number of questions that are off, also about ranges, whether missing cells explain them or not.
    n_questions : int, optional
        The number of all questions that were compared.
    agreement : tuple of float, optional
        How often the draws of the model agree with the rows; None without draws.
    inside : tuple of Finding
        Questions that end inside wide intervals, where the model cannot know what the rows do.
    """

    reproduced: tuple[int, int] | None = None
    n_off: int | None = None
    n_questions: int | None = None
    findings: tuple[Finding, ...] = ()
    agreement: Agreement | None = None
    inside: tuple[Finding, ...] = ()

    def worst(self, with_rows: bool = True) -> str:
        """Name the questions with both answers, or without those of the rows, which may be private."""
        return _named(self.findings, with_rows)

    def complaints(self, with_rows: bool = True) -> tuple[Complaint, ...]:
        """Return what to warn of."""
        found = []
        if self.findings:
            complaint = Complaint(
                "contradicted",
                "{worst}. The model has not learned this. Rely on the rows there; {check} lists such questions.",
                worst=self.worst(with_rows),
                check="model.check()" if with_rows else "model.check(data)",
            )
            found.append(complaint)
        if self.inside:
            complaint = Complaint(
                "contradicted-inside",
                "{worst}. These conditions end inside wide intervals of numbers, where the model takes all else to be "
                "the same. Rely on the rows there, or cut the columns closer with {edges}.",
                worst=_named(self.inside, with_rows),
                edges=Option("edges"),
            )
            found.append(complaint)
        return tuple(found)


def _named(findings: Sequence[Finding], with_rows: bool) -> str:
    return "; ".join(str(finding) if with_rows else finding.without_rows for finding in findings)


def hold_against_rows(
    model: Mixture,
    read: Table | Statistic,
    counts: PairCounts | None,
    record: FitRecord,
    runner: LocalRunner,
    reread: Reread | None = None,
) -> Verdict:
    """Compare a model with the pair counts of what it was fitted to, if they are not too many.

    If ``reread`` reads rows in memory again, over another domain, also look inside wide intervals.
    """
    if counts is None:
        return Verdict()
    worth = worth_of_rows(record)
    table = check(model, counts, most=_KEPT, worth=worth, runner=runner)
    off = table.off().worst_of_pairs(_TRIED).findings()
    if not isinstance(read, Statistic):
        rows = read.sample(record.seed).rows
        off = (finding for finding in off if not _is_explained(model, finding, rows, table))
    agreed = agreement(model, record.n_draws, counts, worth, record.widening)
    named: tuple[Finding, ...] = tuple(islice(off, _NAMED))
    inside: tuple[Finding, ...] = ()
    if reread is not None and isinstance(read, MemoryTable):
        inside = contradicted_inside(model, read, reread, named, record, runner)
    return Verdict((table.n_well, table.n_cells), table.n_off, table.n_questions, named, agreed, inside)


def _is_explained(model: Mixture, finding: Finding, rows: WeightedRows, table: CheckTable) -> bool:
    """Whether the model is consistent with the rows if it is true and cells are missing at random."""
    if not (rows.codes[:, [finding.target.variable, finding.condition.variable]] < 0).any():
        return False
    try:
        expected = expected_share(model, finding, rows)
        if expected is None or _is_off(expected.share, finding.share, finding.rows, finding, table):
            return False
        filled = filled_share(model, finding, rows)
    except ZeroProbabilityError:
        # Nothing fills a row that is impossible under the model, which explains nothing.
        return False
    return not _is_off(finding.probability, filled.share, filled.rows, finding, table)


def _is_off(probability: float, share: float, rows: float, finding: Finding, table: CheckTable) -> bool:
    found = Questions.one(probability, share, rows)
    agree = np.array([finding.is_cell and finding.share == 1.0])
    return bool(found.misleads(table.chance, table.chance_of_rules, agree)[0])
