"""Choose rank, smoothing and ρ on rows that the fits have not seen.

One comparison scores every setting that is tried, and remembers it. Two walks use it: the ranks of a single fit grow
along a path, each fit from classes of the one before; an ensemble doubles or halves the rank of its members, and moves
rank and smoothing in turn, as the best of one depends on the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from juror.errors import DataError, FitWarning, Option, ParameterError, shortlist, warn
from juror.fitting.choosing_time import ChoosingTime
from juror.fitting.held_out import Parts, Trial
from juror.fitting.rank_path import choose_rank
from juror.kernels.random_streams import Stream
from juror.record import RankScore
from juror.rows.in_memory import MemoryTable
from juror.rows.mean_gain import mean_gain
from juror.rows.parameters import Parameters, mean_of
from juror.solvers.diagnosis import empty_classes
from juror.solvers.em import EMOptions
from juror.solvers.solver import MOST_RANK, MOST_RANK_IN_TIME

# The smoothings to choose from. A single fit keeps to the neighbours of the default; the mean of many fits gains from
# a wider choice.
DEFAULT_SMOOTHING, DEFAULT_FOREST_SMOOTHING = 0.1, 1.0
SINGLE_SMOOTHINGS = (0.03, 0.1, 0.3)
MEMBER_SMOOTHINGS = (0.01, 0.03, 0.1, 0.3, 1.0)
# Tables of a forest have many columns, of few rows each, and are drawn to good ones.
FOREST_SMOOTHINGS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
# What a rank is chosen by, for each way of choosing it
SCORED_BY = {"auto": "log", "cv": "share"}
# Values of ρ to try, as shares of the number of directions
RHO_GRID = (0.01, 0.1, 1.0, 10.0, 100.0)
# Where fits grow, scores of whole rows rise and fall steadily, and the last ranks cost most. A path ends at a fall by
# this many nats per row, if the scatter of the rows does not explain it. On Titanic, Car, Mushroom, Adult and GSS no
# path rose again after one; without the second clause, paths of Votes and its 65 held-out rows did.
_HOPELESS = 0.01
_SCATTER = 1.0
# The share of the time left that choosing a smoothing may take
_TIME_TO_CHOOSE = 0.4
# Expected length of the fit that follows, in comparisons of the chosen rank: all rows, and smaller steps
_FITS_AFTER = 3.0


@dataclass(frozen=True)
class FitSetting:
    """How to fit.

    Attributes
    ----------
    rank, smoothing : int, float
        The number of classes, and the pseudo-count of a cell on average.
    forest : bool
        Whether the classes of a member share a forest.
    seeded : bool
        Whether every class of a member with a forest begins at a row.
    relearned : bool
        Whether a member learns its forest again, from how variables depend on each other within its classes.
    hidden_steps : int
        With how many steps trees with hidden nodes are fitted; the rank is then the number of their states. With zero
        members have classes.
    groups : int
        How many trees with hidden nodes a member has, each for a group of rows.
    bell_rows : float
        The rows by which the columns of hidden states over intervals are drawn to bells.
    """

    rank: int
    smoothing: float = DEFAULT_SMOOTHING
    forest: bool = False
    seeded: bool = False
    relearned: bool = False
    hidden_steps: int = 0
    groups: int = 1
    bell_rows: float = 100.0

    @property
    def is_hidden(self) -> bool:
        """Whether members are trees with hidden nodes."""
        return self.hidden_steps > 0

    def of_other_kind(self) -> FitSetting:
        """Return a setting of the same rank with a forest if this has none, or without, and its default smoothing."""
        return FitSetting(self.rank, DEFAULT_SMOOTHING if self.forest else DEFAULT_FOREST_SMOOTHING, not self.forest)


@dataclass(frozen=True, eq=False)
class Judged:
    """Rows that two members were fitted to, those held out, and the log-probability of these.

    Attributes
    ----------
    kept, held : MemoryTable
        The rows.
    log_prob : numpy.ndarray, (rows,)
        By the mean of both members.
    alone : numpy.ndarray, (2, rows)
        By each member.
    """

    kept: MemoryTable
    held: MemoryTable
    log_prob: np.ndarray
    alone: np.ndarray


@dataclass(frozen=True)
class Chosen:
    """The setting of a fit, and ranks and smoothings tried with their scores, empty where they were given.

    For single fits, ``found`` holds the rough fit of this rank to what is kept of each part. ``ended`` says why no more
    was tried, in a budget of time, ``hidden`` how the states of hidden nodes were chosen, and ``compared_on`` on which
    sample of the rows. Trees with hidden nodes are fitted to the rows with finer intervals, ``table``, where there are
    any. ``judged`` returns the rows that chose a setting of members, if they are all rows of the table, else None.
    """

    setting: FitSetting
    rank_path: tuple[RankScore, ...] = ()
    smoothing_path: tuple[tuple[float, float], ...] = ()
    found: tuple[Parameters, ...] = ()
    ended: str = ""
    hidden: str = ""
    compared_on: str = ""
    table: MemoryTable | None = None
    judged: Callable[[], Judged | None] = lambda: None

    @property
    def rank(self) -> int:
        """The number of classes, of each member of an ensemble."""
        return self.setting.rank

    @property
    def smoothing(self) -> float:
        """The pseudo-count of a cell."""
        return self.setting.smoothing


@dataclass(frozen=True)
class Tried:
    """A setting that was tried: its score, the scores and weights of the rows behind it, (rows,), and its fits.

    There is one fit for each part; of several members, which are kept too, it is their mean.
    """

    step: RankScore
    rows: np.ndarray
    weights: np.ndarray
    found: tuple[tuple[Parameters, ...], ...]
    members: tuple[Sequence[tuple[Parameters, ...]], ...] = ()

    @property
    def is_finite(self) -> bool:
        """Whether every row is possible."""
        return bool(np.all(np.isfinite(self.rows)))


# Reads the rows again with finer intervals; None if their user chose them
Finer = Callable[[], MemoryTable | None]
# Fits what is kept of a part, given its number: one model, or the members of an ensemble, each by its parts
FitPart = Callable[[int, MemoryTable, FitSetting], Sequence[tuple[Parameters, ...]]]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Scores of settings on rows held out, each computed once.

    Attributes
    ----------
    trial, parts, fit : Trial, sequence of (MemoryTable, MemoryTable), callable
        How rows are scored, which rows are fitted and scored, and what fits a part.
    by : str
        How labels are scored.
    pooled : bool
        Whether a score is the mean over all rows, or the mean over the parts of their means.
    """

    trial: Trial
    parts: Parts
    fit: FitPart
    by: str
    pooled: bool = False
    tried: dict[FitSetting, Tried] = field(default_factory=dict)

    def of(self, setting: FitSetting) -> Tried:
        """Fit and score a setting, unless that was done."""
        if setting not in self.tried:
            members, occupied = [], []
            for number, (kept, _) in enumerate(self.parts):
                fits = self.fit(number, kept, setting)
                occupied += [sum(int(np.sum(~empty_classes(part, kept.total))) for part in each) for each in fits]
                members.append(fits)
            found = [mean_of(fits) for fits in members]
            tried = self.scored(found, setting.rank, int(np.median(occupied)), self.trial)
            self.tried[setting] = replace(tried, members=tuple(members))
        return self.tried[setting]

    def scored(self, found: Sequence[tuple[Parameters, ...]], rank: int, n_occupied: int, trial: Trial) -> Tried:
        """Score the fits of one setting to all parts."""
        pairs = zip(found, self.parts, strict=True)
        scored = [trial.row_scores(each, held, self.by) for each, (_, held) in pairs]
        rows, weights = (np.concatenate(each) for each in zip(*scored, strict=True))
        means = [float(w @ s) / float(w.sum()) for s, w in ([(rows, weights)] if self.pooled else scored)]
        return Tried(RankScore(rank, float(np.mean(means)), n_occupied), rows, weights, tuple(found))

    def check_possible(self) -> None:
        """Refuse to choose where some row held out has probability zero at every rank that was tried."""
        if all(tried.step.score == -np.inf for tried in self.tried.values()):
            raise impossible("rank", sorted({setting.rank for setting in self.tried}))


