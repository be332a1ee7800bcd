"""The facts of a report: all that its page shows, as plain values that JSON can hold."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from juror.answers.profiles import class_profiles
from juror.report.carried import Carried, carried
from juror.sources.columns import as_text

if TYPE_CHECKING:
    from juror.model import JointPMF
    from juror.variable import Unknown, Variable

# Of so many classes a reader keeps an overview; a mean of fits is shown by the nearest model that has no more
_READABLE_CLASSES = 12
_MOST_CARDS = 24


def gather_facts(
    model: JointPMF,
    data: Any,
    *,
    name: str,
    rank: int | Literal["auto", "all"],
    sample_weight: Any,
    unknown: Unknown,
    seed: int,
) -> dict[str, Any]:
    """Return what a report tells about a model, and beside what data; see :class:`juror.Report`."""
    page = carried(model, rank, seed)
    return {
        "file": name,
        "variables": [_variable_facts(model, n) for n in range(len(model.domain))],
        "model": _model_facts(model, page),
        "dependence": _dependence_facts(model),
        "classes": _class_facts(model, page, seed),
        "fit": _fit_facts(model),
        "observed": None if data is None else _observed_facts(model, data, sample_weight, unknown, seed),
    }


def _variable_facts(model: JointPMF, n: int) -> dict[str, Any]:
    variable: Variable = model.domain[n]
    return {
        "name": variable.name,
        "kind": variable.kind,
        "labels": [as_text(label) for label in variable.labels],
        "edges": None if variable.edges is None else [float(edge) for edge in variable.edges],
        "probabilities": model.marginal(variable.name).to_numpy().tolist(),
    }


def _model_facts(model: JointPMF, page: Carried) -> dict[str, Any]:
    F = model.rank
    return {
        "rank": page.model.rank,
        "fitted_rank": F,
        "n_variables": len(model.domain),
        "n_parameters": F - 1 + F * sum(cardinality - 1 for cardinality in model.domain.cardinalities),
        "loss": page.loss,
        "standard_error": page.standard_error,
        "pair_difference": page.pair_difference,
        "weights": page.model.weights.tolist(),
        "factors": [factor.tolist() for factor in page.model.factors],
    }


def _dependence_facts(model: JointPMF) -> dict[str, Any]:
    matrix = model.dependence()
    order = [model.domain.position(name) for name in matrix.clustered().names]
    return {"order": order, "matrix": matrix.to_numpy().tolist()}


def _class_facts(model: JointPMF, page: Carried, seed: int) -> dict[str, Any]:
    """Tell what classes are typical of: those of the model, or for a mean of many fits those of one that is near."""
    is_mean = model.info is not None and (model.info.n_draws > 0 or model.info.n_members > 1)
    shown, compressed = model, None
    if is_mean and model.rank > _READABLE_CLASSES:
        # by way of the page's model, which is near and smaller
        shown = page.model.compress(_READABLE_CLASSES, seed=seed)
        assert shown.info is not None
        step = shown.info.compressed[-1]
        loss = page.loss + max(0.0, step.loss)
        error = math.hypot(page.standard_error, step.standard_error)
        compressed = {"rank": model.rank, "loss": loss, "standard_error": error}
    profiles = class_profiles(shown)
    cards = [asdict(profile) for profile in profiles[:_MOST_CARDS]]
    for card in cards:
        card["traits"] = [trait | {"label": as_text(trait["label"])} for trait in card["traits"]]
    return {
        "n_classes": len(profiles),
        "shown_weight": sum(card["weight"] for card in cards),
        "compressed": compressed,
        "profiles": cards,
    }


def _fit_facts(model: JointPMF) -> dict[str, Any] | None:
    if model.info is None:
        return None
    told = model.info.to_dict() | {"aic": model.info.aic, "bic": model.info.bic}
    told["starts"] = [start if math.isfinite(start) else None for start in told["starts"]]
    told["trace"] = [step if math.isfinite(step) else None for step in told["trace"]]
    return told


def _observed_facts(model: JointPMF, data: Any, sample_weight: Any, unknown: Unknown, seed: int) -> dict[str, Any]:
    from juror.report.observed import observed_facts  # reads tables, which takes what is slow to import

    return observed_facts(model, data, unknown=unknown, weight=sample_weight, seed=seed)
