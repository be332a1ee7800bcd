"""Choose rank, smoothing and ρ on rows that a fit has not seen: one part held out, or every part in turn.

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
from juror.answers.scores import log_prob, predict_proba
from juror.domain import Domain
from juror.errors import DataError, FitWarning, ParameterError, ZeroProbabilityError, shortlist
from juror.readers.columns import MISSING
from juror.record import RankScore
from juror.rows.distinct import WeightedRows
from juror.rows.stacking import Stacking
from juror.solvers.diagnosis import empty_classes
from juror.solvers.em import Objective
from juror.solvers.methods import Method
from juror.solvers.moments import RHO_GRID, CTFOptions, JurorOptions
from juror.solvers.parameters import Parameters
from juror.solvers.rank_path import choose_rank
from juror.solvers.search import EMOptions
from juror.solvers.solution import Context
from juror.solvers.splitting import grown

_HELD_OUT = 0.2
_FOLDS = 5
# To compare ranks, steps of EM that gain this much a row are enough; more would blur what decides. The others are given
# so many times their tolerance.
_ROUGH_TOL = 1e-5
_ROUGHER = 10.0
# Where fits grow, scores of whole rows rise and fall steadily, and the last ranks cost most: a fall by this many nats a
# row, and by more than rows that scatter by so much would give by chance, is the last. On Titanic, Car, Mushroom, Adult
# and GSS no path rose again after one; without the second clause, paths of Votes and its 65 held-out rows did.
_HOPELESS = 0.01
_SCATTER = 1.0
# The share of the time that each choice may take.
_TIME_TO_CHOOSE = 0.4
# Smoothings to choose from, the default in the middle.
_SMOOTHINGS = (0.03, 0.1, 0.3)

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

    def measure(self, by: str) -> str:
        """Say what a score is."""
        if self.target is None:
            return "log-probability of held-out rows, nats a row"
        labels = f"labels of {self.domain[self.target].name!r} in held-out rows"
        return {
            "log": f"log-probability of {labels}, nats a row",
            "share": f"share of {labels} predicted",
            "quadratic": f"quadratic score of {labels}, 0 at best",
        }[by]

    def fit(self, rows: WeightedRows, rank: int, options: Any, stage: str) -> Parameters:
        """Fit some of the rows; what the fit would warn of does not matter here."""
        context = replace(self.context, stage=stage)
        try:
            return self.method.solve_rows(rows, self.domain, rank, options, context).parameters
        except DataError as error:
            raise DataError(f"With some rows held out to choose by: {error} Or pass rank and rho as numbers.") from None

    def score(self, parameters: Parameters, held: WeightedRows, by: str = "log") -> float:
        """Score a fit on rows it has not seen, labels by a name in :data:`LABEL_SCORES`."""
        scores, weights = self.row_scores(parameters, held, by)
        return float(weights @ scores) / float(weights.sum())

    def row_scores(self, parameters: Parameters, held: WeightedRows, by: str = "log") -> tuple[np.ndarray, np.ndarray]:
        """Score every row that counts, (rows,), and say how much it counts, (rows,)."""
        cpd = as_cpd(parameters, self.domain)
        if self.target is None:
            return log_prob(cpd, held.codes), held.weights
        codes, weights = _labelled(held, self.target, self.domain)
        return LABEL_SCORES[by](cpd, codes, self.target), weights


@dataclass(frozen=True)
class ChosenRank:
    """A rank, how it was found, and what was found there.

    Attributes
    ----------
    rank : int
        The rank.
    path : tuple of RankScore
        The ranks tried and their scores.
    found : tuple of Parameters
        The rough fit of this rank to what is kept of each part; empty where nothing could be held out.
    """

    rank: int
    path: tuple[RankScore, ...] = ()
    found: tuple[Parameters, ...] = ()


def choose_rank_for(trial: Trial, options: Any, how: str) -> ChosenRank:
    """Return the rank whose fits make unseen rows most probable, or label them best, and the path to it.

    The fits of EM grow along the path, each from classes of the one before that are split; those of other methods all
    start anew.
    """
    trial = replace(trial, context=trial.context.with_share(_TIME_TO_CHOOSE))
    parts = trial.parts(how)
    if not parts:
        warnings.warn(
            f"{trial.rows.total:g} rows are too few to hold some out and choose a rank; rank=1 is used. Pass rank=…",
            FitWarning,
            stacklevel=4,
        )
        return ChosenRank(1)
    rough = _rough(options)
    kind = _Growing if isinstance(options, EMOptions) else _Anew
    fits = [kind(trial, kept, rough, number) for number, (kept, _) in enumerate(parts)]
    found: dict[int, tuple[Parameters, ...]] = {}

    def fit_and_score(rank: int) -> RankScore:
        found[rank] = tuple(fit(rank) for fit in fits)
        return _score_of(trial, found[rank], parts, how)

    def score_rows(rank: int) -> RankScore:
        return _score_of(replace(trial, target=None), found[rank], parts, how)

    most = min(trial.method.most_rank(trial.domain, options), *(len(kept.codes) for kept, _ in parts))
    stops: dict[str, Any] = {}
    if isinstance(options, EMOptions):
        chance = _SCATTER / np.sqrt(sum(held.total for _, held in parts))
        # labels are noisier, and may stand still for a while as the rest of their rows is learned
        stops = {"hopeless": max(_HOPELESS, chance)} if trial.target is None else {"also": score_rows}
    rank, path = choose_rank(fit_and_score, most, is_late=lambda: trial.context.seconds_left < 0, **stops)
    if all(step.score == -np.inf for step in path):
        raise ParameterError(
            f"Some held-out row has probability zero at every rank tried, {shortlist(step.rank for step in path)}, so "
            "none can be chosen. Pass smoothing above zero, or rank=…"
        )
    return ChosenRank(rank, path, found[rank])


def _score_of(trial: Trial, found: Sequence[Parameters], parts: Parts, how: str) -> RankScore:
    """Score the fits of one rank to all parts."""
    both = list(zip(found, parts, strict=True))
    scores = [trial.score(parameters, held, by=SCORED_BY[how]) for parameters, (_, held) in both]
    occupied = [np.sum(~empty_classes(parameters, kept.total)) for parameters, (kept, _) in both]
    return RankScore(found[0].rank, float(np.mean(scores)), int(np.median(occupied)))


class _Anew:
    """Fit one part at each rank by itself."""

    def __init__(self, trial: Trial, rows: WeightedRows, options: Any, number: int):
        self._trial, self._rows, self._options = trial, rows, options

    def __call__(self, rank: int) -> Parameters:
        return self._trial.fit(self._rows, rank, self._options, "choosing rank")


class _Growing:
    """Fit one part by EM at each rank from the fit before, classes of which are split."""

    def __init__(self, trial: Trial, rows: WeightedRows, options: EMOptions, number: int):
        self._trial, self._rows, self._options, self._number = trial, rows, options, number
        stacking = Stacking(trial.domain.cardinalities)
        self._objective = Objective(rows, stacking, options.smoothing, trial.context.runner)
        self._last = Parameters(np.ones(1), self._objective.marginals)

    def __call__(self, rank: int) -> Parameters:
        rng = np.random.default_rng([self._trial.context.seed, rank, self._number])
        start = as_cpd(grown(self._last, rank, self._objective, rng), self._trial.domain)
        self._last = self._trial.fit(self._rows, rank, replace(self._options, init=start), "choosing rank")
        return self._last


def choose_smoothing(
    trial: Trial, options: EMOptions, rank: int, start: Sequence[Parameters], how: str
) -> tuple[float, tuple[tuple[float, float], ...]]:
    """Return the smoothing that does best on the parts that chose a rank, and all that were tried with their scores.

    The default is left only for a gain of more than its standard error: the parts of a small table are noisy.

    Parameters
    ----------
    trial : Trial
        What is fitted.
    options : EMOptions
        How; its own smoothing does not count.
    rank : int
        The rank of all fits.
    start : sequence of Parameters
        Where to begin in each part: what :func:`choose_rank_for` found; empty to begin anew each time.
    how : {"auto", "cv"}
        How the rank was chosen.
    """
    trial = replace(trial, context=trial.context.with_share(_TIME_TO_CHOOSE))
    parts = trial.parts(how)
    if not parts:
        raise DataError(f"{trial.rows.total:g} rows are too few to choose a smoothing. Pass smoothing as a number.")
    inits: list[BareCPD | None] = [as_cpd(parameters, trial.domain) for parameters in start]
    scores: dict[float, np.ndarray] = {}
    default = _SMOOTHINGS[1]
    # the default first, as it is what is left without time
    for smoothing in sorted(_SMOOTHINGS, key=lambda alpha: alpha != default):
        if scores and trial.context.seconds_left < 0:
            break
        of_parts = []
        for (kept, held), init in zip(parts, inits or [None] * len(parts), strict=True):
            changed = replace(_rough(options), smoothing=smoothing, init=init)
            parameters = trial.fit(kept, rank, changed, "choosing smoothing")
            of_parts.append(trial.row_scores(parameters, held, by=SCORED_BY[how]))
        scores[smoothing], weights = (np.concatenate(both) for both in zip(*of_parts, strict=True))
    tried = tuple((smoothing, float(np.average(rows, weights=weights))) for smoothing, rows in sorted(scores.items()))
    clear = [(smoothing, mean) for smoothing, mean in tried if is_clear(scores[smoothing] - scores[default], weights)]
    return max(clear, key=lambda pair: pair[1], default=(default, 0.0))[0], tried


def is_clear(gains: np.ndarray, weights: np.ndarray, n_errors: float = 1.0) -> bool:
    """Say whether the mean gain of rows is above zero by more than so many of its standard errors."""
    mean = np.average(gains, weights=weights)
    # weights that sum to one still come from as many rows as there are
    n_rows = max(weights.sum(), len(weights))
    return bool(mean > n_errors * np.sqrt(np.average((gains - mean) ** 2, weights=weights) / n_rows))


def choose_rho(trial: Trial, options: Any, rank: int) -> tuple[float, tuple[tuple[float, float], ...]]:
    """Return the ρ that does best on every part in turn, and all that were tried with their scores."""
    parts = trial.parts("cv")
    if not parts:
        raise DataError(f"{trial.rows.total:g} rows are too few to choose rho by cross-validation. Pass a number.")
    tried = []
    for share in RHO_GRID:
        rho = share * options.design(trial.context.seed).n_directions
        fits = ((trial.fit(kept, rank, replace(options, rho=rho), "choosing rho"), held) for kept, held in parts)
        tried.append((rho, float(np.mean([trial.score(found, held, by="share") for found, held in fits]))))
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
        changes = {"tol": max(options.tol, _ROUGH_TOL), "ensemble": 1}
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
            "Pass rank, smoothing and rho as numbers."
        )
    return held.codes[labelled], held.weights[labelled]


def _log_label(cpd: CPD, codes: np.ndarray, target: int) -> np.ndarray:
    """Return the log-probability of every label given the rest of its row, (rows,); −inf for the impossible."""
    blind = codes.copy()
    blind[:, target] = MISSING
    whole = log_prob(cpd, codes)
    return np.where(np.isneginf(whole), whole, whole - np.where(np.isneginf(whole), 0.0, log_prob(cpd, blind)))


def _right(cpd: CPD, codes: np.ndarray, target: int) -> np.ndarray:
    """Return 1 for labels that are the most probable given the rest of their rows, (rows,); −inf for the impossible."""
    try:
        return np.asarray(predict_proba(cpd, codes, target).argmax(axis=1) == codes[:, target], dtype=float)
    except ZeroProbabilityError:
        return np.full(len(codes), -np.inf)


def _quadratic(cpd: CPD, codes: np.ndarray, target: int) -> np.ndarray:
    """Return −Σ_x (p(x) − [x is the label])², (rows,), the score of Brier; −inf for the impossible."""
    try:
        off = predict_proba(cpd, codes, target)
    except ZeroProbabilityError:
        return np.full(len(codes), -np.inf)
    off[np.arange(len(codes)), codes[:, target]] -= 1.0
    return -np.einsum("ix,ix->i", off, off)


LABEL_SCORES = {"log": _log_label, "share": _right, "quadratic": _quadratic}
# what a rank is chosen by, for each way of choosing it
SCORED_BY = {"auto": "log", "cv": "share"}
