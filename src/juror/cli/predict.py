"""juror predict: label the rows of a file."""

from __future__ import annotations

from typing import Annotated

import typer

from juror.cli import options
from juror.cli.data import files_at, opened_for
from juror.cli.options import Data, Drop, Json, Model, Output, UnknownOption, unknown_of
from juror.cli.output import check_output, read_table, write_frame
from juror.cli.saved_files import read_model
from juror.errors import ParameterError


def command(
    model: Model,
    data: Data,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The variable to predict; by default the target of the fit."),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="Also write the probability of every label.")] = False,
    formulas: Annotated[
        bool,
        typer.Option(
            "--formulas/--no-formulas", help="Predict the number that a formula of the table gives, if one does."
        ),
    ] = True,
    output: Output = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    json: Json = False,
) -> None:
    """Write the most probable label of the target for every row of DATA, or the median of a number.

    If a formula of the table gives the number, this is written instead. Columns that the model does not know come
    first.
    """
    from juror.answers.label_frames import to_frame
    from juror.readers.joining import read_whole

    check_output(output, json, [model, data])
    loaded = read_model(model)
    files = files_at(data, separator, quote, encoding, decimal)
    scan = loaded.domain.scan(opened_for(loaded.domain, files, drop or ()))
    columns = read_whole(scan)
    variable = loaded.domain[loaded.target(target)]
    variable.check_texts()
    how = unknown_of(unknown)
    result = {variable.name: loaded.predict(columns, variable.name, unknown=how, formulas=formulas).tolist()}
    if proba:
        chances = loaded.predict_proba(columns, variable.name, unknown=how)
        result |= {f"P({variable.name} = {label})": chances[:, i].tolist() for i, label in enumerate(variable.labels)}
    if not scan.others:
        return write_frame(to_frame(result, "pandas"), output, json)
    repeated = [name for name in result if name in scan.others]
    if repeated:
        raise ParameterError(f"DATA has a column {repeated[0]!r}, which is written by --proba. --drop it.")
    beside = read_table(files, drop or (), (), scan.others, scan.names).select(list(scan.others))
    for name, cells in zip(result, to_frame(result, "pyarrow").columns, strict=True):
        beside = beside.append_column(name, cells)
    return write_frame(beside, output, json)
