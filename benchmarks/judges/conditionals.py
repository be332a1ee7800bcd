"""Density and conditionals of juror, and of others that give probabilities of codes."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable, Iterator
from importlib.machinery import SourceFileLoader
from typing import Any

import numpy as np
from benchmarks.accuracy.cells import Cell, Measured, about, timed
from benchmarks.accuracy.findings import Findings
from benchmarks.accuracy.folder import data_file

import juror
from juror.errors import DataError

from .judged import Judged, Measure, beside
from .tables import table

ROWS = {
    "juror": "`juror.fit(codes)`",
    "tree": 'one tree, `juror.fit(codes, method="tree")`',
    "pgmpy tree": "pgmpy, Chow–Liu tree",
    "pgmpy hill": "pgmpy, hill climbing by BIC",
    "lace": "Lace",
    "counts": "counts of pairs in the training rows",
    "marginals": "product of marginals",
}
# A table of conditional probabilities of pgmpy is smoothed with this many rows in all
_EQUIVALENT_ROWS = 10
_SETS = ("car", "mushroom", "votes", "adult", "coil2000", "magic")
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def columns(quick: bool) -> dict[int | str, dict[str, Any]]:
    return {name: {"rows": 1000 if quick else 40_000} for name in (("car",) if quick else _SETS)}


def tool() -> Any:
    """Return the judge as a module; it lies beside the data, and has no suffix."""
    path = data_file("README.md").parent.parent / "tools" / "density"
    if not path.is_file():
        raise DataError(
            "There is no folder tools with density beside JUROR_DATA. Put it there, or leave this section out."
        )
    loader = SourceFileLoader("tool_density", str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tool_density", loader))  # type: ignore[arg-type]
    with warnings.catch_warnings():
        loader.exec_module(module)
    return module


def load(cell: Cell) -> Parts:
    frame = table(str(cell.column)).copy()
    train, test, sizes = tool().prepare(frame, None, cell.options["rows"], None)
    return train, test, sizes


def measure(cell: Cell, data: Parts) -> Measured:
    train, test, sizes = data
    return _ROWS[cell.row](train, test, [int(size) for size in sizes])


def _asked(model: juror.JointPMF, test: np.ndarray, sizes: list[int]) -> Measured:
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    both = np.zeros((offsets[-1],) * 2)
    names = model.domain.names
    for j in range(len(sizes)):
        rows = slice(offsets[j], offsets[j + 1])
        both[rows, rows] = np.diag(model.marginal(names[j]).to_numpy())
        for k in range(j):
            others = slice(offsets[k], offsets[k + 1])
            pair = model.marginal(names[j], names[k]).to_numpy()
            both[rows, others], both[others, rows] = pair, pair.T
    return {"log_prob": float(np.mean(model.log_prob(test))), **_honesty(both, test, offsets)}


def _honesty(both: np.ndarray, test: np.ndarray, offsets: np.ndarray) -> Measured:
    judge = tool()
    return judge.honesty(both, judge.pairs(test, offsets), offsets)


def _by_juror(**options: Any) -> Callable[..., Measured]:
    def measured(train: np.ndarray, test: np.ndarray, sizes: list[int]) -> Measured:
        domain = juror.Domain.from_cardinalities(sizes)
        model, seconds = timed(lambda: juror.fit(train, domain=domain, **options))
        return {**_asked(model, test, sizes), "seconds": seconds, **about(model)}

    return measured


def by_marginals(train: np.ndarray, test: np.ndarray, sizes: list[int]) -> Measured:
    once = [(np.bincount(column, minlength=size) + 0.5) / (len(train) + size / 2)
            for column, size in zip(train.T, sizes, strict=True)]  # fmt: skip
    model = juror.JointPMF([1.0], [share[:, None] for share in once], juror.Domain.from_cardinalities(sizes))
    return {**_asked(model, test, sizes), "seconds": 0.0}


def by_counts(train: np.ndarray, test: np.ndarray, sizes: list[int]) -> Measured:
    judge, offsets = tool(), np.concatenate([[0], np.cumsum(sizes)])
    both = judge.pairs(train, offsets)
    once = (np.diag(both) + 0.5) / len(train)
    both = (both + np.outer(once, once)) / (len(train) + 1)
    np.fill_diagonal(both, once)
    return {**_honesty(both, test, offsets), "seconds": 0.0}


def _by_pgmpy(learn: Callable[[Any], Any]) -> Callable[..., Measured]:
    def measured(train: np.ndarray, test: np.ndarray, sizes: list[int]) -> Measured:
        import pandas as pd

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            edges, cost = beside(
                "pgmpy", lambda: list(learn(pd.DataFrame(train, columns=[f"v{n}" for n in range(len(sizes))])))
            )
        parents: dict[int, list[int]] = {n: [] for n in range(len(sizes))}
        for above, below in edges:
            parents[int(below[1:])].append(int(above[1:]))
        logs = sum(_log_conditional(train, test, sizes, n, above) for n, above in parents.items())
        return {"log_prob": float(np.mean(logs)), **cost}

    return measured


def _log_conditional(train: np.ndarray, test: np.ndarray, sizes: list[int], n: int, above: list[int]) -> np.ndarray:
    """Return log p(x_n | its parents) of test rows, from counts drawn to the marginal by a few rows, (rows,)."""
    once = (np.bincount(train[:, n], minlength=sizes[n]) + 0.5) / (len(train) + sizes[n] / 2)

    def keys(rows: np.ndarray) -> np.ndarray:
        key = np.zeros(len(rows), dtype=np.int64)
        for parent in above:
            key = key * sizes[parent] + rows[:, parent]
        return key

    seen, place = np.unique(keys(train), return_inverse=True)
    counts = np.zeros((len(seen) + 1, sizes[n]))
    np.add.at(counts, (place, train[:, n]), 1)
    at = np.searchsorted(seen, keys(test))
    at = np.where((at < len(seen)) & (seen[np.minimum(at, len(seen) - 1)] == keys(test)), at, len(seen))
    smooth = (counts[at, test[:, n]] + _EQUIVALENT_ROWS * once[test[:, n]]) / (
        counts[at].sum(axis=1) + _EQUIVALENT_ROWS
    )
    return np.log(smooth)


def by_lace(train: np.ndarray, test: np.ndarray, sizes: list[int]) -> Measured:
    """Ask Lace's cross-categorisation, after as many steps as its tutorial takes, for the test rows."""
    from .drawers import lace_engine

    known = np.all([np.isin(column, fitted) for column, fitted in zip(test.T, train.T, strict=True)], axis=0)
    names = [f"v{n}" for n in range(len(sizes))]
    engine, cost = beside("pylace", lambda: lace_engine(_labels(train, names), 0))
    logs = np.asarray(engine.logp(_labels(test[known], names)))
    return {"log_prob": float(np.mean(logs)), "n_unknown": int(np.sum(~known)), **cost}


