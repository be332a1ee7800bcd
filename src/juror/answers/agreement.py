"""How often the draws of a model agree with the rows that they were fitted to, over all pairs of variables."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from juror.answers.block import Mixture
from juror.answers.interval_ends import MOST_COMPARED, Agreement, learned_agreement, widened
from juror.answers.pairs import pair_tables
from juror.answers.posterior_draws import posterior_draw
from juror.counts.counts import PairCounts


def agreement(
    model: Mixture, n_draws: int, counts: PairCounts, worth: float = 1.0, widening: float = 1.0
) -> Agreement | None:
    """Return how often the truth is apart from the draws, and how often like them; None without draws.

    A weight of one is worth ``worth`` independent rows, and the truth is ``widening`` times as uncertain as the draws.
    """
    if n_draws < 2:
        return None
    answers = _answers(model, n_draws, counts)
    return learned_agreement((widened(drawn, widening), rows * worth) for drawn, rows in answers)


def _answers(model: Mixture, n_draws: int, counts: PairCounts) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the answer of draws to every question about a variable given a label of another, and the rows behind it."""
    chosen = range(0, n_draws, -(-n_draws // MOST_COMPARED))
    drawn = [pair_tables(posterior_draw(model, n_draws, number)) for number in chosen]
    for counted, *pair in zip(counts.tables, *drawn, strict=True):
        tables = np.stack([table for _, _, table in pair])
        for joint, rows in ((tables, counted), (tables.transpose(0, 2, 1), counted.T)):
            for y in np.flatnonzero(rows.sum(axis=0) > 0):
                yield shares(joint[:, :, y]), rows[:, y]


def shares(parts: np.ndarray) -> np.ndarray:
    """Return parts (n_draws, I) of their sums; impossible ones say nothing, as if all labels were alike."""
    total = parts.sum(axis=1, keepdims=True)
    return np.divide(parts, total, out=np.full_like(parts, 1 / parts.shape[1]), where=total > 0)
