"""A real Dask cluster on this machine: the contract of runners, workers and schedulers that die, and frames."""

from __future__ import annotations

import asyncio
import operator
import os
import signal
import threading
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from distributed import Client, LocalCluster
from pyarrow import parquet

import juror
from juror.errors import ClusterError, DataError, ParameterError
from juror.readers.dask_frames import is_dask_frame, scan_dask_frame
from juror.runners.clusters import runner_for
from juror.runners.dask_runner import DaskRunner
from juror.runners.local import LocalRunner
from juror.runners.versions import check_versions, versions_here
from runner_contract import (
    RunnerContract,
    begun,
    both,
    colours_of,
    count_when_told,
    die,
    itself,
    load_noted,
    loads,
    rows_of,
    too_large,
    weighted_sum,
)
from same_model import TABLES, SameModel


@contextmanager
def connected(folder, **options):
    """Start a cluster of workers with one thread each, and connect to it as if it were far away."""
    settings = {"distributed.scheduler.allowed-failures": 1, "temporary-directory": str(folder)}
    with (
        dask.config.set(settings),
        LocalCluster(
            threads_per_worker=1,
            host="127.0.0.1",
            protocol="tcp",
            dashboard_address=":0",
            silence_logs="CRITICAL",
            memory_limit=0,
            **options,
        ) as cluster,
        Client(cluster.scheduler_address, set_as_default=False, timeout=3) as client,
    ):
        yield cluster, client


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with connected(tmp_path_factory.mktemp("dask"), n_workers=2, processes=True) as (_, client):
        yield client
        # what was released, failed or lost is forgotten, and what was started ends
        wait_for(lambda: n_tasks(client) == 0, "the scheduler knows no task")
        workers = list(client.run(os.getpid).values())
    assert not any(Path("/proc", str(pid)).exists() for pid in workers)


