"""Which variables depend on each other most: forests from pair counts, after Chow and Liu (1968).

The edges of the best tree are those of largest mutual information in all,

    Σ_ab p_jk[a, b] log (p_jk[a, b] / (p_j[a] p_k[b])) − (I_j − 1)(I_k − 1) / 2n,

where p_jk is the share of each combination among the n rows that show both variables, I_j and I_k are the numbers of
labels that these rows show, and the last term is what independent variables would have by chance. An edge that has no
more than that is left out, so a tree may fall apart into a forest.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juror.counts.counts import PairCounts
from juror.rows.forest import NO_PARENT, Forest

# Tables of one shape that are worked on at once, in cells
_CELLS_AT_ONCE = 1 << 22


def information(counts: PairCounts) -> np.ndarray:
    """Return the mutual information of every two variables less that by chance, (N, N), in nats; zero on the diagonal.

    It is zero for variables that no row shows together.
    """
    n = len(counts.domain)
    found = np.zeros((n, n))
    by_shape: dict[tuple[int, ...], list[int]] = {}
    for number, table in enumerate(counts.tables):
        by_shape.setdefault(table.shape, []).append(number)
    for shape, numbers in by_shape.items():
        step = max(1, _CELLS_AT_ONCE // (shape[0] * shape[1]))
        for first in range(0, len(numbers), step):
            some = numbers[first : first + step]
            j, k = np.array([counts.groups[number] for number in some]).T
            found[j, k] = found[k, j] = beyond_chance(np.stack([counts.tables[number] for number in some]))
    return found


def beyond_chance(tables: np.ndarray) -> np.ndarray:
    """Return the mutual information less that by chance of tables of counts (n, I, J), (n,); zero for empty ones.

    >>> beyond_chance(np.array([[[50, 0], [0, 50]], [[25, 25], [25, 25]]])).round(3).tolist()
    [0.688, -0.005]
    """
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    totals = rows.sum(axis=1)
    n = np.where(totals > 0, totals, 1.0)
    sums = _n_log_n(tables.reshape(len(tables), -1)) - _n_log_n(rows) - _n_log_n(columns) + _n_log_n(totals[:, None])
    chance = (np.sum(rows > 0, axis=1) - 1) * (np.sum(columns > 0, axis=1) - 1) / 2
    return np.where(totals > 0, (sums - chance) / n, 0.0)


def _n_log_n(counts: np.ndarray) -> np.ndarray:
    """Return Σ n log n along the last axis."""
    return np.asarray(np.sum(counts * np.log(np.where(counts > 0, counts, 1.0)), axis=-1))


def strongest_forest(information: np.ndarray) -> Forest:
    """Return the forest whose edges have the largest sum, none of zero or less; of equal edges the first.

    Each tree grows from its first variable by the strongest edge to a variable outside it (Prim), so its edges point
    away from that variable.

    Parameters
    ----------
    information : numpy.ndarray, (N, N)
        Symmetric.

    Examples
    --------
    >>> strongest_forest(np.array([[0, 3, 2, -1], [3, 0, 1, -1], [2, 1, 0, -1], [-1, -1, -1, 0]])).parents
    (-1, 0, 0, -1)
    """
    n = len(information)
    parents = np.full(n, NO_PARENT)
    strength = np.zeros(n)
    outside = np.ones(n, dtype=bool)
    for _ in range(n):
        # All at zero: no edge leads out of the trees so far, and the first variable outside begins another.
        node = int(np.argmax(np.where(outside, strength, -1.0)))
        outside[node] = False
        nearer = outside & (information[node] > strength)
        strength[nearer], parents[nearer] = information[node][nearer], node
    return Forest(tuple(parents.tolist()))


def perturbed(information: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return the information times exp(noise · g), (N, N), with g drawn from Gumbel's law for every two variables."""
    upper = np.triu(rng.gumbel(size=information.shape), k=1)
    return np.asarray(information * np.exp(noise * (upper + upper.T)))


def edge_counts(counts: PairCounts, edges: Iterable[tuple[int, int]]) -> dict[tuple[int, int], np.ndarray]:
    """Return the counts of every edge (parent, child), (I_pa, I_n)."""
    of_pair = dict(zip(counts.groups, counts.tables, strict=True))
    return {(a, b): of_pair[a, b] if a < b else of_pair[b, a].T for a, b in edges}
