"""juror score: how probable the rows of a file are."""

from __future__ import annotations

from typing import Annotated

import typer

from juror.cli import options
from juror.cli.data import files_at, opened_for
from juror.cli.options import Data, Drop, Json, Model, Output, UnknownOption, unknown_of
from juror.cli.output import check_output, write_frame, write_json
from juror.cli.saved_files import read_model


def command(
    model: Model,
    data: Data,
    rows: Annotated[bool, typer.Option("--rows", help="Write the log-probability of every row.")] = False,
    output: Output = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    json: Json = False,
) -> None:
    """Write the mean log-probability of the rows of DATA, in nats; higher is better."""
    from juror.answers.label_frames import to_frame
    from juror.answers.scores import mean_log_prob
    from juror.readers.joining import read_whole

    check_output(output, json, [model, data])
    loaded = read_model(model)
    files = files_at(data, separator, quote, encoding, decimal)
    columns = read_whole(loaded.domain.scan(opened_for(loaded.domain, files, drop or ())))
    logs = loaded.log_prob(columns, unknown=unknown_of(unknown))
    if rows:
        write_frame(to_frame({"log_prob": logs.tolist()}, "pandas"), output, json)
        return
    result = {
        "rows": len(logs),
        "mean_log_prob": mean_log_prob(logs),
        "impossible_rows": int((logs == -float("inf")).sum()),
    }
    if json and output is None:
        write_json(result)
    else:
        write_frame(to_frame({name: [value] for name, value in result.items()}, "pandas"), output, json)