def impossible(name: str, values: Iterable[object]) -> ParameterError:
    """Return the error for settings under all of which some held-out row is impossible."""
    return ParameterError(
        "Some held-out row has probability zero at every {name} tried, {values}, so none can be chosen. Pass "
        "{smoothing} above zero, or {option}",
        name=name,
        values=shortlist(values),
        option=Option(name, source="=…"),
    )


def is_clear(gains: np.ndarray, weights: np.ndarray, n_errors: float = 1.0) -> bool:
    """Say whether the mean gain of rows exceeds zero by more than ``n_errors`` of its standard errors."""
    mean, error = mean_gain(gains, weights)
    return mean > n_errors * error


def warn_too_few(total: float) -> None:
    """Warn that there are too few rows to choose a rank."""
    warning = FitWarning(
        "{total:g} rows are too few to hold some out and choose a rank; {rank:=1} is used. Pass {rank:=…}", total=total
    )
    warn(warning)


@dataclass(frozen=True)
class _OneFit:
    """Fits each part once: from a given start, grown from the fit of the rank before, or by itself."""

    trial: Trial
    options: Any
    stage: str
    grows: bool = False
    starts: Sequence[Parameters] = ()
    last: dict[int, Parameters] = field(default_factory=dict)

    def __call__(self, number: int, kept: MemoryTable, setting: FitSetting) -> Sequence[tuple[Parameters, ...]]:
        trial, rank, options = self.trial, setting.rank, replace(self.options, smoothing=setting.smoothing)
        start = self.starts[number] if self.starts else None
        if self.grows and trial.method.growth is not None:
            rng = Stream.GROWTH.generator(trial.context.seed, rank, number)
            start = trial.method.growth.grow(self.last.get(number), kept, rank, options, rng)
        self.last[number] = trial.fit(kept, rank, options, self.stage, start)
        return [(self.last[number],)]


