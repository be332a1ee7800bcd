"""A forest over variables: each has at most one parent, and no way along parents comes back."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from juror.errors import ParameterError

NO_PARENT = -1


@dataclass(frozen=True)
class Forest:
    """The parent of every node, −1 for none.

    >>> forest = Forest((1, -1, 1))
    >>> forest.order, forest.children, forest.edges
    ((1, 0, 2), ((), (0, 2), ()), ((1, 0), (1, 2)))
    """

    parents: tuple[int, ...]

    def __post_init__(self) -> None:
        n = len(self.parents)
        for child, parent in enumerate(self.parents):
            if not NO_PARENT <= parent < n or parent == child:
                raise ParameterError(
                    f"The parent of node {child} must be −1 for none or another node below {n}. Got {parent} instead."
                )
        if len(self.order) < n:
            stuck = min(set(range(n)) - set(self.order))
            raise ParameterError(
                f"The parents {list(self.parents)} lead from node {stuck} back to it; a forest has no cycle."
            )

    @classmethod
    def empty(cls, n: int) -> Self:
        """Return the forest of n nodes without edges."""
        return cls((NO_PARENT,) * n)

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def roots(self) -> tuple[int, ...]:
        """The nodes without a parent."""
        return tuple(n for n, parent in enumerate(self.parents) if parent == NO_PARENT)

    @property
    def has_edges(self) -> bool:
        """Whether any node has a parent."""
        return any(parent != NO_PARENT for parent in self.parents)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """The edges, (parent, child)."""
        return tuple((parent, child) for child, parent in enumerate(self.parents) if parent != NO_PARENT)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of every node."""
        found: list[list[int]] = [[] for _ in self.parents]
        for child, parent in enumerate(self.parents):
            if parent != NO_PARENT:
                found[parent].append(child)
        return tuple(map(tuple, found))

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The nodes, every parent before its children."""
        order = [node for node, parent in enumerate(self.parents) if parent == NO_PARENT]
        for node in order:
            order += self.children[node]
        return tuple(order)

    def path(self, node: int) -> tuple[int, ...]:
        """Return a node, its parent, and so on up to the root.

        >>> Forest((-1, 0, 1)).path(2)
        (2, 1, 0)
        """
        found = [node]
        while self.parents[found[-1]] != NO_PARENT:
            found.append(self.parents[found[-1]])
        return tuple(found)

    def rerooted(self, node: int) -> Self:
        """Turn the edges between a node and its root round, so that the node is the root of its tree.

        >>> Forest((-1, 0, 1)).rerooted(2).parents
        (1, 2, -1)
        """
        parents, path = list(self.parents), self.path(node)
        parents[node] = NO_PARENT
        for below, above in itertools.pairwise(path):
            parents[above] = below
        return type(self)(tuple(parents))

    def joint_sizes(self, sizes: Sequence[int]) -> tuple[int, ...]:
        """Return I_pa · I_n of every node, from the number of labels of each."""
        return tuple(
            size if parent == NO_PARENT else sizes[parent] * size
            for size, parent in zip(sizes, self.parents, strict=True)
        )
