"""Text that is printed: control characters are shown, not obeyed, and no state of stdout or stderr is a bug."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import juror
from juror.cli.bar import progress_bar, reading
from juror.errors import DataError
from juror.printing import one_line, printable
from juror.progress import Progress

CLEAR, TITLE, CSI, TURNED = "\x1b[2J", "\x1b]0;owned\x07", "\x9b31m", "\u202egnp.exe"
NAME, OTHER = f"co{CLEAR}lour", f"si{TITLE}ze{CSI}"
LABELS = [f"r{CLEAR}ed", f"b{TITLE}lue\r", f"t{CSI}eal\x7f", f"{TURNED}\x00\n\tjuror: fake"]
# All but the line break, which lays out tables
CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=400)
    other = np.where(rng.random(400) < 0.9, codes, rng.integers(0, 4, size=400))
    return pd.DataFrame({NAME: np.array(LABELS)[codes], OTHER: np.array(LABELS)[other], "z": codes % 2})


@pytest.fixture(scope="module")
def model(table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return juror.fit(table, rank=2, target=NAME, max_iter=20, method="em")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, table, model):
    folder = tmp_path_factory.mktemp("terminals")
    model.save(folder / "m.juror")
    juror.PairCounts.of(table).save(folder / "c.counts")
    table.to_parquet(folder / "t.parquet")
    return folder


def test_the_library_prints_no_control_characters(model, table):
    question = f'"{NAME}" | z = 1'
    evidence = {OTHER: LABELS[:2]}
    texts = {
        "summary": model.summary(),
        "repr": repr(model),
        "ask": str(model.ask(question)),
        "pair": str(model.marginal(NAME, OTHER)),
        "given": str(model.marginal(NAME, given=evidence)),
        "support": str(model.ask(question).support),
        "interval": str(model.interval(question)),
        "check": str(model.check()),
        "check of rows": str(model.check(table)),
        "dependence": str(model.dependence()),
        "conditioned": model.condition(evidence).summary(),
        "domain": repr(model.domain),
        "mode": repr(model.mode()),
        "counts": repr(model.counts),
        "report": repr(juror.Report(model)),
    }
    for what, text in texts.items():
        assert not CONTROL.search(text), what
        # a line break in a label cannot begin a line
        assert not re.search("^.?juror: fake", text, re.MULTILINE), what
    assert r"r\x1b[2Jed" in texts["ask"]
    assert r"co\x1b[2Jlour" in texts["summary"]


def test_errors_and_warnings_print_no_control_characters(model, table):
    asked = [
        lambda: model.ask(f'"{NAME}" | z = {CLEAR}'),
        lambda: model.ask(f"{CLEAR}{TITLE}"),
        lambda: model.marginal(f"{OTHER}!"),
        lambda: model.prob({NAME: f"{CSI}{TURNED}"}),
        lambda: juror.fit(f"no{CLEAR}.csv"),
        lambda: juror.load(f"no{CLEAR}.juror"),
        lambda: model.save(f"no{CLEAR}/x.juror"),
    ]
    for ask in asked:
        with pytest.raises(juror.JurorError) as caught:
            ask()
        assert not CONTROL.search(str(caught.value))
    assert str(DataError("{label}, {other!r}", label=CLEAR, other=CLEAR)) == r"\x1b[2J, '\x1b[2J'"
    with pytest.warns(juror.DataWarning) as told:
        juror.fit(pd.DataFrame({NAME: [LABELS[0]] * 9, "z": list("abcabcabc")}), rank=1, method="em")
    assert not any(CONTROL.search(str(each.message)) for each in told)


LINES = [
    "info m.juror",
    "info m.juror --json",
    "info c.counts",
    "info c.counts --json",
    "check m.juror",
    "check m.juror --json",
    "sample m.juror",
    "sample m.juror --json",
    "predict m.juror t.parquet --proba",
    "impute m.juror t.parquet",
    "fit t.parquet -o new.juror --rank 2",
    "count t.parquet -o new.counts",
    "merge c.counts new.counts -o both.counts",
    "ask m.juror z,QUESTION",
    "ask m.juror QUESTION --json",
    "ask m.juror QUESTION --interval 0.9",
    "ask m.juror QUESTION|z=HOSTILE",
    "info HOSTILE",
    "fit HOSTILE.csv -o new.juror",
    "fit t.parquet -o HOSTILE.juror --rank 2",
]


def words(line: str) -> list[str]:
    hostile = {"QUESTION": f'"{NAME}"', "HOSTILE": CLEAR + TITLE}
    return [re.sub("QUESTION|HOSTILE", lambda word: hostile[word[0]], each) for each in line.split()]


@pytest.mark.parametrize("line", LINES)
def test_commands_print_no_control_characters_on_a_terminal(run, folder, monkeypatch, line):
    (folder / "new.counts").write_bytes((folder / "c.counts").read_bytes())
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    _, out, err = run(*words(line))
    assert not CONTROL.search(out + err)
    assert out + err


def test_data_for_other_programs_are_exact(run, folder, model, table):
    expected = model.ask(f'"{NAME}"').to_dict()
    _, out, _ = run("ask", "m.juror", f'"{NAME}"', "--json")
    assert not CONTROL.search(out)
    assert [row[NAME] for row in json.loads(out)] == expected[NAME]
    _, out, _ = run("sample", "m.juror", "-n", "50")
    (folder / "drawn.csv").write_text(out, newline="")
    drawn = model.domain.encode(str(folder / "drawn.csv"))
    assert drawn.tolist() == model.domain.encode(model.sample(50)).tolist()


def test_progress_shows_no_control_characters(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "dumb")
    with reading(f"[/red]{CLEAR}{TITLE}"):
        pass
    with progress_bar(f"[/red]{CLEAR}") as progress:
        progress(Progress(f"[/x]{TITLE}", 3, 1, 1, 1, 10))
    assert not re.search("\x1b\\[2J|\x1b]0|\x07", capsys.readouterr().err)


def test_other_text_is_printed_as_it_is():
    text = "größe – λ × … 日本 می\u200cخواهم 👩\u200d🔬 עברית\u200f\n\\x1b"
    assert printable(text) == text
    assert one_line("a\nb\tc") == r"a\nb\tc"
    assert printable("\x1b\x9b\u202e\ud800\r") == r"\x1b\x9b\u202e\ud800\r"


def test_commands_print_in_one_place():
    source = Path(juror.__file__).parent / "cli"
    for module in sorted(source.glob("*.py")):
        tree = ast.parse(module.read_text())
        used = {
            f"{n.value.id}.{n.attr}" for n in ast.walk(tree) if isinstance(n, ast.Attribute) and hasattr(n.value, "id")
        }
        if module.name != "terminal.py":
            assert not used & {"sys.stdout", "sys.stderr", "typer.echo"}, module.name


# stdout and stderr as shells make them


def shell(folder: Path, line: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line of shell with ``juror`` and the tests' Python; return what is left of stdout and stderr."""
    command = f'juror() {{ "{sys.executable}" -m juror "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | environment, capture_output=True, timeout=120, check=False
    )


