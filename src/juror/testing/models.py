"""Random models and tables, and the dense tensor as an oracle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.answers.block import Block, Mixture
from juror.domain import Domain
from juror.model import JointPMF
from juror.rows.forest import Forest


def random_model(
    cardinalities: Sequence[int],
    rank: int,
    rng: np.random.Generator,
    *,
    domain: Domain | None = None,
    concentration: float = 1.0,
    zeros: float = 0.0,
) -> JointPMF:
    """Draw weights and factor columns from symmetric Dirichlet distributions.

    Parameters
    ----------
    cardinalities : sequence of int
        The number of labels of each variable.
    rank : int
        The number of classes.
    rng : numpy.random.Generator
        The random generator.
    domain : Domain, optional
        Names and labels; ``x0, x1, …`` by default.
    concentration : float
        The Dirichlet parameter: small for classes that favour few labels, large for nearly uniform classes.
    zeros : float
        The share of factor cells to set to zero; every column keeps at least one label.
    """
    weights = rng.dirichlet(np.full(rank, 2.0))
    factors = tuple(_random_columns(size, rank, rng, concentration, zeros) for size in cardinalities)
    return JointPMF(weights, factors, domain)


def _random_columns(size: int, n: int, rng: np.random.Generator, concentration: float, zeros: float) -> np.ndarray:
    """Draw n distributions over ``size`` labels, (size, n), a share of the cells zero."""
    columns = rng.dirichlet(np.full(size, concentration), size=n).T
    gone = rng.random(columns.shape) < zeros
    gone[columns.argmax(axis=0), np.arange(n)] = False
    columns = np.where(gone, 0.0, columns)
    return np.asarray(columns / columns.sum(axis=0))


def random_forest_model(
    cardinalities: Sequence[int],
    ranks: Sequence[int],
    rng: np.random.Generator,
    *,
    domain: Domain | None = None,
    hidden: Sequence[int] = (),
    edges: float = 0.8,
    concentration: float = 1.0,
    zeros: float = 0.0,
) -> JointPMF:
    """Draw a model of several blocks, each with a random forest, and tables from Dirichlet distributions.

    Parameters
    ----------
    cardinalities, ranks : sequence of int
        The number of labels of each variable, and the number of classes of each block.
    rng : numpy.random.Generator
        The random generator.
    domain : Domain, optional
        Names and labels; ``x0, x1, …`` by default.
    hidden : sequence of int
        The number of labels of each hidden node; every block has these.
    edges : float
        The probability that a node has a parent, which may be any node drawn before it.
    concentration, zeros : float
        As in :func:`random_model`.
    """
    domain = Domain.from_cardinalities(cardinalities) if domain is None else domain
    sizes = (*cardinalities, *hidden)
    weights = np.split(rng.dirichlet(np.full(sum(ranks), 2.0)), np.cumsum(ranks)[:-1])
    blocks = []
    for lam, rank in zip(weights, ranks, strict=True):
        forest = random_forest(len(sizes), rng, edges=edges)
        tables = []
        for n, parent in enumerate(forest.parents):
            above = 1 if parent < 0 else sizes[parent]
            columns = _random_columns(sizes[n], above * rank, rng, concentration, zeros)
            tables.append(columns.reshape(sizes[n], above, rank).swapaxes(0, 1))
        blocks.append(Block(lam, forest, tuple(tables)))
    return JointPMF.of_blocks(blocks, domain)


def random_forest(n: int, rng: np.random.Generator, *, edges: float = 0.8) -> Forest:
    """Draw a forest of n nodes: in random order, each gets an earlier node as parent with probability ``edges``."""
    parents, order = [-1] * n, rng.permutation(n)
    for place in range(1, n):
        if rng.random() < edges:
            parents[order[place]] = int(order[rng.integers(place)])
    return Forest(tuple(parents))


def dense(model: Mixture) -> np.ndarray:
    """Return the whole probability tensor, one axis per variable, directly from the definition."""
    shape = model.domain.cardinalities
    tensor = np.zeros(shape)
    for block in model.blocks:
        hidden = tuple(range(len(shape), len(block.tables)))
        for f in range(block.rank):
            term: Any = block.weights[f]
            for n, table in enumerate(block.tables):
                term = term * _placed(table[..., f], block.forest.parents[n], n, block.sizes)
            tensor = tensor + term.sum(axis=hidden)
    return tensor


def _placed(table: np.ndarray, parent: int, n: int, sizes: Sequence[int]) -> np.ndarray:
    """Give a table (I_pa or 1, I_n) one axis per node, of length one for all but the parent and the node."""
    axes = [1] * len(sizes)
    axes[n] = sizes[n]
    if parent < 0:
        return table[0].reshape(axes)
    axes[parent] = sizes[parent]
    return (table if parent < n else table.T).reshape(axes)


def random_codes(model: Mixture, n_rows: int, rng: np.random.Generator, *, missing: float = 0.0) -> np.ndarray:
    """Draw rows of codes (n_rows, N) from a model, a share of the cells missing at random."""
    weights = np.concatenate([block.weights for block in model.blocks])
    classes = rng.choice(len(weights), size=n_rows, p=weights)
    codes = np.empty((n_rows, len(model.domain)), dtype=np.int32)
    first = 0
    for block in model.blocks:
        own = np.flatnonzero((classes >= first) & (classes < first + block.rank))
        drawn = np.empty((len(own), len(block.tables)), dtype=np.int32)
        for n in block.forest.order:
            parent = block.forest.parents[n]
            above = np.zeros(len(own), dtype=np.int32) if parent < 0 else drawn[:, parent]
            # the draws of rng.choice(I_n, p=…) for every class and every label of the parent, at once
            bounds = np.cumsum(block.tables[n], axis=1)[above, :, classes[own] - first]
            drawn[:, n] = (bounds / bounds[:, -1:] <= rng.random(len(own))[:, None]).sum(axis=1)
        codes[own] = drawn[:, : codes.shape[1]]
        first += block.rank
    codes[rng.random(codes.shape) < missing] = -1
    return codes
