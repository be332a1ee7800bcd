"""Rows that are drawn satisfy the formulas between columns of numbers (:mod:`juror.domain.formulas`).

Formulas are applied one after the other, in an order in which none changes what an earlier one has used
(:mod:`juror.domain.formula_order`). Each computes one column from the others (:mod:`juror.answers.formula_solving`).
Columns that a condition settles are not computed. If a number is not possible, another column of the formula is
computed. Rows that do not satisfy all formulas in the end, or break an order
(:mod:`juror.domain.orders`), are drawn again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from juror.answers.formula_solving import ROUNDING, applies, intervals_of, is_broken, numbers_of, solve
from juror.answers.order_draws import broken_in_words, broken_orders, cells_of, possible_orders, put_numbers
from juror.answers.sampling import RowsWithNumbers
from juror.domain import Domain
from juror.domain.evidence import Evidence
from juror.domain.formula_order import order_around
from juror.domain.formulas import Formula
from juror.domain.orders import Order
from juror.errors import JurorWarning, Message, warn

# How often rows that do not satisfy a formula are drawn again, and how often more those that break an order. Then some
# are drawn for each that is left, as conditions may leave little room: at least so many, but no more than all rows.
_ATTEMPTS, _FOR_EACH, _FEWEST_AT_ONCE = 16, 4, 1024
# A condition settles a column if it leaves less than this share of it, as computed numbers would seldom meet it.
_SETTLED = 0.5
# The numbers of variables (rows,), by their position
Numbers = Mapping[int, np.ndarray]


@dataclass(frozen=True, eq=False)
class Leeway:
    """Which numbers conditions leave to the columns of a domain.

    Attributes
    ----------
    domain : Domain
        The variables.
    evidence : Evidence
        The conditions, about its labels and intervals.
    points : mapping of int to number
        By variable, the number that it has.
    """

    domain: Domain
    evidence: Evidence = field(default_factory=dict)
    points: Mapping[int, object] = field(default_factory=dict)

    def allows(self, name: str, numbers: np.ndarray) -> np.ndarray:
        """Say in which rows a column may get these numbers, (rows,)."""
        n = self.domain.position(name)
        if n in self.points:
            return np.zeros(len(numbers), dtype=bool)
        if n not in self.evidence:
            return np.ones(len(numbers), dtype=bool)
        return np.asarray(self.evidence[n][intervals_of(self.domain[n], numbers)] > 0)

    def is_fixed(self, name: str) -> bool:
        """Say whether a column has a number that does not change."""
        return self.domain.position(name) in self.points

    def is_known(self, name: str) -> bool:
        """Say whether there are conditions about a column."""
        n = self.domain.position(name)
        return n in self.points or n in self.evidence

    def settles(self, name: str) -> bool:
        """Say whether a column had better not be computed: it is fixed, holds labels, or conditions leave little."""
        n = self.domain.position(name)
        if self.is_fixed(name) or self.domain[n].edges is None:
            return True
        masses = self.domain[n].inside.masses
        return n in self.evidence and bool(masses[self.evidence[n][: len(masses)] > 0].sum() < _SETTLED * masses.sum())


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn.

    Attributes
    ----------
    codes : numpy.ndarray, (rows, N)
        Their codes.
    numbers : mapping of int to numpy.ndarray, (rows,)
        By variable, their numbers.
    formulas : sequence of Formula
        What they should satisfy, in the order in which it was applied.
    orders : sequence of Order
        What they should keep.
    unsolved : numpy.ndarray of bool, (rows, n_formulas + n_orders)
        Which rows do not satisfy which of the formulas, and break which of the orders.
    n_again : int
        How many rows were drawn again.
    """

    codes: np.ndarray
    numbers: dict[int, np.ndarray]
    formulas: Sequence[Formula]
    orders: Sequence[Order]
    unsolved: np.ndarray
    n_again: int = 0

    @property
    def n_wrong(self) -> np.ndarray:
        """How many formulas each row does not satisfy, and how many orders it breaks, (rows,)."""
        return np.asarray(self.unsolved.sum(axis=1))

    def replace_rows(self, rows: np.ndarray, others: Drawn, of: np.ndarray) -> None:
        """Put some rows of others in the place of rows."""
        self.codes[rows], self.unsolved[rows] = others.codes[of], others.unsolved[of]
        put_numbers(self.numbers, rows, others.numbers, of)


