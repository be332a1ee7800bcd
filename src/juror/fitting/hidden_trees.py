"""When trees with hidden nodes are tried, how large, and for how long; see :mod:`juror.solvers.hidden_tree`."""

from __future__ import annotations

import math

import numpy as np

from juror.domain import Domain
from juror.fitting.choose import Comparison, FitSetting
from juror.fitting.held_out import Trial
from juror.rows.mean_gain import mean_gain
from juror.solvers.hidden_tree import BATCH

# The rows by which the states that follow a state may be drawn to the shares of all
SMOOTHINGS = (0.1, 0.3, 1.0, 3.0, 10.0)
_FIRST_SMOOTHING = 1.0
# The rows by which columns of states may be drawn to bells: few where numbers lie on thin curves, many where they vary
BELL_ROWS = (10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
# Labels without order gain nothing from hidden nodes, so some columns must be numbers.
_FEWEST_NUMBERS = 3
_FIRST_STATES, _MOST_STATES, _MOST_STATES_IN_TIME = 32, 64, 512
# The groups of rows that have trees of their own: 1, 2, 4 or 8
MOST_GROUPS = 8
# A step takes N K² products a row: 256 states behind 12 variables, 128 behind 48, and none behind more than 3,000
_MOST_PRODUCTS, _FEWEST_STATES = 12 * 256**2, 16
# How many members are one model, without and with a budget of time; the most products of all members in one pass over
# the rows, without one, if every row belongs to all groups
_MEMBERS, _MOST_MEMBERS = 8, 20
_MOST_PRODUCTS_OF_ALL = 4e11
# The nats a row that trees must gain where most columns are labels: a label that another determines leaks in trees.
LEAST_GAIN = 0.1
# By how many standard errors trees must be better in fine intervals, if they were worse in coarse ones
_CLEAR = 2.0
# An interval without rows may have no mass, and no logarithm.
_LEAST_MASS = 1e-300
# The steps of a comparison; the passes over the rows of a fit, and its most steps
_COMPARED_STEPS, _PASSES, _MOST_STEPS = 250, 20, 2400
# The most steps times variables, of a comparison and of a fit: a step takes longer for more variables; and the fewest
# steps all the same
_COMPARED_NODE_STEPS, _MOST_NODE_STEPS, _FEWEST_STEPS = 5000, 15_000, 100


def mostly_numbers(domain: Domain) -> bool:
    """Say whether more than half of the variables are numbers, and enough of them to try trees."""
    n_numbers = _n_numbers(domain)
    return n_numbers >= _FEWEST_NUMBERS and 2 * n_numbers > len(domain)


def _n_numbers(domain: Domain) -> int:
    return sum(variable.edges is not None for variable in domain)


def first_setting(trial: Trial) -> FitSetting | None:
    """Return what to begin with; None where no tree is to be tried: with a target, few numbers, or many variables."""
    if trial.target is not None or _n_numbers(trial.domain) < _FEWEST_NUMBERS:
        return None
    n_states = min(_FIRST_STATES, _affordable_states(trial.domain))
    if n_states < _FEWEST_STATES:
        return None
    n_steps = min(_COMPARED_STEPS, max(_FEWEST_STEPS, _COMPARED_NODE_STEPS // len(trial.domain)))
    return FitSetting(n_states, _FIRST_SMOOTHING, hidden_steps=n_steps)


def most_states(domain: Domain, in_time: bool) -> int:
    """Return the largest number of states that is tried, in a budget of time or without."""
    return _MOST_STATES_IN_TIME if in_time else min(_MOST_STATES, _affordable_states(domain))


def _affordable_states(domain: Domain) -> int:
    """Return the most states whose steps are not too slow for as many variables as a table has."""
    return math.isqrt(_MOST_PRODUCTS // len(domain))


def most_members(setting: FitSetting, n_cells: int, in_time: bool) -> int:
    """Return how many members may be one model of a table with a number of cells (rows × columns)."""
    if in_time:
        return _MOST_MEMBERS
    return max(2, min(_MEMBERS, int(_MOST_PRODUCTS_OF_ALL / (n_cells * setting.rank**2 * setting.groups))))


def steps_of_fit(trial: Trial) -> int:
    """Return how many steps the trees of the model itself take."""
    passes = int(_PASSES * len(trial.table.rows.codes) / BATCH)
    most = max(_COMPARED_STEPS, min(_MOST_STEPS, _MOST_NODE_STEPS // len(trial.domain)))
    return min(max(_COMPARED_STEPS, passes), most)


def are_better(
    fine: Comparison, trees: FitSetting, coarse: Comparison, classes: FitSetting, least: float = 0.0
) -> bool:
    """Say whether trees in finer intervals gain more nats a row than the least, and than noise of the rows would give.

    A number x in the interval i has the density P(i) h(x) / H(i) by the law of its column. The h(x) do not depend on
    the intervals, so log P(i) − log H(i) is compared, in sum over the numbers of a row.
    """
    (mean, error), (other, other_error) = _beyond_laws(fine, trees), _beyond_laws(coarse, classes)
    return mean - other > least + _CLEAR * math.hypot(error, other_error)


def _beyond_laws(compare: Comparison, setting: FitSetting) -> tuple[float, float]:
    """Return the mean of log P − Σ log H over held-out rows, and its standard error."""
    tried = compare.of(setting)
    codes = np.concatenate([held.rows.codes for _, held in compare.parts])
    gains = tried.rows.astype(np.float64)
    for variable, column in zip(compare.trial.domain, codes.T, strict=True):
        if variable.edges is not None:
            masses = variable.inside.masses
            seen = (column >= 0) & (column < len(masses))
            gains[seen] -= np.log(np.maximum(masses[column[seen]], _LEAST_MASS))
    return mean_gain(gains, tried.weights)


def in_words(coarse: Comparison, fine: Comparison, setting: FitSetting) -> str:
    """Say which trees were chosen, and what the best classes and all trees scored, in intervals and in finer ones."""
    texts = [_scores(coarse)]
    if fine is not coarse:
        texts.append(f"in finer intervals {_scores(fine)}")
    return f"{_in_words(setting)}; {coarse.trial.measure('log')}: {'; '.join(texts)}"


def _in_words(setting: FitSetting) -> str:
    groups = "" if setting.groups == 1 else f" in each of {setting.groups} groups of rows"
    return f"{setting.rank} states behind every variable{groups}, drawn to bells by {setting.bell_rows:,.0f} rows"


def _scores(compare: Comparison) -> str:
    """List the best score of classes, and that of each number of states and groups."""
    best: dict[tuple[int, int], float] = {}
    for each, tried in compare.tried.items():
        kind = (each.rank, each.groups) if each.is_hidden else (0, 0)
        best[kind] = max(best.get(kind, -np.inf), tried.step.score)
    names = {kind: f"{kind[0]} states × {kind[1]}" if kind[1] > 1 else f"{kind[0]} states" for kind in best}
    return ", ".join(f"{names[kind] if kind[0] else 'classes'} {best[kind]:.4f}" for kind in sorted(best))
