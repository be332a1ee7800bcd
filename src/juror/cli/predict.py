"""juror predict: label the rows of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from juror.cli import options
from juror.cli.data import files_at
from juror.cli.options import Data, Drop, Json, Model, Output, UnknownOption, unknown_of
from juror.cli.output import check_output, read_for, write_frame
from juror.cli.saved_files import read_model


def command(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The variable to predict; by default the target of the fit."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of every label.")] = False,
    output: Output = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    json: Json = False,
) -> None:
    """Write the most probable label of the target for every row of DATA; of numbers the median."""
    from juror.answers.label_frames import to_frame
    from juror.answers.numbers import best_guesses

    check_output(output, json, [model, data])
    loaded = read_model(model)
    columns = read_for(loaded, files_at(data, separator, quote, encoding, decimal), drop or ())
    variable = loaded.domain[loaded.target(target)]
    variable.check_texts()
    chances = loaded.predict_proba(columns, variable.name, unknown=unknown_of(unknown))
    result = {variable.name: best_guesses(variable, chances).tolist()}
    if proba:
        result |= {f"P({variable.name} = {label})": chances[:, i].tolist() for i, label in enumerate(variable.labels)}
    write_frame(to_frame(result, "pandas"), output, json)
