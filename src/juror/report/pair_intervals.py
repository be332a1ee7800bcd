"""Intervals for every label given every label of another variable, from the parts of a model that vary.

Facts about intervals are two ends for each answer, however these come about.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juror.answers.block import Mixture
from juror.answers.interval import _draws
from juror.answers.marginals import marginal
from juror.answers.pairs import pair_tables

LEVEL = 0.9


def interval_ends(
    model: Mixture, n_draws: int, chosen: Sequence[int]
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the ends of intervals of every marginal, (2, I_n) each, and of the pairs with these numbers.

    The ends of a pair, (4, I_a, I_b), are low and high of b given a, then low and high of a given b.
    """
    wanted = set(chosen)
    singles: list[list[np.ndarray]] = [[] for _ in model.domain]
    pairs: dict[int, list[np.ndarray]] = {k: [] for k in chosen}
    for draw in _draws(model, n_draws):
        for n, each in enumerate(singles):
            each.append(marginal(draw, [n]))
        if not wanted:
            continue
        for k, (_, _, table) in enumerate(pair_tables(draw)):
            if k in wanted:
                pairs[k].append(np.stack([_given(table, 1), _given(table, 0)]))
    return [_ends(each) for each in singles], {k: _four(np.stack(each)) for k, each in pairs.items()}


def _given(table: np.ndarray, axis: int) -> np.ndarray:
    """Return shares within rows or columns; those that are impossible say nothing, as if all labels were alike."""
    total = table.sum(axis=axis, keepdims=True)
    alike = np.full_like(table, 1 / table.shape[axis])
    return np.divide(table, total, out=alike, where=total > 0)


def _ends(answers: list[np.ndarray]) -> np.ndarray:
    return np.quantile(np.stack(answers), [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)


def _four(answers: np.ndarray) -> np.ndarray:
    """Turn answers (n_draws, 2, I_a, I_b) of both directions into ends, (4, I_a, I_b)."""
    low, high = np.quantile(answers, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    return np.stack([low[0], high[0], low[1], high[1]])
