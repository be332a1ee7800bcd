"""The others: libraries that do the same, and what one would write in NumPy or numba oneself.

Libraries are imported where they are used, so that one that is absent is told and the rest goes on. What a library
needs its data as, such as a tensor or a table of a database, is made before the clock runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from .layout import Layout
from .tasks import Task, bincount_tables, digest, factors_of, load, mean_log_prob
from .worker import Trial, timed_each


def one_hot(cells: np.ndarray, n_columns: int) -> np.ndarray:
    """Return indicators (rows, stacked rows) of cells (rows, N)."""
    indicators = np.zeros((len(cells), n_columns))
    indicators[np.arange(len(cells))[:, None], cells] = 1.0
    return indicators


class NumPyEM:
    """EM in NumPy by matrix products on indicators, or by gathering and ``bincount``."""

    def __init__(self, task: Task, way: str):
        self.layout = Layout([len(factor) for factor in factors_of(task)])
        self.lam, self.stack = task["lam"], self.layout.stack(factors_of(task))
        self.cells = self.layout.cells(task["codes"])
        self._scores, self._counts = {
            "products": (self._products, self._transposed),
            "gathers": (self._gathers, self._bincounts),
        }[way]
        if way == "products":
            self.indicators = one_hot(self.cells, len(self.stack))

    def step(self) -> float:
        """Take an EM step, and return the log-likelihood before it."""
        with np.errstate(divide="ignore"):
            joint = np.log(self.lam) + self._scores(np.log(self.stack))
        top = joint.max(axis=1, keepdims=True)
        R = np.exp(joint - top)
        total = R.sum(axis=1, keepdims=True)
        R /= total
        self.lam = R.mean(axis=0)
        self.stack = self.layout.normalised(self._counts(R))
        return float((top + np.log(total)).sum())

    def _products(self, logs: np.ndarray) -> np.ndarray:
        # 0 · log 0 would be nan
        return self.indicators @ np.maximum(logs, -1e300)

    def _gathers(self, logs: np.ndarray) -> np.ndarray:
        joint = logs[self.cells[:, 0]]
        for n in range(1, self.cells.shape[1]):
            joint += logs[self.cells[:, n]]
        return joint

    def _transposed(self, R: np.ndarray) -> np.ndarray:
        return self.indicators.T @ R

    def _bincounts(self, R: np.ndarray) -> np.ndarray:
        counts = np.zeros_like(self.stack)
        for n in range(self.cells.shape[1]):
            for f in range(R.shape[1]):
                counts[:, f] += np.bincount(self.cells[:, n], R[:, f], minlength=len(counts))
        return counts


def _iterated(task: Task, make: Callable[[], Any], passes: int) -> Trial:
    def run() -> Any:
        em = make()
        for _ in range(passes):
            em.step()
        return em

    def check(em: Any) -> dict[str, Any]:
        factors = em.layout.unstack(em.stack)
        return {"log_likelihood": mean_log_prob(task["codes"], em.lam, factors), "passes": passes}

    return Trial(run, check)


def numpy_em(task: str, passes: int, way: str) -> Trial:
    """EM in NumPy."""
    given = load(task)
    return _iterated(given, lambda: NumPyEM(given, way), passes)


class LoopEM:
    """EM by the plain loop in numba."""

    def __init__(self, task: Task, way: str):
        from . import plain_loop

        self.layout = Layout([len(factor) for factor in factors_of(task)])
        self.lam, self.stack = task["lam"], self.layout.stack(factors_of(task))
        self.cells = self.layout.cells(task["codes"])
        self._pass = {"classes": plain_loop.plain_pass, "columns": plain_loop.plain_pass_by_column}[way]

    def pass_over(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Pass over the rows."""
        with np.errstate(divide="ignore"):
            return self._pass(self.cells, np.log(self.lam), np.log(self.stack))

    def step(self) -> float:
        """Take an EM step, and return the log-likelihood before it."""
        log_likelihood, classes, counts = self.pass_over()
        self.lam, self.stack = classes / classes.sum(), self.layout.normalised(counts)
        return log_likelihood


def loop_em(task: str, passes: int, way: str) -> Trial:
    """EM by the plain loop in numba, compiled before."""
    given = load(task)
    LoopEM({**given, "codes": given["codes"][:10]}, way).step()
    return _iterated(given, lambda: LoopEM(given, way), passes)


