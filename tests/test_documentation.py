"""Every block of the documentation runs, the site builds without a warning, and looks at nothing but itself."""

from __future__ import annotations

import ast
import itertools
import json
import re
import subprocess
import sys
from pathlib import Path
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

import pytest
from markdown_it import MarkdownIt
from sphinx.errors import SphinxError

import juror
import test_moments
from browser import open_browser
from juror.cli.output import write_frame
from juror.readers.files import TYPED
from juror.readers.suffixes import SUFFIXES
from juror.solvers.methods import METHODS
from pages import (
    ARCHITECTURE,
    CONTRIBUTING,
    FRONT,
    PAGES,
    ROOT,
    SITE,
    Block,
    BuiltPage,
    Shell,
    blocks_of,
    commands_of,
    far_of_style,
    matches,
    name_of,
)
from test_architecture import ROOMS as LEVELS

SOURCE = Path(juror.__file__).parent
# what a reader does before there is a juror to run
SETTING_UP = r"(git clone \S+|cd \S+|source \.venv/bin/activate|pip install \S.*|make (?P<target>[a-z-]+)( \w+=\S+)*)"
# what holds no code of its own; scripts that pages include are run by test_gallery.py
DIRECTIVES = {"{image}", "{juror-commands}", "{literalinclude}", "{math}", "{table}", "{toctree}"}
# fits that several pages begin with
FITS: dict[tuple[str, str], tuple[str, bytes]] = {}


def complaint(block: Block, targets: set[str]) -> str | None:
    """Say why no test runs a block, or None where one does or there is nothing to run."""
    if block.kind in CHECKS:
        return CHECKS[block.kind](block.text, targets)
    return None if block.kind.partition(" ")[0] in DIRECTIVES else f"no test runs blocks of the kind {block.kind!r}"


def _python(text: str, targets: set[str]) -> str | None:
    if not text.startswith(">>> "):
        return "it does not begin with a prompt, >>>"
    if not text.endswith("\n\n"):
        return "it needs an empty line at its end, or doctest takes the fence for output"
    return None


def _console(text: str, targets: set[str]) -> str | None:
    return None if text.startswith("$ ") else "it does not begin with a prompt, $"


def _text(text: str, targets: set[str]) -> str | None:
    return "it holds a prompt, so it is code" if re.search(r"^(>>> |\$ )", text, re.MULTILINE) else None


def _rst(text: str, targets: set[str]) -> str | None:
    return "it holds code, which nobody runs" if re.search(r"code-block::|code::|>>> ", text) else None


def _json(text: str, targets: set[str]) -> str | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return f"it is no JSON: {error}"
    return None


def _setting_up(text: str, targets: set[str]) -> str | None:
    for line in text.splitlines():
        found = re.fullmatch(SETTING_UP, line.partition("#")[0].strip())
        if not found:
            return f"{line!r} is none of the lines that a block of sh may have"
        if found["target"] and found["target"] not in targets:
            return f"make has no target {found['target']!r}"
    return None


CHECKS = {"python": _python, "console": _console, "text": _text, "json": _json, "sh": _setting_up, "{eval-rst}": _rst}


@pytest.fixture(scope="module")
def targets():
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_one_that_runs(page, targets):
    blocks = [block for block in blocks_of(page.read_text()) if page != CONTRIBUTING or block.kind != "python"]
    said = {block.line: complaint(block, targets) for block in blocks}
    assert {line: words for line, words in said.items() if words} == {}


def test_blocks_of_python_are_doctests_of_pytest(pytestconfig):
    assert {"README.md", "docs"} <= set(pytestconfig.getini("testpaths"))
    assert "--doctest-glob=*.md" in pytestconfig.getini("addopts")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("```python\nx = 1\n```\n", "it does not begin with a prompt, >>>"),
        ("```python\n>>> 1\n1\n```\n", "it needs an empty line at its end, or doctest takes the fence for output"),
        ("```console\njuror fit\n```\n", "it does not begin with a prompt, $"),
        ("```text\n>>> x\n```\n", "it holds a prompt, so it is code"),
        (
            "```json\n{…}\n```\n",
            "it is no JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
        ),
        ("```sh\nmake coffee\n```\n", "make has no target 'coffee'"),
        ("```sh\nrm -r docs\n```\n", "'rm -r docs' is none of the lines that a block of sh may have"),
        ("```bash\nls\n```\n", "no test runs blocks of the kind 'bash'"),
        ("- a list\n\n      indented = 1\n", "no test runs blocks of the kind ''"),
        ("```{code-block} python\nx = 1\n```\n", "no test runs blocks of the kind '{code-block} python'"),
        ("```{eval-rst}\n.. code-block:: python\n```\n", "it holds code, which nobody runs"),
        ("```{math}\nx\n```\n", None),
        ("```sh\nmake test   # all\npip install -e '.[plots]'\n```\n", None),
        ("```python\n>>> 1\n1\n\n```\n", None),
    ],
)
def test_a_block_that_nothing_runs_would_be_found(text, words):
    (block,) = blocks_of(text)
    assert complaint(block, {"test"}) == words


