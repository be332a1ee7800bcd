"""Answers about rows of data: their log-probabilities and predicted labels."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from types import ModuleType
from typing import Any

import numpy as np

from juror.answers.block import Block, Mixture, stacking_of
from juror.answers.rerooted import rerooted
from juror.errors import DataError, ZeroProbabilityError
from juror.kernels.logarithms import log_of, log_sum_exp
from juror.readers.columns import MISSING
from juror.rows.expected import tables_of
from juror.rows.packing import PackedCells
from juror.rows.row_messages import RowMessages, log_prob_of_rows, rows_at_once
from juror.runners.local import LocalRunner, partitions

# Class posteriors in memory at once: 32 MB.
_POSTERIORS_AT_ONCE = 1 << 22
# Probabilities of labels in memory at once, while they are computed: 128 MB
_PROBABILITIES_AT_ONCE = 1 << 24
# All probabilities that may be asked for at once
_MOST_BYTES = 4_000_000_000
# Beyond this many labels a matrix product is faster than the kernel.
_FEW_LABELS = 32
_CLASSES_AT_ONCE = 1024

# log p(x) of every row, (rows,), and p(y | x), (rows, I)
_Answer = tuple[np.ndarray, np.ndarray]


def log_prob(
    model: Mixture, codes: np.ndarray, card: ModuleType | None = None, runner: LocalRunner | None = None
) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N), missing cells summed out.

    With the kernels of a card (:func:`juror.kernels.card_for`) the pass is made there. With a runner, its threads share
    the blocks; the bits do not depend on it.
    """
    apply = map if runner is None else runner.map
    return reduce(np.logaddexp, apply(partial(_log_prob, codes=codes, card=card), model.blocks))


def _log_prob(block: Block, codes: np.ndarray, card: ModuleType | None) -> np.ndarray:
    if block.is_hidden_tree(codes.shape[1]):
        return log_prob_of_rows(codes, block.forest, block.tables_of_one) + log_of(block.weights[0])
    sheets = PackedCells.in_sheets(with_hidden(block, codes), stacking_of(block), once=True)
    return np.concatenate([_log_prob_of_sheet(block, cells, card) for cells in sheets])


def _log_prob_of_sheet(block: Block, cells: PackedCells, card: ModuleType | None) -> np.ndarray:
    log_prob = (card or cells.kernels).log_prob
    return reduce(np.logaddexp, [np.asarray(log_prob(cells.packed, t)) for _, t in _tables(block, cells, card=card)])


def with_hidden(block: Block, codes: np.ndarray) -> np.ndarray:
    """Return codes (rows, N) with a missing cell for every hidden node of a block."""
    n_hidden = len(block.tables) - codes.shape[1]
    return np.hstack([codes, np.full((len(codes), n_hidden), -1, dtype=codes.dtype)]) if n_hidden else codes


def _tables(
    block: Block, cells: PackedCells, at_once: int = _CLASSES_AT_ONCE, card: ModuleType | None = None
) -> Iterator[tuple[slice, Any]]:
    """Yield groups of at most ``at_once`` classes, whose tables stay in the cache, prepared for the kernels.

    A card takes all classes at once.
    """
    stacking = stacking_of(block)
    for classes in partitions(block.rank, at_once if card is None else block.rank):
        stack = stacking.stack([table[..., classes] for table in block.tables])
        yield classes, tables_of(cells, block.weights[classes], stack, card)


def mean_log_prob(logs: np.ndarray) -> float:
    """Return the mean log-probability of rows, (rows,); raise DataError if there are none."""
    if not len(logs):
        raise DataError("There are no rows to score, so they have no mean. Give at least one.")
    return float(logs.mean())


