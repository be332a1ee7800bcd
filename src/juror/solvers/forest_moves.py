"""Draw a rooted forest whose probability is a product over its edges: Π exp(E[pa(n), n]).

A move takes a node and all nodes below it, a tree T, away from its parent, and draws two things at once: the node u of
T that becomes its root, and the node v outside T, or none, that becomes the parent of u. With R[u] what T weighs when
its root is u,

    P(u, v) ∝ exp(R[u] + E[v, u]),    P(u, none) ∝ exp(R[u]),    R[c] = R[u] − E[u, c] + E[c, u] for a child c of u

The tree T is found again from the new forest with the same probability, that of its root among all nodes. So the move
keeps the distribution.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from juror.rows.forest import NO_PARENT, Forest


def moved(forest: Forest, E: np.ndarray, nodes: np.ndarray, rng: np.random.Generator) -> Forest:
    """Return the forest after one move for each of some nodes, which were drawn independently.

    Parameters
    ----------
    forest : Forest
        Of N nodes.
    E : numpy.ndarray, (N, N)
        The log weight of every edge (parent, child) against no parent; −inf for those that may not be.
    nodes : numpy.ndarray of int
        Node after node whose tree is moved.
    rng : numpy.random.Generator
        Where random numbers come from.
    """
    parents = list(forest.parents)
    children = [list(below) for below in forest.children]
    for n, uniform in zip(nodes.tolist(), rng.random(len(nodes)).tolist(), strict=True):
        tree, weights = _tree(n, children, E)
        outside = np.ones(len(parents), dtype=bool)
        outside[tree] = False
        others = np.flatnonzero(outside)
        logs = np.empty((len(tree), len(others) + 1))
        logs[:, 0] = 0.0
        logs[:, 1:] = E[others[:, None], tree].T
        logs += np.array(weights)[:, None]
        ladder = np.cumsum(np.exp(logs - logs.max()))
        drawn = min(int(np.searchsorted(ladder, uniform * ladder[-1], side="right")), logs.size - 1)
        root, above = divmod(drawn, len(others) + 1)
        _reroot(parents, children, n, tree[root])
        if above > 0:
            parent = int(others[above - 1])
            parents[tree[root]] = parent
            children[parent].append(tree[root])
    return Forest(tuple(parents))


def _tree(n: int, children: list[list[int]], E: np.ndarray) -> tuple[list[int], list[float]]:
    """Return n and all nodes below it, and R of each."""
    tree, weights = [n], [0.0]
    for place, node in enumerate(tree):
        for child in children[node]:
            tree.append(child)
            weights.append(weights[place] - E[node, child] + E[child, node])
    return tree, weights


def _reroot(parents: list[int], children: list[list[int]], n: int, root: int) -> None:
    """Take the tree of n from its parent, and turn its edges away from another root."""
    path = [root]
    while path[-1] != n:
        path.append(parents[path[-1]])
    if parents[n] != NO_PARENT:
        children[parents[n]].remove(n)
    for below, above in pairwise(path):
        children[above].remove(below)
    for below, above in pairwise(path):
        parents[above] = below
        children[below].append(above)
    parents[root] = NO_PARENT
