"""juror fit: learn the joint distribution of rows, or of counts of rows."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import juror
from juror.cli import options
from juror.cli.bar import progress_bar
from juror.cli.connect import cluster
from juror.cli.data import DataArguments, source_of
from juror.cli.info import described, facts, show
from juror.cli.options import missing_as_of, number_or
from juror.cli.output import tell_written
from juror.cli.places import refuse_inputs
from juror.cli.saved_files import check_name_for, kind_of, read_counts, refuse_for_counts
from juror.cli.terminal import is_open
from juror.errors import ModelFileError, ParameterError

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    data: options.RowsOrCounts,
    output: options.ModelOutput,
    rank: options.Rank = "auto",
    method: options.Method = "auto",
    target: options.Target = None,
    smoothing: options.Smoothing = None,
    n_init: options.Starts = None,
    ensemble: options.Ensemble = None,
    forest: options.Forest = None,
    max_seconds: options.MaxSeconds = None,
    max_iter: options.MaxIter = None,
    tol: options.Tol = None,
    n_directions: options.Directions = None,
    inversion: options.Inversion = None,
    rho: options.Rho = None,
    sample_weight: options.Weight = None,
    missing: options.Missing = None,
    missing_as: options.MissingAs = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    bins: options.Bins = None,
    edges: options.Edges = None,
    max_levels: options.MaxLevels = options.MAX_LEVELS,
    memory: options.Memory = options.MEMORY,
    database: options.Database = None,
    dask: options.Dask = None,
    spark: options.Spark = None,
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    n_jobs: options.Jobs = None,
    device: options.Device = "cpu",
    seed: options.Seed = 0,
    keep_counts: options.KeepCounts = True,
    json: options.JsonFacts = False,
) -> None:
    """Fit the joint distribution of DATA, write the model and print a summary of it."""
    began = time.perf_counter()
    check_name_for(output, "a model", ".juror")
    refuse_inputs([output], [*data, database])
    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    clusters = {"--dask": dask, "--spark": spark}
    general = {"method": method, "target": target, "n_jobs": n_jobs, "seed": seed, "keep_counts": keep_counts}
    general |= {"device": device}
    steps = {"n_init": n_init, "max_seconds": max_seconds, "max_iter": max_iter, "tol": tol}
    of_methods = {"smoothing": smoothing, "forest": forest, "n_directions": n_directions, "inversion": inversion}
    numbers = {
        "rank": number_or(("auto", "cv"), "--rank", rank),
        "ensemble": number_or(("auto",), "--ensemble", ensemble),
        "rho": number_or(("cv",), "--rho", rho, float),
    }
    # A method refuses options that it does not have, so pass on only those that were given.
    settings = {name: value for name, value in (general | steps | of_methods | numbers).items() if value is not None}
    if database is None and _holds_counts(data):
        (counts,) = data
        cells = {"missing": missing, "missing_as": missing_as, "sample_weight": sample_weight}
        cuts = {"columns": columns, "drop": drop, "bins": bins, "edges": edges, "max_levels": max_levels}
        refuse_for_counts(Path(counts), cells | cuts | {"memory": memory, "dask": dask, "spark": spark} | csv)
        model = _fit_counts(Path(counts), settings)
    else:
        source = source_of(data, database, csv, clusters)
        table = DataArguments(
            source, missing or (), columns or (), drop or (), sample_weight, bins, edges, max_levels, n_jobs
        )
        model = _fit_rows(table, memory, dask, spark, settings | {"missing_as": missing_as_of(missing_as)})
    model.save(output)
    if is_open():
        show(facts(model, output) if json else described(model, output))
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
    counts = read_counts(path)
    with progress_bar() as progress:
        return juror.fit(counts, progress=progress, **settings)


def _fit_rows(
    table: DataArguments, memory: str, dask: str | None, spark: str | None, settings: dict[str, Any]
) -> JointPMF:
    from juror.runners.memory import read_memory

    read_memory(memory)  # refuse a wrong amount before anything is read
    with cluster(dask, spark) as client, progress_bar("reading") as progress:
        scan = table.scan()
        return juror.fit(
            scan,
            **table.how_to_find(scan, client, settings.get("target")),
            sample_weight=table.sample_weight,
            memory=memory,
            client=client,
            progress=progress,
            **settings,
        )