def class_posteriors(model: Mixture, codes: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield blocks of rows with their posteriors R (rows in block, all classes); raise on an impossible row."""
    rank = sum(block.rank for block in model.blocks)
    at_once = max(1, _POSTERIORS_AT_ONCE // rank)
    if is_product(model):
        (block,) = model.blocks
        cells = PackedCells.plain(with_hidden(block, codes), stacking_of(block))
        ((_, tables),) = _tables(block, cells, rank)
        for rows in partitions(len(cells), at_once):
            total, R = cells.kernels.posterior(cells.packed[rows], tables)
            _check_possible(model, codes, total > -np.inf, rows.start)
            yield rows, R
        return
    for rows in partitions(len(codes), at_once):
        found = [_posterior(block, codes[rows]) for block in model.blocks]
        total = reduce(np.logaddexp, [logs for logs, _ in found])
        _check_possible(model, codes, total > -np.inf, rows.start)
        yield rows, np.hstack([R * np.exp(logs - total)[:, None] for logs, R in found])


def is_product(model: Mixture) -> bool:
    """Whether a model is one block without edges over the variables of its domain, a CPD."""
    (block, *others) = model.blocks
    return not others and not block.has_edges and len(block.tables) == len(model.domain)


def _posterior(block: Block, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return ℓ (rows,) and R (rows, F) under one block."""
    if block.is_hidden_tree(codes.shape[1]):
        return _log_prob(block, codes, None), np.ones((len(codes), 1))
    found = []
    for cells in PackedCells.in_sheets(with_hidden(block, codes), stacking_of(block), once=True):
        ((_, tables),) = _tables(block, cells, block.rank)
        found.append(cells.kernels.posterior(cells.packed, tables))
    return np.concatenate([logs for logs, _ in found]), np.concatenate([R for _, R in found])


def check_rows_possible(model: Mixture, codes: np.ndarray) -> None:
    """Raise an error if a row has probability zero."""
    _check_possible(model, codes, log_prob(model, codes) > -np.inf)


def log_prob_of_cells(model: Mixture, row: np.ndarray) -> np.ndarray:
    """Return the log-probability of each cell of a row of codes (N,) alone, (N,); zero for missing cells."""
    alone = np.full((len(row), len(row)), MISSING)
    np.fill_diagonal(alone, row)
    return log_prob(model, alone)


def _check_possible(model: Mixture, codes: np.ndarray, possible: np.ndarray, first: int = 0) -> None:
    """Raise an error if one of the rows from ``first`` on is impossible, and name the cell if one alone is."""
    if np.all(possible):
        return
    row = first + int(np.argmin(possible))
    impossible = np.flatnonzero(log_prob_of_cells(model, codes[row]) == -np.inf)
    if not len(impossible):
        raise ZeroProbabilityError(
            "Row {row} has probability zero under this model, so nothing follows from it. Fit with {smoothing} "
            "above zero, or leave the row out.",
            row=row,
        )
    variable, code = model.domain[int(impossible[0])], int(codes[row, impossible[0]])
    raise ZeroProbabilityError(
        "Row {row} has {what} in {column!r}, which has probability zero under this model, so nothing follows from it. "
        "Leave the row out. If the model was conditioned on other labels, ask the model before that; if not, fit with "
        "{smoothing} above zero.",
        row=row,
        what="a missing cell" if code == variable.missing_code else repr(variable.labels[code]),
        column=variable.name,
    )


def predict_proba(model: Mixture, codes: np.ndarray, target: int, card: ModuleType | None = None) -> np.ndarray:
    """Return p(target | the other cells) for every row, (rows, I_target); the target's own cells are ignored.

    With the kernels of a card (:func:`juror.kernels.card_for`) passes are made there.
    """
    n_labels = model.domain.cardinalities[target]
    if 8 * len(codes) * n_labels > _MOST_BYTES:
        raise DataError(
            f"The probabilities of {n_labels:,} labels for {len(codes):,} rows take {8e-9 * len(codes) * n_labels:.1f} "
            f"GB, more than {_MOST_BYTES / 1e9:.0f} GB. Pass fewer rows at once, or ask for the most probable labels "
            "only."
        )
    parts = list(_blocks_of_rows(len(codes), n_labels))
    if len(parts) == 1:
        return _probabilities(model, codes, parts[0], target, card)
    whole = np.empty((len(codes), n_labels))
    for rows in parts:
        whole[rows] = _probabilities(model, codes, rows, target, card)
    return whole


def probabilities_in_blocks(model: Mixture, codes: np.ndarray, target: int) -> Iterator[np.ndarray]:
    """Yield what :func:`predict_proba` returns, in blocks of rows that fit into memory."""
    for rows in _blocks_of_rows(len(codes), model.domain.cardinalities[target]):
        yield _probabilities(model, codes, rows, target, card=None)


def _blocks_of_rows(n_rows: int, n_labels: int) -> Iterator[slice]:
    return partitions(n_rows, max(1, _PROBABILITIES_AT_ONCE // n_labels)) if n_rows else iter([slice(0, 0)])


def _probabilities(model: Mixture, codes: np.ndarray, rows: slice, target: int, card: ModuleType | None) -> np.ndarray:
    """Return p(target | the other cells) of some rows."""
    some = codes[rows]
    answers = (answer for block in model.blocks for answer in _answers(block, some, target, card))
    logs, masses = reduce(_together, answers)
    if not np.all(logs > -np.inf):
        others = codes.copy()
        others[:, target] = MISSING
        _check_possible(model, others, logs > -np.inf, rows.start)
    masses /= masses.sum(axis=1, keepdims=True)
    return masses


def _answers(block: Block, codes: np.ndarray, target: int, card: ModuleType | None) -> Iterator[_Answer]:
    """Yield log p(x) and p(y | x) under groups of classes of a block."""
    if block.is_hidden_tree(codes.shape[1]):
        yield _along_hidden_tree(block, codes, target)
        return
    if block.has_edges:
        yield _along_forest(block, codes, target, card)
        return
    stacking, factor = stacking_of(block), block.factors[target]
    cells = PackedCells.plain(with_hidden(block, codes), stacking)
    cells.packed[:, target] = stacking.missing_rows[target]
    answer = _of_few_labels if card is not None or len(factor) <= _FEW_LABELS else _of_many_labels
    for classes, tables in _tables(block, cells, card=card):
        yield answer(cells, tables, np.require(factor[:, classes], requirements=["C", "W"]), card or cells.kernels)


def _along_forest(block: Block, codes: np.ndarray, target: int, card: ModuleType | None) -> _Answer:
    """Do so with a forest: as a root, the target has a row of tables for each label and all that is below it."""
    turned = rerooted(block, target)
    blind = with_hidden(block, codes).copy()
    blind[:, target] = -1
    n_labels, found = block.sizes[target], []
    for cells in PackedCells.in_sheets(blind, stacking_of(turned), target=target):
        label_logs, groups = (card or cells.kernels).label_logs, _tables(turned, cells, card=card)
        found.append(reduce(np.logaddexp, [label_logs(cells.packed, t, target, n_labels) for _, t in groups]))
    joint = np.concatenate(found)
    total = log_sum_exp(joint)
    return total, np.exp(joint - np.where(total > -np.inf, total, 0.0)[:, None])


def _along_hidden_tree(block: Block, codes: np.ndarray, target: int) -> _Answer:
    """Do so with one class and hidden nodes: the target is the root, where the messages of all rows arrive."""
    turned = rerooted(block, target)
    tables, blind = turned.tables_of_one, codes.copy()
    blind[:, target] = MISSING
    logs, masses = np.empty(len(codes)), np.empty((len(codes), block.sizes[target]))
    for rows in partitions(len(codes), rows_at_once(tables)):
        messages = RowMessages.of(blind[rows], turned.forest, tables)
        belief = messages.beliefs[target]
        logs[rows] = messages.logs + log_of(block.weights[0])
        masses[rows] = tables[target] if belief is None else tables[target] * belief
    totals = masses.sum(axis=1, keepdims=True)
    return logs, np.divide(masses, totals, out=masses, where=totals > 0)


def _together(one: _Answer, other: _Answer) -> _Answer:
    """Combine log p(x) and p(y | x) of two groups of classes, each weighted by its share of p(x)."""
    logs = np.logaddexp(one[0], other[0])
    over = np.where(logs > -np.inf, logs, 0.0)
    return logs, sum(np.exp(part - over)[:, None] * masses for part, masses in (one, other))


def _of_few_labels(cells: PackedCells, tables: Any, factor: np.ndarray, passing: ModuleType) -> _Answer:
    """Return log p(x) (rows,) and p(y | x) (rows, I) under a group of classes with the factor (I, F) of y."""
    logs, masses = passing.label_probabilities(cells.packed, tables, factor)
    return logs, masses


def _of_many_labels(cells: PackedCells, tables: Any, factor: np.ndarray, passing: ModuleType) -> _Answer:
    """Do the same with a matrix product, which is faster for many labels."""
    logs, masses = np.empty(len(cells)), np.empty((len(cells), len(factor)))
    for rows in partitions(len(cells), max(1, _POSTERIORS_AT_ONCE // factor.shape[1])):
        logs[rows], R = passing.posterior(cells.packed[rows], tables)
        masses[rows] = R @ factor.T
    return logs, masses
