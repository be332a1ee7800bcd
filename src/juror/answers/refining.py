"""EM over the classes of several blocks at once, and marginals that are exact.

Every block has its own forest and so its own stack of tables (:mod:`juror.rows.stacking`). With the probability p_b(x)
of a row in block b, the expected counts of block b are those of the rows weighted by p_b(x) / Σ_b p_b(x).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from juror.answers.block import Block, Mixture, stacking_of
from juror.answers.merging import joint_tables
from juror.answers.messages import marginals_of
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packing import PackedCells
from juror.runners.local import LocalRunner

Blocks = tuple[Block, ...]

# Marginals are scaled towards those of p until the difference is below _NEAR, at most _ROUNDS times (in forests
# _SWEEPS times over all variables); the scale of a label stays within _SCALES.
_NEAR, _ROUNDS, _SWEEPS, _SCALES = 1e-14, 1000, 100, (0.5, 2.0)


@dataclass(frozen=True)
class BlockCounts:
    """Expected counts of every block: of classes, (F,), and of labels joined with the parents', (stacked rows, F)."""

    classes: tuple[np.ndarray, ...]
    cells: tuple[np.ndarray, ...]
    log_likelihood: float = 0.0

    @classmethod
    def of(cls, blocks: Sequence[Block]) -> BlockCounts:
        """Return the counts of one row drawn from a model, whose EM step gives that model."""
        stacks = [stacking_of(block).stack(joint_tables(block)) for block in blocks]
        lams = [block.weights for block in blocks]
        return cls(tuple(lams), tuple(lam * stack for lam, stack in zip(lams, stacks, strict=True)))

    def __add__(self, other: BlockCounts) -> BlockCounts:
        return BlockCounts(
            tuple(a + b for a, b in zip(self.classes, other.classes, strict=True)),
            tuple(a + b for a, b in zip(self.cells, other.cells, strict=True)),
            self.log_likelihood + other.log_likelihood,
        )

    def mixed(self, other: BlockCounts, share: float) -> BlockCounts:
        """Return the weighted mean, with this share of the others."""
        return BlockCounts(
            tuple((1 - share) * a + share * b for a, b in zip(self.classes, other.classes, strict=True)),
            tuple((1 - share) * a + share * b for a, b in zip(self.cells, other.cells, strict=True)),
        )

    def blocks(self, otherwise: Blocks) -> Blocks:
        """Take the EM step; columns without any count are those of other blocks."""
        total = np.concatenate(self.classes).sum()
        found = []
        for classes, cells, block in zip(self.classes, self.cells, otherwise, strict=True):
            stacking = stacking_of(block)
            stack = stacking.normalise(cells, otherwise=stacking.stack(block.tables))
            found.append(replace(block, weights=classes / total, tables=stacking.tables(stack)))
        return tuple(found)


@dataclass(frozen=True)
class BlockRows:
    """Complete rows as cells of every block's stack."""

    cells: tuple[PackedCells, ...]
    runner: LocalRunner

    @classmethod
    def of(cls, codes: np.ndarray, blocks: Blocks, runner: LocalRunner, joined: bool = False) -> BlockRows:
        """Look up rows of codes (rows, N); joined columns pay if there are many passes."""
        pack = PackedCells.of if joined else PackedCells.plain
        return cls(tuple(pack(codes, stacking_of(block)) for block in blocks), runner)

    def log_probs(self, blocks: Blocks) -> list[np.ndarray]:
        """Return the log of the probability of every row in every block, (rows,) each."""
        return [
            log_prob_of_cells(cells, block.weights, stacking_of(block).stack(block.tables), self.runner)
            for cells, block in zip(self.cells, blocks, strict=True)
        ]

    def expected(self, blocks: Blocks, weights: np.ndarray) -> BlockCounts:
        """Return the expected counts of rows with weights (rows,)."""
        shares: Sequence[np.ndarray | float] = [1.0]
        log_likelihood = None
        if len(blocks) > 1:
            logs = self.log_probs(blocks)
            total = reduce(np.logaddexp, logs)
            log_likelihood = float(weights @ total)
            over = np.where(total > -np.inf, total, 0.0)
            shares = [np.exp(one - over) for one in logs]
        found = [
            ExpectedCounts.of(
                cells, weights * share, block.weights, stacking_of(block).stack(block.tables), self.runner
            )
            for cells, block, share in zip(self.cells, blocks, shares, strict=True)
        ]
        return BlockCounts(
            tuple(one.classes for one in found),
            tuple(one.cells for one in found),
            found[0].log_likelihood if log_likelihood is None else log_likelihood,
        )


def with_marginals(blocks: Blocks, model: Mixture) -> Blocks:
    """Scale the labels of every table until the one-way marginals are those of a model; weights do not change.

    The scales are near one, except for labels that were hardly drawn. Those are clipped, because the few classes that
    have such a label may be too light to reach its marginal.
    """
    wanted = marginals_of(model.blocks, len(model.domain))
    if len(blocks) == 1 and not blocks[0].has_edges:
        block = blocks[0]
        factors = [_scaled(A, block.weights, target) for A, target in zip(block.factors, wanted, strict=True)]
        return (Block.of_factors(block.weights, factors),)
    for _ in range(_SWEEPS):
        scales, off = [], 0.0
        for target, now in zip(wanted, marginals_of(blocks, len(wanted)), strict=True):
            off = max(off, float(np.abs(now - target).max()))
            scales.append(np.clip(np.divide(target, now, out=np.ones_like(now), where=now > 0), *_SCALES))
        if off <= _NEAR:
            break
        blocks = tuple(replace(block, tables=_rescaled(block.tables, scales)) for block in blocks)
    return blocks


def _rescaled(tables: Sequence[np.ndarray], scales: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    scaled = [table * scale[:, None] for table, scale in zip(tables, scales, strict=True)]
    return tuple(table / table.sum(axis=1, keepdims=True) for table in scaled)


def _scaled(A: np.ndarray, lam: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Scale the labels of a factor (I, F) until Σ_f λ_f A[x, f] is as wanted, (I,)."""
    found, scale = A, np.ones(len(A))
    for _ in range(_ROUNDS):
        reached = found @ lam
        if np.abs(reached - wanted).max() <= _NEAR:
            break
        # An impossible label stays impossible.
        scale = np.clip(scale * np.divide(wanted, reached, out=np.ones_like(wanted), where=reached > 0), *_SCALES)
        found = A * scale[:, None]
        found = found / found.sum(axis=0)
    return found
