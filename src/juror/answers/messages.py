"""Messages along the forest of a block, and the tables of a few nodes that they give.

With evidence w_n on some nodes, a node tells its parent how probable the evidence at and below it is:

    β_n[x, f]    = w_n[x] Π_{c child of n} μ_c[x, f]
    μ_n[x_pa, f] = Σ_x A_n[x_pa, x, f] β_n[x, f]

The messages of the roots multiply to the probability of the evidence in class f. They are logarithms, so that hundreds
of variables do not underflow. A node without evidence at or below it tells nothing: its message is one and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from juror.answers.block import NO_PARENT, Block
from juror.kernels.logarithms import log_of, log_sum_exp

# Sums below this may have lost terms to underflow, and are computed again from logarithms.
_SMALL = 1e-280
# Likelihoods beyond this and its inverse are multiplied as logarithms.
_LOW = 1e-100


@dataclass(frozen=True)
class Messages:
    """What evidence says along the forest of one block.

    Attributes
    ----------
    evidence : mapping of int to numpy.ndarray, (I_n,)
        The weights w_n by node.
    log_beliefs : mapping of int to numpy.ndarray, (I_n, F)
        log β_n of nodes that have evidence below them, or likelihoods so small that products of them underflow.
    log_messages : mapping of int to numpy.ndarray, (I_pa or 1, F)
        log μ_n of nodes that have evidence at or below them.
    log_masses : numpy.ndarray, (F,)
        The log of λ_f times the probability of the evidence in class f.
    """

    evidence: Mapping[int, np.ndarray]
    log_beliefs: dict[int, np.ndarray]
    log_messages: dict[int, np.ndarray]
    log_masses: np.ndarray

    @classmethod
    def of(cls, block: Block, evidence: Mapping[int, np.ndarray]) -> Messages:
        """Send messages from the evidence to the roots."""
        beliefs: dict[int, np.ndarray] = {}
        messages: dict[int, np.ndarray] = {}
        for n in reversed(block.forest.order):
            below = [messages[child] for child in block.forest.children[n] if child in messages]
            if below or (n in evidence and _are_extreme(evidence[n])):
                own = [log_of(evidence[n])[:, None]] if n in evidence else []
                like = np.zeros((block.sizes[n], block.rank))
                beliefs[n] = np.sum(np.broadcast_arrays(*own, *below, like), axis=0)
                messages[n] = _log_sums(block.tables[n], beliefs[n])
            elif n in evidence:
                messages[n] = log_of(_weighted_sums(evidence[n], block.tables[n]))
        logs = log_of(block.weights)
        for root in dict.fromkeys(block.forest.path(n)[-1] for n in evidence):
            logs = logs + messages[root][0]
        return cls(evidence, beliefs, messages, logs)

    def updated_tables(self, block: Block) -> tuple[np.ndarray, ...]:
        """Return the tables given the evidence, A_n[x_pa, x, f] β_n[x, f] / μ_n[x_pa, f]; impossible columns stay."""
        tables = list(block.tables)
        for n, message in self.log_messages.items():
            table = block.tables[n]
            if n in self.log_beliefs:
                possible = np.where(message > -np.inf, message, 0.0)
                weighted = np.exp(log_of(table) + self.log_beliefs[n] - possible[:, None])
            else:
                weighted = self.evidence[n][:, None] * table
            totals = weighted.sum(axis=1, keepdims=True)
            tables[n] = np.divide(weighted, totals, out=table.copy(), where=totals > 0)
        return tuple(tables)


def _are_extreme(weights: np.ndarray) -> bool:
    """Tell whether products of weights and probabilities may underflow or overflow."""
    return bool(np.any((weights > 0) & ((weights < _LOW) | (weights > 1 / _LOW))))


def _weighted_sums(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return Σ_x w[x] A[x_pa, x, f], (I_pa or 1, F)."""
    return (weights @ table[0])[None] if len(table) == 1 else weights @ table


