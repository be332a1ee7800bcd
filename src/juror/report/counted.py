"""What counts of pairs say by themselves: how much variables tell about each other, and which are seldom seen together.

The mutual information of a table of n rows is too large by about (I − 1)(J − 1) / 2n for I and J labels that were seen.
Without this a pair that few rows show would come first in a list of the strongest.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from juror.answers.information import entropy_of, normalised
from juror.counts.counts import PairCounts

# Two variables are seldom seen together if fewer than this share of the rows that show one of them show both.
SELDOM = 0.1
# How many pairs are named
_MOST_NAMED = 40


def rows_that_show(counts: PairCounts) -> np.ndarray:
    """Return for every variable the weight of rows that show it, (N,).

    Files of earlier versions have only pairs. The weight is then that of the rows that show it beside some other, which
    may be less.
    """
    if counts.singles is not None:
        return np.array([single.sum() for single in counts.singles])
    shown = np.zeros(len(counts.domain))
    for pair, table in zip(counts.groups, counts.tables, strict=True):
        shown[list(pair)] = np.maximum(shown[list(pair)], table.sum())
    return shown


def dependence_in(counts: np.ndarray, are_numbers: tuple[bool, bool] = (False, False)) -> float | None:
    """Return the normalised mutual information of a table of counts; None if it has no rows.

    What chance alone gives is subtracted before it is normalised, which depends on whether the variables are numbers
    (:func:`juror.answers.information.normalised`).

    >>> round(dependence_in(np.array([[50.0, 0.0], [0.0, 50.0]])), 4)
    0.9928
    >>> dependence_in(np.array([[25.0, 25.0], [25.0, 25.0]]))
    0.0
    """
    n = float(counts.sum())
    if n == 0:
        return None
    p = counts / n
    entropies = [entropy_of(p.sum(axis=axis)) for axis in (1, 0)]
    seen = [np.count_nonzero(counts.sum(axis=axis)) for axis in (1, 0)]
    information = sum(entropies) - entropy_of(p) - (seen[0] - 1) * (seen[1] - 1) / (2 * n)
    bounds = [np.array(np.inf if number else h) for number, h in zip(are_numbers, entropies, strict=True)]
    return float(normalised(np.array(max(information, 0.0)), *bounds))


def counted_dependence(counts: PairCounts) -> list[list[float | None]]:
    """Return :func:`dependence_in` of every two variables, (N, N), with ones on the diagonal."""
    N = len(counts.domain)
    matrix: list[list[float | None]] = [[1.0] * N for _ in range(N)]
    for (a, b), table in zip(counts.groups, counts.tables, strict=True):
        are_numbers = (counts.domain[a].edges is not None, counts.domain[b].edges is not None)
        matrix[a][b] = matrix[b][a] = dependence_in(table, are_numbers)
    return matrix


def together_facts(counts: PairCounts) -> dict[str, Any]:
    """Return which variables are never or seldom seen in the same row, the seldomest first.

    Returns
    -------
    dict
        ``n_never`` and ``n_seldom``, the number of pairs that no row shows, and that fewer than a tenth of the rows
        that show one of the two show; ``pairs``, the first of them: ``variables``, ``n`` rows that show both, and
        ``share`` of the rows that show the variable that is shown less.
    """
    shown, names = rows_that_show(counts), counts.domain.names
    found: list[tuple[float, dict[str, Any]]] = []
    for (a, b), table in zip(counts.groups, counts.tables, strict=True):
        n, least = float(table.sum()), float(min(shown[a], shown[b]))
        share = n / least if least else 0.0
        if share < SELDOM:
            found.append((share, {"variables": [names[a], names[b]], "n": n, "share": share}))
    found.sort(key=lambda pair: pair[0])
    n_never = sum(pair["n"] == 0 for _, pair in found)
    return {"n_never": n_never, "n_seldom": len(found) - n_never, "pairs": [pair for _, pair in found[:_MOST_NAMED]]}
