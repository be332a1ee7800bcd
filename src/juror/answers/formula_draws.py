"""Rows that are drawn satisfy the formulas between columns of numbers (:mod:`juror.domain.formulas`).

Formulas are applied one after the other, in an order in which none changes what an earlier one has used
(:mod:`juror.domain.formula_order`). Each computes one column from the others (:mod:`juror.answers.formula_solving`).
Columns that a condition settles are not computed. If a number is not possible, another column of the formula is
computed. Rows that do not satisfy all formulas in the end are drawn again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from juror.answers.formula_solving import ROUNDING, applies, intervals_of, is_broken, numbers_of, solve
from juror.domain import Domain
from juror.domain.evidence import Evidence
from juror.domain.formula_order import order_around
from juror.domain.formulas import Formula
from juror.errors import JurorWarning, Message, warn

# How often rows that do not satisfy a formula are drawn again
_ATTEMPTS = 16
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
    unsolved : numpy.ndarray of bool, (rows, n_formulas)
        Which rows do not satisfy which of the formulas.
    n_again : int
        How many rows were drawn again.
    """

    codes: np.ndarray
    numbers: dict[int, np.ndarray]
    formulas: Sequence[Formula]
    unsolved: np.ndarray
    n_again: int = 0


def draw_satisfying(draw: Callable[[int], tuple[np.ndarray, dict[int, np.ndarray]]], n: int, leeway: Leeway) -> Drawn:
    """Draw n rows of codes and numbers that satisfy the formulas of a domain.

    Rows that do not satisfy all of them are drawn again, up to a number of times; in the end, columns are computed that
    have the most room for it.
    """
    domain, formulas = leeway.domain, _planned(leeway)
    roomy = _planned(leeway, most_room=True)

    def satisfied(n: int, plan: Sequence[Formula] = formulas) -> Drawn:
        codes, numbers = draw(n)
        numbers = _satisfying(plan, codes, numbers, leeway)
        return Drawn(codes, numbers, formulas, _unsolved(domain, formulas, codes, numbers))

    rows = satisfied(n)
    n_again = int(rows.unsolved.any(axis=1).sum())
    for attempt in range(_ATTEMPTS):
        again = np.flatnonzero(rows.unsolved.any(axis=1))
        if not len(again):
            break
        others = satisfied(len(again), formulas if attempt < _ATTEMPTS // 2 else roomy)
        rows.codes[again], rows.unsolved[again] = others.codes, others.unsolved
        for k, drawn in others.numbers.items():
            # Whole numbers beyond 63 bits are objects, and others of their column may fit into integers.
            kept = rows.numbers[k].astype(np.result_type(rows.numbers[k], drawn), copy=False)
            kept[again] = drawn
            rows.numbers[k] = kept
    return replace(rows, n_again=n_again)


def warn_of_unsolved(rows: Drawn) -> None:
    """Warn of rows that do not satisfy a formula, for the caller of an answer."""
    for formula, unsolved in zip(rows.formulas, rows.unsolved.sum(axis=0).tolist(), strict=True):
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
