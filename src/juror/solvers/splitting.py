"""A start of larger rank from a fit of smaller rank: classes are split where that explains the rows better.

Let R_if be the posterior of class f in row i. A class that is replaced by two, of shares π and columns B, changes the
log-likelihood by at least

    Σ_i w_i R_if (log Σ_c π_c Π_{n seen in i} B_n[x_in, c]  −  log Π_{n seen in i} A_n[x_in, f]),

EM's bound, and the bounds of several classes add up. Its maximum is a mixture of two for the rows of the class, each
with the share of it that the class holds: a few EM steps of rank two over rows that are counted about once in all. So
every class is split for a trial, and those that gain most are split for good.

Which classes are split mattered most when ways were compared (Titanic, Votes, Car, Mushroom, Adult, GSS, along the
whole path): the heaviest ones led to lower optima than random starts did, those of largest gain to higher ones on all
tables but Titanic, where they were the same. Whether halves begin at two rows or scattered around their class made no
difference; one trial did worse than several, and of two, three and four none did best everywhere.
``benchmarks/ranks.py`` compares what is left with random starts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.errors import wrong
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.solvers.ascent import Objective

# How many times a class is split for a trial, of which the best counts, and how many EM steps its halves take.
_TRIALS, _STEPS = 3, 10
# A step that gains no more than this, in nats per row of the class, is the last.
_STEP_TOL = 3e-3
# How much of a half that begins at one row is left to its class.
_CLASS_SHARE = 0.5
# A class ignores rows of which it holds less than this share of an even share.
_LEAST_SHARE = 0.01
# A split must gain more than this, in nats in all: noise alone gains half a nat a parameter.
_LEAST_GAIN = 1.0
# Classes added without a split begin with this many rows: too few to count as held.
_NEXT_TO_NOTHING = 0.25


def grown(parameters: Parameters, rank: int, objective: Objective[PackedRows], rng: np.random.Generator) -> Parameters:
    """Split classes of a fit until there are enough: a start of hardly lower log-likelihood, and mostly of higher.

    Classes that hold less than half a row are left out first. If no class gains from a split, classes of hardly any
    weight around the marginals fill the rest of the rank: they do no harm, and may still find rows.

    The fit has at most ``rank`` classes, the start exactly ``rank``. It is the same for any number of threads.
    """
    if rank < parameters.rank:
        raise wrong("rank", f"at least that of the fit to grow, {parameters.rank}", rank)
    parameters = _without_empty(parameters, objective.total)
    while parameters.rank < rank:
        more = _split_best(parameters, rank - parameters.rank, objective, rng)
        if more.rank == parameters.rank:
            return _filled(parameters, rank, objective)
        parameters = more
    return parameters


@dataclass(frozen=True)
class _Halves:
    """Two classes in place of one: what they gain, their shares of it (2,), their columns (stacked rows, 2)."""

    gain: float
    lam: np.ndarray
    stack: np.ndarray


def _without_empty(parameters: Parameters, total: float) -> Parameters:
    held = parameters.lam * total >= 0.5
    if np.all(held):
        return parameters
    held[parameters.lam.argmax()] = True
    lam = parameters.lam[held]
    return Parameters(lam / lam.sum(), parameters.stack[:, held])


def _filled(parameters: Parameters, rank: int, objective: Objective[PackedRows]) -> Parameters:
    """Add classes of next to no weight around the marginals."""
    n_more = rank - parameters.rank
    lam = np.concatenate([parameters.lam, np.full(n_more, _NEXT_TO_NOTHING / max(objective.total, 1.0))])
    stack = np.hstack([parameters.stack, np.repeat(objective.marginals, n_more, axis=1)])
    return Parameters(lam / lam.sum(), stack)


def _split_best(
    parameters: Parameters, most: int, objective: Objective[PackedRows], rng: np.random.Generator
) -> Parameters:
    """Split the classes that gain most, at most ``most`` of them, and none that gains nothing."""
    log_total = objective.rows.log_prob(parameters.lam, parameters.stack)

    def halves_of(task: tuple[int, np.random.Generator]) -> _Halves | None:
        f, own_rng = task
        alone = Parameters(parameters.lam[[f]], parameters.stack[:, [f]])
        inside = _inside(objective, alone, log_total, parameters.rank)
        # A single row cannot be split.
        return None if len(inside.rows) < 2 else _best_halves(inside, parameters.stack[:, [f]], own_rng)

    found = objective.rows.runner.map(halves_of, enumerate(rng.spawn(parameters.rank)))
    splits = [(f, halves) for f, halves in enumerate(found) if halves is not None and halves.gain > _LEAST_GAIN]
    lam, columns = list(parameters.lam), list(parameters.stack.T)
    for f, halves in sorted(splits, key=lambda split: -split[1].gain)[:most]:
        lam.append(lam[f] * halves.lam[1])
        columns.append(halves.stack[:, 1])
        lam[f] *= halves.lam[0]
        columns[f] = halves.stack[:, 0]
    return Parameters(np.array(lam), np.stack(columns, axis=1))


def _inside(
    objective: Objective[PackedRows], one: Parameters, log_total: np.ndarray, rank: int
) -> Objective[PackedRows]:
    """Return the objective for the rows of one class out of ``rank``, each row weighted by the class's share of it.

    Some class holds at least an even share of every row. So no row is left out of all classes, and what begins as
    possible stays possible, also without smoothing.
    """
    log_joint = objective.rows.log_prob(one.lam, one.stack)
    # An impossible row is in no class.
    possible = np.isfinite(log_joint)
    share = np.zeros_like(log_joint)
    share[possible] = np.exp(log_joint[possible] - log_total[possible])
    held = share > _LEAST_SHARE / rank
    return objective.over(objective.rows.part(held, objective.rows.weights[held] * share[held]))


def _best_halves(inside: Objective[PackedRows], column: np.ndarray, rng: np.random.Generator) -> _Halves:
    """Split a class with a stacked column (stacked rows, 1) a few times; return the split that gains most."""
    before = inside.at(Parameters(np.ones(1), column)).log_likelihood
    found = []
    for _ in range(_TRIALS):
        point = inside.at(_two_seeds(inside, column, rng))
        for _ in range(_STEPS):
            last, point = point, inside.at(inside.update(point))
            if point.objective - last.objective <= _STEP_TOL * inside.total:
                break
        found.append(_Halves(point.log_likelihood - before, point.parameters.lam, point.parameters.stack))
    return max(found, key=lambda halves: halves.gain)


def _two_seeds(inside: Objective[PackedRows], column: np.ndarray, rng: np.random.Generator) -> Parameters:
    """Draw two rows of a class by weight, and begin each half between its class and one of them."""
    rows = inside.rows
    shares = rows.weights / rows.total
    seeds = rng.choice(len(rows), size=2, replace=bool(np.count_nonzero(shares) < 2), p=shares)
    stack = np.repeat(_CLASS_SHARE * column, 2, axis=1)
    stack[rows.cells.unpacked(seeds).T, np.arange(2)] += 1 - _CLASS_SHARE
    return Parameters(np.full(2, 0.5), inside.stacking.normalise(stack, otherwise=np.ones_like(stack)))
