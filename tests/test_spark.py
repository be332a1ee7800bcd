"""A real Spark cluster on this machine: the contract of runners, executors that die, files, and frames."""

from __future__ import annotations

import operator
import os
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from juror.errors import ClusterError, DataError, ParameterError
from juror.readers import spark_frames
from juror.readers.files import scan_path
from juror.readers.spark_frames import SparkPartition, is_spark_frame, scan_spark_frame
from juror.runners import spark_runner, versions
from juror.runners.clusters import runner_for
from juror.runners.local import LocalRunner
from juror.runners.spark_errors import message_of
from juror.runners.spark_runner import SparkRunner
from runner_contract import RunnerContract, colours_of, fail_at, itself, one_tenth_to
from same_model import TABLES, SameModel
from spark_cluster import processes_of, spark_cluster, why_not

# pyspark looks at pandas when a session starts and when it makes Arrow batches; juror's tasks do not use it
pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas >= 3:FutureWarning")


@pytest.fixture(scope="module")
def cluster():
    reason = why_not()
    if reason is not None:
        # a machine that decides what may land has what it takes to test it
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    with spark_cluster() as cluster:
        yield cluster
        app = cluster.session.sparkContext.applicationId
    # what was killed is gone when the system has got round to it
    deadline = time.monotonic() + 30.0
    while processes_of(app) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert processes_of(app) == []
    assert not cluster.folder.exists()


@pytest.fixture(scope="module")
def session(cluster):
    return cluster.session


@pytest.fixture(scope="module")
def runner(session):
    runner = runner_for(session)
    assert isinstance(runner, SparkRunner)
    return runner


class TestSparkRunner(RunnerContract):
    pass


# What tasks do; executors find it by its name


