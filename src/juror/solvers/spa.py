"""``method="spa"``: factors from pair tables by successive projection, with Ibrahim and Fu's two-block construction.

The variables are split into S1 and S2 and the pair tables between them stand side by side in one matrix

    Z̃ = W Hᵗ,   W = [A_j]_{j in S1} (Σ_S1 I, F),   H = [A_k D(λ)]_{k in S2} (Σ_S2 I, F).

If every class is alone in some label of S2, columns of Z̃ are proportional to those of W, and they are found as the
extreme ones: scale columns to sum one, take the longest, project it away from all, and again, F times. H follows by
non-negative least squares, the factors by scaling columns to the simplex, λ by least squares over all pair tables.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts
from juror.domain import Domain
from juror.errors import Complaint, Message, ParameterError, check_count, shortlist
from juror.record import FitRecord
from juror.rows.parameters import Parameters
from juror.rows.table import Table
from juror.solvers.pair_tables import PairTables
from juror.solvers.smoothing import finished
from juror.solvers.solver import MOST_RANK, Context, Options, Solution
from juror.solvers.stopping import Stop, Stopped

# Relative sizes below this are rounding: the column of a label never seen, a residual within the span of the columns
# taken, a block of H in which a class has no part.
_NOTHING = 1e-9
# Columns at least this share as long as the longest tie with it: rounding must not choose among them.
_TIE = 1.0 - 1e-9


@dataclass(frozen=True)
class SPAOptions(Options):
    """What may be set about SPA."""

    split: Sequence[str] | None = None
    smoothing: float = 0.1


def solve(
    table: Table | PairCounts, rank: int, options: SPAOptions, context: Context, start: Parameters | None = None
) -> Solution:
    """Find factors from pair tables by successive projection."""
    counts = table if isinstance(table, PairCounts) else PairCounts.of_rows(table)
    tables, split = PairTables.of(counts), read_split(counts.domain, options.split)
    check_rank(rank, counts.domain, split)
    lam, factors = factorise(tables, rank, split)
    value = float(sum(w * np.sum((Z - (factors[j] * lam) @ factors[k].T) ** 2) for (j, k), Z, w in tables.each()))
    context.tell(rank, 1, 1, 1, 1, objective=value)
    n_rows = float(counts.totals.mean())
    return Solution(
        (finished(lam, factors, counts.domain, tables.marginal, n_rows, options.smoothing),),
        FitRecord(trace=(value,), stopped=str(Stopped(Stop.NO_STEPS)), n_iter=1, starts=(value,)),
        fewer(rank, len(lam)),
    )


@dataclass(frozen=True)
class Split:
    """Which variables stand on which side of Z̃."""

    first: tuple[int, ...]
    second: tuple[int, ...]

    def most_rank(self, cardinalities: Sequence[int]) -> int:
        """Return the largest rank Z̃ can have: Σ I − (variables − 1) on the smaller side, as blocks share their sums."""
        return min(sum(cardinalities[n] for n in side) - len(side) + 1 for side in (self.first, self.second))


def balanced_split(cardinalities: Sequence[int]) -> Split:
    """Split variables so that the smaller side carries as large a rank as any split lets it.

    For the first n variables, the sums of I_n − 1 that some of them reach are the bits of an integer. The way back from
    the sum nearest to half of the total gives the variables.

    >>> balanced_split([4, 4, 4, 3, 3, 3, 4]).most_rank([4, 4, 4, 3, 3, 3, 4])
    10
    """
    gains = [size - 1 for size in cardinalities]
    reached = [1]
    for gain in gains:
        reached.append(reached[-1] | reached[-1] << gain)
    half = sum(gains) // 2
    total = (reached[-1] & ((1 << (half + 1)) - 1)).bit_length() - 1
    first: set[int] = set()
    for n in reversed(range(len(gains))):
        if not reached[n] >> total & 1:
            first.add(n)
            total -= gains[n]
    return _both_sides(first, len(gains))


def _both_sides(first: set[int], n_variables: int) -> Split:
    """Make a split, with at least one variable on either side."""
    first = first or {0}
    return Split(tuple(sorted(first)), tuple(n for n in range(n_variables) if n not in first))


def read_split(domain: Domain, first: Sequence[str] | None) -> Split:
    """Return the split that puts the named variables on the first side; a balanced one for None."""
    if first is None:
        return balanced_split(domain.cardinalities)
    if isinstance(first, str) or not isinstance(first, Collection):
        raise ParameterError("{split} names the variables of the first side in a list. Got {got!r} instead.", got=first)
    chosen = {domain.position(name) for name in first}
    if not 0 < len(chosen) < len(domain):
        raise ParameterError(Message("{split} must leave at least one variable on either side."))
    return _both_sides(chosen, len(domain))


def check_rank(rank: int, domain: Domain, split: Split) -> None:
    """Refuse a rank that the split cannot carry."""
    check_count("rank", rank)
    most = split.most_rank(domain.cardinalities)
    if rank > most:
        sides = " against ".join(shortlist(domain[n].name for n in side) for side in (split.first, split.second))
        raise ParameterError(
            "{rank} must be in the range [1, {most}] for methods that begin with SPA: the split {sides} carries no "
            "more. Got {got} instead. Lower {rank}, or use {method:='em'} or 'ctf'.",
            most=most,
            sides=sides,
            got=rank,
        )


def most_rank(domain: Domain, options: Any) -> int:
    """Return the largest rank to try, which the split of the variables bounds."""
    return min(MOST_RANK, read_split(domain, options.split).most_rank(domain.cardinalities))


def fewer(asked: int, found: int) -> tuple[Complaint, ...]:
    """Complain if SPA found fewer classes than asked for."""
    if found == asked:
        return ()
    complaint = Complaint(
        "fewer-classes",
        "The pair tables between the two sides of SPA's split carry {found} classes, not the {asked} asked for: "
        "the model has rank {found}. Lower {rank} to {found}, try another {split}, or use {method:='em'} or 'ctf'.",
        found=found,
        asked=asked,
    )
    return (complaint,)


def factorise(tables: PairTables, rank: int, split: Split) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Return λ (F,) and the factors (I_n, F). F is less than the rank asked for where the tables carry no more."""
    if rank == 1:
        # All columns of Z̃ are then multiples of one column, which their sum estimates better than the longest.
        return np.ones(1), tuple(tables.marginal(n)[:, None] for n in range(len(tables.domain)))
    Z = assemble(tables, split)
    chosen = extreme_columns(Z, rank)
    W = Z[:, chosen]
    H = _non_negative(W, Z)
    factors = _factors(W, H, tables, split)
    lam = tables.best_weights(factors, np.full(len(chosen), 1.0 / len(chosen)))
    return lam, factors


