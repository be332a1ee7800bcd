"""How far shares that are seen lie from those of a model, and how far chance alone would put them.

The distance of two tables p̂ and p is their total variation, ½ Σ |p̂ − p|. For n rows drawn from p it is on average

    ½ Σ min(√(2 p (1 − p) / (π n)), 2 p (1 − p))

where the first is the mean distance of a normal variable, and the second bounds that of cells which hardly any row is
in. A model that was fitted to the same rows lies nearer than that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.answers.posterior import CPD
from juror.answers.tables import marginal
from juror.statistics.groups import pairs_of


def distance(counts: np.ndarray, p: np.ndarray) -> float:
    """Return the total variation ½ Σ |counts / n − p| of counts and probabilities of one shape.

    >>> distance(np.array([3.0, 1.0]), np.array([0.5, 0.5]))
    0.25
    """
    return float(np.abs(counts / counts.sum() - p).sum() / 2)


def noise(p: np.ndarray, n: float) -> float:
    """Return what the distance of n rows drawn from probabilities p, of any shape, is on average.

    >>> round(noise(np.array([0.5, 0.5]), 100), 4)
    0.0399
    """
    # rounding may put a sure label above one
    variance = np.maximum(p * (1 - p), 0.0)
    return float(np.minimum(np.sqrt(2 * variance / (np.pi * n)), 2 * variance).sum() / 2)


def _gap(counts: np.ndarray, p: np.ndarray) -> dict[str, float | None]:
    """Return the distance of counts and probabilities, and of noise; None of both where nothing is counted."""
    n = float(counts.sum())
    if n == 0:
        return {"n": n, "distance": None, "noise": None}
    return {"n": n, "distance": distance(counts, p), "noise": noise(p, n)}


def marginal_gaps(cpd: CPD, tables: Sequence[np.ndarray]) -> list[dict[str, Any]]:
    """Return for every variable its counts and its fitted marginal, and the distance of both beside that of noise.

    Parameters
    ----------
    cpd : CPD
        The distribution.
    tables : sequence of numpy.ndarray, (I_n,)
        One a variable: how often every label is seen.
    """
    found = []
    for n, (variable, counts) in enumerate(zip(cpd.domain, tables, strict=True)):
        fitted = marginal(cpd, [n])
        gap = _gap(counts, fitted)
        observed = (counts / counts.sum()).tolist() if gap["n"] else None
        shares = {"observed": observed, "fitted": fitted.tolist()}
        found.append({"variable": variable.name, **gap, "counts": as_counts(counts), **shares})
    return found


def pair_gaps(cpd: CPD, tables: Sequence[np.ndarray], max_cells: int) -> dict[str, Any]:
    """Return for every pair seen together its distance from the fitted table beside that of noise, worst first.

    Parameters
    ----------
    cpd : CPD
        The distribution.
    tables : sequence of numpy.ndarray, (I_j, I_k)
        One a pair, in the order of pairs: how often every two labels are seen together.
    max_cells : int
        How many cells of these tables to give, those of the worst pairs first.
    """
    names, unseen = cpd.domain.names, 0
    pairs: list[tuple[dict[str, Any], np.ndarray]] = []
    for (j, k), counts in zip(pairs_of(len(names)), tables, strict=True):
        if not counts.any():
            unseen += 1
            continue
        pairs.append(({"variables": [names[j], names[k]], **_gap(counts, marginal(cpd, [j, k]))}, counts))
    pairs.sort(key=lambda pair: pair[0]["noise"] - pair[0]["distance"])
    left, without = max_cells, 0
    for pair, counts in pairs:
        if counts.size > left:
            without += 1
            pair["counts"] = None
        else:
            left -= counts.size
            pair["counts"] = as_counts(counts)
    found = [pair for pair, _ in pairs]
    return {"pairs": found, "n_pairs_without_table": without, "n_pairs_never_seen_together": unseen}


def as_counts(counts: np.ndarray) -> list[Any]:
    """Return counts as nested lists, of whole numbers where all are whole, which take less room when written.

    >>> as_counts(np.array([2.0, 0.0])), as_counts(np.array([0.5, 2.0]))
    ([2, 0], [0.5, 2.0])
    """
    whole = np.array_equal(counts, np.floor(counts)) and float(counts.max(initial=0.0)) <= 2**53
    nested: list[Any] = (counts.astype(np.int64) if whole else counts).tolist()
    return nested
