"""juror impute: fill the holes of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from juror.cli.options import Data, Drop, Json, Model, Output, Seed, UnknownOption, unknown_of
from juror.cli.tables import check_output, without, write_frame
from juror.errors import ParameterError
from juror.model import load


def command(
    model: Model,
    data: Data,
    output: Output = None,
    draws: Annotated[
        int | None,
        typer.Option(
            help="Fill with random draws, not with the most probable labels; more than one writes as many files, "
            "numbered before their ending.",
            show_default=False,
        ),
    ] = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fill the missing cells of DATA; all other cells stay as they are."""
    check_output(output)
    loaded = load(model)
    columns = without(loaded.domain.open(data), drop)
    filled = loaded.impute(columns, draws, seed=seed, unknown=unknown_of(unknown))
    if not isinstance(filled, list):
        write_frame(filled, output, json)
        return
    if output is None:
        raise ParameterError(f"--draws {draws} makes {draws} tables, which need files: name one with --output.")
    for number, frame in enumerate(filled, 1):
        write_frame(frame, _numbered(output, number), json)


def _numbered(output: Path, number: int) -> Path:
    return output.with_name(f"{output.stem}.{number}{output.suffix}")
