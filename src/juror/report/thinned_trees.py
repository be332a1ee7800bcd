"""Trees with hidden nodes for a page: without the least probable transitions, and alike far from their bells.

A state is followed by about as many others as it has rows, and by all the rest hardly ever. What is zero deflates to
almost nothing. The column of a state over the intervals of a number is a bell; far from it, all states get the same
small share of their mean, and what is the same in all states deflates well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from juror.answers.block import Block
from juror.domain import Domain

# The shares of a state's transitions, or of its column, that may be left out, in the order in which they are tried
SHARES = (0.003, 0.01, 0.03, 0.1, 0.2)


def thinned(block: Block, domain: Domain, share: float) -> Block:
    """Return a tree without the least probable transitions: of every state, those of this share in all get zero.

    The least probable intervals of a number in a state, of the same share in all, get this share of their mean over all
    states, unless they are more probable than the mean. All rows stay possible, because every state shows all labels.
    """
    tables = list(block.tables)
    for n, table in enumerate(tables):
        if n >= len(domain):
            tables[n] = _without_least(table, share, np.zeros((1, 1, 1)), table)
        elif domain[n].edges is not None:
            mean = table.mean(axis=0, keepdims=True)
            tables[n] = _without_least(table, share, share * mean, mean)
    return replace(block, tables=tuple(tables))


def _without_least(table: np.ndarray, share: float, instead: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Replace the smallest entries of every column (axis 1) of a table (I_pa, I_n, 1), and scale the others.

    No entry above ``most`` is replaced.

    >>> table = np.array([[[0.9], [0.06], [0.04]]])
    >>> _without_least(table, 0.05, np.zeros((1, 1, 1)), table).round(4)[0, :, 0].tolist()
    [0.9375, 0.0625, 0.0]
    """
    order = np.argsort(table, axis=1)
    below = np.cumsum(np.take_along_axis(table, order, axis=1), axis=1)
    gone = np.zeros(table.shape, dtype=bool)
    np.put_along_axis(gone, order, below <= share, axis=1)
    gone &= table <= most
    rest = np.where(gone, instead, 0.0)
    kept = np.where(gone, 0.0, table)
    scale = (1.0 - rest.sum(axis=1, keepdims=True)) / kept.sum(axis=1, keepdims=True)
    return np.asarray(rest + kept * scale)
