"""What is said about arguments that no command knows.

The command line's parser repeats such arguments, and wraps the lines of its messages. So passwords and control
characters are taken out before that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

from juror.cli.addresses import scrubbed
from juror.printing import printable

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
        error.message = printable(scrubbed(error.message))
        raise