def executor_of_this() -> int:
    """Return the process number of the JVM whose task this is: the parent of the parent of Python's process."""
    status = Path("/proc", str(os.getppid()), "status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("PPid:")))


def wait_for_death(part: int, folder: str) -> Counter[int]:
    """Count a part; the first task of part 3 tells whose it is, and does not come back."""
    Path(folder, f"{part}-{uuid4()}").touch()
    if part == 3 and not Path(folder, "victim").exists():
        note = Path(folder, "note")
        note.write_text(str(executor_of_this()))
        note.rename(Path(folder, "victim"))
        time.sleep(60)
    return Counter([part])


def load_signed(part: int, folder: str, ballast: np.ndarray) -> np.ndarray:
    """Load something from a part, and note which executor did."""
    Path(folder, f"{part}-{executor_of_this()}-{uuid4()}").touch()
    return ballast[:3] + part


def total(values: np.ndarray) -> float:
    return float(values.sum())


def divide(number: int) -> float:
    return 1 / number


def die(number: int) -> None:
    os._exit(3)


def rows_of(part) -> Counter:
    """Count the rows of a part, each as the values of its cells."""
    rows = Counter()
    for columns in part.chunks():
        cells = [[None if i < 0 else column.values[i] for i in column.index] for column in columns]
        rows.update(zip(*cells, strict=True))
    return rows


def lengths_of(part) -> list[int]:
    return [sum(len(columns[0].index) for columns in part.chunks())]


def columns_of(part, names) -> set[str]:
    return {column.name for columns in part.chunks(names) for column in columns}


def first_rows_of(part) -> list[list[int]]:
    return [[columns[0].first_row for columns in part.chunks()]]


def read_twice(part) -> list:
    return [list(part.chunks()), list(part.chunks())]


def wait_for(is_so, seconds=40.0):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it took too long"
        time.sleep(0.02)


def test_nothing_is_left_of_what_was_kept_or_sent(runner, monkeypatch):
    context, sent = runner._context, []
    monkeypatch.setattr(
        context, "broadcast", lambda value: sent.append(type(context).broadcast(context, value)) or sent[-1]
    )
    heavy = partial(operator.mul, np.ones(50_000))
    assert runner.map_reduce(heavy, [1, 2], operator.add).sum() == 150_000
    kept = runner.keep(heavy, [1, 2])
    assert len(sent) == 2
    assert not Path(sent[0]._path).exists()
    assert Path(sent[1]._path).exists()
    assert context._jsc.getPersistentRDDs().size() == 1
    kept.release()
    kept.release()  # twice does no harm
    assert context._jsc.getPersistentRDDs().size() == 0
    assert not Path(sent[1]._path).exists()


def test_loading_that_fails_leaves_nothing(runner):
    with pytest.raises(DataError, match="in part 1"):
        runner.keep(partial(fail_at, bad=1), [0, 1])
    assert runner._context._jsc.getPersistentRDDs().size() == 0


def test_large_results_come_in_windows(runner, monkeypatch):
    context, windows = runner._context, []

    def run_job(rdd, tasks, chosen):
        windows.append(chosen)
        return type(context).runJob(context, rdd, tasks, chosen)

    monkeypatch.setattr(context, "runJob", run_job)
    # results of 1,000 bytes and a little more, of which two have room
    monkeypatch.setattr(runner, "_most_bytes", 2500)
    assert len(runner.map_reduce(partial(operator.mul, b"x" * 1000), [1] * 7, operator.add)) == 7000
    assert windows == [[0, 1], [2, 3], [4, 5], [6]]


def test_sums_have_the_bits_of_threads_here(runner):
    parts = list(range(19))
    assert runner.map_reduce(one_tenth_to, parts, operator.add) == LocalRunner(1).map_reduce(
        one_tenth_to, parts, operator.add
    )


def test_files_go_by_their_own_route(runner, tmp_path):
    rng = np.random.default_rng(3)
    for name in ("a", "b", "c"):
        colours = rng.choice(["red", "blue", None], size=60)
        pq.write_table(pa.table({"colour": colours, "size": rng.integers(9, size=60)}), tmp_path / f"{name}.parquet")
    parts = scan_path(tmp_path).parts
    here = LocalRunner(1).map_reduce(rows_of, parts, operator.add)
    assert sum(here.values()) == 180
    assert runner.map_reduce(rows_of, parts, operator.add) == here
    (tmp_path / "b.parquet").unlink()
    with pytest.raises(DataError, match=r"There is no file '.*b\.parquet' any more"):
        runner.map_reduce(rows_of, parts, operator.add)


@pytest.mark.parametrize(
    ("fn", "sentence"),
    [
        (
            divide,
            r"A task failed on an executor of Spark: ZeroDivisionError: division by zero\. See its log for details\.",
        ),
        (
            die,
            r"Spark gave up on a part because every process that worked on it died: Python worker exited unexpectedly "
            r"\(crashed\).* Give executors more memory, or cut the data into smaller parts\.",
        ),
    ],
)
def test_tasks_that_fail_for_good(runner, fn, sentence):
    with pytest.raises(ClusterError, match=f"^{sentence}$") as caught:
        runner.map_reduce(fn, [0], operator.add)
    assert "\n" not in str(caught.value)
    assert caught.value.__suppress_context__  # no page of Java's


def test_no_parts(runner):
    for work in (partial(runner.map_reduce, itself, [], operator.add), partial(runner.keep, itself, [])):
        with pytest.raises(DataError, match=r"^The data have no rows\. juror needs at least one\.$"):
            work()


def test_another_version_of_juror(session, monkeypatch):
    here = versions.version("juror")
    monkeypatch.setattr(versions, "version", lambda package: "9.9.9")
    with pytest.raises(
        ClusterError,
        match=rf"^The Spark executor on \S+ has juror {here}, and this process has juror 9\.9\.9\. Install the same "
        r"version of juror on both\.$",
    ):
        SparkRunner(session)


def test_versions_are_told_without_juror(session):
    """What asks executors for their versions must also run where juror is missing."""
    pickled = spark_runner._pickled(spark_runner._reporter())
    code = f"import pickle, sys; sys.modules['juror'] = None; print(next(pickle.loads({pickled!r})(()))[1]['python'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split(".")[:2] == [str(number) for number in sys.version_info[:2]]


TYPES = "a string, A int, `b.c` boolean, d double, e decimal(10, 2), f tinyint, nothing void"
ROWS = [
    ("x", 1, True, 1.5, Decimal("1.50"), 3, None),
    (None, None, None, None, None, None, None),
    ("y", 2, False, float("nan"), Decimal("2.25"), -3, None),
    ("?", -(2**31), True, -0.5, Decimal("1.50"), 3, None),
    ("x", 1, True, 1.5, Decimal("1.50"), 3, None),
]
CELLS = Counter(tuple(None if value in ("?", None) or value != value else value for value in row) for row in ROWS)


@pytest.fixture(scope="module")
def frame(session):
    # four partitions, of which two are empty
    return session.createDataFrame(ROWS, TYPES).union(session.createDataFrame([], TYPES))


def test_a_frame_comes_in_arrow_batches(runner, frame):
    scan = scan_spark_frame(frame, missing=["?"])
    assert scan.names == ("a", "A", "b.c", "d", "e", "f", "nothing")
    assert scan.numbers == {"A", "d", "e", "f"}
    assert scan.client is frame.sparkSession
    assert runner.map_reduce(rows_of, scan.parts, operator.add) == CELLS
    assert runner.map_reduce(lengths_of, scan.parts, operator.add) == [2, 3, 0, 0]


def test_a_frame_is_kept(runner, frame):
    kept = runner.keep(rows_of, scan_spark_frame(frame.repartition(3), missing=["?"]).parts)
    for _ in range(2):
        counts = kept.map_reduce(itself, operator.add)
        assert len(counts) == 3
        assert sum(counts, Counter()) == CELLS
    kept.release()


def test_columns_of_a_frame_are_chosen(runner, frame):
    parts = scan_spark_frame(frame).parts
    assert runner.map_reduce(partial(columns_of, names=["A", "b.c"]), parts, operator.or_) == {"A", "b.c"}
    chosen = parts.select(["b.c", "A"])
    assert chosen.names == ("A", "b.c")
    assert len(chosen.frame.columns) == 2
    assert runner.map_reduce(rows_of, chosen, operator.add) == Counter(row[1:3] for row in ROWS)


def test_batches_are_put_together(runner, session, monkeypatch):
    scan = scan_spark_frame(session.range(0, 25_000, 1, 1))
    # Spark's batches have 10,000 rows
    assert runner.map_reduce(first_rows_of, scan.parts, operator.add) == [[0]]
    batches = [pa.record_batch({"id": np.arange(10)})] * 5
    monkeypatch.setattr(spark_frames, "CHUNK_ROWS", 20)
    part = SparkPartition(iter(batches), ("id",), ())
    assert [(columns[0].first_row, len(columns[0].index)) for columns in part.chunks()] == [(0, 20), (20, 20), (40, 10)]


def test_errors_of_a_frame(runner, frame):
    parts = scan_spark_frame(frame).parts
    with pytest.raises(ClusterError, match=r"^A task can read the rows of a Spark frame only once, and this one re"):
        runner.map_reduce(read_twice, parts, operator.add)
    with pytest.raises(ClusterError, match=r"^A task failed on an executor of Spark: TypeError: unsupported operand"):
        runner.map_reduce(divide, parts, operator.add)


def test_frames_without_rows(runner, session):
    empty = session.createDataFrame([], "colour string")
    assert runner.map_reduce(colours_of, scan_spark_frame(empty).parts, operator.add) == Counter()
    no_partitions = session.createDataFrame(session.sparkContext.emptyRDD(), "colour string")
    with pytest.raises(DataError, match=r"^The data have no rows\. juror needs at least one\.$"):
        runner.map_reduce(colours_of, scan_spark_frame(no_partitions).parts, operator.add)


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        ("long interval day to second", r"Column 'long' holds durations or times of day \(duration\[us\]\)"),
        ("tags array<int>", r"Column 'tags' holds values of type list<element: int32>, which have no distribution"),
        ("one struct<a: int>", r"Column 'one' holds values of type struct<a: int32>, which have no distribution"),
        ("raw binary", r"Column 'raw' holds values of type binary, which have no distribution over labels\."),
        ("a int, a int", r"Column names must be unique; \['a'\] occur more than once\."),
        ("` ` int", r"Column 0 has an empty name\."),
    ],
)
def test_frames_that_are_refused(session, types, sentence):
    with pytest.raises(DataError, match=f"^{sentence}"):
        scan_spark_frame(session.createDataFrame([], types))


