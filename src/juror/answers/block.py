"""Blocks: classes that share one forest over the variables.

    p(x) = Σ_b Σ_f λ_bf Π_n A_bn[x_pa(n), x_n, f]

A model is one or more blocks, whose weights together sum to one. A block without edges is a CPD. A block may have more
nodes than the domain has variables: those after the last variable are *hidden*. They connect variables, and every
answer sums over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from juror.domain import Domain
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.stacking import Stacking


@dataclass(frozen=True, eq=False)
class Block:
    """Classes that share a forest.

    Attributes
    ----------
    weights : numpy.ndarray, (F,)
        The weight λ of every class in the whole model.
    forest : Forest
        The parent of every node.
    tables : tuple of numpy.ndarray, (I_pa or 1, I_n, F)
        The distribution of every node in every class, given each label of its parent.
    """

    weights: np.ndarray
    forest: Forest
    tables: tuple[np.ndarray, ...]

    @classmethod
    def of_factors(cls, weights: np.ndarray, factors: Sequence[np.ndarray]) -> Block:
        """Make a block without edges from weights (F,) and factors (I_n, F)."""
        return cls(weights, Forest.empty(len(factors)), tuple(factor[None] for factor in factors))

    @property
    def parents(self) -> np.ndarray:
        """The parent of every node, −1 for none, (N,)."""
        return np.array(self.forest.parents, dtype=np.int64)

    @property
    def rank(self) -> int:
        """The number of classes F."""
        return len(self.weights)

    @property
    def has_edges(self) -> bool:
        """Whether some variable depends on another within a class."""
        return self.forest.has_edges

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of labels of every node."""
        return tuple(table.shape[1] for table in self.tables)

    def is_hidden_tree(self, n_variables: int) -> bool:
        """Whether this is one class with hidden nodes, whose rows ``juror.rows.row_messages`` passes over."""
        return self.rank == 1 and len(self.tables) > n_variables

    @property
    def tables_of_one(self) -> list[np.ndarray]:
        """Of a block of one class, the tables (I_pa or 1, I_n)."""
        return [np.ascontiguousarray(table[..., 0]) for table in self.tables]

    @property
    def factors(self) -> tuple[np.ndarray, ...]:
        """Of a block without edges, one matrix (I_n, F) per variable."""
        assert not self.has_edges
        return tuple(table[0] for table in self.tables)

    @property
    def n_parameters(self) -> int:
        """The number of free parameters: F weights, and one less than I_n for every column of every table."""
        return self.rank * (1 + sum(table.shape[0] * (table.shape[1] - 1) for table in self.tables))

    def classes(self, chosen: slice | np.ndarray) -> Block:
        """Return some of the classes, with their weights."""
        return replace(self, weights=self.weights[chosen], tables=tuple(table[..., chosen] for table in self.tables))

    def scaled(self, share: float) -> Block:
        """Return the block with its weights multiplied."""
        return replace(self, weights=share * self.weights)


def stacking_of(block: Block) -> Stacking:
    """Return the positions of a block's tables in its stack."""
    return Stacking(block.sizes, block.forest if block.has_edges else None)


class Mixture(Protocol):
    """A joint distribution as blocks over a domain, such as a model."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks."""

    @property
    def domain(self) -> Domain:
        """The variables."""


@dataclass(frozen=True)
class BareMixture:
    """Blocks and domain, without the checks and methods of a model."""

    blocks: tuple[Block, ...]
    domain: Domain

    @classmethod
    def of_factors(cls, weights: np.ndarray, factors: Sequence[np.ndarray], domain: Domain) -> BareMixture:
        """Make a mixture without edges from weights (F,) and factors (I_n, F)."""
        return cls((Block.of_factors(weights, factors),), domain)


def edgeless(model: Mixture) -> Block | None:
    """Return all classes as one block without edges and hidden nodes, or None if some block has edges."""
    if any(block.has_edges for block in model.blocks):
        return None
    N = len(model.domain)
    if len(model.blocks) == 1 and len(model.blocks[0].tables) == N:
        return model.blocks[0]
    weights = np.concatenate([block.weights for block in model.blocks])
    factors = zip(*(block.factors[:N] for block in model.blocks), strict=True)
    return Block.of_factors(weights, [np.concatenate(same, axis=1) for same in factors])


__all__ = ["NO_PARENT", "BareMixture", "Block", "Mixture", "edgeless"]
