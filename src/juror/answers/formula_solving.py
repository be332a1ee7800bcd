"""Solve a formula for one of its columns, in the rows of a table (:mod:`juror.domain.formulas`).

What is solved for is rounded to a number that the column may have. The formula then holds up to rounding, or its target
is computed once more. For example, a ratio gives a numerator, which is rounded to a whole number, and this gives a
possible ratio. Drawn rows (:mod:`juror.answers.formula_draws`) and holes (:mod:`juror.answers.formula_holes`) are
solved alike; they differ in what may change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from juror.domain import Domain
from juror.domain.formulas import Formula, nearest_label, on_grid
from juror.domain.variable import Variable

# Numbers are equal if they differ by rounding alone.
ROUNDING = 1e-9


def solve(
    domain: Domain,
    formula: Formula,
    name: str,
    known: Mapping[str, np.ndarray],
    allows: Callable[[str, np.ndarray], np.ndarray],
    beyond: bool = False,
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Solve a formula for one of its columns, and if rounding changes the target, compute that once more.

    Parameters
    ----------
    domain, formula, name
        The variables, what holds between them, and the column to solve for.
    known : mapping of str to numpy.ndarray, (rows,)
        By column, the numbers of the others.
    allows : callable
        Given a column and its new numbers (rows,), says in which rows it may get them.
    beyond : bool
        Whether a target may get numbers beyond those of the fitted rows.

    Returns
    -------
    dict of str to tuple of numpy.ndarray, (rows,)
        By column, its new numbers, and in which rows it gets them. That is the column asked for, and the target where
        it is computed once more.
    """
    numbers, possible = _solution(domain[name], formula, known, beyond)
    possible &= allows(name, numbers)
    if name == formula.target:
        return {name: (numbers, possible)}
    known = {**known, name: np.where(possible, numbers, np.nan)}
    rounded, fits = on_grid(domain[formula.target], formula.solved(formula.target, known))
    fits &= allows(formula.target, rounded)
    found = {name: (numbers, possible & (is_satisfied(domain, formula, known) | fits))}
    return found | {formula.target: (rounded, fits)} if fits.any() else found


def _solution(
    variable: Variable, formula: Formula, known: Mapping[str, np.ndarray], beyond: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers (rows,) that a formula gives a variable, and in which rows it may have them."""
    solved = formula.solved(variable.name, known)
    if variable.edges is None:
        return nearest_label(variable, solved)[0], np.isfinite(solved)
    # A total may be larger than all totals before. But what a ratio says about its parts may be far off.
    return on_grid(variable, solved, beyond=beyond and variable.name == formula.target and formula.share == 1)


def applies(formula: Formula, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Say in which rows a formula applies: it gives a number there, and not a division by zero, say."""
    return np.isfinite(formula.solved(formula.target, known)) & np.isfinite(known[formula.target])


def is_satisfied(domain: Domain, formula: Formula, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Say in which rows the numbers of columns (rows,) satisfy a formula, up to rounding."""
    target = domain[formula.target]
    assert target.edges is not None
    given, possible = on_grid(target, formula.solved(formula.target, known), beyond=True)
    # A sum of rounded parts may be one step off. Floats may be off by a small share of the largest number.
    steps = 0.5 if formula.exact else 1 + ROUNDING
    off = max(steps * target.inside.law.grid.step, ROUNDING * max(map(abs, target.edges)))
    return possible & np.isclose(given, known[formula.target], rtol=ROUNDING, atol=off)


def is_broken(domain: Domain, formula: Formula, known: Mapping[str, np.ndarray]) -> np.ndarray:
    """Say in which rows a formula applies, but the numbers of columns (rows,) do not satisfy it."""
    return applies(formula, known) & ~is_satisfied(domain, formula, known)


def intervals_of(variable: Variable, numbers: np.ndarray) -> np.ndarray:
    """Return the codes of the intervals of numbers, (n,)."""
    return variable.inside.intervals_of(variable.inside.law.grid.positions(numbers))


def numbers_of(domain: Domain, name: str, codes: np.ndarray, numbers: Mapping[int, np.ndarray]) -> np.ndarray:
    """Return the numbers of a column as floats, (rows,), NaN where its cell is missing.

    Parameters
    ----------
    domain, name
        The variables, and the name of one.
    codes : numpy.ndarray, (rows, N)
        The codes of the rows.
    numbers : mapping of int to numpy.ndarray, (rows,)
        The numbers of variables with intervals, by position. Those of the others are their labels.
    """
    n = domain.position(name)
    is_there = (codes[:, n] >= 0) & (codes[:, n] < len(domain[n].present_labels))
    if n in numbers:
        return np.where(is_there, numbers[n].astype(np.float64), np.nan)
    labels = np.array(domain[n].present_labels, dtype=np.float64)
    return np.where(is_there, labels[np.where(is_there, codes[:, n], 0)], np.nan)
