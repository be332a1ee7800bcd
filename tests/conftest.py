"""What several files of tests share."""

from __future__ import annotations

import os
from contextlib import ExitStack

import pytest
from hypothesis import settings

from servers import start_postgres

# Kernels for a card run on the CPU, unless TRITON_INTERPRET=0. Triton reads this when it is imported.
os.environ.setdefault("TRITON_INTERPRET", "1")
# Threads of OpenMP sleep while they wait for each other. By default they spin, on cores that other tests need: gradient
# boosting then takes ten times as long. OpenMP reads this when it is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# modules are looked through for doctests, and there can be one of this name only: docs/ has another
collect_ignore = ["conftest.py"]


# an example may be the first to compile a kernel, or run beside a cluster that starts
settings.register_profile("juror", deadline=None)
settings.load_profile("juror")


# The tests of each of these files share a cluster, a browser, the built site or fits that take seconds, so one process
# runs them all. The group marks of pytest-xdist would do, but it sets them where pytest 9.2 does not look.
TOGETHER = (
    "test_dask.py",
    "test_documentation.py",
    "test_explorer.py",
    "test_hidden_tree.py",
    "test_label_tilts.py",
    "test_spark.py",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            return file if file.endswith(TOGETHER) else nodeid

    return Scheduling(config, log)


@pytest.fixture
def run(folder, capsys, monkeypatch):
    """Run the command line in the module's folder; return exit status, stdout and stderr."""
    from juror.cli import main

    monkeypatch.chdir(folder)

    def run(*arguments: object) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as end:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return end.value.code, out, err

    return run


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server, started for the first test of a process that asks for it."""
    with start_postgres() as server:
        yield server


@pytest.fixture
def exit_stack():
    """Contexts that a test enters, left when it ends."""
    with ExitStack() as stack:
        yield stack
