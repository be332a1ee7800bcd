"""The house rules that a machine can check: imports go one way, modules stay small, the library does not print."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import juror

SOURCE = Path(juror.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# From the data to the faces. A room may import from its own and from those before it.
ROOMS = (
    ("errors", "logs", "progress", "simplex", "threads", "writing"),
    ("kernels",),
    ("sources",),
    ("variable",),
    ("discovery",),
    ("domain",),
    ("evidence", "stacking", "radon", "info", "files"),
    ("ask", "statistics"),
    ("solvers",),
    ("answers",),
    ("model",),
    ("choosing", "compare"),
    ("members",),
    ("ensembles",),
    ("fitting",),
    ("datasets", "testing"),
    ("paper",),
    ("estimators", "cli"),
    ("demo", "__main__"),
)
LEVEL = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}


def room_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(module: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(module.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "juror":
            parts = node.module.split(".")[1:]
            names |= {parts[0]} if parts else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("juror.")}
    return names


def wrong_imports(module: Path) -> set[str]:
    here = LEVEL[room_of(module)]
    return {name for name in imported_rooms(module) if LEVEL[name] > here}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCE)))
def test_imports_go_one_way(module):
    if module != SOURCE / "__init__.py":
        assert wrong_imports(module) == set()


def test_a_wrong_import_would_be_found(tmp_path, monkeypatch):
    wrong = tmp_path / "domain.py"
    wrong.write_text("from juror.model import JointPMF\nfrom juror import fitting\nimport juror.errors\n")
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    assert wrong_imports(wrong) == {"model", "fitting"}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCE)))
def test_modules_stay_small(module):
    assert len(module.read_text().splitlines()) <= 400


def test_importing_juror_waits_for_what_is_slow():
    code = "import sys, juror; print([m for m in ('numba', 'pandas', 'sklearn', 'rich', 'typer') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
