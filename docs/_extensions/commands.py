"""The directive ``juror-commands``: a section for every command, made from the application itself."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import typer
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.application import Sphinx

from juror.cli.app import app as application

_DEFAULT = re.compile(r"\s*\[(?:default: (?P<value>.*?)|(?P<required>required))\]$")
_TYPE = re.compile(r"<(\w+)>")
# what typer calls the type of a value, in the words of the command line
_KINDS = {"str": "TEXT", "int": "NUMBER", "float": "NUMBER", "path": "FILE"}


def commands() -> dict[str, Any]:
    """Return the commands by name, in the order of ``juror --help``."""
    return dict(typer.main.get_command(application).commands)


def record(parameter: Any, command: Any) -> tuple[str, str]:
    """Return how an argument or option is written, and what it does with its default.

    >>> record(commands()["fit"].params[1], commands()["fit"])
    ('-o, --output FILE', 'Where to write the model. Needed.')
    """
    context = command.make_context("juror", [], resilient_parsing=True)
    written, words = parameter.get_help_record(context)
    written = re.sub(r"(\.\.\.) <.*>$", r"\1", written)
    written = re.sub(r"^([A-Z]+) <\w+>$", r"\1", written)
    written = _TYPE.sub(lambda kind: _KINDS.get(kind[1], kind[1].upper()), written)
    found = _DEFAULT.search(words)
    if not found:
        return written, words
    tail = "Needed." if found["required"] else f"By default {found['value']}."
    return written, f"{words[: found.start()]} {tail}"


class Commands(Directive):
    """A section a command: how it is written, what it does, its arguments and options."""

    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        return [_section(name, command, self.state.document) for name, command in commands().items()]


def _section(name: str, command: Any, document: nodes.document) -> nodes.section:
    section = nodes.section("", nodes.title("", f"juror {name}"), names=[f"juror {name}"])
    document.note_implicit_target(section)
    arguments = " ".join(p.metavar or p.name.upper() for p in command.params if p.param_type_name == "argument")
    usage = " ".join(word for word in (f"juror {name}", arguments, "[OPTIONS]") if word)
    section += nodes.literal_block(usage, usage, language="none")
    section += nodes.paragraph("", command.help)
    section += _table([record(p, command) for p in command.params if not p.hidden])
    return section


def _table(records: list[tuple[str, str]]) -> nodes.table:
    group = nodes.tgroup("", nodes.colspec(colwidth=30), nodes.colspec(colwidth=70), cols=2)
    group += nodes.thead("", _row(nodes.Text("argument or option"), nodes.Text("what it does")))
    group += nodes.tbody("", *(_row(nodes.literal("", written), nodes.Text(words)) for written, words in records))
    return nodes.table("", group, classes=["commands"])


def _row(*cells: nodes.Node) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("juror-commands", Commands)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
