"""Find the orders that all rows of a table keep (:mod:`juror.domain.orders`); most of them say nothing yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from juror.domain.formula_columns import FEWEST_ROWS, Measured
from juror.domain.grid import EXACT
from juror.domain.orders import Order

# Tables with more columns of numbers are not searched. Most pairs are left out by the first rows.
_MOST_COLUMNS, _FIRST_ROWS = 200, 500


def orders_of(columns: Mapping[str, Measured]) -> Iterator[Order]:
    """Give the orders of columns of the same unit that all rows keep, and that some other pairing of cells would break.

    An order is strict if no row has the same number in both. Columns that are the same in all rows have no order.
    """
    usable = {name: column for name, column in columns.items() if _is_usable(column)}
    if not 2 <= len(usable) <= _MOST_COLUMNS:
        return
    names, measured = list(usable), list(usable.values())
    numbers = np.column_stack([column.numbers for column in measured])
    lowest, highest = np.nanmin(numbers, axis=0), np.nanmax(numbers, axis=0)
    units = np.array([column.nanoseconds for column in measured])
    first = numbers[np.linspace(0, len(numbers) - 1, min(_FIRST_ROWS, len(numbers))).astype(np.int64)]
    columns_of_all, is_known = np.ascontiguousarray(numbers.T), np.isfinite(numbers).astype(np.float32)
    n_both = np.rint(is_known.T @ is_known).astype(np.int64)
    for a, low in enumerate(names):
        # Of columns whose ranges do not overlap, no pairing of their cells breaks the order.
        possible = (units == units[a]) & (lowest < highest[a]) & (n_both[a] >= FEWEST_ROWS)
        possible &= ~(first[:, [a]] > first).any(axis=0)
        for b in np.flatnonzero(possible):
            # Comparisons with a missing cell are false.
            lower, higher = columns_of_all[a], columns_of_all[b]
            if not np.any(lower > higher) and np.any(lower < higher):
                yield Order(low, names[b], strict=not np.any(lower == higher), n_rows=int(n_both[a, b]))


def _is_usable(column: Measured) -> bool:
    """Say whether numbers differ, and are exact as floats."""
    known = column.numbers[np.isfinite(column.numbers)]
    if not len(known) or known.min() == known.max():
        return False
    return float(np.abs(known).max()) < EXACT * (column.step or np.inf)
