"""Choose the settings of an ensemble: a walk from setting to setting, each compared by a few members.

Members are compared on rows that none of them has seen, see :mod:`juror.fitting.comparing`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from juror.fitting import hidden_trees
from juror.fitting.choose import (
    DEFAULT_FOREST_SMOOTHING,
    Chosen,
    Comparison,
    Finer,
    FitSetting,
    Judged,
    Tried,
    is_clear,
    warn_too_few,
)
from juror.fitting.choosing_time import ChoosingTime
from juror.fitting.comparing import Sample, compare_members, n_compared
from juror.fitting.ensemble import most_members
from juror.fitting.held_out import Trial
from juror.fitting.ladders import bell_ladders, doubling, halving, ladders
from juror.fitting.members import LEAST_SHARE, ROUGH_SHARE
from juror.kernels.random_streams import Stream
from juror.solvers.em import EMOptions

# Forests are learned again within classes if these have as many rows on average: fewer show no dependence.
_ROWS_TO_RELEARN = 30
_FOLDS = 5
_FEW_LABELS = 10_000
# Larger ranks are tried first: they take fewer passes. The largest is larger in a budget of time.
_FIRST_RANK, _MOST_RANK, _MOST_RANK_IN_TIME = 16, 1024, 4096
# The most cells (rows × columns) times classes of a fit, without a budget of time: a pass then takes a few seconds.
_MOST_WORK = 5.2e8
# The least gain that counts, in nats per row or of the labels' score; in a budget of time any gain counts.
_LEAST_GAIN = 1e-3
# Comparisons that follow take about as long as this many of the best setting so far.
_MORE_COMPARISONS = 4.0
# A larger rank is refused for labels only if it is worse by this many standard errors.
_BENEFIT_OF_DOUBT = 2.0


def choose_for_members(
    trial: Trial,
    options: EMOptions,
    rank: int | str,
    *,
    with_smoothing: bool,
    most_rank: int | None = None,
    finer: Finer | None = None,
) -> Chosen:
    """Choose rank, smoothing and whether to have forests, where they are not given, by a few members.

    The members are compared on rows that none of them has seen. What counts is how probable the rows are, or with a
    target how well its labels are predicted. A rank that is a number is kept, and the smoothing of the options too
    unless ``with_smoothing``. A rank that is chosen is at most ``most_rank``. Trees with hidden nodes are tried if all
    is to be chosen and ``finer``, which reads the rows again with finer intervals, is given.
    """
    setting = FitSetting(rank if isinstance(rank, int) else 1, options.smoothing, options.forest is True)
    if with_smoothing and setting.forest:
        setting = replace(setting, smoothing=DEFAULT_FOREST_SMOOTHING)
    if not (with_smoothing or isinstance(rank, str) or options.forest == "auto"):
        return Chosen(setting)
    climb = _Climb.of(trial, options, rank, with_smoothing)
    if climb is None:
        if isinstance(rank, str):
            warn_too_few(trial.table.total)
        return Chosen(setting)
    climb = replace(climb, most_rank=min(climb.most_rank, most_rank or climb.most_rank))
    if isinstance(rank, str):
        setting = replace(setting, rank=climb.first_rank)
    if options.forest == "auto":
        setting = climb.better_kind(setting)
    setting = climb.climb(setting)
    if options.forest == "auto":
        other = climb.better_kind(setting)
        setting = climb.climb(other) if other.forest != setting.forest else setting
    if setting.forest:
        setting = climb.relearned(climb.up(setting, [replace(setting, seeded=True)]))
    if finer is not None and options.forest == "auto" and isinstance(rank, str) and with_smoothing:
        first = hidden_trees.first_setting(trial)
        if first is not None:
            trees = _with_hidden_nodes(climb.to_the_end(), setting, first, finer)
            if trees is not None:
                return trees
    setting, last = climb.with_more_rows(setting)
    climb.compare.tried.update(last.compare.tried)
    return replace(replace(climb, sample=last.sample).chosen(setting), judged=partial(climb.judged, setting))


@dataclass(frozen=True)
class _Climb:
    """Steps from setting to setting, while they are better and there is time for them."""

    compare: Comparison
    sample: Sample | None
    time: ChoosingTime
    options: EMOptions
    most_rank: int
    with_rank: bool
    with_smoothing: bool
    seconds: dict[FitSetting, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        trial: Trial,
        options: EMOptions,
        rank: int | str,
        with_smoothing: bool,
        time: ChoosingTime | None = None,
    ) -> _Climb | None:
        """Hold out rows to compare by; None if there are too few. The time may be what another climb has left."""
        stage = "choosing rank" if isinstance(rank, str) else "choosing smoothing"
        rng = Stream.ENSEMBLE.generator(trial.context.seed)
        by_labels = trial.target is not None
        few = by_labels and trial.table.total <= _FEW_LABELS
        sample = None if few else Sample.of(trial.table, rng)
        parts = trial.table.folds(_FOLDS, rng) if sample is None else [(sample.kept, sample.held)]
        if any(kept.total == 0 or held.total == 0 for kept, held in parts):
            return None
        # A fold without any label does not count. If no fold has one, the score says so.
        parts = [part for part in parts if by_labels and np.any(part[1].rows.codes[:, trial.target] >= 0)] or parts
        time = time or ChoosingTime(replace(trial.context, stage=stage))
        least_share = 0.0 if sample is None or sample.is_whole else ROUGH_SHARE
        compare = compare_members(replace(trial, context=time.context), options, parts, least_share)
        in_work = max(_FIRST_RANK, int(_MOST_WORK / trial.table.rows.codes.size))
        most = _MOST_RANK_IN_TIME if time.is_limited else min(_MOST_RANK, in_work)
        most_rank = max(1, min(most, *(len(kept.rows.codes) // 2 for kept, _ in parts)))
        return cls(compare, sample, time, options, most_rank, isinstance(rank, str), with_smoothing)

    @property
    def n_rows(self) -> float:
        """How many rows are compared: the weights of those that are fitted and scored."""
        return sum(part.total for part in self.compare.parts[0])

    @property
    def size(self) -> float:
        """The rows that are fitted to compare a setting, as a share of those of the table."""
        return sum(len(kept.rows.codes) for kept, _ in self.compare.parts) / len(self.compare.trial.table.rows.codes)

    @property
    def first_rank(self) -> int:
        """The rank to begin with."""
        return min(_FIRST_RANK, self.most_rank)

    def better_kind(self, setting: FitSetting) -> FitSetting:
        """Return the better of a setting and one of the other kind, with or without a forest."""
        other = setting.of_other_kind()
        return self.up(setting, [other if self.with_smoothing else replace(other, smoothing=setting.smoothing)])

    def climb(self, setting: FitSetting) -> FitSetting:
        """Move rank and smoothing in turn while that helps: the best of one depends on the other.

        The rank doubles while that helps, or halves.
        """
        first, seen = setting.rank, set()
        if self.with_smoothing and setting.forest:
            # Fits of small rank are quick.
            setting = self.smoother(setting)
        while setting.smoothing not in seen:
            seen.add(setting.smoothing)
            if self.with_rank:
                setting = self.grown(setting)
                if setting.rank == first:
                    setting = self.up(setting, [replace(setting, rank=F) for F in halving(first)])
            if setting.smoothing not in seen:
                # More classes wanted less smoothing, and still less was tried with them.
                break
            if self.with_smoothing:
                setting = self.smoother(setting)
        return setting

    def grown(self, setting: FitSetting) -> FitSetting:
        """Double the rank while that helps; more classes with a forest may want less smoothing at once."""
        ranks = list(doubling(setting.rank, self.most_rank))
        if not (setting.forest and self.with_smoothing):
            return self.up(setting, [replace(setting, rank=F) for F in ranks])
        return self.with_less_smoothing(setting, [{"rank": F} for F in ranks])

    def with_less_smoothing(self, setting: FitSetting, changes: Iterable[Mapping[str, Any]]) -> FitSetting:
        """Make one change of a setting after the other while that helps, alone or with less smoothing."""
        for change in changes:
            step = replace(setting, **change)
            grown = self.up(setting, [step])
            below, _ = ladders(step)
            less = [replace(step, smoothing=below[0])] if below else []
            grown = self.up(grown, less)
            if grown == setting:
                break
            setting = grown
        return setting

    def with_more_rows(self, setting: FitSetting) -> tuple[FitSetting, _Climb]:
        """Walk on with larger and larger samples while that helps: they may support more classes, and other smoothing.

        Return the last setting, and the walk on the last sample.
        """
        last, trial = self, self.compare.trial
        if self.sample is None:
            return setting, last
        for sample in self.sample.larger(trial.context.seed):
            compare = compare_members(trial, self.options, [(sample.kept, sample.held)], ROUGH_SHARE)
            climb = replace(self, compare=compare, sample=sample)
            if not climb.has_time_for(setting):
                break
            found = climb.grown(setting) if self.with_rank else setting
            found = climb.smoother(found) if self.with_smoothing else found
            found = climb.relearned(found) if found.forest else found
            self.compare.tried.update(compare.tried)
            last = climb
            if found == setting:
                break
            setting = found
        return setting, last

    def to_the_end(self) -> _Climb:
        """Return a climb on the same rows whose members go as far as those of the fit, as trees always do."""
        if self.sample is None or self.sample.is_whole:
            return self
        compare = compare_members(self.compare.trial, self.options, self.compare.parts, LEAST_SHARE)
        return replace(self, compare=compare)

    def relearned(self, setting: FitSetting) -> FitSetting:
        """Let members learn their forests again if that is better and classes have rows enough."""
        enough = self.n_rows >= _ROWS_TO_RELEARN * setting.rank
        return self.up(setting, [replace(setting, relearned=True)]) if enough and not setting.relearned else setting

    def smoother(self, setting: FitSetting) -> FitSetting:
        """Move the smoothing while that helps: down, or else up."""
        return self._along(setting, ([{"smoothing": alpha} for alpha in steps] for steps in ladders(setting)))

    def with_other_bells(self, setting: FitSetting) -> FitSetting:
        """Move the rows by which columns of hidden states are drawn to bells while that helps: down, or else up."""
        return self._along(setting, ([{"bell_rows": rows} for rows in steps] for steps in bell_ladders(setting)))

    def _along(self, setting: FitSetting, ways: Iterable[Sequence[Mapping[str, Any]]]) -> FitSetting:
        """Change a setting along the first of some ways that helps."""
        for changes in ways:
            moved = self.up(setting, [replace(setting, **change) for change in changes])
            if moved != setting:
                return moved
        return setting

    def chosen(self, setting: FitSetting) -> Chosen:
        """Return the setting with ranks and, at its rank, smoothings that were tried, each with its best score."""
        tried = self.compare.tried
        self.compare.check_possible()
        classes = [each.step for alike, each in tried.items() if not alike.is_hidden]
        steps = sorted(classes, key=lambda step: (step.rank, step.score))
        ranks = tuple({step.rank: step for step in steps}.values()) if self.with_rank and not setting.is_hidden else ()
        kind = (setting.rank, setting.forest, setting.is_hidden)
        alike = (each for each in tried if (each.rank, each.forest, each.is_hidden) == kind)
        # The last of equal smoothings has the best score.
        at_rank = dict(sorted((each.smoothing, tried[each].step.score) for each in alike))
        smoothings = tuple(at_rank.items()) if self.with_smoothing else ()
        compared_on = "" if self.sample is None else self.sample.in_words()
        return Chosen(setting, ranks, smoothings, ended=self._ended(setting), compared_on=compared_on)

    def judged(self, setting: FitSetting) -> Judged | None:
        """Return the rows that judged a setting, if all rows of the table were fitted or held out, and whole."""
        if self.sample is None or not self.sample.is_whole or self.compare.trial.target is not None:
            return None
        (kept, held), tried = self.compare.parts[0], self.compare.of(setting)
        alone = [self.compare.trial.row_scores(member, held)[0] for member in tried.members[0]]
        return Judged(kept, held, tried.rows, np.stack(alone))

    def _ended(self, setting: FitSetting) -> str:
        """Say why no more settings were tried in a budget of time."""
        if not self.time.is_limited:
            return ""
        if self.time.ran_out:
            return "there was no time to compare more settings"
        if self.with_rank and setting.rank == self.most_rank:
            return f"rank {setting.rank} is the largest that is tried for these rows"
        return "no other setting that was tried was better"

    def up(self, best: FitSetting, steps: Iterable[FitSetting]) -> FitSetting:
        """Take steps while they are better and there is time; return the last that was taken."""
        top = self._tried(best)
        for step in steps:
            if step not in self.compare.tried and not self.has_time_for(step):
                break
            tried = self._tried(step)
            if self._is_better(tried, top):
                best, top = step, tried
            elif self._is_in_doubt(tried, top):
                best = step
            else:
                break
        return best

    def _tried(self, setting: FitSetting) -> Tried:
        """Compare a setting, remember how long that took, and report it."""
        before, since, is_new = self.time.seconds_left(), time.monotonic(), setting not in self.compare.tried
        tried = self.compare.of(setting)
        if is_new:
            self.time.took(before - self.time.seconds_left(), self.size)
            self.seconds[setting] = time.monotonic() - since
            best = max(self.compare.tried, key=lambda each: self.compare.tried[each].step.score)
            left = self.seconds[best] * (_MORE_COMPARISONS + self._turns(best) / self.size)
            left = min(left, self.time.whole.seconds_left)
            self.time.context.tell(setting.rank, 1, 1, 1, 1, log_likelihood=tried.step.score, seconds_left=left)
        return tried

    def has_time_for(self, setting: FitSetting) -> bool:
        """Say whether a setting may be compared, so that the whole fit still ends in time."""
        return self.time.allows(self._turns(setting), self.size)

    def _turns(self, setting: FitSetting) -> float:
        """Return how many comparisons on all rows take as long as the whole fit; threads fit members in turns."""
        n_threads = self.compare.trial.context.runner.n_jobs
        n_cells = self.compare.trial.table.rows.codes.size
        n_members = most_members(self.options, setting, n_cells, in_time=False)
        return -(-n_members // n_threads) / -(-n_compared(self.compare.trial.target is not None) // n_threads)

    def _by_labels(self, tried: Tried, top: Tried) -> bool:
        return self.compare.trial.target is not None and tried.is_finite and top.is_finite

    def _is_better(self, tried: Tried, top: Tried) -> bool:
        """Say whether there is a gain that counts, for labels also more than noise would give."""
        if not tried.step.score > top.step.score + (0.0 if self.time.is_limited else _LEAST_GAIN):
            return False
        return not self._by_labels(tried, top) or is_clear(tried.rows - top.rows, tried.weights)

    def _is_in_doubt(self, tried: Tried, top: Tried) -> bool:
        """Say whether the next larger rank is no worse for labels than noise would make it.

        It is then taken: the fit will have more rows and more members than there are here, and larger ranks gain by
        that.
        """
        is_next = top.step.rank < tried.step.rank <= 2 * top.step.rank
        if not (self._by_labels(tried, top) and is_next):
            return False
        return not is_clear(top.rows - tried.rows, tried.weights, _BENEFIT_OF_DOUBT)


def _with_hidden_nodes(coarse: _Climb, classes: FitSetting, first: FitSetting, finer: Finer) -> Chosen | None:
    """Choose among trees with hidden nodes, in finer intervals where there are any: these are what is fitted.

    None if classes are better. In the intervals of classes, trees of one group may be worse than classes and yet be
    better in finer ones, with more groups. So they are compared there too, where most columns are numbers, and where
    trees win in coarse intervals by less than counts.
    """
    trial = coarse.compare.trial
    are_numbers = hidden_trees.mostly_numbers(trial.domain)
    least = 0.0 if are_numbers else hidden_trees.LEAST_GAIN
    win = coarse.up(classes, [first]).is_hidden
    if not (win or are_numbers):
        return None
    win_at_once = win and coarse.compare.of(first).step.score - coarse.compare.of(classes).step.score > least
    table = finer()
    climb = coarse
    if table is not None:
        trial = replace(trial, table=table)
        climb = _Climb.of(trial, coarse.options, "auto", coarse.with_smoothing, coarse.time) or coarse
    # More groups have fewer rows each, and may want less smoothing.
    found = climb.smoother(first)
    found = climb.with_less_smoothing(found, [{"groups": G} for G in doubling(1, hidden_trees.MOST_GROUPS)])
    found = climb.with_other_bells(climb.smoother(found))
    if not win_at_once and not hidden_trees.are_better(climb.compare, found, coarse.compare, classes, least):
        return None
    most = hidden_trees.most_states(trial.domain, climb.time.is_limited)
    found = climb.up(found, [replace(found, rank=K) for K in doubling(found.rank, most)])
    said = hidden_trees.in_words(coarse.compare, climb.compare, found)
    chosen = climb.chosen(replace(found, hidden_steps=hidden_trees.steps_of_fit(trial)))
    return replace(chosen, hidden=said, table=table, judged=partial(climb.judged, found))
