"""A fit for the labels of a target: members that know the other variables, each tilted towards the labels.

A member is p(x) of the variables x other than the target, EM classes along a forest, times the scores of labels that
:mod:`juror.solvers.conditional_ascent` finds. Both together are classes along the same forest
(:mod:`juror.solvers.tilted_forest`), so the members side by side are a model like any other. Where classes that were
fitted to all variables alike predict labels of held-out rows better, these are kept instead.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from juror.fitting.choose import Chosen, FitSetting
from juror.fitting.ensemble import about_forests, choose_for_members
from juror.fitting.held_out import Trial
from juror.fitting.members import Member, complaints_of, fit_members, held_out_share
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.distinct import WeightedRows
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import side_by_side
from juror.rows.stacking import Stacking
from juror.solvers.chow_liu import strongest_forest
from juror.solvers.conditional_ascent import Climbed, LabelledRows, climb_as_far, climb_labels
from juror.solvers.em import EMOptions
from juror.solvers.solver import Solution
from juror.solvers.tilt import Surroundings
from juror.solvers.tilted_forest import tilted

_MEMBERS = 4
# Classes of a tilt for every label after the first, the most of all, and the most labels that a tilt is tried for
_PER_LABEL, _MOST_TILTED, _MOST_LABELS = 32, 128, 128
# Up to this many rows, a tilt is fitted once more, to all rows, with as many steps, unless there is a budget of time.
_FEW_ROWS = 10_000
# The most classes of all members, and the most numbers in their tables: 128 MB
_MOST_CLASSES, _MOST_NUMBERS = 4096, 1 << 24
# How fast scores decay, to choose from, see juror.solvers.conditional_ascent
_DECAYS = (0.05, 0.2, 0.0)
# The share of the time left that tilts may take
_TIME_TO_TILT = 0.5
# The fewest rows with a label, so that some can be held out
_FEWEST_ROWS = 50
# Members that choose the decay and are compared with some without a tilt, and the classes of these
_COMPARED, _COMPARED_RANK = 2, 32


def fit_for_labels(trial: Trial, options: EMOptions, *, smoothing_given: bool) -> tuple[Solution, Chosen] | None:
    """Fit tilted members; return None if labels are too few or too many, a tilt does not help, or time is spent."""
    others = _others(trial)
    if others is None:
        return None
    n_labels = _n_labels(trial)
    per_label = max(1, min(_PER_LABEL * (n_labels - 1), _MOST_TILTED) // n_labels)
    most_rank = _most_untilted(others, per_label * n_labels)
    chosen = choose_for_members(others, options, "auto", with_smoothing=not smoothing_given, most_rank=most_rank)
    # The rank is that of a part of the model.
    chosen = replace(chosen, rank_path=())
    deals = [_Deal.of(trial, number) for number in range(_MEMBERS)]
    decay, tilts = _fit_tilts(trial, per_label, deals)
    before = _fit_untilted(trial, options, chosen.setting, deals[:_COMPARED])
    gain, error = _compared(tilts, before)
    if gain < -error or trial.context.seconds_left < 0:
        return None
    members = fit_members(others, options, chosen.setting, range(_MEMBERS))
    trial.context.tell(chosen.rank, _MEMBERS, _MEMBERS, 1, 1, log_likelihood=members[-1].score)
    solution = _solution(trial, options, chosen.setting, members, [tilt.found for tilt in tilts])
    tuned = _in_words(trial, tilts, decay, gain)
    return replace(solution, record=replace(solution.record, tuned=tuned)), chosen


def _n_labels(trial: Trial) -> int:
    assert trial.target is not None
    return trial.domain.cardinalities[trial.target]


def _others(trial: Trial) -> Trial | None:
    """Return the same rows without the target; None if its labels are too few or too many for a tilt."""
    target, rows = trial.target, trial.table.rows
    assert target is not None
    labelled = rows.codes[:, target] >= 0
    enough = rows.n_merged[labelled].sum() >= _FEWEST_ROWS and len(np.unique(rows.codes[labelled, target])) > 1
    if not enough or len(trial.domain) < 2 or _n_labels(trial) > _MOST_LABELS:
        return None
    codes = np.asfortranarray(np.delete(rows.codes, target, axis=1))
    table = MemoryTable(WeightedRows.of(codes, rows.weights), trial.domain.without([target]), trial.context.runner)
    return replace(trial, table=table, target=None)


def _most_untilted(others: Trial, n_tilted: int) -> int:
    """Return how many classes a member may have before its tilt multiplies them."""
    height = Stacking(others.domain.cardinalities, strongest_forest(others.links)).n_rows
    return max(1, min(_MOST_CLASSES, _MOST_NUMBERS // height) // (_MEMBERS * n_tilted))


@dataclass(frozen=True)
class _Deal:
    """The rows of a member, by its number: kept and held out."""

    number: int
    kept: MemoryTable
    held: MemoryTable

    @classmethod
    def of(cls, trial: Trial, number: int) -> _Deal:
        """Hold out rows until both sides have labels."""
        rng = Stream.TILT.generator(trial.context.seed, number)
        while True:
            kept, held = trial.table.split(held_out_share(trial.table), rng)
            if all(np.any(part.rows.codes[:, trial.target] >= 0) for part in (kept, held)):
                return cls(number, kept, held)


@dataclass(frozen=True)
class _Tilted:
    """A tilt, and the log-probability of each label that was held out, (rows,), with weights (rows,)."""

    found: Climbed
    logs: np.ndarray
    weights: np.ndarray


def _fit_tilts(trial: Trial, per_label: int, deals: Sequence[_Deal]) -> tuple[float, list[_Tilted]]:
    """Fit a tilt to each deal, with the decay that makes held-out labels of the first ones most probable."""
    first = list(product(_DECAYS, deals[:_COMPARED]))
    n_rounds = sum(-(-n // trial.context.runner.n_jobs) for n in (len(first), len(deals) - _COMPARED))
    seconds = _TIME_TO_TILT * trial.context.seconds_left / n_rounds
    fit = partial(_fit_tilt, trial, per_label, seconds)
    found = list(trial.context.runner.map(lambda each: fit(*each), first))
    by_decay = [found[n : n + _COMPARED] for n in range(0, len(found), _COMPARED)]
    best = int(np.argmax([sum(tilt.found.score for tilt in tilts) for tilts in by_decay]))
    others = trial.context.runner.map(partial(fit, _DECAYS[best]), deals[_COMPARED:])
    return _DECAYS[best], [*by_decay[best], *others]


def _fit_tilt(trial: Trial, per_label: int, seconds: float, decay: float, deal: _Deal) -> _Tilted:
    target, rows = trial.target, deal.kept.rows
    assert target is not None
    labelled = rows.codes[:, target] >= 0
    codes, labels = np.delete(rows.codes[labelled], target, axis=1), rows.codes[labelled, target].astype(np.int64)
    around = Surroundings.of(codes, labels, rows.weights[labelled], trial.domain.without([target]), _n_labels(trial))
    kept, held = (LabelledRows.of(part.rows, target, around) for part in (deal.kept, deal.held))
    rng = Stream.TILT.generator(trial.context.seed, deal.number, 1)
    start = around.start(per_label, rng)
    found = climb_labels(start, kept, held, around, rng, decay=decay, until=time.monotonic() + seconds)
    logs = held.log_prob(found.tilt)
    if len(kept) + len(held) <= _FEW_ROWS and seconds == np.inf:
        again = climb_as_far(start, kept + held, around, rng, decay=decay, n_steps=found.n_steps)
        found = replace(found, tilt=again)
    return _Tilted(found, logs, held.weights)


def _fit_untilted(trial: Trial, options: EMOptions, setting: FitSetting, deals: Sequence[_Deal]) -> list[np.ndarray]:
    """Return the log-probability of held-out labels under members that were fitted to all variables alike."""
    logs = []
    for deal in deals:
        rank = min(_COMPARED_RANK, max(1, len(deal.kept.rows.codes) // 2))
        alike = replace(trial, table=deal.kept, target=None)
        (member,) = fit_members(alike, options, replace(setting, rank=rank, relearned=False), [deal.number])
        logs.append(trial.row_scores((member.parameters,), deal.held)[0])
    return logs


def _compared(tilts: Sequence[_Tilted], before: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return how much more probable tilts make held-out labels, in nats a row, and the standard error of that."""
    gains = np.concatenate([tilt.logs - logs for tilt, logs in zip(tilts, before, strict=False)])
    weights = np.concatenate([tilt.weights for tilt, _ in zip(tilts, before, strict=False)])
    gain = float(weights @ gains / weights.sum())
    return gain, float(np.sqrt(weights**2 @ (gains - gain) ** 2) / weights.sum())


