"""Tables to measure on: rows of a random model as Parquet files, one a million rows, text with nulls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

LEVELS, CLASSES, MISSING = 10, 5, 0.05
FILE_ROWS = 1_000_000


def write_parquet(folder: Path, n_rows: int, n_columns: int) -> Path:
    """Write the table into a folder of files, unless it is there."""
    if not folder.exists():
        folder.mkdir(parents=True)
        for number, table in enumerate(_tables(n_rows, n_columns)):
            parquet.write_table(table, folder / f"{number:03}.parquet")
    return folder


def write_csv(folder: Path, n_rows: int, n_columns: int) -> Path:
    """Write the table as CSV files, unless it is there."""
    if not folder.exists():
        folder.mkdir(parents=True)
        for number, table in enumerate(_tables(n_rows, n_columns)):
            csv.write_csv(table, folder / f"{number:03}.csv")
    return folder


def _tables(n_rows: int, n_columns: int) -> Iterator[pa.Table]:
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.full(CLASSES, 2.0))
    steps = rng.dirichlet(np.full(LEVELS, 0.5), size=(n_columns, CLASSES)).cumsum(axis=2)
    labels = pa.array([f"label {level}" for level in range(LEVELS)])
    for start in range(0, n_rows, FILE_ROWS):
        size = min(FILE_ROWS, n_rows - start)
        classes = rng.choice(CLASSES, size=size, p=weights)
        columns = {}
        for n in range(n_columns):
            codes = np.empty(size, dtype=np.int8)
            for f in range(CLASSES):
                mine = classes == f
                codes[mine] = np.searchsorted(steps[n, f][:-1], rng.random(np.count_nonzero(mine)), side="right")
            indices = pa.array(codes, mask=rng.random(size) < MISSING)
            columns[f"v{n:02}"] = pa.DictionaryArray.from_arrays(indices, labels).cast(pa.string())
        yield pa.table(columns)
