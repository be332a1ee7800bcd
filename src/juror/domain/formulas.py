"""Formulas between numbers: a column that is a sum or a product of others, up to the rounding of its own decimals.

    sum       z = c + Σ_k a_k x_k             a total, a difference, another unit
    product   z = c Π_k x_k^{a_k}             an area, a ratio, a body mass index

A forest cannot express such a formula: z depends on several columns at once, and numbers are independent inside their
intervals. So a domain keeps the formulas of its rows beside the variables. Rows that are drawn or filled satisfy them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from juror.domain.grid import EXACT
from juror.domain.variable import Variable
from juror.errors import DataError
from juror.readers.columns import as_text

Form = Literal["sum", "product"]
FORMS: tuple[Form, ...] = get_args(Form)
# Parts of a year, a day or an hour are fractions of smaller denominators. Decimals of more digits are hard to read.
_LARGEST_DENOMINATOR, _MOST_DIGITS = 1000, 12
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Formula:
    """One column as a sum or product of others.

    Attributes
    ----------
    target : str
        The column z that the others give exactly, up to its decimals.
    inputs : tuple of str
        The columns x_k.
    powers : tuple of float
        The a_k: factors of a sum, exponents of a product.
    constant : float
        The c: what is added to a sum, or multiplies a product.
    form : {"sum", "product"}
        Which of the two it is.
    computed : str
        The column that is computed from the others in drawn rows: the one that moves most, unless another formula
        computes that. None if drawn rows ignore the formula, because they would be less like those of the table.
    solvable : tuple of str
        The columns that the others give, exactly or nearly: the target, and inputs with one solution. A column whose
        numbers are labels is filled by solving the formula, but never computed in drawn rows.
    share : float
        The share of the rows in which the formula holds.
    exact : bool
        Whether it gives exactly the number of its target in nearly all rows. If not, its inputs were rounded, so that
        the target may be one step off.

    Examples
    --------
    >>> found = {"computed": "weight", "solvable": ("bmi", "weight"), "share": 1.0}
    >>> formula = Formula("bmi", ("weight", "height"), (1.0, -2.0), 10_000.0, "product", **found)
    >>> formula.in_words()
    'bmi = 10000 × weight / height²'
    >>> formula.solved("weight", {"bmi": np.array([25.0]), "height": np.array([200.0])}).tolist()
    [100.0]
    """

    target: str
    inputs: tuple[str, ...]
    powers: tuple[float, ...]
    constant: float
    form: Form
    computed: str | None
    solvable: tuple[str, ...]
    share: float
    exact: bool = False

    def check(self, variables: Sequence[Variable]) -> None:
        """Refuse a formula that these variables cannot satisfy, such as one in a file that juror did not write."""
        known = {variable.name: variable for variable in variables}
        numbers = np.array([self.constant, self.share, *self.powers])
        solvable = set(self.names) >= {self.computed or self.target, *self.solvable}
        fits = len(self.inputs) == len(self.powers) > 0 and solvable and self.form in FORMS
        if not fits or not np.all(np.isfinite(numbers)) or 0.0 in self.powers or len(set(self.names)) < len(self.names):
            raise DataError(f"The formula {self.target!r} = … must have different inputs and a finite factor for each.")
        for name in self.names:
            if name not in known or not known[name].is_numeric:
                raise DataError(f"The formula {self.in_words()!r} needs {name!r}, which is no column of numbers.")
        for name in (self.computed or self.target, self.target):
            if known[name].edges is None:
                raise DataError(f"The formula {self.in_words()!r} computes {name!r}, which has no intervals.")

    @property
    def names(self) -> tuple[str, ...]:
        """All columns of the formula."""
        return self.target, *self.inputs

    @property
    def power_of(self) -> dict[str, float]:
        """The factor or exponent of each input."""
        return dict(zip(self.inputs, self.powers, strict=True))

    @property
    def whole(self) -> str:
        """The column that is the sum or product of all others, which may be an input; the target if there is none."""
        taken_away = [name for name, power in self.power_of.items() if power < 0]
        if not taken_away or len(taken_away) < len(self.inputs) - 1:
            return self.target
        return next((name for name in self.inputs if name not in taken_away), self.target)

    def solved(self, name: str, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Return what a column of the formula must be, (n,), given the others; not finite where no number solves it.

        A number that is missing is NaN, and so is what follows from it.
        """
        powers = self.power_of
        with np.errstate(all="ignore"):
            if self.form == "sum":
                known = self.constant + sum(powers[x] * numbers[x] for x in self.inputs if x != name)
                return np.asarray(known if name == self.target else (numbers[self.target] - known) / powers[name])
            known = self.constant * np.prod([numbers[x] ** powers[x] for x in self.inputs if x != name], axis=0)
            if name == self.target:
                return np.asarray(known)
            return np.asarray((numbers[self.target] / known) ** (1 / powers[name]))

    def in_words(self) -> str:
        """Write the formula as people do."""
        right = self._sum_in_words() if self.form == "sum" else self._product_in_words()
        return f"{self.target} = {right}"

    def described(self) -> str:
        """Return the formula as text: in which share of the rows it holds, if not all, and if drawn rows ignore it."""
        notes = [] if self.share == 1 else [f"in {math.floor(1000 * self.share) / 10:g} % of the rows"]
        if self.computed is None:
            notes.append("drawn rows ignore it")
        return self.in_words() + (f" ({', '.join(notes)})" if notes else "")

    def _sum_in_words(self) -> str:
        terms = [(power, _times(abs(power), name)) for name, power in self.power_of.items()]
        if self.constant:
            terms.append((self.constant, _number_in_words(abs(self.constant))))
        # a sum that begins with a minus is harder to read
        terms.sort(key=lambda term: term[0] < 0)
        first = f"−{terms[0][1]}" if terms[0][0] < 0 else terms[0][1]
        return first + "".join(f" {'−' if sign < 0 else '+'} {text}" for sign, text in terms[1:])

    def _product_in_words(self) -> str:
        above = [_power(name, power) for name, power in self.power_of.items() if power > 0]
        below = [_power(name, -power) for name, power in self.power_of.items() if power < 0]
        if self.constant != 1 or not above:
            above.insert(0, _number_in_words(self.constant))
        under = f"({' × '.join(below)})" if len(below) > 1 else "".join(below)
        return " × ".join(above) + (f" / {under}" if below else "")


