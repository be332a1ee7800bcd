"""The most probable row, by branch and bound.

A node fixes the labels of some variables. With λ_f(node) the class weights times the factors fixed so far, no
completion can have more probability than

    Σ_f λ_f(node) Π_{n open} max_x A_n[x, f]

where every class completes the row in its own best way. Nodes are opened in the order of this bound. When no remaining
bound exceeds the best row found, that row is the mode. Forests are searched in :mod:`juror.answers.forest_mode`.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from juror.answers.block import Block, Mixture, edgeless
from juror.answers.forest_mode import search_forests
from juror.answers.open_nodes import kept_nodes, most_nodes
from juror.domain.variable import Label
from juror.kernels.logarithms import log_of, log_sum_exp

# Rows whose log-probabilities differ by less than this are equal up to rounding.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Mode:
    """The most probable row.

    Attributes
    ----------
    row : dict
        A label for every variable.
    log_prob : float
        The row's log-probability, given the evidence if there is any.
    proved : bool
        Whether no other row is more probable. If False, the search reached its node limit.
    log_bound : float
        No row has a log-probability above this.
    """

    row: dict[str, Label]
    log_prob: float
    proved: bool
    log_bound: float


def find_mode(model: Mixture, max_nodes: int) -> Mode:
    """Find the most probable row, opening at most ``max_nodes`` nodes."""
    flat = edgeless(model)
    if flat is None:
        codes, value, log_bound = search_forests(model, max_nodes, ROUNDING)
    else:
        codes, value, log_bound = _search(flat, max_nodes)
    row = {variable.name: variable.labels[code] for variable, code in zip(model.domain, codes, strict=True)}
    return Mode(row, value, log_bound <= value + ROUNDING, log_bound)


def _search(block: Block, max_nodes: int) -> tuple[np.ndarray, float, float]:
    """Return the codes of the best row of a block without edges, its log-probability, and the bound for all rows."""
    log_factors = [log_of(factor) for factor in block.factors]
    order = _most_telling_first(block)
    # Row d: log of the product of the maxima of the variables that are not fixed yet when the first d are, (N + 1, F)
    best_rest = np.zeros((len(order) + 1, len(block.weights)))
    for d in range(len(order) - 1, -1, -1):
        best_rest[d] = best_rest[d + 1] + log_factors[order[d]].max(axis=0)
    best = _climb_from_classes(block, log_factors)
    log_classes = log_of(block.weights)
    ties = count()
    # Nodes: minus the bound, a number that breaks ties, and the labels fixed so far
    heap: list[tuple[float, int, tuple[int, ...]]] = [(-float(log_sum_exp(log_classes + best_rest[0])), next(ties), ())]
    most, dropped = most_nodes(8 * len(order)), -np.inf
    for _ in range(max_nodes):
        heap, dropped = kept_nodes(heap, most, dropped)
        if not heap or -heap[0][0] <= best[1] + ROUNDING:
            return (*best, max(best[1], dropped))
        _, _, fixed = heapq.heappop(heap)
        depth = len(fixed)
        # Recomputed from the labels: stored with every node, it would fill the memory at high rank.
        so_far = log_classes + sum(log_factors[n][code] for n, code in zip(order, fixed, strict=False))
        children = so_far + log_factors[order[depth]]
        bounds = log_sum_exp(children + best_rest[depth + 1])
        for code in np.flatnonzero(bounds > best[1]):
            codes = (*fixed, int(code))
            if depth + 1 == len(order):
                row = np.empty(len(order), dtype=np.int64)
                row[order] = codes
                best = max(best, (row, float(bounds[code])), key=lambda found: found[1])
            else:
                heapq.heappush(heap, (-float(bounds[code]), next(ties), codes))
    return (*best, max(best[1], dropped, -heap[0][0] if heap else -np.inf))


def _most_telling_first(block: Block) -> np.ndarray:
    """Order variables by how much fixing each alone lowers the bound, largest reduction first."""
    tops = np.stack([factor.max(axis=0) for factor in block.factors])
    shared = np.array([(factor * block.weights).sum(axis=1).max() for factor in block.factors])
    return np.argsort(shared / (tops @ block.weights), kind="stable")


def _climb_from_classes(block: Block, log_factors: list[np.ndarray]) -> tuple[np.ndarray, float]:
    """From the most probable row of each class, change one variable at a time while this helps; return the best."""
    heaviest = np.argsort(-block.weights, kind="stable")[:64]
    return max((_climb(block, log_factors, f) for f in heaviest), key=lambda found: found[1])


def _climb(block: Block, log_factors: list[np.ndarray], f: int) -> tuple[np.ndarray, float]:
    codes = np.array([int(factor[:, f].argmax()) for factor in block.factors])
    value = -np.inf
    while True:
        before = value
        # Variables before n have new labels already; variables after n still have old ones. Sums are rebuilt rather
        # than corrected by subtraction, which would fail with −inf.
        after = np.zeros((len(codes) + 1, len(block.weights)))
        for n in range(len(codes) - 1, -1, -1):
            after[n] = after[n + 1] + log_factors[n][codes[n]]
        log_classes = log_of(block.weights)
        for n, log_factor in enumerate(log_factors):
            values = log_sum_exp(log_classes + after[n + 1] + log_factor)
            codes[n] = int(values.argmax())
            value = float(values[codes[n]])
            log_classes = log_classes + log_factor[codes[n]]
        if value <= before + ROUNDING:
            return codes, value
