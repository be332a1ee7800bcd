"""juror info: describe a model or counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.cli import saved_files
from juror.cli.options import JsonFacts
from juror.cli.output import write_json

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model that 'juror fit' wrote, or counts that 'juror count' wrote."),
    ],
    json: JsonFacts = False,
) -> None:
    """Print the variables of MODEL, how it was fitted, and which variables depend on each other."""
    if saved_files.kind_of(model) in (None, "model"):
        loaded = saved_files.read_model(model)
        show(facts(loaded) if json else loaded.summary())
    else:
        counts = saved_files.read_counts(model)
        show(saved_files.facts(counts) if json else saved_files.described(counts))


def show(what: dict[str, Any] | str) -> None:
    """Print text as it is, and facts as JSON."""
    if isinstance(what, str):
        typer.echo(what)
    else:
        write_json(what)


def facts(model: JointPMF) -> dict[str, Any]:
    """Return the facts about a model as plain values."""
    fitted = None
    if model.info is not None:
        fitted = model.info.to_dict() | {"aic": model.info.aic, "bic": model.info.bic}
    return {"rank": model.rank, "variables": saved_files.variable_facts(model.domain), "fit": fitted}
