"""Missing regions of rows in a forest: what a pass needs so that missing cells are summed out exactly.

A cell whose variable and parent are both observed selects a stacked row (:mod:`juror.rows.stacking`). Where cells are
missing, the row selects one *message* for every missing region: for its top node, which has no parent or an observed
one. Messages stand below the stack, and are computed before a pass (:mod:`juror.kernels.reference.forest_states`).
Equal regions share their messages, so that a table has far fewer of them than missing cells. A missing node without
observed descendants sums to one, and selects a row of ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from juror.kernels.reference.forest_states import States
from juror.rows.forest import NO_PARENT
from juror.rows.stacking import Stacking


@dataclass(frozen=True, eq=False)
class Regions:
    """The missing regions of some rows.

    Attributes
    ----------
    states : States
        The states of missing nodes and their messages.
    used : numpy.ndarray of int64, (n_used,)
        The messages that rows select, in the order in which they stand below the stack.
    ones : numpy.ndarray of int64, (n_used,)
        The row of ones of the node of each of them.
    spans : dict
        For every node that has any, the first of its messages in use, and one past the last.
    """

    states: States
    used: np.ndarray
    ones: np.ndarray
    spans: dict[int, tuple[int, int]]

    @property
    def n_messages(self) -> int:
        """The number of all messages."""
        return len(self.states.table)


@dataclass(frozen=True, eq=False)
class _Node:
    """What was found at a node: its rows, the state of each, and the messages of the node by key = state · I_pa + r."""

    state: np.ndarray
    first_message: np.ndarray
    is_needed: np.ndarray


class _Builder:
    """Collects states and messages, node after node from the leaves up."""

    def __init__(self, stacking: Stacking, target: int | None):
        self.stacking = stacking
        self.target = target
        self.sizes: list[np.ndarray] = []
        self.n_links: list[np.ndarray] = []
        self.base: list[np.ndarray] = []
        self.stride: list[np.ndarray] = []
        self.per_state: list[np.ndarray] = []
        self.table: list[np.ndarray] = []
        self.used: list[np.ndarray] = []
        self.ones: list[np.ndarray] = []
        self.spans: dict[int, tuple[int, int]] = {}
        self.n_messages = self.n_used = 0

    @cached_property
    def states(self) -> States:
        return States(
            _together(self.sizes),
            _starts(_together(self.n_links)),
            _together(self.base),
            _together(self.stride),
            _starts(_together(self.per_state)),
            _together(self.table),
            _starts(np.array([len(sizes) for sizes in self.sizes])),
        )

    def add_links(self, base: np.ndarray, stride: np.ndarray, linked: np.ndarray) -> None:
        """Add the links of some states, (states, children) each."""
        self.n_links.append(linked.sum(axis=1))
        self.base.append(base[linked])
        self.stride.append(stride[linked])

    def add_messages(
        self, node: int, *, sizes: np.ndarray, per_state: np.ndarray, table: np.ndarray, used: np.ndarray
    ) -> None:
        """Add the messages of the states of a node, of which rows select some.

        Parameters
        ----------
        node : int
            The node.
        sizes, per_state : numpy.ndarray of int, (n_states,)
            The labels that a state is summed over, and the number of its messages.
        table : numpy.ndarray of int, (n_messages,)
            The row of the node's table from which each message is computed.
        used : numpy.ndarray of int, (n_used,)
            The positions of the messages that rows select.
        """
        self.sizes.append(sizes)
        self.per_state.append(per_state)
        self.table.append(int(self.stacking.starts[node]) + table)
        self.used.append(self.n_messages + used)
        self.ones.append(np.full(len(used), self.stacking.missing_rows[node]))
        self.spans[node] = (self.n_used, self.n_used + len(used))
        self.n_messages += len(table)
        self.n_used += len(used)

    def regions(self) -> Regions:
        return Regions(self.states, _together(self.used), _together(self.ones), self.spans)


def find_regions(codes: np.ndarray, stacking: Stacking, target: int | None = None) -> tuple[np.ndarray, Regions | None]:
    """Return the rows that every cell selects, (rows, N) of int32, and the missing regions, None if there are none.

    Numbers from the height of the stack on select messages in use.

    Parameters
    ----------
    codes : numpy.ndarray of int, (rows, N)
        Codes, −1 for missing.
    stacking : Stacking
        The stack, with or without a forest.
    target : int, optional
        A root, missing in all rows, whose labels are told apart: its cells select the row of its first label, joined
        with what is below; label x is x rows further down.

    >>> from juror.rows.forest import Forest
    >>> cells, regions = find_regions(np.array([[-1, 1, 0], [0, 1, -1]]), Stacking((2, 2, 2), Forest((-1, 0, 0))))
    >>> cells.tolist(), regions.states.base.tolist(), regions.states.table.tolist()
    ([[13, 7, 12], [0, 4, 12]], [4, 8], [0])
    """
    cells = stacking.cells(codes, np.int32, order="F")
    if target is not None:
        cells[:, target] = stacking.starts[target]
    if stacking.forest is None or not stacking.forest.has_edges or not np.any(codes < 0):
        return cells, None
    seen = [column >= 0 for column in codes.T]
    found: dict[int, _Node] = {}
    builder = _Builder(stacking, target)
    for node in reversed(stacking.forest.order):
        if stacking.forest.children[node] and not seen[node].all():
            _visit(node, codes, seen, found, builder, cells)
    return cells, builder.regions() if builder.n_used else None


def _visit(
    node: int, codes: np.ndarray, seen: list[np.ndarray], found: dict[int, _Node], builder: _Builder, cells: np.ndarray
) -> None:
    """Find the states of a node and their messages, and let rows select those at the top of a region."""
    stacking, forest = builder.stacking, builder.stacking.forest
    assert forest is not None
    children = forest.children[node]
    below = np.zeros(len(codes), dtype=bool)
    for child in children:
        below |= seen[child]
        if child in found:
            below |= found[child].is_needed
    rows = np.flatnonzero(below & ~seen[node])
    if not len(rows):
        return
    symbols = [_symbols(child, rows, codes, found, stacking) for child in children]
    state, examples = _distinct(symbols)
    parent, size = forest.parents[node], stacking.cardinalities[node]
    height = 1 if parent == NO_PARENT else stacking.cardinalities[parent]
    above = np.zeros(len(rows), dtype=np.int64) if parent == NO_PARENT else codes[rows, parent].astype(np.int64)
    top = above >= 0
    # States below a missing parent come first. Kernels take several of them at once, as all have the same messages.
    inner = np.zeros(len(examples), dtype=bool)
    inner[state[~top]] = True
    order = np.argsort(~inner, kind="stable")
    state, examples = np.argsort(order, kind="stable")[state], examples[order]
    links = _links(children, [symbol[examples] for symbol in symbols], found, stacking)
    if node == builder.target:
        _add_labels(node, rows, state, len(examples), links, builder, cells)
        return
    builder.add_links(*links)
    selected, number = np.unique(state[top] * height + above[top], return_inverse=True)
    keys = np.union1d(selected, np.arange(inner.sum() * height))
    cells[rows[top], node] = stacking.n_rows + builder.n_used + number.reshape(-1)
    first = np.searchsorted(keys, np.arange(len(examples) + 1) * height)
    of_rows = np.full(len(codes), -1, dtype=np.int64)
    of_rows[rows] = state
    found[node] = _Node(of_rows, builder.n_messages + first[:-1], of_rows >= 0)
    builder.add_messages(
        node,
        sizes=np.full(len(examples), size),
        per_state=np.diff(first),
        table=keys % height * size,
        used=np.searchsorted(keys, selected),
    )


def _symbols(
    child: int, rows: np.ndarray, codes: np.ndarray, found: dict[int, _Node], stacking: Stacking
) -> np.ndarray:
    """Return what a child adds to the state of its parent, (rows,): 0 for nothing, then its labels, then its states."""
    symbols = codes[rows, child].astype(np.int64) + 1
    if child in found:
        state = found[child].state[rows]
        symbols = np.where(state >= 0, state + 1 + stacking.cardinalities[child], symbols)
    return symbols


def _links(
    children: tuple[int, ...], symbols: list[np.ndarray], found: dict[int, _Node], stacking: Stacking
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return base and stride of the links of the states of a node, and which there are, (states, children) each.

    The symbols of every child are of shape (states,).
    """
    base, stride = (np.empty((len(symbols[0]), len(children)), dtype=np.int64) for _ in range(2))
    for place, (child, symbol) in enumerate(zip(children, symbols, strict=True)):
        size = stacking.cardinalities[child]
        base[:, place], stride[:, place] = int(stacking.starts[child]) + symbol - 1, size
        nested = symbol > size
        if nested.any():
            base[nested, place] = stacking.n_rows + found[child].first_message[symbol[nested] - 1 - size]
            stride[nested, place] = 1
    return base, stride, np.stack(symbols, axis=1) > 0


