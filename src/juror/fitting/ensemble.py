"""Ensembles of EM fits: many members side by side are one CPD, their mean, as a rule better than the best of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.errors import FitWarning, ParameterError, shortlist
from juror.fitting.choose import Trial, is_clear
from juror.fitting.members import Member, fit_members, held_out_share
from juror.record import RankScore
from juror.solvers.diagnosis import empty_classes
from juror.solvers.parameters import side_by_side
from juror.solvers.search import EMOptions
from juror.solvers.solution import Solution

# How many members, unless told or until the time is spent, and the most classes of all together
_MEMBERS = 10
_MOST_MEMBERS = 100
_MOST_CLASSES = 12_288
# A few members are enough to compare settings by. Labels are noisier than whole rows: of few rows each is predicted.
_COMPARED, _COMPARED_BY_LABELS = 2, 4
_HELD_OUT_TO_CHOOSE, _FOLDS = 0.2, 5
_FEW_LABELS = 10_000
# Larger ranks are tried first: they take fewer passes.
_FIRST_RANK, _MOST_RANK = 16, 1024
_SMOOTHINGS = (0.01, 0.03, 0.1, 0.3, 1.0)
# The least gain that counts, in nats a row or of the labels' score
_LEAST_GAIN = 1e-3
# Labels are scored by their quadratic score: accuracy is noisy, and the logarithm is decided by a few rows.
MEMBERS_SCORED_BY = "quadratic"
# A larger rank is refused for labels only if it is worse by so many standard errors.
_BENEFIT_OF_DOUBT = 2.0
# The share of the time that choosing may take. After a third of that no comparison is begun: a rank of twice the
# classes takes twice the time.
_TIME_TO_CHOOSE = 0.4
_TIME_TO_BEGIN = _TIME_TO_CHOOSE / 3.0


@dataclass(frozen=True)
class Settings:
    """What the members of an ensemble share, and how it was chosen.

    Attributes
    ----------
    rank : int
        The classes of one member.
    smoothing : float
        α of every member.
    rank_path : tuple of RankScore
        Ranks tried, each with its best score; empty where the rank was given.
    smoothing_path : tuple of (float, float)
        Smoothings tried at that rank and their scores; empty where it was given.
    """

    rank: int
    smoothing: float
    rank_path: tuple[RankScore, ...] = ()
    smoothing_path: tuple[tuple[float, float], ...] = ()


def fit_ensemble(trial: Trial, options: EMOptions, settings: Settings) -> Solution:
    """Fit as many members as are asked for, or as there is time for, and put them side by side.

    Parameters
    ----------
    trial : Trial
        Rows, domain, target and context.
    options : EMOptions
        How many members, and the most passes of each.
    settings : Settings
        Rank and smoothing.
    """
    context = trial.context
    most = _most_members(options.ensemble, settings.rank, in_time=np.isfinite(context.until))
    members: list[Member] = []
    longest = 0.0
    while len(members) < most and (not members or context.seconds_left > longest):
        began = context.seconds_left
        numbers = range(len(members), min(len(members) + context.runner.n_jobs, most))
        members += fit_members(trial, options, settings.rank, settings.smoothing, numbers)
        longest = max(longest, began - context.seconds_left) if np.isfinite(began) else 0.0
        context.tell(settings.rank, len(members), most, 1, 1, log_likelihood=members[-1].score)
    return Solution(
        side_by_side([member.parameters for member in members]),
        trace=(),
        reason=_reason(members, most, trial, options),
        n_iter=sum(member.n_passes for member in members),
        starts=tuple(member.score for member in members),
        complaints=_complaints(members, most, options),
        n_members=len(members),
    )


def _complaints(members: Sequence[Member], most: int, options: EMOptions) -> tuple[str, ...]:
    """Say where members were cut short, and where there are fewer than were asked for."""
    complaints = []
    for cause in ("max_iter", "max_seconds"):
        n = sum(member.cut == cause for member in members)
        if n:
            complaints.append(
                f"{n} of {len(members)} members spent {cause} = {getattr(options, cause):g} before they would have "
                f"stopped by themselves. Raise {cause}."
            )
    if options.ensemble != "auto" and len(members) < most:
        complaints.append(
            f"max_seconds = {options.max_seconds:g} was enough for {len(members)} of the {most} members. "
            "Raise max_seconds."
        )
    return tuple(complaints)


def _most_members(ensemble: int | str, rank: int, in_time: bool) -> int:
    """Return how many members there may be: with a budget of time as many as stay comfortable to ask."""
    if ensemble != "auto":
        return int(ensemble)
    # there is one best model of one class, and all members would be it
    if rank == 1:
        return 1
    return max(2, min(_MOST_MEMBERS if in_time else _MEMBERS, _MOST_CLASSES // rank))


def _reason(members: Sequence[Member], most: int, trial: Trial, options: EMOptions) -> str:
    reason = "each stopped early" if len(members) > 1 else "stopped early"
    n_by_held_out = sum(member.by_held_out for member in members)
    if n_by_held_out:
        some = "" if n_by_held_out == len(members) else f" {n_by_held_out} of them"
        reason += f",{some} by {held_out_share(trial.rows):.3g} of the rows, held out"
    if len(members) < most:
        return f"{reason}; {len(members)} of at most {most} fits in max_seconds = {options.max_seconds:g}"
    return reason


def choose_settings(trial: Trial, options: EMOptions, rank: int | str, *, with_smoothing: bool) -> Settings:
    """Choose rank and smoothing, where they are not given, by a few members on rows that none of them has seen.

    The rank doubles while that helps, or halves, then the smoothing moves while that helps, and if it did, both again:
    which is best of one depends on the other. What counts is how probable the rows are, or with a target
    how well its labels are predicted.

    Parameters
    ----------
    trial : Trial
        Rows, domain, target and context.
    options : EMOptions
        The smoothing to begin with, and the most passes of a member.
    rank : int or str
        The rank, or a word for choosing it.
    with_smoothing : bool
        Whether to choose the smoothing too.
    """
    chosen = Settings(rank if isinstance(rank, int) else 1, options.smoothing)
    if not (with_smoothing or isinstance(rank, str)):
        return chosen
    comparison = _Comparison(trial, options, "choosing rank" if isinstance(rank, str) else "choosing smoothing")
    if not comparison.possible:
        if isinstance(rank, str):
            few = f"{trial.rows.total:g} rows are too few to hold some out and choose a rank"
            warnings.warn(f"{few}; rank=1 is used. Pass rank=…", FitWarning, stacklevel=5)
        return chosen
    first = min(_FIRST_RANK, comparison.most_rank)
    if isinstance(rank, str):
        chosen = replace(chosen, rank=first)
    seen: set[float] = set()
    while chosen.smoothing not in seen:
        seen.add(chosen.smoothing)
        if isinstance(rank, str):
            larger = _doubling(chosen.rank, comparison.most_rank)
            chosen = comparison.climb(chosen, [replace(chosen, rank=F) for F in larger])
            if chosen.rank == first:
                chosen = comparison.climb(chosen, [replace(chosen, rank=F) for F in _halving(first)])
        if with_smoothing:
            for smoothings in _ladders(chosen.smoothing):
                chosen = comparison.climb(chosen, [replace(chosen, smoothing=alpha) for alpha in smoothings])
    comparison.check_possible_rows()
    return replace(
        chosen,
        rank_path=comparison.rank_path() if isinstance(rank, str) else (),
        smoothing_path=comparison.smoothing_path(chosen.rank) if with_smoothing else (),
    )


@dataclass(frozen=True)
class _Tried:
    """Settings that were tried: their score, and the scores (rows,) and weights (rows,) of the rows behind it."""

    step: RankScore
    rows: np.ndarray
    weights: np.ndarray

    @property
    def is_finite(self) -> bool:
        """Whether every row is possible."""
        return bool(np.all(np.isfinite(self.rows)))


class _Comparison:
    """Scores settings by a few members on rows that none of them has seen, while there is time."""

    def __init__(self, trial: Trial, options: EMOptions, stage: str):
        rng = np.random.default_rng([trial.context.seed, 5])
        by_labels = trial.target is not None
        few = by_labels and trial.rows.total <= _FEW_LABELS
        parts = trial.rows.folds(_FOLDS, rng) if few else [trial.rows.split(_HELD_OUT_TO_CHOOSE, rng)]
        # a fold without any label tells nothing, unless all are so, which the score refuses
        labelled = [part for part in parts if by_labels and np.any(part[1].codes[:, trial.target] >= 0)]
        self._parts = labelled or parts
        # whether there are rows for both sides
        self.possible = all(kept.total > 0 and held.total > 0 for kept, held in parts)
        context = replace(trial.context, stage=stage)
        self._least_left = 0.0
        if np.isfinite(context.until):
            left = context.seconds_left
            context = replace(context, until=context.until - (1.0 - _TIME_TO_CHOOSE) * left)
            self._least_left = (_TIME_TO_CHOOSE - _TIME_TO_BEGIN) * left
        self._trial = replace(trial, context=context)
        self._options = options
        self._numbers = range(_COMPARED_BY_LABELS if by_labels else _COMPARED)
        self._tried: dict[tuple[int, float], _Tried] = {}
        self.most_rank = max(1, min(_MOST_RANK, *(len(kept.codes) // 2 for kept, _ in self._parts)))

    def climb(self, best: Settings, steps: Iterable[Settings]) -> Settings:
        """Take steps while they are better and there is time; return the last that was taken."""
        top = self._try(best)
        for step in steps:
            if self._trial.context.seconds_left < self._least_left:
                break
            tried = self._try(step)
            if self._is_better(tried, top):
                best, top = step, tried
            elif self._is_in_doubt(tried, top):
                best = step
            else:
                break
        return best

    def _is_better(self, tried: _Tried, top: _Tried) -> bool:
        """Say whether there is a gain that counts, for labels also more than chance would give."""
        if tried.step.score <= top.step.score + _LEAST_GAIN:
            return False
        if self._trial.target is None or not (tried.is_finite and top.is_finite):
            return True
        return is_clear(tried.rows - top.rows, tried.weights)

    def _is_in_doubt(self, tried: _Tried, top: _Tried) -> bool:
        """Say whether the next larger rank is no worse for labels than chance would make it.

        It is then taken: the fit will have more rows and more members than there are here, and larger ranks gain by
        that.
        """
        if self._trial.target is None or not (tried.is_finite and top.is_finite):
            return False
        is_next = top.step.rank < tried.step.rank <= 2 * top.step.rank
        return is_next and not is_clear(top.rows - tried.rows, tried.weights, _BENEFIT_OF_DOUBT)

    def _try(self, settings: Settings) -> _Tried:
        key = (settings.rank, settings.smoothing)
        if key not in self._tried:
            scored, occupied = [], []
            for kept, held in self._parts:
                members = fit_members(replace(self._trial, rows=kept), self._options, *key, self._numbers)
                together = side_by_side([member.parameters for member in members])
                scored.append(self._trial.row_scores(together, held, MEMBERS_SCORED_BY))
                occupied += [np.count_nonzero(~empty_classes(member.parameters, kept.total)) for member in members]
            rows, weights = (np.concatenate(parts) for parts in zip(*scored, strict=True))
            score = float(weights @ rows) / float(weights.sum())
            self._tried[key] = _Tried(RankScore(settings.rank, score, int(np.median(occupied))), rows, weights)
            self._trial.context.tell(settings.rank, 1, 1, 1, 1, log_likelihood=score)
        return self._tried[key]

    def check_possible_rows(self) -> None:
        """Refuse to choose where some row held out has probability zero whatever is chosen."""
        if all(tried.step.score == -np.inf for tried in self._tried.values()):
            ranks = sorted({rank for rank, _ in self._tried})
            raise ParameterError(
                f"Some held-out row has probability zero at every rank tried, {shortlist(ranks)}, so none can be "
                "chosen. Pass smoothing above zero, or rank=…"
            )

    def rank_path(self) -> tuple[RankScore, ...]:
        """Return the ranks tried with their best scores."""
        steps = sorted((tried.step for tried in self._tried.values()), key=lambda step: (step.rank, step.score))
        return tuple({step.rank: step for step in steps}.values())

    def smoothing_path(self, rank: int) -> tuple[tuple[float, float], ...]:
        """Return the smoothings tried at a rank with their scores."""
        return tuple(
            sorted((smoothing, tried.step.score) for (F, smoothing), tried in self._tried.items() if rank == F)
        )


def _doubling(rank: int, most: int) -> Iterator[int]:
    """Give 2, 4, 8, … times the rank, and the largest at last.

    >>> list(_doubling(4, 20))
    [8, 16, 20]
    """
    while 2 * rank < most:
        rank *= 2
        yield rank
    if rank < most:
        yield most


def _halving(rank: int) -> Iterator[int]:
    """Give a half, a quarter, … of the rank, down to one.

    >>> list(_halving(16))
    [8, 4, 2, 1]
    """
    while rank > 1:
        rank //= 2
        yield rank


def _ladders(smoothing: float) -> tuple[list[float], list[float]]:
    """Return the smoothings above and below, nearest first.

    >>> _ladders(0.1)
    ([0.3, 1.0], [0.03, 0.01])
    """
    above = [alpha for alpha in _SMOOTHINGS if alpha > smoothing]
    return above, [alpha for alpha in reversed(_SMOOTHINGS) if alpha < smoothing]
