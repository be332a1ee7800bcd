"""Answers about rows of data: their probability, a label for each, what belongs in their holes, and new ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from juror.answers.posterior import CPD
from juror.errors import DataError, ZeroProbabilityError, check_count
from juror.kernels import kernels
from juror.logs import log_of
from juror.sources.runners import partitions
from juror.stacking import Stacking

# Class posteriors of a block of rows are held in memory at once: 32 MB of them.
_POSTERIORS_AT_ONCE = 1 << 22


def log_prob(cpd: CPD, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N), missing cells summed out."""
    stacking = Stacking(cpd.domain.cardinalities)
    log_lam, log_stack = log_of(cpd.weights), log_of(stacking.stack(cpd.factors))
    total = np.empty(len(codes))
    for rows in partitions(len(codes)):
        total[rows] = kernels().log_prob(stacking.cells(codes[rows]), log_lam, log_stack)
    return total


def mean_log_prob(logs: np.ndarray) -> float:
    """Return the mean of the log-probabilities of rows, (rows,), or raise a sentence when there are none."""
    if not len(logs):
        raise DataError("There are no rows to score, so they have no mean. Give at least one.")
    return float(logs.mean())


def class_posteriors(cpd: CPD, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Give blocks of rows with their class posteriors R (rows in block, F); an impossible row raises a sentence."""
    stacking = Stacking(cpd.domain.cardinalities)
    log_lam, log_stack = log_of(cpd.weights), log_of(stacking.stack(cpd.factors))
    cells = stacking.cells(codes)
    for rows in partitions(len(codes), max(1, _POSTERIORS_AT_ONCE // len(cpd.weights))):
        total, R = kernels().posterior(cells[rows], log_lam, log_stack)
        impossible = np.flatnonzero(np.isneginf(total))
        if len(impossible):
            raise ZeroProbabilityError(
                f"Row {rows.start + int(impossible[0])} has probability zero under this model, so nothing follows from "
                "it. Fit with smoothing above zero, or leave the row out."
            )
        yield rows, R


def predict_proba(cpd: CPD, codes: np.ndarray, target: int) -> np.ndarray:
    """Return p(target | the other cells) for every row, (rows, I_target); the target's own cells are not looked at."""
    blind = codes.copy()
    blind[:, target] = -1
    out = np.empty((len(codes), cpd.domain.cardinalities[target]))
    for rows, R in class_posteriors(cpd, blind):
        out[rows] = R @ cpd.factors[target].T
    return out / out.sum(axis=1, keepdims=True)


def fill_most_probable(cpd: CPD, codes: np.ndarray) -> np.ndarray:
    """Fill every hole with its most probable label given the cells that are seen in its row."""
    filled = codes.copy()
    for rows, R in class_posteriors(cpd, codes):
        block = filled[rows]
        for n, factor in enumerate(cpd.factors):
            holes = codes[rows, n] < 0
            block[holes, n] = (R[holes] @ factor.T).argmax(axis=1)
    return filled


def fill_at_random(cpd: CPD, codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Fill the holes of every row with one draw from their joint distribution given the cells that are seen."""
    filled = codes.copy()
    for rows, R in class_posteriors(cpd, codes):
        classes = _draw(R, rng.random(len(R)))
        block = filled[rows]
        for n, factor in enumerate(cpd.factors):
            # a number for every row, hole or not: what is drawn for one row never depends on the others' holes
            uniform = rng.random(len(R))
            holes = codes[rows, n] < 0
            block[holes, n] = _draw(factor.T[classes[holes]], uniform[holes])
    return filled


def generator(seed: int) -> np.random.Generator:
    """Return the random generator of a seed."""
    check_count("seed", seed, least=0)
    return np.random.default_rng(int(seed))


def sample(cpd: CPD, n: int, rng: np.random.Generator) -> np.ndarray:
    """Draw n rows of codes, (n, N): a class for each row, then every variable given its class."""
    classes = rng.choice(len(cpd.weights), size=n, p=cpd.weights)
    codes = np.empty((n, len(cpd.factors)), dtype=np.int32)
    for position, factor in enumerate(cpd.factors):
        uniform = rng.random(n)
        for rows in partitions(n, max(1, _POSTERIORS_AT_ONCE // len(factor))):
            codes[rows, position] = _draw(factor.T[classes[rows]], uniform[rows])
    return codes


def _draw(probabilities: np.ndarray, uniform: np.ndarray) -> np.ndarray:
    """Draw a column for every row of probabilities (rows, K) by inverting its cumulative sum at a uniform number."""
    cumulative = np.cumsum(probabilities, axis=1)
    # rounding may leave the last sum short of one; a column of probability zero must not catch the rest
    reached = cumulative > (uniform * cumulative[:, -1])[:, None]
    return reached.argmax(axis=1)
