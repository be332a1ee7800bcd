"""A real Spark cluster on loopback for tests: a session, and two executors in processes of their own."""

from __future__ import annotations

import os
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

# to start quickly and stay small, not to run fast: the tests are short
_JAVA_OPTIONS = (
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xss512k -XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
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
    from pyspark import SparkContext

    folder = Path(tempfile.mkdtemp(prefix="juror-spark-"))
    before = dict(os.environ)
    app = None
    try:
        os.environ.update(_environment(Path(pyspark.__file__).parent, folder))
        session = _session(folder)
        app = session.sparkContext.applicationId
        yield SparkCluster(session, folder)
    finally:
        _stop_session()
        assert SparkContext._gateway is None
        for pid in processes_of(app) if app is not None else ():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        os.environ.clear()
        os.environ.update(before)
        _remove(folder)


def _remove(folder: Path) -> None:
    """Remove the folder; a killed process may write there until the system has ended it."""
    deadline = time.monotonic() + _PATIENCE
    while folder.exists() and time.monotonic() < deadline:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.1)


def _environment(installed: Path, folder: Path) -> dict[str, str]:
    """Return the environment of all of Spark's processes: they write to the folder only, and talk on loopback only."""
    for name in ("local", "tmp", "conf", "home"):
        (folder / name).mkdir()
    # workers write beside Spark's programs
    for name in ("bin", "jars"):
        (folder / "home" / name).symlink_to(installed / name)
    tests = Path(__file__).parent
    return {
        "SPARK_HOME": str(folder / "home"),
        "SPARK_CONF_DIR": str(folder / "conf"),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_LOCAL_DIRS": str(folder / "local"),
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        # workers import what tests send by name
        "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")]),
        "TMPDIR": str(folder / "tmp"),
    }


def _session(folder: Path) -> Any:
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
        # a task lost with an executor may be run again; by default Spark tries four times, which takes long
        "spark.task.maxFailures": "2",
        # compiling queries takes longer than running ours
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        # by TCP, Java and Python wait 40 ms for one another at the beginning of every task
        "spark.python.unix.domain.socket.enabled": "true",
        # else every Python worker spends a second on imports
        "spark.python.daemon.module": "spark_daemon",
    }
    # master and workers of a standalone cluster in the driver's process, with two executors in processes of their own
    builder = SparkSession.builder.master("local-cluster[2,1,700]").appName("juror tests")
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
