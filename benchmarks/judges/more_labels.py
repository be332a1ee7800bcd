"""Labels of tables that are not on the page, so that nothing is tuned to those that are.

``python -m benchmarks.judges.more_labels breast_cancer:0 titanic:1`` prints, for a table and the seed of its split, the
measures of ``juror.fit(rows, target=…)`` and of gradient boosting. Tables of the page can be named too.
"""

from __future__ import annotations

import json
import sys
import warnings
from typing import TYPE_CHECKING

import numpy as np
from benchmarks.accuracy.folder import data_file

import juror

from .labelling import SHARE, measured_by
from .tables import SOURCES, label_of, numbers_of, split, table

if TYPE_CHECKING:
    import pandas as pd

# A table with its target and its columns of numbers
Labelled = tuple["pd.DataFrame", str, list[str]]
_GSS_ROWS, _DEBD_ROWS = 8000, 12_000


def labelled(name: str) -> Labelled:
    """Return a table of the page, of scikit-learn or of juror, opinions, or a binary set."""
    if name in SOURCES:
        return table(name), label_of(name), numbers_of(name)
    if name == "titanic":
        return juror.datasets.titanic(), "Survived", []
    if name == "gss":
        return _opinions()
    return _of_sklearn(name) if name in ("breast_cancer", "iris", "wine") else _binary(name)


def _of_sklearn(name: str) -> Labelled:
    from sklearn import datasets

    frame = getattr(datasets, f"load_{name}")(as_frame=True).frame
    return frame.assign(target="t" + frame["target"].astype(str)), "target", [c for c in frame if c != "target"]


def _opinions() -> Labelled:
    """Return whether people would allow abortion for any reason, with some other answers missing."""
    import pandas as pd

    numbers = ["age", "educ", "year"]
    frame = pd.read_parquet(data_file("gss_abortion/gss_abortion.parquet")).drop(columns=["id", "pid", "hispanic"])
    frame = frame[frame["abany"].notna()].sample(_GSS_ROWS, random_state=0).reset_index(drop=True)
    for column in frame.columns.difference(numbers):
        frame[column] = frame[column].astype(object).where(frame[column].isna(), frame[column].astype(str))
    return frame, "abany", numbers


def _binary(name: str) -> Labelled:
    """Return some rows of a binary set; the target is the column whose share of ones is nearest to a half."""
    import pandas as pd

    with np.load(data_file(f"debd/{name}.npz")) as file:
        x = np.concatenate([file[part] for part in ("train", "valid", "test")]).astype(int)
    if len(x) > _DEBD_ROWS:
        x = x[np.random.default_rng(0).permutation(len(x))[:_DEBD_ROWS]]
    frame = pd.DataFrame(x, columns=[f"x{n}" for n in range(x.shape[1])]).astype(str)
    return frame, f"x{np.argmin(np.abs(x.mean(axis=0) - 0.5))}", []


def main(asked: list[str]) -> None:
    """Print a line of JSON for each row of each table and seed."""
    warnings.simplefilter("ignore")
    for spec in asked:
        name, seed = spec.split(":")
        frame, target, numbers = labelled(name)
        train, test = split(frame, SHARE, int(seed))
        for row in ("target", "boosting"):
            measured = measured_by(row, train, test, target, numbers)
            shown = {key: round(value, 4) for key, value in measured.items() if isinstance(value, float)}
            print(json.dumps({"table": name, "seed": int(seed), "row": row, **shown}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
