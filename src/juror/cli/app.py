"""The application: its commands, and how what goes wrong is told."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated, Any, TextIO

import typer

from juror.cli import ask, count, fit, impute, info, merge, paper, predict, report, sample, score
from juror.cli.addresses import hide, scrubbed
from juror.cli.words import in_words_of_the_command_line
from juror.errors import JurorError, JurorWarning

_BAD_INPUT, _BUG = 2, 1

app = typer.Typer(
    name="juror",
    help="The joint distribution of a table with holes in it: fit it, ask it, fill the holes, draw rows, label rows.",
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
    """Take the options that stand before a command; main has looked at them already."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line: exit status 0 on success, 2 on bad input with one sentence, 1 on a bug of ours."""
    arguments = hide(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    if debug:
        # wherever it was written: people add it to the end of the line that failed
        arguments = ["--debug", *(argument for argument in arguments if argument != "--debug")]
    with warnings.catch_warnings():
        warnings.simplefilter("always", JurorWarning)
        warnings.showwarning = _show_warning
        sys.exit(_run(arguments, debug))


def _run(arguments: Sequence[str], debug: bool) -> Any:
    try:
        app(arguments)
    except SystemExit as end:
        return end.code
    except (JurorError, OSError) as error:
        return _tell(str(error), _BAD_INPUT, debug)
    except Exception as error:
        message = f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug for the traceback."
        return _tell(scrubbed(message), _BUG, debug)
    return 0


def _tell(message: str, status: int, debug: bool) -> int:
    if debug:
        typer.echo(scrubbed(traceback.format_exc()), err=True, nl=False)
    typer.echo(f"juror: {in_words_of_the_command_line(message)}", err=True)
    return status


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    typer.echo(f"juror: warning: {in_words_of_the_command_line(str(message))}", err=True)
