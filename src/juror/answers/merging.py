"""Merge similar classes of a model: group them by their divergence, and replace each group by its weighted mean.

For class profiles A_f = (A_1[:, f], …, A_N[:, f]) with weights λ_f, and groups g with profiles B_g,

    μ_g = Σ_{f in g} λ_f,     B_g = Σ_{f in g} λ_f A_f / μ_g,     D(p‖q) ≤ Σ_f λ_f Σ_n D(A_n[:, f] ‖ B_n[:, g(f)])

The bound is lowered as in k-means, by alternating between groups and means, from several initialisations. One-way
marginals do not change, and what is possible in a class is possible in its group.

In a forest the profile of a class is made of joint distributions of each variable with its parent. Their means are
divided by those of the parent's label to give the tables of a group. The divergences above are those of tables given
the parent's label, weighted by its probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.answers.block import NO_PARENT, BareMixture, Block
from juror.answers.marginals import marginal
from juror.answers.messages import node_marginals
from juror.domain import Domain
from juror.kernels.logarithms import log_of
from juror.kernels.random_streams import Stream
from juror.rows.forest import Forest

# The number of initialisations, and the maximum number of rounds from each.
_N_SEEDINGS, _ROUNDS = 6, 50
# Smaller probabilities are raised to this in distances, so that a group without a label of a class is at a finite
# distance.
_FLOOR = 1e-300
# Distances in memory at once: 80 MB.
_DISTANCES_AT_ONCE = 10_000_000


def merge(block: Block, rank: int, seed: int) -> Block:
    """Merge classes of a block, of which more than ``rank`` have a weight above zero; the new weights sum to one.

    Examples
    --------
    >>> block = Block.of_factors(np.array([0.5, 0.2, 0.3]), [np.array([[0.9, 0.1, 0.2], [0.1, 0.9, 0.8]])])
    >>> merged = merge(block, 2, seed=0)
    >>> merged.weights.tolist(), merged.factors[0].round(2).tolist()
    ([0.5, 0.5], [[0.9, 0.16], [0.1, 0.84]])
    """
    held = block.weights > 0
    lam, profiles = block.weights[held], _Profiles.of(block.classes(held))
    # The first initialisation takes the farthest class each time, which handles copies well; the others are random.
    generators = [None, *(Stream.MERGING.generator(seed, rank, number) for number in range(1, _N_SEEDINGS))]
    found = [_group(lam, profiles, _seeds(lam, profiles, rank, rng)) for rng in generators]
    group, _ = min(found, key=lambda pair: pair[1])
    mu, B = _means(lam, profiles.joint, group)
    return replace(block, weights=mu / mu.sum(), tables=profiles.tables(B))


def nearest_trees(blocks: Sequence[Block], kept: Sequence[int], domain: Domain) -> tuple[Block, ...]:
    """Return one class for some of the blocks, each nearest to its block and an equal part of the blocks left out.

    The class with the smallest divergence from a mixture, among those with a given forest, has the mixture's pairs of
    variables and parents. It leaves nothing impossible. Hidden nodes are left out; their children become roots.
    """
    rest = [block.scaled(1.0 / len(kept)) for n, block in enumerate(blocks) if n not in kept]
    total = sum(float(block.weights.sum()) for block in blocks)
    found = []
    for block in (blocks[n] for n in kept):
        around = BareMixture((block, *rest), domain)
        share = sum(float(part.weights.sum()) for part in around.blocks)
        parents = [parent if parent < len(domain) else NO_PARENT for parent in block.forest.parents[: len(domain)]]
        tables = []
        for n, parent in enumerate(parents):
            pair = marginal(around, [n])[None] if parent == NO_PARENT else marginal(around, [parent, n])
            tables.append(_columns(pair[:, :, None]))
        found.append(Block(np.array([share / total]), Forest(tuple(parents)), tuple(tables)))
    return tuple(found)


def _columns(counts: np.ndarray) -> np.ndarray:
    """Divide joint counts (I_pa or 1, I_n, F) by their sums over labels; uniform where a parent's label has none."""
    totals = counts.sum(axis=1, keepdims=True)
    return np.divide(counts, totals, out=np.full(counts.shape, 1.0 / counts.shape[1]), where=totals > 0)


