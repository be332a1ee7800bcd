"""What ``method="auto"`` stands for: decided from the size of the table, the target and the options given."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts, TripleCounts
from juror.counts.projections import Projections
from juror.domain import Domain
from juror.errors import ParameterError, did_you_mean, shortlist
from juror.rows.distinct import WeightedRows
from juror.rows.far import FarRows
from juror.solvers.methods import ALL_OPTIONS, METHODS, Statistic

# Sampling takes seconds up to here. With more rows an average of EM fits is as good or better, and sooner there.
_MOST_SAMPLED = 100_000
# EM keeps the distinct rows in memory and passes over them some hundred times: an hour or so.
_MOST_PASSED = 1_000_000_000
# What Domain.infer has, and people try to tell the fit
_OF_DOMAINS = frozenset({"bins", "edges", "levels", "max_levels"})


_WHAT = {PairCounts: "counts of pairs", TripleCounts: "counts of triples", Projections: "projections of pairs"}


@dataclass(frozen=True)
class Decision:
    """A method, options that go with the decision, and the reason in words; no reason where the user decided."""

    method: str
    options: Mapping[str, Any] = field(default_factory=dict)
    why: str = ""


def decide_for_statistic(data: Statistic, method: str) -> Decision:
    """Return CTF for triples and JUROR for pairs and projections, or the method named if it can be fitted from them."""
    if method == "auto":
        method = "ctf" if isinstance(data, TripleCounts) else "juror-b"
        return Decision(method, why=f"{method}, which needs no more than {_WHAT[type(data)]}")
    if not isinstance(data, METHODS[method].accepts):
        able = [other for other, known in METHODS.items() if isinstance(data, known.accepts)]
        raise ParameterError(
            f"method {method!r} cannot be fitted from {type(data).__name__}. Use one of {shortlist(able)}."
        )
    return Decision(method)


def decide_for_rows(
    rows: WeightedRows, domain: Domain, rank: int | str, method: str, target: str | None, given: Collection[str]
) -> Decision:
    """Return the method for a table: the one named, the one whose options are given, or by size.

    Parameters
    ----------
    rows : WeightedRows
        What is to be fitted.
    domain : Domain
        Its variables.
    rank : int or str
        The number of classes, or a word for choosing it.
    method : str
        The method named, or ``"auto"``.
    target : str, optional
        What is to be predicted.
    given : collection of str
        The names of the options given.
    """
    if method != "auto":
        return Decision(method)
    # counts as weights stand for more rows than the table has, weights that sum to one for fewer
    cells, distinct = rows.n_counted * len(domain), len(rows.codes) * len(domain)
    # a budget of time says nothing about the method, and what members of an ensemble have says nothing against one
    for_ensemble = target is not None or cells > _MOST_SAMPLED
    silent = {"max_seconds", "smoothing", "max_iter"} if for_ensemble else {"max_seconds"}
    if not set(given) <= silent:
        return _by_options(given)
    if isinstance(rank, str) and rank == "cv":
        return Decision("em", why="EM, as only single fits are compared on every fold")
    one_class = isinstance(rank, (int, np.integer)) and rank == 1
    if one_class and for_ensemble:
        return Decision("em", why="EM, as there is one best model of one class")
    if target is not None:
        return Decision("em", {"ensemble": "auto"}, f"an ensemble of EM fits, chosen for the labels of {target!r}")
    if cells <= _MOST_SAMPLED:
        return Decision("bayes", why=f"sampling, as {cells:,.0f} cells are at most {_MOST_SAMPLED:,}")
    # EM keeps to a budget of time, pair tables do not
    if distinct <= _MOST_PASSED or "max_seconds" in given:
        why = f"an ensemble of EM fits, as {cells:,.0f} cells are more than the {_MOST_SAMPLED:,} for sampling"
        return Decision("em", {"ensemble": "auto"}, why)
    why = f"pair tables, as {distinct:,} cells of distinct rows are more than the {_MOST_PASSED:,} for EM"
    return Decision("juror-b", why=why)


def decide_for_far(rows: FarRows, method: str, given: Collection[str]) -> Decision:
    """Return EM for rows that are passed over where they are, the method named, or the one whose options are given."""
    if method != "auto":
        return Decision(method)
    if not set(given) <= {"max_seconds", "smoothing", "max_iter"}:
        return _by_options(given)
    return Decision("em", why=f"EM, as it can pass over {rows.n_rows:,} rows, {rows.because}")


def _by_options(given: Collection[str]) -> Decision:
    """Return the first method that has all the options given."""
    _refuse_options_of_domains(given)
    for name in ("em", "bayes", "spa", "spa-em", "ctf", "juror-b", *METHODS):
        if all(option in METHODS[name].option_names for option in given):
            return Decision(name, why=f"{name!r}, as it has {shortlist(sorted(given), 20)}")
    unknown = [option for option in given if option not in ALL_OPTIONS]
    if unknown:
        raise ParameterError(f"No method has an option {unknown[0]!r}. {did_you_mean(unknown[0], sorted(ALL_OPTIONS))}")
    raise ParameterError(
        f"No method has all of the options {shortlist(sorted(given), 20)}. Leave out those of other methods, and name "
        "yours with method=…"
    )


def _refuse_options_of_domains(given: Collection[str]) -> None:
    """Point those who want to choose intervals or orders to where that is done."""
    for option in _OF_DOMAINS.intersection(given):
        # also an option of projections, but who means these says so by another of their options or by the method
        if option != "bins" or set(given) == {"bins"}:
            raise ParameterError(
                f"{option} is about variables: make them with juror.Domain.infer(data, {option}=…), and pass domain=."
                + (" The bins of projections go with method='juror-b'." if option == "bins" else "")
            )


def check_method(method: Any) -> None:
    """Refuse a name that no method has, before anything is read."""
    if method != "auto" and (not isinstance(method, str) or method not in METHODS):
        raise ParameterError(
            f"method must be one of {shortlist(['auto', *METHODS], limit=12)}. Got {method!r} instead."
        )
