"""How far shares that are seen lie from those of a model, and how far chance alone would put them.

The distance of two tables p̂ and p is their total variation, ½ Σ |p̂ − p|. For n rows drawn from p it is on average

    ½ Σ min(√(2 p (1 − p) / (π n)), 2 p (1 − p))

where the first is the mean distance of a normal variable, and the second bounds that of cells which hardly any row is
in. A model that was fitted to the same rows lies nearer than that.

A single cell of a pair's table with o rows where e = n p are expected is off by the root of its Poisson deviance,

    d = ± √(2 (o log(o / e) − (o − e)))

which is about a standard normal variable, also where e is small. Of M such the largest is about √(2 log M) by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from juror.answers.calibration import mean_distance
from juror.answers.marginals import marginal
from juror.answers.posterior import CPD
from juror.counts.groups import pairs_of
from juror.readers.columns import as_text

# so that one pair with many wrong cells leaves room for others
_CELLS_A_PAIR = 2


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
    return float(mean_distance(n * variance).sum() / (2 * n))


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


def cell_gaps(cpd: CPD, tables: Sequence[np.ndarray], n_cells: int) -> dict[str, Any]:
    """Return the single cells of all pairs that are furthest off, at most two a pair, the furthest first.

    Parameters
    ----------
    cpd : CPD
        The distribution.
    tables : sequence of numpy.ndarray, (I_j, I_k)
        One a pair, in the order of pairs: how often every two labels are seen together.
    n_cells : int
        How many cells to give, at most.
    """
    found: list[tuple[float, dict[str, Any]]] = []
    n_judged = 0
    for (j, k), counts in zip(pairs_of(len(cpd.domain)), tables, strict=True):
        n = float(counts.sum())
        if n == 0:
            continue
        n_judged += counts.size
        expected = n * marginal(cpd, [j, k])
        deviances = deviance_roots(counts, expected)
        for place in np.argsort(-np.abs(deviances), axis=None, kind="stable")[:_CELLS_A_PAIR]:
            cell = np.unravel_index(place, counts.shape)
            size = abs(float(deviances[cell]))
            found.append((size, _cell(cpd, (j, k), cell, n, float(counts[cell]), float(expected[cell]), size)))
    found.sort(key=lambda entry: -entry[0])
    by_chance = float(np.sqrt(2 * np.log(max(n_judged, 2))))
    return {"cells": [cell for _, cell in found[:n_cells]], "cells_by_chance": by_chance}


def _cell(
    cpd: CPD, pair: tuple[int, ...], cell: tuple[Any, ...], n: float, seen: float, expected: float, size: float
) -> dict[str, Any]:
    variables = [cpd.domain[position] for position in pair]
    return {
        "variables": [variable.name for variable in variables],
        "labels": [as_text(variable.labels[code]) for variable, code in zip(variables, cell, strict=True)],
        "n": n,
        "observed": seen,
        "expected": expected,
        # what never happens under the model but was seen is off without bounds
        "deviations": size if np.isfinite(size) else None,
    }


def deviance_roots(observed: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Return ± √(2 (o log(o / e) − (o − e))) of every cell, infinite where rows are seen that none is expected of.

    >>> deviance_roots(np.array([10.0, 0.0, 1.0]), np.array([10.0, 2.0, 0.0])).tolist()
    [0.0, -2.0, inf]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        surprise = np.where(observed > 0, observed * np.log(observed / expected), 0.0)
    # rounding may leave a little below zero where both are equal
    return np.sign(observed - expected) * np.sqrt(np.maximum(2 * (surprise - (observed - expected)), 0.0))


def as_counts(counts: np.ndarray) -> list[Any]:
    """Return counts as nested lists, of whole numbers where all are whole, which take less room when written.

    >>> as_counts(np.array([2.0, 0.0])), as_counts(np.array([0.5, 2.0]))
    ([2, 0], [0.5, 2.0])
    """
    whole = np.array_equal(counts, np.floor(counts)) and float(counts.max(initial=0.0)) <= 2**53
    nested: list[Any] = (counts.astype(np.int64) if whole else counts).tolist()
    return nested
