"""The members of an ensemble: EM fits that are stopped early.

A fit that is stopped when rows it has not seen become less probable is no worse than one that has converged. It takes a
tenth of the time, and differs more from other members. Each member holds out its own rows to stop by.
Labels are predicted about equally well along most of the ascent, and every row helps. So members made to predict hold
out no rows, and stop when their steps become small.

The classes of a member may share a forest. The first member has the forest whose edges gain most. For each other member
the gains are multiplied by random factors, so that together the members follow more pairs than one forest can hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from juror.errors import Complaint, Option, ParameterError
from juror.fitting.choose import FitSetting
from juror.fitting.held_out import Trial
from juror.kernels.random_streams import Stream
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.on_card import pack
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.blas import load_blas_of_kernels
from juror.solvers.ascent import LongStep, Objective, PlainStep, ascend
from juror.solvers.chow_liu import perturbed, strongest_forest
from juror.solvers.em import EMOptions, random_start_of
from juror.solvers.grouped_trees import GroupedTrees
from juror.solvers.hidden_tree import BATCH, StateOptions
from juror.solvers.shared_forest import SharedForest, fetched, information_given, most_probable_classes
from juror.solvers.starts import seeded_start
from juror.solvers.stopping import Stop

# Distinct rows that are enough to compare settings and to begin a fit. A fifth of them tells settings apart that differ
# by a hundredth of a nat a row.
ENOUGH_ROWS = 50_000
# Enough held-out rows to decide when to stop, and the largest share of the rows that is held out
_ENOUGH_HELD_OUT, _MOST_HELD_OUT = 4000, 0.1
# A member stops when this many steps in a row brought no higher score. The first passes are not scored, because classes
# hardly differ yet.
_PATIENCE = 3
_FIRST_LOOK = 4
# Plain steps, which members with a forest take, may gain ever less. Gains below this, in nats per row, do not count.
_LEAST_GAIN = 1e-5
# With many rows a fit could gain a little for long. So for members of many rows, and for those that only compare
# settings on a sample of many, gains below these shares of their nats do not count.
LEAST_SHARE, ROUGH_SHARE = 2.5e-5, 2.5e-4
# A member that has not stopped after this many passes takes long steps, unless it has a forest.
_PLAIN = 20
# Members made to predict stop at a step that gains no more than this, in nats per row.
_ROUGH_TOL = 1e-3
# Steps between two reports of progress of a tree with hidden nodes
_TOLD_STEPS = 20
# How much the random factors of gains vary: exp(noise · Gumbel)
_NOISE = 0.3


@dataclass(frozen=True)
class Member:
    """One fit of an ensemble: where it stopped, the mean log-probability of its rows there, and its passes over them.

    The rows are those that it held out to stop by, or all where it held out none. ``cut`` names the option that ended
    it before it would have stopped by itself. Trees with hidden nodes are one part for each group of rows; all else is
    one part.
    """

    parts: tuple[Parameters, ...]
    score: float
    n_passes: int
    by_held_out: bool
    cut: str = ""

    @property
    def parameters(self) -> Parameters:
        """The only part."""
        (only,) = self.parts
        return only


def complaints_of(members: Sequence[Member], most: int, options: EMOptions) -> tuple[Complaint, ...]:
    """Complain about members that were cut short, and about fewer members than were asked for."""
    n_cut = {cause: sum(member.cut == cause for member in members) for cause in ("max_iter", "max_seconds")}
    complaints = [
        Complaint(
            "members-cut-short",
            "{who} spent {set} before {they} would have stopped by {selves}. Raise {option}.",
            who=f"{n} of {len(members)} members" if len(members) > 1 else "The fit",
            they="they" if len(members) > 1 else "it",
            selves="themselves" if len(members) > 1 else "itself",
            set=Option(cause, source=f" = {getattr(options, cause):g}"),
            option=Option(cause),
        )
        for cause, n in n_cut.items()
        if n
    ]
    if options.ensemble != "auto" and len(members) < most:
        fewer = Complaint(
            "fewer-members",
            "{max_seconds: = {seconds:g}} was enough for {n} of the {most} members. Raise {max_seconds}.",
            seconds=options.max_seconds,
            n=len(members),
            most=most,
        )
        complaints.append(fewer)
    return tuple(complaints)


def held_out_share(table: MemoryTable) -> float:
    """Return the share of the rows that each member holds out to stop by."""
    return min(_MOST_HELD_OUT, _ENOUGH_HELD_OUT / table.total)


def some_rows(table: MemoryTable, n_rows: int, rng: np.random.Generator) -> MemoryTable:
    """Draw rows at random, each with the chance ``n_rows`` / number of distinct rows.

    A distinct row that stands for several keeps some of them. So tables whose rows recur keep nearly all distinct rows.
    """
    return table.split(min(1.0, n_rows / len(table.rows.codes)), rng)[1]


def stack_size(trial: Trial, setting: FitSetting) -> int:
    """Return how many numbers the tables of the first member have, before its forest is learned again."""
    forest = _forest(trial.links, 0, trial.context.seed) if setting.forest else None
    return Stacking(trial.domain.cardinalities, forest).n_rows * setting.rank


def fit_members(
    trial: Trial,
    options: EMOptions,
    setting: FitSetting,
    numbers: Sequence[int],
    most: int | None = None,
    *,
    least_share: float = 0.0,
) -> list[Member]:
    """Fit some members side by side, one per thread. No pass begins after the context's deadline.

    A number always stands for the same start, the same forest and the same rows held out. In all there will be ``most``
    members, or only these. Members stop where steps gain less than ``least_share`` of the nats of a row.
    """
    if setting.is_hidden:
        load_blas_of_kernels()

        def tell(number: int, step: int, n_steps: int) -> None:
            # One thread tells for all.
            if number == numbers[0] and step % _TOLD_STEPS == 0:
                trial.context.tell(setting.rank, number + 1, most or numbers[-1] + 1, step, n_steps)

        return list(trial.context.runner.map(partial(_fit_hidden, trial, setting, tell), numbers))
    links = trial.links if setting.forest else None
    return list(trial.context.runner.map(partial(_fit_member, trial, options, setting, links, least_share), numbers))


def _fit_member(
    trial: Trial, options: EMOptions, setting: FitSetting, links: np.ndarray | None, least_share: float, number: int
) -> Member:
    fit = _MemberFit.of(trial, options, setting, number)
    n_rows = len(fit.table.rows.codes)
    if n_rows <= ENOUGH_ROWS:
        return replace(fit, least_share=least_share).from_links(links)
    fit = replace(fit, least_share=max(least_share, LEAST_SHARE))
    # The first passes move far, with some of the rows as with all. Small gains come in the last ones.
    first = replace(fit, table=some_rows(fit.table, ENOUGH_ROWS, fit.rng)).from_links(links)
    return fit.from_member(first, ENOUGH_ROWS / n_rows)


def _fit_hidden(trial: Trial, setting: FitSetting, tell: Callable[[int, int, int], None], number: int) -> Member:
    """Fit trees with hidden nodes to all rows in a given number of steps; members differ in groups and starts."""
    rng, rows = Stream.MEMBER.generator(trial.context.seed, setting.rank, number), trial.table.rows
    states = StateOptions(setting.rank, setting.smoothing, setting.bell_rows)
    trees = GroupedTrees.of(rows, trial.domain, setting.groups, states, rng)
    found, cut, n_steps = trees.start(rng), "", 0
    n_all = trees.n_yields(setting.hidden_steps)
    for moved in trees.steps(found, setting.hidden_steps, rng):
        found, n_steps = moved, n_steps + 1
        tell(number, n_steps, n_all)
        if trial.context.seconds_left < 0:
            cut = "max_seconds"
            break
        if trial.context.runner.has_ended:
            break
    some = rng.choice(len(rows.codes), min(len(rows.codes), _ENOUGH_HELD_OUT), replace=False)
    score = np.average(trees.log_prob(found, rows.codes[some]), weights=rows.weights[some])
    return Member(trees.parameters(found), float(score), -(-n_steps * BATCH // len(rows.codes)), False, cut)


def climb_along(trial: Trial, options: EMOptions, setting: FitSetting, forest: Forest) -> Parameters:
    """Fit one member along a given forest."""
    return _MemberFit.of(trial, options, setting, 0).from_start(forest).parameters


def _forest(links: np.ndarray, number: int, seed: int) -> Forest:
    """Return the forest of a member; its random factors are the same at every rank, so that ranks can be compared."""
    if number > 0:
        links = perturbed(links, _NOISE, Stream.MEMBER_FOREST.generator(seed, number))
    return strongest_forest(links)


@dataclass(frozen=True)
class _MemberFit:
    """A member that is fitted: its rows, those it holds out to stop by, or None, and what its starts are drawn from.

    Gains below ``least_share`` of the nats of a row do not count.
    """

    trial: Trial
    table: MemoryTable
    held: MemoryTable | None
    options: EMOptions
    setting: FitSetting
    number: int
    rng: np.random.Generator
    least_share: float = 0.0

    @classmethod
    def of(cls, trial: Trial, options: EMOptions, setting: FitSetting, number: int) -> _MemberFit:
        """Hold out rows for a member."""
        rng = Stream.MEMBER.generator(trial.context.seed, setting.rank, number)
        kept, held = trial.table.split(held_out_share(trial.table), rng)
        # A handful of rows may leave one side empty, and a single class cannot overfit.
        by_held_out = trial.target is None and setting.rank > 1 and kept.total > 0 and held.total > 0
        if by_held_out:
            return cls(trial, kept, held, options, setting, number, rng)
        return cls(trial, trial.table, None, options, setting, number, rng)

    def from_links(self, links: np.ndarray | None) -> Member:
        """Fit from a random start, along the member's own forest if there are links between variables, (N, N)."""
        if links is None:
            return self.from_start(None)
        seed = self.trial.context.seed
        member = self.from_start(_forest(links, self.number, seed))
        if not self.setting.relearned:
            return member
        links = information_given(self.table, most_probable_classes(self.table, member.parameters))
        again = self.from_start(_forest(links, self.number, seed))
        return replace(again, n_passes=member.n_passes + again.n_passes, cut=again.cut or member.cut)

    def from_start(self, forest: Forest | None) -> Member:
        """Fit classes with a forest, or without, from a random start."""
        rank = self.setting.rank
        if forest is None:
            objective = self._without_forest()
            return self._climb(objective, random_start_of(objective, rank, self.number, self.rng))
        rows = self.table.along(forest)
        along = self._along(rows, forest)
        start = (
            # Rows are drawn in the order of the table, which is the same on a card.
            seeded_start(rows, along.marginals, rank, along.stacking, self.rng)
            if self.setting.seeded
            else along.scattered_start(rank, self.rng, rows)
        )
        return self._climb(along.on_card(), start)

    def from_member(self, first: Member, share: float) -> Member:
        """Go on from a member that was fitted to a share of the rows."""
        start, forest = first.parameters, first.parameters.forest
        along = None if forest is None else self._along(self.table.along(forest), forest).on_card()
        again = self._climb(along or self._without_forest(), start)
        return replace(again, n_passes=again.n_passes + math.ceil(share * first.n_passes), cut=again.cut or first.cut)

    def _without_forest(self) -> Objective[PackedRows]:
        stacking = Stacking(self.table.domain.cardinalities)
        return Objective.of(self.table.packed, stacking, self.setting.smoothing)

    def _along(self, rows: PackedRows, forest: Forest) -> SharedForest:
        stacking = Stacking(self.table.domain.cardinalities, forest)
        return SharedForest.along(rows.in_order(), stacking, self.setting.smoothing)

    def _climb(self, objective: Objective[PackedRows], start: Parameters) -> Member:
        if self.held is not None:
            return self._while_held_out_gain(objective, start)
        until, most = self.trial.context.until, self.options.max_iter
        run = ascend(objective, start, max_iter=most, tol=_ROUGH_TOL, accelerate=False, until=until)
        cut, parts = _CUT_BY.get(run.stopped.by, ""), (fetched(run.point.parameters),)
        return Member(parts, run.point.log_likelihood / objective.total, run.n_passes, False, cut)

    def _while_held_out_gain(self, objective: Objective[PackedRows], start: Parameters) -> Member:
        """Take EM steps until the rows held out become no more probable: plain ones first, then long ones."""
        assert self.held is not None
        held = pack(self.held.rows, objective.stacking, objective.rows.runner)
        plain, long, most = PlainStep(objective), LongStep(objective), self.options.max_iter
        point = objective.at(start)
        best, score, stale, n_passes = start, -np.inf, 0, 0
        # Steps along a forest climb no fixed objective that would say whether a leap helps.
        n_plain, least_gain = (_PLAIN, 0.0) if objective.stacking.forest is None else (most, _LEAST_GAIN)
        cut = ""
        while stale < _PATIENCE and not cut:
            point, spent = (plain if n_passes < n_plain else long)(point, most - n_passes)
            n_passes += spent
            if n_passes >= most:
                cut = "max_iter"
            elif self.trial.context.seconds_left < 0:
                cut = "max_seconds"
            if n_passes < _FIRST_LOOK and not cut:
                continue
            found = float(held.weights @ held.log_prob(point.parameters.lam, point.parameters.stack)) / held.total
            stale = 0 if found > score + max(least_gain, self.least_share * abs(found)) else stale + 1
            if found > score:
                best, score = point.parameters, found
        if score == -np.inf:
            raise ParameterError(
                "{smoothing} is {got:g}, and some row that a member of the ensemble held out has probability zero, so "
                "that it cannot tell when to stop. Pass {smoothing} above zero.",
                got=self.setting.smoothing,
            )
        return Member((fetched(best),), score, n_passes, True, cut if stale < _PATIENCE else "")


# The option that cut a fit short
_CUT_BY = {Stop.MAX_ITER: "max_iter", Stop.MAX_SECONDS: "max_seconds"}
