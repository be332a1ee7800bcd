"""juror report: a model as a page to explore in the browser."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.cli import options
from juror.cli.bar import working
from juror.cli.data import rows_beside
from juror.cli.options import Drop, Model, Seed, UnknownOption, number_or, refuse_without_data, unknown_of
from juror.cli.output import tell_written, write_json
from juror.cli.places import refuse_inputs, refuse_no_file
from juror.cli.saved_files import read_model
from juror.cli.terminal import tell
from juror.errors import ParameterError
from juror.files.writing import check_place

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    model: Model,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA",
            help="Rows to compare the model with: a .csv, .parquet or .arrow file, a folder of them, or a glob.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Where to write the page, an .html file."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Write the facts of the page to stdout, as JSON.")] = False,
    rank: Annotated[
        str,
        typer.Option(
            metavar="CLASSES",
            help="The number of classes on the page: 'all', or a number to compress the model to; 'auto' keeps all if "
            "the page stays below 2 MB, and else as many as fit and are found in half a minute.",
        ),
    ] = "auto",
    sample_weight: options.Weight = None,
    drop: Drop = None,
    unknown: UnknownOption = "error",
    separator: options.Separator = None,
    quote: options.Quote = options.QUOTE,
    encoding: options.Encoding = options.ENCODING,
    decimal: options.Decimal = options.DECIMAL,
    seed: Seed = 0,
) -> None:
    """Write a page about MODEL that opens in any browser: click on what you know, and see what follows.

    The page is one file and needs no server or network. It shows how well the model fits the rows of DATA, or without
    DATA the rows that it was fitted to, whose counts it keeps.
    """
    csv = {"separator": separator, "quote": quote, "encoding": encoding, "decimal": decimal}
    _check(output, json, [model, data])
    classes, how = number_or(("auto", "all"), "--rank", rank), unknown_of(unknown)
    refuse_without_data(data, csv, {"weight": sample_weight, "drop": drop, "unknown": how != "error"}, after="model")
    began = time.perf_counter()
    loaded = read_model(model)
    rows = rows_beside(loaded.domain, data, csv, drop)
    _tell_compression(loaded, classes)
    # A slow import, after all arguments are checked
    from juror.report import Report

    with working("making the page"):
        report = Report(
            loaded, rows, name=model.name, rank=classes, unknown=how, sample_weight=sample_weight, seed=seed
        )
    facts = report.facts
    if json:
        write_json(facts)
    else:
        assert output is not None
        report.save(output)
        _tell_loss(facts["model"])
        tell_written(output, began)


def _check(output: Path | None, json: bool, inputs: list[str | Path | None]) -> None:
    """Refuse, before any work is done, an output that cannot be written or is also an input."""
    if json == (output is not None):
        raise ParameterError("Say where the page goes, -o report.html, or have its facts with --json: one of the two.")
    if output is not None:
        refuse_no_file(output)
        check_place(output)
        if output.suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"--output must end in .html. Got {output.name!r} instead.")
        refuse_inputs([output], inputs)


def _tell_compression(model: JointPMF, rank: Any) -> None:
    """Say that a smaller model is looked for first, which takes a while."""
    from juror.report.page_model import is_too_large

    if is_too_large(model, rank):
        small = f"of {rank:,} classes" if isinstance(rank, int) else "that has room in a page"
        tell(f"looking for the nearest model {small}; --rank all keeps all {model.rank:,} classes …")


def _tell_loss(model: dict[str, Any]) -> None:
    if model["rank"] < model["fitted_rank"]:
        tell(
            f"the page has a model of {model['rank']:,} classes, {model['loss']:.3g} nats a row from the fitted one; "
            f"tables of two variables differ by at most {model['pair_difference']:.2g}"
        )
