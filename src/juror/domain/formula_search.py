"""Find the formula of a column of numbers, see :mod:`juror.domain.formulas`.

A product is a sum of logarithms, so both forms are found as sums. Columns are added to a sum one by one, each time the
one that explains most of what is left. Then columns that are not needed are removed. A formula must hold in nearly all
rows to within a step of the column's decimals, and a step must be small compared with the spread of the column.
Unrelated numbers, and numbers that merely depend on each other, do not satisfy this.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from juror.domain.formula_columns import FEWEST_ROWS, Measured
from juror.domain.formulas import Form, Formula, nearest_fraction

# A formula must hold in at least this share of the rows; in more for a target of coarse steps, which is met by luck
# more often; and in this share of the rows that do not have the most frequent number of the target.
_HOLDS, _HOLDS_COARSE, _HOLDS_ELSEWHERE = 0.99, 0.998, 0.95
# A sum is tried as a formula if it leaves at most this share of the column's variance. At most this many are tried.
_SMALL, _MOST_TRIED = 0.1, 10
# The most inputs of a formula, the most rows that are searched, and the rows in which a sum is tried first
_MOST_INPUTS, _MOST_ROWS, _FEW_ROWS = 8, 4000, 300
# A formula fitted to a few rows is dropped if its median error is more than this many steps.
_ROUGHLY = 4.0
# Columns with a smaller share of variance of their own are taken to be sums of others. The ridge keeps sums solvable.
_ALMOST_ZERO, _RIDGE = 1e-6, 1e-9
# A fit is repeated without the rows that it explains worst: the share of rows that stay, and the number of fits
_TRIMMED, _ROUNDS = 0.9, 6
# Exponents of products are whole numbers: how far a fitted one may be from the nearest
_EXPONENT_ERROR = 0.02
# How far a solved number may be from that of its row: this share of the spread of the column, and a step
_NEAR = 0.02
# A formula must be exact in at least this part of the share of rows that rounding explains. To find that share, columns
# are moved by multiples of roots of primes, which fill a step evenly and need no random numbers.
_OF_EXPLAINED, _PRIMES = 0.9, np.array([2, 3, 5, 7, 11, 13, 17, 19, 23])
# Numbers of significant digits that are tried for factors, fewest first
_DIGITS = range(1, 10)
# Of formulas whose shares agree in this many digits, the simplest is taken.
_SHARE_DIGITS = 3


@dataclass(frozen=True)
class Verified:
    """A formula that rows satisfy, and in which share of them it gives exactly the number of its target."""

    formula: Formula
    exact: float

    @property
    def plainness(self) -> tuple[float, float, float]:
        """Rank formulas of the same number of inputs: first by the rows in which they hold, then by powers near one."""
        shares = round(self.formula.share, _SHARE_DIGITS), round(self.exact, _SHARE_DIGITS)
        return *shares, -float(np.abs(np.log(np.abs(self.formula.powers))).sum())


class FormulaSearch:
    """Columns, and some rows of them for the search; all rows verify what it finds."""

    def __init__(self, columns: Mapping[str, Measured]):
        self._columns = columns
        n_rows = len(next(iter(columns.values())).numbers)
        some = np.linspace(0, n_rows - 1, min(_MOST_ROWS, n_rows)).astype(np.int64)
        rows = np.stack([column.numbers[some] for column in columns.values()], axis=1)
        are_dates = np.array([column.nanoseconds > 0 for column in columns.values()])
        with np.errstate(invalid="ignore", divide="ignore"):
            # Products of dates would depend on the day that their calendar counts from.
            logs = np.where((rows > 0) & ~are_dates, np.log(rows), np.nan)
        self._rows: dict[Form, np.ndarray] = {"sum": rows, "product": logs}
        self._correlations = {form: correlations(numbers) for form, numbers in self._rows.items()}
        self._deviations = {form: _deviations(numbers) for form, numbers in self._rows.items()}
        self._place = {name: n for n, name in enumerate(columns)}

    def lead_of(self, formula: Formula, name: str) -> float:
        """Return how much a column moves the target compared with the column that moves it most, as a logarithm.

        The computed column takes up the errors of all others. Beside its own movement these should be small.
        """
        powers = {formula.target: 1.0, **formula.power_of}
        moves = {x: abs(a) * self._deviations[formula.form][self._place[x]] for x, a in powers.items()}
        return float(np.log(moves[name] / max(moves.values())))

    def rank_of(self, found: Verified) -> tuple[Any, ...]:
        """Rank formulas, the lowest first: few inputs, exact, of the finest steps, few digits, few minus signs."""
        formula = found.formula
        target, inputs = self._columns[formula.target], [self._columns[name] for name in formula.inputs]
        is_coarse = any(target.step > each.step for each in inputs)
        n_digits = sum(map(_significant_digits, (*formula.powers, formula.constant)))
        n_below_zero = sum(power < 0 for power in formula.powers)
        exact = round(found.exact, _SHARE_DIGITS)
        return len(inputs), -exact, is_coarse, n_digits, n_below_zero, target.coarseness

    def formula_of(self, target: str, form: Form, names: Sequence[str]) -> Verified | None:
        """Return the formula that gives a column by others of these names, with as few inputs as it needs, if any."""
        if not self._columns[target].can_be_target:
            return None
        verified = partial(self._verified, target, form)
        inputs: tuple[str, ...] = ()
        for _, some in groupby(self._candidates(target, form, [name for name in names if name != target]), len):
            found = [each for each in map(verified, some) if each is not None]
            if found:
                inputs = max(found, key=lambda each: each.plainness).formula.inputs
                break
        for name in inputs:
            fewer = tuple(other for other in inputs if other != name)
            if fewer and verified(fewer) is not None:
                inputs = fewer
        best = verified(inputs) if inputs else None
        if best is None:
            return None
        solvable = [name for name in best.formula.names if self._can_solve(best.formula, name)]
        solvable.sort(key=partial(self.lead_of, best.formula), reverse=True)
        return replace(best, formula=replace(best.formula, solvable=tuple(solvable)))

    def computable(self, formula: Formula) -> list[str]:
        """Return the columns of a formula that can be computed: those it can be solved for that have intervals."""
        return [name for name in formula.solvable if self._columns[name].has_intervals]

    def _candidates(self, target: str, form: Form, others: Sequence[str]) -> Iterator[tuple[str, ...]]:
        """Give inputs that explain nearly all of a target, fewest first: the best single ones and pairs, then more."""
        places = [self._place[name] for name in (target, *others)]
        correlation = self._correlations[form][np.ix_(places, places)]
        more = dict.fromkeys((*_one_by_one(correlation), *_all_at_once(correlation)))
        for inputs in sorted((*_best_pairs(correlation), *more), key=len):
            yield tuple(others[n] for n in inputs)

    def _verified(self, target: str, form: Form, inputs: Sequence[str]) -> Verified | None:
        """Return the formula with these inputs if it holds in nearly all rows, with factors of few digits."""
        rows = self._rows[form][:, [self._place[name] for name in (target, *inputs)]]
        rows = rows[np.isfinite(rows).all(axis=1)]
        if len(rows) < FEWEST_ROWS:
            return None
        # Most candidates fail, and a few rows show it.
        roughly = _fitted(rows[:: 1 + len(rows) // _FEW_ROWS], target, form, inputs)
        if roughly is None or self._error(roughly) > _ROUGHLY * self._columns[target].near:
            return None
        formula = _fitted(rows, target, form, inputs)
        return None if formula is None or self._has_idle_inputs(formula) else self._in_few_digits(formula)

    def _has_idle_inputs(self, formula: Formula) -> bool:
        """Say whether some term of a sum never moves the target by a step."""
        if formula.form == "product":
            return False
        ranges = np.ptp([np.nanquantile(self._columns[name].numbers, (0, 1)) for name in formula.inputs], axis=1)
        return bool(np.any(np.abs(formula.powers) * ranges < self._columns[formula.target].nearest))

    def _error(self, formula: Formula) -> float:
        """Return how far a formula is off in half of the rows of the search; infinite if it gives a number in none."""
        numbers = {name: self._rows["sum"][:, self._place[name]] for name in formula.names}
        with np.errstate(invalid="ignore"):
            errors = np.abs(formula.solved(formula.target, numbers) - numbers[formula.target])
        # Where exponents are large, powers overflow and their product may be no number.
        errors = errors[~np.isnan(errors)]
        return float(np.median(errors)) if len(errors) else np.inf

    def _in_few_digits(self, formula: Formula) -> Verified | None:
        """Return a formula that was fitted with the shortest numbers that hold in as many rows; None if none hold.

        Floats without decimals may hold twelfths and the like, which no decimals give exactly.
        """
        if not self._columns[formula.target].step:
            simple = replace(formula, powers=tuple(map(nearest_fraction, formula.powers)))
            simple = replace(simple, constant=nearest_fraction(formula.constant))
            if 0.0 not in simple.powers and self._error(simple) <= self._columns[formula.target].rounding:
                return self._held(simple)
        found = self._held(formula)
        least = (0.0, 0.0) if found is None else found.plainness[:2]
        for constant in (0.0, 1.0, None):
            for digits in _DIGITS:
                powers = tuple(float(f"{power:.{digits}g}") for power in formula.powers)
                c = float(f"{formula.constant:.{digits}g}") if constant is None else constant
                shorter = self._held(replace(formula, powers=powers, constant=c))
                if shorter is not None and shorter.plainness[:2] >= least:
                    return shorter
        return found

    def _held(self, formula: Formula) -> Verified | None:
        """Return a formula with the share of the rows in which it holds; None if in too few."""
        target, numbers, known = self._numbers_of(formula)
        if known.sum() < FEWEST_ROWS or not self._is_of_durations(formula):
            return None
        with np.errstate(invalid="ignore"):
            error = np.abs(formula.solved(formula.target, numbers) - target.numbers)[known]
            holds, exact = error <= target.near, error <= target.nearest
        elsewhere = ~target.is_usual[known]
        share, other = holds.mean(), holds[elsewhere].mean() if elsewhere.any() else 0.0
        least = _HOLDS if target.is_fine else _HOLDS_COARSE
        if share < least or other < _HOLDS_ELSEWHERE:
            return None
        is_exact = bool(exact.mean() >= least)
        if not is_exact and exact.mean() < _OF_EXPLAINED * self._explained(formula, known):
            return None
        return Verified(replace(formula, share=float(share), exact=is_exact), float(exact.mean()))

    def _is_of_durations(self, formula: Formula) -> bool:
        """Say whether a sum holds from whatever day its dates, if it has any, are counted.

        So the end may be the start and some days, and the days may be the end less the start; but no year is a share of
        a date.
        """
        units = [self._columns[name].nanoseconds for name in formula.inputs]
        moved = sum(power * unit for power, unit in zip(formula.powers, units, strict=True))
        return math.isclose(moved, self._columns[formula.target].nanoseconds, abs_tol=_ALMOST_ZERO * max(units))

    def _explained(self, formula: Formula, known: np.ndarray) -> float:
        """Return the share of rows in which a formula would be exact if rounding of its columns were the only error.

        Numbers that are one, two or three are all within a step of 2, but rounding does not explain a whole step.
        """
        target, rows = self._columns[formula.target], np.flatnonzero(known)
        rows = rows[:: 1 + len(rows) // _MOST_ROWS]
        rounded, before = {}, {}
        for name, prime in zip(formula.inputs, _PRIMES, strict=False):
            column = self._columns[name]
            off = np.sqrt(prime) * np.arange(1, len(rows) + 1) % 1 - 0.5
            rounded[name] = column.numbers[rows]
            before[name] = rounded[name] + off * column.step * column.has_intervals
        with np.errstate(invalid="ignore", over="ignore"):
            numbers = formula.solved(formula.target, before)
            if target.step:
                numbers = target.step * np.rint(numbers / target.step)
            return float((np.abs(numbers - formula.solved(formula.target, rounded)) <= target.nearest).mean())

    def _can_solve(self, formula: Formula, name: str) -> bool:
        """Say whether the other columns of a formula nearly give this one, in the rows where they give a number."""
        column = self._columns[name]
        _, numbers, known = self._numbers_of(formula)
        power = formula.power_of.get(name, 1.0)
        if formula.form == "product" and power % 2 == 0 and np.nanmin(column.numbers) < 0:
            return False
        solved = formula.solved(name, numbers)
        known &= np.isfinite(solved)
        error = np.abs(solved[known] - column.numbers[known])
        return known.sum() >= FEWEST_ROWS and bool((error <= column.near + _NEAR * column.spread).mean() >= _HOLDS)

    def _numbers_of(self, formula: Formula) -> tuple[Measured, dict[str, np.ndarray], np.ndarray]:
        """Return the target of a formula, the numbers of its columns, and which rows have all of these, (n_rows,)."""
        numbers = {name: self._columns[name].numbers for name in formula.names}
        return self._columns[formula.target], numbers, np.isfinite(np.stack(list(numbers.values()))).all(axis=0)


def _fitted(rows: np.ndarray, target: str, form: Form, inputs: Sequence[str]) -> Formula | None:
    """Fit a formula to rows (n, 1 + n_inputs) of its target and inputs, or logarithms of these."""
    powers, constant = _trimmed_fit(rows[:, 1:], rows[:, 0])
    if form == "product":
        simple = np.round(powers)
        if np.any(np.abs(simple - powers) > _EXPONENT_ERROR) or np.any(simple == 0):
            return None
        # Exponents of inputs that nearly depend on each other may be large; an infinite constant fits no row.
        with np.errstate(over="ignore"):
            powers, constant = simple, float(np.exp(np.median(rows[:, 0] - rows[:, 1:] @ simple)))
    return Formula(target, tuple(inputs), tuple(powers.tolist()), constant, form, target, (target,), 0.0)


def _significant_digits(number: float) -> int:
    mantissa, _ = f"{abs(number):.{_DIGITS[-1]}e}".split("e")
    return len(mantissa.replace(".", "").rstrip("0"))


def _best_pairs(correlation: np.ndarray) -> list[tuple[int, ...]]:
    """Return the single inputs, and then the pairs, that explain nearly all of the first column, the best ones first.

    Numbers of inputs count from the second column.
    """
    of_target, among = correlation[0, 1:], correlation[1:, 1:]
    singles = np.square(of_target)
    a, b = np.triu_indices(len(of_target), 1)
    apart = 1 - among[a, b] ** 2
    explained = singles[a] + singles[b] - 2 * of_target[a] * of_target[b] * among[a, b]
    pairs = np.divide(explained, apart, out=np.zeros(len(a)), where=apart > _ALMOST_ZERO)
    best = [(int(n),) for n in np.argsort(-singles)[:_MOST_TRIED] if singles[n] > 1 - _SMALL]
    return best + [(int(a[n]), int(b[n])) for n in np.argsort(-pairs)[:_MOST_TRIED] if pairs[n] > 1 - _SMALL]


def _one_by_one(correlation: np.ndarray) -> list[tuple[int, ...]]:
    """Return the first, the first two, … of the inputs, each the one that explains most of what is left.

    None if all together leave much of the target, the first column.
    """
    left = correlation.copy()
    chosen: list[int] = []
    while len(chosen) < min(_MOST_INPUTS, len(left) - 1) and left[0, 0] > _ALMOST_ZERO:
        own = np.diag(left)
        gain = np.divide(left[0] ** 2, own, out=np.zeros(len(left)), where=own > _ALMOST_ZERO)
        gain[[0, *chosen]] = 0.0
        best = int(np.argmax(gain))
        if gain[best] == 0.0:
            break
        chosen.append(best)
        left -= np.outer(left[:, best], left[best]) / own[best]
    if left[0, 0] > _SMALL:
        return []
    return [tuple(n - 1 for n in chosen[:k]) for k in range(1, len(chosen) + 1)]


def _all_at_once(correlation: np.ndarray) -> list[tuple[int, ...]]:
    """Return the first two, three, … of the inputs, those with the largest factors in the sum of all of them.

    Where all columns depend on each other, the one that explains most need not be in the sum. None if all together
    leave much of the target, the first column.
    """
    of_target, among = correlation[1:, 0], correlation[1:, 1:]
    factors = np.linalg.solve(among + _RIDGE * np.eye(len(among)), of_target)
    if not 1 - factors @ of_target <= _SMALL:
        return []
    largest = np.argsort(-np.abs(factors))[:_MOST_INPUTS]
    return [tuple(map(int, largest[:k])) for k in range(2, len(largest) + 1)]


def _trimmed_fit(inputs: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit factors of the inputs (n, k) and a constant to a target (n,), without the rows that are explained worst."""
    middle, scale = inputs.mean(axis=0), inputs.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    design = np.column_stack([(inputs - middle) / scale, np.ones(len(target))])
    rows: Any = slice(None)
    for _ in range(_ROUNDS):
        found = np.linalg.lstsq(design[rows], target[rows], rcond=None)[0]
        error = np.abs(target - design @ found)
        rows = error <= np.quantile(error, _TRIMMED)
    powers = found[:-1] / scale
    return powers, float(found[-1] - powers @ middle)


