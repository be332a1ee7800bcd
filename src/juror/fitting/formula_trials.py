"""Find the formulas of a table, and try in drawn rows which column each should compute (:mod:`juror.domain.formulas`).

A column that is computed takes up the errors of the others. A difference of two large numbers may be far off, and in
many rows no number may be possible. So rows are drawn with the formulas, and their columns compared with the table's.

A forest joins two columns of a formula with the third, but hardly with each other: given the body mass index, weight
and height are drawn as if they had nothing to do with each other. If the index is then computed from both, they depend
on each other as in no table. If the weight is computed from the index and the height, all three are as in the table. So
correlations are compared, too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from juror.answers.block import Mixture
from juror.answers.formula_draws import Drawn, Leeway, computable, draw_satisfying
from juror.answers.formula_solving import numbers_of
from juror.answers.sampling import RowSampler, RowsWithNumbers
from juror.domain import Domain
from juror.domain.formula_columns import Measured
from juror.domain.formula_order import order_around
from juror.domain.formula_search import correlations
from juror.domain.formula_sets import find_formulas
from juror.domain.formulas import Formula
from juror.domain.orders import Order
from juror.kernels.random_streams import Stream

_DRAWN = 4000
# How much formulas may add to the distance of a column from the table's, which is the largest difference of their
# cumulative shares; and the largest share of the rows that may have to be drawn again. What is computed is changed if
# correlations of ranks come nearer by as much; their error is a third of it.
_FARTHER, _AGAIN = 0.05, 0.2
# As for formulas, but a row that breaks an order is seen to be wrong at once.
_FARTHER_IN_ORDER = 0.1


def with_formulas(mixture: Mixture, columns: Mapping[str, Measured], seed: int, until: float) -> Domain:
    """Return the domain of a mixture with the formulas of the columns of its table.

    What each formula computes is tried in drawn rows. Drawn rows ignore a formula if, whatever it computes, some column
    gets less like the table's, or if there is no time to try it. Then it only fills holes.
    """
    domain = mixture.domain
    found = find_formulas(columns) if sum(variable.edges is not None for variable in domain) > 1 else ()
    if not found:
        return domain
    if time.monotonic() > until:
        return replace(domain, formulas=tuple(replace(formula, computed=None) for formula in found))
    return replace(domain, formulas=_tried(RuleTrial(mixture, columns, seed, until), domain, found))


def _tried(trial: RuleTrial, domain: Domain, found: Sequence[Formula]) -> tuple[Formula, ...]:
    """Return formulas with the column that each computes: all are tried together, and if that fails, one by one.

    There are two plans: to compute the columns that move most, or the totals from their parts.
    """
    wholes = [sorted(computable(domain, each), key=lambda name: name != each.whole) for each in found]
    plans = tuple(dict.fromkeys((tuple(found), order_around(found, wholes, ()))))
    for plan in plans:
        if _n_computed(plan) == len(plan) and trial.is_good(plan):
            return _with_parts_like_the_table(trial, domain, plan)
    tried: list[tuple[Formula, ...]] = []
    for plan in plans:
        tried.append(_one_by_one(trial, domain, plan))
        if _n_computed(tried[-1]) == len(plan):
            break
    return _with_parts_like_the_table(trial, domain, max(tried, key=_n_computed))


def _with_parts_like_the_table(trial: RuleTrial, domain: Domain, plan: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """Return formulas that compute other columns if correlations within a formula then come nearer to the table's.

    The correlations of these columns with all others must not go farther from the table's.
    """
    # Formulas change their places and what they compute, but nothing else.
    for formula in [_bare(each) for each in plan]:
        computed = {_bare(each): each.computed for each in plan}
        before = trial.misfit(plan, formula)
        if computed[formula] is None or before.own <= _FARTHER:
            continue
        best, least = plan, before
        for name in computable(domain, formula):
            now = computed | {formula: name}
            choices = [[chosen] if (chosen := now[_bare(each)]) else [] for each in plan]
            other = order_around(plan, choices, ())
            if name == computed[formula] or _n_computed(other) < _n_computed(plan):
                continue
            misfit = trial.misfit(other, formula)
            if misfit.own < least.own - _FARTHER and misfit.all <= before.all and trial.is_good(other):
                best, least = other, misfit
        plan = best
    return plan


def _one_by_one(trial: RuleTrial, domain: Domain, plan: Sequence[Formula]) -> tuple[Formula, ...]:
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


def _bare(formula: Formula) -> Formula:
    return replace(formula, computed=None)


def _n_computed(formulas: Sequence[Formula]) -> int:
    return sum(formula.computed is not None for formula in formulas)


class _Misfit(NamedTuple):
    """How far correlations of drawn rows are from the table's: the largest one within a formula, and the sum of all."""

    own: float
    all: float


