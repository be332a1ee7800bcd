"""Turn the forest of a block so that a node is a root: the same distribution, written from that node on.

p(a) T[a, b] = p(b) T'[b, a]        for an edge from a to b, in every class
"""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np

from juror.answers.block import Block


def rerooted(block: Block, node: int) -> Block:
    """Return the block with a node as the root of its tree; a label of probability zero has a column of zeros."""
    path, tables = block.forest.path(node), list(block.tables)
    marginal = block.tables[path[-1]][0]
    for above, below in itertools.pairwise(path[::-1]):
        joint = marginal[:, None] * block.tables[below]
        marginal = joint.sum(axis=0)
        turned = joint.swapaxes(0, 1)
        tables[above] = np.divide(turned, marginal[:, None], out=np.zeros_like(turned), where=marginal[:, None] > 0)
    tables[node] = marginal[None]
    return replace(block, forest=block.forest.rerooted(node), tables=tuple(tables))
