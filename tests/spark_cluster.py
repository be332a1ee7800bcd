"""A real Spark standalone cluster on loopback for tests: one master, two workers, and a session that uses them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# what starts quickly and stays small, not what runs fast: the tests are of seconds
_JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss512k"
_PATIENCE = 60.0


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster: a session on it, and how to hurt it."""

    session: Any
    folder: Path

    def executors(self) -> list[int]:
        """Return the process numbers of this session's executors."""
        return processes_of(self.session.sparkContext.applicationId)

    def kill_executor(self, pid: int) -> None:
        """Kill one of this session's executors, without a word to Spark."""
        assert pid in self.executors()
        os.kill(pid, signal.SIGKILL)


def processes_of(app: str) -> list[int]:
    """Return the process numbers of an application's executors, by their command lines."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")
            except OSError:  # ended meanwhile
                continue
            if "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words and app in words:
                found.append(int(folder.name))
    return sorted(found)


def why_not() -> str | None:
    """Say why there can be no cluster on this machine, or None."""
    if find_spec("pyspark") is None:
        return "SPARK IS NOT TESTED: pyspark is not installed"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and Path(home, "bin", "java").exists()):
        return "SPARK IS NOT TESTED: there is no Java on this machine (neither java on the PATH nor JAVA_HOME)"
    return None


@contextmanager
def spark_cluster() -> Iterator[SparkCluster]:
    """Start a cluster with a session; stop and remove all of it in the end, whatever happens."""
    import pyspark

    folder = Path(tempfile.mkdtemp(prefix="juror-spark-"))
    before = dict(os.environ)
    daemons: list[subprocess.Popen[bytes]] = []
    try:
        os.environ.update(_settings(Path(pyspark.__file__).parent, folder))
        master = _start(folder, daemons, "master", "master.Master", "--host", "127.0.0.1", "--port", "0")
        url = _wait_for(daemons[0], master, r"Starting Spark master at (spark://\S+)")
        for name in ("worker-0", "worker-1"):
            size = ("--cores", "1", "--memory", "700m", "--work-dir", str(folder / name))
            _start(folder, daemons, name, "worker.Worker", "--host", "127.0.0.1", *size, url)
        yield SparkCluster(_session(url, folder), folder)
    finally:
        _stop_session()
        for daemon in daemons:
            # executors are in the groups of their workers
            with suppress(ProcessLookupError):
                os.killpg(daemon.pid, signal.SIGKILL)
            daemon.wait()
        os.environ.clear()
        os.environ.update(before)
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the folder; what was killed may write there until the system has got round to it."""
    deadline = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.1)


def _settings(home: Path, folder: Path) -> dict[str, str]:
    """Return the environment of all of Spark's processes: nothing of it leaves the folder and loopback."""
    for name in ("local", "tmp", "conf"):
        (folder / name).mkdir()
    return {
        "SPARK_HOME": str(home),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "SPARK_DAEMON_MEMORY": "200m",
        "SPARK_DAEMON_JAVA_OPTS": _JAVA_OPTIONS,
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # what tests send by name is to be found there
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]),
        "TMPDIR": str(folder / "tmp"),
    }


def _start(folder: Path, daemons: list[subprocess.Popen[bytes]], name: str, role: str, *words: str) -> Path:
    """Start the master or a worker in a process group of its own, and return its log."""
    log = folder / f"{name}.log"
    command = [str(Path(os.environ["SPARK_HOME"], "bin", "spark-class")), f"org.apache.spark.deploy.{role}"]
    with log.open("wb") as stream:
        daemons.append(
            subprocess.Popen(
                [*command, "--webui-port", "0", *words],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        )
    return log


def _wait_for(daemon: subprocess.Popen[bytes], log: Path, pattern: str) -> str:
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and daemon.poll() is None:
        found = re.search(pattern, log.read_text(errors="replace"))
        if found:
            return found[1]
        time.sleep(0.05)
    raise RuntimeError(f"Spark did not start; its log ends in\n{log.read_text(errors='replace')[-2000:]}")


def _session(url: str, folder: Path) -> Any:
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "512m",
        "spark.driver.extraJavaOptions": _JAVA_OPTIONS,
        "spark.executor.memory": "600m",
        "spark.executor.extraJavaOptions": _JAVA_OPTIONS,
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        # once lost with an executor is no failure for good, and four times take long
        "spark.task.maxFailures": "2",
        # compiling queries takes longer than running ours
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # by TCP, Java and Python wait 40 ms for one another at the beginning of every task
        "spark.python.unix.domain.socket.enabled": "true",
    }
    builder = SparkSession.builder.master(url).appName("juror tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _stop_session() -> None:
    """Stop the session and its JVM, also a half-started one; it would stay with this process, and keep its settings."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session, gateway = SparkSession.getActiveSession(), SparkContext._gateway
    if session is not None:
        session.stop()
    if gateway is None:
        return
    gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    # it ends when its input does
    gateway.proc.stdin.close()
    try:
        gateway.proc.wait(timeout=10)
    except subprocess.TimeoutExpired:
        gateway.proc.kill()
        gateway.proc.wait()