def _plain(number: float) -> float | int:
    return int(number) if number == int(number) else number


def nearest_fraction(number: float) -> float:
    """Return the nearest number that is a fraction of two numbers of few digits.

    >>> nearest_fraction(0.0833333332), nearest_fraction(0.25)
    (0.08333333333333333, 0.25)
    """
    if not math.isfinite(number):
        return number
    return float(Fraction(number).limit_denominator(_LARGEST_DENOMINATOR))


def _number_in_words(number: float) -> str:
    """Write a number, as a fraction if its decimals are long.

    >>> _number_in_words(0.085), _number_in_words(1 / 12)
    ('0.085', '1/12')
    """
    text = as_text(_plain(number))
    if len(text) > _MOST_DIGITS and nearest_fraction(number) == number:
        return str(Fraction(number).limit_denominator(_LARGEST_DENOMINATOR))
    return text


def _times(factor: float, name: str) -> str:
    return name if factor == 1 else f"{_number_in_words(factor)} × {name}"


def _power(name: str, power: float) -> str:
    if power == 1:
        return name
    return name + (str(int(power)).translate(_SUPERSCRIPTS) if power == int(power) else f"^{power:g}")


def on_grid(variable: Variable, numbers: np.ndarray, beyond: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Return numbers rounded to the decimals of a variable, (n,), and whether it may have them, (n,) of bool.

    It may have numbers between the smallest and the largest of its rows, at the stride of its law; with ``beyond``, any
    numbers if its intervals are open.
    """
    assert variable.edges is not None
    low, high = float(variable.edges[0]), float(variable.edges[-1])
    grid = variable.inside.law.grid
    with np.errstate(invalid="ignore", over="ignore"):
        rounded = numbers if grid.decimals is None else np.round(numbers, grid.decimals)
        possible = np.isfinite(rounded) & (np.abs(rounded) < EXACT * (grid.step or np.inf))
        if not (beyond and variable.open_ended):
            possible &= (rounded >= low) & (rounded <= high)
    safe = np.where(possible, rounded, low)
    if grid.decimals is None:
        return safe, possible
    positions = grid.positions(safe)
    if not (beyond and variable.open_ended):
        possible &= np.mod(positions, variable.inside.law.stride) == 0
    return grid.numbers(positions), possible


def nearest_label(variable: Variable, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the label nearest to each number, (n,) of float, and its code, (n,); for NaN these mean nothing."""
    labels = np.array(variable.present_labels, dtype=np.float64)
    order = np.argsort(labels)
    between = (labels[order][1:] + labels[order][:-1]) / 2
    codes = order[np.searchsorted(between, numbers)]
    return labels[codes], codes
