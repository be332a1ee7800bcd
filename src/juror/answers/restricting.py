"""Sum variables out of a mixture, so that a mixture over fewer variables is left.

A node that is left out and has at most one child is summed out of the tables,

    A'_c[x_pa, x_c, f] = Σ_x A_n[x_pa, x, f] A_c[x, x_c, f]

One that connects several others stays as a hidden node.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juror.answers.block import NO_PARENT, BareMixture, Block, Mixture
from juror.rows.forest import Forest


def restricted(model: Mixture, positions: Sequence[int]) -> BareMixture:
    """Return the mixture over some variables, in the order of the domain; the others are summed out."""
    left_out = set(range(len(model.domain))) - set(positions)
    domain = model.domain.without(left_out)
    return BareMixture(tuple(_restrict(block, left_out, len(model.domain)) for block in model.blocks), domain)


def _restrict(block: Block, left_out: set[int], n_variables: int) -> Block:
    parents, tables = list(block.forest.parents), list(block.tables)
    needless = left_out | set(range(n_variables, len(tables)))
    gone: set[int] = set()
    # Children before their parents, so that a whole branch that nobody needs goes.
    for n in reversed(block.forest.order):
        children = [child for child, parent in enumerate(parents) if parent == n and child not in gone]
        if n not in needless or len(children) > 1:
            continue
        for child in children:
            tables[child] = np.einsum("pxf,xyf->pyf", tables[n], tables[child])
            parents[child] = parents[n]
        gone.add(n)
    seen = [n for n in range(n_variables) if n not in left_out]
    kept = seen + [n for n in range(len(tables)) if n in needless and n not in gone]
    number = {n: place for place, n in enumerate(kept)}
    forest = Forest(tuple(NO_PARENT if parents[n] == NO_PARENT else number[parents[n]] for n in kept))
    return Block(block.weights, forest, tuple(tables[n] for n in kept))