class RuleTrial:
    """Rows drawn with and without formulas and orders besides those of a domain, beside the rows of its table."""

    def __init__(self, mixture: Mixture, columns: Mapping[str, Measured], seed: int, until: float):
        self._domain, self._seed, self._until = mixture.domain, seed, until
        self._sampler = RowSampler(mixture)
        self._real = {
            name: np.sort(column.numbers[np.isfinite(column.numbers)])
            for name, column in columns.items()
            if column.has_intervals
        }
        self._all = columns
        self._drawn_before = self._drawn(self._domain.formulas)
        self._before = self._distances(self._drawn_before)

    @cached_property
    def _correlations(self) -> np.ndarray:
        """The correlations of ranks of the columns of the table."""
        return correlations(_ranks([column.numbers for column in self._all.values()]))

    def misfit(self, formulas: Sequence[Formula], of: Formula) -> _Misfit:
        """Return how far correlations with columns of a formula are from the table's, in rows that satisfy formulas.

        No distance if no time is left to draw rows.
        """
        if time.monotonic() > self._until:
            return _Misfit(0.0, 0.0)
        rows, names = self._drawn(formulas), list(self._all)
        drawn = correlations(_ranks([numbers_of(self._domain, name, rows.codes, rows.numbers) for name in names]))
        of_formula = [names.index(name) for name in of.names]
        off = np.abs(drawn - self._correlations)[of_formula]
        return _Misfit(float(off[:, of_formula].max()), float(off.sum()))

    def is_good(self, formulas: Sequence[Formula]) -> bool:
        """Say whether rows that satisfy formulas are about as near to the table as rows drawn without formulas.

        False if no time is left to draw rows.
        """
        if time.monotonic() > self._until:
            return False
        rows = self._drawn(formulas)
        return self._is_near(rows, _FARTHER) and rows.n_again <= _AGAIN * _DRAWN

    def can_keep(self, orders: Sequence[Order]) -> bool:
        """Say whether rows can keep orders, and are then about as near to the table as rows drawn without orders.

        False if no time is left to draw rows.
        """
        if time.monotonic() > self._until:
            return False
        rows = self._drawn(self._domain.formulas, orders)
        return self._is_near(rows, _FARTHER_IN_ORDER) and not rows.n_wrong.any()

    def cells(self, names: Iterable[str]) -> dict[str, np.ndarray]:
        """Return the numbers of columns in rows that were drawn without orders, (n_rows,)."""
        rows = self._drawn_before
        return {name: numbers_of(self._domain, name, rows.codes, rows.numbers) for name in names}

    def _drawn(self, formulas: Sequence[Formula], orders: Sequence[Order] = ()) -> Drawn:
        domain = replace(self._domain, formulas=tuple(formulas), orders=tuple(orders))
        draws = RowsWithNumbers(self._sampler, Stream.FORMULAS.generator(self._seed))
        return draw_satisfying(draws, _DRAWN, Leeway(domain))

    def _is_near(self, rows: Drawn, farther: float) -> bool:
        return bool(np.all(self._distances(rows) - self._before <= farther))

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


def _ranks(columns: Sequence[np.ndarray]) -> np.ndarray:
    """Return the ranks of numbers within their columns, (n, n_columns); equal numbers share one, and NaN has none."""
    ranks = np.full((len(columns[0]), len(columns)), np.nan)
    for k, numbers in enumerate(columns):
        known = np.isfinite(numbers)
        order = np.sort(numbers[known])
        ends = [np.searchsorted(order, numbers[known], side=side) for side in ("left", "right")]
        ranks[known, k] = (ends[0] + ends[1]) / 2
    return ranks