def draw_satisfying(draws: RowsWithNumbers, n: int, leeway: Leeway) -> Drawn:
    """Draw n rows of codes and numbers that satisfy the formulas of a domain, and keep its orders.

    Rows that do not are drawn again, up to a number of times; in the end, columns are computed that have the most room
    for it. Where orders are not about columns with conditions, rows are first drawn again in their own classes. So the
    classes keep their shares, and columns stay more like the table's.
    """
    domain, formulas = leeway.domain, _planned(leeway)
    roomy = _planned(leeway, most_room=True)
    orders = possible_orders(domain, leeway.evidence, leeway.points)
    keeps_classes = bool(orders) and not any(leeway.is_known(name) for order in orders for name in order.names)

    def satisfied(classes: np.ndarray, plan: Sequence[Formula] = formulas) -> Drawn:
        codes, numbers = draws.rows_in(classes)
        numbers = _satisfying(plan, codes, numbers, leeway)
        broken = broken_orders(orders, cells_of(domain, orders, codes, numbers), len(codes))
        unsolved = np.hstack([_unsolved(domain, formulas, codes, numbers), broken])
        return Drawn(codes, numbers, formulas, orders, unsolved)

    classes = draws.classes(n)
    rows = satisfied(classes)
    n_again = int(np.count_nonzero(rows.n_wrong))
    for attempt in range(2 * _ATTEMPTS if orders else _ATTEMPTS):
        again = np.flatnonzero(rows.n_wrong)
        if not len(again):
            break
        n_drawn = len(again) if attempt < _ATTEMPTS else max(min(_FOR_EACH * len(again), n), _FEWEST_AT_ONCE)
        same = keeps_classes and attempt < _ATTEMPTS
        others = satisfied(
            classes[again] if same else draws.classes(n_drawn), formulas if attempt < _ATTEMPTS // 2 else roomy
        )
        best = np.argsort(others.n_wrong, kind="stable")[: len(again)] if n_drawn > len(again) else np.arange(n_drawn)
        # Where one rule cannot be kept, rows still get nearer to keeping the others.
        no_worse = others.n_wrong[best] <= rows.n_wrong[again]
        rows.replace_rows(again[no_worse], others, best[no_worse])
    return replace(rows, n_again=n_again)


def warn_of_unsolved(rows: Drawn) -> None:
    """Warn of rows that do not satisfy a formula, or break an order, for the caller of an answer."""
    n_unsolved = rows.unsolved.sum(axis=0).tolist()
    for order, unsolved in zip(rows.orders, n_unsolved[len(rows.formulas) :], strict=True):
        if unsolved:
            warn(JurorWarning(broken_in_words(order, unsolved, len(rows.codes))))
    for formula, unsolved in zip(rows.formulas, n_unsolved[: len(rows.formulas)], strict=True):
        if unsolved:
            message = Message(
                "{unsolved:,} of {n:,} drawn rows do not satisfy {formula!r}, because no number within the range of "
                "the fitted rows and the conditions does. Relax the conditions, or pass {formulas:=False}.",
                unsolved=unsolved,
                n=len(rows.codes),
                formula=formula.in_words(),
            )
            warn(JurorWarning(message))


def _planned(leeway: Leeway, most_room: bool = False) -> tuple[Formula, ...]:
    """Return the formulas that drawn rows satisfy, in order.

    A column of which conditions leave little is computed only if no other can be, and a fixed one never. With
    ``most_room``, a formula with such a column computes the one that moves most, whatever it computes elsewhere.
    """
    formulas = [formula for formula in leeway.domain.formulas if formula.computed]
    settled = {name for formula in formulas for name in formula.names if leeway.settles(name)}
    if most_room:
        # no condition settles labels
        given = {name for name in settled if leeway.domain[name].edges is not None}
        formulas = [each if given.isdisjoint(each.names) else _with_most_room(leeway, each) for each in formulas]
    names = ([x for x in _best_first(leeway.domain, formula) if not leeway.is_fixed(x)] for formula in formulas)
    return order_around(formulas, [sorted(some, key=settled.__contains__) for some in names], settled)


