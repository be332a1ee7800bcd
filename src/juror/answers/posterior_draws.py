"""The posterior draws that a model is the mean of, each as a model of its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture, edgeless


def posterior_draw(model: Mixture, n_draws: int, number: int) -> BareMixture:
    """Return one of the draws, counted from zero."""
    return _as_model(model, _groups(model, n_draws)[number])


def posterior_draws(model: Mixture, n_draws: int) -> Iterator[BareMixture]:
    """Yield all draws."""
    for group in _groups(model, n_draws):
        yield _as_model(model, group)


def _groups(model: Mixture, n_draws: int) -> list[Sequence[Block]]:
    """Return the blocks of every draw.

    The model holds the classes of all draws: concatenated in one block, each draw with the same number of classes, or
    in blocks with forests, each draw with the same number of blocks.
    """
    flat = edgeless(model)
    size = (len(model.blocks) if flat is None else flat.rank) // n_draws
    each = [slice(first, first + size) for first in range(0, n_draws * size, size)]
    return [model.blocks[part] if flat is None else [flat.classes(part)] for part in each]


def _as_model(model: Mixture, group: Sequence[Block]) -> BareMixture:
    total = np.concatenate([block.weights for block in group]).sum()
    return BareMixture(tuple(replace(block, weights=block.weights / total) for block in group), model.domain)
