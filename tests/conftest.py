"""What several files of tests share."""

from __future__ import annotations

from contextlib import ExitStack

import pytest
from hypothesis import settings

from servers import start_postgres

# modules are looked through for doctests, and there can be one of this name only: docs/ has another
collect_ignore = ["conftest.py"]


# an example may be the first to compile a kernel, or run beside a cluster that starts
settings.register_profile("juror", deadline=None)
settings.load_profile("juror")


def pytest_cmdline_main(config):
    """Make ``--dist loadgroup`` the default of pytest-xdist: with ``load`` every process would start each cluster."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadgroup"
    if hasattr(config, "workerinput"):
        config.option.loadgroup = True


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