@pytest.mark.parametrize("page", [page for page in PAGES if "```console" in page.read_text()], ids=name_of)
def test_console_blocks_show_what_is_printed(page, tmp_path):
    (tmp_path / "demo").mkdir()
    write_frame(juror.datasets.titanic(), tmp_path / "demo" / "titanic.csv")
    shell = Shell(tmp_path, FITS)
    for block in blocks_of(page.read_text()):
        for command in commands_of(block.text) if block.kind == "console" else ():
            printed = shell.run(command.line)
            assert matches(command.shown, printed), f"{command.line}\nprints\n{printed}\nnot\n{command.shown}"


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a  \nb", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nd\n", True),
        ("a\n...\n", "a\nb\nc\n", True),
        ("…\nd\n", "b\nd\n", True),
        ("a\n…\nd\n", "a\nb\n", False),
        ("0.27…  yes", "0.2718  yes", True),
        ("0.27…  yes", "0.28  yes", False),
        ("a … c", "a b\nd c", False),
        ("wrote x after 2.5 s", "wrote x after 13.0 s", True),
        ("wrote x after 2.5 s", "wrote y after 2.5 s", False),
        ("", "", True),
        ("", "said something", False),
    ],
)
def test_what_is_shown_is_compared(shown, printed, same):
    assert matches(shown, printed) is same


def test_a_shell_pipes_and_writes_files(tmp_path):
    shell = Shell(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n" + "x,1\ny,2\n" * 20)
    assert shell.run("juror fit t.csv -o t.juror --rank 1 --method em").startswith(
        "A joint distribution of 2 variables"
    )
    assert shell.run("juror ask t.juror 'a | b = 1'").startswith("P(a | b = 1)\n")
    assert shell.run("juror ask t.juror 'a | b = 1' | head -n 1") == "a,probability,share,rows,differs\n"
    assert shell.run("juror ask t.juror a > a.csv") == ""
    assert shell.run("head -n 1 a.csv") == "a,probability,share,rows,differs\n"
    assert shell.run("juror ask t.juror c").startswith("juror: There is no variable 'c'.")


# --- pages for developers --------------------------------------------------------------------------------------------

EXAMPLES = [block for block in blocks_of(CONTRIBUTING.read_text()) if block.kind == "python"]


@pytest.fixture
def _as_before(monkeypatch):
    """Undo what the examples of CONTRIBUTING.md register."""
    monkeypatch.setattr(juror.JointPMF, "diversity", None, raising=False)
    with patch.dict(METHODS), patch.dict(SUFFIXES), patch.dict(TYPED):
        yield


def run_example(text: str, folder: Path) -> list[str]:
    """Run an example and the tests in it, each in a folder of its own; return the names of the tests."""
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(text, "CONTRIBUTING.md", "exec", dont_inherit=True), names)
    tests = {name: test for name, test in names.items() if name.startswith("test_")}
    for test in tests.values():
        test(folder) if test.__code__.co_argcount else test()
    return list(tests)


@pytest.mark.usefixtures("_as_before")
@pytest.mark.parametrize("block", EXAMPLES, ids=["method", "reader", "answer"])
def test_examples_for_contributors_run_as_they_are_printed(block, tmp_path):
    assert len(block.text.splitlines()) <= 40
    assert run_example(block.text, tmp_path)


@pytest.mark.usefixtures("_as_before")
def test_the_example_of_a_method_keeps_the_contract(tmp_path):
    before, contract = set(METHODS), test_moments.TestContract()
    run_example(EXAMPLES[0].text, tmp_path)
    (method,) = set(METHODS) - before
    with patch.dict(test_moments.SHORT, {method: {"max_iter": 60}}):
        contract.test_a_fit_is_a_model_with_its_record(method, tmp_path)
        contract.test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(method)
        contract.test_whole_weights_are_repeated_rows(method)
        contract.test_variables_of_one_label_are_no_trouble(method)
        contract.test_smoothing_leaves_no_zero_and_none_leaves_what_was_found(method)
        contract.test_progress_is_told(method)
        contract.test_an_option_of_another_method_is_refused(method)


