"""The house rules that a machine can check: imports go one way, modules stay small, the library does not print."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import juror

SOURCE = Path(juror.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

# From the data to the faces. A room may import from its own level and from those before it.
ROOMS = (
    ("credentials", "errors", "printing", "progress", "record"),
    ("kernels", "runners"),
    ("readers",),
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


def test_there_are_at_most_ten_levels():
    assert len(ROOMS) <= 10


# juror.kernels.jit has a compiled twin of each kernel in juror.kernels.reference, under the same name.
TWINS = ("kernels/jit/", "kernels/reference/")


def repeated(named: list[tuple[str, Path]]) -> set[str]:
    """Return the names that two modules share; the twins of kernels count once."""
    places = {(name, str(module.relative_to(SOURCE)).replace(*TWINS)) for name, module in named}
    return {name for name, n in Counter(name for name, _ in places).items() if n > 1}


def module_names(modules: list[Path]) -> list[tuple[str, Path]]:
    return [(module.name, module) for module in modules if module.name != "__init__.py"]


def public_classes(modules: list[Path]) -> list[tuple[str, Path]]:
    return [
        (node.name, module)
        for module in modules
        for node in ast.parse(module.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    ]


def test_a_module_name_has_one_meaning():
    assert repeated(module_names(MODULES)) == set()


def test_a_class_name_has_one_meaning():
    assert repeated(public_classes(MODULES)) == set()


def test_a_repeated_name_would_be_found(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "SOURCE", tmp_path)
    modules = []
    for name in ("a/rows.py", "b/rows.py", "b/other.py", "kernels/jit/x.py", "kernels/reference/x.py"):
        modules.append(tmp_path / name)
        modules[-1].parent.mkdir(parents=True, exist_ok=True)
        modules[-1].write_text("class Tables: ...\n" if "kernels" in name else "class Query: ...\nclass _Bins: ...\n")
    assert repeated(module_names(modules)) == {"rows.py"}
    assert repeated(public_classes(modules)) == {"Query"}


def dotted(module: Path) -> str:
    """Return the dotted name of a module."""
    parts = module.relative_to(SOURCE).with_suffix("").parts
    return ".".join(("juror", *(parts[:-1] if parts[-1] == "__init__" else parts)))


def imports(node: ast.AST, modules: set[str], local: bool = False) -> Iterator[tuple[str, bool]]:
    """Yield the juror modules that a tree imports at run time, each with whether a function does so when called."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and isinstance(child.test, ast.Name) and child.test.id == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module:
            names = (f"{child.module}.{alias.name}" for alias in child.names)
            yield from ((name if name in modules else child.module, local) for name in names)
        elif isinstance(child, ast.Import):
            yield from ((alias.name, local) for alias in child.names)
        yield from imports(child, modules, local or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef))


def import_graph(sources: dict[str, str], *, local: bool) -> dict[str, set[str]]:
    """Return which modules each module imports, also the packages they are in; with or without local imports."""
    graph = {}
    for name, source in sources.items():
        targets = set()
        for target, is_local in imports(ast.parse(source), set(sources)):
            parts = target.split(".")
            around = {".".join(parts[:n]) for n in range(1, len(parts) + 1)}
            targets |= {module for module in around if local or not is_local if not f"{name}.".startswith(f"{module}.")}
        graph[name] = targets & set(sources)
    return graph


def reached(graph: dict[str, set[str]], start: str) -> set[str]:
    """Return the modules that importing a module imports in the end."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = graph[ahead.pop()] - found
        found |= new
        ahead += new
    return found


def cycles(sources: dict[str, str]) -> set[str]:
    """Return the modules that import themselves by way of others, all at module level."""
    graph = import_graph(sources, local=False)
    return {name for name in graph if name in reached(graph, name)}


def hidden_cycles(sources: dict[str, str]) -> set[tuple[str, str]]:
    """Return the imports in functions, from and of what, that would close a cycle if all were at module level."""
    whole, at_module_level = import_graph(sources, local=True), import_graph(sources, local=False)
    late = {(name, target) for name in whole for target in whole[name] - at_module_level[name]}
    return {(name, target) for name, target in late if name in reached(whole, target)}


SOURCES = {dotted(module): module.read_text() for module in MODULES}


def test_no_modules_import_each_other():
    assert cycles(SOURCES) == set()


def test_no_import_in_a_function_hides_a_cycle():
    """An import may wait in a function because it is slow, not because it would close a cycle at module level."""
    assert hidden_cycles(SOURCES) == set()


def test_a_cycle_would_be_found():
    package = {"juror": "", "juror.b": "from juror.b.inner import x", "juror.b.inner": "import juror.c"}
    back = "from juror import a"
    sound = package | {"juror.a": "import juror.b.inner", "juror.c": f"if TYPE_CHECKING:\n    {back}\n"}
    assert cycles(sound) == set()
    assert hidden_cycles(sound) == set()
    plain = sound | {"juror.c": f"try:\n    {back}\nexcept ImportError:\n    pass\n"}
    assert cycles(plain) == {"juror.a", "juror.b", "juror.b.inner", "juror.c"}
    assert hidden_cycles(plain) == set()
    late = sound | {"juror.c": f"def f():\n    {back}\n"}
    assert cycles(late) == set()
    assert hidden_cycles(late) == {("juror.c", "juror.a")}


def test_only_its_command_imports_the_paper():
    users = {str(m.relative_to(SOURCE)) for m in MODULES if "paper" in imported_rooms(m) and room_of(m) != "paper"}
    assert users == {"__init__.py", "cli/paper.py"}


def test_an_import_of_the_paper_would_be_found(tmp_path):
    module = tmp_path / "curves.py"
    module.write_text("def draw():\n    from juror.paper.settings import MEASURES\n")
    assert imported_rooms(module) == {"paper"}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCE)))
def test_modules_stay_small(module):
    assert len(module.read_text().splitlines()) <= 400


def hand_made_generators(sources: dict[str, str]) -> set[str]:
    """Return the modules that make random numbers from a list of numbers."""
    made = ("default_rng([", "SeedSequence(")
    return {name for name, source in sources.items() if any(call in source for call in made)}


def test_random_streams_are_in_one_list():
    assert hand_made_generators(SOURCES) == {"juror.kernels.random_streams"}


def test_a_hand_made_generator_would_be_found():
    sources = {"juror.a": "rng = np.random.default_rng([seed, 7])", "juror.b": "rng = np.random.default_rng(seed)"}
    sources["juror.c"] = "key = np.random.SeedSequence([seed, 11]).generate_state(1)"
    assert hand_made_generators(sources) == {"juror.a", "juror.c"}


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
