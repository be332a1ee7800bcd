"""juror info: what a model is about."""

from __future__ import annotations

from typing import Any

import typer

from juror.answers.tables import align
from juror.cli.options import Json, Model
from juror.cli.tables import write_json
from juror.model import JointPMF, load
from juror.variable import Variable


def command(model: Model, json: Json = False) -> None:
    """Print the variables of MODEL, how it was fitted, and what depends on what."""
    loaded = load(model)
    if json:
        write_json(facts(loaded))
    else:
        typer.echo(summary(loaded))


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


def summary(model: JointPMF) -> str:
    """Return a page about a model, for people."""
    lines = [f"A joint distribution of {len(model.domain)} variables, rank {model.rank}", ""]
    body = [[v.name, v.kind, str(v.cardinality), _labels(v)] for v in model.domain]
    lines += [align(["variable", "kind", "labels", ""], body, n_text=2), ""]
    if model.info is not None:
        fit = model.info
        lines += [
            f"fitted to {fit.n_rows:,.0f} rows, {fit.n_distinct:,} distinct, by {fit.method}",
            f"log-likelihood {fit.log_likelihood:,.1f}, {fit.log_likelihood / fit.n_rows:.4f} a row; "
            f"{fit.n_parameters:,} parameters, AIC {fit.aic:,.1f}, BIC {fit.bic:,.1f}",
            f"smoothing {fit.smoothing:g}; best of {len(fit.starts)} starts; {fit.n_iter} passes; {fit.stopped}",
        ]
        if fit.rank_path:
            tried = ", ".join(f"{step.rank}: {step.score:.4f}" for step in fit.rank_path)
            lines.append(f"rank chosen on held-out rows, nats a row: {tried}")
        if fit.target is not None:
            lines.append(f"made to predict {fit.target}")
        lines += [f"warning: {complaint}" for complaint in fit.warnings]
    pairs = [f"{a} and {b} {x:.3f}" for a, b, x in model.dependence().strongest(5) if x >= 0.001]
    if pairs:
        lines.append(f"most dependent, as a share of the smaller entropy: {'; '.join(pairs)}")
    return "\n".join(lines)


def _labels(variable: Variable) -> str:
    shown = ", ".join(str(label) for label in variable.labels[:6])
    return shown + (", …" if variable.cardinality > 6 else "")
