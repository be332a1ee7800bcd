"""The facts of a report: all that its page shows, as plain values that JSON can hold."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from juror.answers.information import divergence
from juror.answers.profiles import class_profiles, readable_rank
from juror.answers.sampling import generator
from juror.counts.seen import pass_over
from juror.readers.columns import as_text
from juror.record import finite
from juror.report.carried import Carried, carried, wanted_rank
from juror.report.observed import observed_facts
from juror.solvers.parameters import n_parameters

if TYPE_CHECKING:
    from juror.domain.variable import Unknown, Variable
    from juror.model import JointPMF

_MOST_CARDS = 24
# by which the distance of a model from another is told where their tables are large
_DRAWS = 5_000


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
    wanted_rank(model, rank)
    # before what takes long: data that do not fit the model are told at once
    seen = None if data is None else pass_over(data, model.domain, unknown=unknown, weight=sample_weight, seed=seed)
    page = carried(model, rank, seed)
    # all but the fit is of the model that the page has, so that no two numbers on it disagree
    return {
        "file": name,
        "variables": [_variable_facts(page.model, n) for n in range(len(model.domain))],
        "model": _model_facts(model, page),
        "dependence": _dependence_facts(page.model),
        "classes": _class_facts(model, page, seed),
        "fit": _fit_facts(model),
        "observed": None if seen is None else observed_facts(page.model, seen, seed=seed),
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
    return {
        "rank": page.model.rank,
        "fitted_rank": model.rank,
        "n_variables": len(model.domain),
        "n_parameters": n_parameters(model.rank, model.domain.cardinalities),
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
    shown, compressed, wanted = page.model, None, readable_rank(model.info, model.rank)
    if wanted < model.rank:
        # by way of the page's model, which is near and smaller
        shown = page.model.compress(wanted, seed=seed)
        loss = divergence(model, shown, _DRAWS, generator(seed))
        compressed = {"rank": model.rank, "loss": float(loss), "standard_error": loss.standard_error}
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
    info = model.info
    more = {"aic": info.aic, "bic": info.bic, "chosen_rank": info.chosen_rank}
    told: dict[str, Any] = finite(info.to_dict() | more)
    return told
