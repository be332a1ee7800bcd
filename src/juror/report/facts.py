"""The facts of a report: all that its page shows, as plain values that JSON can hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from juror.answers.checking import worth_of_rows
from juror.answers.information import dependence as dependence_of
from juror.answers.information import divergence
from juror.answers.marginals import marginal
from juror.answers.pairs import keeping_pairs
from juror.answers.profiles import ClassProfile, class_profiles, readable_rank
from juror.answers.sampling import generator
from juror.errors import ModelError
from juror.model.backing import refuse_rows
from juror.readers.columns import as_text
from juror.record import finite
from juror.report.carried_pairs import carry
from juror.report.counted import counted_dependence
from juror.report.drawn_forest import forest_facts
from juror.report.number_facts import number_facts
from juror.report.observed import counts_of, facts_of_counts, observed_facts
from juror.report.page_model import PageModel, check_rank, compressed_in_time, make_page_model
from juror.report.seen import Seen, pass_over

if TYPE_CHECKING:
    from juror.counts.counts import PairCounts
    from juror.domain.variable import Unknown
    from juror.model import JointPMF

_MOST_CARDS = 24
# More pairs take minutes and make pages that no browser likes.
_MOST_VARIABLES = 400
# Steps of EM × blocks to find the classes to show; people read them, and nothing is computed from them.
_WORK_ON_CLASSES = 400
# Draws to estimate the distance of two models whose tables are too large to write out
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
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what a report says about a model, and about data if there are any; see :class:`juror.Report`.

    Also return the ``blocks`` of the page's model and the tables of ``pairs`` as the page has them.
    """
    check_rank(rank)
    _check_size(model)
    if data is not None:
        refuse_rows(model.conditions, "Leave the data out, or report about the model before that.")
    # Data that do not fit the model are refused before the slow work starts.
    seen = None if data is None else pass_over(data, model.domain, unknown=unknown, weight=sample_weight, seed=seed)
    with keeping_pairs(model):
        return _facts_of(model, seen, name, rank, seed)


def _facts_of(
    model: JointPMF, seen: Seen | None, name: str, rank: int | Literal["auto", "all"], seed: int
) -> tuple[dict[str, Any], dict[str, Any]]:
    page = make_page_model(model, rank, seed)
    size, fit = _model_facts(model, page)
    # Without data there may be the counts of the rows that the model was fitted to.
    counts = model.counts if seen is None else counts_of(seen, model.domain)
    # Facts about one and two variables are those of the fitted model. The rest is about the model of the page, which
    # computes the answers with more conditions.
    shown = page.model
    profiles, distance = _shown_classes(model, page, seed)
    facts = {
        "file": name,
        "variables": [_variable_facts(model, n) for n in range(len(model.domain))],
        "model": size,
        "dependence": _dependence_facts(model, counts),
        "forest": _forest_facts(model, shown),
        "classes": _class_facts(profiles, distance),
        "fit": fit,
        "observed": _observed_facts(model, page, seen, counts, seed),
        "pairs": None,
    }
    carried = carry(model, page, counts, facts, is_large=rank == "all")
    if counts is not None:
        carried.worth = worth_of_rows(model.info) if seen is None else seen.weights.worth
    return facts | {"pairs": carried.plain()}, {"blocks": page.packed, "pairs": carried.packed()}


def _check_size(model: JointPMF) -> None:
    """Refuse a model of too many variables before the slow work starts: a page is about every pair of them."""
    n = len(model.domain)
    if n > _MOST_VARIABLES:
        raise ModelError(
            f"A page about {n:,} variables would describe {n * (n - 1) // 2:,} pairs; juror makes pages of up to "
            f"{_MOST_VARIABLES} variables. Fit a model of fewer columns for the page."
        )


def _variable_facts(model: JointPMF, n: int) -> dict[str, Any]:
    variable, probabilities = model.domain[n], marginal(model, [n])
    return {
        "name": variable.name,
        "kind": variable.kind,
        "labels": [as_text(label) for label in variable.labels],
        # a label for missing cells is the last one, and has no place in the order
        "n_ordered": len(variable.present_labels) if variable.is_ordered else 0,
        "edges": None if variable.edges is None else [float(edge) for edge in variable.edges],
        "probabilities": probabilities.tolist(),
        "number": number_facts(variable, probabilities),
    }


