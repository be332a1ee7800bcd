"""Columns that number or name the rows: they say nothing about other rows."""

from __future__ import annotations

import numpy as np

from juror.errors import DataWarning
from juror.readers.tallies import Tally

# Fewer rows may all differ by chance.
_FEWEST_ROWS = 20
# The least number of different labels of an identifier, as a share of the rows: some rows may be repeated.
_DISTINCT = 0.95


def about_identifier(column: Tally) -> DataWarning | None:
    """Return a warning if a column is an identifier: text that differs in nearly all rows, or row numbers; else None.

    Other numbers are cut into intervals of many rows each. With fractions as weights, the number of rows is not known.

    >>> about_identifier(Tally("year", "number", np.arange(1900.0, 2000.0), np.ones(100)))
    >>> print(about_identifier(Tally("row", "number", np.arange(1.0, 101.0), np.ones(100))))
    Column 'row' numbers the rows from 1 to 100, as an identifier does. Drop it unless the order of the rows means \
something. Columns that the model does not know may stay in rows for impute and predict.
    """
    if column.form == "number":
        return _about_row_numbers(column) if _are_row_numbers(column) else None
    if column.form not in ("text", "category") or column.ordered:
        return None
    counts = column.counts[column.counts > 0]
    n_rows = float(counts.sum())
    if n_rows < _FEWEST_ROWS or len(counts) < _DISTINCT * n_rows or np.any(counts != np.floor(counts)):
        return None
    return DataWarning(
        f"Column {column.name!r} has {len(counts):,} labels in {n_rows:,.0f} rows, as an identifier has. It says "
        "nothing about other rows, and rows with new labels are refused; drop it before the fit. Columns that the "
        "model does not know may stay in rows for impute and predict."
    )


def _are_row_numbers(column: Tally) -> bool:
    """Whether all numbers from 0 or 1 on occur once."""
    n_rows = len(column.values)
    if n_rows < _FEWEST_ROWS or column.calendar is not None or column.dropped or np.any(column.counts != 1):
        return False
    first = column.values[0]
    return bool(first in (0, 1) and np.array_equal(column.values, np.arange(first, first + n_rows)))


def _about_row_numbers(column: Tally) -> DataWarning:
    return DataWarning(
        f"Column {column.name!r} numbers the rows from {column.values[0]:.0f} to {column.values[-1]:,.0f}, as an "
        "identifier does. Drop it unless the order of the rows means something. Columns that the model does not know "
        "may stay in rows for impute and predict."
    )
