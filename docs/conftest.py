"""How blocks of Python in these pages are run: each page in a folder of its own, for what it writes."""

from __future__ import annotations

import pytest

# what Sphinx loads, and scripts: none of them holds doctests
collect_ignore_glob = ["*.py", "**/*.py"]


@pytest.fixture(autouse=True)
def _folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