def n_tasks(client):
    """Return how many tasks the scheduler knows."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


@pytest.fixture(scope="module")
def runner(client):
    return runner_for(client)


@pytest.fixture
def small(tmp_path):
    """A cluster of one worker in this process, for what only needs a scheduler."""
    with connected(tmp_path / "dask", n_workers=1, processes=False) as (cluster, client):
        yield cluster, client


class TestDaskRunner(RunnerContract):
    pass


def wait_for(is_so, what, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, f"waited for {seconds} seconds until {what}"
        time.sleep(0.01)


@contextmanager
def meanwhile(act):
    """Run something beside the block, and raise here what it raises."""
    errors = []

    def work():
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        thread.join()
    assert not errors, errors


def test_a_worker_killed_in_the_middle_costs_no_count(runner, tmp_path):
    killed = []

    def kill():
        try:
            wait_for(lambda: len(set(begun(tmp_path))) == 2, "both workers have begun")
            killed.append(begun(tmp_path)[0])
            os.kill(killed[0], signal.SIGKILL)
            # the other one is still at its first part
            wait_for(lambda: not Path("/proc", str(killed[0])).exists(), "the worker is dead")
        finally:
            (tmp_path / "go").touch()

    with meanwhile(kill):
        counts = runner.map_reduce(partial(count_when_told, folder=str(tmp_path)), list(range(20)), operator.add)
    assert counts == dict.fromkeys(range(20), 1)
    # the part that was lost was begun again
    assert len(begun(tmp_path)) > 20


def test_a_worker_killed_between_passes_is_replaced(runner, client, tmp_path):
    wait_for(lambda: len(client.nthreads()) == 2, "there are two workers")
    kept = runner.keep(partial(load_noted, folder=str(tmp_path)), list(range(12)))
    add = partial(weighted_sum, weights=np.array([0.1, 0.2, 0.3]))
    before = kept.map_reduce(add, operator.add)
    assert sum(loads(tmp_path).values()) == 12
    address = max(client.has_what().items(), key=lambda held: len(held[1]))[0]
    pid = client.run(os.getpid)[address]
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not Path("/proc", str(pid)).exists(), "the worker is dead")
    assert kept.map_reduce(add, operator.add) == before
    assert 12 < sum(loads(tmp_path).values()) <= 24
    kept.release()


def test_workers_that_always_die_are_told(runner):
    with pytest.raises(
        ClusterError,
        match=r"^2 Dask workers died one after the other at the same task, the last at tcp://127\.0\.0\.1:\d+, most "
        r"likely for lack of memory\. Give workers more memory or fewer threads, or cut the data into smaller parts\.$",
    ):
        runner.map_reduce(die, [1], operator.add)
    # and the others go on
    assert runner.map_reduce(itself, [1, 2], operator.add) == (1, 2)


def test_too_little_memory_is_told(runner):
    with pytest.raises(ClusterError, match=r"^A Dask worker has too little memory for its task\. Give workers more"):
        runner.map_reduce(too_large, [1], operator.add)


def test_no_task_goes_on_when_interrupted(small, tmp_path):
    _, client = small
    runner = DaskRunner(client)

    def interrupt():
        wait_for(lambda: begun(tmp_path), "a part is begun")
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # processes in the background are started without this
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with meanwhile(interrupt), pytest.raises(KeyboardInterrupt):
            runner.map_reduce(partial(count_when_told, folder=str(tmp_path)), list(range(50)), operator.add)
    finally:
        signal.signal(signal.SIGINT, before)
        (tmp_path / "go").touch()
    assert runner.map_reduce(itself, ["next"], operator.add) == ("next",)
    assert len(begun(tmp_path)) < 5
    wait_for(lambda: n_tasks(client) == 0, "the scheduler knows no task")


def test_a_scheduler_that_goes_away_is_told(small, tmp_path):
    cluster, client = small
    runner = DaskRunner(client)

    def close():
        wait_for(lambda: begun(tmp_path), "a part is begun")
        (tmp_path / "go").touch()
        cluster.close()

    sentence = (
        rf"^The Dask scheduler at {cluster.scheduler_address} went away, was restarted or dropped the work \(\w+\)\."
    )
    with meanwhile(close), pytest.raises(ClusterError, match=sentence):
        runner.map_reduce(partial(count_when_told, folder=str(tmp_path)), list(range(50)), operator.add)
    # it tries to connect for a while, and closes then
    with pytest.raises(ClusterError, match=r"^The Dask client is (connecting|closed) and has no scheduler\."):
        runner.map_reduce(itself, [1], operator.add)


def test_a_cluster_without_workers_is_told(tmp_path):
    with connected(tmp_path, n_workers=0, processes=False) as (cluster, client):
        with pytest.raises(
            ClusterError,
            match=rf"^The Dask scheduler at {cluster.scheduler_address} has had no workers for 0\.2 seconds\. "
            r"Start some, for example with dask worker and this address\.$",
        ):
            DaskRunner(client, patience=0.2)
        cluster.scale(1)
        assert DaskRunner(client).map_reduce(itself, [1], operator.add) == (1,)


def test_a_closed_client_is_told(small):
    _, client = small
    runner = DaskRunner(client)
    client.close()
    sentence = (
        r"^The Dask client is closed and has no scheduler\. See whether the scheduler runs, and connect a new client\.$"
    )
    with pytest.raises(ClusterError, match=sentence):
        DaskRunner(client)
    with pytest.raises(ClusterError, match=sentence):
        runner.map_reduce(itself, [1], operator.add)


def test_an_asynchronous_client_is_refused(client):
    async def use_one():
        async with Client(client.scheduler.address, asynchronous=True, set_as_default=False) as asynchronous:
            runner_for(asynchronous)

    with pytest.raises(ParameterError, match=r"^client must not be asynchronous\. Connect with Client\(address"):
        asyncio.run(use_one())


def test_what_is_no_client_is_refused():
    with pytest.raises(
        ParameterError, match=r"^client must be a dask\.distributed\.Client.*\. Got 'tcp://a:1' instead\.$"
    ):
        runner_for("tcp://a:1")


@pytest.mark.parametrize(
    ("who", "package", "there", "told"),
    [
        (
            "workers",
            "juror",
            None,
            r"has no juror, and this process has juror [\d.]+\. Install the same version of juror",
        ),
        ("workers", "juror", "0.0.9", r"has juror 0\.0\.9, and this process has juror [\d.]+\. Install the same"),
        ("workers", "numpy", "1.26.4", r"has numpy 1\.26\.4, and this process has numpy 2\.[\d.]+\. Install the same"),
        (
            "workers",
            "python",
            "3.10.1.final.0",
            r"has python 3\.10\.1\S*, and this process has python 3\.\d+\.\d+\. Ins",
        ),
        (
            "scheduler",
            "juror",
            None,
            r"has no juror, and this process has juror [\d.]+\. Install the same version of juror",
        ),
    ],
)
def test_other_versions_are_told(client, monkeypatch, who, package, there, told):
    reported = client.get_versions(packages=["juror"])
    address, process = client.scheduler.address, reported["scheduler"]
    if who == "workers":
        address, process = list(reported["workers"].items())[-1]
    process["packages"][package] = there
    monkeypatch.setattr(client, "get_versions", lambda packages: reported)
    with pytest.raises(ClusterError, match=rf"^The {who.rstrip('s')} at {address} {told}.* on both\.$"):
        runner_for(client)


def test_last_numbers_of_versions_may_differ():
    here = versions_here()
    major, minor, _ = here["python"].split(".")
    check_versions({"worker at tcp://10.0.0.7:40001": here | {"python": f"{major}.{minor}.99.final.0"}})


def test_versions_of_new_workers_are_compared(small, monkeypatch):
    cluster, client = small
    runner = DaskRunner(client)
    reported = client.get_versions(packages=["juror"])
    for process in reported["workers"].values():
        process["packages"]["juror"] = "0.0.9"
    monkeypatch.setattr(client, "get_versions", lambda packages: reported)
    assert runner.map_reduce(itself, [1], operator.add) == (1,)
    cluster.scale(2)
    wait_for(lambda: len(client.nthreads()) == 2, "there are two workers")
    with pytest.raises(ClusterError, match=r"has juror 0\.0\.9"):
        runner.map_reduce(itself, [1], operator.add)


FRAME = pd.DataFrame(
    {
        "colour": pd.Series(["red", "blue", None, "teal", "red", "?", "red"], dtype="string"),
        "size": [1, 2, 3, 4, 5, 6, 7],
        "mixed": pd.Series([1, None, 2, 3, 3, 1, 1], dtype=object),
        "shade": pd.Categorical(["dark", "light", "dark", None, "dark", "light", "dark"]),
    }
)


@pytest.fixture(scope="module")
def frame():
    # partitions of three, no, three and one rows
    with dask.config.set({"dataframe.convert-string": False}):
        pieces = [FRAME[:3], FRAME[:0], FRAME[3:6], FRAME[6:]]
        return dd.concat([dd.from_pandas(piece, npartitions=1) for piece in pieces], interleave_partitions=True)


def rows_expected():
    known = FRAME.replace("?", None)
    return [tuple(row) for row in known.astype(object).where(known.notna(), None).itertuples(index=False)]


def test_a_frame_is_read_by_workers(runner, frame):
    rows, processes = runner.map_reduce(rows_of, scan_dask_frame(frame, missing=["?"]).parts, both)
    assert rows == rows_expected()
    assert os.getpid() not in processes


def test_a_frame_is_read_without_a_client(frame):
    scan = scan_dask_frame(frame, missing=["?"])
    with LocalRunner(2) as local:
        rows, processes = local.map_reduce(rows_of, scan.parts, both)
    assert scan.client is None
    assert rows == rows_expected()
    assert processes == {os.getpid()}


def test_a_persisted_frame_brings_its_client(client, frame):
    with client.as_current():
        scan = scan_dask_frame(frame.persist(), missing=["?"])
    assert scan.client is client
    assert runner_for(scan.client).map_reduce(rows_of, scan.parts, both)[0] == rows_expected()


def test_a_frame_can_be_kept(runner, frame):
    kept = runner.keep(colours_of, scan_dask_frame(frame).parts)
    assert kept.map_reduce(Counter, operator.add) == Counter(red=3, blue=1, teal=1) + Counter({"?": 1})
    kept.release()


def test_a_frame_tells_its_columns(frame):
    scan = scan_dask_frame(frame)
    assert scan.names == ("colour", "size", "mixed", "shade")
    # objects can be numbers
    assert scan.numbers == {"size", "mixed"}
    assert len(scan.parts) == frame.npartitions


def test_a_frame_is_told_from_other_data(frame):
    assert is_dask_frame(frame)
    assert not any(is_dask_frame(data) for data in (frame["size"], FRAME, {"a": [1]}, "a.csv"))


def test_a_frame_without_columns_is_told(frame):
    with pytest.raises(DataError, match=r"^The data have no columns\. juror needs at least one\.$"):
        scan_dask_frame(frame[[]])


def test_durations_in_a_frame_are_told_before_they_are_read():
    durations = dd.from_pandas(pd.DataFrame({"when": pd.to_timedelta([1, 2])}), npartitions=1)
    with pytest.raises(DataError, match=r"^Column 'when' holds durations or times of day"):
        scan_dask_frame(durations)


def test_dates_in_partitions():
    days = pd.date_range("1969-12-30", periods=5).append(pd.DatetimeIndex([pd.NaT]))
    scan = scan_dask_frame(dd.from_pandas(pd.DataFrame({"when": days}), npartitions=2))
    assert scan.numbers == {"when"}
    columns = [column for part in scan.parts for (column,) in part.chunks()]
    found = [column.calendar.to_numpy(column.values)[column.index[column.index >= 0]] for column in columns]
    assert np.concatenate(found).tolist() == days[:-1].to_numpy().tolist()


def test_no_parts_are_told(runner):
    with pytest.raises(DataError, match=r"^The data have no rows\. juror needs at least one\.$"):
        runner.map_reduce(itself, [], operator.add)


class TestFitsFromFiles(SameModel):
    @pytest.fixture
    def source(self, labels, client, tmp_path):
        parquet.write_table(TABLES[labels].slice(0, 150), tmp_path / "0.parquet")
        parquet.write_table(TABLES[labels].slice(150), tmp_path / "1.parquet")
        return (tmp_path,), {"client": client}


class TestFitsFromFrames(SameModel):
    @pytest.fixture
    def source(self, labels, client):
        return (dd.from_pandas(TABLES[labels].to_pandas().convert_dtypes(), npartitions=3),), {"client": client}


@pytest.mark.filterwarnings("ignore::juror.FitWarning")
def test_every_way_to_fit_runs_on_workers(client, tmp_path):
    parquet.write_table(TABLES["text"].slice(0, 150), tmp_path / "0.parquet")
    parquet.write_table(TABLES["text"].slice(150), tmp_path / "1.parquet")
    near = juror.fit(TABLES["text"], method="em", max_iter=50)
    far = juror.fit(tmp_path, method="em", max_iter=50, client=client)
    assert far.rank == near.rank
    assert far.info.n_searched == TABLES["text"].num_rows
    drawn = [
        juror.fit(tmp_path, rank=2, method="bayes", sweeps=20, burnt=10, draws=10, client=client) for _ in range(2)
    ]
    assert np.array_equal(drawn[0].weights, drawn[1].weights)


def test_paths_are_those_of_this_process(client, tmp_path, monkeypatch):
    parquet.write_table(TABLES["text"], tmp_path / "here.parquet")
    monkeypatch.chdir(tmp_path)
    assert juror.PairCounts.of("here.parquet", client=client).totals.max() > 0
