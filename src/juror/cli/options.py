"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from juror.errors import ParameterError

if TYPE_CHECKING:
    from juror.domain.variable import Unknown

MAX_LEVELS = 1000
MEMORY = "4GB"

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'juror fit' wrote.", show_default=False)]
# text, and no path: a glob or a query is not one, and paths lose the second slash of an address
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A .csv, .parquet or .arrow file, a folder of them, or a glob in quotes.",
        show_default=False,
    ),
]
Rows = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=".csv, .parquet or .arrow files, folders of them, globs in quotes, or with --database a query.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option("-o", "--output", help="Write to this .csv or .parquet file, not to stdout.", show_default=False),
]
CountsOutput = Annotated[
    Path,
    typer.Option("-o", "--output", help="Where to write the counts, by custom a .counts file.", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON in place of CSV.")]
JsonFacts = Annotated[bool, typer.Option("--json", help="Write JSON in place of words.")]
Given = Annotated[
    str | None, typer.Option("--given", help="Conditions, like 'safety = high, doors >= 3'.", show_default=False)
]
Seed = Annotated[int, typer.Option("--seed", help="The same seed gives the same result.")]
Jobs = Annotated[int | None, typer.Option("--jobs", help="How many threads; all cores by default.", show_default=False)]
UnknownOption = Annotated[
    str, typer.Option("--unknown", help="What to do with labels the model does not know: error, warn or missing.")
]

# About columns
Missing = Annotated[
    list[str] | None,
    typer.Option("--missing", metavar="MARKER", help="A marker that means missing, like '?'; may be repeated."),
]
Drop = Annotated[
    list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Leave a column out; may be repeated.")
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COLUMN", help="The column of row weights or counts.", show_default=False),
]
Bins = Annotated[
    int | None, typer.Option("--bins", help="How many intervals for columns of many numbers.", show_default=False)
]
MaxLevels = Annotated[int, typer.Option("--max-levels", help="The most labels a column may have.")]

# About where rows are, and who reads them
Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        metavar="URI",
        help="Where to run the query that DATA is then: duckdb:///file.db, sqlite:///file.db or "
        "postgresql://user@host/name, which takes a password from PGPASSWORD.",
        show_default=False,
    ),
]
Dask = Annotated[
    str | None,
    typer.Option("--dask", metavar="ADDRESS", help="A Dask scheduler whose workers read, tcp://…", show_default=False),
]
Spark = Annotated[
    str | None,
    typer.Option("--spark", metavar="MASTER", help="A Spark cluster whose executors read, spark://…"),
]
Memory = Annotated[
    str, typer.Option("--memory", help="How much memory rows may take; more of them are passed over on disk.")
]

# About CSV files
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        help="What stands between cells of CSV files, \\t for a tab; found by default.",
        show_default=False,
    ),
]
Quote = Annotated[
    str, typer.Option("--quote", metavar="CHARACTER", help="What stands around cells of CSV files; '' for nothing.")
]
Encoding = Annotated[str, typer.Option("--encoding", help="The encoding of CSV files.")]
Decimal = Annotated[str, typer.Option("--decimal", help="The decimal mark of numbers in CSV files, '.' or ','.")]
QUOTE, ENCODING, DECIMAL = '"', "utf-8", "."
CSV = {"separator": None, "quote": QUOTE, "encoding": ENCODING, "decimal": DECIMAL}


def unknown_of(text: str) -> Unknown:
    """Check the choice of --unknown."""
    choices: dict[str, Unknown] = {"error": "error", "warn": "warn", "missing": "missing"}
    if text not in choices:
        raise ParameterError(f"--unknown must be error, warn or missing. Got {text!r} instead.")
    return choices[text]


def number_or(word: str, option: str, text: str, kind: type[int] | type[float]) -> int | float | str:
    """Read a number, or leave the one word that may stand for it."""
    if text == word:
        return text
    try:
        return kind(text)
    except ValueError:
        what = "a whole number from 1" if kind is int else "a number above 0"
        raise ParameterError(f"{option} must be {word!r} or {what}. Got {text!r} instead.") from None
