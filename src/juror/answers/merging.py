"""Merge similar classes of a model: group them by their divergence, and replace each group by its weighted mean.

For class profiles A_f = (A_1[:, f], …, A_N[:, f]) with weights λ_f, and groups g with profiles B_g,

    μ_g = Σ_{f in g} λ_f,     B_g = Σ_{f in g} λ_f A_f / μ_g,     D(p‖q) ≤ Σ_f λ_f Σ_n D(A_n[:, f] ‖ B_n[:, g(f)])

The bound is lowered as in k-means, by alternating between groups and means, from several initialisations. One-way
marginals do not change, and what is possible in a class is possible in its group.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from juror.kernels.logarithms import log_of
from juror.kernels.random_streams import Stream

# The number of initialisations, and the maximum number of rounds from each.
_N_SEEDINGS, _ROUNDS = 6, 50
# Smaller probabilities are raised to this in distances, so that a group without a label of a class is at a finite
# distance.
_FLOOR = 1e-300
# Distances in memory at once: 80 MB.
_DISTANCES_AT_ONCE = 10_000_000


def merge(
    weights: np.ndarray, factors: Sequence[np.ndarray], rank: int, seed: int
) -> tuple[np.ndarray, tuple[np.ndarray, ...]]:
    """Merge classes of λ (R,), of which more than ``rank`` are above zero, and A_n (I_n, R); return μ (r,) and B_n.

    Examples
    --------
    >>> mu, factors = merge(np.array([0.5, 0.2, 0.3]), [np.array([[0.9, 0.1, 0.2], [0.1, 0.9, 0.8]])], 2, seed=0)
    >>> mu.tolist(), factors[0].round(2).tolist()
    ([0.5, 0.5], [[0.9, 0.16], [0.1, 0.84]])
    """
    held = weights > 0
    lam, A = weights[held], np.ascontiguousarray(np.concatenate(factors)[:, held].T)
    own = np.einsum("fx,fx->f", A, _log(A))
    # The first initialisation takes the farthest class each time, which handles copies well; the others are random.
    generators = [None, *(Stream.MERGING.generator(seed, rank, number) for number in range(1, _N_SEEDINGS))]
    found = [_group(lam, A, own, _seeds(lam, A, own, rank, rng)) for rng in generators]
    group, _ = min(found, key=lambda pair: pair[1])
    mu, B = _means(lam, A, group)
    ends = np.cumsum([len(factor) for factor in factors])[:-1]
    blocks = np.split(B.T, ends)
    return mu / mu.sum(), tuple(block / block.sum(axis=0) for block in blocks)


def _log(probabilities: np.ndarray) -> np.ndarray:
    return log_of(np.maximum(probabilities, _FLOOR))


def _seeds(lam: np.ndarray, A: np.ndarray, own: np.ndarray, rank: int, rng: np.random.Generator | None) -> np.ndarray:
    """Choose the first means by λ_f D(A_f ‖ nearest chosen): the largest, or at random in proportion (k-means++)."""
    near = np.full(len(lam), np.inf)
    free = lam.copy()
    share = lam
    seeds: list[int] = []
    for _ in range(rank):
        chosen = int(share.argmax()) if rng is None else int(rng.choice(len(lam), p=share / share.sum()))
        seeds.append(chosen)
        free[chosen] = 0.0
        near = np.minimum(near, np.maximum(own - A @ _log(A[chosen]), 0.0))
        # If all others are copies of chosen classes, take the heaviest.
        share = free * near if np.any(free * near > 0) else free
    return np.array(seeds)


def _group(lam: np.ndarray, A: np.ndarray, own: np.ndarray, seeds: np.ndarray) -> tuple[np.ndarray, float]:
    """Alternate between groups and means; return the group of every class, (R,), and the bound."""
    B = A[seeds]
    before = None
    for _ in range(_ROUNDS):
        group, distance = _nearest(A, own, B)
        bound = float(lam @ distance)
        _fill_empty(group, lam * distance, len(seeds))
        if before is not None and np.array_equal(group, before):
            break
        before = group
        B = _means(lam, A, group)[1]
    return group, bound


def _nearest(A: np.ndarray, own: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest mean of every class and its distance, Σ A log A − Σ A log B."""
    log_B = _log(B).T
    group, distance = np.empty(len(A), dtype=np.int64), np.empty(len(A))
    size = max(1, _DISTANCES_AT_ONCE // len(B))
    for first in range(0, len(A), size):
        block = slice(first, first + size)
        distances = own[block, None] - A[block] @ log_B
        group[block] = distances.argmin(axis=1)
        distance[block] = distances.min(axis=1)
    return group, np.maximum(distance, 0.0)


def _fill_empty(group: np.ndarray, cost: np.ndarray, rank: int) -> None:
    """Move into every empty group, in place, the class with the highest cost that is not alone in its group."""
    size = np.bincount(group, minlength=rank)
    for empty in np.flatnonzero(size == 0):
        moved = int(np.where(size[group] > 1, cost, -1.0).argmax())
        size[group[moved]] -= 1
        size[empty] += 1
        group[moved], cost[moved] = empty, 0.0


def _means(lam: np.ndarray, A: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weights (r,) and mean profiles (r, Σ I_n) of non-empty groups."""
    order = np.argsort(group, kind="stable")
    firsts = np.flatnonzero(np.diff(group[order], prepend=-1))
    mu = np.add.reduceat(lam[order], firsts)
    share = lam[order] / mu[group[order]]
    return mu, np.add.reduceat(share[:, None] * A[order], firsts, axis=0)