def assemble(tables: PairTables, split: Split) -> np.ndarray:
    """Return Z̃, (Σ_S1 I, Σ_S2 I)."""
    of_pair = dict(zip(tables.pairs, tables.tables, strict=True))
    blocks = [[of_pair[j, k] if j < k else of_pair[k, j].T for k in split.second] for j in split.first]
    return np.block(blocks)


def extreme_columns(Z: np.ndarray, rank: int) -> list[int]:
    """Return the columns that successive projection takes, at most ``rank``, fewer where they span Z̃ already."""
    sums = Z.sum(axis=0)
    seen = sums > _NOTHING * sums.max(initial=0.0)
    residual = np.where(seen, Z / np.where(seen, sums, 1.0), 0.0)
    lengths = np.einsum("pq,pq->q", residual, residual)
    longest = lengths.max(initial=0.0)
    chosen: list[int] = []
    while len(chosen) < rank:
        best = _longest(lengths, sums)
        if lengths[best] <= _NOTHING**2 * longest:
            break
        chosen.append(best)
        direction = residual[:, best] / np.sqrt(lengths[best])
        residual = residual - np.outer(direction, direction @ residual)
        lengths = np.einsum("pq,pq->q", residual, residual)
    return chosen


def _longest(lengths: np.ndarray, sums: np.ndarray) -> int:
    """Return the longest column, of several the one with most rows behind it, of several the first."""
    tied = np.where(lengths >= _TIE * lengths.max(), sums, 0.0)
    return int(np.flatnonzero(tied >= _TIE * tied.max())[0])


def _non_negative(W: np.ndarray, Z: np.ndarray) -> np.ndarray:
    """Return H (Σ_S2 I, F) ≥ 0 that minimises ‖Z̃ − W Hᵗ‖²."""
    from scipy.optimize import nnls

    # W is tall: its triangular factor has the same least squares with fewer rows.
    Q, R = np.linalg.qr(W)
    return np.stack([nnls(R, column, maxiter=100 * R.shape[1])[0] for column in (Q.T @ Z).T])


def _factors(W: np.ndarray, H: np.ndarray, tables: PairTables, split: Split) -> tuple[np.ndarray, ...]:
    """Cut W and H into blocks and scale their columns; an empty column becomes the variable's marginal."""
    cardinalities = tables.domain.cardinalities
    factors: dict[int, np.ndarray] = {}
    for side, stack in ((split.first, W), (split.second, H)):
        ends = np.cumsum([cardinalities[n] for n in side])[:-1]
        for n, block in zip(side, np.split(stack, ends), strict=True):
            sums = block.sum(axis=0)
            held = sums > _NOTHING * stack.sum(axis=0)
            factors[n] = np.where(held, block / np.where(held, sums, 1.0), tables.marginal(n)[:, None])
    return tuple(factors[n] for n in range(len(cardinalities)))
