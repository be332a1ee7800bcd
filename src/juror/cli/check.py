"""juror check: which answers of a model about two variables differ from the rows."""

from __future__ import annotations

from typing import Annotated

import typer

from juror.cli import options
from juror.cli.data import rows_beside
from juror.cli.options import Drop, Json, Model, UnknownOption, refuse_without_data, unknown_of
from juror.cli.output import write_columns
from juror.cli.saved_files import read_model
from juror.cli.terminal import is_terminal, show, tell
from juror.errors import ParameterError


def command(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Rows to compare the model with: a .csv, .parquet or .arrow file, a folder of them, or a glob; by "
            "default those that it was fitted to.",
        ),
    ] = None,
    top: Annotated[int | None, typer.Option(metavar="N", help="Only the N worst questions.")] = None,
    sample_weight: options.Weight = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    json: Json = False,
) -> None:
    """Compare the answers of MODEL about two variables with rows, worst first.

    Every question P(a = x | b = y) is compared with the share of x among the rows with b = y. Columns that DATA lacks
    are left out, and named.
    """
    if top is not None and top < 1:
        raise ParameterError(f"--top must be a number of questions, at least 1. Got {top} instead.")
    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    how = unknown_of(unknown)
    refuse_without_data(data, csv, {"weight": sample_weight, "drop": drop, "unknown": how != "error"}, after="model")
    loaded = read_model(model)
    rows = rows_beside(loaded.domain, data, csv, drop)
    table = loaded.check(rows, unknown=how, sample_weight=sample_weight)
    if top is not None:
        table = table.head(top)
    if is_terminal() and not json:
        show(str(table))
    else:
        tell(table.sentence)
        write_columns(table.to_dict(), json)