def test_more_frames_that_are_refused(session):
    with pytest.raises(DataError, match=r"^The data have no columns\. juror needs at least one\.$"):
        scan_spark_frame(session.range(3).select())
    with pytest.raises(DataError, match=r"^A streaming frame of Spark has no last row\."):
        scan_spark_frame(session.readStream.format("rate").load())
    with pytest.raises(ParameterError, match="missing must be a list of markers"):
        scan_spark_frame(session.range(3), missing="?")


def test_frames_are_told_apart(frame):
    assert is_spark_frame(frame)
    assert not is_spark_frame({"a": [1]})
    with pytest.raises(
        ParameterError, match=r"^client must be a pyspark\.sql\.SparkSession\. Got a DataFrame instead\.$"
    ):
        runner_for(frame)


def no_answer():
    raise ConnectionRefusedError(111, "Connection refused")


def test_sessions_that_cannot_work():
    for java in (None, SimpleNamespace(sc=no_answer)):
        stopped = type("SparkSession", (), {"sparkContext": SimpleNamespace(_jsc=java)})
        with pytest.raises(ClusterError, match=r"^The Spark session is stopped\. Start another, and begin again\.$"):
            SparkRunner(stopped())
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})
    with pytest.raises(ClusterError, match=r"^This session is one of Spark Connect, which cannot run juror's tasks"):
        SparkRunner(remote())


