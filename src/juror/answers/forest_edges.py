"""The edges of a model's forest, and how much their two variables tell about each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from juror.answers.block import Mixture
from juror.answers.information import entropy_of, normalised
from juror.answers.marginals import marginal
from juror.errors import QueryError


@dataclass(frozen=True)
class Edge:
    """Two nodes of a forest that depend on each other directly, ``a`` before ``b``.

    Their mutual information under the whole model is in nats, and normalised to a share
    (:func:`juror.answers.information.normalised`); both are None if a node is hidden.
    """

    a: int
    b: int
    information: float | None
    share: float | None


def heaviest_block(model: Mixture) -> int:
    """Return the position of the block of the largest weight, among those with edges if there are any.

    Draws weigh the same; of these the one with most edges is taken.
    """
    found = [
        (bool(block.has_edges), round(float(block.weights.sum()), 9), len(block.forest.edges)) for block in model.blocks
    ]
    return found.index(max(found))


def check_block(model: Mixture, block: int | None) -> int:
    """Return the position of a block, by default of the heaviest with edges; raise QueryError if there is none."""
    if block is None:
        return heaviest_block(model)
    last = len(model.blocks) - 1
    if isinstance(block, bool) or not isinstance(block, int | np.integer) or not 0 <= block <= last:
        raise QueryError(
            f"block must be a whole number from 0 to {last}, or None for the heaviest. Got {block!r} instead."
        )
    return int(block)


def forest_edges(model: Mixture, block: int | None = None) -> tuple[Edge, ...]:
    """Return the edges of a block, by default the heaviest, the most informative first; those of hidden nodes last.

    Examples
    --------
    >>> import numpy as np
    >>> from juror import JointPMF
    >>> from juror.answers.block import Block
    >>> from juror.domain import Domain
    >>> from juror.rows.forest import Forest
    >>> tables = (np.full((1, 2, 1), 0.5), np.array([[[0.9], [0.1]], [[0.1], [0.9]]]))
    >>> block = Block(np.ones(1), Forest((-1, 0)), tables)
    >>> [edge] = forest_edges(JointPMF.of_blocks([block], Domain.from_cardinalities([2, 2])))
    >>> edge.a, edge.b, round(edge.information, 4), round(edge.share, 4)
    (0, 1, 0.3681, 0.531)
    """
    forest = model.blocks[check_block(model, block)].forest
    edges = [_edge(model, *sorted(pair)) for pair in forest.edges]
    return tuple(sorted(edges, key=lambda edge: -1.0 if edge.information is None else edge.information, reverse=True))


def _edge(model: Mixture, a: int, b: int) -> Edge:
    if b >= len(model.domain):
        return Edge(a, b, None, None)
    pair = marginal(model, [a, b])
    entropies = [entropy_of(pair.sum(axis=axis)) for axis in (1, 0)]
    information = max(0.0, sum(entropies) - entropy_of(pair))
    bounds = [
        np.array(np.inf if model.domain[n].edges is not None else h) for n, h in zip((a, b), entropies, strict=True)
    ]
    return Edge(a, b, information, float(normalised(np.array(information), *bounds)))