def test_an_example_that_is_wrong_would_be_found(tmp_path):
    with pytest.raises(AssertionError):
        run_example("def test_it():\n    assert 1 == 2\n", tmp_path)
    with pytest.raises(NameError):
        run_example("nobody\n", tmp_path)
    assert run_example("x = 1\n", tmp_path) == []


@pytest.mark.parametrize("page", FRONT, ids=name_of)
def test_links_of_the_front_pages_lead_somewhere(page):
    inlines = [token for token in MarkdownIt().enable("table").parse(page.read_text()) if token.type == "inline"]
    links = [child.attrs["href"] for token in inlines for child in token.children if child.type == "link_open"]
    assert links
    assert [link for link in links if not leads_somewhere(link)] == []


def leads_somewhere(link: str) -> bool:
    """Say whether a link leads to a file of the repository, and to a heading of it where it names one."""
    path, _, anchor = link.partition("#")
    if not (ROOT / path).exists():
        return False
    headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.MULTILINE) if anchor else []
    return not anchor or anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_a_link_that_leads_nowhere_would_be_found():
    assert leads_somewhere("docs/speed.md#pair-and-triple-counts")
    assert not leads_somewhere("docs/speed.md#pears")
    assert not leads_somewhere("docs/sped.md")


def test_the_readme_is_a_front_door():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 150
    assert "make demo" in text
    assert "make test" in text


def test_the_map_of_the_package_is_true():
    page = ARCHITECTURE.read_text()
    table = page.partition("## The rooms")[2].partition("## ")[0]
    rooms = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", table, re.MULTILINE)
    assert [tuple(re.findall(r"\w+", room)) for room in rooms] == list(LEVELS)
    modules = set(re.findall(r"`((?:\w+/)*\w+\.(?:py|js))`", page))
    assert len(modules) > 30
    assert [name for name in modules if not any((base / name).exists() for base in (SOURCE, ROOT))] == []


# --- the site --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built as ``make docs`` builds it."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "cache")]
    done = subprocess.run([*build, "docs", str(folder / "html")], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "html"


def test_the_site_fetches_nothing_from_afar(site):
    far = {str(page.relative_to(site)): BuiltPage(page.read_text()).far for page in site.rglob("*.html")}
    far |= {str(sheet.relative_to(site)): far_of_style(sheet.read_text()) for sheet in site.rglob("*.css")}
    assert {name: addresses for name, addresses in far.items() if addresses} == {}


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/mathjax.js"></script>',
        '<link rel="stylesheet" href="//fonts.example/inter.css">',
        '<img src="http://example.org/badge.svg">',
        "<style>@import 'https://fonts.example/a.css';</style>",
        '<p style="background: url(https://example.org/x.png)">',
    ],
)
def test_what_is_fetched_from_afar_would_be_found(text):
    assert BuiltPage(text).far
    assert not BuiltPage(text.replace("https:", "").replace("http:", "").replace("//", "_static/")).far


def test_every_page_is_reached_from_the_first(site):
    seen, ahead = set(), {site / "index.html"}
    while ahead:
        page = ahead.pop()
        seen.add(page)
        for link in BuiltPage(page.read_text()).links:
            address = urlsplit(link)
            if not address.scheme and not address.netloc and address.path.endswith(".html"):
                found = (page.parent / unquote(address.path)).resolve()
                assert found.exists(), f"{page} leads to {link}, which is not there"
                ahead |= {found} - seen
    pages = {site / page.relative_to(ROOT / "docs").with_suffix(".html") for page in SITE}
    assert pages - seen == set()


def test_mathematics_is_drawn_by_the_browser(site):
    page = (site / "mathematics.html").read_text()
    assert page.count("<math ") > 50
    assert "MathJax" not in page
    assert "\\lambda" not in page


