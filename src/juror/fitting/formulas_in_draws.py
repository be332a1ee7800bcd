"""Find the formulas of a table, and try in drawn rows which column each should compute (:mod:`juror.domain.formulas`).

A column that is computed takes up the errors of the others. A difference of two large numbers may be far off, and in
many rows no number may be possible. So rows are drawn with the formulas, and their columns compared with the table's.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from juror.answers.block import Mixture
from juror.answers.sampling import RowSampler, draw_with_numbers
from juror.answers.satisfying import Drawn, Leeway, computable, draw_satisfying, numbers_of
from juror.domain import Domain
from juror.domain.formula_order import order_around
from juror.domain.formula_sets import find_formulas
from juror.domain.formulas import Formula
from juror.domain.measured import Measured
from juror.kernels.random_streams import Stream
from juror.rows.in_memory import MemoryTable
from juror.rows.reading import OpenTable
from juror.rows.table import Table

_DRAWN = 4000
# How much formulas may add to the distance of a column from the table's, which is the largest difference of their
# cumulative shares; and the largest share of the rows that may have to be drawn again
_FARTHER, _AGAIN = 0.05, 0.2


def with_formulas(mixture: Mixture, opened: OpenTable, read: Table, seed: int, until: float) -> Domain:
    """Return the domain of a mixture with the formulas of its table, if that was read into memory.

    What each formula computes is tried in drawn rows. Drawn rows ignore a formula if, whatever it computes, some column
    gets less like the table's, or if there is no time to try it. Then it only fills holes.
    """
    # Formulas of a domain that was given are those of other rows.
    domain = replace(mixture.domain, formulas=())
    columns = opened.measured(domain) if isinstance(read, MemoryTable) else {}
    found = find_formulas(columns)
    if not found:
        return domain
    if time.monotonic() > until:
        return replace(domain, formulas=tuple(replace(formula, computed=None) for formula in found))
    return replace(domain, formulas=_tried(_Trial(mixture, columns, seed, until), domain, found))


def _tried(trial: _Trial, domain: Domain, found: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return formulas with the column that each computes: all are tried together, and if that fails, one by one.

    There are two plans: to compute the columns that move most, or the totals from their parts.
    """
    wholes = [sorted(computable(domain, each), key=lambda name: name != each.whole) for each in found]
    plans = tuple(dict.fromkeys((tuple(found), order_around(found, wholes, ()))))
    for plan in plans:
        if _n_computed(plan) == len(plan) and trial.is_good(plan):
            return plan
    tried: list[tuple[Formula, ...]] = []
    for plan in plans:
        tried.append(_one_by_one(trial, domain, plan))
        if _n_computed(tried[-1]) == len(plan):
            break
    return max(tried, key=_n_computed)


def _one_by_one(trial: _Trial, domain: Domain, plan: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return the formulas of a plan. A formula that fails computes another column, or none.

    If need be, the formulas before it compute other columns too.
    """
    kept: tuple[Formula, ...] = ()
    for formula in plan:
        as_before = [[each.computed] if each.computed else [] for each in kept]
        others = [computable(domain, each) if each.computed else [] for each in kept]
        names = computable(domain, formula)
        tried = (order_around((*kept, formula), [*before, [x]], ()) for before in (as_before, others) for x in names)
        n_computed = _n_computed(kept) + 1
        complete = dict.fromkeys(each for each in tried if _n_computed(each) == n_computed)
        kept = next(filter(trial.is_good, complete), (*kept, replace(formula, computed=None)))
    return kept


def _n_computed(formulas: Sequence[Formula]) -> int:
    return sum(formula.computed is not None for formula in formulas)


class _Trial:
    """Rows drawn with and without formulas, beside those of the table."""

    def __init__(self, mixture: Mixture, columns: Mapping[str, Measured], seed: int, until: float):
        self._domain, self._seed, self._until = mixture.domain, seed, until
        self._sampler = RowSampler(mixture)
        self._real = {
            name: np.sort(column.numbers[np.isfinite(column.numbers)])
            for name, column in columns.items()
            if column.has_intervals
        }
        self._before = self._distances(self._drawn(()))

    def is_good(self, formulas: Sequence[Formula]) -> bool:
        """Say whether rows that satisfy formulas are about as near to the table as rows drawn without formulas.

        False if no time is left to draw rows.
        """
        if time.monotonic() > self._until:
            return False
        rows = self._drawn(formulas)
        farther = self._distances(rows) - self._before
        return bool(np.all(farther <= _FARTHER) and rows.n_again <= _AGAIN * _DRAWN)

    def _drawn(self, formulas: Sequence[Formula]) -> Drawn:
        domain = replace(self._domain, formulas=tuple(formulas))
        draw = partial(draw_with_numbers, self._sampler, rng=Stream.FORMULAS.generator(self._seed))
        return draw_satisfying(draw, _DRAWN, Leeway(domain))

    def _distances(self, rows: Drawn) -> np.ndarray:
        """Return how far each column of drawn rows is from the table's, (n_columns,)."""
        return np.array([self._distance(rows, name, real) for name, real in self._real.items()])

    def _distance(self, rows: Drawn, name: str, real: np.ndarray) -> float:
        numbers = numbers_of(self._domain, name, rows.codes, rows.numbers)
        drawn = np.sort(numbers[np.isfinite(numbers)])
        if not len(drawn) or not len(real):
            return 0.0
        at = np.concatenate([drawn, real])
        shares = [np.searchsorted(each, at, side="right") / len(each) for each in (drawn, real)]
        return float(np.abs(shares[0] - shares[1]).max())