def _log_sums(table: np.ndarray, log_belief: np.ndarray) -> np.ndarray:
    """Return log Σ_x A[x_pa, x, f] β[x, f], (I_pa or 1, F), from log β."""
    top = log_belief.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    sums = np.einsum("pxf,xf->pf", table, np.exp(log_belief - top))
    logs = log_of(sums) + top
    rows, classes = np.nonzero(sums < _SMALL)
    if len(rows):
        logs[rows, classes] = log_sum_exp(log_of(table[rows, :, classes]) + log_belief.T[classes])
    return logs


def node_marginals(block: Block) -> list[np.ndarray]:
    """Return the distribution of every node in every class, (I_n, F) each, from the roots downwards."""
    shares: list[np.ndarray] = [block.tables[0][0]] * len(block.tables)
    for n in block.forest.order:
        parent = block.forest.parents[n]
        shares[n] = block.tables[n][0] if parent == NO_PARENT else _step(shares[parent], block.tables[n])
    return shares


def marginals_of(blocks: Sequence[Block], n_variables: int) -> list[np.ndarray]:
    """Return the distribution of every variable, (I_n,) each, from one pass over each block."""
    shares = [(block.weights, node_marginals(block)) for block in blocks]
    return [reduce(np.add, (own[n] @ lam for lam, own in shares)) for n in range(n_variables)]


def _step(above: np.ndarray, table: np.ndarray) -> np.ndarray:
    """Return the distribution of a child, (I_n, F), from that of its parent, (I_pa, F)."""
    return np.einsum("pf,pxf->xf", above, table)


def tree_tables(block: Block, nodes: Iterable[int]) -> list[tuple[tuple[int, ...], np.ndarray]]:
    """Return the joint distribution of some nodes in every class, one table for those that share a tree.

    Nodes in different trees are independent within a class. Trees come in the order of their first node.

    Returns
    -------
    list of (tuple of int, numpy.ndarray)
        Nodes in the order of the axes, and their table (Π I_n, F).
    """
    trees: dict[int, list[int]] = {}
    for n in nodes:
        trees.setdefault(block.forest.path(n)[-1], []).append(n)
    return [_tree_table(block, wanted) for wanted in trees.values()]


def _tree_table(block: Block, wanted: Sequence[int]) -> tuple[tuple[int, ...], np.ndarray]:
    """Sum out all other nodes of one tree: down to the lowest node above all wanted ones, and up from them."""
    ways = [block.forest.path(n)[::-1] for n in wanted]
    involved = set().union(*ways)
    top, share = ways[0][0], block.tables[ways[0][0]][0]
    while top not in wanted:
        below = [child for child in block.forest.children[top] if child in involved]
        if len(below) > 1:
            break
        top, share = below[0], _step(share, block.tables[below[0]])
    return _carried(block, top, share[None], set(wanted), involved)


def _carried(
    block: Block, top: int, table: np.ndarray, wanted: set[int], involved: set[int]
) -> tuple[tuple[int, ...], np.ndarray]:
    """Send messages that carry the labels of wanted nodes up to the node ``top``, whose own table is given."""
    messages: dict[int, tuple[tuple[int, ...], np.ndarray]] = {}
    for n in reversed(block.forest.order):
        if n not in involved:
            continue
        own = table if n == top else block.tables[n]
        names: tuple[int, ...] = ()
        carried = np.ones((own.shape[1], 1, own.shape[2]))
        for child in block.forest.children[n]:
            if child in messages:
                more, message = messages[child]
                names = names + more
                carried = (carried[:, :, None] * message[:, None]).reshape(len(carried), -1, own.shape[2])
        if n in wanted:
            names = (n, *names)
            message = (own[:, :, None] * carried[None]).reshape(len(own), -1, own.shape[2])
        else:
            message = np.einsum("pxf,xcf->pcf", own, carried)
        if n == top:
            return names, message[0]
        messages[n] = names, message
    raise AssertionError("the top is above all wanted nodes")
