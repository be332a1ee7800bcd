"""A PostgreSQL server for tests: Debian's package, a private folder, a port on loopback that is free, a password."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.parse import quote

import pytest

# What a password may hold that an address, a shell and a connection string take for something else
PASSWORD = "hush@ho:me/4 'ever'%?&=#é"
USER = "ann"
_SECONDS = 30.0


def postgres_binary(name: str) -> str | None:
    """Return the path of a program of PostgreSQL; Debian keeps those of a server out of the PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name))
    return shutil.which(name, path=os.pathsep.join([*map(str, reversed(folders)), os.environ.get("PATH", "")]))


class PostgresServer:
    """A server that runs until it is stopped; use it in a ``with`` block."""

    def __init__(self) -> None:
        # root must not run PostgreSQL: its package brings a user for it
        self._user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        self.folder = Path(tempfile.mkdtemp(prefix="juror-postgres-"))
        self.port = 0
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._initialise()
            self._start()
        except BaseException:
            self.stop()
            raise

    def __enter__(self) -> PostgresServer:
        return self

    def __exit__(self, *args: object) -> None:
        self.stop()

    def uri(self, password: str = PASSWORD, database: str = "postgres", port: int | None = None) -> str:
        """Return the server's address, credentials and all."""
        return f"postgresql://{USER}:{quote(password, safe='')}@127.0.0.1:{port or self.port}/{database}"

    def kill(self) -> None:
        """End the server and all its sessions at once, as if the machine had failed."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(_SECONDS)

    def stop(self) -> None:
        """End the server and remove its folder."""
        try:
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)
                try:
                    self._process.wait(_SECONDS)
                except subprocess.TimeoutExpired:
                    self.kill()
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD + "\n", encoding="utf-8")
        if self._user:
            shutil.chown(self.folder, "postgres", "postgres")
            shutil.chown(password, "postgres", "postgres")
        subprocess.run(
            [
                str(postgres_binary("initdb")),
                f"--pgdata={self.folder / 'data'}",
                f"--username={USER}",
                f"--pwfile={password}",
                *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"),
            ],
            check=True,
            capture_output=True,
            cwd=self.folder,
            **self._user,
        )

    def _start(self) -> None:
        for _ in range(5):
            self.port = free_port()
            settings = ("fsync=off", "listen_addresses=127.0.0.1", f"port={self.port}", "unix_socket_directories=")
            command = [str(postgres_binary("postgres")), "-D", str(self.folder / "data")]
            with (self.folder / "log").open("wb") as log:
                self._process = subprocess.Popen(
                    [*command, *(part for setting in settings for part in ("-c", setting))],
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    preexec_fn=_end_with_parent,
                    **self._user,
                )
            if self._is_ready(self._process):
                return
        raise RuntimeError(f"PostgreSQL did not start: {(self.folder / 'log').read_text(errors='replace')}")

    def _is_ready(self, process: subprocess.Popen[bytes]) -> bool:
        """Wait until the server takes connections; it ends by itself where another was quicker to take the port."""
        state = self.folder / "data" / "postmaster.pid"
        end = time.monotonic() + _SECONDS
        while time.monotonic() < end and process.poll() is None:
            if state.exists() and state.read_text().rstrip().endswith("ready"):
                return True
            time.sleep(0.02)
        return False


def _end_with_parent() -> None:
    """Ask the system to end this process at once when the process of the tests ends, even when that is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGQUIT)  # 1 is PR_SET_PDEATHSIG


def free_port() -> int:
    """Return a port of loopback that nobody listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def start_postgres() -> PostgresServer:
    """Start a server; where there is none on this machine the test is skipped, but not where changes are decided on."""
    if postgres_binary("initdb") is None:
        reason = "PostgreSQL IS NOT INSTALLED, reading from it is NOT TESTED. Install Debian's package postgresql."
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return PostgresServer()
