"""The house rules that a machine can check: imports go one way, modules stay small, the library does not print."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import juror

SOURCE = Path(juror.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# From the data to the faces. A room may import from its own level and from those before it.
ROOMS = (
    ("errors", "progress", "record"),
    ("kernels",),
    ("readers", "runners"),
    ("domain",),
    ("rows", "counts", "files"),
    ("solvers",),
    ("answers",),
    ("model", "compare"),
    ("fitting", "datasets", "testing"),
    ("paper", "report", "plot", "estimators", "cli", "__main__"),
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


# What takes long to import. Tests look at modules, not at times, which depend on the machine.
SLOW = ("narwhals", "numba", "pandas", "pyarrow", "rich.console", "scipy", "sklearn", "typer")


def slow_modules_after(code: str, slow: tuple[str, ...]) -> list[str]:
    """Run code in a fresh process and return which of some modules it imported."""
    code += f"\nimport sys\nprint([module for module in {slow} if module in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("code", "slow"),
    [
        pytest.param("import juror", ("numpy", *SLOW), id="import"),
        pytest.param("from juror import JointPMF, load", ("juror.solvers", *SLOW), id="model"),
        pytest.param("from juror import Domain, FitInfo, Not, Range, Variable, datasets", SLOW, id="values"),
        pytest.param("from juror import PairCounts, Projections, TripleCounts, compare, fit", SLOW, id="fit"),
        pytest.param("import juror.cli", ("numpy", *(m for m in SLOW if m != "typer")), id="cli"),
    ],
)
def test_imports_wait_for_what_is_slow(code, slow):
    assert slow_modules_after(code, slow) == []


def test_a_slow_import_would_be_found():
    assert slow_modules_after("import typer", SLOW) == ["typer"]


def test_a_model_answers_without_what_is_slow(tmp_path):
    juror.JointPMF([0.6, 0.4], [[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.1], [0.3, 0.9]]]).save(tmp_path / "small.juror")
    asked = f"""
from juror.cli.app import app
app(["ask", {str(tmp_path / "small.juror")!r}, "x0 | x1 = 1"], standalone_mode=False)
"""
    assert slow_modules_after(asked, ("juror.solvers", *(m for m in SLOW if m != "typer"))) == []


def test_codes_need_neither_arrow_nor_narwhals():
    code = "import juror, numpy; juror.Domain.from_cardinalities([2, 2]).encode(numpy.array([[0, 1], [1, -1]]))"
    assert slow_modules_after(code, SLOW) == []


def test_frames_in_memory_are_opened_without_the_readers_of_others():
    code = "import juror, pandas; juror.Domain.infer(pandas.DataFrame({'a': [0, 1], 'b': ['x', 'y']}))"
    others = ("juror.runners.dask_runner", "juror.readers.spark_frames", "juror.readers.streams")
    assert slow_modules_after(code, others) == []


def test_public_names_are_where_type_checkers_look():
    tree = ast.parse((SOURCE / "__init__.py").read_text())
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name: node.module for node in block.body for alias in node.names}
    assert seen == juror._HOMES | dict.fromkeys(juror._MODULES, "juror")
    assert set(seen) < set(juror.__all__) <= set(dir(juror))
    for name, home in juror._HOMES.items():
        assert getattr(juror, name) is getattr(import_module(home), name)
    assert [getattr(juror, name).__name__ for name in juror._MODULES] == [f"juror.{name}" for name in juror._MODULES]
    with pytest.raises(AttributeError, match="module 'juror' has no attribute 'fitt'"):
        _ = juror.fitt


def test_files_are_read_without_pandas(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("size,colour,sold,price\n1,red,true,0.5\n,,,\n2,blue,false,1.5\n")
    assert slow_modules_after(f"import juror; juror.Domain.infer({str(path)!r})", ("numba", "pandas", "scipy")) == []
