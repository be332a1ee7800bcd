"""Compress a model p of a large rank to a model q of a small one, near it in D(p‖q) = E_p[log p − log q].

Classes that are alike are merged into their weighted mean (:mod:`juror.answers.merging`), and EM climbs E_p[log q] from
there: over all cells of p where these are few, else over rows drawn from p, fresh ones at every step,

    s ← (1 − η) s + η C,     η = (step + 2)^−0.6

for the expected counts C of the fresh rows under q, the counts s beginning as those of the merged model (Cappé and
Moulines, 2009). EM on the same rows again and again would learn these rows: with 50,000 of a posterior of Votes it
left q further from p than the merged model was, at ranks 32 and 100. Wherever p is above zero q is too, and the one-way
marginals of q are those of p, but for labels too rare to be drawn.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from juror.answers.information import Estimate
from juror.answers.marginals import marginal
from juror.answers.merging import merge
from juror.answers.posterior import CPD, BareCPD
from juror.answers.sampling import sample
from juror.domain import Domain
from juror.errors import check_count
from juror.kernels.logarithms import log_of
from juror.record import Compression, FitInfo
from juror.rows.expected import ExpectedCounts, log_prob_of_cells
from juror.rows.packed import PackedRows
from juror.rows.packing import PackedCells
from juror.rows.stacking import Stacking
from juror.runners.blas import one_blas_thread
from juror.runners.local import LocalRunner, partitions
from juror.solvers.ascent import Objective, ascend
from juror.solvers.parameters import Parameters, n_parameters

# Up to this many cells the loss is exact, as the entropy is; up to that many EM goes through all of them
_EXACT_CELLS, _CLIMBED_CELLS = 1_000_000, 100_000
# Rows drawn at a step, by tasks whose number never depends on the number of threads
_TASKS, _ROWS_A_TASK = 4, 1280
# The gain of a step below which EM over all cells stops, in nats
_TOL = 1e-8
# The share of the merged model left after EM over all cells, where rounding may make a zero of what is very small
_LEFT = 1e-12
# Marginals are drawn to those of p until they are this near, or so many times, labels by no more than these scales
_NEAR, _ROUNDS, _SCALES = 1e-14, 1000, (0.5, 2.0)
_ROWS_AT_ONCE = 1024
# Numbers held at once where all cells are written out: 80 MB
_NUMBERS_AT_ONCE = 10_000_000


def compress(
    cpd: CPD, info: FitInfo | None, rank: int, seed: int, n_jobs: int | None
) -> tuple[np.ndarray, tuple[np.ndarray, ...], Domain, FitInfo | None]:
    """Return the parts of a model of a smaller rank, with a record that says from which rank and at what loss.

    The rest of the record stays, but for what is true no longer: draws, members and the likelihood of training rows.
    """
    weights, factors, loss = compressed(cpd, rank, seed=seed, n_jobs=n_jobs)
    if rank >= len(cpd.weights):
        return cpd.weights, cpd.factors, cpd.domain, info
    if info is None:
        info = FitInfo("compress", rank, 0.0, None, None, 0, 0.0, int(seed), (), (), "", 0)
    record = replace(
        info,
        rank=len(weights),
        n_parameters=n_parameters(len(weights), cpd.domain.cardinalities),
        log_likelihood=None,
        n_draws=0,
        n_members=1,
        compressed=(*info.compressed, Compression(len(cpd.weights), float(loss), loss.standard_error)),
    )
    return weights, factors, cpd.domain, record


def compressed(
    cpd: CPD, rank: int, *, seed: int = 0, n_jobs: int | None = None, n_steps: int = 100, n_rows: int = 50_000
) -> tuple[np.ndarray, tuple[np.ndarray, ...], Estimate]:
    """Find a CPD of a smaller rank that is near a given one, and what is lost.

    Parameters
    ----------
    cpd : CPD
        p, of rank R.
    rank : int
        The rank r of q. From R on, p comes back as it is.
    seed : int
        What drawn rows and seeds of groups come from.
    n_jobs : int, optional
        How many threads; the result does not depend on it.
    n_steps : int
        The most steps of EM; with none q is the merged model.
    n_rows : int
        How many fresh rows to judge by where the table is too large to write out.

    Returns
    -------
    numpy.ndarray, (r,)
        Weights.
    tuple of numpy.ndarray, (I_n, r)
        Factors.
    Estimate
        D(p‖q) in nats a row: exact up to a million cells, else a mean over fresh rows with its standard error.

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
        start = Parameters.of(*merge(cpd.weights, cpd.factors, rank, int(seed)), task.stacking)
        best = start
        if n_steps:
            best = task.better(start, task.climb(start, n_steps), n_rows)
        return best.lam, task.stacking.unstack(best.stack), task.loss(best, n_rows)