def _in_words(trial: Trial, tilts: Sequence[_Tilted], decay: float, gain: float) -> str:
    assert trial.target is not None
    score, n_steps = np.mean([tilt.found.score for tilt in tilts]), sum(tilt.found.n_steps for tilt in tilts)
    than = f"{gain:.4f} more" if gain >= 0 else f"{-gain:.4f} less, which is not clear,"
    name = trial.domain[trial.target].name
    return (
        f"for {name}, by {n_steps:,} steps with decay {decay:g}; its labels in held-out rows have the log-probability "
        f"{score:.4f} a row, {than} than without"
    )


def _solution(
    trial: Trial, options: EMOptions, setting: FitSetting, members: Sequence[Member], found: Sequence[Climbed]
) -> Solution:
    """Put the tilted members side by side."""
    target = trial.target
    assert target is not None
    both = zip(members, found, strict=True)
    parts = side_by_side([tilted(member.parameters, each.tilt, trial.domain, target) for member, each in both])
    record = FitRecord(
        stopped=f"each stopped early, by {held_out_share(trial.table):.3g} of the rows, held out",
        n_iter=sum(member.n_passes for member in members),
        starts=tuple(member.score for member in members),
        n_members=len(members),
        forests=about_forests(setting, len(members)),
    )
    return Solution(parts, record, complaints_of(members, len(members), options))