def loop_step(task: str, way: str) -> Trial:
    """One pass of the plain loop over the rows."""
    given = load(task)
    LoopEM({**given, "codes": given["codes"][:10]}, way).pass_over()
    em = LoopEM(given, way)
    return Trial(em.pass_over, lambda found: {"log_likelihood": found[0] / len(given["codes"])})


def stepmix_model(task: Task, passes: int) -> Any:
    """Return a StepMix that starts where it is told, in place of its random start."""
    import stepmix

    codes = task["codes"]
    missing = bool((codes < 0).any())
    sizes = [len(factor) for factor in factors_of(task)]
    if len(set(sizes)) > 1:
        raise ValueError("StepMix is given the same number of labels for every variable.")
    pis = np.vstack(factors_of(task)).T.copy()

    class Started(stepmix.StepMix):  # type: ignore[misc]
        def _initialize_parameters(self, X: np.ndarray, random_state: Any) -> None:
            super()._initialize_parameters(X[:200], random_state)
            self.weights_ = task["lam"].copy()
            self._mm.parameters["pis"] = pis.copy()

    return Started(
        n_components=len(task["lam"]),
        measurement="categorical_nan" if missing else "categorical",
        measurement_params={"max_n_outcomes": sizes[0], "total_outcomes": sum(sizes)},
        max_iter=passes,
        abs_tol=0.0,
        rel_tol=0.0,
        progress_bar=0,
        random_state=0,
    )


def stepmix_table(codes: np.ndarray) -> np.ndarray:
    """Return codes as StepMix reads them: integers, or numbers with NaN for missing."""
    return np.where(codes < 0, np.nan, codes) if (codes < 0).any() else codes.astype(np.int64)


def stepmix_em(task: str, passes: int) -> Trial:
    """StepMix: ``fit`` of a table."""
    given = load(task)
    X = stepmix_table(given["codes"])
    sizes = [len(factor) for factor in factors_of(given)]

    def check(model: Any) -> dict[str, Any]:
        pis = model._mm.parameters["pis"].T
        factors = np.split(pis, np.cumsum(sizes)[:-1])
        found = mean_log_prob(given["codes"], model.weights_, factors)
        return {"log_likelihood": found, "passes": model.n_iter_}

    stepmix_model(given, 1).fit(X[:300])
    return Trial(lambda: stepmix_model(given, passes).fit(X), check)


def pomegranate_model(task: Task, passes: int = 1) -> Any:
    """Return pomegranate's mixture of independent categoricals."""
    import torch
    from pomegranate.distributions import Categorical
    from pomegranate.gmm import GeneralMixtureModel

    torch.set_num_threads(1)
    factors = np.stack(factors_of(task))
    classes = [Categorical(torch.tensor(factors[:, :, f], dtype=torch.float32)) for f in range(len(task["lam"]))]
    priors = torch.tensor(task["lam"], dtype=torch.float32)
    return GeneralMixtureModel(classes, priors=priors, max_iter=passes, tol=-np.inf)


def pomegranate_table(codes: np.ndarray) -> Any:
    """Return codes as a tensor, masked where some are missing."""
    import torch

    X = torch.tensor(np.maximum(codes, 0), dtype=torch.int64)
    seen = torch.tensor(codes >= 0)
    return X if bool(seen.all()) else torch.masked.MaskedTensor(X, mask=seen)


def pomegranate_em(task: str, passes: int) -> Trial:
    """Pomegranate: ``fit`` of a tensor, in single precision as is its way."""
    given = load(task)
    X = pomegranate_table(given["codes"])

    def check(model: Any) -> dict[str, Any]:
        by_class = np.stack([d.probs.numpy() for d in model.distributions], axis=-1).astype(float)
        found = mean_log_prob(given["codes"], model.priors.numpy().astype(float), list(by_class))
        return {"log_likelihood": found, "passes": passes}

    pomegranate_model(given, 1).fit(pomegranate_table(given["codes"][:300]))
    return Trial(lambda: pomegranate_model(given, passes).fit(X), check)


def steps_of_sizes(task: str, tasks: dict[str, str], way: str) -> Trial:
    """EM steps over several tasks, each timed by itself."""

    def step(path: str) -> Callable[[], Any]:
        given = load(path)
        if way == "stepmix":
            model, X = stepmix_model(given, 1), stepmix_table(given["codes"])
            model.fit(X)
            return lambda: model._m_step(X, np.exp(model._e_step(X)[1]))
        return NumPyEM(given, way).step

    return timed_each({size: step(path) for size, path in tasks.items()})