def correlations(rows: np.ndarray) -> np.ndarray:
    """Return the correlations of columns (n, k), each over the rows that have both; 0 if these are few."""
    known = np.isfinite(rows)
    middle = np.where(known, rows, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    apart = np.where(known, (rows - middle) / np.maximum(_deviations(rows), np.sqrt(np.finfo(float).tiny)), 0.0)
    mask = known.astype(np.float64)
    n = np.maximum(mask.T @ mask, 1.0)
    sums = apart.T @ mask
    squares = (apart**2).T @ mask - sums**2 / n
    lengths = np.sqrt(np.maximum(squares * squares.T, 0.0))
    enough = (n >= FEWEST_ROWS) & (lengths > _ALMOST_ZERO)
    return np.divide(apart.T @ apart - sums * sums.T / n, lengths, out=np.eye(rows.shape[1]), where=enough)


def _deviations(rows: np.ndarray) -> np.ndarray:
    """Return the standard deviations of columns (n, k) over the rows that have them; 0 if none has."""
    known = np.isfinite(rows)
    n = np.maximum(known.sum(axis=0), 1)
    middle = np.where(known, rows, 0.0).sum(axis=0) / n
    return np.sqrt((np.where(known, rows - middle, 0.0) ** 2).sum(axis=0) / n)
