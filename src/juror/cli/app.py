"""The application: its commands, and how it shows errors and warnings."""

from __future__ import annotations

import shlex
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from typing import Annotated, Any, TextIO

import typer

from juror.cli import ask, check, count, fit, impute, info, merge, paper, predict, report, sample, score
from juror.cli.addresses import hide
from juror.cli.piped import copies_removed
from juror.cli.terminal import show, tell
from juror.cli.usage import Commands
from juror.errors import JurorError, JurorWarning, Option, Spelling, in_python

_BAD_INPUT, _BUG = 2, 1

app = typer.Typer(
    name="juror",
    cls=Commands,
    help="Fit the joint distribution of a table that may have missing cells. Then ask it questions, fill the missing "
    "cells, draw rows and predict labels.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for module in (fit, count, merge, ask, check, info, sample, impute, predict, score, report, paper):
    app.command(module.__name__.rpartition(".")[2])(module.command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        show(version("juror"))
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
    with warnings.catch_warnings(), _ended_by_signals(), copies_removed():
        spelling = partial(in_shell, command=next((word for word in arguments if not word.startswith("-")), None))
        warnings.simplefilter("always", JurorWarning)
        warnings.showwarning = partial(_show_warning, spelling, set())
        sys.exit(_run(arguments, debug, spelling))


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """End by an exception when a signal ends the program, so that half-written files are removed."""
    numbers = [number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        numbers = []

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    for number in numbers:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


@cache
def options_by_argument(command: str | None = None, off: bool = False) -> dict[str, str]:
    """Return the option that sets each argument of the library, such as ``--jobs`` for ``n_jobs``; or turns it off.

    For a command these are its own options. Commands that read a model or counts are also told how to make them, so
    they know the options of ``fit`` and ``count`` too.
    """
    commands: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    made_by = () if command in ("fit", "count") else ("count", "fit")
    known = [*made_by, command] if command in commands else commands
    parameters = [parameter for each in known for parameter in commands[each].params]
    options = {str(p.name): p.secondary_opts if off else p.opts for p in parameters if p.param_type_name == "option"}
    return {name: max(spelled, key=len) for name, spelled in options.items() if spelled}


def in_shell(option: Option, command: str | None = None) -> str:
    """Spell an option as one writes it on the command line, for a command if it is given.

    >>> in_shell(Option("n_jobs")), in_shell(Option("missing", ("?", "n a"), "=['?', 'n a']"))
    ('--jobs', "--missing '?' --missing 'n a'")
    >>> in_shell(Option("levels", source="=…", owner="Domain.infer")), in_shell(Option("draws"), "fit")
    ('Domain.infer(levels=…) (Python only)', 'draws')
    >>> in_shell(Option("formulas", (False,), "=False"), "sample")
    '--no-formulas'
    """
    is_off = option.values == (False,)
    flag = options_by_argument(command, is_off).get(option.name)
    if flag is None and option.listed:
        return ""
    if flag is None:
        return in_python(option) + (" (Python only)" if option.owner or option.source else "")
    if option.source.endswith("…"):
        return f"{flag} …"
    if is_off:
        return flag
    return " ".join(f"{flag} {shlex.quote(str(value))}" for value in option.values) or flag


def _run(arguments: Sequence[str], debug: bool, spelling: Spelling) -> Any:
    try:
        app(arguments)
    except SystemExit as end:
        return end.code
    except JurorError as error:
        return _tell(error.text(spelling), _BAD_INPUT, debug)
    except OSError as error:
        return _tell(str(error), _BAD_INPUT, debug)
    except MemoryError as error:
        reason = f" ({error})" if str(error) else ""
        return _tell(
            f"This takes more memory than there is{reason}. Pass fewer rows at once, or fit a model of fewer labels or "
            "classes.",
            _BAD_INPUT,
            debug,
        )
    except Exception as error:
        message = f"unexpected {type(error).__name__}: {error}. This is a bug; run with --debug for the traceback."
        return _tell(message, _BUG, debug)
    return 0


def _tell(message: str, status: int, debug: bool) -> int:
    if debug:
        tell(traceback.format_exc().rstrip())
    tell(f"juror: {message}")
    return status


def _show_warning(
    spelling: Spelling,
    shown: set[str],
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    text = message.text(spelling) if isinstance(message, JurorWarning) else str(message)
    # Reading data twice repeats its warnings: show each text once.
    if text not in shown:
        shown.add(text)
        tell(f"juror: warning: {text}")
