"""Answers about rows of data: their probability, and a label for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from juror.answers.posterior import CPD
from juror.errors import DataError, ZeroProbabilityError
from juror.kernels import kernels
from juror.packing import PackedCells
from juror.sources.runners import partitions
from juror.stacking import Stacking
from juror.statistics.expected import tables_of

# Class posteriors of a block of rows are held in memory at once: 32 MB of them.
_POSTERIORS_AT_ONCE = 1 << 22


def log_prob(cpd: CPD, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N), missing cells summed out."""
    cells, tables = _laid_out(cpd, codes)
    return np.asarray(kernels().log_prob(cells.packed, tables))


def _laid_out(cpd: CPD, codes: np.ndarray, blind_to: int | None = None) -> tuple[PackedCells, Any]:
    """Return the cells of rows of codes, one variable missing in all, and what kernels read in a pass over them."""
    stacking = Stacking(cpd.domain.cardinalities)
    cells = PackedCells.plain(codes, stacking)
    if blind_to is not None:
        cells.packed[:, blind_to] = stacking.missing_rows[blind_to]
    return cells, tables_of(cells, cpd.weights, stacking.stack(cpd.factors))


def mean_log_prob(logs: np.ndarray) -> float:
    """Return the mean of the log-probabilities of rows, (rows,), or raise a sentence when there are none."""
    if not len(logs):
        raise DataError("There are no rows to score, so they have no mean. Give at least one.")
    return float(logs.mean())


def class_posteriors(cpd: CPD, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Give blocks of rows with their class posteriors R (rows in block, F); an impossible row raises a sentence."""
    cells, tables = _laid_out(cpd, codes)
    for rows in partitions(len(codes), max(1, _POSTERIORS_AT_ONCE // len(cpd.weights))):
        total, R = kernels().posterior(cells.packed[rows], tables)
        _check_possible(total > -np.inf, rows.start)
        yield rows, R


def _check_possible(possible: np.ndarray, first: int) -> None:
    """Refuse rows, numbered from the first on, of which one is impossible."""
    if not np.all(possible):
        raise ZeroProbabilityError(
            f"Row {first + int(np.argmin(possible))} has probability zero under this model, so nothing follows from "
            "it. Fit with smoothing above zero, or leave the row out."
        )


def predict_proba(cpd: CPD, codes: np.ndarray, target: int) -> np.ndarray:
    """Return p(target | the other cells) for every row, (rows, I_target); the target's own cells are not looked at."""
    cells, tables = _laid_out(cpd, codes, blind_to=target)
    masses = np.asarray(kernels().label_probabilities(cells.packed, tables, np.ascontiguousarray(cpd.factors[target])))
    totals = masses.sum(axis=1, keepdims=True)
    _check_possible(totals[:, 0] > 0, 0)
    masses /= totals
    return masses
