"""Helpers for tests of the documentation: blocks of code, console commands, and the built HTML pages."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

from markdown_it import MarkdownIt

from juror.cli import main

ROOT = Path(__file__).parents[1]
# Pages for developers, which no site shows; the Python in CONTRIBUTING.md is code of the package and has no prompts
CONTRIBUTING, ARCHITECTURE = ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md"
FRONT = [ROOT / "README.md", CONTRIBUTING, ARCHITECTURE, ROOT / "CHANGELOG.md"]
SITE = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*FRONT, *SITE]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@dataclass(frozen=True)
class Block:
    """A fenced block: its kind (the word after the fence), its text, and the line of the fence."""

    kind: str
    text: str
    line: int


@dataclass(frozen=True)
class Command:
    """A command of a console block, and the output shown below it."""

    line: str
    shown: str


def blocks_of(text: str) -> list[Block]:
    """Return all blocks of code in a page; indented ones have no kind."""
    tokens = [token for token in MarkdownIt().parse(text) if token.type in ("fence", "code_block")]
    return [
        Block(token.info.strip() if token.type == "fence" else "", token.content, token.map[0] + 1) for token in tokens
    ]


def commands_of(text: str) -> list[Command]:
    """Return the commands of a console block. A line that ends in a backslash continues on the next."""
    commands: list[Command] = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        line, _, shown = part.replace("\\\n", "").partition("\n")
        commands.append(Command(line, shown))
    return commands


def matches(shown: str, printed: str) -> bool:
    """Say whether the printed text matches the shown one; … and ... match anything, seconds match any seconds."""
    tidy = [re.sub(r"\bafter [\d.]+ s\b", "after 1 s", _tidy(text)) for text in (shown, printed)]
    # On a line of its own … matches any number of lines.
    pattern = re.escape(tidy[0]).replace(re.escape("..."), "…")
    pattern = re.sub(r"^…(\n|\Z)", r"(?s:.*?)\1?", pattern.replace("\\\n", "\n"), flags=re.MULTILINE)
    return re.fullmatch(pattern.replace("…", ".*?"), tidy[1]) is not None


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


class _Screen(io.TextIOWrapper):
    """An output stream for a command: a terminal or not."""

    def __init__(self, buffer: io.BytesIO, *, terminal: bool):
        super().__init__(buffer, encoding="utf-8", write_through=True)
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


@contextmanager
def _inside(folder: Path):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


@dataclass
class Shell:
    """Run the commands of a page, one after the other, in one folder.

    ``juror`` runs in this process, everything else in a shell. A fit of the same bytes by the same command is made only
    once, because many pages begin with the same fit.
    """

    folder: Path
    made: dict[tuple[str, str], tuple[str, bytes]] = field(default_factory=dict)

    def run(self, line: str) -> str:
        """Run a line and return what a terminal would show."""
        words = shlex.split(line)
        if words[0] != "juror":
            return self._in_a_shell(line)
        ends = [at for at, word in enumerate(words) if word in ("|", ">")]
        if not ends:
            return self._fit_once(line, words) if words[1] == "fit" else self._juror(words[1:])
        end = ends[0]
        out, err = self._juror_apart(words[1:end])
        if words[end] == ">":
            (self.folder / words[end + 1]).write_bytes(out)
            return err
        return err + self._in_a_shell(_behind_pipe(line), out)

    def _fit_once(self, line: str, words: list[str]) -> str:
        data, output = self.folder / words[2], self.folder / words[words.index("-o") + 1]
        key = (line, sha256(data.read_bytes()).hexdigest() if data.is_file() else str(self.folder))
        if key not in self.made:
            printed = self._juror(words[1:])
            self.made[key] = (printed, output.read_bytes() if output.exists() else b"")
        printed, written = self.made[key]
        if written:
            output.write_bytes(written)
        return printed

    def _juror(self, arguments: list[str]) -> str:
        both = io.BytesIO()
        self._call(arguments, _Screen(both, terminal=True), _Screen(both, terminal=False))
        return both.getvalue().decode()

    def _juror_apart(self, arguments: list[str]) -> tuple[bytes, str]:
        out, err = io.BytesIO(), io.BytesIO()
        self._call(arguments, _Screen(out, terminal=False), _Screen(err, terminal=False))
        return out.getvalue(), err.getvalue().decode()

    def _call(self, arguments: list[str], out: _Screen, err: _Screen) -> None:
        with _inside(self.folder), redirect_stdout(out), redirect_stderr(err):
            try:
                main(arguments)
            except SystemExit as end:
                status = end.code
        # 2 is a user's mistake, which a page may show. 1 is a bug.
        assert status in (0, 2), err.buffer.getvalue().decode()
        # Otherwise the garbage collector closes the buffer that both share.
        out.detach()
        err.detach()

    def _in_a_shell(self, line: str, given: bytes | None = None) -> str:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "-c", line],
            cwd=self.folder,
            env={**os.environ, "PATH": path},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0, done.stdout.decode()
        return done.stdout.decode()


def _behind_pipe(line: str) -> str:
    """Return the text after the first pipe of the shell; a bar in quotes belongs to a question."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "|":
            return line[at + 1 :]
    raise ValueError(f"There is no pipe in {line!r}.")


# Attributes that make a browser fetch something
FETCHED = {"src", "srcset", "data", "poster", "background", "xlink:href"}
LINKS_THAT_FETCH = {
    "stylesheet",
    "icon",
    "preload",
    "prefetch",
    "modulepreload",
    "preconnect",
    "dns-prefetch",
    "manifest",
}
FAR = re.compile(r"^(https?:)?//")


class BuiltPage(HTMLParser):
    """The external addresses that a page fetches, and the pages that it links to."""

    def __init__(self, text: str):
        super().__init__()
        self.far: list[str] = []
        self.links: list[str] = []
        self._style = False
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self._style = tag == "style"
        fetched = [given[name] for name in FETCHED & given.keys()]
        if tag == "link" and LINKS_THAT_FETCH & set(given.get("rel", "").split()):
            fetched.append(given.get("href", ""))
        if tag in ("use", "image"):
            fetched.append(given.get("href", ""))
        self.far += [address for address in fetched if FAR.match(address)]
        self.far += far_of_style(given.get("style", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])

    def handle_data(self, data):
        if self._style:
            self.far += far_of_style(data)


def far_of_style(text: str) -> list[str]:
    """Return the external addresses that a style sheet fetches."""
    return [a for a in re.findall(r"(?:url\(|@import)\s*['\"]?([^'\")\s;]+)", text) if FAR.match(a)]
