"""One measurement a process, so that its peak memory is its own: ``python -m benchmarks.scale.cases NAME FOLDER``.

Each case gets a folder of Parquet files, does its work a few times, and prints one line of JSON: the best time, the
rows, and the most memory that the process had in use.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import juror
from juror.rows.reading import open_table, read_rows
from juror.rows.stacking import Stacking
from juror.runners.local import LocalRunner

CLASSES = 10
REPEATS = 3


def best_of(work: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Return the shortest of some times, after one that compiles."""
    times = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return min(times)


def n_rows_of(folder: Path) -> int:
    """Return the rows that Parquet files say they have."""
    from pyarrow import dataset

    return dataset.dataset(folder).count_rows()


def codes_in_memory(folder: Path, n_jobs: int) -> dict[str, Any]:
    """Count codes that are in memory already: what all others are compared with."""
    domain = juror.Domain.infer(folder)
    codes = domain.encode(folder)
    juror.PairCounts.of_codes(codes[:200_000], domain, n_jobs=n_jobs)
    return {"seconds": best_of(lambda: juror.PairCounts.of_codes(codes, domain, n_jobs=n_jobs))}


def counted(data: Callable[[], Any], n_jobs: int | None = None) -> dict[str, Any]:
    """Count the pairs of anything, from nothing known."""
    work = partial(_count, data, n_jobs)
    work()
    return {"seconds": best_of(work)}


def _count(data: Callable[[], Any], n_jobs: int | None) -> None:
    juror.PairCounts.of(data(), n_jobs=n_jobs)


def once(folder: Path) -> dict[str, Any]:
    """Count a large folder once."""
    return {"seconds": best_of(lambda: juror.PairCounts.of(folder), repeats=1)}


def from_csv(folder: Path) -> dict[str, Any]:
    """Count CSV files."""
    files = folder.with_name(f"{folder.name}-csv")
    size = sum(path.stat().st_size for path in files.glob("*.csv"))
    return counted(lambda: str(files / "*.csv")) | {"megabytes": size / 1e6}


def from_duckdb(folder: Path) -> dict[str, Any]:
    """Count what DuckDB reads and hands over as a stream."""
    import duckdb

    connection = duckdb.connect()
    return counted(lambda: connection.sql(f"SELECT * FROM '{folder}/*.parquet'"))


def from_polars(folder: Path) -> dict[str, Any]:
    """Count what polars reads and hands over in batches."""
    import polars

    return counted(lambda: polars.scan_parquet(folder / "*.parquet"))


@contextmanager
def dask_client() -> Iterator[Any]:
    """A Dask cluster of two workers on this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs="CRITICAL") as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def spark_session() -> Iterator[Any]:
    """A Spark cluster of two executors on this machine, each a Java process of its own."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("juror")
    settings = {"spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.executor.memory": "1g"}
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        session.stop()


def on_cluster(start: Callable[[], Any], folder: Path) -> dict[str, Any]:
    """Count with two workers that read the files themselves."""
    with start() as client:

        def count() -> None:
            juror.PairCounts.of(folder, client=client)

        count()
        return {"seconds": best_of(count)}


def em_passes(folder: Path, row_bytes: int, n_jobs: int | None = None, client: Any = None) -> dict[str, Any]:
    """Read and keep the rows, with so many bytes of memory for each, then pass over them: seconds of both."""
    with LocalRunner(n_jobs) as local:
        opened = open_table(folder, None, (), "error", None, local, client)
        began = time.perf_counter()
        with read_rows(opened, row_bytes * n_rows_of(folder)) as rows:
            reading = time.perf_counter() - began
            lam, stack = _random_point(rows.domain)
            rows.expected(lam, stack)
            return {"reading": reading, "seconds": best_of(lambda: rows.expected(lam, stack))}


def em_on_cluster(start: Callable[[], Any], folder: Path) -> dict[str, Any]:
    """Pass over rows that two workers keep."""
    with start() as client:
        return em_passes(folder, 400, client=client)


def _random_point(domain: juror.Domain) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    factors = [rng.dirichlet(np.ones(size), size=CLASSES).T for size in domain.cardinalities]
    return rng.dirichlet(np.ones(CLASSES)), Stacking(domain.cardinalities).stack(factors)


def em_fit(folder: Path, memory: str) -> dict[str, Any]:
    """Fit EM to rows beyond a budget of memory, few passes, so that peak memory is what counts."""
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", juror.FitWarning)
        model = juror.fit(folder, rank=CLASSES, method="em", max_iter=4, memory=f"{memory}MB")
    assert model.info is not None
    return {
        "seconds": time.perf_counter() - began,
        "searched": model.info.n_searched,
        "megabytes": float(memory),
        "log_likelihood": model.info.log_likelihood,
    }


CASES: dict[str, Callable[..., dict[str, Any]]] = {
    "codes, one thread": partial(codes_in_memory, n_jobs=1),
    "codes, two threads": partial(codes_in_memory, n_jobs=2),
    "parquet, one thread": lambda folder: counted(lambda: folder, 1),
    "parquet, two threads": lambda folder: counted(lambda: folder, 2),
    "csv": from_csv,
    "duckdb": from_duckdb,
    "polars": from_polars,
    "dask": partial(on_cluster, dask_client),
    "spark": partial(on_cluster, spark_session),
    "em, memory": partial(em_passes, n_jobs=2, row_bytes=60),
    "em, file": partial(em_passes, n_jobs=2, row_bytes=2),
    "em, one thread": partial(em_passes, n_jobs=1, row_bytes=2),
    "em, dask": partial(em_on_cluster, dask_client),
    "em, spark": partial(em_on_cluster, spark_session),
    "once": once,
    "em fit": em_fit,
}


def main() -> None:
    """Run the case named and print what it measured."""
    name, folder, *more = sys.argv[1:]
    path = Path(folder)
    found = CASES[name](path, *more)
    found |= {"case": name, "rows": n_rows_of(path), "peak_megabytes": _peak()}
    print(json.dumps(found))


def _peak() -> float:
    """Return the most megabytes this program had in memory; what getrusage tells includes who started it."""
    status = Path("/proc/self/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024 / 1e6


if __name__ == "__main__":
    main()