def joint_tables(block: Block) -> list[np.ndarray]:
    """Return P(x_pa, x_n | f) of every node, (I_pa or 1, I_n, F) each; without a parent, its table."""
    shares = node_marginals(block)
    return [
        table if parent == NO_PARENT else shares[parent][:, None] * table
        for table, parent in zip(block.tables, block.forest.parents, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Profiles:
    """The profiles of all classes of a block.

    Attributes
    ----------
    joint : numpy.ndarray, (R, Σ I_pa I_n)
        Joint distributions of variables with their parents.
    own : numpy.ndarray, (R,)
        Σ joint log table.
    shapes : tuple of (I_pa or 1, I_n)
        The tables of a profile.
    """

    joint: np.ndarray
    own: np.ndarray
    shapes: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, block: Block) -> _Profiles:
        """Compute the profiles of a block."""
        joint = np.concatenate([table.reshape(-1, block.rank) for table in joint_tables(block)])
        given = np.concatenate([table.reshape(-1, block.rank) for table in block.tables])
        A = np.ascontiguousarray(joint.T)
        logs = _log(A) if not block.has_edges else np.ascontiguousarray(_log(given).T)
        return cls(A, np.einsum("fx,fx->f", A, logs), tuple(table.shape[:2] for table in block.tables))

    def tables(self, joint: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return the tables (I_pa or 1, I_n, r) of joint profiles (r, Σ I_pa I_n)."""
        ends = np.cumsum([above * size for above, size in self.shapes])[:-1]
        parts = zip(np.split(joint.T, ends), self.shapes, strict=True)
        return tuple(_columns(part.reshape(*shape, -1)) for part, shape in parts)

    def logs(self, joint: np.ndarray) -> np.ndarray:
        """Return the logarithms of the tables of joint profiles, (r, Σ I_pa I_n)."""
        if all(above == 1 for above, _ in self.shapes):
            return _log(joint)
        return _log(np.concatenate([table.reshape(-1, len(joint)) for table in self.tables(joint)]).T)


def _log(probabilities: np.ndarray) -> np.ndarray:
    return log_of(np.maximum(probabilities, _FLOOR))


def _seeds(lam: np.ndarray, profiles: _Profiles, rank: int, rng: np.random.Generator | None) -> np.ndarray:
    """Choose the first means by λ_f D(A_f ‖ nearest chosen): the largest, or at random in proportion (k-means++)."""
    near = np.full(len(lam), np.inf)
    free = lam.copy()
    share = lam
    seeds: list[int] = []
    for _ in range(rank):
        chosen = int(share.argmax()) if rng is None else int(rng.choice(len(lam), p=share / share.sum()))
        seeds.append(chosen)
        free[chosen] = 0.0
        log_table = profiles.logs(profiles.joint[chosen : chosen + 1])[0]
        near = np.minimum(near, np.maximum(profiles.own - profiles.joint @ log_table, 0.0))
        # If all others are copies of chosen classes, take the heaviest.
        share = free * near if np.any(free * near > 0) else free
    return np.array(seeds)


def _group(lam: np.ndarray, profiles: _Profiles, seeds: np.ndarray) -> tuple[np.ndarray, float]:
    """Alternate between groups and means; return the group of every class, (R,), and the bound."""
    B = profiles.joint[seeds]
    before = None
    for _ in range(_ROUNDS):
        group, distance = _nearest(profiles, B)
        bound = float(lam @ distance)
        _fill_empty(group, lam * distance, len(seeds))
        if before is not None and np.array_equal(group, before):
            break
        before = group
        B = _means(lam, profiles.joint, group)[1]
    return group, bound


def _nearest(profiles: _Profiles, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the nearest mean of every class and its distance, Σ A log A − Σ A log B."""
    A, own, log_B = profiles.joint, profiles.own, profiles.logs(B).T
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
