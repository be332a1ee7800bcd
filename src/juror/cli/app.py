"""The application: its commands, and how it shows errors and warnings."""

from __future__ import annotations

import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, TextIO

import typer

from juror.cli import ask, count, fit, impute, info, merge, paper, predict, report, sample, score
from juror.cli.addresses import hide, scrubbed
from juror.errors import JurorError, JurorWarning, Option, in_python

_BAD_INPUT, _BUG = 2, 1

app = typer.Typer(
    name="juror",
    help="Fit the joint distribution of a table that may have missing cells. Then ask it questions, fill the missing "
    "cells, draw rows and predict labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (fit, count, merge, ask, info, sample, impute, predict, score, report, paper):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(version("juror"))
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Declare the options that stand before a command; ``main`` has already read --debug."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and exit with 0 on success, 2 on bad input (with one sentence) or 1 on a bug in juror."""
    arguments = hide(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    if debug:
        # People add it at the end of the line that failed.
        arguments = ["--debug", *(argument for argument in arguments if argument != "--debug")]
    with warnings.catch_warnings():
        warnings.simplefilter("always", JurorWarning)
        warnings.showwarning = _show_warning
        sys.exit(_run(arguments, debug))


@cache
def options_by_argument() -> dict[str, str]:
    """Return the option that sets each argument of the library, such as ``--jobs`` for ``n_jobs``."""
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    parameters = [parameter for command in commands.values() for parameter in command.params]
    return {str(p.name): max(p.opts, key=len) for p in parameters if p.param_type_name == "option"}


def in_shell(option: Option) -> str:
    """Spell an option as one writes it on the command line.

    >>> in_shell(Option("n_jobs")), in_shell(Option("missing", ("?", "n a"), "=['?', 'n a']"))
    ('--jobs', "--missing '?' --missing 'n a'")
    >>> in_shell(Option("levels", source="=…", owner="Domain.infer"))
    'Domain.infer(levels=…) (Python only)'
    """
    flag = options_by_argument().get(option.name)
    if flag is None:
        return in_python(option) + (" (Python only)" if option.owner else "")
    return " ".join(f"{flag} {shlex.quote(str(value))}" for value in option.values) or flag


def _run(arguments: Sequence[str], debug: bool) -> Any:
    try:
        app(arguments)
    except SystemExit as end:
        return end.code
    except JurorError as error:
        return _tell(error.text(in_shell), _BAD_INPUT, debug)
    except OSError as error:
        return _tell(str(error), _BAD_INPUT, debug)
    except Exception as error:
        message = f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug for the traceback."
        return _tell(scrubbed(message), _BUG, debug)
    return 0


def _tell(message: str, status: int, debug: bool) -> int:
    if debug:
        typer.echo(scrubbed(traceback.format_exc()), err=True, nl=False)
    typer.echo(f"juror: {message}", err=True)
    return status


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = message.text(in_shell) if isinstance(message, JurorWarning) else str(message)
    typer.echo(f"juror: warning: {text}", err=True)
