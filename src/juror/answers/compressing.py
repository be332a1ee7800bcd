"""Compress a model p of large rank to a model q of small rank with a small divergence D(p‖q) = E_p[log p − log q].

Similar classes of a block are merged into their weighted mean (:mod:`juror.answers.merging`). From there EM over the
classes of all blocks (:mod:`juror.answers.refining`) increases E_p[log q]: over all cells of p if there are few, else
over rows drawn from p, fresh ones at every step,

    s ← (1 − η) s + η C,     η = (step + 2)^−0.6

with the expected counts C of the fresh rows under q; the counts s start as those of the merged model (Cappé and
Moulines, 2009). EM on one fixed sample would overfit it: with 50,000 rows drawn from a posterior of Votes, q ended
further from p than the merged model, at ranks 32 and 100. Wherever p is above zero, q is too. The one-way marginals
of q are those of p, except for labels too rare to be drawn.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce

import numpy as np

from juror.answers.block import BareMixture, Block, Mixture, edgeless
from juror.answers.information import Estimate, divergence_of
from juror.answers.marginals import whole_table
from juror.answers.merging import merge, nearest_trees
from juror.answers.refining import BlockCounts, BlockRows, Blocks, with_marginals
from juror.answers.sampling import RowSampler
from juror.answers.scores import log_prob
from juror.domain import Domain
from juror.errors import check_count
from juror.kernels.random_streams import Stream
from juror.record import Compression, FitRecord
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend

# Up to the first number of cells the loss is exact, like the entropy; up to the second EM runs over all cells.
_EXACT_CELLS, _CLIMBED_CELLS = 1_000_000, 100_000
# Each step draws this many rows in this many tasks, whatever the number of threads.
_TASKS, _ROWS_A_TASK = 4, 1280
# EM over all cells stops when a step gains less than this, in nats.
_TOL = 1e-8
# The share of the merged model that is mixed in after EM over all cells: rounding may have made small numbers zero.
_LEFT = 1e-12


def compress(
    model: Mixture, info: FitRecord | None, rank: int, seed: int, n_jobs: int | None
) -> tuple[tuple[Block, ...], Domain, FitRecord | None]:
    """Return the parts of a model of smaller rank, with a record of the rank before and of the loss.

    The rest of the record is kept, except what no longer holds: draws and their chains, members, the likelihood of the
    training rows and how well their pairs are reproduced.
    """
    blocks, loss = compressed(model, rank, seed=seed, n_jobs=n_jobs)
    before = sum(block.rank for block in model.blocks)
    if rank >= before:
        return model.blocks, model.domain, info
    info = info or FitRecord(method="compress", seed=int(seed))
    record = replace(
        info,
        rank=sum(block.rank for block in blocks),
        n_parameters=sum(block.n_parameters for block in blocks) - 1,
        log_likelihood=None,
        n_draws=0,
        n_members=1,
        mixing={},
        occupied=None,
        reproduced=None,
        n_off=None,
        n_questions=None,
        worst="",
        compressed=(*info.compressed, Compression(before, float(loss), loss.standard_error)),
    )
    return blocks, model.domain, record


def compressed(
    model: Mixture, rank: int, *, seed: int = 0, n_jobs: int | None = None, n_steps: int = 100, n_rows: int = 50_000
) -> tuple[tuple[Block, ...], Estimate]:
    """Find a mixture of smaller rank close to a given one, and the divergence between them.

    Every block gets a part of the rank in proportion to its classes. If the rank is less than the number of blocks, the
    heaviest blocks keep one class each. If the rank is at least that of p, p is returned unchanged. The seed is that of
    the drawn rows and the first groups. ``n_steps`` is the maximum number of EM steps; with 0, or if there are hidden
    nodes, q is the merged model. The number of threads does not change the result.

    Returns
    -------
    tuple of Block
        The classes of q.
    Estimate
        D(p‖q) in nats per row: exact up to a million cells, else a mean over ``n_rows`` fresh rows with its standard
        error.

    Examples
    --------
    >>> p = BareMixture.of_factors(np.full(4, 0.25), (np.array([[0.9, 0.2, 0.9, 0.2], [0.1, 0.8, 0.1, 0.8]]),) * 2,
    ...                            Domain.from_cardinalities([2, 2]))
    >>> (block,), loss = compressed(p, 2)
    >>> block.weights.tolist(), block.factors[0].round(6).tolist(), round(loss, 9)
    ([0.5, 0.5], [[0.9, 0.2], [0.1, 0.8]], 0.0)
    """
    for name, value, least in (("rank", rank, 1), ("seed", seed, 0), ("n_steps", n_steps, 0), ("n_rows", n_rows, 2)):
        check_count(name, value, least)
    with LocalRunner(n_jobs) as runner, one_blas_thread():
        if rank >= sum(block.rank for block in model.blocks):
            return model.blocks, Estimate(0.0)
        flat = edgeless(model)
        p = model if flat is None else BareMixture((flat,), model.domain)
        if rank >= sum(np.count_nonzero(block.weights) for block in p.blocks):
            return _heaviest(p.blocks, rank), Estimate(0.0)
        task = _Task.of(p, int(seed), runner)
        start = merged_blocks(p.blocks, p.domain, rank, int(seed))
        best = start
        if n_steps and all(len(block.tables) == len(p.domain) for block in start):
            best = task.better(start, task.climb(start, n_steps), n_rows)
        return best, task.loss(best, n_rows)


def _heaviest(blocks: Sequence[Block], rank: int) -> tuple[Block, ...]:
    """Keep the heaviest classes, which include all of weight above zero."""
    order = np.argsort(-np.concatenate([block.weights for block in blocks]), kind="stable")
    kept = np.split(np.isin(np.arange(len(order)), order[:rank]), np.cumsum([block.rank for block in blocks])[:-1])
    chosen = [block.classes(np.flatnonzero(own)) for block, own in zip(blocks, kept, strict=True) if own.any()]
    return tuple(chosen)


def merged_blocks(blocks: Sequence[Block], domain: Domain, rank: int, seed: int) -> tuple[Block, ...]:
    """Merge the classes of every block separately to ``rank`` classes in all; some blocks may be left out.

    If a block is left out, every other one becomes one class: the nearest to its own and its part of the rest.
    """
    held = np.array([np.count_nonzero(block.weights) for block in blocks])
    ranks = _allotted(held, np.array([block.weights.sum() for block in blocks]), rank)
    if len(blocks) == 1:
        return (merge(blocks[0], rank, seed),)
    if not np.all(ranks[held > 0]):
        return nearest_trees(blocks, np.flatnonzero(ranks).tolist(), domain)
    found = []
    for block, own, most in zip(blocks, ranks, held, strict=True):
        if own:
            possible = block.classes(block.weights > 0)
            small = merge(possible, int(own), seed) if own < most else possible
            found.append(small.scaled(float(block.weights.sum() / small.weights.sum())))
    total = sum(float(block.weights.sum()) for block in found)
    return tuple(block.scaled(1.0 / total) for block in found)


def _allotted(held: np.ndarray, weights: np.ndarray, rank: int) -> np.ndarray:
    """Divide a rank among blocks in proportion to their classes, at least one each if there are enough.

    >>> _allotted(np.array([8, 4, 4]), np.array([0.5, 0.2, 0.3]), 5).tolist()
    [3, 1, 1]
    >>> _allotted(np.array([8, 4, 4]), np.array([0.5, 0.2, 0.3]), 2).tolist()
    [1, 0, 1]
    """
    some = np.flatnonzero(held)
    ranks = np.zeros(len(held), dtype=np.int64)
    if rank <= len(some):
        ranks[some[np.argsort(-weights[some], kind="stable")[:rank]]] = 1
        return ranks
    ranks[some] = 1
    for _ in range(rank - len(some)):
        ranks[np.argmax(np.where(ranks < held, held / np.maximum(ranks, 1), -1.0))] += 1
    return ranks


@dataclass(frozen=True)
class _Task:
    """The model p to compress, all its cells if there are few enough, and the means to compress it."""

    model: Mixture
    table: np.ndarray | None
    sampler: RowSampler
    seed: int
    runner: LocalRunner

    @classmethod
    def of(cls, model: Mixture, seed: int, runner: LocalRunner) -> _Task:
        """Make a task, with the whole table if it is small."""
        few = math.prod(model.domain.cardinalities) <= _EXACT_CELLS
        return cls(model, whole_table(model) if few else None, RowSampler(model), seed, runner)

    def climb(self, start: Blocks, n_steps: int) -> Blocks:
        """Increase E_p[log q] from a start; mix in a little of the start, so that nothing becomes impossible."""
        if self.table is not None and self.table.size <= _CLIMBED_CELLS:
            found, left = self._climb_cells(self.table, start, n_steps), _LEFT
        else:
            # The weight of one of all rows that are drawn.
            found, left = self._climb_rows(start, n_steps), 1.0 / (n_steps * _TASKS * _ROWS_A_TASK)
        most, little = ([block.scaled(share) for block in q] for q, share in ((found, 1 - left), (start, left)))
        mixed = BlockCounts.of(most) + BlockCounts.of(little)
        return with_marginals(mixed.blocks(start), self.model)

    def _climb_cells(self, table: np.ndarray, start: Blocks, n_steps: int) -> Blocks:
        """Run EM over all possible cells, each weighted by its probability."""
        codes, weights = np.argwhere(table > 0).astype(np.int32), table[table > 0]
        if len(start) > 1 or start[0].has_edges:
            return self._climb_forests(codes, weights, start, n_steps)
        stacking = Stacking(start[0].sizes)
        objective = Objective.of(PackedRows(PackedCells.of(codes, stacking), weights, self.runner), stacking, 0.0)
        first = Parameters.of(start[0].weights, start[0].factors, stacking)
        run = ascend(objective, first, max_iter=n_steps, tol=_TOL, accelerate=True)
        # A plain EM step reproduces the marginals of the rows; an accelerated one does not.
        last = objective.update(run.point)
        return (Block.of_factors(last.lam, stacking.unstack(last.stack)),)

    def _climb_forests(self, codes: np.ndarray, weights: np.ndarray, start: Blocks, n_steps: int) -> Blocks:
        """Take plain EM steps over rows with weights until one gains little."""
        rows = BlockRows.of(codes, start, self.runner, joined=True)
        blocks, before = start, -np.inf
        for _ in range(n_steps):
            counts = rows.expected(blocks, weights)
            if counts.log_likelihood - before <= _TOL:
                break
            blocks, before = counts.blocks(start), counts.log_likelihood
        return blocks

    def _climb_rows(self, start: Blocks, n_steps: int) -> Blocks:
        """Take steps with fresh rows, and return the mean over the second half of the steps, which varies less.

        What is above zero at the start stays above zero.
        """
        counts = BlockCounts.of(start)
        total: BlockCounts | None = None
        point = start
        for step in range(n_steps):
            counted = partial(self._count_fresh, point, step)
            fresh = self.runner.map_reduce(counted, range(_TASKS), BlockCounts.__add__)
            counts = counts.mixed(fresh, (step + 2) ** -0.6)
            point = counts.blocks(start)
            if step >= n_steps // 2:
                total = counts if total is None else total + counts
        assert total is not None
        return total.blocks(start)

    def _count_fresh(self, point: Blocks, step: int, number: int) -> BlockCounts:
        rows = self.sampler.draw(_ROWS_A_TASK, Stream.FRESH.generator(self.seed, step, number), again=True)
        with LocalRunner(1) as alone:
            return BlockRows.of(rows, point, alone).expected(point, np.full(len(rows), 1.0 / (_TASKS * _ROWS_A_TASK)))

    def better(self, one: Blocks, other: Blocks, n_rows: int) -> Blocks:
        """Return the one closer to p: by the exact loss, or by the log-probability of fresh rows."""
        if self.table is not None:
            return min(one, other, key=lambda point: self.loss(point, n_rows))
        rows = self.sampler.draw(n_rows, Stream.COMPARED.generator(self.seed))
        return max(one, other, key=lambda point: float(self._log_prob(rows, point).mean()))

    def loss(self, point: Blocks, n_rows: int) -> Estimate:
        """Return D(p‖q), exact or as a mean over rows that no earlier step has used."""
        if self.table is not None:
            return divergence_of(self.table, whole_table(BareMixture(point, self.model.domain)))
        rows = self.sampler.draw(n_rows, Stream.LOSS.generator(self.seed))
        return Estimate.of_draws(self._log_prob(rows, self.model.blocks) - self._log_prob(rows, point))

    def _log_prob(self, codes: np.ndarray, blocks: Blocks) -> np.ndarray:
        if any(len(block.tables) > codes.shape[1] for block in blocks):
            return log_prob(BareMixture(blocks, self.model.domain), codes)
        return reduce(np.logaddexp, BlockRows.of(codes, blocks, self.runner).log_probs(blocks))
