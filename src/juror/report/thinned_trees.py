"""Trees with hidden nodes for a page: without the least probable transitions, which take most of the room.

A state is followed by about as many others as it has rows, and by all the rest hardly ever. What is zero deflates to
almost nothing.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juror.answers.block import Block

# The shares of a state's transitions that may be left out, in the order in which they are tried
SHARES = (0.003, 0.01, 0.03, 0.1, 0.2)


def thinned(block: Block, n_variables: int, share: float) -> Block:
    """Return a tree in which the least probable states that follow a state, up to a share of it in all, never do.

    All rows stay possible, as every state shows all labels.
    """
    tables = tuple(table if n < n_variables else _without_least(table, share) for n, table in enumerate(block.tables))
    return replace(block, tables=tables)


def _without_least(table: np.ndarray, share: float) -> np.ndarray:
    """Set the smallest entries of every column (axis 1) of a table (I_pa, I_n, 1) to zero, and scale the others.

    >>> _without_least(np.array([[[0.9], [0.06], [0.04]]]), 0.05).round(4)[0, :, 0].tolist()
    [0.9375, 0.0625, 0.0]
    """
    order = np.argsort(table, axis=1)
    below = np.cumsum(np.take_along_axis(table, order, axis=1), axis=1)
    gone = np.zeros(table.shape, dtype=bool)
    np.put_along_axis(gone, order, below <= share, axis=1)
    kept = np.where(gone, 0.0, table)
    return np.asarray(kept / kept.sum(axis=1, keepdims=True))