def test_closed_streams(folder):
    done = shell(folder, "juror ask m.juror z >&-")
    assert (done.returncode, done.stderr) == (
        2,
        b"juror: The result goes to stdout, and stdout is closed. Open it, or name a file with --output.\n",
    )
    done = shell(folder, "juror ask m.juror z 2>&-")
    assert (done.returncode, done.stdout[:14]) == (0, b"z,probability,")
    # an error without a place to tell it is still an error
    assert shell(folder, "juror ask m.juror nothing 2>&-").returncode == 2
    assert shell(folder, "juror info nothing >&- 2>&-").returncode == 2
    # a command that writes a file need not tell
    (folder / "both.counts").write_bytes((folder / "c.counts").read_bytes())
    done = shell(folder, "juror merge c.counts both.counts -o new.counts >&- 2>&-")
    assert (done.returncode, (folder / "new.counts").exists()) == (0, True)


def test_a_reader_that_goes_away(folder):
    done = shell(folder, "juror sample m.juror -n 100000 | head -n 1; exit ${PIPESTATUS[0]}")
    # as a program that the signal SIGPIPE ended
    assert (done.returncode, done.stderr) == (141, b"")
    assert done.stdout.count(b"\n") >= 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("command", ["ask m.juror z", "info m.juror", "info m.juror --json", "--version"])
def test_a_full_device(folder, command):
    done = shell(folder, f"juror {command} > /dev/full")
    assert (done.returncode, done.stderr) == (2, b"juror: Cannot write to stdout: No space left on device.\n")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_terminal_that_cannot_show_all_letters(folder, tmp_path, encoding):
    table = pd.DataFrame({"größe": ["日本", "é", "█"] * 20, "b": ["…", "x", "y"] * 20})
    juror.fit(table, rank=1, method="em").save(tmp_path / "wide.juror")
    printed = {}
    for line in ("info wide.juror", "ask wide.juror nothing", "info wide.juror --json", "sample wide.juror -n 3"):
        done = shell(tmp_path, f"juror {line}", PYTHONIOENCODING=encoding)
        assert done.returncode == (2 if "nothing" in line else 0), done.stderr
        assert b"bug" not in done.stderr
        printed[line] = done.stdout
    # text for people is escaped, and data are UTF-8
    assert rb"\u65e5\u672c" in printed["info wide.juror"]
    assert "日本" in json.loads(printed["info wide.juror --json"].decode())["variables"][0]["labels"]


def test_no_memory_is_no_bug(run, monkeypatch):
    def too_large(*_, **__):
        raise MemoryError("Unable to allocate 6.77 GiB for an array with shape (20000, 45461)")

    monkeypatch.setattr("juror.cli.score.opened_for", too_large)
    status, _, err = run("score", "m.juror", "t.parquet")
    assert status == 2
    assert err == (
        "juror: This takes more memory than there is (Unable to allocate 6.77 GiB for an array with shape (20000, "
        "45461)). Pass fewer rows at once, or fit a model of fewer labels or classes.\n"
    )
