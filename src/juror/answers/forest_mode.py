"""The most probable row of a mixture of forests, by branch and bound.

A node of the search fixes the labels of some variables. In every class the best completion is found by messages along
the forest: μ_n[x_pa, f] = max_x A_n[x_pa, x, f] Π_c μ_c[x, f], a sum instead of the maximum at hidden nodes, and only
the known label at fixed nodes. With M_f the product over the roots, no completion has more probability than
Σ_f λ_f M_f.

Variables are fixed along the forest of the heaviest block, parents first. So most messages are those of subtrees in
which nothing is fixed; these are computed once. Classes whose bounds are negligible beside the best row are left out.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import count

import numpy as np

from juror.answers.block import NO_PARENT, Block, Mixture
from juror.answers.messages import node_marginals
from juror.answers.open_nodes import kept_nodes, most_nodes
from juror.kernels.logarithms import log_of, log_sum_exp

# A class is left out when all such classes together have less than this share of the best row's probability.
_NEGLIGIBLE = 1e-14
# Rows tried first: the best row of each of the heaviest classes. The search climbs from the best of them.
_TRIED, _CLIMBED = 64, 8
# A node that reads more numbers than this counts as several, so that searches of large models end too.
_NUMBERS_A_NODE = 10_000
_OPEN = -1


def search_forests(model: Mixture, max_nodes: int, rounding: float) -> tuple[np.ndarray, float, float]:
    """Return the codes of the best row, (N,), its log-probability, and a bound of all rows' log-probabilities.

    The search opens at most ``max_nodes`` nodes; a node for which more than 10,000 numbers are read counts as several.
    Log-probabilities that differ by less than ``rounding`` are equal.
    """
    N = len(model.domain)
    parts = [_Part.of(block, N) for block in model.blocks]
    order = _order(model, N)
    best = _first_row(parts, N, rounding)
    least = np.log(_NEGLIGIBLE / sum(part.rank for part in parts))
    ties = count()
    everything = tuple(np.arange(part.rank) for part in parts)
    heap: list[tuple[float, int, tuple[int, ...], tuple[np.ndarray, ...]]] = [(-np.inf, next(ties), (), everything)]
    spent = 0.0
    most, dropped = most_nodes(8 * (N + sum(part.rank for part in parts))), -np.inf
    while spent < max_nodes:
        heap, dropped = kept_nodes(heap, most, dropped)
        if not heap or -heap[0][0] <= best[1] + rounding:
            return (*best, max(best[1], dropped))
        _, _, fixed, classes = heapq.heappop(heap)
        codes = np.full(N, _OPEN)
        codes[order[: len(fixed)]] = fixed
        opened = order[len(fixed)]
        found, n_read = zip(
            *(part.bounds(codes, opened, own) for part, own in zip(parts, classes, strict=True)), strict=True
        )
        spent += max(1.0, sum(n_read) / _NUMBERS_A_NODE)
        bounds = log_sum_exp(np.concatenate(found, axis=1))
        kept = tuple(own[one.max(axis=0) > best[1] + least] for own, one in zip(classes, found, strict=True))
        for code in np.flatnonzero(bounds > best[1]):
            if len(fixed) + 1 == N:
                codes[opened] = code
                best = max(best, (codes.copy(), float(bounds[code])), key=lambda row: row[1])
            else:
                heapq.heappush(heap, (-float(bounds[code]), next(ties), (*fixed, int(code)), kept))
    return (*best, max(best[1], dropped, -heap[0][0] if heap else -np.inf))


def _order(model: Mixture, N: int) -> list[int]:
    """Order variables along the forest of the heaviest block, parents first; of those, the most telling first."""
    shares = [(block.weights, node_marginals(block)) for block in model.blocks]
    telling = [
        sum((own[n] * lam).sum(axis=1) for lam, own in shares).max()
        / sum(own[n].max(axis=0) @ lam for lam, own in shares)
        for n in range(N)
    ]
    forest = max(model.blocks, key=lambda block: float(block.weights.sum())).forest
    free = [(telling[n] if n < N else 0.0, n) for n, parent in enumerate(forest.parents) if parent == NO_PARENT]
    heapq.heapify(free)
    order = []
    while free:
        _, n = heapq.heappop(free)
        order.append(n)
        for child in forest.children[n]:
            heapq.heappush(free, (telling[child] if child < N else 0.0, child))
    return [n for n in order if n < N]


@dataclass(frozen=True, eq=False)
class _Part:
    """One block in logarithms, with the best completions of its subtrees.

    Attributes
    ----------
    tables : tuple of numpy.ndarray, (I_pa or 1, I_n, F)
        log A_n.
    best : tuple of numpy.ndarray, (I_pa or 1, F)
        log μ_n if nothing in the subtree of n is fixed.
    hidden : int
        The first hidden node.
    """

    block: Block
    log_weights: np.ndarray
    tables: tuple[np.ndarray, ...]
    best: tuple[np.ndarray, ...]
    hidden: int

    @classmethod
    def of(cls, block: Block, n_variables: int) -> _Part:
        """Send the messages of a block in which nothing is fixed."""
        tables = tuple(log_of(table) for table in block.tables)
        best: dict[int, np.ndarray] = {}
        for n in reversed(block.forest.order):
            below = sum((best[child] for child in block.forest.children[n]), np.zeros(tables[n].shape[1:]))
            best[n] = _top(tables[n] + below, axis=1, over_sum=n >= n_variables)
        sent = tuple(best[n] for n in range(len(tables)))
        return cls(block, log_of(block.weights), tables, sent, n_variables)

    @property
    def rank(self) -> int:
        """The number of classes."""
        return self.block.rank

    def bounds(self, codes: np.ndarray, opened: int, classes: np.ndarray) -> tuple[np.ndarray, int]:
        """Return log λ_f M_f for every label of an open variable, given fixed codes, −1 for open ones.

        Returns
        -------
        numpy.ndarray, (I, classes)
            The bounds.
        int
            How many numbers were read.
        """
        n_read = len(self.tables) * len(classes)
        if not n_read:
            return np.empty((self.tables[opened].shape[1], 0)), 0
        parents, children = self.block.forest.parents, self.block.forest.children
        fixed = np.append(codes, np.full(len(self.tables) - len(codes), _OPEN))
        total = self.log_weights[classes][None]
        # Messages of nodes in whose subtrees something is fixed or opened: (1 or I, labels of the parent, classes)
        sent: dict[int, np.ndarray] = {}
        for n in reversed(self.block.forest.order):
            parent, x = parents[n], fixed[n]
            above = slice(None) if parent != NO_PARENT and fixed[parent] == _OPEN else _label(fixed, parent)
            if x != _OPEN:
                message = self.tables[n][above, x][..., classes].reshape(1, -1, len(classes))
                for child in children[n]:
                    # What a fixed node hears does not depend on its parent.
                    total = total + (sent[child][:, 0] if child in sent else self.best[child][x, classes])
            elif n != opened and not any(child in sent for child in children[n]):
                # The parent, if there is one, looks up what such a node says.
                if parent == NO_PARENT:
                    total = total + self.best[n][0, classes]
                continue
            else:
                message = self._searched(n, above, n == opened, sent, classes)
                n_read += message.size * (1 if n == opened else self.tables[n].shape[1])
            if parent == NO_PARENT:
                total = total + message[:, 0]
            else:
                sent[n] = message
        return np.broadcast_to(total, (self.tables[opened].shape[1], len(classes))), n_read

    def _searched(
        self, n: int, above: slice | int, opened: bool, sent: dict[int, np.ndarray], classes: np.ndarray
    ) -> np.ndarray:
        """Return the message of an open node: of each of its labels if it is the opened one, else of the best."""
        table = self.tables[n][above][..., classes].reshape(-1, self.tables[n].shape[1], len(classes))
        heard = [
            sent[child] if child in sent else self.best[child][None][..., classes]
            for child in self.block.forest.children[n]
        ]
        # (1 or I, labels of the parent, labels of n, classes)
        values = table[None] + reduce(np.add, (one[:, None] for one in heard), np.zeros((1, 1, 1, 1)))
        return values[0].swapaxes(0, 1) if opened else _top(values, axis=2, over_sum=n >= self.hidden)

    def best_rows(self, classes: np.ndarray) -> np.ndarray:
        """Return the best row of some classes, (classes, N), hidden nodes at their best labels."""
        rows = np.zeros((len(classes), len(self.tables)), dtype=np.int64)
        for n in self.block.forest.order:
            parent = self.block.forest.parents[n]
            above = np.zeros(len(classes), dtype=np.int64) if parent == NO_PARENT else rows[:, parent]
            values = self.tables[n][above, :, classes]
            for child in self.block.forest.children[n]:
                values = values + self.best[child][:, classes].T
            rows[:, n] = values.argmax(axis=1)
        return rows[:, : self.hidden]

    def terms(self, codes: np.ndarray) -> np.ndarray:
        """Return log A_n[x_pa, x_n, f] of every node of a complete row, (N, F)."""
        parents = self.block.forest.parents
        return np.stack([table[_label(codes, parents[n]), codes[n]] for n, table in enumerate(self.tables)])

    def changed(self, terms: np.ndarray, codes: np.ndarray, n: int) -> np.ndarray:
        """Return the log-probability in every class, times λ_f, for every label of variable n, (I_n, F)."""
        parents, children = self.block.forest.parents, list(self.block.forest.children[n])
        whole = terms.sum(axis=0)
        possible = whole > -np.inf
        others = np.where(possible, whole, 0.0) - np.where(possible, terms[[n, *children]].sum(axis=0), 0.0)
        # −inf cannot be subtracted again.
        others[~possible] = np.delete(terms[:, ~possible], [n, *children], axis=0).sum(axis=0)
        values = self.log_weights + others + self.tables[n][_label(codes, parents[n])]
        for child in children:
            values = values + self.tables[child][:, codes[child]]
        return values


def _label(codes: np.ndarray, parent: int) -> int:
    """Return the row of a table that the parent's label selects: the only one if there is no parent."""
    return 0 if parent == NO_PARENT else int(codes[parent])


