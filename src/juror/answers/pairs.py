"""The tables of all pairs of variables under a mixture.

Within a class of a forest, the pair of a node n with any node m before it follows from the pair of m with the parent:

    P(x_m, x_n | f) = Σ_{x_pa} P(x_m, x_pa | f) A_n[x_pa, x_n, f]

Nodes of different trees are independent within a class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture, edgeless
from juror.answers.messages import node_marginals
from juror.runners.local import partitions

# Numbers in the temporary table of a few classes: 16 MB.
_NUMBERS_AT_ONCE = 1 << 21


def pair_tables(model: Mixture) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield every pair of positions a < b with its joint table, (I_a, I_b), ordered by a and then b."""
    ends = np.concatenate([[0], np.cumsum(model.domain.cardinalities)])
    N = len(model.domain)
    for a, beyond in enumerate(_rows(model, ends)):
        for b in range(a + 1, N):
            yield a, b, beyond[:, ends[b] - ends[a + 1] : ends[b + 1] - ends[a + 1]]


def _rows(model: Mixture, ends: np.ndarray) -> Iterator[np.ndarray]:
    """Yield, for every variable a, its tables with all variables after it side by side, (I_a, Σ_{b > a} I_b)."""
    flat = edgeless(model)
    if flat is None:
        whole = sum(_all_pairs(block, ends) for block in model.blocks)
        assert isinstance(whole, np.ndarray)
        for a in range(len(ends) - 1):
            yield whole[ends[a] : ends[a + 1], ends[a + 1] :]
        return
    stacked = np.concatenate(flat.factors)
    weighted = stacked * flat.weights
    for a in range(len(ends) - 1):
        yield weighted[ends[a] : ends[a + 1]] @ stacked[ends[a + 1] :].T


def _all_pairs(block: Block, ends: np.ndarray) -> np.ndarray:
    """Return Σ_f λ_f P(x_a, x_b | f) for all labels of all variables, (Σ I_n, Σ I_n)."""
    shares = node_marginals(block)
    stacked = np.concatenate(shares[: len(ends) - 1])
    whole = (stacked * block.weights) @ stacked.T
    for nodes in _trees(block):
        starts, table = _tree_pairs(block, nodes, shares)
        seen = [(place, n) for place, n in enumerate(nodes) if n < len(ends) - 1]
        inside = [i for place, _ in seen for i in range(starts[place], starts[place + 1])]
        outside = [i for _, n in seen for i in range(ends[n], ends[n + 1])]
        if seen:
            whole[np.ix_(outside, outside)] = table[np.ix_(inside, inside)]
    return whole


def _trees(block: Block) -> list[list[int]]:
    """Return the nodes of every tree of at least two nodes, every parent before its children."""
    trees: dict[int, list[int]] = {}
    root: dict[int, int] = {}
    for n in block.forest.order:
        parent = block.forest.parents[n]
        root[n] = n if parent == NO_PARENT else root[parent]
        trees.setdefault(root[n], []).append(n)
    return [nodes for nodes in trees.values() if len(nodes) > 1]


def _tree_pairs(block: Block, nodes: list[int], shares: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node of a tree begins, and Σ_f λ_f P(x_m, x_n | f) for all its labels."""
    starts = np.concatenate([[0], np.cumsum([block.sizes[n] for n in nodes])])
    place = {n: slice(starts[i], starts[i + 1]) for i, n in enumerate(nodes)}
    S = int(starts[-1])
    total = np.zeros((S, S))
    for classes in partitions(block.rank, max(1, _NUMBERS_AT_ONCE // S**2)):
        pairs = np.zeros((len(block.weights[classes]), S, S))
        for n in nodes:
            own, before = place[n], slice(0, place[n].start)
            labels = np.arange(own.start, own.stop)
            pairs[:, labels, labels] = shares[n][:, classes].T
            if before.stop:
                table = np.moveaxis(block.tables[n][..., classes], 2, 0)
                both = pairs[:, before, place[block.forest.parents[n]]] @ table
                pairs[:, before, own], pairs[:, own, before] = both, both.transpose(0, 2, 1)
        total += np.tensordot(block.weights[classes], pairs, axes=1)
    return starts, total