def _add_labels(
    node: int,
    rows: np.ndarray,
    state: np.ndarray,
    n_states: int,
    links: tuple[np.ndarray, ...],
    builder: _Builder,
    cells: np.ndarray,
) -> None:
    """Add, for every state of a root, one state for each of its labels x, whose message is T[x] G[x]."""
    base, stride, linked = links
    size = builder.stacking.cardinalities[node]
    labels = np.arange(size)
    n = n_states * size
    shifted = base[:, None] + labels[:, None] * stride[:, None]
    builder.add_links(shifted.reshape(n, -1), np.repeat(stride, size, axis=0), np.repeat(linked, size, axis=0))
    cells[rows, node] = builder.stacking.n_rows + builder.n_used + state * size
    one = np.ones(n, dtype=np.int64)
    builder.add_messages(node, sizes=one, per_state=one, table=np.tile(labels, n_states), used=np.arange(n))


def _distinct(symbols: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Number the distinct combinations of symbols, (rows,) each; return the number of every row and a row of each."""
    keys = np.zeros(len(symbols[0]), dtype=np.int64)
    size = 1
    for symbol in symbols:
        levels = int(symbol.max()) + 1
        if size > np.iinfo(np.int64).max // levels:
            keys, size = np.unique(keys, return_inverse=True)[1].reshape(-1), len(keys)
        keys, size = keys * levels + symbol, size * levels
    _, examples, number = np.unique(keys, return_index=True, return_inverse=True)
    return number.reshape(-1), examples


def _together(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype=np.int64), *arrays]).astype(np.int64, copy=False)


def _starts(lengths: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64, copy=False)