def _forest_facts(model: JointPMF, shown: JointPMF) -> dict[str, Any] | None:
    """Return the forest of the page's model, beside the number of blocks of the fitted one."""
    facts = forest_facts(shown)
    return None if facts is None else facts | {"fitted_blocks": len(model.blocks)}


def _dependence_facts(model: JointPMF, counts: PairCounts | None) -> dict[str, Any]:
    """Return the dependence of every two variables by the model and by the rows, and an order of the variables."""
    fitted = dependence_of(model, "normalised")
    counted = None if counts is None else counted_dependence(counts)
    # Neighbours depend on each other in the rows if there are any, as these rank the pairs on the page.
    ranked = fitted if counted is None else replace(fitted, _matrix=np.nan_to_num(np.array(counted, dtype=float)))
    order = [model.domain.position(name) for name in ranked.clustered().names]
    return {"order": order, "matrix": fitted.to_numpy().tolist(), "counted": counted}


def _observed_facts(
    model: JointPMF, page: PageModel, seen: Seen | None, counts: PairCounts | None, seed: int
) -> dict[str, Any] | None:
    if seen is not None:
        return observed_facts(model, seen, by=page.model, seed=seed)
    return None if counts is None else facts_of_counts(model, counts, worth_of_rows(model.info))


def _model_facts(model: JointPMF, page: PageModel) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Return the parameters and the size of the page's model, and how the model was fitted if it says so."""
    info = model.info
    # The weights of all classes sum to one.
    n_parameters = sum(block.n_parameters for block in model.blocks) - 1 if info is None else info.n_parameters
    size = {
        "rank": page.model.rank,
        "fitted_rank": model.rank,
        "fitted_blocks": len(model.blocks),
        "n_variables": len(model.domain),
        "n_parameters": n_parameters,
        "loss": page.loss,
        "standard_error": page.standard_error,
        "pair_difference": page.pair_difference,
        "bits": page.bits,
        "blocks": [
            {
                "weights": block.weights.tolist(),
                "parents": block.parents.tolist(),
                "tables": [table.tolist() for table in block.tables],
            }
            for block in page.model.blocks
        ],
    }
    if info is None:
        return size, None
    derived = {"aic": info.aic, "bic": info.bic, "chosen_rank": info.chosen_rank, "diagnostics": info.diagnostics()}
    # Of fits whose rank was given, the record names contradicted answers without a warning.
    is_told = not info.worst or any(info.worst in warning for warning in info.warnings)
    contradicted = [] if is_told else [f"{info.worst}. The model has not learned this."]
    return size, finite(info.to_dict() | derived | {"warnings": [*info.warnings, *contradicted]})


def _shown_classes(
    model: JointPMF, page: PageModel, seed: int
) -> tuple[Sequence[ClassProfile], dict[str, float] | None]:
    """Return the classes to show: those of the model, or of a small model near it if it is a mean of many fits.

    For a small model, also return how far it is from the fitted one.
    """
    wanted = readable_rank(model.info, model.rank)
    if wanted == model.rank:
        return class_profiles(page.model), None
    # The page's model is near the fitted one and smaller, so it is quicker to compress.
    shown = compressed_in_time(page.model, wanted, seed, _WORK_ON_CLASSES)
    loss = divergence(model, shown, _DRAWS, generator(seed))
    distance = {"rank": model.rank, "loss": float(loss), "standard_error": loss.standard_error}
    return class_profiles(shown), distance


def _class_facts(profiles: Sequence[ClassProfile], distance: dict[str, float] | None) -> dict[str, Any]:
    cards = [asdict(profile) for profile in profiles[:_MOST_CARDS]]
    for card in cards:
        card["traits"] = [trait | {"label": as_text(trait["label"])} for trait in card["traits"]]
    return {
        "n_classes": len(profiles),
        "shown_weight": sum(card["weight"] for card in cards),
        "compressed": distance,
        "profiles": cards,
    }