def test_a_command_of_tex_that_nobody_knows_stops_the_build(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    from mathml import mathml

    assert mathml(r"\lambda_f", display=False).endswith("<msub><mi>&#x003BB;</mi><mi>f</mi></msub></mrow></math>")
    with pytest.raises(SphinxError, match=r"The formula '.*' holds '.*nonsense', which latex2mathml does not know."):
        mathml(r"x + \nonsense{y}", display=True)


# on a page, what is wider than the box around it, and whether that box scrolls
CUT = """() => [...document.querySelectorAll("article *")]
  .filter((e) => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== "inline")
  .filter((e) => !e.closest("math") && getComputedStyle(e).overflowX !== "visible")
  .map((e) => [e.className, getComputedStyle(e).overflowX])"""


def test_on_a_phone_nothing_is_cut_and_in_the_dark_the_portrait_is_dark(site):
    with open_browser() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        cut = {}
        for name in ("index", "mathematics", "guides/report", "api/command-line", "api/model", "gallery/index"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
            cut[name] = page.evaluate(CUT)
        assert {how for boxes in cut.values() for _, how in boxes} <= {"auto"}
        assert cut["api/command-line"] == cut["gallery/index"] == []
        page.goto((site / "mathematics.html").as_uri())
        first = page.locator("div.math.formula > div").first
        assert first.evaluate("e => e.scrollWidth <= e.clientWidth")
        page.set_content(
            '<article><p style="overflow: hidden; width: 50px; text-wrap: nowrap">a long line</p></article>'
        )
        assert page.evaluate(CUT) == [["", "hidden"]]
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme=theme)
            page.goto((site / "index.html").as_uri())
            seen = [image.get_attribute("src") for image in page.locator("article img:visible").all()]
            assert seen == [f"_images/{theme}.png"]


def test_the_api_has_every_public_name(site):
    shown = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    anchors = set(re.findall(r'id="(juror[\w.]*)"', shown))
    modules = [name for name in juror.__all__ if getattr(juror, name).__class__.__name__ == "module"]
    wanted = {f"juror.{name}" for name in juror.__all__ if name not in modules}
    for name in modules:
        wanted |= {f"juror.{name}.{inner}" for inner in public_of(getattr(juror, name))}
    wanted |= {f"juror.JointPMF.{name}" for name in dir(juror.JointPMF) if not name.startswith("_")}
    assert wanted - anchors == set()


def test_the_pages_of_model_and_pictures_begin_with_all_that_they_have(site):
    names = [name for name in dir(juror.JointPMF) if name[0] != "_" and callable(getattr(juror.JointPMF, name))]
    methods = {f"JointPMF.{name}" for name in names}
    for page, wanted in (("model", methods), ("plot", {f"plot.{name}" for name in juror.plot.__all__})):
        lines = overview_of((site / "api" / f"{page}.html").read_text())
        assert set(lines) == {f"juror.{name}" for name in wanted}
        assert [name for name, words in lines.items() if len(words.split()) < 2] == []


def overview_of(page: str) -> dict[str, str]:
    """Return the names that tables of a page above its class lead to, and the line beside each."""
    tables = "".join(re.findall(r'<table class="autosummary.*?</table>', page, re.DOTALL))
    rows = re.findall(r'href="#([\w.]+)".*?</td>\s*<td>(.*?)</td>', tables, re.DOTALL)
    return {name: re.sub("<[^>]*>", "", words) for name, words in rows}


def test_an_overview_is_read():
    row = '<tr class="a"><td><p><a href="#juror.f"><code>f</code></a></p></td>\n<td><p>Do <b>it</b>.</p></td>\n</tr>'
    table = f'<table class="autosummary longtable">{row}</table><table><a href="#g"></a></table>'
    assert overview_of(table) == {"juror.f": "Do it."}


def test_the_guide_to_the_report_names_what_is_on_the_page():
    guide = (ROOT / "docs" / "guides" / "report.md").read_text()
    assets = [path for path in (SOURCE / "report" / "assets").iterdir() if path.suffix in (".js", ".html")]
    page = " ".join(" ".join(path.read_text() for path in assets).lower().split())
    names = [name.lower() for name in in_italics(guide) if len(name.split()) < 6]
    assert len(names) > 15
    assert [name for name in names if name not in page] == []


def in_italics(text: str) -> list[str]:
    """Return what stands in italics in a page, on one line each."""
    inlines = [token for token in MarkdownIt().parse(text) if token.type == "inline"]
    children = [(child, after) for token in inlines for child, after in itertools.pairwise(token.children)]
    return [after.content for child, after in children if child.type == "em_open"]


def test_italics_are_found():
    assert in_italics("See *one thing* and **two**, `a * b * c`.\n\n- *Three.*\n") == ["one thing", "Three."]


def public_of(module) -> list[str]:
    """Return the public names of a module: those of ``__all__``, or the functions that are its own."""
    own = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == module.__name__]
    return list(getattr(module, "__all__", [name for name in own if name[0] != "_" and name[0].islower()]))


