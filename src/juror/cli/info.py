"""juror info: describe a model or counts."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from juror.cli import saved_files, terminal
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
        show(facts(loaded, model) if json else described(loaded, model))
    else:
        counts = saved_files.read_counts(model)
        show(saved_files.facts(counts) if json else saved_files.described(counts))


def show(what: dict[str, Any] | str) -> None:
    """Print text as it is, and facts as JSON."""
    if isinstance(what, str):
        terminal.show(what)
    else:
        write_json(what)


def described(model: JointPMF, path: Path) -> str:
    """Return the summary of a model, and what its file at a path says about counts."""
    if model.counts is None:
        return model.summary()
    size = f"{_counts_bytes(path) / 1024:,.1f} kB of the file"
    return f"{model.summary()}\nhas the pair counts: {saved_files.in_a_line(model.counts)}, {size}"


def facts(model: JointPMF, path: Path) -> dict[str, Any]:
    """Return the facts about a model, saved at a path, as plain values."""
    fitted, counts = None, None
    if model.info is not None:
        fitted = model.info.to_dict() | {"aic": model.info.aic, "bic": model.info.bic}
    if model.counts is not None:
        n_cells = sum(table.size for table in model.counts.tables)
        counts = {"rows": model.counts.n_rows, "tables": len(model.counts.tables), "cells": n_cells}
        counts |= {"bytes": _counts_bytes(path)}
    variables = saved_files.variable_facts(model.domain)
    return {"rank": model.rank, "variables": variables, "fit": fitted, "counts": counts}


def _counts_bytes(path: Path) -> int:
    from juror.model.file_format import counts_bytes

    return counts_bytes(path)
