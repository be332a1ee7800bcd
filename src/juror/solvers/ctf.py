"""``method="ctf"``: coupled factorisation of the tables of triples of variables (Kargas, Sidiropoulos and Fu).

    C(λ, A) = Σ_{triples j<k<l} w_jkl ‖Z_jkl − [λ; A_j, A_k, A_l]‖²,     Z_jkl (I_j, I_k, I_l) distributions

is quadratic in every factor and in λ, so each is moved in turn by least squares over its simplices, the others fixed.
For a variable n the triples it is in are unfolded side by side, (I_n, Σ I_k I_l), once and for all. w is a triple's
number of rows over the mean of all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from juror.counts.counts import TripleCounts
from juror.domain import Domain
from juror.errors import Complaint, DataError, Message, ParameterError, shortlist
from juror.kernels import kernels
from juror.kernels.random_streams import Stream
from juror.record import FitRecord
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.smoothing import finished, stacked_marginals
from juror.solvers.solver import ROUGHER, Context, Options, Solution
from juror.solvers.starts import random_start
from juror.solvers.stopping import Stop, Stopped, not_converged

# The others move next, so a factor need not be moved all the way.
_INNER_STEPS, _INNER_TOL = 50, 1e-9
# A misfit of this share of the tables' own square is close to rounding.
_GOOD_ENOUGH = 1e-9


@dataclass(frozen=True)
class CTFOptions(Options):
    """What may be set about CTF."""

    triples: str | int | Sequence[Sequence[str]] | None = None
    n_init: int = 3
    smoothing: float = 0.1
    max_iter: int = 500
    tol: float = 1e-5

    def rough(self) -> Self:
        """Return options for one start and a larger tolerance."""
        return replace(self, n_init=1, tol=ROUGHER * self.tol)


def solve(
    table: Table | TripleCounts, rank: int, options: CTFOptions, context: Context, start: Parameters | None = None
) -> Solution:
    """Find factors from counted triples of variables by alternating least squares, from several random starts."""
    counts = _counts_of(table, options, context.seed)
    tables, n_rows = TripleTables(counts), float(counts.totals.mean())
    stacking = Stacking(counts.domain.cardinalities)
    marginals = stacked_marginals(tables.marginal, n_rows, stacking)
    n_starts = 1 if rank == 1 else options.n_init
    ends = []
    for number in range(1, n_starts + 1):
        begin = random_start(marginals, rank, stacking, Stream.START.generator(context.seed, rank, number))

        def report(step: int, value: float, number: int = number) -> None:
            context.tell(rank, number, n_starts, step, options.max_iter, objective=value)

        factors = stacking.unstack(begin.stack)
        ends.append(sweep_from(tables, begin.lam, factors, max_iter=options.max_iter, tol=options.tol, report=report))
    best = min(ends, key=lambda end: end.trace[-1])
    starts = tuple(end.trace[-1] for end in ends)
    record = FitRecord(trace=best.trace, stopped=str(best.stopped), n_iter=len(best.trace) - 1, starts=starts)
    parameters = finished(best.lam, best.factors, counts.domain, tables.marginal, n_rows, options.smoothing)
    return Solution((parameters,), record, _complaints(best, tables, counts))


def _counts_of(table: Table | TripleCounts, options: CTFOptions, seed: int) -> TripleCounts:
    if not isinstance(table, TripleCounts):
        return TripleCounts.of_rows(table, "all" if options.triples is None else options.triples, seed)
    if options.triples is not None:
        raise ParameterError(Message("{triples} were chosen when they were counted. Leave {triples:=} out."))
    return table


def _complaints(best: Sweeps, tables: TripleTables, counts: TripleCounts) -> tuple[Complaint, ...]:
    complaints, unseen, n = not_converged("The fit", best.stopped), len(tables.unseen), len(counts.groups)
    if not unseen:
        return complaints
    text = Complaint("unseen-triples", "{m} of {n} triples of variables are seen whole in no row.", m=unseen, n=n)
    return (*complaints, text)


@dataclass(frozen=True)
class _Mode:
    """The triples of one variable n, those first in which n stands last.

    Attributes
    ----------
    unfolded : numpy.ndarray, (I_n, Σ I_k I_l)
        w Z of every triple, with the other two variables along the columns.
    first, second : numpy.ndarray, (Σ I_k I_l,)
        The stacked rows of the other two variables' labels, for every column.
    n_last : int
        How many columns belong to triples in which n stands last.
    others, weights : numpy.ndarray, (n_triples, 2), (n_triples,)
        The other two variables of every triple, and its w.
    """

    unfolded: np.ndarray
    first: np.ndarray
    second: np.ndarray
    n_last: int
    others: np.ndarray
    weights: np.ndarray


@dataclass(frozen=True)
class Sweeps:
    """One search from one start: where it ended, C along it, and why it stopped."""

    lam: np.ndarray
    factors: tuple[np.ndarray, ...]
    trace: tuple[float, ...]
    stopped: Stopped


class TripleTables:
    """Distributions of triples, arranged for the search; those that no row shows are left out, and in ``unseen``."""

    def __init__(self, counts: TripleCounts):
        self.domain = counts.domain
        totals = counts.totals
        self.unseen = tuple(group for group, total in zip(counts.groups, totals, strict=True) if not total > 0)
        seen = np.flatnonzero(totals > 0)
        self.triples = np.array([counts.groups[t] for t in seen], dtype=np.int64).reshape(-1, 3)
        _check_cover(self.domain, self.triples)
        self.weights = totals[seen] / totals[seen].mean()
        tables = [counts.tables[t] / totals[t] for t in seen]
        self.squares = float(sum(w * np.sum(Z * Z) for w, Z in zip(self.weights, tables, strict=True)))
        self.starts = np.concatenate([[0], np.cumsum(self.domain.cardinalities)])
        self.modes = [self._mode(n, tables) for n in range(len(self.domain))]

    def _mode(self, n: int, tables: Sequence[np.ndarray]) -> _Mode:
        members = np.flatnonzero(np.any(self.triples == n, axis=1))
        # A stable sort keeps the order otherwise.
        members = members[np.argsort(self.triples[members, 2] != n, kind="stable")]
        unfolded, first, second, others = [], [], [], []
        for t in members.tolist():
            place = int(np.flatnonzero(self.triples[t] == n)[0])
            k, m = (int(v) for v in np.delete(self.triples[t], place))
            unfolded.append(self.weights[t] * np.moveaxis(tables[t], place, 0).reshape(tables[t].shape[place], -1))
            rows, columns = np.indices((self.domain.cardinalities[k], self.domain.cardinalities[m]))
            first.append(self.starts[k] + rows.ravel())
            second.append(self.starts[m] + columns.ravel())
            others.append((k, m))
        n_last = sum(block.shape[1] for block, t in zip(unfolded, members, strict=True) if self.triples[t, 2] == n)
        sides = np.concatenate(first), np.concatenate(second)
        return _Mode(np.hstack(unfolded), *sides, n_last, np.array(others), self.weights[members])

    def marginal(self, n: int) -> np.ndarray:
        """Return the distribution of a variable, (I_n,): the mean of what its triples say, by their weight."""
        total = self.modes[n].unfolded.sum(axis=1)
        return total / total.sum()


def _check_cover(domain: Domain, triples: np.ndarray) -> None:
    absent = [domain[n].name for n in range(len(domain)) if n not in triples]
    if absent:
        raise DataError(
            "The variables {names} are in no triple that any row shows whole, so nothing is known of them together "
            "with others. Count more triples, leave them out, or use {method:='em'}.",
            names=shortlist(absent),
        )


def sweep_from(
    tables: TripleTables,
    lam: np.ndarray,
    factors: Sequence[np.ndarray],
    *,
    max_iter: int,
    tol: float,
    report: Callable[[int, float], None] = lambda sweep, value: None,
) -> Sweeps:
    """Sweep over factors and λ until a sweep lowers C by at most ``tol`` of it, or ``max_iter`` sweeps are spent.

    The first point, λ (F,) and factors (I_n, F), lies on the simplices. ``report`` is called after every sweep with the
    number of sweeps and C.
    """
    move = kernels().least_squares_factor
    stack = np.vstack(factors)
    inner = np.stack([A.T @ A for A in factors])
    lam, trace = np.array(lam), [_value(tables, lam, *_about_lam(tables, stack, inner))]
    stopped = Stopped(Stop.MAX_ITER, max_iter)
    for sweep in range(1, max_iter + 1):
        right = np.zeros_like(lam)
        for n, mode in enumerate(tables.modes):
            own = slice(tables.starts[n], tables.starts[n + 1])
            along = stack[mode.first] * stack[mode.second]
            last = mode.unfolded[:, : mode.n_last] @ along[: mode.n_last]
            whole = last + mode.unfolded[:, mode.n_last :] @ along[mode.n_last :]
            gram = np.einsum("t,tfg,tfg->fg", mode.weights, inner[mode.others[:, 0]], inner[mode.others[:, 1]])
            stack[own] = move(gram * np.outer(lam, lam), whole * lam, stack[own], _INNER_STEPS, _INNER_TOL)
            inner[n] = stack[own].T @ stack[own]
            # Where n stands last, the other two have moved already, so that this share of the sum is final.
            right += np.einsum("if,if->f", stack[own], last)
        gram = _gram_of_lam(tables, inner)
        lam = kernels().least_squares_weights(gram, right, lam, _INNER_STEPS, _INNER_TOL)
        trace.append(_value(tables, lam, gram, right))
        report(sweep, trace[-1])
        if trace[-2] - trace[-1] <= tol * trace[-1]:
            stopped = Stopped(Stop.GAIN_OF_SWEEP, tol)
            break
        if trace[-1] <= _GOOD_ENOUGH * tables.squares:
            stopped = Stopped(Stop.SMALL_MISFIT, _GOOD_ENOUGH)
            break
    return Sweeps(lam, tuple(np.split(stack, tables.starts[1:-1])), tuple(trace), stopped)


def _value(tables: TripleTables, lam: np.ndarray, gram: np.ndarray, right: np.ndarray) -> float:
    """Return C from the quadratic form in λ, Σ w‖Z‖² − 2 rᵗλ + λᵗKλ."""
    return tables.squares - 2.0 * float(right @ lam) + float(lam @ gram @ lam)


def _gram_of_lam(tables: TripleTables, inner: np.ndarray) -> np.ndarray:
    first, second, third = tables.triples.T
    return np.einsum("t,tfg,tfg,tfg->fg", tables.weights, inner[first], inner[second], inner[third])


def _about_lam(tables: TripleTables, stack: np.ndarray, inner: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return K (F, F) and r (F,) of the quadratic form in λ."""
    right = np.zeros(stack.shape[1])
    for n, mode in enumerate(tables.modes):
        along = stack[mode.first[: mode.n_last]] * stack[mode.second[: mode.n_last]]
        own = stack[tables.starts[n] : tables.starts[n + 1]]
        right += np.einsum("if,if->f", own, mode.unfolded[:, : mode.n_last] @ along)
    return _gram_of_lam(tables, inner), right
