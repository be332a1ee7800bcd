"""Choose rank and ρ on rows that a fit has not seen: one part held out, or every part in turn.

A score is the mean log-probability of the rows held out, in nats; with a target the log-probability of its labels given
the rest of their rows (``rank="auto"``), or the share of them that are the most probable (``"cv"``).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from juror.answers.posterior import CPD, BareCPD
from juror.answers.rows import log_prob, predict_proba
from juror.domain import Domain
from juror.errors import DataError, FitWarning, ParameterError, ZeroProbabilityError, shortlist
from juror.info import RankScore
from juror.solvers.diagnosis import empty_classes
from juror.solvers.methods import Method
from juror.solvers.moments import RHO_GRID, CTFOptions, JurorOptions
from juror.solvers.parameters import Parameters
from juror.solvers.rank_path import choose_rank
from juror.solvers.search import EMOptions
from juror.solvers.solution import Context
from juror.sources.columns import MISSING
from juror.stacking import Stacking
from juror.statistics.rows import WeightedRows

_HELD_OUT = 0.2
_FOLDS = 5
# To compare ranks, a start of each kind and steps of EM that gain this much a row are enough; more would blur what
# decides. The others are given so many times their tolerance.
_ROUGH_TOL = 1e-5
_ROUGH_STARTS = 2
_ROUGHER = 10.0

Parts = Sequence[tuple[WeightedRows, WeightedRows]]


@dataclass(frozen=True)
class Trial:
    """What is fitted again and again: rows over a domain, by a method, perhaps for a target."""

    rows: WeightedRows
    domain: Domain
    method: Method
    target: int | None
    context: Context

    def parts(self, how: str) -> Parts:
        """Return what to fit and what to score: one part for ``"auto"``, every fold in turn for ``"cv"``."""
        rng = np.random.default_rng(int(self.context.seed))
        parts = [self.rows.split(_HELD_OUT, rng)] if how == "auto" else self.rows.folds(_FOLDS, rng)
        return [] if any(kept.total == 0 or held.total == 0 for kept, held in parts) else parts

    def measure(self, how: str) -> str:
        """Say what a score is."""
        if self.target is None:
            return "log-probability of held-out rows, nats a row"
        labels = f"labels of {self.domain[self.target].name!r} in held-out rows"
        return f"log-probability of {labels}, nats a row" if how == "auto" else f"share of {labels} predicted"

    def fit(self, rows: WeightedRows, rank: int, options: Any, stage: str) -> Parameters:
        """Fit some of the rows; what the fit would warn of does not matter here."""
        context = replace(self.context, stage=stage)
        try:
            return self.method.solve_rows(rows, self.domain, rank, options, context).parameters
        except DataError as error:
            raise DataError(f"With some rows held out to choose by: {error} Or pass rank and rho as numbers.") from None

    def score(self, parameters: Parameters, held: WeightedRows, by_accuracy: bool) -> float:
        """Score a fit on rows it has not seen."""
        cpd = as_cpd(parameters, self.domain)
        if self.target is None:
            return float(held.weights @ log_prob(cpd, held.codes)) / held.total
        codes, weights = _labelled(held, self.target, self.domain)
        if by_accuracy:
            return _accuracy(cpd, codes, weights, self.target)
        return _log_score(cpd, codes, weights, self.target)


def choose_rank_for(trial: Trial, options: Any, how: str) -> tuple[int, tuple[RankScore, ...]]:
    """Return the rank whose fits make unseen rows most probable, or label them best, and the path to it."""
    parts = trial.parts(how)
    if not parts:
        warnings.warn(
            f"{trial.rows.total:g} rows are too few to hold some out and choose a rank; rank=1 is used. Pass rank=…",
            FitWarning,
            stacklevel=4,
        )
        return 1, ()
    rough = _rough(options)

    def score(rank: int) -> RankScore:
        scores, occupied = [], []
        for kept, held in parts:
            parameters = trial.fit(kept, rank, rough, "choosing rank")
            scores.append(trial.score(parameters, held, by_accuracy=how == "cv"))
            occupied.append(int(np.sum(~empty_classes(parameters, kept.total))))
        return RankScore(rank, float(np.mean(scores)), int(np.median(occupied)))

    most = min(trial.method.most_rank(trial.domain, options), *(len(kept.codes) for kept, _ in parts))
    rank, path = choose_rank(score, most)
    if all(step.score == -np.inf for step in path):
        raise ParameterError(
            f"Some held-out row has probability zero at every rank tried, {shortlist(step.rank for step in path)}, so "
            "none can be chosen. Pass smoothing above zero, or rank=…"
        )
    return rank, path


def choose_rho(trial: Trial, options: Any, rank: int) -> tuple[float, tuple[tuple[float, float], ...]]:
    """Return the ρ that does best on every part in turn, and all that were tried with their scores."""
    parts = trial.parts("cv")
    if not parts:
        raise DataError(f"{trial.rows.total:g} rows are too few to choose rho by cross-validation. Pass a number.")
    tried = []
    for share in RHO_GRID:
        rho = share * options.design(trial.context.seed).n_directions
        fits = ((trial.fit(kept, rank, replace(options, rho=rho), "choosing rho"), held) for kept, held in parts)
        tried.append((rho, float(np.mean([trial.score(found, held, by_accuracy=True) for found, held in fits]))))
    if all(score == -np.inf for _, score in tried):
        raise ParameterError(
            f"Some held-out row has probability zero at every rho tried, {shortlist(rho for rho, _ in tried)}, so none "
            "can be chosen. Pass smoothing above zero, or rho=…"
        )
    # of equal ones that nearest to the default
    default = options.design(trial.context.seed).n_directions
    return max(tried, key=lambda pair: (pair[1], -abs(np.log(pair[0] / default))))[0], tuple(tried)


def as_cpd(parameters: Parameters, domain: Domain) -> BareCPD:
    """Give parameters their domain, so that they can be asked."""
    return BareCPD(parameters.lam, Stacking(domain.cardinalities).unstack(parameters.stack), domain)


def _rough(options: Any) -> Any:
    changes: dict[str, Any] = {}
    if isinstance(options, EMOptions):
        changes = {"n_init": min(options.n_init, _ROUGH_STARTS), "tol": max(options.tol, _ROUGH_TOL)}
    elif isinstance(options, CTFOptions):
        changes = {"n_init": 1, "tol": _ROUGHER * options.tol}
    elif isinstance(options, JurorOptions):
        changes = {"tol": _ROUGHER * options.tol}
        if options.rho == "cv":
            changes["rho"] = None
    return replace(options, **changes)


def _labelled(held: WeightedRows, target: int, domain: Domain) -> tuple[np.ndarray, np.ndarray]:
    labelled = held.codes[:, target] >= 0
    if not np.any(labelled):
        raise DataError(
            f"No held-out row has a label of the target {domain[target].name!r}, so nothing can be chosen by it. "
            "Pass rank and rho as numbers."
        )
    return held.codes[labelled], held.weights[labelled]


def _log_score(cpd: CPD, codes: np.ndarray, weights: np.ndarray, target: int) -> float:
    """Return the mean log-probability of labels given the rest of their rows; −inf for the impossible."""
    blind = codes.copy()
    blind[:, target] = MISSING
    whole = log_prob(cpd, codes)
    given_rest = np.where(np.isneginf(whole), whole, whole - np.where(np.isneginf(whole), 0.0, log_prob(cpd, blind)))
    return float(weights @ given_rest) / float(weights.sum())


def _accuracy(cpd: CPD, codes: np.ndarray, weights: np.ndarray, target: int) -> float:
    """Return the share of labels that are the most probable given the rest of their rows; −inf for the impossible."""
    try:
        right = predict_proba(cpd, codes, target).argmax(axis=1) == codes[:, target]
    except ZeroProbabilityError:
        return -np.inf
    return float(weights @ right) / float(weights.sum())
