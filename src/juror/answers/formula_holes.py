"""Holes of a table that follow from the other cells of their row, by formulas (:mod:`juror.domain.formulas`).

If all columns of a formula but one are known, that one follows, and then another formula may give another one. If
several are holes, one is filled from the distribution, and then what follows. So a filled row satisfies its formulas if
there are possible numbers that do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.answers.formula_solving import intervals_of, is_broken, numbers_of, solve
from juror.answers.label_frames import label_array
from juror.answers.numbers import as_cells
from juror.domain import Domain
from juror.domain.formula_columns import observed_numbers
from juror.domain.formulas import Formula, nearest_label, on_grid
from juror.domain.variable import Variable
from juror.readers import Column
from juror.readers.columns import MISSING

# By name of a column: its numbers, (rows,), NaN in holes; or which of its cells are meant, (rows,) of bool
Cells = dict[str, np.ndarray]


@dataclass(frozen=True, eq=False)
class FormulaHoles:
    """The holes of a table, and what the formulas of its domain say about them.

    Attributes
    ----------
    domain : Domain
        The variables and formulas.
    formulas : sequence of Formula
        Those whose columns are all in the table, as numbers.
    known : mapping of str to numpy.ndarray, (rows,)
        By column, the numbers that are observed, or follow from other cells of their row; NaN in other holes.
    """

    domain: Domain
    formulas: Sequence[Formula]
    known: Cells

    @classmethod
    def of(
        cls, domain: Domain, columns: Sequence[Column], codes: np.ndarray, also: Collection[str] = ()
    ) -> FormulaHoles:
        """Solve formulas for the holes of columns, and write the codes of what was found into codes (rows, N).

        Missing cells that have a label are no holes, except those of columns in ``also``.
        """
        by_name = {column.name: column for column in columns}
        names = dict.fromkeys(name for formula in domain.formulas for name in formula.names if name in by_name)
        observed = {name: observed_numbers(domain[name], by_name[name]) for name in names}
        known = {name: numbers for name, numbers in observed.items() if numbers is not None}
        formulas = [formula for formula in domain.formulas if known.keys() >= set(formula.names)]
        holes = {
            name: np.isnan(numbers) & (codes[:, domain.position(name)] < 0)
            for name, numbers in known.items()
            if domain[name].missing_label is None or name in also
        }
        _follow(domain, formulas, known, holes)
        for name, cells in holes.items():
            rows = cells & np.isfinite(known[name])
            codes[rows, domain.position(name)] = _codes_of(domain, name, known[name][rows])
        return cls(domain, formulas, known)

    def at(self, rows: np.ndarray | slice) -> FormulaHoles:
        """Return the holes of some rows."""
        return replace(self, known={name: numbers[rows] for name, numbers in self.known.items()})

    def filled(self, codes: np.ndarray, numbers: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
        """Return numbers of variables, (rows,), that satisfy the formulas, from filled rows.

        Numbers that follow from other cells replace those that were drawn. Of several holes of a formula, all but one
        keep what was drawn, and the last one follows.

        Parameters
        ----------
        codes : numpy.ndarray, (rows, N)
            Codes of the filled rows.
        numbers : mapping of int to numpy.ndarray, (rows,)
            By variable, the numbers of the filled rows.
        """
        names = {name: self.domain.position(name) for name in self.known}
        drawn = {
            name: numbers_of(self.domain, name, codes, numbers)
            for name, n in names.items()
            if n in numbers or self.domain[n].edges is None
        }
        has_holes = any(np.any(np.isnan(self.known[name])) for name in drawn)
        known = self._completed(drawn) if has_holes else self.known
        whole = dict(numbers)
        for name, n in names.items():
            if self.domain[n].edges is not None:
                exact, possible = on_grid(self.domain[n], known[name], beyond=True)
                whole[n] = np.where(possible, exact, numbers[n]) if n in numbers else exact
        return whole

    def _completed(self, drawn: Cells) -> Cells:
        """Fill holes with drawn numbers or with what follows; rows that fail are filled again in the other order."""
        first, last = self._order()
        known = _guessed(self.domain, self.formulas, self.known, drawn, [*first, *last])
        wrong = np.zeros(len(next(iter(known.values()))), dtype=bool)
        for formula in self.formulas:
            wrong |= is_broken(self.domain, formula, known)
        # Rows without holes stay as they were observed.
        wrong &= np.any([np.isnan(self.known[name]) for name in drawn], axis=0)
        rows = np.flatnonzero(wrong)
        if not len(rows):
            return known
        before, others = ({name: each[rows] for name, each in cells.items()} for cells in (self.known, drawn))
        again = _guessed(self.domain, self.formulas, before, others, [*reversed(first), *last])
        for name, numbers in again.items():
            known[name][rows] = numbers
        return known

    def _order(self) -> tuple[list[str], list[str]]:
        """Return the columns whose holes are filled first, labels before numbers, and those that are to follow."""
        names = dict.fromkeys(name for formula in self.formulas for name in reversed(formula.names))
        last = dict.fromkeys(formula.computed or formula.target for formula in self.formulas)
        first = [name for name in names if name not in last]
        return sorted(first, key=lambda name: self.domain[name].edges is not None), list(last)


def with_what_follows(
    guesses: np.ndarray, domain: Domain, variable: Variable, columns: Sequence[Column], codes: np.ndarray
) -> np.ndarray:
    """Return guesses (rows,) of a variable, replaced where formulas give it from the other columns."""
    target = variable.name
    if not any(target in formula.solvable for formula in domain.formulas):
        return guesses
    others = [column for column in columns if column.name != target]
    absent = Column(target, "number", np.zeros(0), np.full(len(codes), MISSING))
    # Formulas find holes by their codes. If the target is the only column, the codes are those of its own cells.
    unknown = codes.copy()
    unknown[:, domain.position(target)] = MISSING
    known = FormulaHoles.of(domain, [*others, absent], unknown).known.get(target)
    if known is None or not np.isfinite(known).any():
        return guesses
    if variable.edges is None:
        return np.where(np.isfinite(known), label_array(variable.labels)[nearest_label(variable, known)[1]], guesses)
    numbers, possible = on_grid(variable, known, beyond=True)
    if variable.calendar is not None:
        numbers = label_array(as_cells(variable, numbers.tolist()))
    return np.where(possible, numbers, guesses)


def _guessed(domain: Domain, formulas: Sequence[Formula], known: Cells, drawn: Cells, order: Sequence[str]) -> Cells:
    """Fill the holes of one column after the other with drawn numbers, and each time the holes that then follow."""
    known = {name: numbers.copy() for name, numbers in known.items()}
    can_follow = (name for name in drawn if domain[name].edges is not None)
    holes = {name: np.isnan(known[name]) & np.isfinite(drawn[name]) for name in can_follow}
    guessed: Cells = {}
    for name in order:
        rows = np.isnan(known[name]) & np.isfinite(drawn[name]) if name in drawn else np.zeros(0, dtype=bool)
        if rows.any():
            known[name][rows], guessed[name] = drawn[name][rows], rows
            _follow(domain, formulas, known, holes, guessed, {name})
    return known


def _follow(
    domain: Domain,
    formulas: Sequence[Formula],
    known: Cells,
    holes: Mapping[str, np.ndarray],
    guessed: Mapping[str, np.ndarray] | None = None,
    new: set[str] | None = None,
) -> None:
    """Add to the known numbers what follows from them, until nothing more follows.

    Parameters
    ----------
    domain, formulas
        The variables, and what holds between them.
    known : dict of str to numpy.ndarray, (rows,)
        Numbers, by column; NaN where unknown.
    holes : mapping of str to numpy.ndarray, (rows,)
        Which cells may be filled, by column.
    guessed : mapping of str to numpy.ndarray, (rows,), optional
        Which cells were drawn. If given, a drawn target may be rounded once more, and no number goes beyond those seen.
    new : set of str, optional
        The columns whose numbers are new; by default all.
    """
    n_uses = Counter(name for formula in formulas for name in formula.names)
    new = set(n_uses) if new is None else new
    while new:
        found = set[str]()
        for formula in formulas:
            if not (new | found).isdisjoint(formula.names):
                free = (guessed or {}).get(formula.target) if n_uses[formula.target] == 1 else None
                found |= _filled_by(domain, formula, known, holes, free, guessed is None)
        new = found


def _filled_by(
    domain: Domain,
    formula: Formula,
    known: Cells,
    holes: Mapping[str, np.ndarray],
    free: np.ndarray | None,
    beyond: bool,
) -> set[str]:
    """Fill holes by a formula in rows that lack only one of its columns, and return the columns that gained numbers."""
    unknown = {name: np.isnan(known[name]) for name in formula.names}
    one = np.sum(list(unknown.values()), axis=0) == 1
    gained = set[str]()
    for name in formula.solvable if one.any() else ():
        rows = np.flatnonzero(one & unknown[name] & holes[name]) if name in holes else np.zeros(0, dtype=np.int64)
        if len(rows) and _solve_for(name, domain, formula, known, rows, free, beyond):
            gained.add(name)
    return gained


def _solve_for(
    name: str, domain: Domain, formula: Formula, known: Cells, rows: np.ndarray, free: np.ndarray | None, beyond: bool
) -> bool:
    """Solve a formula for a column in rows with these numbers, and say whether it could be solved in any."""

    def allows(column: str, new: np.ndarray) -> np.ndarray:
        # Only targets that were drawn may change.
        return np.full(len(new), column == name) if column == name or free is None else free[rows]

    found = solve(domain, formula, name, {each: known[each][rows] for each in formula.names}, allows, beyond)
    for column, (new, are_new) in found.items():
        known[column][rows[are_new]] = new[are_new]
    return bool(found[name][1].any())


def _codes_of(domain: Domain, name: str, numbers: np.ndarray) -> np.ndarray:
    variable = domain[name]
    return nearest_label(variable, numbers)[1] if variable.edges is None else intervals_of(variable, numbers)
