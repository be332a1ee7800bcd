"""A fit for the labels of a target: members that know the other variables, each tilted towards the labels.

A member is p(x) of the variables x other than the target, EM classes along a forest, times the scores of labels that
:mod:`juror.solvers.conditional_ascent` finds. Both together are classes along the same forest
(:mod:`juror.solvers.tilted_forest`), so the members side by side are a model like any other. Pairs of variables that
say more of a label together have scores too where labels of held-out rows gain (:mod:`juror.solvers.label_pairs`).
Members that were fitted to all variables alike stand beside them, or in their place, where labels of held-out rows gain
by that (:mod:`juror.fitting.label_stacking`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from juror.answers.sampling import sample
from juror.answers.scores import log_prob
from juror.fitting.choose import Chosen, FitSetting, is_clear
from juror.fitting.climb import choose_for_members
from juror.fitting.ensemble import about_forests
from juror.fitting.held_out import Trial, as_mixture
from juror.fitting.label_stacking import Stacked, stack
from juror.fitting.members import Member, complaints_of, fit_members, held_out_share
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.distinct import WeightedRows
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import side_by_side
from juror.rows.stacking import Stacking
from juror.solvers.chow_liu import strongest_forest
from juror.solvers.conditional_ascent import (
    Climbed,
    HeldOutLabels,
    LabelledRows,
    Start,
    climb_as_far,
    climb_together,
)
from juror.solvers.em import EMOptions
from juror.solvers.label_pairs import forest_of_pairs, pair_gains
from juror.solvers.solver import Solution
from juror.solvers.tilt import Surroundings, Tilt
from juror.solvers.tilted_forest import tilted

_MEMBERS = 4
# Classes of a tilt for each label after the first, the most classes of a tilt, and the most labels of a target
_PER_LABEL, _MOST_TILTED, _MOST_LABELS = 32, 128, 128
# The most classes of all members, and the most numbers in their tables: 128 MB
_MOST_CLASSES, _MOST_NUMBERS = 4096, 1 << 24
# How fast scores decay, to choose from, see juror.solvers.conditional_ascent
_DECAYS = (0.0, 0.05, 0.2)
# Parts of the work in progress reports: the members, the tilts with each decay and of all rows, and other members
_PARTS = len(_DECAYS) + 4
# The share of the time left that the other variables may take, and then the share that the tilts may take
_TIME_FOR_ALIKE, _TIME_FOR_OTHERS, _TIME_TO_TILT = 0.25, 0.4, 0.6
# The share of rows that tilts hold out, and the most rows. Many can be held out, as all rows are fitted once more.
_HELD_OUT, _MOST_HELD_OUT = 0.2, 4000
# Rows are held out several times, until this many have been, but not more often than this.
_ENOUGH_HELD_OUT, _MOST_DEALS = 1000, 2
# How many rows each member draws, at most as many as there are or this many
_DRAWN = 10_000
# The fewest rows with a label, so that some can be held out
_FEWEST_ROWS = 50


def fit_for_labels(trial: Trial, options: EMOptions, *, smoothing_given: bool) -> tuple[Solution, Chosen] | None:
    """Fit tilted members and others beside them; return None if labels are too few or too many, or time is spent."""
    others = _others(trial)
    if others is None:
        return None
    with_smoothing = not smoothing_given
    alike = _in_share(replace(trial, target=None), _TIME_FOR_ALIKE)
    chosen_alike = choose_for_members(alike, options, "auto", with_smoothing=with_smoothing, finer=lambda: None)
    n_labels = _n_labels(trial)
    per_label = max(1, min(_PER_LABEL * (n_labels - 1), _MOST_TILTED) // n_labels)
    others = _in_share(others, _TIME_FOR_OTHERS)
    most_rank = _most_untilted(others, per_label * n_labels)
    chosen = choose_for_members(others, options, "auto", with_smoothing=with_smoothing, most_rank=most_rank)
    # The rank is that of a part of the model.
    chosen = replace(chosen, rank_path=())
    if trial.context.seconds_left < 0:
        return None

    def members_of(table: MemoryTable) -> list[Member]:
        return fit_members(replace(others, table=table), options, chosen.setting, range(_MEMBERS))

    members = members_of(others.table)
    trial.context.tell(chosen.rank, 1, _PARTS, 1, 1, log_likelihood=members[-1].score)
    deals = [_Deal.of(trial, number, members_of) for number in range(_n_deals(trial))]
    # Pairs with scores are edges of a forest.
    pairs = [] if options.forest is False else _pairs(trial, members, per_label * n_labels)
    tilts = _fit_tilts(trial, deals, _drawn(trial, members), pairs, per_label, chosen.rank)
    trial.context.tell(chosen.rank, _PARTS - 1, _PARTS, 1, 1, log_likelihood=tilts.score)
    target, both = _target_of(trial), zip(members, tilts.tilts, strict=True)
    parts = side_by_side([tilted(member.parameters, tilt, trial.domain, target) for member, tilt in both])
    of_deals = [(deal.kept, deal.held) for deal in deals]
    stacked = stack(trial, options, chosen_alike, of_deals, parts, np.stack([tilts.log_prob, tilts.log_x]))
    trial.context.tell(chosen.rank, _PARTS, _PARTS, 1, 1, log_likelihood=stacked.score)
    return _solution(trial, options, chosen.setting, members, tilts, chosen_alike, stacked), chosen


def _in_share(trial: Trial, share: float) -> Trial:
    """Return the same with a share of the time left."""
    return replace(trial, context=trial.context.with_share(share))


def _target_of(trial: Trial) -> int:
    """Return the target, which every trial of labels has."""
    assert trial.target is not None
    return trial.target


def _n_labels(trial: Trial) -> int:
    return trial.domain.cardinalities[_target_of(trial)]


def _others(trial: Trial) -> Trial | None:
    """Return the same rows without the target; None if its labels are too few or too many for a tilt."""
    target, rows = _target_of(trial), trial.table.rows
    labelled = rows.codes[:, target] >= 0
    enough = rows.n_merged[labelled].sum() >= _FEWEST_ROWS and len(np.unique(rows.codes[labelled, target])) > 1
    if not enough or len(trial.domain) < 2 or _n_labels(trial) > _MOST_LABELS:
        return None
    return replace(trial, table=_without(trial.table, target), target=None)


def _without(table: MemoryTable, target: int) -> MemoryTable:
    """Return the same rows without the target."""
    codes = np.asfortranarray(np.delete(table.rows.codes, target, axis=1))
    return MemoryTable(WeightedRows.of(codes, table.rows.weights), table.domain.without([target]), table.runner)


def _most_untilted(others: Trial, n_tilted: int) -> int:
    """Return how many classes a member may have before its tilt multiplies them."""
    height = Stacking(others.domain.cardinalities, strongest_forest(others.links)).n_rows
    return max(1, min(_MOST_CLASSES, _MOST_NUMBERS // height) // (_MEMBERS * n_tilted))


def _held_out(trial: Trial) -> float:
    return min(_HELD_OUT, _MOST_HELD_OUT / trial.table.total)


def _n_deals(trial: Trial) -> int:
    """Return how often rows are held out: several times if they are few, and once if time is limited."""
    n_held = _held_out(trial) * trial.table.total
    return 1 if np.isfinite(trial.context.until) else min(_MOST_DEALS, int(np.ceil(_ENOUGH_HELD_OUT / n_held)))


@dataclass(frozen=True, eq=False)
class _Deal:
    """Rows that tilts are fitted to and rows held out.

    ``log_x`` is log p(x) of those held out that have a label, (members, rows), under members fitted to what is kept.
    """

    number: int
    kept: MemoryTable
    held: MemoryTable
    log_x: np.ndarray

    @classmethod
    def of(cls, trial: Trial, number: int, members_of: Callable[[MemoryTable], Sequence[Member]]) -> _Deal:
        """Hold out rows until both sides have labels, and fit members to the other variables of what is kept."""
        target, rng = _target_of(trial), Stream.TILT.generator(trial.context.seed, number)
        while True:
            kept, held = trial.table.split(_held_out(trial), rng)
            if all(np.any(part.rows.codes[:, target] >= 0) for part in (kept, held)):
                break
        codes, domain = held.rows.codes, trial.domain.without([target])
        x = np.delete(codes[codes[:, target] >= 0], target, axis=1)
        members = members_of(_without(kept, target))
        log_x = np.stack([log_prob(as_mixture([member.parameters], domain), x) for member in members])
        return cls(number, kept, held, log_x)

    def seen_by(self, trial: Trial, forests: Sequence[Forest | None]) -> list[HeldOutLabels]:
        """Return the rows as tilts with the pairs of some forests see them."""
        arounds, target = _arounds(trial, self.kept, forests), _target_of(trial)
        seen = {}
        for around in set(arounds):
            kept, held = (LabelledRows.of(part.rows, target, around) for part in (self.kept, self.held))
            seen[around] = partial(HeldOutLabels, kept, held, around)
        return [seen[around](log_x) for around, log_x in zip(arounds, self.log_x, strict=True)]

    def weights(self, trial: Trial) -> np.ndarray:
        """Return the weights of the rows held out that have a label."""
        return _labelled_weights(self.held, _target_of(trial))


def _labelled_weights(table: MemoryTable, target: int) -> np.ndarray:
    return table.rows.weights[table.rows.codes[:, target] >= 0]


def _arounds(trial: Trial, table: MemoryTable, forests: Sequence[Forest | None]) -> list[Surroundings]:
    """Return what is known of the variables for each forest of pairs, the same object for equal forests."""
    found = {forest: _around(trial, table, forest) for forest in set(forests)}
    return [found[forest] for forest in forests]


def _around(trial: Trial, table: MemoryTable, forest: Forest | None) -> Surroundings:
    target = _target_of(trial)
    labelled = table.rows.codes[:, target] >= 0
    codes, labels = table.rows.codes[labelled], table.rows.codes[labelled, target].astype(np.int64)
    others, weights = trial.domain.without([target]), table.rows.weights[labelled]
    return Surroundings.of(np.delete(codes, target, axis=1), labels, weights, others, _n_labels(trial), forest)


def _drawn(trial: Trial, members: Sequence[Member]) -> list[np.ndarray]:
    """Return codes of rows, (rows, N), that each member draws."""
    others, n_rows = trial.domain.without([_target_of(trial)]), min(_DRAWN, len(trial.table.rows.codes))
    rngs = [Stream.TETHER.generator(trial.context.seed, number) for number in range(len(members))]
    both = zip(members, rngs, strict=True)
    return [sample(as_mixture([member.parameters], others), n_rows, rng) for member, rng in both]


@dataclass(frozen=True)
class _Tilts:
    """The tilts of all members, and log p(y | x) and log p(x) of the rows held out under their average, (rows,)."""

    tilts: Sequence[Tilt]
    log_prob: np.ndarray
    log_x: np.ndarray
    score: float
    decay: float
    n_steps: int
    with_pairs: bool


def _fit_tilts(
    trial: Trial,
    deals: Sequence[_Deal],
    drawn: Sequence[np.ndarray],
    pairs: Sequence[Forest | None],
    per_label: int,
    rank: int,
) -> _Tilts:
    """Fit a tilt for each member; held-out labels choose the decay, the number of steps, and whether pairs have scores.

    Scores decay faster while that helps. Without a budget of time, tilts are fitted once more, to all rows and with
    as many passes over them.
    """
    seconds = _TIME_TO_TILT * trial.context.seconds_left
    climb = partial(_climb, trial, deals, drawn, per_label, seconds / (len(_DECAYS) + 1))
    forests: Sequence[Forest | None] = [None] * len(drawn)
    found, decay = climb(forests, _DECAYS[0]), _DECAYS[0]
    trial.context.tell(rank, 2, _PARTS, 1, 1, log_likelihood=found.score)
    if any(pairs):
        climbed = climb(pairs, decay)
        if is_clear(climbed.log_prob - found.log_prob, np.concatenate([deal.weights(trial) for deal in deals])):
            found, forests = climbed, pairs
        trial.context.tell(rank, 3, _PARTS, 1, 1, log_likelihood=found.score)
    for part, faster in enumerate(_DECAYS[1:], start=4):
        climbed = climb(forests, faster)
        trial.context.tell(rank, part, _PARTS, 1, 1, log_likelihood=climbed.score)
        if climbed.score <= found.score:
            break
        found, decay = climbed, faster
    tilts = found.tilts[0]
    if seconds == np.inf:
        tilts = _fit_all(trial, deals, drawn, forests, per_label, decay, found.n_steps)
    return _Tilts(tilts, found.log_prob, found.log_x, found.score, decay, found.n_steps, any(forests))


def _pairs(trial: Trial, members: Sequence[Member], n_tilted: int) -> list[Forest | None]:
    """Return the pairs that may have scores in the tilt of each member; none if tables would be too large."""
    gains = pair_gains(trial.table, _target_of(trial))
    sizes = trial.domain.without([_target_of(trial)]).cardinalities
    found: list[Forest | None] = []
    for number, member in enumerate(members):
        rng = Stream.MEMBER_FOREST.generator(trial.context.seed, number) if number else None
        forest = forest_of_pairs(gains, member.parameters.forest, rng)
        n_numbers = member.parameters.rank * n_tilted * Stacking(sizes, forest).n_rows
        found.append(forest if n_numbers <= _MOST_NUMBERS // _MEMBERS else None)
    return found


def _climb(
    trial: Trial,
    deals: Sequence[_Deal],
    drawn: Sequence[np.ndarray],
    per_label: int,
    seconds: float,
    forests: Sequence[Forest | None],
    decay: float,
) -> Climbed:
    splits = [deal.seen_by(trial, forests) for deal in deals]
    starts = [
        _starts(trial, deal.number, [rows.around for rows in split], drawn, per_label)
        for deal, split in zip(deals, splits, strict=True)
    ]
    until = time.monotonic() + seconds
    return climb_together(splits, starts, trial.context.runner, decay=decay, until=until)


def _fit_all(
    trial: Trial,
    deals: Sequence[_Deal],
    drawn: Sequence[np.ndarray],
    forests: Sequence[Forest | None],
    per_label: int,
    decay: float,
    n_steps: int,
) -> list[Tilt]:
    """Fit tilts to all rows, with as many passes over them as over the rows that were kept."""
    target, table = _target_of(trial), trial.table
    arounds = _arounds(trial, table, forests)
    rows = {around: LabelledRows.of(table.rows, target, around) for around in set(arounds)}
    more = _labelled_weights(table, target).sum() / _labelled_weights(deals[0].kept, target).sum()

    def fitted(given: tuple[Surroundings, Start]) -> Tilt:
        # Decay is a prior that is worth some rows, so it weighs less beside more rows.
        around, start = given
        return climb_as_far(start, rows[around], around, decay=decay / more, n_steps=round(n_steps * more))

    starts = _starts(trial, len(deals), arounds, drawn, per_label)
    return list(trial.context.runner.map(fitted, list(zip(arounds, starts, strict=True))))


def _starts(
    trial: Trial, number: int, arounds: Sequence[Surroundings], drawn: Sequence[np.ndarray], per_label: int
) -> list[Start]:
    """Return a start for each member whose drawn rows are given."""
    rngs = [Stream.TILT.generator(trial.context.seed, number, 1 + tilt) for tilt in range(len(drawn))]
    each = zip(arounds, drawn, rngs, strict=True)
    return [Start(around.start(per_label, rng), around.cells(codes), rng) for around, codes, rng in each]


def _in_words(trial: Trial, tilts: _Tilts, stacked: Stacked) -> str:
    """Say how labels were fitted, and what held-out labels gained by each kind of members."""
    name = trial.domain[_target_of(trial)].name
    how = f"by {_MEMBERS * tilts.n_steps:,} steps with decay {tilts.decay:g}"
    if tilts.with_pairs:
        how += ", with scores of pairs of columns"
    if not tilts.n_steps:
        how = "by separate classes for each label, which further steps did not improve"
    alike = f"an ensemble that treats {name} like any other column"
    if stacked.share == 0.0:
        gain = stacked.of_tilted - stacked.of_alike
        than = f"{gain:.4f} more" if gain >= 0 else f"{-gain:.4f} less, which is not clear,"
        than += f" than under {alike}"
    elif stacked.share == 1.0:
        how = f"by {alike}"
        than = f"{stacked.score - stacked.of_tilted:.4f} more than by steps towards the labels"
    else:
        how += f", and with the share {stacked.share:.2g} by {alike}"
        gains = [stacked.score - stacked.of_tilted, stacked.score - stacked.of_alike]
        than = f"{gains[0]:.4f} more than without that ensemble, and {gains[1]:.4f} more than by it alone"
    return f"for {name}, {how}; its labels in held-out rows have the log-probability {stacked.score:.4f} a row, {than}"


def _solution(
    trial: Trial,
    options: EMOptions,
    setting: FitSetting,
    members: Sequence[Member],
    tilts: _Tilts,
    alike: Chosen,
    stacked: Stacked,
) -> Solution:
    """Return both kinds of members side by side, as far as they count."""
    counting = [*(members if stacked.share < 1.0 else ()), *stacked.members]
    record = FitRecord(
        stopped=f"each stopped early, by {held_out_share(trial.table):.3g} of the rows, held out",
        n_iter=sum(member.n_passes for member in counting),
        starts=tuple(member.score for member in members),
        n_members=len(counting),
        forests=about_forests(replace(setting, forest=setting.forest or tilts.with_pairs), len(members)),
        hidden=alike.hidden if stacked.share > 0.0 else "",
        tuned=_in_words(trial, tilts, stacked),
    )
    return Solution(stacked.parts, record, complaints_of(counting, len(counting), options))