def test_a_machine_without_java_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert why_not().startswith("SPARK IS NOT TESTED: there is no Java on this machine")


JAVA = """An error occurred while calling z:org.apache.spark.api.python.PythonRDD.runJob.
: org.apache.spark.SparkException: {}
\tat org.apache.spark.scheduler.DAGScheduler.failJobAndIndependentStages(DAGScheduler.scala:2844)
"""
LOST = "Job aborted due to stage failure: Task 0 in stage 3.0 failed 4 times, most recent failure: Lost task 0.3 in"


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (
            f"{LOST} stage 3.0 (TID 7) (10.0.0.7 executor 5): ExecutorLostFailure (executor 5 exited caused by one of "
            "the running tasks) Reason: Command exited with code 137",
            "Spark gave up on a part because every process that worked on it died: ExecutorLostFailure (executor 5 "
            "exited caused by one of the running tasks) Reason: Command exited with code 137. Give executors more "
            "memory, or cut the data into smaller parts.",
        ),
        (
            "Job 5 cancelled because SparkContext was shut down",
            "Spark could not do the work: Job 5 cancelled because SparkContext was shut down",
        ),
        (
            "Total size of serialized results of 3 tasks (1.1 GiB) is bigger than spark.driver.maxResultSize",
            "Spark could not do the work: Total size of serialized results of 3 tasks (1.1 GiB) is bigger than "
            "spark.driver.maxResultSize",
        ),
    ],
)
def test_one_sentence_of_a_page(cause, sentence):
    assert message_of(Exception(JAVA.format(cause))) == sentence


def test_what_is_not_from_java_is_named():
    error = ConnectionRefusedError("[Errno 111] Connection refused")
    expected = "Spark could not do the work: ConnectionRefusedError: [Errno 111] Connection refused"
    assert message_of(error) == expected


class TestFitsFromFiles(SameModel):
    @pytest.fixture
    def source(self, labels, session, tmp_path):
        pq.write_table(TABLES[labels].slice(0, 150), tmp_path / "0.parquet")
        pq.write_table(TABLES[labels].slice(150), tmp_path / "1.parquet")
        return (tmp_path,), {"client": session}


class TestFitsFromFrames(SameModel):
    @pytest.fixture
    def source(self, labels, session):
        return (session.createDataFrame(TABLES[labels]).repartition(3),), {}


# The last tests of the cluster: it takes long to replace an executor, and no other test has to wait for it


def test_an_executor_is_killed_between_passes(cluster, runner, tmp_path):
    # what the executor that loads anew must still find
    ballast = np.ones(50_000)
    kept = runner.keep(partial(load_signed, folder=str(tmp_path), ballast=ballast), range(6))
    assert kept.map_reduce(total, operator.add) == 63.0
    before = sorted(tmp_path.iterdir())
    assert len(before) == 6
    victim = int(before[0].name.split("-")[1])
    cluster.kill_executor(victim)
    assert kept.map_reduce(total, operator.add) == 63.0
    lost = sum(note.name.split("-")[1] == str(victim) for note in before)
    assert len(list(tmp_path.iterdir())) == 6 + lost
    kept.release()


def test_an_executor_is_killed_in_the_middle(cluster, runner, tmp_path):
    count = partial(wait_for_death, folder=str(tmp_path))
    with ThreadPoolExecutor(1) as pool:
        counts = pool.submit(runner.map_reduce, count, range(8), operator.add)
        wait_for((tmp_path / "victim").exists)
        cluster.kill_executor(int((tmp_path / "victim").read_text()))
        assert counts.result(timeout=60) == Counter(range(8))
    tasks = Counter(note.name.split("-")[0] for note in tmp_path.glob("*-*"))
    assert tasks["3"] == 2  # it was lost with its executor, and done again
