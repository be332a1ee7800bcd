"""Find the formulas of a table, and try in drawn rows what each should compute (:mod:`juror.domain.formulas`).

A column that is computed takes up the errors of others. A difference of two large numbers may be far off, and many rows
may have no possible number. So rows are drawn with each formula, and the columns are compared with the table's.
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
# How much farther from the table than without formulas a column may be, by the largest difference of the shares of
# numbers up to any, and which share of the rows may have to be drawn again
_FARTHER, _AGAIN = 0.05, 0.2


def with_formulas(mixture: Mixture, opened: OpenTable, read: Table, seed: int, until: float = np.inf) -> Domain:
    """Return the domain of a mixture with the formulas of its table, if that was read into memory.

    What formulas compute is tried in drawn rows. If a formula makes a column less like the table's whatever it
    computes, or if there is no time to try it, it fills holes, and drawn rows ignore it.
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
    """Return formulas with what each computes: first all are tried together, and if that fails, one by one.

    The columns that move most are computed, or else the wholes from their parts.
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
    """Return the formulas of a plan, with another column to compute, or none, where its own one fails.

    If need be, formulas before it compute another column, too.
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
        """Say whether rows that satisfy formulas are about as much like the table's as rows that do not.

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
        """Return the largest difference of shares of every column, of drawn rows and the table's, (n_columns,)."""
        return np.array([self._distance(rows, name, real) for name, real in self._real.items()])

    def _distance(self, rows: Drawn, name: str, real: np.ndarray) -> float:
        numbers = numbers_of(self._domain, name, rows.codes, rows.numbers)
        drawn = np.sort(numbers[np.isfinite(numbers)])
        if not len(drawn) or not len(real):
            return 0.0
        at = np.concatenate([drawn, real])
        shares = [np.searchsorted(each, at, side="right") / len(each) for each in (drawn, real)]
        return float(np.abs(shares[0] - shares[1]).max())
