"""The chances of all labels of every hole of a row, by messages up and down the forest of each block.

With R[i, f] the posterior of class f in row i over all classes, G_n[x, f] the messages from below a missing node n, and
b_p[y, f] the chances of its parent's labels where that is missing too,

    b_n[x, f] = R[i, f] A_n[y, x, f] G_n[x, f] / Σ_x A_n[y, x, f] G_n[x, f]                    the parent shows label y
    b_n[x, f] = Σ_y b_p[y, f] A_n[y, x, f] G_n[x, f] / Σ_x A_n[y, x, f] G_n[x, f]              the parent is missing

and the chance of label x is Σ_f b_n[x, f] over the classes of all blocks. Trees with hidden nodes have messages of
their own (``juror.rows.row_messages``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture
from juror.answers.scores import with_hidden
from juror.kernels.logarithms import log_of, log_sum_exp
from juror.rows.row_messages import RowMessages, rows_at_once
from juror.runners.local import partitions
from juror.solvers.completing import NodeMessage, upward

# Chances of the labels of one node in all classes, in memory at once: 32 MB
_NUMBERS_AT_ONCE = 1 << 22

# Adds the chances that the classes of a block, of posterior R (rows, F), give to all holes.
_Add = Callable[[np.ndarray, dict[int, np.ndarray]], None]


def hole_chances(model: Mixture, codes: np.ndarray) -> Iterator[tuple[slice, dict[int, np.ndarray]]]:
    """Yield blocks of rows, and for every variable the chances of its labels in the rows where it is missing.

    Codes are (rows, N), −1 for missing, of rows that are possible; the chances of variable n are (holes, I_n).
    """
    at_once = min(_rows_at_once(block, len(model.domain)) for block in model.blocks)
    for rows in partitions(len(codes), at_once):
        yield rows, _chances(model, codes[rows])


def _rows_at_once(block: Block, n_variables: int) -> int:
    if block.is_hidden_tree(n_variables):
        return rows_at_once(block.tables)
    return max(1, _NUMBERS_AT_ONCE // (max(block.sizes) * block.rank))


def _chances(model: Mixture, codes: np.ndarray) -> dict[int, np.ndarray]:
    sent = [_sent(block, codes) for block in model.blocks]
    joint = [logs + log_of(block.weights) for (logs, _), block in zip(sent, model.blocks, strict=True)]
    total = log_sum_exp(np.concatenate(joint, axis=1))
    sizes = model.domain.cardinalities
    found = {n: np.zeros((int(np.sum(column < 0)), sizes[n])) for n, column in enumerate(codes.T) if np.any(column < 0)}
    for (_, add), logs in zip(sent, joint, strict=True):
        add(np.exp(logs - total[:, None]), found)
    return found


def _sent(block: Block, codes: np.ndarray) -> tuple[np.ndarray, _Add]:
    """Send messages up the forest of a block; return log p(row) in every class, (rows, F), and what goes down again."""
    if block.is_hidden_tree(codes.shape[1]):
        of_rows = RowMessages.of(codes, block.forest, block.tables_of_one)
        return of_rows.logs[:, None], partial(_add_along, of_rows)
    whole = with_hidden(block, codes)
    logs, messages = upward(whole, block.tables, block.forest)
    return logs, partial(_add, block, whole, messages)


def _add_along(messages: RowMessages, R: np.ndarray, found: dict[int, np.ndarray]) -> None:
    shares = messages.shares()
    for n, chances in found.items():
        holes = messages.codes[:, n] < 0
        chances += R[holes] * shares[n][holes]


def _add(
    block: Block,
    codes: np.ndarray,
    messages: list[NodeMessage | None],
    R: np.ndarray,
    found: dict[int, np.ndarray],
) -> None:
    chances: dict[int, np.ndarray] = {}
    for n in block.forest.order:
        holes = np.flatnonzero(codes[:, n] < 0)
        if not len(holes):
            continue
        message, above, A = messages[n], block.forest.parents[n], block.tables[n]
        G = np.ones((len(holes), *A.shape[1:])) if message is None else message.values[message.place[holes]]
        b = np.empty_like(G)
        known = np.ones(len(holes), dtype=bool) if above == NO_PARENT else codes[holes, above] >= 0
        given = np.zeros(len(holes), dtype=np.intp) if above == NO_PARENT else codes[holes, above]
        joint = A[given[known]] * G[known]
        b[known] = joint * _share(R[holes[known]], joint.sum(axis=1))[:, None]
        if not np.all(known):
            sums = np.einsum("pyf,kyf->kpf", A, G[~known])
            place = np.cumsum(codes[:, above] < 0) - 1
            shares = _share(chances[above][place[holes[~known]]], sums)
            b[~known] = G[~known] * np.einsum("kpf,pyf->kyf", shares, A)
        chances[n] = b
        if n in found:
            found[n] += b.sum(axis=2)


def _share(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Return part / whole, zero where the whole is zero."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0)
