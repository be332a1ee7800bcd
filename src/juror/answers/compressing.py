"""Compress a model p of large rank to a model q of small rank with a small divergence D(p‖q) = E_p[log p − log q].

Similar classes are merged into their weighted mean (:mod:`juror.answers.merging`). From there EM increases E_p[log q]:
over all cells of p if there are few, else over rows drawn from p, fresh ones at every step,

    s ← (1 − η) s + η C,     η = (step + 2)^−0.6

with the expected counts C of the fresh rows under q; the counts s start as those of the merged model (Cappé and
Moulines, 2009). EM on one fixed sample would overfit it: with 50,000 rows drawn from a posterior of Votes, q ended
further from p than the merged model, at ranks 32 and 100. Wherever p is above zero, q is too. The one-way marginals
of q are those of p, except for labels too rare to be drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from juror.answers.information import Estimate
from juror.answers.marginals import whole_table
from juror.answers.merging import merge
from juror.answers.posterior import CPD, BareCPD
from juror.answers.sampling import sample
from juror.domain import Domain
from juror.errors import check_count
from juror.kernels.logarithms import log_of
from juror.kernels.random_streams import Stream
from juror.record import Compression, FitInfo
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner
from juror.solvers.ascent import Objective, ascend
from juror.rows.parameters import Parameters

# Up to the first number of cells the loss is exact, like the entropy; up to the second EM runs over all cells.
_EXACT_CELLS, _CLIMBED_CELLS = 1_000_000, 100_000
# Each step draws this many rows in this many tasks, whatever the number of threads.
_TASKS, _ROWS_A_TASK = 4, 1280
# EM over all cells stops when a step gains less than this, in nats.
_TOL = 1e-8
# The share of the merged model that is mixed in after EM over all cells: rounding may have made small numbers zero.
_LEFT = 1e-12
# Marginals are scaled towards those of p until the difference is below _NEAR, at most _ROUNDS times; the scale of a
# label stays within _SCALES.
_NEAR, _ROUNDS, _SCALES = 1e-14, 1000, (0.5, 2.0)


def compress(
    cpd: CPD, info: FitInfo | None, rank: int, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, tuple[np.ndarray, ...], Domain, FitInfo | None]:
    """Return the parts of a model of smaller rank, with a record of the rank before and of the loss.

    The rest of the record is kept, except draws, members and the likelihood of the training rows, which no longer hold.
    """
    weights, factors, loss = compressed(cpd, rank, seed=seed, n_jobs=n_jobs)
    if rank >= len(cpd.weights):
        return cpd.weights, cpd.factors, cpd.domain, info
    if info is None:
        info = FitInfo("compress", rank, 0.0, None, None, 0, 0.0, int(seed), (), (), "", 0)
    record = replace(
        info,
        rank=len(weights),
        n_parameters=Stacking(cpd.domain.cardinalities).n_parameters(len(weights)),
        log_likelihood=None,
        n_draws=0,
        n_members=1,
        compressed=(*info.compressed, Compression(len(cpd.weights), float(loss), loss.standard_error)),
    )
    return weights, factors, cpd.domain, record


def compressed(
    cpd: CPD, rank: int, *, seed: int = 0, n_jobs: int | None = None, n_steps: int = 100, n_rows: int = 50_000
) -> tuple[np.ndarray, tuple[np.ndarray, ...], Estimate]:
    """Find a CPD of smaller rank close to a given one, and the divergence between them.

    If the rank is at least that of p, p is returned unchanged. The seed is that of the drawn rows and the first groups.
    ``n_steps`` is the maximum number of EM steps; with 0, q is the merged model. The number of threads does not change
    the result.

    Returns
    -------
    numpy.ndarray, (r,)
        Weights.
    tuple of numpy.ndarray, (I_n, r)
        Factors.
    Estimate
        D(p‖q) in nats per row: exact up to a million cells, else a mean over ``n_rows`` fresh rows with its standard
        error.

    Examples
    --------
    >>> p = BareCPD(np.full(4, 0.25), (np.array([[0.9, 0.2, 0.9, 0.2], [0.1, 0.8, 0.1, 0.8]]),) * 2,
    ...             Domain.from_cardinalities([2, 2]))
    >>> weights, factors, loss = compressed(p, 2)
    >>> weights.tolist(), factors[0].round(6).tolist(), round(loss, 9)
    ([0.5, 0.5], [[0.9, 0.2], [0.1, 0.8]], 0.0)
    """
    for name, value, least in (("rank", rank, 1), ("seed", seed, 0), ("n_steps", n_steps, 0), ("n_rows", n_rows, 2)):
        check_count(name, value, least)
    with LocalRunner(n_jobs) as runner, one_blas_thread():
        n_held = np.count_nonzero(cpd.weights)
        if rank >= len(cpd.weights):
            return cpd.weights, cpd.factors, Estimate(0.0)
        if rank >= n_held:
            kept = np.sort(np.argsort(-cpd.weights, kind="stable")[:rank])
            return cpd.weights[kept], tuple(factor[:, kept] for factor in cpd.factors), Estimate(0.0)
        task = _Task.of(cpd, int(seed), runner)
        weights, factors = merge(cpd.weights, cpd.factors, rank, int(seed))
        start = Parameters(weights, task.stacking.stack(factors))
        best = start
        if n_steps:
            best = task.better(start, task.climb(start, n_steps), n_rows)
        return best.lam, task.stacking.unstack(best.stack), task.loss(best, n_rows)


@dataclass(frozen=True)
class _Task:
    """The model p to compress, all its cells if there are few enough, and the means to compress it."""

    cpd: CPD
    table: np.ndarray | None
    stacking: Stacking
    seed: int
    runner: LocalRunner

    @classmethod
    def of(cls, cpd: CPD, seed: int, runner: LocalRunner) -> _Task:
        """Make a task, with the whole table if it is small."""
        few = math.prod(cpd.domain.cardinalities) <= _EXACT_CELLS
        return cls(cpd, whole_table(cpd) if few else None, Stacking(cpd.domain.cardinalities), seed, runner)

    def climb(self, start: Parameters, n_steps: int) -> Parameters:
        """Increase E_p[log q] from a start; mix in a little of the start, so that nothing becomes impossible."""
        if self.table is not None and self.table.size <= _CLIMBED_CELLS:
            found, left = self._climb_cells(self.table, start, n_steps), _LEFT
        else:
            # The weight of one of all rows that are drawn.
            found, left = self._climb_rows(start, n_steps), 1.0 / (n_steps * _TASKS * _ROWS_A_TASK)
        classes = (1 - left) * found.lam + left * start.lam
        cells = (1 - left) * found.lam * found.stack + left * start.lam * start.stack
        return self._with_marginals(self._normalised(classes, cells, start))

    def _climb_cells(self, table: np.ndarray, start: Parameters, n_steps: int) -> Parameters:
        """Run EM over all possible cells, each weighted by its probability."""
        possible = np.argwhere(table > 0).astype(np.int32)
        rows = PackedRows(PackedCells.of(possible, self.stacking), table[table > 0], self.runner)
        objective = Objective.of(rows, self.stacking, 0.0)
        run = ascend(objective, start, max_iter=n_steps, tol=_TOL, accelerate=True)
        # A plain EM step reproduces the marginals of the rows; an accelerated one does not.
        return objective.update(run.point)

    def _climb_rows(self, start: Parameters, n_steps: int) -> Parameters:
        """Take steps with fresh rows, and return the mean over the second half of the steps, which varies less.

        What is above zero at the start stays above zero.
        """
        classes, cells = start.lam, start.lam * start.stack
        sum_classes, sum_cells = np.zeros_like(classes), np.zeros_like(cells)
        point = start
        for step in range(n_steps):
            counted = partial(self._count_fresh, point, step)
            fresh = self.runner.map_reduce(counted, range(_TASKS), ExpectedCounts.__add__)
            eta = (step + 2) ** -0.6
            classes = (1 - eta) * classes + eta * fresh.classes
            cells = (1 - eta) * cells + eta * fresh.cells
            point = self._normalised(classes, cells, start)
            if step >= n_steps // 2:
                sum_classes, sum_cells = sum_classes + classes, sum_cells + cells
        return self._normalised(sum_classes, sum_cells, start)

    def _count_fresh(self, point: Parameters, step: int, number: int) -> ExpectedCounts:
        rows = sample(self.cpd, _ROWS_A_TASK, Stream.FRESH.generator(self.seed, step, number))
        weights = np.full(len(rows), 1.0 / (_TASKS * _ROWS_A_TASK))
        with LocalRunner(1) as alone:
            return ExpectedCounts.of(PackedCells.plain(rows, self.stacking), weights, point.lam, point.stack, alone)

    def _normalised(self, classes: np.ndarray, cells: np.ndarray, otherwise: Parameters) -> Parameters:
        return Parameters(classes / classes.sum(), self.stacking.normalise(cells, otherwise=otherwise.stack))

    def _with_marginals(self, point: Parameters) -> Parameters:
        """Scale the labels of every factor until Σ_f λ_f A_n[x, f] is the marginal of p; λ does not change.

        The scales are near one, except for labels that were hardly drawn. Those are clipped, because the few classes
        that have such a label may be too light to reach its marginal.
        """
        factors = list(self.stacking.unstack(point.stack))
        for n, (A, whole) in enumerate(zip(factors, self.cpd.factors, strict=True)):
            wanted, scale = whole @ self.cpd.weights, np.ones(len(A))
            for _ in range(_ROUNDS):
                reached = factors[n] @ point.lam
                if np.abs(reached - wanted).max() <= _NEAR:
                    break
                # An impossible label stays impossible.
                scale = np.clip(
                    scale * np.divide(wanted, reached, out=np.ones_like(wanted), where=reached > 0), *_SCALES
                )
                factors[n] = A * scale[:, None]
                factors[n] /= factors[n].sum(axis=0)
        return Parameters(point.lam, self.stacking.stack(factors))

    def better(self, one: Parameters, other: Parameters, n_rows: int) -> Parameters:
        """Return the one closer to p: by the exact loss, or by the log-probability of fresh rows."""
        if self.table is not None:
            return min(one, other, key=lambda point: self.loss(point, n_rows))
        rows = sample(self.cpd, n_rows, Stream.COMPARED.generator(self.seed))
        return max(one, other, key=lambda point: float(self._log_prob(rows, point).mean()))

    def loss(self, point: Parameters, n_rows: int) -> Estimate:
        """Return D(p‖q), exact or as a mean over rows that no earlier step has used."""
        if self.table is not None:
            q = whole_table(BareCPD(point.lam, self.stacking.unstack(point.stack), self.cpd.domain))
            possible = self.table > 0
            p = self.table[possible]
            # Rounding may leave it slightly below zero.
            return Estimate(max(0.0, float((p * (np.log(p) - log_of(q[possible]))).sum())))
        rows = sample(self.cpd, n_rows, Stream.LOSS.generator(self.seed))
        whole = Parameters.of(self.cpd.weights, self.cpd.factors, self.stacking)
        lost = self._log_prob(rows, whole) - self._log_prob(rows, point)
        return Estimate(float(lost.mean()), float(lost.std(ddof=1) / np.sqrt(n_rows)))

    def _log_prob(self, codes: np.ndarray, point: Parameters) -> np.ndarray:
        return log_prob_of_cells(PackedCells.plain(codes, self.stacking), point.lam, point.stack, self.runner)