def _with_most_room(leeway: Leeway, formula: Formula) -> Formula:
    """Return a formula that computes the column that moves most; those that it can be solved for are in that order."""
    names = [name for name in formula.solvable if leeway.domain[name].edges is not None]
    return replace(formula, computed=names[0]) if names else formula


def computable(domain: Domain, formula: Formula) -> list[str]:
    """Return the columns that a formula may compute, the one that it computes now first."""
    names = dict.fromkeys((formula.computed or formula.target, *formula.solvable))
    return [name for name in names if domain[name].edges is not None]


def _best_first(domain: Domain, formula: Formula) -> list[str]:
    """Return the columns that a formula may compute, the best one first.

    Columns with coarse steps come last: one of their steps moves the target by more than a step.
    """
    first, *others = computable(domain, formula)
    return [first, *sorted(others, key=lambda name: _is_coarse(domain, formula, name))]


def _is_coarse(domain: Domain, formula: Formula, name: str) -> bool:
    """Say whether a step of a column moves the target of a formula by more than a step."""
    if name == formula.target:
        return False
    power = abs(formula.power_of[name])
    laws = (domain[each].inside.law for each in (name, formula.target))
    step, of_target = (law.stride * law.grid.step for law in laws)
    if formula.form == "product":
        typical, typical_target = (float(np.median(np.abs(domain[each].edges or 0))) for each in (name, formula.target))
        power *= typical_target / typical if typical else np.inf
    return bool(step > 0 and power * step > (1 + ROUNDING) * of_target)


def _satisfying(
    formulas: Sequence[Formula], codes: np.ndarray, numbers: Numbers, leeway: Leeway
) -> dict[int, np.ndarray]:
    """Return numbers of rows with these codes (rows, N) that satisfy formulas as far as that is possible."""
    changed, used = dict(numbers), set[str]()
    for formula in formulas:
        left = applies(formula, _known(leeway.domain, formula, codes, changed))
        for name in _best_first(leeway.domain, formula) if formula.computed else ():
            # What an earlier formula has used must stay.
            if name not in used:
                left &= ~_solve(formula, name, codes, changed, leeway, left, used)
        used.update(formula.names)
    return changed


def _solve(
    formula: Formula,
    name: str,
    codes: np.ndarray,
    numbers: dict[int, np.ndarray],
    leeway: Leeway,
    rows: np.ndarray,
    used: Collection[str],
) -> np.ndarray:
    """Solve a formula for one of its columns in some rows (n_rows,) of bool, and return in which that was possible."""
    domain = leeway.domain

    def allows(column: str, new: np.ndarray) -> np.ndarray:
        # The target may only change if no earlier formula has used it.
        return rows & leeway.allows(column, new) & (column not in used)

    found = solve(domain, formula, name, _known(domain, formula, codes, numbers), allows)
    for column, (new, are_new) in found.items():
        n = domain.position(column)
        numbers[n] = np.where(are_new, new, numbers[n])
    return found[name][1]


def _unsolved(domain: Domain, formulas: Sequence[Formula], codes: np.ndarray, numbers: Numbers) -> np.ndarray:
    """Say which rows do not satisfy which formulas, (rows, n_formulas)."""
    unsolved = np.zeros((len(codes), len(formulas)), dtype=bool)
    for k, formula in enumerate(formulas):
        unsolved[:, k] = is_broken(domain, formula, _known(domain, formula, codes, numbers))
    return unsolved


def _known(domain: Domain, formula: Formula, codes: np.ndarray, numbers: Numbers) -> dict[str, np.ndarray]:
    return {name: numbers_of(domain, name, codes, numbers) for name in formula.names}
