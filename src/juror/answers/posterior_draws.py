"""The posterior draws that a model is the mean of, each as a model of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture, edgeless


def posterior_draw(model: Mixture, n_draws: int, number: int) -> BareMixture:
    """Return one of the draws, counted from zero.

    The model holds the classes of all draws: concatenated in one block, each draw with the same number of classes, or
    in blocks with forests, each draw with the same number of blocks.
    """
    flat = edgeless(model)
    group: Sequence[Block]
    if flat is not None:
        size = flat.rank // n_draws
        group = [flat.classes(slice(number * size, (number + 1) * size))]
    else:
        size = len(model.blocks) // n_draws
        group = model.blocks[number * size : (number + 1) * size]
    total = np.concatenate([block.weights for block in group]).sum()
    return BareMixture(tuple(replace(block, weights=block.weights / total) for block in group), model.domain)