def _labels(rows: np.ndarray, names: list[str]) -> Any:
    """Return codes as labels in a frame: Lace would take numbers for counts."""
    import pandas as pd

    return pd.DataFrame(rows, columns=names).astype(str).map("l{}".format)


def _chow_liu(frame: Any) -> Any:
    from pgmpy.estimators import TreeSearch

    return TreeSearch(frame, root_node="v0", n_jobs=1).estimate(estimator_type="chow-liu", show_progress=False).edges()


def _hill_climbed(frame: Any) -> Any:
    from pgmpy.estimators import HillClimbSearch

    # Numbers would be scored as continuous.
    search = HillClimbSearch(frame.astype(str).astype("category"))
    return search.estimate(scoring_method="bic-d", max_indegree=3, show_progress=False).edges()


_ROWS: dict[str, Callable[..., Measured]] = {
    "juror": _by_juror(),
    "tree": _by_juror(method="tree"),
    "pgmpy tree": _by_pgmpy(_chow_liu),
    "pgmpy hill": _by_pgmpy(_hill_climbed),
    "lace": by_lace,
    "counts": by_counts,
    "marginals": by_marginals,
}


def words(found: Findings) -> Iterator[str]:
    yield (
        "Of the rows 80 % are fitted, the others judge. Numbers are cut into intervals "
        "beforehand and a missing cell is one more label, so that all models are compared on the same codes. *Off* "
        "counts the conditionals P(a | b) of two variables, where b holds for at least 200 test rows, that differ from "
        "the test rows by more than 0.05 + 3 standard errors. Networks of pgmpy have tables of counts drawn to the "
        f"marginal by {_EQUIVALENT_ROWS} rows; hill climbing allows three parents."
    )


SECTION = Judged(
    "conditionals", "Density and conditionals", ROWS, ("counts", "marginals"), range(1), columns, load, measure, words,
    measures=(
        Measure("log_prob", "mean log-probability of a test row", ".3f"),
        Measure("bad", "conditionals that are off", ".0f", more_is_better=False),
        Measure("worst", "largest difference of a conditional", ".3f", more_is_better=False),
    ),
    ours=("juror", "tree"),
    needs={"pgmpy tree": "pgmpy", "pgmpy hill": "pgmpy", "lace": "pylace"},
)  # fmt: skip
