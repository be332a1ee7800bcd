"""The forest of a model as the report draws it: boxes, edges, and how much each edge's variables tell of each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.forest_edges import forest_edges, heaviest_block
from juror.plot.canvas import shorten_apart
from juror.plot.tree_layout import place

# Names of more letters are cut in the drawing.
_LONGEST_NAME = 18
# Forests of more nodes are only listed.
_MOST_DRAWN = 250


def forest_facts(model: Mixture) -> dict[str, Any] | None:
    """Return the forest of the heaviest block, None if it has no edges.

    Returns
    -------
    dict
        ``block`` and ``n_blocks``, its position and the number of blocks; ``weight``, its share of all rows;
        ``edges``, the most informative first: the positions ``a`` and ``b`` of two variables, or of hidden nodes behind
        them, ``information`` in nats and normalised as ``share``; ``layout``: the ``size`` of the picture, and
        for every node its ``centre``, ``width`` and ``name``, in pixels, or None if there are too many nodes.
    """
    chosen = heaviest_block(model)
    block = model.blocks[chosen]
    if not block.has_edges:
        return None
    edges = [vars(edge) for edge in forest_edges(model, chosen)]
    facts = {"block": chosen, "n_blocks": len(model.blocks), "weight": float(block.weights.sum()), "edges": edges}
    return facts | {"layout": _layout_facts(model, chosen) if len(block.tables) <= _MOST_DRAWN else None}


def _layout_facts(model: Mixture, chosen: int) -> dict[str, Any]:
    block = model.blocks[chosen]
    names = shorten_apart(model.domain.names, _LONGEST_NAME)
    names += [""] * (len(block.tables) - len(names))
    layout = place(block.forest, names)
    boxes = zip(names, np.round(layout.centres, 1).tolist(), np.round(layout.widths, 1).tolist(), strict=True)
    return {
        "size": [round(length, 1) for length in layout.size],
        "height": layout.height,
        "nodes": [{"name": name, "centre": centre, "width": width} for name, centre, width in boxes],
    }
