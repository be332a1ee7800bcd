"""A start near the highest optimum: sampled classes, more of them than asked for, then the fewest that explain most.

EM from random starts finds most heavy classes, but leaves some of them split, and misses light ones. So:

1. A Gibbs chain of more classes than asked for (:mod:`juror.solvers.gibbs`) finds the heavy ones. EM climbs from the
   heaviest of them, the counts of twenty sweeps together.
2. The lighter classes along the chain are candidates. Each is fitted alone before the background b of the present fit,

       Σ_i w_i log((1 − ε) b_i + ε Π_n B_n[x_in]),

   which costs one class's share of an EM pass. They are not fitted together: candidates that compete for rows from the
   beginning end no higher than the heaviest classes did.
3. The best join the fit, and EM lets all adapt to each other. Then classes leave, the cheapest first, until as many are
   left as were asked for. A class may leave in two ways, and the cheaper counts: its rows go to all others, or it is
   merged with the class most like it. Without the second a heavy class that is split stays so, as neither half can go.
4. The chain goes on, and 2 and 3 are done once more. A fit is replaced only by one of higher objective.
5. In a budget of time more such rounds follow, until two in a row were in vain.

``benchmarks/optimum.py`` compares it with random starts. Where the rows hardly support the smallest classes, the
highest optimum need not be the one nearest to the truth, only as likely. Two rounds do not always find it: in twenty
searches of its setting, other seeds, four more rounds gained 0.00013 nats a row on average and 0.00055 at most. Each
costs a quarter of the search before.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from juror.kernels.logarithms import log_of
from juror.rows.expected import ExpectedCounts, lone_counts_of, tables_of
from juror.rows.packed import PackedRows
from juror.rows.parameters import Parameters
from juror.runners.local import partitions
from juror.solvers.ascent import Objective, Point, ascend
from juror.solvers.gibbs import Sampler

# The chain: classes for every one asked for, sweeps before it is looked at, sweeps counted together, and how many such
# blocks come before the first round and before the second
_WIDER, _BURNT, _BLOCK = 1.4, 50, 20
_BLOCKS, _MORE_BLOCKS = 3, 2
# A class with less than this share of an even one is noise; one lighter than half of those asked for is a candidate.
_LEAST_SHARE = 0.01
# EM steps of candidates, all of them and then the better half; steps between one joining and the next
_STEPS, _MORE_STEPS, _STEPS_BETWEEN = 9, 11, 2
# Classes that join for every class asked for, the batches in which classes leave again, and passes of EM with all of
# them and after each batch
_JOINING, _BATCHES = 0.5, 10
_PASSES_TOGETHER, _PASSES_BETWEEN = 8, 5
# A round is made only if some class costs less than this many times the gain of the best candidate: candidates gain
# more as others adapt to them.
_WORTH = 2.0
# The least gain of a step, per row. The first step of a climb is plain and gains less than a leap. So the last climb
# has a smaller threshold than EM, with which it would stop at once, and at most this many passes.
_TOL, _LAST_TOL, _LAST_PASSES = 1e-5, 1e-7, 30
# Rounds in a budget of time end when this many in a row gained no more than that, per row.
_ROUNDS_IN_VAIN, _GAIN_OF_ROUND = 2, 1e-5
# The background keeps at least this share of the rows.
_BACKGROUND = 0.1
# Without smoothing no class could leave: some row might be possible in it alone.
_LEAST_SMOOTHING = 0.01
# The chain counts rows one by one; weights are scaled down to this total, as more rows add nothing.
_MOST_ROWS = 1e9
_TINY = 1e-300

# Typical number of passes of a search, for progress bars
TYPICAL_PASSES = 500

Report = Callable[[int, float], None]


@dataclass(frozen=True)
class _Loose:
    """Candidates, each alone before a background: weights (K,), columns (stacked rows, K), gains in nats (K,)."""

    lam: np.ndarray
    stack: np.ndarray
    gain: np.ndarray

    def __len__(self) -> int:
        return len(self.lam)

    def _some(self, chosen: np.ndarray | slice) -> _Loose:
        return _Loose(self.lam[chosen], self.stack[:, chosen], self.gain[chosen])

    def best(self, n: int) -> _Loose:
        """Return those that gain most, in that order."""
        return self._some(np.argsort(-self.gain, kind="stable")[:n])

    def gaining(self) -> _Loose:
        """Return those that gain anything."""
        return self._some(self.gain > 0)

    def after(self, n: int) -> _Loose:
        """Return all but the first n."""
        return self._some(slice(n, None))


def sampled_start(
    objective: Objective[PackedRows],
    rank: int,
    rng: np.random.Generator,
    report: Report = lambda n_passes, log_likelihood: None,
    until: float = np.inf,
) -> Parameters:
    """Search for a start of F = ``rank`` classes close to the highest optimum.

    The result is the same for any number of threads. ``report`` is called with the passes so far and a log-likelihood,
    as in :func:`juror.solvers.ascent.ascend`; a sweep counts as a pass, and passes of candidates count by their number.
    ``until`` is the deadline by ``time.monotonic``: after it, all that is optional is left out.
    """
    if rank == 1:
        return Parameters(np.ones(1), objective.marginals.copy())
    return _Search(_smoothed(objective), rank, rng, report, until).run()


class _Search:
    """The chain, the best fit so far, and what was spent."""

    def __init__(
        self, objective: Objective[PackedRows], rank: int, rng: np.random.Generator, report: Report, until: float
    ):
        self._objective = objective
        self._rank = rank
        self._report = report
        self._until = until
        self._n_passes = 0.0
        self._began = time.monotonic()
        # The chain counts rows: weights that sum to one stand for as many rows as there are, huge ones for enough.
        self._scale = max(1.0, len(objective.rows) / objective.total) * min(1.0, _MOST_ROWS / objective.total)
        rows, stacking = objective.rows.weighted(objective.rows.weights * self._scale), objective.stacking
        marginals = stacking.marginals(rows.label_counts)
        self._chain = Sampler(rows, marginals, stacking, int(np.ceil(_WIDER * rank)), rng, sparse=True)

    def run(self) -> Parameters:
        for _ in range(_BURNT):
            self._sweep()
            if self._late():
                break
        blocks = [self._block()]
        while len(blocks) < _BLOCKS and not self._late():
            blocks.append(self._block())
        heaviest = Parameters(blocks[-1].lam[: self._rank], blocks[-1].stack[:, : self._rank])
        best = self._climb(_scaled(heaviest), tol=_TOL)
        if not self._late():
            best = self._round(best, blocks)
        if not self._late():
            best = self._next_round(best)
        n_in_vain = 0
        while n_in_vain < _ROUNDS_IN_VAIN and self._has_time_for_more():
            before, best = best.objective, self._next_round(best)
            n_in_vain = 0 if best.objective > before + _GAIN_OF_ROUND * self._objective.total else n_in_vain + 1
        return self._climb(best.parameters, _LAST_PASSES, _LAST_TOL).parameters

    def _next_round(self, best: Point) -> Point:
        return self._round(best, [self._block() for _ in range(_MORE_BLOCKS)])

    def _has_time_for_more(self) -> bool:
        """Say whether there is a budget that leaves as much time for EM after the search as the search has taken."""
        now = time.monotonic()
        return bool(np.isfinite(self._until)) and self._until - now > now - self._began

    def _late(self) -> bool:
        return time.monotonic() > self._until

    def _sweep(self) -> ExpectedCounts:
        counts = self._chain.sweep()
        self._spend(1, counts.log_likelihood / self._scale)
        return counts

    def _block(self) -> Parameters:
        """Return the classes of the next sweeps, counted together, the heaviest first."""
        objective = self._objective
        counts, n_sweeps = self._sweep(), 1
        while n_sweeps < _BLOCK and not self._late():
            counts, n_sweeps = counts + self._sweep(), n_sweeps + 1
        order = np.argsort(-counts.classes, kind="stable")
        share = 1.0 / (n_sweeps * self._scale)
        unseen = np.broadcast_to(objective.marginals, counts.cells.shape)
        stack = objective.stacking.normalise(share * counts.cells[:, order] + objective.pseudo_counts, otherwise=unseen)
        return _scaled(Parameters(share * counts.classes[order] + objective.smoothing, stack))

    def _round(self, best: Point, blocks: list[Parameters]) -> Point:
        """Let candidates join and classes leave; return the better of what is left and what was."""
        log_base = self._log_prob(best.parameters)
        loose = self._settled(self._candidates(blocks), log_base, _STEPS)
        if not len(loose) or _costs(self._objective, best.parameters).least.min() > _WORTH * loose.gain.max():
            return best
        n_joining = int(np.ceil(_JOINING * self._rank))
        loose = self._settled(loose.best(max(n_joining, len(loose) // 2)), log_base, _MORE_STEPS)
        if self._late():
            return best
        point = self._climb(self._joined(best.parameters, loose, log_base, n_joining), max_iter=_PASSES_TOGETHER)
        n_steps = _BATCHES
        while point.parameters.rank > self._rank:
            if self._late():
                return best
            n_leaving = -(-(point.parameters.rank - self._rank) // max(n_steps, 1))
            self._spend(2 * point.parameters.rank / self._rank, point.log_likelihood)
            fewer = _without_cheapest(self._objective, point.parameters, n_leaving)
            point = self._climb(fewer, max_iter=_PASSES_BETWEEN)
            n_steps -= 1
        point = self._climb(point.parameters, tol=_TOL)
        return point if point.objective > best.objective else best

    def _candidates(self, blocks: list[Parameters]) -> _Loose:
        """Return the lighter classes of every block."""
        kept = []
        for block in blocks:
            light = (block.lam < block.lam[self._rank // 2]) & (block.lam >= _LEAST_SHARE / self._rank)
            kept.append(Parameters(block.lam[light], block.stack[:, light]))
        lam = np.concatenate([block.lam for block in kept])
        return _Loose(lam, np.hstack([block.stack for block in kept]), np.zeros(len(lam)))

    def _settled(self, loose: _Loose, log_base: np.ndarray, n_steps: int) -> _Loose:
        """Take EM steps of every candidate by itself before the background, log b (n_distinct,)."""
        objective = self._objective
        for _ in range(n_steps if len(loose) else 0):
            gain, classes, cells = _lone_counts(objective, log_base, loose)
            lam = np.minimum(classes / objective.total, 1.0 - _BACKGROUND)
            unseen = np.broadcast_to(objective.marginals, cells.shape)
            stack = objective.stacking.normalise(cells + objective.pseudo_counts, otherwise=unseen)
            loose = _Loose(lam, stack, gain + objective.total * np.log1p(-loose.lam))
        self._n_passes += n_steps * len(loose) / self._rank
        return loose

    def _joined(self, parameters: Parameters, loose: _Loose, log_base: np.ndarray, n_joining: int) -> Parameters:
        """Add the candidates that gain most, in batches; each batch is fitted to what the batches before leave."""
        lam, columns = parameters.lam, [parameters.stack]
        batch = -(-n_joining // _BATCHES)
        loose = loose.best(2 * n_joining).gaining()
        n_left = n_joining
        while n_left > 0 and len(loose):
            chosen = loose.best(min(batch, n_left))
            # Together they leave a share to the background, however heavy each is.
            share = chosen.lam * min(1.0, (1.0 - _BACKGROUND) / chosen.lam.sum())
            lam = np.concatenate([lam * (1.0 - share.sum()), share])
            columns.append(chosen.stack)
            n_left -= len(chosen)
            if n_left > 0:
                beside = self._log_prob(Parameters(share, chosen.stack))
                log_base = np.logaddexp(log_base + np.log1p(-share.sum()), beside)
                others = loose.best(len(loose)).after(len(chosen))
                loose = self._settled(others, log_base, _STEPS_BETWEEN).gaining()
        return _scaled(Parameters(lam, np.hstack(columns)))

    def _climb(self, start: Parameters, max_iter: int = 1000, tol: float = 0.0) -> Point:
        run = ascend(self._objective, start, max_iter=max_iter, tol=tol, accelerate=True, until=self._until)
        self._spend(run.n_passes * start.rank / self._rank, run.point.log_likelihood)
        return run.point

    def _log_prob(self, parameters: Parameters) -> np.ndarray:
        return self._objective.rows.log_prob(parameters.lam, parameters.stack)

    def _spend(self, n_passes: float, log_likelihood: float) -> None:
        self._n_passes += n_passes
        self._report(round(self._n_passes), log_likelihood)


@dataclass(frozen=True)
class _Costs:
    """Upper bounds of what it costs, in nats, that a class leaves, (F,): to all others, or into its partner.

    ``merged`` holds the weights and columns of every class together with its partner.
    """

    left: np.ndarray
    joined: np.ndarray
    partner: np.ndarray
    merged: Parameters

    @property
    def least(self) -> np.ndarray:
        return np.minimum(self.left, self.joined)


def _costs(objective: Objective[PackedRows], parameters: Parameters) -> _Costs:
    """Return the loss of Σ_i w_i log p_i without each class, with nothing else adapted but the weights' scale.

    With the posterior R_if and q the merged class's probability of a row over p: −Σ w log(1 − R_if) + W log(1 − λ_f),
    and −Σ w log(1 − R_if − R_ig + q_i).
    """
    lam, stack = parameters.lam, parameters.stack
    partner = _most_alike(objective, parameters)
    together = lam + lam[partner]
    merged = Parameters(together, (lam * stack + lam[partner] * stack[:, partner]) / together)
    rows = objective.rows

    def of_partition(sheet: tuple[Any, ...], some: slice) -> np.ndarray:
        cells, weights, apart, joined = sheet
        packed, weights = cells.packed[some], weights[some]
        total, R = cells.kernels.posterior(packed, apart)
        over, Q = cells.kernels.posterior(packed, joined)
        # Means of columns may fit a row far better than either column. Cap the ratio: its size does not matter.
        Q *= np.exp(np.minimum(over - total, 300.0))[:, None]
        left = weights @ log_of(np.maximum(1.0 - R, _TINY))
        return np.stack([left, weights @ log_of(np.maximum(1.0 - R - R[:, partner] + Q, _TINY))])

    sums = np.zeros((2, len(lam)))
    for cells, weights in rows.sheets:
        sheet = cells, weights, tables_of(cells, lam, stack), tables_of(cells, together, merged.stack)
        sums += rows.runner.map_reduce(partial(of_partition, sheet), partitions(len(cells)), np.add)
    # A class that holds all the weight cannot leave.
    left = np.where(lam < 1.0, objective.total * log_of(1.0 - lam) - sums[0], np.inf)
    return _Costs(left, -sums[1], partner, merged)


def _most_alike(objective: Objective[PackedRows], parameters: Parameters) -> np.ndarray:
    """Return for every class the other with the largest Π_n Σ_x (A_n[x, f] A_n[x, g])^½, (F,)."""
    roots = np.sqrt(parameters.stack)
    alike = np.zeros((parameters.rank, parameters.rank))
    for n in range(len(objective.stacking.cardinalities)):
        mine = roots[objective.stacking.rows(n)]
        alike += log_of(mine.T @ mine)
    np.fill_diagonal(alike, -np.inf)
    return alike.argmax(axis=1)


def _without_cheapest(objective: Objective[PackedRows], parameters: Parameters, n_leaving: int) -> Parameters:
    """Let ``n_leaving`` classes leave, each by its cheaper way; none takes part twice."""
    costs = _costs(objective, parameters)
    lam, stack = parameters.lam.copy(), parameters.stack.copy()
    stays = np.ones(len(lam), dtype=bool)
    touched = np.zeros(len(lam), dtype=bool)
    for f in np.argsort(costs.least, kind="stable"):
        g = costs.partner[f]
        into = costs.joined[f] < costs.left[f]
        if touched[f] or (into and touched[g]):
            continue
        if into:
            lam[g], stack[:, g] = costs.merged.lam[f], costs.merged.stack[:, f]
            touched[g] = True
        stays[f], touched[f] = False, True
        if np.sum(~stays) == n_leaving:
            break
    return _scaled(Parameters(lam[stays], stack[:, stays]))


def _scaled(parameters: Parameters) -> Parameters:
    return Parameters(parameters.lam / parameters.lam.sum(), parameters.stack)


def _smoothed(objective: Objective[PackedRows]) -> Objective[PackedRows]:
    """Return the objective with some smoothing, so that every class can produce every row."""
    enough = objective.smoothing >= _LEAST_SMOOTHING
    return objective if enough else objective.with_smoothing(_LEAST_SMOOTHING)


def _lone_counts(
    objective: Objective[PackedRows], log_base: np.ndarray, loose: _Loose
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return gains but for the background's share (K,), rows (K,) and counts (stacked rows, K) of candidates."""
    rows, log_odds, first, found = objective.rows, log_of(loose.lam / (1.0 - loose.lam)), 0, []
    for cells, weights in rows.sheets:
        base = log_base[first : first + len(cells)]
        found.append(lone_counts_of(cells, weights, base, log_odds, loose.stack, rows.runner))
        first += len(cells)
    gain, classes, counts = (sum(part[1:], part[0]) for part in zip(*found, strict=True))
    return gain, classes, counts