@dataclass(frozen=True)
class _Task:
    """What is to be compressed, and with what.

    Attributes
    ----------
    cpd : CPD
        p.
    table : numpy.ndarray, (I_1, …, I_N), optional
        p cell by cell, where these are few enough.
    stacking : Stacking
        Where variables stand in the stack.
    seed : int
        Where chance comes from.
    runner : LocalRunner
        Who goes over rows.
    """

    cpd: CPD
    table: np.ndarray | None
    stacking: Stacking
    seed: int
    runner: LocalRunner

    @classmethod
    def of(cls, cpd: CPD, seed: int, runner: LocalRunner) -> _Task:
        """Write out the table where that is worth it."""
        few = math.prod(cpd.domain.cardinalities) <= _EXACT_CELLS
        return cls(cpd, _whole(cpd) if few else None, Stacking(cpd.domain.cardinalities), seed, runner)

    def climb(self, start: Parameters, n_steps: int) -> Parameters:
        """Climb E_p[log q] from a start; keep a trace of it, so that nothing is lost but what p all but rules out."""
        if self.table is not None and self.table.size <= _CLIMBED_CELLS:
            found, left = self._climb_cells(self.table, start, n_steps), _LEFT
        else:
            # worth one row of all that were drawn
            found, left = self._climb_rows(start, n_steps), 1.0 / (n_steps * _TASKS * _ROWS_A_TASK)
        classes = (1 - left) * found.lam + left * start.lam
        cells = (1 - left) * found.lam * found.stack + left * start.lam * start.stack
        return self._with_marginals(self._normalised(classes, cells, start))

    def _climb_cells(self, table: np.ndarray, start: Parameters, n_steps: int) -> Parameters:
        """Climb over all cells that are possible, each as often as it is probable."""
        possible = np.argwhere(table > 0).astype(np.int32)
        rows = PackedRows(PackedCells.of(possible, self.stacking), table[table > 0], self.runner)
        objective = Objective.of(rows, self.stacking, 0.0)
        run = ascend(objective, start, max_iter=n_steps, tol=_TOL, accelerate=True)
        # a plain step has the marginals of the rows, a leap has not
        return objective.update(run.point)

    def _climb_rows(self, start: Parameters, n_steps: int) -> Parameters:
        """Take steps with fresh rows, and return the mean of the second half of them, which is steadier than the last.

        What is above zero at the start stays so.
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
        rows = sample(self.cpd, _ROWS_A_TASK, np.random.default_rng([self.seed, 1, step, number]))
        weights = np.full(len(rows), 1.0 / (_TASKS * _ROWS_A_TASK))
        with LocalRunner(1) as alone:
            return ExpectedCounts.of(PackedCells.plain(rows, self.stacking), weights, point.lam, point.stack, alone)

    def _normalised(self, classes: np.ndarray, cells: np.ndarray, otherwise: Parameters) -> Parameters:
        return Parameters(classes / classes.sum(), self.stacking.normalise(cells, otherwise=otherwise.stack))

    def _with_marginals(self, point: Parameters) -> Parameters:
        """Scale the labels of every factor until Σ_f λ_f A_n[x, f] is the marginal of p, λ as it is.

        The scales are near one but for labels that were hardly drawn. Those get no more than the most, as the weights
        of the few classes that have them may not carry more.
        """
        factors = list(self.stacking.unstack(point.stack))
        for n, (A, whole) in enumerate(zip(factors, self.cpd.factors, strict=True)):
            wanted, scale = whole @ self.cpd.weights, np.ones(len(A))
            for _ in range(_ROUNDS):
                reached = factors[n] @ point.lam
                if np.abs(reached - wanted).max() <= _NEAR:
                    break
                # a label that is impossible stays so
                scale = np.clip(
                    scale * np.divide(wanted, reached, out=np.ones_like(wanted), where=reached > 0), *_SCALES
                )
                factors[n] = A * scale[:, None]
                factors[n] /= factors[n].sum(axis=0)
        return Parameters.of(point.lam, factors, self.stacking)

    def better(self, one: Parameters, other: Parameters, n_rows: int) -> Parameters:
        """Return the nearer to p: by the exact loss, or by how probable it makes fresh rows."""
        if self.table is not None:
            return min(one, other, key=lambda point: self.loss(point, n_rows))
        rows = sample(self.cpd, n_rows, np.random.default_rng([self.seed, 2]))
        return max(one, other, key=lambda point: float(self._log_prob(rows, point).mean()))

    def loss(self, point: Parameters, n_rows: int) -> Estimate:
        """Return D(p‖q), exact or as a mean over rows that nothing was chosen by."""
        if self.table is not None:
            q = _whole(BareCPD(point.lam, self.stacking.unstack(point.stack), self.cpd.domain))
            possible = self.table > 0
            p = self.table[possible]
            # rounding may leave it a hair below zero
            return Estimate(max(0.0, float((p * (np.log(p) - log_of(q[possible]))).sum())))
        rows = sample(self.cpd, n_rows, np.random.default_rng([self.seed, 3]))
        whole = Parameters.of(self.cpd.weights, self.cpd.factors, self.stacking)
        lost = self._log_prob(rows, whole) - self._log_prob(rows, point)
        return Estimate(float(lost.mean()), float(lost.std(ddof=1) / np.sqrt(n_rows)))

    def _log_prob(self, codes: np.ndarray, point: Parameters) -> np.ndarray:
        return log_prob_of_cells(PackedCells.plain(codes, self.stacking), point.lam, point.stack, self.runner)


def _whole(cpd: CPD) -> np.ndarray:
    """Return the whole table, summed over blocks of classes."""
    table = np.zeros(cpd.domain.cardinalities)
    for block in partitions(len(cpd.weights), max(1, _NUMBERS_AT_ONCE // table.size)):
        part = BareCPD(cpd.weights[block], tuple(factor[:, block] for factor in cpd.factors), cpd.domain)
        table += marginal(part, range(table.ndim))
    return table
