"""How blocks of Python in these pages are run: each page in a folder of its own, for what it writes."""

from __future__ import annotations

import os

import pytest

# what Sphinx loads, and scripts: none of them holds doctests
collect_ignore_glob = ["*.py", "**/*.py"]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _data_that_are_read(request):
    if 'os.environ["JUROR_DATA"]' in request.path.read_text() and not os.environ.get("JUROR_DATA"):
        pytest.skip("JUROR_DATA names no folder")