def test_the_page_of_the_command_line_has_every_option(site, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs" / "_extensions")
    from commands import commands, record

    page = (site / "api" / "command-line.html").read_text()
    for name, command in commands().items():
        assert f"juror {name}" in page
        for parameter in command.params:
            assert all(option in page for option in parameter.opts if option.startswith("-")), parameter.name
    fit = commands()["fit"]
    assert record(fit.params[1], fit) == ("-o, --output FILE", "Where to write the model. Needed.")


# --- symbols ---------------------------------------------------------------------------------------------------------

ROOMS = ("solvers", "counts", "rows", "kernels")
GREEK_NAMES = {"lam", "rho", "eta", "alpha", "beta", "gamma", "theta", "mu", "tau", "phi", "sigma", "kappa", "epsilon"}


def letters_of(source: str) -> set[str]:
    """Return names of one letter and Greek ones written out that a module binds or reads, and Greek letters."""
    tree = ast.parse(source)
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names |= {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
    }
    bound = {name for name in names if (len(name) == 1 and name != "_") or name in GREEK_NAMES}
    return bound | set(re.findall(r"[α-ωϕ]", source))


def symbols() -> list[tuple[set[str], set[str]]]:
    """Return, for every row of the tables of symbols, the names in its first cell and the places in its last."""
    text = (ROOT / "docs" / "mathematics.md").read_text().partition("## Every symbol of the code\n")[2]
    tables = MarkdownIt().enable("table").parse(text)
    rows, cells = [], []
    for at, token in enumerate(tables):
        if token.type == "tr_open":
            cells = []
        elif token.type == "td_open":
            cells.append({child.content for child in tables[at + 1].children if child.type == "code_inline"})
        elif token.type == "tr_close" and cells:
            rows.append((cells[0], cells[-1]))
    return rows


@pytest.mark.parametrize("room", ROOMS)
def test_every_symbol_of_the_code_is_in_the_table(room):
    rows, unknown = symbols(), {}
    for module in sorted((SOURCE / room).rglob("*.py")):
        place = str(module.relative_to(SOURCE).with_suffix(""))
        for letter in letters_of(module.read_text()):
            if not any(letter in names and covers(places, place) for names, places in rows):
                unknown.setdefault(place, set()).add(letter)
    assert unknown == {}


def covers(places: set[str], place: str) -> bool:
    """Say whether places, rooms or modules, hold a module."""
    return any(place == known or place.startswith(f"{known}/") for known in places)


def test_every_row_of_the_table_is_in_the_code():
    for names, places in symbols():
        used = {place: {name for name in names if stands_in(name, source_of(place))} for place in places}
        assert [place for place, found in used.items() if not found] == [], names
        assert set().union(*used.values()) == names, places


def source_of(place: str) -> str:
    """Return the source of a module, or of all modules in a room."""
    module = SOURCE / f"{place}.py"
    return "\n".join(path.read_text() for path in ([module] if module.exists() else (SOURCE / place).rglob("*.py")))


def stands_in(name: str, source: str) -> bool:
    """Say whether a source has a name; letters of the alphabet are also parts of words, Greek ones are not."""
    return re.search(rf"(?<![a-zA-Z]){name}(?![a-zA-Z])" if name.isascii() else name, source) is not None


def test_letters_of_a_module_are_found():
    code = 'def f(Z, lam, names):\n    "x ∈ Ω, with ρ"\n    q: int = 1\n    return [n for n in names]\n'
    assert letters_of(code) == {"Z", "lam", "q", "n", "ρ"}
    assert covers({"solvers/em", "kernels"}, "kernels/jit/passes")
    assert not covers({"solvers/em"}, "solvers/embers")


# --- how the solvers compare -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("page", "part"), [("docs/solvers.md", ""), ("README.md", "## How good and how fast it is")])
def test_figures_of_the_comparison_are_measured_ones(page, part):
    pages = [(ROOT / "docs" / f"{name}.md").read_text() for name in ("accuracy", "judges", "paper", "speed", "scale")]
    measured = {figure for page in pages for figure in re.findall(r"\d+\.\d+", page)}
    shown = (ROOT / page).read_text()
    shown = shown.partition(part)[2] if part else shown
    assert re.findall(r"\d+\.\d+", shown)
    assert set(re.findall(r"\d+\.\d+", shown)) - measured == set()


def test_the_comparison_has_every_option():
    table = (
        (ROOT / "docs" / "solvers.md").read_text().partition("The options of each method:\n\n")[2].partition("\n\n")[0]
    )
    rows = [line.split("|") for line in table.splitlines()[2:]]
    told = {
        method: set(re.findall(r"`(\w+)`", options))
        for _, methods, options, *_ in rows
        for method in re.findall(r"`([a-z-]+)`", methods)
    }
    assert told == {name: set(method.option_names) for name, method in METHODS.items()}
