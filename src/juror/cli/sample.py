"""juror sample: draw rows from a model."""

from __future__ import annotations

from typing import Annotated

import typer

from juror.cli.options import Given, Json, Model, Output, Seed
from juror.cli.output import check_labels, check_output, write_frame
from juror.cli.saved_files import read_model


def command(
    model: Model,
    n: Annotated[int, typer.Option("-n", help="The number of rows.")] = 10,
    given: Given = None,
    numbers: Annotated[
        bool, typer.Option("--numbers/--intervals", help="Write numbers, or the intervals that they lie in.")
    ] = True,
    formulas: Annotated[
        bool,
        typer.Option(
            "--formulas/--no-formulas",
            help="Draw rows that satisfy the formulas and keep the orders between columns that the table has.",
        ),
    ] = True,
    output: Output = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Draw rows from MODEL."""
    check_output(output, json, [model])
    loaded = read_model(model)
    check_labels(loaded.domain)
    drawn = loaded.sample(n, given, seed=seed, numbers=numbers, formulas=formulas, frame="pandas")
    write_frame(drawn, output, json)
