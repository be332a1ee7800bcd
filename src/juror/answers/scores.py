"""Answers about rows of data: their log-probabilities and predicted labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import numpy as np

from juror.answers.block import Block, Mixture
from juror.errors import DataError, ZeroProbabilityError
from juror.kernels import kernels
from juror.rows.expected import tables_of
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.local import partitions

# Class posteriors in memory at once: 32 MB.
_POSTERIORS_AT_ONCE = 1 << 22
# Beyond this many labels a matrix product is faster than the kernel.
_FEW_LABELS = 32
_CLASSES_AT_ONCE = 1024

# log p(x) of every row, (rows,), and p(y | x), (rows, I)
_Answer = tuple[np.ndarray, np.ndarray]


def log_prob(model: Mixture, codes: np.ndarray) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N), missing cells summed out."""
    return reduce(np.logaddexp, (_log_prob(block, codes) for block in model.blocks))


def _log_prob(block: Block, codes: np.ndarray) -> np.ndarray:
    stacking = Stacking(block.sizes, block.forest if block.has_edges else None)
    cells = PackedCells.plain(codes, stacking)
    logs = []
    # A limited number of classes at a time, so that their tables stay in the cache.
    for classes in partitions(block.rank, _CLASSES_AT_ONCE):
        stack = stacking.stack([table[..., classes] for table in block.tables])
        logs.append(np.asarray(kernels().log_prob(cells.packed, tables_of(cells, block.weights[classes], stack))))
    return reduce(np.logaddexp, logs)


def _cells(block: Block, codes: np.ndarray, blind_to: int | None = None) -> PackedCells:
    """Return the cells of rows of codes; the variable ``blind_to`` counts as missing in all rows."""
    stacking = Stacking(block.sizes)
    cells = PackedCells.plain(codes, stacking)
    if blind_to is not None:
        cells.packed[:, blind_to] = stacking.missing_rows[blind_to]
    return cells


def _tables(block: Block, cells: PackedCells, at_once: int) -> Iterator[tuple[slice, Any]]:
    """Yield groups of at most ``at_once`` classes with their parameters prepared for the kernels."""
    stacking = Stacking(block.sizes)
    for classes in partitions(block.rank, at_once):
        stack = stacking.stack([factor[:, classes] for factor in block.factors])
        yield classes, tables_of(cells, block.weights[classes], stack)


def mean_log_prob(logs: np.ndarray) -> float:
    """Return the mean log-probability of rows, (rows,); raise DataError if there are none."""
    if not len(logs):
        raise DataError("There are no rows to score, so they have no mean. Give at least one.")
    return float(logs.mean())


def class_posteriors(model: Mixture, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows with their class posteriors R (rows in block, F); raise on an impossible row."""
    (block,) = model.blocks
    cells = _cells(block, codes)
    rank = block.rank
    ((_, tables),) = _tables(block, cells, rank)
    for rows in partitions(len(cells), max(1, _POSTERIORS_AT_ONCE // rank)):
        total, R = kernels().posterior(cells.packed[rows], tables)
        _check_possible(total > -np.inf, rows.start)
        yield rows, R


def _check_possible(possible: np.ndarray, first: int) -> None:
    """Raise an error if a row is impossible; rows are numbered from ``first`` in the message."""
    if not np.all(possible):
        raise ZeroProbabilityError(
            "Row {row} has probability zero under this model, so nothing follows from it. Fit with {smoothing} "
            "above zero, or leave the row out.",
            row=first + int(np.argmin(possible)),
        )


def predict_proba(model: Mixture, codes: np.ndarray, target: int) -> np.ndarray:
    """Return p(target | the other cells) for every row, (rows, I_target); the target's own cells are ignored."""
    (block,) = model.blocks
    cells, factor = _cells(block, codes, blind_to=target), block.factors[target]
    answer = _of_few_labels if len(factor) <= _FEW_LABELS else _of_many_labels
    answers = (
        answer(cells, tables, np.require(factor[:, classes], requirements=["C", "W"]))
        for classes, tables in _tables(block, cells, _CLASSES_AT_ONCE)
    )
    logs, masses = reduce(_together, answers)
    _check_possible(logs > -np.inf, 0)
    masses /= masses.sum(axis=1, keepdims=True)
    return masses


def _together(one: _Answer, other: _Answer) -> _Answer:
    """Combine log p(x) and p(y | x) of two blocks of classes, each weighted by its share of p(x)."""
    logs = np.logaddexp(one[0], other[0])
    over = np.where(logs > -np.inf, logs, 0.0)
    return logs, sum(np.exp(part - over)[:, None] * masses for part, masses in (one, other))


def _of_few_labels(cells: PackedCells, tables: Any, factor: np.ndarray) -> _Answer:
    """Return log p(x) (rows,) and p(y | x) (rows, I) under a block of classes with the factor (I, F) of y."""
    logs, masses = kernels().label_probabilities(cells.packed, tables, factor)
    return logs, masses


def _of_many_labels(cells: PackedCells, tables: Any, factor: np.ndarray) -> _Answer:
    """Do the same with a matrix product, which is faster for many labels."""
    logs, masses = np.empty(len(cells)), np.empty((len(cells), len(factor)))
    for rows in partitions(len(cells), max(1, _POSTERIORS_AT_ONCE // factor.shape[1])):
        logs[rows], R = kernels().posterior(cells.packed[rows], tables)
        masses[rows] = R @ factor.T
    return logs, masses
