"""The tables of all pairs of variables under a mixture.

Two nodes m and n of a tree are independent given the lowest node c above both, within a class f:

    P(x_m, x_n) = Σ_f Σ_{x_c} λ_f P(x_c | f) P(x_m | x_c, f) P(x_n | x_c, f)

which is a matrix product over all labels of c and all classes, for all nodes below one child of c and below the others
at once. Nodes of different trees are independent within a class.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property, partial
from operator import iadd

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture, edgeless
from juror.answers.messages import node_marginals
from juror.runners.local import LocalRunner, partitions

# Numbers in the temporary table of a few classes: 16 MB.
_NUMBERS_AT_ONCE = 1 << 21
# Numbers in the tables of all pairs that threads hold at the same time, each up to three of them: 2 GB.
_NUMBERS_OF_THREADS = 1 << 28
# Numbers in all tables of a model that are kept: 128 MB.
_MOST_KEPT = 1 << 24


@dataclass(frozen=True)
class _KeptPairs:
    """The tables of all pairs of one model, computed when they are first needed."""

    model: Mixture

    @cached_property
    def tables(self) -> list[tuple[int, int, np.ndarray]]:
        with LocalRunner() as runner:
            return list(_pair_tables(self.model, runner))


_kept: ContextVar[_KeptPairs | None] = ContextVar("kept pairs", default=None)


@contextmanager
def keeping_pairs(model: Mixture) -> Iterator[None]:
    """Keep the tables of all pairs of a model inside the block, once they are computed, if they are not too large.

    A report needs them five times, in functions that do not know of each other, and each time takes a pass over all
    classes.
    """
    n_labels = sum(model.domain.cardinalities)
    token = _kept.set(_KeptPairs(model) if n_labels**2 / 2 <= _MOST_KEPT else None)
    try:
        yield
    finally:
        _kept.reset(token)


def pair_tables(model: Mixture, runner: LocalRunner | None = None) -> Iterator[tuple[int, int, np.ndarray]]:
    """Yield every pair of positions a < b with its joint table, (I_a, I_b), ordered by a and then b.

    The threads of a runner take blocks in turn, and the tables do not depend on their number.
    """
    kept = _kept.get()
    yield from kept.tables if kept is not None and kept.model is model else _pair_tables(model, runner)


def _pair_tables(model: Mixture, runner: LocalRunner | None) -> Iterator[tuple[int, int, np.ndarray]]:
    ends = np.concatenate([[0], np.cumsum(model.domain.cardinalities)])
    N = len(model.domain)
    for a, beyond in enumerate(_rows(model, ends, runner or LocalRunner(1))):
        for b in range(a + 1, N):
            yield a, b, beyond[:, ends[b] - ends[a + 1] : ends[b + 1] - ends[a + 1]]


def _rows(model: Mixture, ends: np.ndarray, runner: LocalRunner) -> Iterator[np.ndarray]:
    """Yield, for every variable a, its tables with all variables after it side by side, (I_a, Σ_{b > a} I_b)."""
    flat = edgeless(model)
    if flat is None:
        n_threads = max(1, min(runner.n_jobs, _NUMBERS_OF_THREADS // (3 * int(ends[-1]) ** 2)))
        with LocalRunner(n_threads) if n_threads < runner.n_jobs else nullcontext(runner) as few:
            halves = few.map_reduce(partial(_halves, ends=ends), model.blocks, iadd)
        for a in range(len(ends) - 1):
            here, later = slice(ends[a], ends[a + 1]), slice(ends[a + 1], None)
            yield halves[here, later] + halves[later, here].T
        return
    stacked = np.concatenate(flat.factors)
    weighted = stacked * flat.weights
    for a in range(len(ends) - 1):
        yield weighted[ends[a] : ends[a + 1]] @ stacked[ends[a + 1] :].T


def _halves(block: Block, ends: np.ndarray) -> np.ndarray:
    """Return H, (Σ I_n, Σ I_n), with H[x_a, x_b] + H[x_b, x_a] = Σ_f λ_f P(x_a, x_b | f) for all labels of all a ≠ b.

    Of two nodes of a tree one comes first, and only the part that is computed for this order is there.
    """
    shares = node_marginals(block)
    n_seen = len(ends) - 1
    trees = _trees(block)
    stacked = np.concatenate(shares[:n_seen])
    is_one_tree = len(trees) == 1 and sum(n < n_seen for n in trees[0]) == n_seen
    halves = np.empty((0, 0)) if is_one_tree else (stacked * (block.weights / 2)) @ stacked.T
    for nodes in trees:
        seen = [n for n in nodes if n < n_seen]
        if not seen:
            continue
        starts, total = _tree_pairs(block, nodes, n_seen, shares)
        inside = np.concatenate([np.arange(starts[n], starts[n] + ends[n + 1] - ends[n]) for n in sorted(seen)])
        part = total.take(inside, axis=0).take(inside, axis=1)
        if is_one_tree:
            return part
        outside = np.concatenate([np.arange(ends[n], ends[n + 1]) for n in sorted(seen)])
        halves[np.ix_(outside, outside)] = part
    return halves


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


def _tree_pairs(
    block: Block, nodes: list[int], n_seen: int, shares: list[np.ndarray]
) -> tuple[dict[int, int], np.ndarray]:
    """Return where the labels of each node of a tree begin, and Σ_f λ_f P(x_m, x_n | f) for all m before n.

    Hidden nodes, those from ``n_seen``, have no labels in the table.
    """
    widths = [shares[n].shape[0] if n < n_seen else 0 for n in nodes]
    begin = np.concatenate([[0], np.cumsum(widths)])
    starts = dict(zip(nodes, begin.tolist(), strict=False))
    S = int(begin[-1])
    total = np.zeros((S, S))
    largest = max(shares[n].shape[0] for n in nodes)
    for classes in partitions(block.rank, max(1, _NUMBERS_AT_ONCE // (S * largest))):
        _add_pairs(total, block.classes(classes), nodes, n_seen, starts, [share[:, classes] for share in shares])
    return starts, total


def _add_pairs(
    total: np.ndarray,
    block: Block,
    nodes: list[int],
    n_seen: int,
    starts: dict[int, int],
    shares: list[np.ndarray],
) -> None:
    """Add the tables of all pairs of some classes to the total, for m before n."""
    # P(x_m | x_c, f) of a node c, itself and all m below it, (F, I_c, labels of all m), until the parent of c used it
    below: dict[int, np.ndarray] = {}
    for c in reversed(nodes):
        size = shares[c].shape[0]
        itself = np.broadcast_to(np.eye(size), (block.rank, size, size)) if c < n_seen else _nothing(block.rank, size)
        # Children stand in the order of the nodes. Copies, as products of arrays in another order are slow
        tables = [(block.tables[m].transpose(2, 0, 1).copy(), m) for m in block.forest.children[c][::-1]]
        parts = [_through(table, below.pop(m), m < n_seen) for table, m in tables]
        below[c] = np.concatenate([itself, *parts], axis=2)
        if not parts or not below[c].size:
            continue
        flat = below[c].reshape(-1, below[c].shape[2])
        weighted = flat * (block.weights * shares[c]).T.reshape(-1, 1)
        first = starts[c]
        end = first + itself.shape[2]
        for part in parts:
            begin, end = end, end + part.shape[2]
            if begin > first:
                total[first:begin, begin:end] += weighted[:, : begin - first].T @ flat[:, begin - first : end - first]


def _nothing(rank: int, size: int) -> np.ndarray:
    return np.empty((rank, size, 0))


def _through(table: np.ndarray, below: np.ndarray, is_seen: bool) -> np.ndarray:
    """Return P(x_m | x_c, f) for a child of c and all m below it, from its table (F, I_c, I_child) and those given it.

    The first of those of a child that is seen are its own labels given themselves.
    """
    if not is_seen:
        return table @ below
    size = table.shape[2]
    return np.concatenate([table, table @ below[:, :, size:]], axis=2) if below.shape[2] > size else table
