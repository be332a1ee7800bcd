"""juror count: count labels, so that a model can be fitted without the rows."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import juror
from juror.cli import options
from juror.cli.bar import reading
from juror.cli.connect import cluster
from juror.cli.data import DataArguments, source_of
from juror.cli.info import show
from juror.cli.options import number_or
from juror.cli.output import tell_written
from juror.cli.places import refuse_inputs
from juror.cli.saved_files import check_name_for, facts, in_a_line, read_domain, refuse_counts
from juror.cli.terminal import is_open
from juror.errors import DataError, ParameterError, check_choice, shortlist

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts, TripleCounts
    from juror.domain import Domain
    from juror.readers.scans import Scan


_UNKNOWN = ("error", "warn", "missing", "add")


def command(
    data: options.Rows,
    output: options.CountsOutput,
    triples: Annotated[
        str | None,
        typer.Option(metavar="N", help="Count triples of columns, not pairs: 'all', or N of them, drawn by --seed."),
    ] = None,
    domain: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Take columns, labels and intervals from this model or these counts, to count alike."
        ),
    ] = None,
    unknown: Annotated[
        str, typer.Option(help="What to do with labels that --domain does not know: error, warn, missing or add.")
    ] = "error",
    sample_weight: options.Weight = None,
    missing: options.Missing = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    bins: options.Bins = None,
    edges: options.Edges = None,
    max_levels: options.MaxLevels = options.MAX_LEVELS,
    database: options.Database = None,
    dask: options.Dask = None,
    spark: options.Spark = None,
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    n_jobs: options.Jobs = None,
    seed: options.Seed = 0,
    json: options.JsonFacts = False,
) -> None:
    """Count how often the labels of every two columns of DATA occur together, and write the counts."""
    began = time.perf_counter()
    check_name_for(output, "counts", ".counts")
    refuse_inputs([output], [*data, database, domain])
    if database is None:
        refuse_counts(data)
    asked = number_or(("all",), "--triples", triples)
    cut = {"--bins": bins is not None, "--edges": edges is not None, "--max-levels": max_levels != options.MAX_LEVELS}
    known = _known(domain, unknown, {"--missing": missing is not None, **cut})
    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    source = source_of(data, database, csv, {"--dask": dask, "--spark": spark})
    table = DataArguments(
        source, missing or (), columns or (), drop or (), sample_weight, bins, edges, max_levels, n_jobs
    )
    with cluster(dask, spark) as client, reading(", ".join(data)):
        scan = table.scan(known)
        if unknown == "add" or any(cut.values()):
            known, unknown = table.infer(scan, client, known), "error"
        how = {"sample_weight": sample_weight, "unknown": unknown, "n_jobs": n_jobs, "client": client}
        how |= {"missing": table.missing} if known is None else {"domain": known}
        counts = _count(scan, asked, seed, how)
    counts.save(output)
    if is_open():
        show(facts(counts) if json else f"counted {in_a_line(counts)}")
    tell_written(output, began)


def _known(path: Path | None, unknown: str, given: dict[str, bool]) -> Domain | None:
    """Return the domain of --domain, or None; refuse options that need --domain, or contradict it."""
    check_choice("unknown", unknown, _UNKNOWN)
    if path is None:
        if unknown != "error":
            raise ParameterError("--unknown is about labels that --domain does not know. Leave it out, or name one.")
        return None
    for option, is_given in given.items():
        if is_given:
            raise ParameterError(f"{option} and --domain both say how columns are read. Leave one of them out.")
    return read_domain(path)


def _count(scan: Scan, triples: Any, seed: int, how: dict[str, Any]) -> PairCounts | TripleCounts:
    weight = how["sample_weight"]
    columns = [name for name in scan.names if name != weight]
    least, what = (2, "Pairs") if triples is None else (3, "Triples")
    # The library itself refuses a column of weights that does not exist.
    if len(columns) < least and weight in (None, *scan.names):
        raise DataError(f"{what} need at least {least} columns. There is only {shortlist(columns)} to count.")
    try:
        if triples is None:
            return juror.PairCounts.of(scan, **how)
        return juror.TripleCounts.of(scan, triples=triples, seed=seed, **how)
    except DataError as error:
        if error.option != "unknown":
            raise
        raise DataError("{error} Or pass {unknown:='add'} to add it to the labels.", error=error) from None