def bincount_pairs(task: str, size: int = 2) -> Trial:
    """A loop over pairs in NumPy: joint codes and ``bincount``."""
    given = load(task)
    codes, sizes = np.asfortranarray(given["codes"]), given["cardinalities"]
    return Trial(lambda: bincount_tables(codes, sizes, size), lambda tables: {"digest": digest(tables)})


def _filled(sizes: Sequence[int], group: Sequence[int], columns: Sequence[np.ndarray]) -> np.ndarray:
    """Put groups and their counts into a table, missing left out."""
    *labels, counts = [np.asarray(column) for column in columns]
    seen = np.all([column >= 0 for column in labels], axis=0)
    table = np.zeros([int(sizes[n]) for n in group], dtype=np.int64)
    table[tuple(column[seen].astype(int) for column in labels)] = counts[seen]
    return table


def duckdb_pairs(task: str, way: str) -> Trial:
    """DuckDB: all pairs of a table in memory, by a GROUP BY each or by one query of GROUPING SETS."""
    import duckdb
    import pyarrow as pa

    given = load(task)
    codes, sizes = np.asfortranarray(given["codes"]), given["cardinalities"]
    names = [f"x{n}" for n in range(codes.shape[1])]
    connection = duckdb.connect(config={"threads": 1})
    arrow = pa.table(dict(zip(names, codes.T, strict=True)))
    connection.register("arrow", arrow)
    connection.execute("CREATE TABLE t AS SELECT * FROM arrow")
    groups = list(combinations(range(len(names)), 2))

    def one_each() -> list[np.ndarray]:
        tables = []
        for a, b in groups:
            query = f"SELECT x{a} AS a, x{b} AS b, count(*) AS n FROM t GROUP BY x{a}, x{b}"
            found = connection.execute(query).fetchnumpy()
            tables.append(_filled(sizes, (a, b), [found["a"], found["b"], found["n"]]))
        return tables

    def sets() -> list[np.ndarray]:
        listed = ", ".join(f"(x{a}, x{b})" for a, b in groups)
        every = ", ".join(names)
        query = f"SELECT {every}, grouping({every}) AS g, count(*) AS n FROM t GROUP BY GROUPING SETS ({listed})"
        found = connection.execute(query).fetchnumpy()
        tables = []
        for a, b in groups:
            # a bit is zero where the column is grouped by, the first column's the highest
            bits = sum(1 << (len(names) - 1 - n) for n in range(len(names)) if n not in (a, b))
            here = found["g"] == bits
            tables.append(_filled(sizes, (a, b), [np.asarray(found[c])[here] for c in (names[a], names[b], "n")]))
        return tables

    run = {"one each": one_each, "sets": sets}[way]
    return Trial(run, lambda tables: {"digest": digest(tables)})


def polars_pairs(task: str) -> Trial:
    """Polars: a group_by each."""
    import polars as pl

    given = load(task)
    codes, sizes = np.asfortranarray(given["codes"]), given["cardinalities"]
    frame = pl.DataFrame({f"x{n}": column for n, column in enumerate(codes.T)})

    def run() -> list[np.ndarray]:
        tables = []
        for a, b in combinations(range(codes.shape[1]), 2):
            found = frame.group_by(f"x{a}", f"x{b}").len()
            tables.append(_filled(sizes, (a, b), [found[name].to_numpy() for name in found.columns]))
        return tables

    return Trial(run, lambda tables: {"digest": digest(tables)})


def pandas_pairs(task: str) -> Trial:
    """Pandas: a ``crosstab`` each, of codes in which missing is one more, left out afterwards."""
    import pandas as pd

    given = load(task)
    codes, sizes = np.asfortranarray(given["codes"]), given["cardinalities"]
    frame = pd.DataFrame({f"x{n}": column for n, column in enumerate(codes.T)})

    def run() -> list[np.ndarray]:
        tables = []
        for a, b in combinations(range(codes.shape[1]), 2):
            found = pd.crosstab(frame[f"x{a}"], frame[f"x{b}"])
            found = found.reindex(index=range(sizes[a]), columns=range(sizes[b]), fill_value=0)
            tables.append(found.to_numpy())
        return tables

    return Trial(run, lambda tables: {"digest": digest(tables)})
