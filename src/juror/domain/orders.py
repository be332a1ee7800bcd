"""Orders between columns of numbers or dates: in every row one column is at most another.

    low <= high             a part and its total, an age at an event and the age
    low < high              a start and an end that are never the same

A mixture gives some probability to rows that break such an order, as its classes know each column only roughly. So a
domain keeps the orders of its rows beside its formulas (:mod:`juror.domain.formulas`). Rows that are drawn or filled
keep them, too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from juror.domain.variable import Variable
from juror.errors import DataError


@dataclass(frozen=True)
class Order:
    """One column that is at most another, or always less.

    Attributes
    ----------
    low, high : str
        The columns.
    strict : bool
        Whether they are never the same.
    n_rows : int
        How many rows have both; none of them breaks the order.
    kept : bool
        Whether drawn and filled rows keep it. They ignore it if keeping it would make a column less like the table's.

    Examples
    --------
    >>> order = Order("start", "end", strict=False, n_rows=2000)
    >>> order.described()
    'start <= end in all 2,000 rows'
    >>> order.is_broken({"start": np.array([1.0, 2.0, 3.0]), "end": np.array([2.0, 2.0, 2.0])}).tolist()
    [False, False, True]
    """

    low: str
    high: str
    strict: bool
    n_rows: int
    kept: bool = True

    def check(self, variables: Sequence[Variable]) -> None:
        """Refuse an order that these variables cannot have, such as one in a file that juror did not write."""
        known = {variable.name: variable for variable in variables}
        for name in self.names:
            if name not in known or not known[name].is_numeric:
                raise DataError(f"The order {self.in_words()!r} needs {name!r}, which is no column of numbers.")
        if self.low == self.high or self.n_rows < 0:
            raise DataError(f"The order {self.in_words()!r} must be of two columns, in a number of rows.")

    @property
    def names(self) -> tuple[str, str]:
        """Both columns."""
        return self.low, self.high

    def is_broken(self, numbers: Mapping[str, np.ndarray]) -> np.ndarray:
        """Say which rows break the order, (n,), given the numbers of both columns; none with a missing cell does."""
        low, high = numbers[self.low], numbers[self.high]
        return np.asarray(low >= high if self.strict else low > high)

    def in_words(self) -> str:
        """Write the order as a condition."""
        return f"{self.low} {'<' if self.strict else '<='} {self.high}"

    def described(self) -> str:
        """Return the order as text, with the number of rows, and whether drawn and filled rows ignore it."""
        ignored = "" if self.kept else " (drawn and filled rows ignore it)"
        return f"{self.in_words()} in all {self.n_rows:,} rows{ignored}"


def without_implied(orders: Iterable[Order], optional: Collection[str] = ()) -> tuple[Order, ...]:
    """Leave out orders that follow from two others: a <= c from a <= b and b <= c.

    A strict order follows if one of the two is strict. Through an optional column, whose missing cells have a label,
    an order does not follow if it has more rows than both others, as it says more of rows without that column.

    >>> orders = [Order(low, high, strict=False, n_rows=100) for low, high in ("ab", "bc", "ac")]
    >>> [order.in_words() for order in without_implied(orders)]
    ['a <= b', 'b <= c']
    """
    by_names = {order.names: order for order in orders}
    above: dict[str, list[str]] = {}
    for low, high in by_names:
        above.setdefault(low, []).append(high)

    def is_implied(order: Order) -> bool:
        for middle in above[order.low]:
            first, second = by_names[order.low, middle], by_names.get((middle, order.high))
            if second is None or (order.strict and not first.strict and not second.strict):
                continue
            if middle not in optional or order.n_rows <= min(first.n_rows, second.n_rows):
                return True
        return False

    # What follows from an order that is left out follows from others, too, as no two columns are always the same.
    return tuple(order for order in by_names.values() if not is_implied(order))


def among(orders: Iterable[Order], names: Collection[str], variables: Iterable[Variable]) -> tuple[Order, ...]:
    """Return the orders between some columns alone, and those that follow through the other ones of the variables.

    None follows through a column whose missing cells have a label, or from an order that drawn rows ignore.

    >>> from juror.domain import Domain
    >>> domain = Domain.from_cardinalities([3, 3, 3])
    >>> orders = [Order("x0", "x1", strict=True, n_rows=100), Order("x1", "x2", strict=False, n_rows=90)]
    >>> [order.described() for order in among(orders, ["x0", "x2"], domain)]
    ['x0 < x2 in all 90 rows']
    """
    found = {order.names: order for order in orders}
    for middle in (variable for variable in variables if variable.name not in names):
        below = [order for order in found.values() if order.high == middle.name and order.kept]
        above = [order for order in found.values() if order.low == middle.name and order.kept]
        for first, second in product(below, above if middle.missing_label is None else ()):
            is_strict, n_rows = first.strict or second.strict, min(first.n_rows, second.n_rows)
            follows, known = Order(first.low, second.high, is_strict, n_rows), found.get((first.low, second.high))
            if follows.low != follows.high and (known is None or (known.kept, known.strict) < (True, is_strict)):
                found[follows.names] = follows
        found = {pair: order for pair, order in found.items() if middle.name not in pair}
    return tuple(order for order in found.values() if set(names).issuperset(order.names))
