"""What several files of tests share."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from servers import start_postgres

# modules are looked through for doctests, and there can be one of this name only: docs/ has another
collect_ignore = ["conftest.py"]


def pytest_cmdline_main(config):
    """Keep the tests of a cluster in one process, also where pytest-xdist was asked for no more than processes."""
    if config.getoption("dist", "no") == "load":
        config.option.dist = "loadgroup"


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
