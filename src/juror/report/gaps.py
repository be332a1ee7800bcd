"""How far observed shares are from those of a model, and how far they would be by chance alone.

The distance of two tables p̂ and p is their total variation, ½ Σ |p̂ − p|. For n rows drawn from p its mean is about

    ½ Σ min(√(2 p (1 − p) / (π n)), 2 p (1 − p))

The first term is the mean distance of a normal variable. The second is a bound for cells with hardly any rows. A model
that was fitted to the same rows usually has a smaller distance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.calibration import mean_distance
from juror.answers.marginals import marginal
from juror.answers.pair_questions import adjust
from juror.answers.pairs import pair_tables
from juror.counts.counts import PairCounts


def distance(counts: np.ndarray, p: np.ndarray) -> float:
    """Return the total variation ½ Σ |counts / n − p| of counts and probabilities of the same shape.

    >>> distance(np.array([3.0, 1.0]), np.array([0.5, 0.5]))
    0.25
    """
    return float(np.abs(counts / counts.sum() - p).sum() / 2)


def noise(p: np.ndarray, n: float) -> float:
    """Return the mean distance of n rows drawn from probabilities p, of any shape.

    >>> round(noise(np.array([0.5, 0.5]), 100), 4)
    0.0399
    """
    # Rounding may lift a probability above one.
    variance = np.maximum(p * (1 - p), 0.0)
    return float(mean_distance(n * variance).sum() / (2 * n))


def _gap(counts: np.ndarray, p: np.ndarray) -> dict[str, Any]:
    """Return the distance of counts and probabilities, and the mean distance of noise; None if nothing is counted."""
    n = float(counts.sum())
    if n == 0:
        return {"n": n, "distance": None, "noise": None}
    return {"n": n, "distance": distance(counts, p), "noise": noise(p, n)}


def marginal_gaps(model: Mixture, tables: Sequence[np.ndarray]) -> list[dict[str, Any]]:
    """Return for every variable its counts, its fitted marginal, their distance, and the distance expected by chance.

    Parameters
    ----------
    model : Mixture
        The distribution.
    tables : sequence of numpy.ndarray, (I_n,)
        The counts of every variable's labels.
    """
    found = []
    for n, (variable, counts) in enumerate(zip(model.domain, tables, strict=True)):
        fitted = marginal(model, [n])
        gap = _gap(counts, fitted)
        observed = (counts / counts.sum()).tolist() if gap["n"] else None
        shares = {"observed": observed, "fitted": fitted.tolist()}
        found.append({"variable": variable.name, **gap, "counts": as_counts(counts), **shares})
    return found


def pair_gaps(model: Mixture, counts: PairCounts) -> list[dict[str, Any]]:
    """Return for every pair seen together its distance from the fitted table and that of noise, the worst first.

    Rows that show both variables may differ from all rows, and a difference that missing cells explain is not an error
    of the model. So if some rows do not show both and the distance is more than noise, the fitted table is first
    adjusted to the margins of the rows that do, and ``is_adjusted`` is true.
    """
    names, pairs = model.domain.names, []
    total = np.inf if counts.n_rows is None else counts.n_rows
    for (a, b, fitted), table in zip(pair_tables(model), counts.tables, strict=True):
        if not table.any():
            continue
        gap = _gap(table, fitted)
        is_adjusted = gap["distance"] > gap["noise"] and not math.isclose(gap["n"], total, rel_tol=1e-12)
        if is_adjusted:
            gap = _gap(table, adjust(fitted, table) / gap["n"])
        pairs.append({"variables": [names[a], names[b]], **gap, "is_adjusted": is_adjusted})
    return sorted(pairs, key=lambda pair: pair["noise"] - pair["distance"])


def as_counts(counts: np.ndarray) -> list[Any]:
    """Return counts as nested lists; as integers if all are, which are shorter in JSON.

    >>> as_counts(np.array([2.0, 0.0])), as_counts(np.array([0.5, 2.0]))
    ([2, 0], [0.5, 2.0])
    """
    whole = np.array_equal(counts, np.floor(counts)) and float(counts.max(initial=0.0)) <= 2**53
    nested: list[Any] = (counts.astype(np.int64) if whole else counts).tolist()
    return nested
