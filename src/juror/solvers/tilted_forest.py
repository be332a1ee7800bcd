"""A model of some variables, tilted by the scores of a target, is a model of all: classes that share the same forest.

A class g of p(x) with forest tables A_n[x_pa, x_n] times e^{s_f(x)} with s_f(x) = b_f + Σ_n U_n[x_n] is again a product
along the forest. From the leaves up, with the messages M of the children c of a node,

    B_n[x_pa, x_n] = A_n[x_pa, x_n] e^{U_n[x_n] + V_n[x_pa, x_n]} Π_c M_c[x_n],     M_n[x_pa] = Σ_{x_n} B_n[x_pa, x_n],

where V are scores of pairs, if there are any. The tables are B_n / M_n, and the class has the weight λ_g e^{b_f} times
the messages of all roots. So G classes and a tilt of F classes make G · F classes, each of one label of the target,
which has no parent and no children. Pairs with scores are edges of the forest; classes without edges take the forest of
the pairs.
"""

from __future__ import annotations

import numpy as np

from juror.domain import Domain
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.solvers.tilt import Tilt, scored_along


def tilted(parameters: Parameters, tilt: Tilt, domain: Domain, target: int) -> Parameters:
    """Return the tilted model over all variables of a domain, of rank G · F, from one without the target."""
    others = [n for n in range(len(domain)) if n != target]
    sizes = tuple(domain.cardinalities[n] for n in others)
    has_own = parameters.forest is not None and parameters.forest.has_edges
    along = parameters.forest if has_own or tilt.forest is None else tilt.forest
    forest = along or Forest.empty(len(others))
    tables = Stacking(sizes, parameters.forest).tables(parameters.stack)
    scores = _scores_by_parent(tilt, sizes)
    log_weights = np.log(np.maximum(parameters.lam, np.finfo(float).tiny))[:, None] + tilt.offsets
    found: dict[int, np.ndarray] = {}
    log_messages: dict[int, np.ndarray] = {}
    for node in reversed(forest.order):
        log_x = scores[node][:, :, None, :] + sum(log_messages[child] for child in forest.children[node])
        found[node], log_messages[node] = _tilted_table(tables[node], log_x)
        if forest.parents[node] == NO_PARENT:
            log_weights = log_weights + log_messages[node][0]
    rank = log_weights.size
    label = np.repeat(np.eye(tilt.n_labels), len(tilt.offsets) // tilt.n_labels, axis=1)
    found_all = {others[node]: table.reshape(*table.shape[:2], rank) for node, table in found.items()}
    found_all[target] = np.tile(label, (1, len(parameters.lam)))[None]
    whole = None if along is None else _among_all(along, others, len(domain))
    lam = np.exp(log_weights - log_weights.max()).ravel()
    stack = Stacking(domain.cardinalities, whole).stack([found_all[n] for n in range(len(domain))])
    return Parameters(lam / lam.sum(), stack, whole)


def _scores_by_parent(tilt: Tilt, sizes: tuple[int, ...]) -> list[np.ndarray]:
    """Return the scores of every variable, (I_pa or 1, I_n, F), those of its pair with its parent among them."""
    alone_and_pairs = scored_along(sizes, tilt.forest).unstack(tilt.scores)
    scores = [alone[None] for alone in alone_and_pairs[: len(sizes)]]
    edges = () if tilt.forest is None else tilt.forest.edges
    for (parent, child), pair in zip(edges, alone_and_pairs[len(sizes) :], strict=True):
        scores[child] = scores[child] + pair.reshape(sizes[parent], sizes[child], -1)
    return scores


def _tilted_table(table: np.ndarray, log_x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return B / M, (I_pa, I, G, F), and log M, (I_pa, G, F), from A (I_pa, I, G) and log-scores (I_pa, I, G, F).

    Either may have one I_pa, for all labels of a parent alike.
    """
    top = log_x.max(axis=1, keepdims=True)
    B = table[:, :, :, None] * np.exp(log_x - top)
    M = B.sum(axis=1)
    # All labels that are probable under a parent's label may have scores far below the best one's.
    lost = M <= 0.0
    shares = np.divide(B, M[:, None], out=np.broadcast_to(table[..., None], B.shape).copy(), where=~lost[:, None])
    return shares, np.log(np.where(lost, np.finfo(float).tiny, M)) + top[:, 0]


def _among_all(forest: Forest, others: list[int], n: int) -> Forest:
    """Number the nodes of a forest as the variables of the whole domain are."""
    parents = [NO_PARENT] * n
    for node, parent in enumerate(forest.parents):
        if parent != NO_PARENT:
            parents[others[node]] = others[parent]
    return Forest(tuple(parents))
