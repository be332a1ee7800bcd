"""Rows that satisfy the formulas between columns of numbers (:mod:`juror.domain.formulas`).

Of every formula one column is computed from the others, and then its target once more, whose decimals say most: a drawn
ratio gives a whole number of parts, and these give the ratio that is possible. Where a column may not change, as it was
observed or a condition forbids the number, another column of the formula is computed. Where none may, the row stays as
it was drawn.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.domain import Domain
from juror.domain.evidence import Evidence
from juror.domain.formulas import Formula, nearest_label, on_grid
from juror.domain.measured import observed_numbers
from juror.domain.variable import Variable
from juror.errors import JurorWarning, Message
from juror.readers import Column

# Numbers are equal if they differ by rounding alone.
_ROUNDING = 1e-9
# How often rows that do not satisfy a formula are drawn again
_ATTEMPTS = 8
# In which rows a variable, by its position, may get these numbers (rows,)
MayBecome = Callable[[int, np.ndarray], np.ndarray]
# The numbers of variables (rows,), by their position
Numbers = Mapping[int, np.ndarray]


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows that were drawn.

    Attributes
    ----------
    codes : numpy.ndarray, (rows, N)
        Their codes.
    numbers : mapping of int to numpy.ndarray, (rows,)
        By variable, their numbers.
    unsolved : numpy.ndarray of bool, (rows, n_formulas)
        Which formulas have no possible number in which rows.
    n_again : int
        How many rows were drawn again.
    """

    codes: np.ndarray
    numbers: dict[int, np.ndarray]
    unsolved: np.ndarray
    n_again: int = 0


def draw_satisfying(
    draw: Callable[[int], tuple[np.ndarray, dict[int, np.ndarray]]], n: int, domain: Domain, may_become: MayBecome
) -> Drawn:
    """Draw n rows that satisfy the formulas of a domain.

    Rows for which a formula has no possible number are drawn again, some times.
    """
    formulas = [formula for formula in domain.formulas if formula.computed]

    def satisfied(n: int) -> Drawn:
        codes, numbers = draw(n)
        return Drawn(codes, *_satisfying(domain, formulas, codes, numbers, may_become))

    rows = satisfied(n)
    n_again = int(rows.unsolved.any(axis=1).sum())
    for _ in range(_ATTEMPTS):
        again = np.flatnonzero(rows.unsolved.any(axis=1))
        if not len(again):
            break
        others = satisfied(len(again))
        rows.codes[again], rows.unsolved[again] = others.codes, others.unsolved
        for k, drawn in others.numbers.items():
            rows.numbers[k][again] = drawn
    return replace(rows, n_again=n_again)


def warn_of_unsolved(domain: Domain, rows: Drawn) -> None:
    """Warn of rows that do not satisfy a formula, for the caller of an answer."""
    formulas = [formula for formula in domain.formulas if formula.computed]
    for formula, unsolved in zip(formulas, rows.unsolved.sum(axis=0).tolist(), strict=True):
        if unsolved:
            message = Message(
                "{unsolved:,} of {n:,} drawn rows do not satisfy {formula!r}, as no number within the range of the "
                "rows and the conditions does. Relax the conditions, or pass {formulas:=False}.",
                unsolved=unsolved,
                n=len(rows.codes),
                formula=formula.in_words(),
            )
            warnings.warn(JurorWarning(message), stacklevel=3)


def within(domain: Domain, evidence: Evidence, points: Mapping[int, object]) -> MayBecome:
    """Say which numbers evidence about the intervals of a domain allows; numbers at points do not change."""

    def may_become(n: int, numbers: np.ndarray) -> np.ndarray:
        if n in points:
            return np.zeros(len(numbers), dtype=bool)
        if n not in evidence:
            return np.ones(len(numbers), dtype=bool)
        return np.asarray(evidence[n][_intervals(domain[n], numbers)] > 0)

    return may_become


def _satisfying(
    domain: Domain, formulas: Sequence[Formula], codes: np.ndarray, numbers: Numbers, may_become: MayBecome
) -> tuple[dict[int, np.ndarray], np.ndarray]:
    """Return numbers of rows with these codes (rows, N) that satisfy formulas, and which formulas none satisfies.

    A formula that gives a row no number, such as a ratio whose denominator is zero, says nothing about it.
    """
    changed = dict(numbers)
    unsolved = np.zeros((len(codes), len(formulas)), dtype=bool)
    for k, formula in enumerate(formulas):
        known = {name: _numbers_of(domain, name, codes, changed) for name in formula.names}
        applies = np.isfinite(formula.solved(formula.target, known)) & np.isfinite(known[formula.target])
        is_computed = np.zeros(len(codes), dtype=bool)
        for name in dict.fromkeys((formula.computed or formula.target, *formula.solvable)):
            is_computed |= _solve(domain, formula, name, codes, changed, may_become, applies & ~is_computed)
        _solve(domain, formula, formula.target, codes, changed, may_become, is_computed)
        unsolved[:, k] = applies & ~is_computed & ~_is_satisfied(domain, formula, known)
    return changed, unsolved


