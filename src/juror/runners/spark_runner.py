"""A Spark cluster as a runner: Spark schedules the tasks, and every task reads its own rows.

Parts of files are sent to the tasks, which read them as local threads do. The partitions of a Spark frame reach the
tasks as Arrow batches. Tasks pickle their results, and this process merges them in the order of the parts, so sums have
the same bits as those of every other runner.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from juror.errors import ClusterError, JurorError, ParameterError
from juror.runners.local import Kept, check_any_rows
from juror.runners.spark_errors import TASK_FAILED, first_line, short_spark_errors
from juror.runners.versions import check_versions

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")
# What a task returns: whether juror raised an error, and the pickled value or error
_Outcome = tuple[bool, bytes]

# Spark aborts a job whose results exceed spark.driver.maxResultSize. So parts are run in windows: a small one first,
# then as many parts as fill a quarter of that size, as later results may be larger.
_FIRST_WINDOW = 64
_SHARE = 4


@runtime_checkable
class PartitionedFrame(Protocol):
    """The parts of a table that are the partitions of a Spark frame."""

    @property
    def frame(self) -> Any:
        """The Spark frame."""
        ...

    @property
    def open_partition(self) -> Callable[..., Any]:
        """The function that makes a part of the Arrow batches and the ``number`` of a partition."""
        ...


class SparkRunner:
    """A Spark cluster.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        A running session, whose executors have the same juror, NumPy and Python as this process.

    Examples
    --------
    >>> SparkRunner(session).map_reduce(count_rows, scan.parts, operator.add)  # doctest: +SKIP
    """

    def __init__(self, session: Any):
        kind = type(session)
        if kind.__name__ != "SparkSession":
            raise ParameterError(f"client must be a pyspark.sql.SparkSession. Got a {kind.__name__} instead.")
        if ".connect." in kind.__module__:
            raise ClusterError(
                "This session is one of Spark Connect, which cannot run juror's tasks. Pass a session of the cluster "
                "itself, made with SparkSession.builder.master('spark://…')."
            )
        self._context = session.sparkContext
        self._check_versions()
        most = self._job(lambda context: context._jsc.sc().conf().getSizeAsBytes("spark.driver.maxResultSize", "1g"))
        self._most_bytes = (int(most) or 2**30) // _SHARE

    def map_reduce(self, fn: Callable[[Any], R], parts: Any, merge: Callable[[R, R], R]) -> R:
        """Apply a function to every part, and merge the results in the parts' order."""
        with self._shipped(fn) as shipped:
            return reduce(merge, self._fetch(*self._tasks(shipped, parts)))

    def keep(self, load: Callable[[Any], Any], parts: Any) -> Kept:
        """Load something from every part, and keep it in the executors' memory, or on their disks when that is full.

        When an executor is lost, others load its values again.
        """
        return _KeptBySpark(self, load, parts)

    def _tasks(self, shipped: Any, parts: Any) -> tuple[Any, Callable[..., Any]]:
        """Return an RDD of the parts, and the function that applies a shipped function to one of its partitions."""
        tasks: Callable[..., Any]
        if isinstance(parts, PartitionedFrame):
            # a partition of the frame becomes one row: its outcome
            apply = partial(_apply_to_batches, shipped, parts.open_partition)
            schema = "raised boolean, result binary"
            rdd = self._job(lambda _: parts.frame.mapInArrow(lambda batches: apply(batches), schema).rdd)
            tasks = _outcomes_of_rows
        else:
            pickled = [_pickled(part) for part in parts]
            n = len(pickled)
            rdd = self._job(lambda context: context.parallelize(pickled, n) if n else context.emptyRDD())
            tasks = partial(_apply, shipped)
        check_any_rows(self._job(lambda _: rdd.getNumPartitions()))
        return rdd, tasks

    def _fetch(self, rdd: Any, tasks: Callable[..., Any]) -> Iterator[Any]:
        """Run tasks in the partitions of an RDD, and yield their results in the order of the partitions."""
        n_parts, start, largest = self._job(lambda _: rdd.getNumPartitions()), 0, 1
        window = min(_FIRST_WINDOW, self._context.defaultParallelism)
        while start < n_parts:
            chosen = list(range(start, min(start + window, n_parts)))
            outcomes = self._job(lambda context, *job: context.runJob(*job), rdd, tasks, chosen)
            largest = max([largest, *(len(blob) for _, blob in outcomes)])
            start, window = start + len(chosen), max(1, self._most_bytes // largest)
            # free each before the next is unpickled
            outcomes.reverse()
            while outcomes:
                yield _value_of(*outcomes.pop())

    def _job(self, run: Callable[..., R], *arguments: Any) -> R:
        """Call Spark, with its errors shortened to one sentence."""
        with short_spark_errors():
            if not self._is_running():
                raise ClusterError("The Spark session is stopped. Start another, and begin again.")
            return run(self._context, *arguments)

    def _is_running(self) -> bool:
        try:
            return self._context._jsc is not None and not self._context._jsc.sc().isStopped()
        except Exception:  # whatever the bridge to Java raises, Java has ended
            return False

    @contextmanager
    def _shipped(self, fn: Callable[..., Any]) -> Iterator[Any]:
        """Broadcast a function to the executors inside the block."""
        shipped = self._ship(fn)
        try:
            yield shipped
        finally:
            self._unship(shipped)

    def _ship(self, fn: Callable[..., Any]) -> Any:
        # Spark would broadcast large tasks by itself, but keep them until Java collects its garbage
        pickled = _pickled(fn)
        return self._job(lambda context: context.broadcast(pickled))

    def _unship(self, shipped: Any) -> None:
        # a stopped session has freed everything
        if self._is_running():
            shipped.destroy()

    def _check_versions(self) -> None:
        """Compare the versions of the executors with those of this process, in tasks that need Python only."""
        report = _reporter()
        n_tasks = self._job(lambda context: context.defaultParallelism)
        found = self._job(lambda context: context.parallelize(range(n_tasks), n_tasks).mapPartitions(report).collect())
        for host, versions in found:  # one by one, as a host may have several executors
            check_versions({f"Spark executor on {host}": versions})


class _KeptBySpark:
    """Values in the executors of Spark, as a persistent RDD."""

    def __init__(self, runner: SparkRunner, load: Callable[[Any], Any], parts: Any):
        from pyspark import StorageLevel

        # the function stays there, as Spark may have to load something again
        self._runner, self._load, self._values = runner, runner._ship(load), None
        try:
            rdd, tasks = runner._tasks(self._load, parts)
            self._values = rdd.mapPartitions(tasks).persist(StorageLevel.MEMORY_AND_DISK)
            for _ in runner._fetch(self._values, _only_errors):
                pass
        except BaseException:
            self.release()
            raise

    def map_reduce(self, fn: Callable[[Any], R], merge: Callable[[R, R], R]) -> R:
        if self._values is None:
            raise ClusterError("The rows that Spark kept were released. Load them again.")
        with self._runner._shipped(fn) as shipped:
            return reduce(merge, self._runner._fetch(self._values, partial(_apply_to_kept, shipped)))

    def release(self) -> None:
        if self._values is not None and self._runner._is_running():
            self._values.unpersist()
        if self._load is not None:
            self._runner._unship(self._load)
        self._load = self._values = None


# The functions below run on the executors, or read their results.
def _outcome(fn: Callable[[Any], Any], thing: Any) -> _Outcome:
    """Apply a function. An error of juror is a result, as Spark would only retry the task in vain."""
    try:
        return False, pickle.dumps(fn(thing), protocol=5)
    except JurorError as error:
        return True, pickle.dumps(error, protocol=5)
    except Exception as error:
        raise RuntimeError(f"{TASK_FAILED}{type(error).__name__}: {first_line(str(error))}") from error


def _apply(shipped: Any, parts: Iterable[bytes]) -> Iterator[_Outcome]:
    fn = pickle.loads(shipped.value)
    return (_outcome(fn, pickle.loads(part)) for part in parts)


def _apply_to_kept(shipped: Any, outcomes: Iterable[_Outcome]) -> Iterator[_Outcome]:
    fn = pickle.loads(shipped.value)
    # values that were lost and loaded again may have failed this time
    return ((raised, blob) if raised else _outcome(fn, pickle.loads(blob)) for raised, blob in outcomes)


def _apply_to_batches(
    shipped: Any, open_partition: Callable[..., Any], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyspark import TaskContext

    here = TaskContext.get()
    part = open_partition(batches, number=here.partitionId() if here is not None else 0)
    raised, blob = _outcome(pickle.loads(shipped.value), part)
    yield pa.RecordBatch.from_pydict({"raised": pa.array([raised]), "result": pa.array([blob], pa.binary())})


def _outcomes_of_rows(rows: Iterable[Any]) -> Iterator[_Outcome]:
    return ((raised, bytes(blob)) for raised, blob in rows)


def _only_errors(outcomes: Iterable[_Outcome]) -> Iterator[_Outcome]:
    return (outcome for outcome in outcomes if outcome[0])


def _value_of(raised: bool, blob: bytes) -> Any:
    value = pickle.loads(blob)
    if raised:
        raise value
    return value


def _pickled(thing: Any) -> bytes:
    from pyspark import cloudpickle

    dumps: Any = cloudpickle.dumps
    return bytes(dumps(thing))


def _reporter() -> Callable[[Iterable[Any]], Iterator[tuple[str, dict[str, str | None]]]]:
    """Return a function that reports the versions where it runs. It is pickled whole, as juror may be missing there."""

    def report(_: Iterable[Any]) -> Iterator[tuple[str, dict[str, str | None]]]:
        import platform
        from importlib.metadata import PackageNotFoundError, version

        versions: dict[str, str | None] = {"python": platform.python_version()}
        for package in ("juror", "numpy"):
            try:
                versions[package] = version(package)
            except PackageNotFoundError:
                versions[package] = None
        yield platform.node(), versions

    return report
