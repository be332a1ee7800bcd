"""Columns that number or name the rows are warned of by name, and no others."""

import uuid
import warnings

import numpy as np
import pandas as pd
import pytest

import juror
from juror.errors import DataWarning

RNG = np.random.default_rng(0)
FIRST, LAST = ["Ada", "Bo", "Cy", "Di", "Eve", "Flo", "Gus"], ["Ash", "Bell", "Cole", "Dunn", "Eads"]
NAMES = [f"{first} {last}" for first in FIRST for last in LAST]
UNIQUE = {
    "names": NAMES,
    "UUIDs": [str(uuid.UUID(int=int(k))) for k in RNG.integers(0, 2**60, 300)],
    "nearly all differ": [*NAMES[:-1], NAMES[0]],
    "with missing cells": [*NAMES, *[None] * 30],
    "categories": pd.Series(NAMES, dtype="category"),
    "bytes of hashes": [hex(int(k)) for k in RNG.integers(2**30, 2**31, 500)],
}
OTHERS = {
    "few rows": NAMES[:19],
    "one in ten repeated": NAMES + NAMES[:4],
    "many labels that recur": list(map(str, RNG.integers(0, 300, 500))),
    "an order": pd.Series(pd.Categorical(NAMES, NAMES, ordered=True)),
    "numbers that differ": RNG.normal(size=200).tolist(),
    "years": list(range(1871, 1971)),
    "even numbers": list(range(0, 200, 2)),
    "row numbers with one missing": [*range(1, 50), *range(51, 101)],
    "ages": RNG.integers(0, 90, 400).tolist(),
    "days": pd.date_range("2020-01-01", periods=100),
}


@pytest.mark.parametrize("column", UNIQUE.values(), ids=UNIQUE)
def test_text_that_differs_in_nearly_all_rows_is_named_with_a_way_out(column):
    with pytest.warns(DataWarning, match=r"^Column 'who' has \d+ labels in \d+ rows, as an identifier has\..*drop"):
        juror.Domain.infer({"who": column})


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("n", [20, 30, 4000])
def test_row_numbers_are_named(n, first):
    numbers = np.random.default_rng(1).permutation(np.arange(first, first + n))
    with pytest.warns(DataWarning, match=r"^Column 'row' numbers the rows from [01] to [\d,]+, as an"):
        juror.Domain.infer({"row": numbers})


@pytest.mark.parametrize("column", OTHERS.values(), ids=OTHERS)
def test_other_columns_are_not(column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        juror.Domain.infer({"x": column})


def test_columns_of_which_somebody_said_what_they_mean_are_not():
    numbers = {"row": range(100)}
    for told in ({"bins": {"row": 5}}, {"edges": {"row": [0, 50, 100]}}, {"levels": {"row": list(range(100))}}):
        juror.Domain.infer(numbers, **told)


def test_weights_with_fractions_do_not_tell_how_many_rows_there_are():
    rows = {"a": [f"label {n % 66}" for n in range(600)], "b": [0, 1] * 300, "w": [0.11] * 600}
    juror.fit(rows, rank=1, method="em", sample_weight="w", max_iter=2)


def test_a_fit_says_so_and_files_too(tmp_path):
    rows = pd.DataFrame({"who": NAMES, "side": ["left", "right"] * 17 + ["left"]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for data in (rows, tmp_path / "rows.csv"):
        with pytest.warns(DataWarning, match="Column 'who' has 35 labels in 35 rows"):
            juror.fit(data, rank=1, method="em")
    # The way out: what is dropped may be in rows to fill.
    model = juror.fit(rows.drop(columns="who"), rank=1, method="em")
    assert model.impute(rows.assign(side=None).astype({"side": "object"}))["who"].tolist() == NAMES
