"""The arguments and options of the commands: their names, types and help.

A parameter of a command has the name of the argument that it sets in Python, whatever the option is called. This is how
messages find the option that they speak of: see ``in_shell`` in :mod:`juror.cli.app`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.errors import ParameterError

if TYPE_CHECKING:
    from juror.domain.variable import Unknown

MAX_LEVELS = 1000
MEMORY = "4GB"
QUOTE, ENCODING, DECIMAL = '"', "utf-8", "."
CSV = {"separator": None, "quote": QUOTE, "encoding": ENCODING, "decimal": DECIMAL}
# Defaults of options that differ from None
DEFAULTS = {"max_levels": MAX_LEVELS, "memory": MEMORY} | CSV


def _option(name: str, text: str, metavar: str | None = None, panel: str | None = None, short: str = "") -> Any:
    names = (short, name) if short else (name,)
    return typer.Option(*names, help=text, metavar=metavar, rich_help_panel=panel)


Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model that 'juror fit' wrote.")]
# Data are text, not paths: a glob or a query is no path, and a path would lose the second slash of an address.
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A .csv, .parquet or .arrow file, a folder of them, a glob in quotes, or - for stdin."
    ),
]
Rows = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=".csv, .parquet or .arrow files, folders of them, globs in quotes, - for stdin, or a query on --database.",
    ),
]
RowsOrCounts = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA...",
        help=".csv, .parquet or .arrow files, folders of them, globs in quotes, - for stdin, a query on --database, or "
        "a file of counts that 'juror count' wrote.",
    ),
]
Output = Annotated[Path | None, _option("--output", "Write to this .csv or .parquet file, not to stdout.", short="-o")]
ModelOutput = Annotated[Path, _option("--output", "Where to write the model.", short="-o")]
CountsOutput = Annotated[Path, _option("--output", "Where to write the counts, usually a .counts file.", short="-o")]
Json = Annotated[bool, _option("--json", "Write JSON instead of CSV.")]
JsonFacts = Annotated[bool, _option("--json", "Write JSON instead of text.")]
Given = Annotated[str | None, _option("--given", "Conditions, such as 'safety = high, doors >= 3'.")]
Seed = Annotated[int, _option("--seed", "The random seed. The same seed gives the same result.")]
Jobs = Annotated[int | None, _option("--jobs", "The number of threads; all cores by default.")]
UnknownOption = Annotated[
    str, _option("--unknown", "What to do with labels that the model does not know: error, warn or missing.")
]

# The model to fit, and how to fit it
_FIT = "Method"
Rank = Annotated[
    str, _option("--rank", "The number of classes; 'auto' chooses it on held-out rows, 'cv' by cross-validation.")
]
Target = Annotated[str | None, _option("--target", "The column to predict.", "COLUMN")]
Method = Annotated[
    str, _option("--method", "The solver: auto, tree, em, bayes, pair-em, spa, spa-em, ctf, juror-a, -b or -c.")
]
Smoothing = Annotated[
    float | None, _option("--smoothing", "The pseudo-count of each cell; 0.1 or chosen by default.", panel=_FIT)
]
Device = Annotated[str, _option("--device", "Where to pass over rows: cpu, cuda (an NVIDIA card) or auto.", panel=_FIT)]
Starts = Annotated[
    int | None,
    _option("--starts", "The number of random starts, for em, pair-em and ctf; em searches by default.", panel=_FIT),
]
Ensemble = Annotated[str | None, _option("--ensemble", "How many fits em averages, or 'auto'.", panel=_FIT)]
Forest = Annotated[
    bool | None,
    _option(
        "--forest/--no-forest", "Whether variables may depend on each other within classes (em, bayes).", panel=_FIT
    ),
]
KeepCounts = Annotated[
    bool,
    _option("--counts/--no-counts", "Whether the model keeps the pair counts of DATA, and answers say how many rows."),
]
MaxSeconds = Annotated[
    float | None, _option("--max-seconds", "A budget of time, for em, spa-em, pair-em and bayes.", panel=_FIT)
]
MaxIter = Annotated[int | None, _option("--max-iter", "The most passes or steps from one start.", panel=_FIT)]
Tol = Annotated[
    float | None,
    _option("--tol", "Stop when a step gains less: nats per row, or a fraction of the misfit.", panel=_FIT),
]
Directions = Annotated[
    int | None, _option("--directions", "The number of projections per pair, for juror; 200 by default.", panel=_FIT)
]
Inversion = Annotated[str | None, _option("--inversion", "How juror inverts projections: lstsq or fbp.", panel=_FIT)]
Rho = Annotated[str | None, _option("--rho", "How strongly juror couples pair tables: a number or 'cv'.", panel=_FIT)]

# How to read columns
_COLUMNS = "Columns"
Missing = Annotated[
    list[str] | None,
    _option("--missing", "A marker that means missing, such as '?'; may be repeated.", "MARKER", _COLUMNS),
]
MissingAs = Annotated[
    list[str] | None,
    _option(
        "--missing-as",
        "Make missing cells of a column a label, such as 'smokes=not asked'; may be repeated. 'auto' does so where "
        "they depend on other columns, 'all' everywhere, and 'none' sums all out without a warning.",
        "COLUMN=LABEL",
        _COLUMNS,
    ),
]
Drop = Annotated[list[str] | None, _option("--drop", "Leave a column out; may be repeated.", "COLUMN", _COLUMNS)]
Weight = Annotated[str | None, _option("--weight", "The column of row weights or counts.", "COLUMN", _COLUMNS)]
Columns = Annotated[
    list[str] | None,
    _option("--columns", "Read only these columns, such as 'age,sex'; may be repeated.", "COLUMNS", _COLUMNS),
]
Bins = Annotated[
    list[str] | None,
    _option(
        "--bins",
        "The number of intervals for columns of many numbers, or 'age=20' for one column; may be repeated.",
        "[COLUMN=]N",
        _COLUMNS,
    ),
]
Edges = Annotated[
    list[str] | None,
    _option(
        "--edges",
        "Where to cut a column into intervals, such as 'age=0,18,65,120'; may be repeated.",
        "COLUMN=N,N,…",
        _COLUMNS,
    ),
]
MaxLevels = Annotated[int, _option("--max-levels", "The most labels that a column may have.", panel=_COLUMNS)]

# Where rows are, and who reads them
_WHERE = "Large data"
Database = Annotated[
    str | None,
    _option(
        "--database",
        "Where to run the query in DATA: duckdb:///file.db, sqlite:///file.db or postgresql://user@host/name, with the "
        "password in PGPASSWORD.",
        "URI",
        _WHERE,
    ),
]
Dask = Annotated[str | None, _option("--dask", "A Dask scheduler whose workers read DATA, tcp://…", "ADDRESS", _WHERE)]
Spark = Annotated[
    str | None, _option("--spark", "A Spark cluster whose executors read DATA, spark://…", "MASTER", _WHERE)
]
Memory = Annotated[
    str, _option("--memory", "How much memory rows may take; larger tables are kept on disk.", panel=_WHERE)
]

# How CSV files are written
_CSV = "CSV files"
Separator = Annotated[
    str | None,
    _option("--separator", "The character between cells, \\t for a tab; detected by default.", "CHARACTER", _CSV),
]
Quote = Annotated[str, _option("--quote", "The character around cells; '' for none.", "CHARACTER", _CSV)]
Encoding = Annotated[str, _option("--encoding", "The encoding.", panel=_CSV)]
Decimal = Annotated[str, _option("--decimal", "The decimal mark, '.' or ','.", "CHARACTER", _CSV)]


def unknown_of(text: str) -> Unknown:
    """Check the value of --unknown."""
    choices: dict[str, Unknown] = {"error": "error", "warn": "warn", "missing": "missing"}
    if text not in choices:
        raise ParameterError(f"--unknown must be error, warn or missing. Got {text!r} instead.")
    return choices[text]


def missing_as_of(given: list[str] | None) -> dict[str, str] | str | None:
    """Read the values of --missing-as: 'auto', 'all', 'none', or columns with their labels.

    >>> missing_as_of(["smokes=not asked", "year=none"]), missing_as_of(["none"])
    ({'smokes': 'not asked', 'year': 'none'}, {})
    """
    if given is None or given in (["auto"], ["all"]):
        return None if given is None else given[0]
    if given == ["none"]:
        return {}
    labels: dict[str, str] = {}
    for text in given:
        column, equals, label = text.rpartition("=")
        if not equals or column in labels:
            raise ParameterError(
                "--missing-as must be 'auto', 'all', 'none', or COLUMN=LABEL once for each column. "
                f"Got {text!r} instead."
            )
        labels[column] = label
    return labels


def bins_of(given: list[str] | None) -> int | dict[str, int] | None:
    """Read the values of --bins: one number, or numbers of some columns.

    >>> bins_of(["20"]), bins_of(["age=20", "fare=5"])
    (20, {'age': 20, 'fare': 5})
    """
    if given is None or (len(given) == 1 and "=" not in given[0]):
        return None if given is None else _whole("--bins", given[0])
    return {column: _whole("--bins", text) for column, text in _by_column("--bins", "N", given).items()}


def edges_of(given: list[str] | None) -> dict[str, list[str]] | None:
    """Read the values of --edges: by column where to cut it.

    >>> edges_of(["age=0,18, 65"])
    {'age': ['0', '18', '65']}
    """
    if given is None:
        return None
    columns = _by_column("--edges", "N,N,…", given)
    return {column: [edge.strip() for edge in text.split(",")] for column, text in columns.items()}


def _by_column(option: str, what: str, given: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in given:
        column, equals, value = text.rpartition("=")
        if not equals or column in found:
            raise ParameterError(f"{option} must be COLUMN={what} once for each column. Got {text!r} instead.")
        found[column] = value
    return found


def _whole(option: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"{option} must be a whole number from 1, or COLUMN=N. Got {text!r} instead.") from None


def refuse_without_data(data: str | None, csv: Mapping[str, Any], more: Mapping[str, Any], *, after: str) -> None:
    """Refuse options about data if there are none: about CSV files unless they have their defaults, and others."""
    given = [name for name, value in csv.items() if value != CSV[name]] + [
        name for name, value in more.items() if value
    ]
    if data is None and given:
        raise ParameterError(f"--{given[0]} is about DATA, and there is none. Name the data after the {after}.")


def number_or(words: tuple[str, ...], option: str, text: str | None, kind: type[int] | type[float] = int) -> Any:
    """Read a number, or one of the words that may stand for it; None if the option was not given.

    >>> number_or(("auto", "cv"), "--rank", "5")
    5
    """
    if text is None or text in words:
        return text
    try:
        return kind(text)
    except ValueError:
        choices = ", ".join(map(repr, words))
        what = "a whole number from 1" if kind is int else "a number above 0"
        raise ParameterError(f"{option} must be {choices} or {what}. Got {text!r} instead.") from None
