"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juror.errors import ParameterError

if TYPE_CHECKING:
    from juror.variable import Unknown

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'juror fit' wrote.", show_default=False)]
Data = Annotated[Path, typer.Argument(metavar="DATA", help="A .csv or .parquet file.", show_default=False)]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Write to this .csv or .parquet file, not to stdout.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON in place of CSV.")]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave a column out; may be repeated.")
]
Given = Annotated[
    str | None, typer.Option("--given", help="Conditions, like 'safety = high, doors >= 3'.", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]
UnknownOption = Annotated[
    str, typer.Option("--unknown", help="What to do with labels the model does not know: error, warn or missing.")
]


def unknown_of(text: str) -> Unknown:
    """Check the choice of --unknown."""
    choices: dict[str, Unknown] = {"error": "error", "warn": "warn", "missing": "missing"}
    if text not in choices:
        raise ParameterError(f"--unknown must be error, warn or missing. Got {text!r} instead.")
    return choices[text]
