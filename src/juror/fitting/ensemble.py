"""Ensembles of EM fits: members side by side are one CPD, their mean, which is usually better than the best of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from juror.fitting import hidden_trees
from juror.fitting.choose import (
    Chosen,
    FitSetting,
)
from juror.fitting.held_out import Trial
from juror.fitting.members import Member, complaints_of, fit_members, held_out_share, stack_size
from juror.record import FitRecord
from juror.rows.parameters import mean_of
from juror.solvers.em import EMOptions
from juror.solvers.solver import Solution

# The default number of members and the most in a budget of time; the most classes of all together
_MEMBERS, _MOST_MEMBERS = 10, 100
_MOST_CLASSES, _MOST_CLASSES_IN_TIME = 12_288, 49_152
# The most cells (rows × columns) times classes of all members together, without a budget of time
_MOST_WORK = 2.6e9
# The most numbers in the tables of all members: 256 MB
_MOST_NUMBERS = 1 << 25


def fit_ensemble(trial: Trial, options: EMOptions, chosen: Chosen) -> Solution:
    """Fit as many members as are asked for, or as there is time for, and put them side by side."""
    context = trial.context
    most = most_members(options, chosen.setting, trial.table.rows.codes.size, in_time=bool(np.isfinite(context.until)))
    members: list[Member] = []
    longest, at_once = 0.0, context.runner.n_jobs
    if options.ensemble == "auto":
        at_once = min(at_once, max(2, _MOST_NUMBERS // stack_size(trial, chosen.setting)))
    while len(members) < most and (not members or context.seconds_left > longest):
        began, since = context.seconds_left, time.monotonic()
        numbers = range(len(members), min(len(members) + at_once, most))
        members += fit_members(trial, options, chosen.setting, numbers, most)
        if options.ensemble == "auto":
            most = min(most, max(2, _MOST_NUMBERS // sum(part.stack.size for part in members[0].parts)))
            # Many threads may have fitted more; the model must not depend on their number.
            del members[most:]
        longest = max(longest, began - context.seconds_left) if np.isfinite(began) else 0.0
        left = min((time.monotonic() - since) * -(-(most - len(members)) // at_once), context.seconds_left)
        context.tell(chosen.rank, len(members), most, 1, 1, log_likelihood=members[-1].score, seconds_left=left)
    record = FitRecord(
        stopped=_stopped(members, most, trial, options, chosen.setting),
        n_iter=sum(member.n_passes for member in members),
        starts=tuple(member.score for member in members),
        n_members=len(members),
        forests=about_forests(chosen.setting, len(members)),
        hidden=chosen.hidden,
    )
    parts = mean_of([member.parts for member in members])
    return Solution(parts, record, complaints_of(members, most, options))


def about_forests(setting: FitSetting, n_members: int) -> str:
    """Say whether members have forests, and how they came by them."""
    if setting.is_hidden:
        shared = "the same for each fit" if setting.groups == 1 else "one for each group of rows"
        return f"{shared}, over hidden nodes"
    if not setting.forest:
        return ""
    each = "one for each fit" if n_members > 1 else "one for all classes"
    return each + (", learned again within its classes" if setting.relearned else "")


def most_members(options: EMOptions, setting: FitSetting, n_cells: int, *, in_time: bool) -> int:
    """Return how many members there may be: with a budget of time as many as stay comfortable to ask.

    Without one, a table of many cells (rows × columns) has fewer.
    """
    if options.ensemble != "auto":
        return int(options.ensemble)
    if setting.is_hidden:
        return hidden_trees.most_members(setting, n_cells, in_time)
    # There is one best product of one class, and all members would be that model.
    if setting.rank == 1 and not setting.forest:
        return 1
    if in_time:
        return max(2, min(_MOST_MEMBERS, _MOST_CLASSES_IN_TIME // setting.rank))
    return max(2, min(_MEMBERS, _MOST_CLASSES // setting.rank, int(_MOST_WORK / (n_cells * setting.rank))))


def _stopped(members: Sequence[Member], most: int, trial: Trial, options: EMOptions, setting: FitSetting) -> str:
    reason = f"after {setting.hidden_steps:,} steps" if setting.is_hidden else "stopped early"
    reason = f"each {reason}" if len(members) > 1 else reason
    n_by_held_out = sum(member.by_held_out for member in members)
    if n_by_held_out:
        some = "" if n_by_held_out == len(members) else f" {n_by_held_out} of them"
        reason += f",{some} by {held_out_share(trial.table):.3g} of the rows, held out"
    if len(members) < most:
        return f"{reason}; {len(members)} of at most {most} fits in {options.max_seconds:g} s"
    return reason
