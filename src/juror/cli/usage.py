"""What is said about arguments that no command knows.

The command line's parser repeats such arguments, and wraps the lines of its messages. So passwords and control
characters are taken out before that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from juror.cli.addresses import scrubbed
from juror.errors import ParameterError
from juror.printing import printable

# Words of the parser, and plainer ones
_PLAIN = (
    (re.compile(r"Input should be a valid integer.*"), "it must be a whole number"),
    (re.compile(r"Input should be a valid number.*"), "it must be a number"),
)
# The parser's base class of errors, which Typer does not export: it is Click's or, in later versions, a copy of it
_UsageError: Any = typer.BadParameter.mro()[1]


class Commands(TyperGroup):
    """All commands, with messages that may be shown."""

    def make_context(self, *arguments: Any, **options: Any) -> Any:
        """Read the options that stand before a command."""
        with _shown_safely():
            return super().make_context(*arguments, **options)

    def invoke(self, ctx: Any) -> Any:
        """Read the arguments of a command, and run it."""
        with _shown_safely():
            return super().invoke(ctx)


@contextmanager
def _shown_safely() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        # a command without arguments shows its help, which is no mistake
        if type(error).__name__ == "NoArgsIsHelpError":
            raise
        raise ParameterError(_sentence(error)) from None


def _sentence(error: Any) -> str:
    """Say what is wrong in one sentence, and where help is."""
    text = printable(scrubbed(error.format_message())).rstrip(".")
    for wrong, plain in _PLAIN:
        text = wrong.sub(plain, text)
    command = "juror" if error.ctx is None or error.ctx.parent is None else f"juror {error.ctx.info_name}"
    return f"{text}. Run {command!r} with --help to see its options."
