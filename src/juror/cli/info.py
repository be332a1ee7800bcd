"""juror info: what a model is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

import juror
from juror.cli.options import Json, Model
from juror.cli.tables import write_json

if TYPE_CHECKING:
    from juror.model import JointPMF


def command(model: Model, json: Json = False) -> None:
    """Print the variables of MODEL, how it was fitted, and what depends on what."""
    loaded = juror.load(model)
    if json:
        write_json(facts(loaded))
    else:
        typer.echo(loaded.summary())


def facts(model: JointPMF) -> dict[str, Any]:
    """Return what there is to know about a model, as plain values."""
    fitted = None
    if model.info is not None:
        fitted = model.info.to_dict() | {"aic": model.info.aic, "bic": model.info.bic}
    return {
        "rank": model.rank,
        "variables": [
            {"name": v.name, "kind": v.kind, "labels": list(v.labels), "edges": list(v.edges) if v.edges else None}
            for v in model.domain
        ],
        "fit": fitted,
    }
