"""juror impute: fill the holes of a file."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.cli.options import Data, Drop, Json, Model, Output, Seed, UnknownOption, unknown_of
from juror.cli.tables import check_output, read_for, write_frame
from juror.errors import ParameterError
from juror.model import load
from juror.sources.files import read_table

if TYPE_CHECKING:
    import pandas as pd


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
    check_output(output, json)
    loaded = load(model)
    if draws is not None and draws > 1 and output is None:
        raise ParameterError(f"--draws {draws} makes {draws} tables, which need files: name one with --output.")
    filled = loaded.impute(read_for(loaded, data, drop), draws, seed=seed, unknown=unknown_of(unknown))
    tables = filled if isinstance(filled, list) else [filled]
    for number, table in enumerate(tables, 1):
        place = output if output is None or len(tables) == 1 else _numbered(output, number)
        write_frame(_with_own_cells(table, data, loaded.domain.missing), place, json)


def _with_own_cells(filled: pd.DataFrame, path: Path, missing: Collection[Any]) -> pd.DataFrame:
    """Write the cells that a CSV file has as they stand there: 007 and 1.50, not 7 and 1.5."""
    if path.suffix.lower() == ".parquet":
        return filled
    written = read_table(path, missing, text=list(filled.columns)).select(list(filled.columns)).to_pandas()
    return filled.astype(object).where(written.isna(), written)


def _numbered(output: Path, number: int) -> Path:
    return output.with_name(f"{output.stem}.{number}{output.suffix}")
