"""The open nodes of a search for the mode, as many as fit into memory.

A node of variables with many labels has many children. If there are too many open nodes, the least promising ones are
dropped. The best bound among them is kept, so that the answer still says whether it is proved.
"""

from __future__ import annotations

from typing import Any, TypeVar

Node = TypeVar("Node", bound=tuple[Any, ...])

# Bytes that open nodes may take, and what the smallest node takes: tuples and numbers
_MOST_BYTES = 500_000_000
_NODE_BYTES = 250


def most_nodes(more_bytes: int) -> int:
    """Return how many nodes may be open if each takes ``more_bytes`` more than the smallest."""
    return max(1000, _MOST_BYTES // (_NODE_BYTES + more_bytes))


def kept_nodes(heap: list[Node], most: int, dropped: float) -> tuple[list[Node], float]:
    """Return the best nodes if there are too many, and the best bound of all that were dropped so far.

    A node begins with minus its bound.

    >>> kept_nodes([(-1.0, 1), (-3.0, 2), (-2.0, 3), (0.0, 4)], 3, -9.0)
    ([(-3.0, 2)], 2.0)
    """
    if len(heap) <= most:
        return heap, dropped
    # Drop half of them, so that it happens seldom. A sorted list is a heap.
    best, n_kept = sorted(heap), max(1, most // 2)
    return best[:n_kept], max(dropped, -best[n_kept][0])