def _solve(
    domain: Domain,
    formula: Formula,
    name: str,
    codes: np.ndarray,
    numbers: dict[int, np.ndarray],
    may_become: MayBecome,
    rows: np.ndarray,
) -> np.ndarray:
    """Solve a formula for one of its columns in some rows (n_rows,) of bool, and return in which that was possible."""
    n = domain.position(name)
    if n not in numbers:
        return np.zeros(len(codes), dtype=bool)
    known = {other: _numbers_of(domain, other, codes, numbers) for other in formula.names}
    solved, possible = on_grid(domain[n], formula.solved(name, known))
    possible &= rows & ~np.isnan(known[name]) & may_become(n, solved)
    numbers[n] = np.where(possible, solved, numbers[n])
    return possible


def _solution(
    domain: Domain, formula: Formula, name: str, known: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the numbers (rows,) that a formula gives a column, their codes, and in which rows it may have them.

    Where numbers are labels, the nearest one must satisfy the formula.
    """
    variable, solved = domain[name], formula.solved(name, known)
    if variable.edges is not None:
        # A total may be larger than all before. What a ratio seems to say about its parts may be nonsense.
        numbers, possible = on_grid(variable, solved, beyond=name == formula.target and formula.share == 1)
        return numbers, _intervals(variable, numbers), possible
    labels, codes = nearest_label(variable, solved)
    return labels, codes, np.isfinite(solved) & _is_satisfied(domain, formula, {**known, name: labels})


def _is_satisfied(domain: Domain, formula: Formula, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Say in which rows the numbers of columns (rows,) satisfy a formula, up to rounding."""
    target = domain[formula.target]
    exact, possible = on_grid(target, formula.solved(formula.target, known), beyond=True)
    # Of parts that were rounded, a sum may be a step off.
    step = (1 + _ROUNDING) * target.inside.law.grid.step
    return possible & np.isclose(exact, known[formula.target], rtol=_ROUNDING, atol=step)


def _intervals(variable: Variable, numbers: np.ndarray) -> np.ndarray:
    return variable.inside.intervals_of(variable.inside.law.grid.positions(numbers))


def _numbers_of(domain: Domain, name: str, codes: np.ndarray, numbers: Numbers) -> np.ndarray:
    """Return the numbers of a column as floats, (rows,), NaN where its cell is missing."""
    n = domain.position(name)
    is_there = (codes[:, n] >= 0) & (codes[:, n] < len(domain[n].present_labels))
    if n in numbers:
        return np.where(is_there, numbers[n].astype(np.float64), np.nan)
    labels = np.array(domain[n].present_labels, dtype=np.float64)
    return np.where(is_there, labels[np.where(is_there, codes[:, n], 0)], np.nan)


@dataclass(frozen=True, eq=False)
class FormulaHoles:
    """The holes of a table, and what the formulas of its domain say about them.

    Attributes
    ----------
    domain : Domain
        The variables and formulas.
    formulas : sequence of Formula
        Those whose columns the table has, as numbers.
    known : mapping of int to numpy.ndarray, (rows,)
        By variable, the numbers of its cells, observed or following from other cells of their row; NaN in other holes.
    """

    domain: Domain
    formulas: Sequence[Formula]
    known: Numbers

    @classmethod
    def of(cls, domain: Domain, columns: Sequence[Column], codes: np.ndarray) -> FormulaHoles:
        """Solve formulas for the holes of columns, and enter what was found into the codes (rows, N) of their rows."""
        by_name = {column.name: column for column in columns}
        names = dict.fromkeys(name for formula in domain.formulas for name in formula.names if name in by_name)
        observed = {name: observed_numbers(domain[name], by_name[name]) for name in names}
        known = {name: numbers for name, numbers in observed.items() if numbers is not None}
        formulas = [formula for formula in domain.formulas if known.keys() >= set(formula.names)]
        # What one formula gives may be what another needs.
        for formula in formulas * (1 + len(formulas)):
            for name in formula.solvable:
                n = domain.position(name)
                if not np.any(np.isnan(known[name])):
                    continue
                if domain[n].missing_label is not None:
                    continue
                solved, places, possible = _solution(domain, formula, name, known)
                follows = np.isnan(known[name]) & (codes[:, n] < 0) & possible
                known[name] = np.where(follows, solved, known[name])
                codes[follows, n] = places[follows]
        whole = {domain.position(name): numbers for name, numbers in known.items() if domain[name].edges is not None}
        return cls(domain, formulas, whole)

    def filled(self, codes: np.ndarray, numbers: Numbers) -> dict[int, np.ndarray]:
        """Return numbers for holes, by variable, (rows,), that satisfy the formulas; codes are of rows without holes.

        Numbers that follow from other cells are theirs. Of several holes of a formula, one is computed from the others.
        """
        is_hole = {n: np.isnan(known) for n, known in self.known.items()}
        whole = dict(numbers)
        for n, known in self.known.items():
            exact, follows = on_grid(self.domain[n], known, beyond=True)
            whole[n] = np.where(follows, exact, numbers[n]) if n in numbers else exact
            is_hole[n] &= n in numbers
        filled, _ = _satisfying(self.domain, self.formulas, codes, whole, lambda n, _: is_hole[n])
        return filled
