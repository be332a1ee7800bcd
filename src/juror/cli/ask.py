"""juror ask: any conditional of a model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import juror
from juror.cli.options import Json, Model
from juror.cli.output import write_columns


def command(
    model: Model,
    question: Annotated[
        str,
        typer.Argument(
            metavar="QUESTION", help="Like 'class | safety = high, persons in {4, more}'.", show_default=False
        ),
    ],
    json: Json = False,
) -> None:
    """Answer a QUESTION: names of variables, a bar, and conditions."""
    table = juror.load(model).ask(question)
    if sys.stdout.isatty() and not json:
        typer.echo(str(table))
    else:
        write_columns(table.to_dict(), json)