def _top(values: np.ndarray, axis: int, over_sum: bool) -> np.ndarray:
    """Return the maximum along an axis, or for a hidden node the log of the sum."""
    return log_sum_exp(np.moveaxis(values, axis, -1)) if over_sum else values.max(axis=axis)


def _first_row(parts: Sequence[_Part], N: int, rounding: float) -> tuple[np.ndarray, float]:
    """From the best rows of heavy classes, change one variable at a time while this helps; return the best row."""
    weights = np.concatenate([part.log_weights for part in parts])
    numbers = np.repeat(np.arange(len(parts)), [part.rank for part in parts])
    places = np.concatenate([np.arange(part.rank) for part in parts])
    heavy = np.argsort(-weights, kind="stable")[:_TRIED]
    rows = [parts[numbers[f]].best_rows(places[f : f + 1])[0] for f in heavy]
    distinct = [np.array(row) for row in dict.fromkeys(tuple(row.tolist()) for row in rows)]
    scored = sorted(((row, _value(parts, row)) for row in distinct), key=lambda found: -found[1])
    if any(len(part.tables) > N for part in parts):
        # Hidden nodes are summed out, so a change at one variable is felt by variables far from it.
        return scored[0]
    return max((_climb(parts, row, rounding) for row, _ in scored[:_CLIMBED]), key=lambda found: found[1])


def _value(parts: Sequence[_Part], row: np.ndarray) -> float:
    """Return the log-probability of a complete row."""
    last = len(row) - 1
    codes = np.append(row[:last], _OPEN)
    found = [part.bounds(codes, last, np.arange(part.rank))[0][row[last]] for part in parts]
    return float(log_sum_exp(np.concatenate(found)))


def _climb(parts: Sequence[_Part], row: np.ndarray, rounding: float) -> tuple[np.ndarray, float]:
    codes, value = row.copy(), -np.inf
    terms = [part.terms(codes) for part in parts]
    while True:
        before = value
        for n in range(len(codes)):
            changed = [part.changed(own, codes, n) for part, own in zip(parts, terms, strict=True)]
            values = log_sum_exp(np.concatenate(changed, axis=1))
            label = int(values.argmax())
            value = float(values[label])
            if label != codes[n]:
                codes[n] = label
                terms = [part.terms(codes) for part in parts]
        if value <= before + rounding:
            return codes, value
