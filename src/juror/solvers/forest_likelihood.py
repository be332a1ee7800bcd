"""The composite likelihood of pair counts for classes that share a forest.

The likelihood L is that of :mod:`juror.solvers.pair_likelihood`, with other pair tables. In class f, variables follow
each other along the forest: with nodes in an order in which parents come first, and m_n the distribution of node n,

    P_jn = P_{j, pa(n)} T_n  for every j before n,     P_nn = D(m_n),     P_jn = m_j m_nᵗ where n has no parent.

So all pair tables of a class cost one matrix product a node. Expected counts are T_n ∘ ∂L/∂T_n, as they are in every
EM, and the derivatives come by the same products in reverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from juror.counts.counts import PairCounts
from juror.rows.expected import ExpectedCounts
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.stacking import Stacking
from juror.solvers.pair_likelihood import PairLikelihood
from juror.solvers.tree import joint_counts, one_way


@dataclass(frozen=True, eq=False)
class ForestLikelihood:
    """Pair counts as EM along a forest reads them: a :class:`juror.rows.table.Countable`.

    Attributes
    ----------
    n : numpy.ndarray, (Σ I, Σ I)
        The counts of every two labels over N − 1, symmetric, variables in the order of the forest.
    stacking : Stacking
        Where joint labels stand in the stack.
    label_counts : numpy.ndarray, (stacked rows, 1)
        The counts along the forest.
    total : float
        The mean number of rows behind a pair.
    """

    n: np.ndarray
    stacking: Stacking
    label_counts: np.ndarray
    total: float

    @classmethod
    def of(cls, counts: PairCounts, forest: Forest) -> ForestLikelihood:
        """Put the tables of counts side by side, parents first."""
        pairs = PairLikelihood.of(counts)
        sizes = counts.domain.cardinalities
        ends = np.cumsum((0, *sizes))
        order = np.concatenate([np.arange(ends[node], ends[node + 1]) for node in forest.order])
        along = joint_counts(forest, counts, one_way(counts))
        return cls(pairs.n[np.ix_(order, order)], Stacking(sizes, forest), along, pairs.total)

    @property
    def forest(self) -> Forest:
        """The forest."""
        assert self.stacking.forest is not None
        return self.stacking.forest

    @cached_property
    def blocks(self) -> tuple[slice, ...]:
        """The labels of every node among all, in the order of the forest."""
        ends = np.cumsum((0, *(self.stacking.cardinalities[node] for node in self.forest.order)))
        return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))

    @cached_property
    def parents(self) -> tuple[int, ...]:
        """The place of every node's parent in the order, −1 for none."""
        place = {node: number for number, node in enumerate(self.forest.order)}
        above = (self.forest.parents[node] for node in self.forest.order)
        return tuple(NO_PARENT if parent == NO_PARENT else place[parent] for parent in above)

    def expected(self, lam: np.ndarray, stack: np.ndarray) -> ExpectedCounts:
        """Return the expected counts under λ (F,) and the stack, and L; classes count as for classes of products."""
        tables = self.stacking.tables(stack)
        T = [np.ascontiguousarray(tables[node].transpose(2, 0, 1)) for node in self.forest.order]
        P = self._pair_tables(T)
        at, n = self._seen
        mean = np.tensordot(lam, P, axes=1).ravel()[at]
        with np.errstate(divide="ignore"):
            log_likelihood = float(np.sum(n * np.log(mean)))
            ratio = np.zeros(self.n.shape)
            ratio.ravel()[at] = np.divide(n, mean)
        classes = lam * np.tensordot(P, ratio, axes=2)
        cells = np.zeros_like(stack)
        for node, table, slope in zip(self.forest.order, T, self._slopes(T, P, lam, ratio), strict=True):
            cells[self.stacking.rows(node)] = (table * slope).transpose(1, 2, 0).reshape(-1, len(lam))
        return ExpectedCounts(log_likelihood, classes, cells)

    @cached_property
    def _seen(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of counts above zero below the diagonal, in the flattened matrix, and these counts."""
        at = np.flatnonzero(np.tril(self.n))
        return at, self.n.ravel()[at]

    def _pair_tables(self, T: list[np.ndarray]) -> np.ndarray:
        """Return the pair tables of every class, (F, Σ I, Σ I), from tables (F, I_pa or 1, I_n)."""
        size = self.blocks[-1].stop
        P = np.zeros((len(T[0]), size, size))
        once = np.zeros((len(T[0]), size))
        for own, parent, table in zip(self.blocks, self.parents, T, strict=True):
            before = slice(0, own.start)
            if parent == NO_PARENT:
                once[:, own] = table[:, 0]
                here = once[:, own, None] * once[:, None, before]
            else:
                above = self.blocks[parent]
                once[:, own] = (once[:, None, above] @ table)[:, 0]
                here = table.transpose(0, 2, 1) @ P[:, above, before]
            P[:, own, before] = here
            P[:, before, own] = here.transpose(0, 2, 1)
            diagonal = np.arange(own.start, own.stop)
            P[:, diagonal, diagonal] = once[:, own]
        return P

    def _slopes(self, T: list[np.ndarray], P: np.ndarray, lam: np.ndarray, ratio: np.ndarray) -> list[np.ndarray]:
        """Return ∂L/∂T_n for every node, shaped as its table; last nodes first, each passes on to its parent."""
        diagonal = np.arange(len(ratio))
        once = P[:, diagonal, diagonal]
        # slopes by P_nj with j before n, below the diagonal, and by m_n
        by_pair = np.multiply.outer(lam, ratio)
        by_once = np.zeros_like(once)
        slopes: list[np.ndarray] = []
        for own, parent, table in zip(self.blocks[::-1], self.parents[::-1], T[::-1], strict=True):
            before = slice(0, own.start)
            here = by_pair[:, own, before]
            if parent == NO_PARENT:
                by_once[:, own] += (here @ once[:, before, None])[:, :, 0]
                by_once[:, before] += (once[:, None, own] @ here)[:, 0]
                slopes.append(by_once[:, None, own].copy())
                continue
            above = self.blocks[parent]
            slope = P[:, above, before] @ here.transpose(0, 2, 1)
            slopes.append(slope + once[:, above, None] * by_once[:, None, own])
            passed = table @ here
            by_pair[:, above, : above.start] += passed[:, :, : above.start]
            by_pair[:, above.stop : own.start, above] += passed[:, :, above.stop :].transpose(0, 2, 1)
            by_once[:, above] += np.einsum("fii->fi", passed[:, :, above]) + (table @ by_once[:, own, None])[:, :, 0]
        return slopes[::-1]

    def draw(self, lam: np.ndarray, stack: np.ndarray, rng: np.random.Generator) -> ExpectedCounts:
        """Refuse: pairs have no rows whose classes could be drawn."""
        raise NotImplementedError("Pair counts have no rows whose classes could be drawn.")
