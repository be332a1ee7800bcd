"""The most unusual rows of a sample, and the cells that make them so.

A row with more cells seen is less probable by nature. So the surprise of a row is how many nats it is less probable
than rows with the same cells S seen are on average,

    surprise = −log p(x_S) − H(S),    H(S) = −E log p(X_S) with X drawn from the model,

and the larger, the more unusual. The entropies H(S) are found by drawing. For all rows at once, rows are drawn for
each with the same holes, and −log p of these fitted by least squares as a sum over the cells seen. The rows that are
most surprising then are compared with rows drawn for their own holes alone, which also tell how many are as improbable.
Rows that are impossible under the model are the most unusual of all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.answers.posterior import CPD
from juror.answers.sampling import sample
from juror.answers.scores import log_prob
from juror.counts.seen import RowSample
from juror.readers.columns import MISSING, as_text

# Rows drawn for each pattern of holes of a candidate, and candidates for each row that is asked for
_DRAWN = 400
_CANDIDATES = 3
_DRAWS_A_TERM = 40


@dataclass(frozen=True)
class _Reference:
    """What is usual for rows with the same cells seen: H(S) (rows,), and the share of draws that are as improbable."""

    entropies: np.ndarray
    as_improbable: np.ndarray

    @classmethod
    def of(cls, cpd: CPD, codes: np.ndarray, logs: np.ndarray, rng: np.random.Generator) -> _Reference:
        """Compare rows (rows, N) of log-probabilities (rows,) with rows drawn for each pattern of holes."""
        patterns, places = np.unique(codes == MISSING, axis=0, return_inverse=True)
        drawn = sample(cpd, _DRAWN, rng)
        # all patterns in one go: what is made of the model for a pass costs as much as many rows
        with_holes = np.where(patterns[:, None, :], MISSING, drawn[None]).reshape(-1, codes.shape[1])
        usual = log_prob(cpd, with_holes).reshape(len(patterns), _DRAWN)[places.ravel()]
        # equal rows may differ by rounding
        return cls(-usual.mean(axis=1), (usual <= logs[:, None] + 1e-9).mean(axis=1))


def unusual_rows(cpd: CPD, rows: RowSample, logs: np.ndarray, n: int, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Return the most unusual rows, the most unusual first.

    Parameters
    ----------
    cpd : CPD
        The distribution.
    rows : RowSample
        Distinct rows.
    logs : numpy.ndarray, (n_rows,)
        Their log-probabilities.
    n : int
        How many rows to return, at most.
    rng : numpy.random.Generator
        The source of chance for the rows to compare with.

    Returns
    -------
    list of dict
        Of each row: ``row``, its number as juror's messages count, from 0, in its ``file`` where there are several; of
        equal rows the first, and the ``weight`` of all in the sample; ``cells`` as text, None for holes;
        ``log_prob`` and ``surprise``, both None where it is ``impossible``; ``as_improbable``, the share of rows drawn
        from the model with the same cells seen that are at most as probable; and ``cell_probabilities``, for every cell
        seen p(cell | the others), None where these are impossible by themselves.
    """
    candidates = _candidates(cpd, rows.codes, logs, _CANDIDATES * n, rng)
    codes, logs = rows.codes[candidates], logs[candidates]
    reference = _Reference.of(cpd, codes, logs, rng)
    surprises = -logs - reference.entropies
    # impossible rows are all as surprising, and stay in their order
    worst = np.argsort(-surprises, kind="stable")[:n]
    found = rows.chosen(candidates[worst])
    probabilities = cell_probabilities(cpd, codes[worst], logs[worst])
    return [
        {
            "row": int(found.rows[i]),
            "file": found.origins[i] or None,
            "weight": float(found.weights[i]),
            "cells": _texts(cpd, found.codes[i]),
            "impossible": bool(logs[k] == -np.inf),
            "log_prob": float(logs[k]) if logs[k] > -np.inf else None,
            "surprise": float(surprises[k]) if logs[k] > -np.inf else None,
            "as_improbable": float(reference.as_improbable[k]),
            "cell_probabilities": [None if np.isnan(p) else float(p) for p in probabilities[i]],
        }
        for i, k in enumerate(worst)
    ]


def _candidates(cpd: CPD, codes: np.ndarray, logs: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Return the positions of about the n most surprising rows, in the order of the rows."""
    if len(codes) <= n:
        return np.arange(len(codes))
    holes = codes == MISSING
    terms = np.column_stack([np.ones(len(codes)), ~holes])
    # few rows of many variables would fit the noise of one draw each
    n_times = math.ceil(_DRAWS_A_TERM * terms.shape[1] / len(codes))
    drawn = np.where(np.tile(holes, (n_times, 1)), MISSING, sample(cpd, n_times * len(codes), rng))
    # the least squares of repeated terms are those of the means
    usual = log_prob(cpd, drawn).reshape(n_times, len(codes)).mean(axis=0)
    coefficients, *_ = np.linalg.lstsq(terms, usual, rcond=None)
    return np.sort(np.argsort(logs - terms @ coefficients, kind="stable")[:n])


def cell_probabilities(cpd: CPD, codes: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Return p(cell | the other cells seen) of every cell, (rows, N), as p(row) over p(row without the cell).

    It is NaN for holes, and where the other cells are impossible by themselves.

    Parameters
    ----------
    cpd : CPD
        The distribution.
    codes : numpy.ndarray, (rows, N)
        Codes, −1 for missing.
    logs : numpy.ndarray, (rows,)
        The log-probability of every row.
    """
    n_rows, N = codes.shape
    without = np.repeat(codes[:, None, :], N, axis=1)
    without[:, np.arange(N), np.arange(N)] = MISSING
    others = log_prob(cpd, without.reshape(-1, N)).reshape(n_rows, N)
    known = (codes != MISSING) & (others > -np.inf)
    # both are rounded, and what is sure must not be more than sure
    ratios = np.minimum(1.0, np.exp(logs[:, None] - np.where(known, others, 0.0)))
    return np.where(known, ratios, np.nan)


def _texts(cpd: CPD, codes: np.ndarray) -> list[str | None]:
    cells = zip(cpd.domain, codes.tolist(), strict=True)
    return [None if code == MISSING else as_text(variable.labels[code]) for variable, code in cells]
