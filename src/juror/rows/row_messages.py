"""Messages of many rows at once along a forest with hidden nodes, by matrix products.

A *hidden tree* is one class whose forest has a hidden node behind every variable: nodes after the last variable have no
cells, and all rows sum over their states. With the tables A_n (I_pa or 1, I_n) of one class, row i says

    β_n[i, x] = [cell n of row i is x, or missing] Π_{c child of n} μ_c[i, x]
    μ_n[i, y] = Σ_x A_n[y, x] β_n[i, x]                              scaled so that the largest of a row is one

and with the posteriors p_n[i, x] of a node's labels, from the roots downwards,

    p_n[i, x] = β_n[i, x] Σ_y (p_pa[i, y] / μ_n[i, y]) A_n[y, x]

The kernels of :mod:`juror.rows.regions` count distinct states of missing cells. Here all rows differ in what they say
about hidden nodes, so a matrix product per node is a hundred times faster. Fits, which need expected counts, have
kernels of their own: :mod:`juror.rows.hidden_stack`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juror.kernels.logarithms import log_of
from juror.rows.forest import NO_PARENT, Forest
from juror.runners.local import partitions

# Labels of all nodes of some rows, in memory at once: 64 MB
_NUMBERS_AT_ONCE = 1 << 23


def rows_at_once(tables: Sequence[np.ndarray]) -> int:
    """Return how many rows may send messages at once."""
    return max(1, _NUMBERS_AT_ONCE // sum(table.shape[1] for table in tables))


def log_prob_of_rows(codes: np.ndarray, forest: Forest, tables: Sequence[np.ndarray]) -> np.ndarray:
    """Return the log-probability of every row of codes (rows, N), (rows,)."""
    logs = np.empty(len(codes))
    for rows in partitions(len(codes), rows_at_once(tables)):
        logs[rows] = RowMessages.of(codes[rows], forest, tables).logs
    return logs


@dataclass(frozen=True)
class RowMessages:
    """What the cells of some rows say along a forest.

    Attributes
    ----------
    codes : numpy.ndarray, (rows, N)
        Codes of the variables, the first N nodes; −1 for missing.
    forest, tables : Forest, sequence of numpy.ndarray, (I_pa or 1, I_n)
        The nodes and their distributions. The type of the tables is that of all sums.
    beliefs : list of numpy.ndarray, (rows, I_n), or None
        β of every node that has children, scaled where it would underflow; None for leaves.
    messages : list of numpy.ndarray, (rows, I_pa or 1)
        μ of every node, scaled.
    scales : list of numpy.ndarray, (rows,)
        What every μ was divided by.
    logs : numpy.ndarray, (rows,)
        The log-probability of every row.
    """

    codes: np.ndarray
    forest: Forest
    tables: Sequence[np.ndarray]
    beliefs: list[np.ndarray | None]
    messages: list[np.ndarray]
    scales: list[np.ndarray]
    logs: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, forest: Forest, tables: Sequence[np.ndarray]) -> RowMessages:
        """Send messages from the cells to the roots."""
        n_rows, n_nodes = len(codes), len(tables)
        beliefs: list[np.ndarray | None] = [None] * n_nodes
        messages, scales = [np.empty(0)] * n_nodes, [np.empty(0)] * n_nodes
        logs = np.zeros(n_rows)
        for n in reversed(forest.order):
            children = [messages[child] for child in forest.children[n]]
            column = codes[:, n] if n < codes.shape[1] else None
            if children:
                product, shift = _product(children)
                beliefs[n] = _seen(product, column)
                logs += shift
                message = beliefs[n] @ tables[n].T
            else:
                message = _of_leaf(tables[n], column, n_rows)
            top = message.max(axis=1)
            scales[n] = np.where(top > 0, top, 1)
            message /= scales[n][:, None]
            messages[n] = message
            logs += np.log(scales[n], where=top > 0, out=np.full(n_rows, -np.inf))
        return cls(codes, forest, tables, beliefs, messages, scales, logs)

    def shares(self) -> list[np.ndarray]:
        """Return the posterior of every node, (rows, I_n)."""
        found: list[np.ndarray] = [np.empty(0)] * len(self.tables)
        for n in self.forest.order:
            found[n] = self._share(n, self._through(n, found))
        return found

    def _through(self, n: int, shares: Sequence[np.ndarray]) -> np.ndarray:
        """Return p_pa[i, y] / μ_n[i, y], (rows, I_pa or 1), from the posterior of the parent.

        With the μ of before it was scaled: p_n sums to one.
        """
        parent, message = self.forest.parents[n], self.messages[n]
        above = np.ones_like(message) if parent == NO_PARENT else shares[parent]
        # A label of the parent that the cells below exclude has no share.
        through = np.divide(above, message, out=np.zeros_like(message), where=message > 0)
        return through / self.scales[n][:, None]

    def _share(self, n: int, through: np.ndarray) -> np.ndarray:
        share, belief = through @ self.tables[n], self.beliefs[n]
        if belief is not None:
            return share * belief
        return _shown(share, self.codes[:, n]) if n < self.codes.shape[1] else share

    def drawn(self, uniform: np.ndarray) -> np.ndarray:
        """Draw the holes of every row, and all hidden nodes, from their joint distribution: codes (rows, all nodes).

        ``uniform`` (rows, all nodes) are random numbers, one a node.
        """
        rows = np.arange(len(self.codes))
        drawn = np.empty((len(self.codes), len(self.tables)), dtype=np.int64)
        for n in self.forest.order:
            if n < self.codes.shape[1] and np.all(self.codes[:, n] >= 0):
                drawn[:, n] = self.codes[:, n]
                continue
            parent = self.forest.parents[n]
            chances = self.tables[n][0 if parent == NO_PARENT else drawn[:, parent]]
            chances = np.broadcast_to(chances, (len(rows), chances.shape[-1]))
            if self.beliefs[n] is not None:
                chances = chances * self.beliefs[n]
            elif n < self.codes.shape[1]:
                chances = _shown(chances, self.codes[:, n])
            steps = np.cumsum(chances, axis=1)
            drawn[:, n] = np.sum(uniform[:, n, None] * steps[:, -1:] >= steps[:, :-1], axis=1)
        return drawn


def _product(messages: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the product of messages (rows, I), of every row times exp(−shift), and the shift, (rows,).

    Many children that contradict each other underflow. Their rows are multiplied by logarithms; others have no shift.
    """
    product = messages[0].copy()
    for message in messages[1:]:
        product *= message
    shift = np.zeros(len(product))
    # The other half of the exponents is for divisions by these products.
    low = np.flatnonzero(product.max(axis=1) < np.sqrt(np.finfo(product.dtype).tiny))
    if len(low):
        sums = np.sum([log_of(message[low].astype(np.float64)) for message in messages], axis=0)
        top = sums.max(axis=1)
        shift[low] = np.where(np.isfinite(top), top, 0.0)
        product[low] = np.exp(sums - shift[low, None])
    return product, shift


def _of_leaf(table: np.ndarray, column: np.ndarray | None, n_rows: int) -> np.ndarray:
    """Return A[:, x] of every row's cell x, (rows, I_pa or 1), ones where it is missing."""
    if column is None:
        return np.ones((n_rows, len(table)), dtype=table.dtype)
    # The code −1 of a missing cell selects the last line.
    return np.vstack([table.T, np.ones((1, len(table)), dtype=table.dtype)])[column]


def _seen(belief: np.ndarray, column: np.ndarray | None) -> np.ndarray:
    return belief if column is None else _shown(belief, column)


def _shown(values: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Return values of labels (rows, I), zero for labels other than those that the cells show."""
    return np.where((column[:, None] < 0) | (column[:, None] == np.arange(values.shape[1])), values, 0)