def choose_rank_for(trial: Trial, options: Any, how: str) -> Chosen:
    """Return the rank whose fits make unseen rows most probable, or label them best, and the path to it.

    The fits of EM grow along the path, each from classes of the one before that are split. Those of other methods all
    start anew.
    """
    time = ChoosingTime(trial.context)
    trial = replace(trial, context=time.context)
    parts = trial.parts(how)
    if not parts:
        warn_too_few(trial.table.total)
        return Chosen(FitSetting(1, options.smoothing))
    compare = Comparison(trial, parts, _OneFit(trial, options.rough(), "choosing rank", grows=True), SCORED_BY[how])

    def score(rank: int) -> RankScore:
        before = time.seconds_left()
        step = compare.of(FitSetting(rank, options.smoothing)).step
        time.took(before - time.seconds_left())
        return step

    def score_rows(rank: int) -> RankScore:
        tried = compare.of(FitSetting(rank, options.smoothing))
        return compare.scored(tried.found, rank, tried.step.n_occupied, replace(trial, target=None)).step

    most = trial.method.most_rank(trial.domain, options)
    most = MOST_RANK_IN_TIME if most == MOST_RANK and time.is_limited else most
    most = min(most, *(len(kept.rows.codes) for kept, _ in parts))
    stops: dict[str, Any] = {}
    if time.is_limited:
        stops["least_gain"] = 0.0
    if trial.method.growth is not None:
        noise = _SCATTER / np.sqrt(sum(held.total for _, held in parts))
        # The scores of labels are noisier, and may not change for a while as the rest of their rows is learned.
        stops |= {"hopeless": max(_HOPELESS, noise)} if trial.target is None else {"also": score_rows}
    rank, path = choose_rank(score, most, is_late=lambda: not time.allows(_FITS_AFTER), **stops)
    compare.check_possible()
    setting = FitSetting(rank, options.smoothing)
    found = tuple(parameters for (parameters,) in compare.of(setting).found)
    return Chosen(setting, path, found=found, ended=_why_ended(time, path, rank))


def _why_ended(time: ChoosingTime, path: Sequence[RankScore], rank: int) -> str:
    """Say why a path ended that led to a rank in a budget of time."""
    if not time.is_limited:
        return ""
    if time.ran_out:
        return "there was no time to try a larger rank"
    if path[-1].rank == rank:
        return f"rank {rank} is the largest that is tried for these rows"
    return "no larger rank was better"


def choose_smoothing(trial: Trial, options: EMOptions, chosen: Chosen, how: str) -> Chosen:
    """Return the smoothing that does best on the parts that chose a rank, and all that were tried with their scores.

    The default is left only for a gain of more than its standard error: the parts of a small table are noisy. Fits
    start from those of the chosen rank; ``how`` says how that was chosen, ``"auto"`` or ``"cv"``.
    """
    trial = replace(trial, context=trial.context.with_share(_TIME_TO_CHOOSE))
    parts = trial.parts(how)
    if not parts:
        raise DataError(
            "{total:g} rows are too few to choose a smoothing. Pass {smoothing} as a number.", total=trial.table.total
        )
    fit = _OneFit(trial, options.rough(), "choosing smoothing", starts=chosen.found)
    compare = Comparison(trial, parts, fit, SCORED_BY[how])
    # The default comes first: it is used if there is no time for others.
    for smoothing in sorted(SINGLE_SMOOTHINGS, key=lambda alpha: alpha != DEFAULT_SMOOTHING):
        if compare.tried and trial.context.seconds_left < 0:
            break
        compare.of(replace(chosen.setting, smoothing=smoothing))
    tried = dict(
        sorted(((setting.smoothing, each) for setting, each in compare.tried.items()), key=lambda pair: pair[0])
    )
    default = tried[DEFAULT_SMOOTHING]
    path = tuple((alpha, float(np.average(each.rows, weights=each.weights))) for alpha, each in tried.items())
    clear = [(alpha, mean) for alpha, mean in path if is_clear(tried[alpha].rows - default.rows, default.weights)]
    best = max(clear, key=lambda pair: pair[1], default=(DEFAULT_SMOOTHING, 0.0))[0]
    return replace(chosen, setting=replace(chosen.setting, smoothing=best), smoothing_path=path)


def choose_rho(trial: Trial, options: Any, rank: int) -> tuple[float, tuple[tuple[float, float], ...]]:
    """Return the ρ that does best on every part in turn, and all that were tried with their scores."""
    parts = trial.parts("cv")
    if not parts:
        raise DataError(
            "{total:g} rows are too few to choose {rho} by cross-validation. Pass a number.", total=trial.table.total
        )
    default = options.design(trial.context.seed).n_directions
    tried = []
    for share in RHO_GRID:
        rho = share * default
        fits = ((trial.fit(kept, rank, replace(options, rho=rho), "choosing rho"), held) for kept, held in parts)
        tried.append((rho, float(np.mean([trial.score((found,), held, by="share") for found, held in fits]))))
    if all(score == -np.inf for _, score in tried):
        raise impossible("rho", (rho for rho, _ in tried))
    # Of equal scores the ρ nearest to the default wins.
    return max(tried, key=lambda pair: (pair[1], -abs(np.log(pair[0] / default))))[0], tuple(tried)
