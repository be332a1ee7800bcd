"""juror fit: learn the joint distribution of rows, or of counts of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import juror
from juror.cli import options
from juror.cli.bar import progress_bar
from juror.cli.clusters import cluster
from juror.cli.counted import check_place, kind_of, read_counts, refuse_for_counts
from juror.cli.data import DataArguments, source_of
from juror.cli.info import facts
from juror.cli.options import number_or
from juror.cli.output import tell_written, write_json
from juror.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    data: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help=".csv, .parquet or .arrow files, folders of them, globs in quotes, counts that 'juror count' wrote, "
            "or with --database a query.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the model.", show_default=False)],
    rank: Annotated[
        str, typer.Option(help="The number of classes; 'auto' or 'cv' to choose it on held-out rows or folds.")
    ] = "auto",
    method: Annotated[str, typer.Option(help="The solver: auto, em, bayes, spa, spa-em, ctf, juror-a …")] = "auto",
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict.", show_default=False)
    ] = None,
    weight: options.Weight = None,
    missing: options.Missing = None,
    drop: options.Drop = None,
    bins: options.Bins = None,
    max_levels: options.MaxLevels = options.MAX_LEVELS,
    smoothing: Annotated[
        float | None,
        typer.Option(help="A pseudo-count a cell; 0.1 or chosen by default, 0 for none.", show_default=False),
    ] = None,
    starts: Annotated[
        int | None,
        typer.Option(
            help="How many random starts, for em (which searches by default) and ctf (3).", show_default=False
        ),
    ] = None,
    ensemble: Annotated[
        str | None, typer.Option(help="How many fits em shall average, or 'auto'.", show_default=False)
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option(help="A budget of time, for em, spa-em and bayes.", show_default=False)
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(help="The most passes or steps from one start.", show_default=False)
    ] = None,
    tol: Annotated[
        float | None,
        typer.Option(help="Stop when a step gains at most this, in nats a row or of the misfit.", show_default=False),
    ] = None,
    directions: Annotated[
        int | None, typer.Option(help="How many projections of a pair, for juror; 200 by default.", show_default=False)
    ] = None,
    inversion: Annotated[
        str | None, typer.Option(help="How juror inverts projections: lstsq or fbp.", show_default=False)
    ] = None,
    rho: Annotated[
        str | None, typer.Option(help="How strongly juror couples pair tables: a number or 'cv'.", show_default=False)
    ] = None,
    memory: options.Memory = options.MEMORY,
    database: options.Database = None,
    dask: options.Dask = None,
    spark: options.Spark = None,
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    jobs: options.Jobs = None,
    seed: options.Seed = 0,
    json: options.JsonFacts = False,
) -> None:
    """Fit the joint distribution of DATA, write the model and print a summary of it."""
    began = time.perf_counter()
    check_place(output, data, "a model", ".juror")
    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    clusters = {"--dask": dask, "--spark": spark}
    settings = {"rank": _rank(rank), "method": method, "seed": seed, "target": target, "n_jobs": jobs} | _given(
        n_init=starts,
        ensemble=None if ensemble is None else number_or("auto", "--ensemble", ensemble, int),
        max_seconds=max_seconds,
        smoothing=smoothing,
        max_iter=max_iter,
        tol=tol,
        n_directions=directions,
        inversion=inversion,
        rho=None if rho is None else number_or("cv", "--rho", rho, float),
    )
    if database is None and _holds_counts(data):
        (counts,) = data
        about_rows = {"--missing": missing, "--drop": drop, "--weight": weight, "--bins": bins, **clusters}
        refuse_for_counts(
            Path(counts),
            {option: value is not None for option, value in about_rows.items()}
            | {"--max-levels": max_levels != options.MAX_LEVELS, "--memory": memory != options.MEMORY}
            | {f"--{name}": value != options.CSV[name] for name, value in csv.items()},
        )
        model = _fit_counts(Path(counts), settings)
    else:
        source = source_of(data, database, csv, clusters)
        table = DataArguments(source, missing or (), drop or (), weight, bins, max_levels, jobs)
        model = _fit_rows(table, memory, dask, spark, settings)
    model.save(output)
    if json:
        write_json(facts(model))
    else:
        typer.echo(model.summary())
    tell_written(output, began)


def _holds_counts(data: Sequence[str]) -> bool:
    kinds = {path: kind_of(Path(path)) for path in data}
    for path, kind in kinds.items():
        if kind == "model":
            raise ModelFileError(
                f"The file {path!r} holds a model, and juror fits models to data or counts. Name these."
            )
        if kind is not None and len(data) > 1:
            raise ParameterError(f"The file {path!r} holds counts. Add files of counts up with 'juror merge' first.")
    return any(kind is not None for kind in kinds.values())


def _fit_counts(path: Path, settings: dict[str, Any]) -> JointPMF:
    if settings["rank"] in ("auto", "cv"):
        raise ParameterError(
            f"--rank {settings['rank']} needs rows to hold out, and counts have none. Pass a number, as in --rank 5."
        )
    counts = read_counts(path)
    with progress_bar() as progress:
        return juror.fit(counts, progress=progress, **settings)


def _fit_rows(
    table: DataArguments, memory: str, dask: str | None, spark: str | None, settings: dict[str, Any]
) -> JointPMF:
    from juror.runners.memory import read_memory

    read_memory(memory)  # what is wrong with it is told before anything is read
    with cluster(dask, spark) as client, progress_bar("reading") as progress:
        scan = table.scan()
        domain = table.infer(scan, client)
        return juror.fit(
            scan,
            domain=domain,
            sample_weight=table.weight,
            memory=memory,
            client=client,
            progress=progress,
            **settings,
        )


def _given(**values: Any) -> dict[str, Any]:
    """Return the options that were given, so that a method can refuse what it does not have."""
    return {name: value for name, value in values.items() if value is not None}


def _rank(text: str) -> int | str:
    if text in ("auto", "cv"):
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"--rank must be 'auto', 'cv' or a whole number from 1. Got {text!r} instead.") from None
