"""Hold a fit against its rows inside wide intervals, where its answers cannot follow them.

Inside an interval a number is independent of all other columns. In the outermost intervals of a skewed column, numbers
differ much: counties of half a million people and of nine million. There the rows may know what the model cannot. So
these intervals are divided, which changes no answer of the model, and its answers are compared with the rows again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from juror.answers.block import Mixture
from juror.answers.checking import Finding, check, worth_of_rows
from juror.answers.dividing import divided_mixture
from juror.answers.pair_questions import LEAST_ROWS
from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.domain.binning import divided
from juror.domain.variable import Variable
from juror.record import FitRecord
from juror.rows.in_memory import MemoryTable
from juror.runners.local import LocalRunner

# Intervals with a smaller share of the rows are fine enough.
_LEAST_SHARE = 0.01
# Where an outermost interval is divided: its outer half, quarter and eighth, if they have enough rows
_OUTER_SHARES = (0.5, 0.25, 0.125)
# Questions to look at, and to name
_TRIED, _NAMED = 1000, 3

Reread = Callable[[Domain], MemoryTable | None]


def contradicted_inside(
    model: Mixture,
    table: MemoryTable,
    reread: Reread,
    named: Collection[Finding],
    record: FitRecord,
    runner: LocalRunner,
) -> tuple[Finding, ...]:
    """Return the worst questions whose conditions end inside an outermost interval, one for each pair of variables.

    Parameters
    ----------
    model, table, record : Mixture, MemoryTable, FitRecord
        The fit, and its rows.
    reread : callable
        Reads the rows over another domain; None if they are too many.
    named : collection of Finding
        Questions that are named already. Their pairs of variables are left out.
    runner : LocalRunner
        The threads to use.
    """
    finer = _with_divided_ends(table)
    again = None if finer is table.domain else reread(finer)
    if again is None:
        return ()
    asked = check(divided_mixture(model, finer), PairCounts.of_rows(again), _TRIED, worth_of_rows(record), runner)
    pairs = {frozenset((each.target.variable, each.condition.variable)) for each in named}
    found: list[Finding] = []
    for finding in asked.off().findings():
        pair = frozenset((finding.target.variable, finding.condition.variable))
        if pair not in pairs and _ends_inside(finding, table.domain, finer) and not _has_holes(again, finding):
            pairs.add(pair)
            found.append(finding)
    return tuple(found[:_NAMED])


def _with_divided_ends(table: MemoryTable) -> Domain:
    """Return the domain with outermost intervals divided where many rows lie in them; itself if there are none."""
    variables = [
        _divided_at_ends(variable, np.bincount(codes[codes >= 0], table.rows.weights[codes >= 0], variable.cardinality))
        for variable, codes in zip(table.domain, table.rows.codes.T, strict=True)
    ]
    changed = any(one is not other for one, other in zip(variables, table.domain, strict=True))
    return replace(table.domain, variables=tuple(variables)) if changed else table.domain


def _divided_at_ends(variable: Variable, counts: np.ndarray) -> Variable:
    """Return a variable of numbers with its outermost intervals divided, given the rows of every label, (I,)."""
    if variable.edges is None or variable.law is None or len(variable.present_labels) < 2:
        return variable
    last = len(variable.present_labels) - 1
    positions: list[float] = []
    for code in (0, last):
        rows = counts[code]
        shares = [share for share in _OUTER_SHARES if share * rows >= LEAST_ROWS]
        if rows >= _LEAST_SHARE * counts.sum() and shares:
            levels = np.array(shares) if code == 0 else 1.0 - np.array(shares)
            numbers = variable.inside.at(np.full(len(levels), code), levels)
            positions += [variable.law.grid.cut(number, after=False) for number in numbers.tolist()]
    return divided(variable, positions)


def _ends_inside(finding: Finding, domain: Domain, finer: Domain) -> bool:
    """Say whether the condition of a question, about the finer domain, ends inside an interval of the other one."""
    variable, low, high = finding.condition.variable, finding.condition.low, finding.condition.high
    before, after = domain[variable].edges, finer[variable].edges
    if before is None or after is None or len(before) == len(after):
        return False
    # The label of missing cells lies behind all intervals.
    return any(edge not in before for edge in (after[low], after[min(high, len(after) - 1)]))


def _has_holes(table: MemoryTable, finding: Finding) -> bool:
    """Say whether rows lack a cell of a question. They may then differ from the others, and the model be right."""
    return bool((table.rows.codes[:, [finding.target.variable, finding.condition.variable]] < 0).any())
