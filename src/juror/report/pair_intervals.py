"""Intervals for every label given every label of another variable, as :meth:`juror.JointPMF.interval` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from juror.answers.agreement import shares
from juror.answers.block import Mixture
from juror.answers.interval_ends import Agreement, ends_of_draws, ends_of_rows
from juror.answers.marginals import marginal
from juror.answers.messages import marginals_of
from juror.answers.pairs import pair_tables
from juror.answers.posterior_draws import posterior_draws

LEVEL = 0.9


def ends_by_draws(
    model: Mixture,
    n_draws: int,
    singles: Sequence[np.ndarray],
    tables: Mapping[int, np.ndarray],
    agreement: Agreement,
    widening: float,
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the ends of intervals of every marginal, (2, I_n) each, and of some pairs, by their numbers.

    The rows of every variable are ``singles``, (I_n,) each, and those of the pairs ``tables``, (I_a, I_b) each. The
    ends of a pair, (4, I_a, I_b), are low and high of b given a, then low and high of a given b.
    """
    alone: list[list[np.ndarray]] = [[] for _ in model.domain]
    pairs: dict[int, list[np.ndarray]] = {k: [] for k in tables}
    for draw in posterior_draws(model, n_draws):
        for each, single in zip(alone, marginals_of(draw.blocks, len(draw.domain)), strict=True):
            each.append(single)
        if pairs:
            for k, (_, _, table) in enumerate(pair_tables(draw)):
                if k in pairs:
                    pairs[k].append(table)
    found = [
        np.stack(ends_of_draws(np.stack(each), rows, LEVEL, agreement, widening))
        for each, rows in zip(alone, singles, strict=True)
    ]
    return found, {k: _four(np.stack(each), tables[k], agreement, widening) for k, each in pairs.items()}


def _four(tables: np.ndarray, counts: np.ndarray, agreement: Agreement, widening: float) -> np.ndarray:
    """Return the ends of both directions, (4, I_a, I_b), from the tables of all draws, (n_draws, I_a, I_b)."""
    ends = np.empty((4, *tables.shape[1:]))
    for a in range(tables.shape[1]):
        ends[:2, a] = ends_of_draws(shares(tables[:, a]), counts[a], LEVEL, agreement, widening)
    for b in range(tables.shape[2]):
        ends[2:, :, b] = ends_of_draws(shares(tables[:, :, b]), counts[:, b], LEVEL, agreement, widening)
    return ends


def ends_by_rows(
    singles: Sequence[np.ndarray], tables: Mapping[int, np.ndarray]
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return the same for a model without draws, from the rows of every variable (I_n,), and of pairs (I_a, I_b)."""
    # Tables of the same shape are done together: there may be tens of thousands of small ones.
    alike: dict[tuple[int, ...], list[int]] = {}
    for k, table in tables.items():
        alike.setdefault(table.shape, []).append(k)
    found: dict[int, np.ndarray] = {}
    for numbers in alike.values():
        stacked = np.stack([tables[k] for k in numbers])
        given_a = ends_of_rows(stacked, LEVEL)
        given_b = (ends.swapaxes(1, 2) for ends in ends_of_rows(stacked.swapaxes(1, 2), LEVEL))
        found |= dict(zip(numbers, np.stack([*given_a, *given_b], axis=1), strict=True))
    found = {k: found[k] for k in tables}
    return [np.stack(ends_of_rows(each, LEVEL)) for each in singles], found


def expected_rows(
    model: Mixture, n_rows: float, chosen: Sequence[int]
) -> tuple[list[np.ndarray], dict[int, np.ndarray]]:
    """Return how many of n rows a model expects with every label, (I_n,) each, and with those of some pairs."""
    wanted = set(chosen)
    pairs = enumerate(pair_tables(model)) if wanted else ()
    tables = {k: n_rows * table for k, (_, _, table) in pairs if k in wanted}
    return [n_rows * marginal(model, [n]) for n in range(len(model.domain))], {k: tables[k] for k in chosen}
