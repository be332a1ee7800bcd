"""The tables of all pairs of variables under a mixture.

Two nodes m and n of a tree are independent given the lowest node c above both, within a class f:

    P(x_m, x_n) = Σ_f Σ_{x_c} λ_f P(x_c | f) P(x_m | x_c, f) P(x_n | x_c, f)

which is a matrix product over all labels of c and all classes, for all nodes below one child of c and below the others
at once. Nodes of different trees are independent within a class.
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
    """Return Σ_f λ_f P(x_a, x_b | f) for all labels of all variables, (Σ I_n, Σ I_n), right where a ≠ b."""
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
    """Return the nodes of every tree of at least two nodes, every node directly before all nodes below it."""
    trees = []
    for root, parent in enumerate(block.forest.parents):
        if parent == NO_PARENT and block.forest.children[root]:
            nodes, todo = [], [root]
            while todo:
                nodes.append(todo.pop())
                todo += block.forest.children[nodes[-1]]
            trees.append(nodes)
    return trees


def _tree_pairs(block: Block, nodes: list[int], shares: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return where each node of a tree begins, and Σ_f λ_f P(x_m, x_n | f) for all labels of all m ≠ n."""
    sizes = [shares[n].shape[0] for n in nodes]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    S = int(starts[-1])
    total = np.zeros((S, S))
    for classes in partitions(block.rank, max(1, _NUMBERS_AT_ONCE // (S * max(sizes)))):
        _add_pairs(total, block.classes(classes), nodes, starts, [share[:, classes] for share in shares])
    return starts, total + total.T


def _add_pairs(total: np.ndarray, block: Block, nodes: list[int], starts: np.ndarray, shares: list[np.ndarray]) -> None:
    """Add the tables of all pairs of some classes to the total, for m before n."""
    # P(x_m | x_c, f) of a node c and all m below it, (F, I_c, labels of all m); kept until the parent of c has used it
    below: dict[int, np.ndarray] = {}
    for place in reversed(range(len(nodes))):
        c, first, end = nodes[place], int(starts[place]), int(starts[place + 1])
        # Children stand in the order of the nodes. Copies, as products of arrays in another order are slow
        parts = [
            _below(block.tables[m].transpose(2, 0, 1).copy(), below.pop(m)) for m in block.forest.children[c][::-1]
        ]
        if not parts:
            below[c] = np.empty((block.rank, end - first, 0))
            continue
        itself = np.broadcast_to(np.eye(end - first), (block.rank, end - first, end - first))
        together = np.concatenate([itself, *parts], axis=2)
        below[c] = together[:, :, end - first :]
        flat = together.reshape(-1, together.shape[2])
        weighted = flat * (block.weights * shares[c]).T.reshape(-1, 1)
        for part in parts:
            begin, end = end, end + part.shape[2]
            total[first:begin, begin:end] += weighted[:, : begin - first].T @ flat[:, begin - first : end - first]


def _below(table: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Return P(x_m | x_c, f) for a child of c and all m below the child, from its table (F, I_c, I_child)."""
    return np.concatenate([table, table @ below], axis=2) if below.shape[2] else table
