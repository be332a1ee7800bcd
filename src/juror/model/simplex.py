"""Check that arrays are distributions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from juror.answers.block import NO_PARENT, Block
from juror.domain import Domain
from juror.errors import ModelError

_SUM_TOLERANCE = 1e-6
# Sums this close to one are not rescaled, so that saving and loading gives the same bits.
_EXACT_SUM = 1e-14


def check_simplex(numbers: npt.ArrayLike, dimensions: int, name: str) -> np.ndarray:
    """Check that every column is a distribution, rescale rounding errors, and make the array read-only.

    Numbers (I,) or (I, F), as the dimensions say, must be non-negative, every column summing to one within 1e-6.

    Examples
    --------
    >>> check_simplex([0.25, 0.75], 1, "The weights").tolist()
    [0.25, 0.75]
    >>> check_simplex([0.25, 0.5], 1, "The weights")
    Traceback (most recent call last):
    juror.errors.ModelError: The weights must sum to one within 1e-06, every column by itself. The sum is off by 0.25.
    """
    try:
        array = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} must be an array of numbers of {dimensions} dimension(s).") from None
    if array.ndim != dimensions or array.size == 0:
        raise ModelError(f"{name} must have {dimensions} dimension(s) and not be empty. Got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} must be finite. Got {array[~np.isfinite(array)][0]}.")
    if np.any(array < 0):
        raise ModelError(f"{name} must not be negative. Got {array.min():g}.")
    sums = array.sum(axis=0)
    off = float(np.abs(sums - 1).max())
    if off > _SUM_TOLERANCE:
        raise ModelError(
            f"{name} must sum to one within {_SUM_TOLERANCE:g}, every column by itself. The sum is off by {off:g}."
        )
    if off > _EXACT_SUM * max(1, len(array)):
        array = array / sums
    array.setflags(write=False)
    return array


def _check_dimensions(block: Block, number: int) -> None:
    """Refuse arrays whose axes are not those of a block, before anything asks for their lengths."""
    arrays = [("weights", block.weights, 1), *((f"table of node {n}", t, 3) for n, t in enumerate(block.tables))]
    for what, array, dimensions in arrays:
        if np.ndim(array) != dimensions:
            raise ModelError(
                f"The {what} in block {number} must have {dimensions} dimension(s). Got shape {np.shape(array)}."
            )


def check_blocks(blocks: Sequence[Block], domain: Domain) -> tuple[Block, ...]:
    """Check that the blocks are one distribution over the domain, and make their arrays read-only."""
    if not blocks:
        raise ModelError("A model needs at least one block.")
    for number, block in enumerate(blocks):
        _check_dimensions(block, number)
    weights = check_simplex(np.concatenate([block.weights for block in blocks]), 1, "The weights of all blocks")
    ends = np.cumsum([block.rank for block in blocks])
    checked = []
    for number, (block, lam) in enumerate(zip(blocks, np.split(weights, ends[:-1]), strict=True)):
        name = f"block {number}"
        sizes = (*domain.cardinalities, *block.sizes[len(domain) :])
        if len(block.tables) < len(domain) or len(block.tables) != len(block.forest):
            raise ModelError(
                f"In {name} there must be a table and a parent for each of the {len(domain)} variables. Got "
                f"{len(block.tables)} tables and {len(block.forest)} parents."
            )
        tables = []
        for n, (table, parent) in enumerate(zip(block.tables, block.forest.parents, strict=True)):
            expected = (1 if parent == NO_PARENT else sizes[parent], sizes[n], block.rank)
            if np.shape(table) != expected:
                raise ModelError(
                    f"The table of node {n} in {name} must have shape {expected}, parent's labels × labels × classes. "
                    f"Got {np.shape(table)}."
                )
            columns = np.moveaxis(np.asarray(table), 1, 0).reshape(expected[1], -1)
            flat = check_simplex(columns, 2, f"The table of node {n} in {name}")
            table = np.ascontiguousarray(np.moveaxis(flat.reshape(expected[1], expected[0], -1), 0, 1))
            table.setflags(write=False)
            tables.append(table)
        lam.setflags(write=False)
        checked.append(Block(lam, block.forest, tuple(tables)))
    return tuple(checked)
