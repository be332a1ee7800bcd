"""juror ask: answer a question about a model."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from juror.cli.options import Json, Model
from juror.cli.output import write_columns
from juror.cli.saved_files import read_model


def command(
    model: Model,
    question: Annotated[
        str,
        typer.Argument(metavar="QUESTION", help="Such as 'class | safety = high, persons in {4, more}'."),
    ],
    json: Json = False,
) -> None:
    """Answer a QUESTION about MODEL: names of variables, then a bar and conditions."""
    table = read_model(model).ask(question)
    if sys.stdout.isatty() and not json:
        typer.echo(str(table))
    else:
        write_columns(table.to_dict(), json)
