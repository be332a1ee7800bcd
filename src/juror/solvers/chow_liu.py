"""Which variables depend on each other most: forests from pair counts, after Chow and Liu (1968).

An edge j → k is worth what it gains for rows that are left out. A row that shows a and b is predicted by the counts of
all others, once with the edge and once without:

    Σ_ab p[a, b] log (q[b | a] / m[b]),    q[b | a] = (n[a, b] − 1 + α I_k m[b]) / (n[a] − 1 + α I_k),

where n are the counts of the rows that show both variables, and p their shares. m[b] is the share of b, smoothed by α
rows for each of the I_k labels that occur, and α is the smoothing of a tree. The mean of j → k and k → j is symmetric,
so the best forest is one of the largest sum. An edge that gains nothing is left out, so a tree may fall apart into a
forest. Mutual information is what an edge gains for the counted rows themselves: rare labels make it larger, even if
they are independent of the other variable.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from juror.counts.counts import PairCounts
from juror.rows.forest import NO_PARENT, Forest

# Tables of one shape that are worked on at once, in cells
_CELLS_AT_ONCE = 1 << 22
# The smoothing of trees, α. Forests of ten tables were the same, or as good, with anything from 0.03 to 0.3.
SMOOTHING = 0.1


def edge_gains(counts: PairCounts) -> np.ndarray:
    """Return what an edge between every two variables gains, (N, N), in nats a row; zero on the diagonal.

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
            found[j, k] = found[k, j] = gain_left_out(np.stack([counts.tables[number] for number in some]))
    return found


def gain_left_out(tables: np.ndarray) -> np.ndarray:
    """Return what an edge gains for rows that are left out of tables of counts (n, I, J), (n,); zero for empty ones.

    >>> gain_left_out(np.array([[[50, 0], [0, 50]], [[25, 25], [25, 25]]])).round(3).tolist()
    [0.701, -0.01]
    """
    totals = tables.sum(axis=(1, 2))
    gains = (_gain_of_parents(tables) + _gain_of_parents(tables.swapaxes(1, 2))) / 2
    return np.asarray(gains / np.where(totals > 0, totals, 1.0))


def _gain_of_parents(tables: np.ndarray) -> np.ndarray:
    """Return Σ_ab n[a, b] log (q[b | a] / m[b]) of tables (n, I, J), with the row itself left out of both, (n,)."""
    rows, columns = tables.sum(axis=2, keepdims=True), tables.sum(axis=1, keepdims=True)
    totals = rows.sum(axis=1, keepdims=True)
    drawn = SMOOTHING * np.count_nonzero(columns, axis=2, keepdims=True)
    left = (np.maximum(each - 1.0, 0.0) for each in (tables, rows, columns, totals))
    of_both, of_rows, of_columns, of_all = left
    with np.errstate(divide="ignore", invalid="ignore"):
        once = (of_columns + SMOOTHING) / (of_all + drawn)
        ratio = (of_both / once + drawn) / (of_rows + drawn)
    return np.asarray(np.sum(tables * np.log(np.where(tables > 0, ratio, 1.0)), axis=(1, 2)))


def strongest_forest(gains: np.ndarray) -> Forest:
    """Return the forest whose edges have the largest sum, none of zero or less; of equal edges the first.

    Each tree grows from its first variable by the strongest edge to a variable outside it (Prim), so its edges point
    away from that variable.

    Parameters
    ----------
    gains : numpy.ndarray, (N, N)
        What every edge gains; symmetric.

    Examples
    --------
    >>> strongest_forest(np.array([[0, 3, 2, -1], [3, 0, 1, -1], [2, 1, 0, -1], [-1, -1, -1, 0]])).parents
    (-1, 0, 0, -1)
    """
    n = len(gains)
    parents = np.full(n, NO_PARENT)
    strength = np.zeros(n)
    outside = np.ones(n, dtype=bool)
    for _ in range(n):
        # All at zero: no edge leads out of the trees so far, and the first variable outside begins another.
        node = int(np.argmax(np.where(outside, strength, -1.0)))
        outside[node] = False
        nearer = outside & (gains[node] > strength)
        strength[nearer], parents[nearer] = gains[node][nearer], node
    return Forest(tuple(parents.tolist()))


def perturbed(gains: np.ndarray, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Return gains times exp(noise · g), (N, N), with g drawn from Gumbel's law for every two variables."""
    upper = np.triu(rng.gumbel(size=gains.shape), k=1)
    return np.asarray(gains * np.exp(noise * (upper + upper.T)))


def edge_counts(counts: PairCounts, edges: Iterable[tuple[int, int]]) -> dict[tuple[int, int], np.ndarray]:
    """Return the counts of every edge (parent, child), (I_pa, I_n)."""
    of_pair = dict(zip(counts.groups, counts.tables, strict=True))
    return {(a, b): of_pair[a, b] if a < b else of_pair[b, a].T for a, b in edges}
