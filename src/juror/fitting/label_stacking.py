"""Members that treat a target like any other column, beside tilted ones: held-out labels say how much each count.

Tilts (:mod:`juror.fitting.label_members`) are fitted for the labels alone. Classes or trees of whole rows learn how the
label goes along with all else. Their errors differ, so both side by side predict better than either. With the shares
1 − w and w of tilted and other members, p_T and p_A, a label has the probability

    p(y | x) = ((1 − w) p_T(x, y) + w p_A(x, y)) / ((1 − w) p_T(x) + w p_A(x)),

and w is what makes the labels of held-out rows most probable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.answers.scores import log_prob
from juror.fitting.choose import Chosen, is_clear
from juror.fitting.held_out import Parts, Trial, as_mixture
from juror.fitting.members import Member, fit_members
from juror.readers.columns import MISSING
from juror.rows.in_memory import MemoryTable
from juror.rows.parameters import Parameters, mean_of, side_by_side
from juror.solvers.em import EMOptions

# How many members there are, fitted to what is kept and to all rows
_MEMBERS = 4
# The share of the time left that members of what is kept may take, for each part
_TIME_TO_JUDGE = 0.4
# Shares that are tried: log w / (1 − w), beyond where both kinds count the same in the middle row
_LEAST_ODDS, _MOST_ODDS, _N_ODDS = -6.0, 6.0, 49


@dataclass(frozen=True, eq=False)
class Stacked:
    """Both kinds of members side by side, or one kind alone.

    Attributes
    ----------
    parts : tuple of Parameters
        The model.
    share : float
        w, of members that treat the target like any other column.
    members : sequence of Member
        These members; none if their share is zero.
    score, of_tilted, of_alike : float
        The mean log-probability of labels held out: under the model, under tilted members, and under the others.
    """

    parts: tuple[Parameters, ...]
    share: float
    members: Sequence[Member]
    score: float
    of_tilted: float
    of_alike: float


def stack(
    trial: Trial,
    options: EMOptions,
    chosen: Chosen,
    parts: Parts,
    tilted: tuple[Parameters, ...],
    of_tilted: np.ndarray,
) -> Stacked:
    """Fit members that treat the target like any other column, and put them beside tilted ones if that clearly helps.

    Parameters
    ----------
    trial, options, chosen : Trial, EMOptions, Chosen
        The rows, which variable is the target, and how members are fitted that treat it like any other.
    parts : sequence of (MemoryTable, MemoryTable)
        Rows that are kept and rows held out, whose labels judge.
    tilted : tuple of Parameters
        The tilted members side by side, fitted to all rows.
    of_tilted : numpy.ndarray, (2, rows)
        log p(y | x) and log p(x) of the rows held out that have labels, part by part, under tilted members that have
        not seen them.
    """

    def fitted(table: MemoryTable, time: float = 1.0) -> list[Member]:
        alike = replace(trial, table=table, target=None, context=trial.context.with_share(time))
        return fit_members(alike, options, chosen.setting, range(_MEMBERS))

    judged = [_judged(trial, _mean(fitted(kept, _TIME_TO_JUDGE)), held) for kept, held in parts]
    log_alike, log_x, weights = np.concatenate(judged, axis=1)
    log_tilted, log_x_tilted = of_tilted
    share, log_stacked = best_share(log_x - log_x_tilted, log_tilted, log_alike, weights)
    scores = {"of_tilted": log_tilted, "of_alike": log_alike}
    means = {kind: float(np.average(logs, weights=weights)) for kind, logs in scores.items()}
    if not is_clear(log_stacked - log_tilted, weights):
        return Stacked(tilted, 0.0, (), means["of_tilted"], **means)
    members = fitted(trial.table)
    counting = [(part, 1.0 - share) for part in tilted] + [(part, share) for part in _mean(members)]
    counting = [(part, of) for part, of in counting if of > 0.0]
    model = side_by_side([part for part, _ in counting], np.array([of for _, of in counting]))
    return Stacked(model, share, members, float(np.average(log_stacked, weights=weights)), **means)


def _judged(trial: Trial, model: tuple[Parameters, ...], held: MemoryTable) -> np.ndarray:
    """Return log p(y | x), log p(x) and the weight of rows that have a label, (3, rows)."""
    log_labels, weights = trial.row_scores(model, held)
    x = held.rows.codes[held.rows.codes[:, trial.target] >= 0]
    x[:, trial.target] = MISSING
    return np.stack([log_labels, log_prob(as_mixture(model, trial.domain), x), weights])


def _mean(members: Sequence[Member]) -> tuple[Parameters, ...]:
    return mean_of([member.parts for member in members])


def best_share(
    log_ratio: np.ndarray, log_tilted: np.ndarray, log_alike: np.ndarray, weights: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the share w that makes labels most probable, and log p(y | x) of each row with it.

    Parameters
    ----------
    log_ratio : numpy.ndarray, (rows,)
        log p_A(x) − log p_T(x).
    log_tilted, log_alike : numpy.ndarray, (rows,)
        log p_T(y | x) and log p_A(y | x) of the labels of the rows.
    weights : numpy.ndarray, (rows,)
        Those of the rows.

    Examples
    --------
    Of two labels, each kind is sure of one and wrong about the other:

    >>> share, log_prob = best_share(np.zeros(2), np.log([0.9, 0.1]), np.log([0.1, 0.9]), np.ones(2))
    >>> share, np.exp(log_prob)
    (0.5, array([0.5, 0.5]))
    """
    if not np.all(np.isfinite(log_ratio)):
        return 0.0, log_tilted
    odds = np.linspace(_LEAST_ODDS, _MOST_ODDS, _N_ODDS) - _middle(log_ratio, weights)
    found = [(0.0, log_tilted), (1.0, log_alike)]
    for log_odds in odds:
        of_alike = log_odds + log_ratio
        log_prob = np.logaddexp(log_tilted, of_alike + log_alike) - np.logaddexp(0.0, of_alike)
        found.append((float(1.0 / (1.0 + np.exp(-log_odds))), log_prob))
    return max(found, key=lambda each: float(weights @ each[1]))


def _middle(values: np.ndarray, weights: np.ndarray) -> float:
    """Return the value of the row in the middle, (rows,) of some weights: the first that half of them reaches.

    >>> _middle(np.array([3.0, 1.0, 2.0]), np.array([5.0, 1.0, 1.0]))
    3.0
    """
    order = np.argsort(values, kind="stable")
    ladder = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(ladder, ladder[-1] / 2)]])
