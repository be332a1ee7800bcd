"""juror info: what a model or counts are about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import juror
from juror.cli import counted
from juror.cli.options import JsonFacts
from juror.cli.output import write_json

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    model: Annotated[
        Path,
        typer.Argument(
            metavar="MODEL", help="A model that 'juror fit' wrote, or counts of 'juror count'.", show_default=False
        ),
    ],
    json: JsonFacts = False,
) -> None:
    """Print the variables of MODEL, how it was fitted, and what depends on what; or what counts hold."""
    if counted.kind_of(model) in (None, "model"):
        loaded = juror.load(model)
        _tell(facts(loaded) if json else loaded.summary())
    else:
        counts = counted.read_counts(model)
        _tell(counted.facts(counts) if json else counted.described(counts))


def _tell(what: dict[str, Any] | str) -> None:
    if isinstance(what, str):
        typer.echo(what)
    else:
        write_json(what)


def facts(model: JointPMF) -> dict[str, Any]:
    """Return what there is to know about a model, as plain values."""
    fitted = None
    if model.info is not None:
        fitted = model.info.to_dict() | {"aic": model.info.aic, "bic": model.info.bic}
    return {"rank": model.rank, "variables": counted.variable_facts(model.domain), "fit": fitted}
