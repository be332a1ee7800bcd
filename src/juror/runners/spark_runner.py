"""Spark as a runner: it schedules, and every task reads its own rows.

Parts of files travel to the tasks, which read them as threads here would. A Spark frame that is not files comes to the
tasks as Arrow batches. What a task returns is pickled there; only that comes back, and is merged here, one after the
other in the order of the parts, so that the sums are those of any other runner to the last bit.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial, reduce
from typing import TYPE_CHECKING, Any, TypeVar

from juror.errors import ClusterError, JurorError, ParameterError, check_any_rows
from juror.readers.spark_frames import Batches, SparkFrame
from juror.runners.clusters import check_versions
from juror.runners.local import Kept
from juror.runners.spark_words import MARK, first_line, in_plain_words

if TYPE_CHECKING:
    import pyarrow as pa

R = TypeVar("R")
# What a task made of a partition: whether that is an error of juror's, and the pickled value or error
_Outcome = tuple[bool, bytes]

# Results come in windows of parts, as Spark gives up on a job of more than spark.driver.maxResultSize: few at first,
# then as many as take this share of it, with room for results that grow.
_FIRST_WINDOW = 64
_SHARE = 4


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
        """Load something from every part, and keep it in the executors' memory, or on their disks where it is full.

        What an executor takes with it when it is lost, others load again.
        """
        return _KeptBySpark(self, load, parts)

    def _tasks(self, shipped: Any, parts: Any) -> tuple[Any, Callable[..., Any]]:
        """Return an RDD of some parts, and what to do in each of its partitions to apply a shipped function."""
        tasks: Callable[..., Any]
        if isinstance(parts, SparkFrame):
            # a partition of the frame becomes one row: its outcome
            apply = partial(_apply_to_batches, shipped, parts.names, parts.missing)
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
        """Run tasks in the partitions of an RDD, and yield what they return in the order of the partitions."""
        n_parts, start, largest = self._job(lambda _: rdd.getNumPartitions()), 0, 1
        window = min(_FIRST_WINDOW, self._context.defaultParallelism)
        while start < n_parts:
            chosen = list(range(start, min(start + window, n_parts)))
            outcomes = self._job(lambda context, *job: context.runJob(*job), rdd, tasks, chosen)
            largest = max([largest, *(len(blob) for _, blob in outcomes)])
            start, window = start + len(chosen), max(1, self._most_bytes // largest)
            # each is let go of before the next is unpickled
            outcomes.reverse()
            while outcomes:
                yield _value_of(*outcomes.pop())

    def _job(self, run: Callable[..., R], *arguments: Any) -> R:
        """Let Spark do something; where it cannot, say so in one sentence."""
        with in_plain_words():
            if not self._is_running():
                raise ClusterError("The Spark session is stopped. Start another, and begin again.")
            return run(self._context, *arguments)

    def _is_running(self) -> bool:
        try:
            return self._context._jsc is not None and not self._context._jsc.sc().isStopped()
        except Exception:  # whatever the bridge to Java raises: Java does not answer, so it is gone with all it had
            return False

    @contextmanager
    def _shipped(self, fn: Callable[..., Any]) -> Iterator[Any]:
        """Bring a function to the executors for the time of a block."""
        shipped = self._ship(fn)
        try:
            yield shipped
        finally:
            self._unship(shipped)

    def _ship(self, fn: Callable[..., Any]) -> Any:
        # what Spark broadcasts by itself, as part of a large task, stays there until Java collects its garbage
        pickled = _pickled(fn)
        return self._job(lambda context: context.broadcast(pickled))

    def _unship(self, shipped: Any) -> None:
        # with the session all that it held is gone
        if self._is_running():
            shipped.destroy()

    def _check_versions(self) -> None:
        """Compare what runs here with what the executors have, in tasks that need nothing but Python."""
        report = _reporter()
        n_tasks = self._job(lambda context: context.defaultParallelism)
        found = self._job(lambda context: context.parallelize(range(n_tasks), n_tasks).mapPartitions(report).collect())
        for host, versions in found:  # one by one, as a host may have several
            check_versions({f"Spark executor on {host}": versions})


class _KeptBySpark:
    """Values in the executors of Spark, as a persistent RDD."""

    def __init__(self, runner: SparkRunner, load: Callable[[Any], Any], parts: Any):
        from pyspark import StorageLevel

        # the function is needed as long as something may have to be loaded again
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
            raise ClusterError("What Spark kept of the rows was released before. Load it again.")
        with self._runner._shipped(fn) as shipped:
            return reduce(merge, self._runner._fetch(self._values, partial(_apply_to_kept, shipped)))

    def release(self) -> None:
        if self._values is not None and self._runner._is_running():
            self._values.unpersist()
        if self._load is not None:
            self._runner._unship(self._load)
        self._load = self._values = None


# What follows runs on the executors, or reads here what they return.
def _outcome(fn: Callable[[Any], Any], thing: Any) -> _Outcome:
    """Apply a function; what juror raises is a result, as Spark would try again what will never do."""
    try:
        return False, pickle.dumps(fn(thing), protocol=5)
    except JurorError as error:
        return True, pickle.dumps(error, protocol=5)
    except Exception as error:
        raise RuntimeError(f"{MARK}{type(error).__name__}: {first_line(str(error))}") from error


def _apply(shipped: Any, parts: Iterable[bytes]) -> Iterator[_Outcome]:
    fn = pickle.loads(shipped.value)
    return (_outcome(fn, pickle.loads(part)) for part in parts)


def _apply_to_kept(shipped: Any, outcomes: Iterable[_Outcome]) -> Iterator[_Outcome]:
    fn = pickle.loads(shipped.value)
    # what was lost and loaded again may have failed this time
    return ((raised, blob) if raised else _outcome(fn, pickle.loads(blob)) for raised, blob in outcomes)


def _apply_to_batches(
    shipped: Any, names: tuple[str, ...], missing: tuple[Any, ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    from pyspark import TaskContext

    here = TaskContext.get()
    part = Batches(batches, names, missing, here.partitionId() if here is not None else 0)
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
    """Return a function that tells the versions of what it runs in; pickled whole, as juror may be missing there."""

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
