"""juror fit: learn the joint distribution of a file."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import juror
from juror.cli.bar import progress_bar
from juror.cli.info import facts
from juror.cli.options import Data, Drop, Json, Seed
from juror.cli.tables import read_file, write_json
from juror.errors import ParameterError

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    data: Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the model.", show_default=False)],
    rank: Annotated[
        str, typer.Option(help="The number of classes; 'auto' or 'cv' to choose it on held-out rows or folds.")
    ] = "auto",
    method: Annotated[str, typer.Option(help="The solver: auto, em, bayes, spa, spa-em, ctf, juror-a …")] = "auto",
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column to predict.", show_default=False)
    ] = None,
    weight: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of row weights or counts.", show_default=False)
    ] = None,
    missing: Annotated[
        list[str] | None, typer.Option(metavar="MARKER", help="A marker that means missing, like '?'; may be repeated.")
    ] = None,
    drop: Drop = None,
    bins: Annotated[
        int | None, typer.Option(help="How many intervals for columns of many numbers.", show_default=False)
    ] = None,
    max_levels: Annotated[int, typer.Option(help="The most labels a column may have.")] = 1000,
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
    jobs: Annotated[
        int | None, typer.Option(help="How many threads; all cores by default.", show_default=False)
    ] = None,
    seed: Seed = 0,
    json: Json = False,
) -> None:
    """Fit the joint distribution of DATA, write the model and print a summary of it."""
    # what takes long to import waits until it is asked for
    from juror.files import check_name
    from juror.sources import open_source
    from juror.statistics.reading import take_weights

    check_name(output)
    began = time.perf_counter()
    columns = open_source(read_file(data, drop, missing or ()), missing or ())
    weights = None
    if weight is not None:
        columns, weights = take_weights(columns, weight)
    domain = juror.Domain.infer(columns, missing=missing or (), bins=bins, max_levels=max_levels, sample_weight=weights)
    with progress_bar() as progress:
        model = juror.fit(
            columns,
            rank=_rank(rank),
            method=method,
            seed=seed,
            domain=domain,
            sample_weight=weights,
            target=target,
            progress=progress,
            n_jobs=jobs,
            **_given(
                n_init=starts,
                ensemble=None if ensemble is None else _number_or("auto", "--ensemble", ensemble, int),
                max_seconds=max_seconds,
                smoothing=smoothing,
                max_iter=max_iter,
                tol=tol,
                n_directions=directions,
                inversion=inversion,
                rho=None if rho is None else _number_or("cv", "--rho", rho, float),
            ),
        )
    model.save(output)
    _tell(model, output, time.perf_counter() - began, json)


def _given(**options: Any) -> Any:
    """Return the options that were given, so that a method can refuse what it does not have."""
    return {name: value for name, value in options.items() if value is not None}


def _rank(text: str) -> int | str:
    if text in ("auto", "cv"):
        return text
    try:
        return int(text)
    except ValueError:
        raise ParameterError(f"--rank must be 'auto', 'cv' or a whole number from 1. Got {text!r} instead.") from None


def _number_or(word: str, option: str, text: str, kind: type[int] | type[float]) -> int | float | str:
    """Read a number, or leave the one word that may stand for it."""
    if text == word:
        return text
    try:
        return kind(text)
    except ValueError:
        what = "a whole number from 1" if kind is int else "a number above 0"
        raise ParameterError(f"{option} must be {word!r} or {what}. Got {text!r} instead.") from None


def _tell(model: JointPMF, output: Path, seconds: float, json: bool) -> None:
    if json:
        write_json(facts(model))
    else:
        typer.echo(model.summary())
    typer.echo(f"wrote {output} ({output.stat().st_size / 1024:.0f} kB) after {seconds:.1f} s", err=True)
