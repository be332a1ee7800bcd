"""How far observed shares are from those of a model, and how far they would be by chance alone.

The distance of two tables p̂ and p is their total variation, ½ Σ |p̂ − p|. For n rows drawn from p its mean is about

    ½ Σ min(√(2 p (1 − p) / (π n)), 2 p (1 − p))

The first term is the mean distance of a normal variable. The second is a bound for cells with hardly any rows. A model
that was fitted to the same rows usually has a smaller distance.

A single cell of a pair's table, with o rows where e = n p are expected, deviates by the root of its Poisson deviance,

    d = ± √(2 (o log(o / e) − (o − e)))

This is about a standard normal variable, even for small e. The largest of M such cells is about √(2 log M) by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.answers.block import Mixture
from juror.answers.calibration import mean_distance
from juror.answers.marginals import marginal
from juror.answers.pairs import pair_tables
from juror.domain.variable import Variable
from juror.readers.columns import as_text
from juror.record import finite

# So that one pair with many wrong cells leaves room for others
_CELLS_A_PAIR = 2


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


def _gap(counts: np.ndarray, p: np.ndarray) -> dict[str, float | None]:
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


def pair_gaps(model: Mixture, tables: Sequence[np.ndarray], n_worst: int) -> dict[str, Any]:
    """Return for every pair seen together its distance from the fitted table and that of noise, and the worst cells.

    Pairs and cells are sorted, the worst first. There are at most two cells of a pair.

    Parameters
    ----------
    model : Mixture
        The distribution.
    tables : sequence of numpy.ndarray, (I_j, I_k)
        The counts of every pair, in the order of :func:`itertools.combinations`.
    n_worst : int
        How many single cells to give at most.
    """
    pairs: list[dict[str, Any]] = []
    cells: list[tuple[float, dict[str, Any]]] = []
    n_judged = 0
    for (first, second, fitted), counts in zip(pair_tables(model), tables, strict=True):
        if counts.any():
            a, b = model.domain[first], model.domain[second]
            pairs.append({"variables": [a.name, b.name], **_gap(counts, fitted)})
            cells += _worst_cells(a, b, counts, fitted)
            n_judged += counts.size
    pairs.sort(key=lambda pair: pair["noise"] - pair["distance"])
    cells.sort(key=lambda cell: -cell[0])
    return {
        "pairs": pairs,
        "cells": [cell for _, cell in cells[:n_worst]],
        "cells_by_chance": float(np.sqrt(2 * np.log(max(n_judged, 2)))),
    }


def _worst_cells(
    a: Variable, b: Variable, counts: np.ndarray, fitted: np.ndarray
) -> list[tuple[float, dict[str, Any]]]:
    """Return the cells of a pair that are furthest off, each with its size for sorting."""
    n = float(counts.sum())
    expected = n * fitted
    sizes = np.abs(deviance_roots(counts, expected))
    found = []
    for place in np.argsort(-sizes, axis=None, kind="stable")[:_CELLS_A_PAIR]:
        cell = i, j = np.unravel_index(place, counts.shape)
        size = float(sizes[cell])
        facts = {
            "variables": [a.name, b.name],
            "labels": [as_text(a.labels[i]), as_text(b.labels[j])],
            "n": n,
            "observed": float(counts[cell]),
            "expected": float(expected[cell]),
            # Infinite, and None in JSON, for a cell that is impossible under the model but was seen.
            "deviations": finite(size),
        }
        found.append((size, facts))
    return found


def deviance_roots(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return ± √(2 (o log(o / e) − (o − e))) of every cell; infinite where o > 0 and e = 0.

    >>> deviance_roots(np.array([10.0, 0.0, 1.0]), np.array([10.0, 2.0, 0.0])).tolist()
    [0.0, -2.0, inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    # Rounding may give a little less than zero where both are equal.
    return np.sign(observed - expected) * np.sqrt(np.maximum(2 * (surprise - (observed - expected)), 0.0))


def as_counts(counts: np.ndarray) -> list[Any]:
    """Return counts as nested lists; as integers if all are, which are shorter in JSON.

    >>> as_counts(np.array([2.0, 0.0])), as_counts(np.array([0.5, 2.0]))
    ([2, 0], [0.5, 2.0])
    """
    whole = np.array_equal(counts, np.floor(counts)) and float(counts.max(initial=0.0)) <= 2**53
    nested: list[Any] = (counts.astype(np.int64) if whole else counts).tolist()
    return nested
