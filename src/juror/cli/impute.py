"""juror impute: fill the missing cells of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from juror.cli import options
from juror.cli.data import files_at
from juror.cli.options import Data, Drop, Json, Model, Output, Seed, UnknownOption, unknown_of
from juror.cli.output import check_labels, check_output, read_table, write_frame
from juror.cli.places import refuse_inputs
from juror.cli.saved_files import read_model
from juror.cli.written_times import writer_like
from juror.errors import ParameterError

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from juror.answers.numbers import Centre
    from juror.domain import Domain
    from juror.readers.described import Files


def command(
    model: Model,
    data: Data,
    output: Output = None,
    draws: Annotated[
        int | None,
        typer.Option(
            help="Fill with random draws, not with the most probable labels; N above 1 writes N numbered files.",
            metavar="N",
        ),
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            help="Also fill missing cells of this column, whose missing cells are a label; may be repeated.",
            metavar="COLUMN",
        ),
    ] = None,
    numbers: Annotated[
        str | None,
        typer.Option(
            help="What fills holes of numbers without --draws: median or mean. By default the median, and in columns "
            "of up to ten whole numbers, which may be codes, the most probable one.",
            metavar="CENTRE",
        ),
    ] = None,
    formulas: Annotated[
        bool,
        typer.Option(
            "--formulas/--no-formulas",
            help="Fill holes that follow from the other cells of their row, by a formula between columns of numbers, "
            "and keep the orders between columns.",
        ),
    ] = True,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fill the missing cells of DATA; all other cells stay as they are, also columns that the model does not know."""
    check_output(output, json, [model, data])
    loaded = read_model(model)
    if draws is not None and draws > 1 and output is None:
        raise ParameterError(f"--draws {draws} makes {draws} tables, which need files: name one with --output.")
    places = [output] if output is None or draws is None or draws < 2 else _numbered(output, draws)
    refuse_inputs(filter(None, places), [model, data])
    domain = loaded.domain
    check_labels(domain)
    files = files_at(data, separator, quote, encoding, decimal)
    table = read_table(files, drop or (), domain.missing, domain.expected.text, domain.names)
    filled = loaded.impute(
        table,
        draws,
        seed=seed,
        unknown=unknown_of(unknown),
        also=also or (),
        numbers=cast("Centre | None", numbers),
        formulas=formulas,
    )
    tables = filled if isinstance(filled, list) else [filled]
    as_text = _is_csv(files) and (output.suffix.lower() == ".csv" if output else not json)
    for place, each in zip(places, tables, strict=True):
        write_frame(_with_own_cells(each, table, domain, files) if as_text else each, place, json)


def _is_csv(files: Files) -> bool:
    from juror.readers.paths import find_files, kind_of

    return kind_of(find_files(files.path)) == "csv"


def _with_own_cells(filled: pa.Table, table: pa.Table, domain: Domain, files: Files) -> pd.DataFrame:
    """Keep the cells of a CSV file as they are written there: 007 and 1.50, not 7 and 1.5."""
    from juror.readers.columns import as_text

    names = filled.column_names
    written = read_table(files, (), domain.missing, names, domain.names).select(names).to_pandas()
    cells = filled.to_pandas().astype(object)
    for column in domain.open(table):
        seen = column.index >= 0
        # cells whose missing label is an answer are still missing
        isfilled = ~seen & cells[column.name].notna()
        is_time = column.calendar is not None and column.calendar.unit != "D"
        write = writer_like(written.loc[seen, column.name]) if is_time else None
        cells.loc[isfilled, column.name] = [(write or as_text)(label) for label in cells.loc[isfilled, column.name]]
        cells.loc[seen, column.name] = written.loc[seen, column.name]
    others = [name for name in names if name not in domain]
    cells[others] = written[others]
    return cells


def _numbered(output: Path, n: int) -> list[Path]:
    return [output.with_name(f"{output.stem}.{number}{output.suffix}") for number in range(1, n + 1)]
