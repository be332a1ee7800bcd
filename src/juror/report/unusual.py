"""The most unusual rows of a sample, and the cells that make them unusual.

A row with more cells seen is always less probable. So the surprise of a row is how many nats less probable it is than
the average row with the same cells S seen,

    surprise = −log p(x_S) − H(S),    H(S) = −E log p(X_S) with X drawn from the model.

The entropies H(S) are estimated from draws, in two steps. First, rows are drawn with the same holes as the sample, and
−log p is fitted by least squares as a sum over the cells seen: this gives the candidates. Second, every candidate is
compared with rows drawn for its own pattern of holes, which also gives the share of draws that are as improbable. Rows
that are impossible under the model are the most unusual of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.sampling import sample
from juror.answers.scores import log_prob
from juror.readers.columns import MISSING, as_text
from juror.record import finite
from juror.report.seen import RowSample

# Rows drawn for each pattern of holes, candidates for each row to return, and draws for each of its terms
_DRAWN, _CANDIDATES, _DRAWS_A_TERM = 400, 3, 40


@dataclass(frozen=True)
class _Reference:
    """For every row: H(S) of its pattern of holes, and the share of draws that are as improbable as the row."""

    entropies: np.ndarray
    as_improbable: np.ndarray

    @classmethod
    def of(cls, model: Mixture, codes: np.ndarray, logs: np.ndarray, rng: np.random.Generator) -> _Reference:
        """Compare rows (rows, N) with log-probabilities (rows,) to draws with the same pattern of holes."""
        patterns, places = np.unique(codes == MISSING, axis=0, return_inverse=True)
        drawn = sample(model, _DRAWN, rng)
        # All patterns in one call: its fixed cost is that of many rows.
        with_holes = np.where(patterns[:, None, :], MISSING, drawn[None]).reshape(-1, codes.shape[1])
        usual = log_prob(model, with_holes).reshape(len(patterns), _DRAWN)[places.ravel()]
        # Equal rows may differ by rounding.
        return cls(-usual.mean(axis=1), (usual <= logs[:, None] + 1e-9).mean(axis=1))


def unusual_rows(
    model: Mixture, rows: RowSample, logs: np.ndarray, n: int, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the most unusual rows, the most unusual first.

    Parameters
    ----------
    model : Mixture
        The distribution.
    rows : RowSample
        Distinct rows.
    logs : numpy.ndarray, (n_rows,)
        Their log-probabilities.
    n : int
        How many rows to return, at most.
    rng : numpy.random.Generator
        Generator of the draws.

    Returns
    -------
    list of dict
        For each row: ``row``, its number as in juror's messages, from 0, and its ``file`` if there are several; of
        equal rows, the number of the first and the ``weight`` of all in the sample; ``cells`` as text, None for holes;
        ``log_prob`` and ``surprise``, both None if the row is ``impossible``; ``as_improbable``, the share of draws
        with the same cells seen that are at most as probable; and ``cell_probabilities``, p(cell | the other cells) of
        every cell seen, None where the other cells are impossible together.
    """
    candidates = _candidates(model, rows.codes, logs, _CANDIDATES * n, rng)
    codes, logs = rows.codes[candidates], logs[candidates]
    reference = _Reference.of(model, codes, logs, rng)
    surprises = -logs - reference.entropies
    # Impossible rows are equally surprising and stay in their order.
    worst = np.argsort(-surprises, kind="stable")[:n]
    found = rows.chosen(candidates[worst])
    probabilities = cell_probabilities(model, codes[worst], logs[worst])
    return [
        {
            "row": int(found.rows[i]),
            "file": found.origins[i] or None,
            "weight": float(found.weights[i]),
            "cells": _texts(model, found.codes[i]),
            "impossible": bool(logs[k] == -np.inf),
            "log_prob": finite(float(logs[k])),
            "surprise": finite(float(surprises[k])),
            "as_improbable": float(reference.as_improbable[k]),
            "cell_probabilities": finite(probabilities[i].tolist()),
        }
        for i, k in enumerate(worst)
    ]


def _candidates(model: Mixture, codes: np.ndarray, logs: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of roughly the n most surprising rows, in the order of the rows."""
    if len(codes) <= n:
        return np.arange(len(codes))
    holes = codes == MISSING
    terms = np.column_stack([np.ones(len(codes)), ~holes])
    # With one draw each, few rows of many variables would fit noise.
    n_times = math.ceil(_DRAWS_A_TERM * terms.shape[1] / len(codes))
    drawn = np.where(np.tile(holes, (n_times, 1)), MISSING, sample(model, n_times * len(codes), rng))
    # Least squares with repeated terms equals least squares of the means.
    usual = log_prob(model, drawn).reshape(n_times, len(codes)).mean(axis=0)
    coefficients, *_ = np.linalg.lstsq(terms, usual, rcond=None)
    return np.sort(np.argsort(logs - terms @ coefficients, kind="stable")[:n])


def cell_probabilities(model: Mixture, codes: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return p(cell | the other cells seen) of every cell, (rows, N), as p(row) over p(row without the cell).

    NaN for holes, and where the other cells are impossible together.

    Parameters
    ----------
    model : Mixture
        The distribution.
    codes : numpy.ndarray, (rows, N)
        Codes, −1 for missing.
    logs : numpy.ndarray, (rows,)
        The log-probability of every row.
    """
    n_rows, N = codes.shape
    without = np.repeat(codes[:, None, :], N, axis=1)
    without[:, np.arange(N), np.arange(N)] = MISSING
    others = log_prob(model, without.reshape(-1, N)).reshape(n_rows, N)
    known = (codes != MISSING) & (others > -np.inf)
    # Rounding must not lift a probability above one.
    ratios = np.minimum(1.0, np.exp(logs[:, None] - np.where(known, others, 0.0)))
    return np.where(known, ratios, np.nan)


def _texts(model: Mixture, codes: np.ndarray) -> list[str | None]:
    cells = zip(model.domain, codes.tolist(), strict=True)
    return [None if code == MISSING else as_text(variable.labels[code]) for variable, code in cells]
