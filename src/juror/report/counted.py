"""What counts of pairs say by themselves: how much two variables tell about each other, and which are seldom seen together.

The mutual information of a table of n rows is too large by about (I − 1)(J − 1) / 2n for I and J labels that were seen.
Without this a pair that few rows show would come first in a list of the strongest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from juror.answers.information import entropy_of
from juror.domain import Domain

# Two variables are seldom seen together if fewer than this share of the rows that show one of them show both.
SELDOM = 0.1
# How many pairs are named
_MOST_NAMED = 40
_NO_ENTROPY = 1e-12


@dataclass(frozen=True)
class PairTables:
    """Counts of every pair of variables, and where they come from.

    Attributes
    ----------
    tables : sequence of numpy.ndarray, (I_j, I_k)
        In the order of :func:`itertools.combinations`.
    source : str
        ``"data"`` for the rows of a report, ``"fit"`` for those that the model was fitted to and has counted.
    n_rows : float, optional
        The weight of all rows; None if it is unknown.
    singles : sequence of numpy.ndarray, (I_n,), optional
        The counts of every variable, which counts of pairs do not tell if cells are missing.
    """

    tables: Sequence[np.ndarray]
    source: str
    n_rows: float | None
    singles: Sequence[np.ndarray] | None = None

    def shown(self, n_variables: int) -> np.ndarray:
        """Return for every variable the weight of rows that show it, or at least show it beside some other, (N,)."""
        if self.singles is not None:
            return np.array([counts.sum() for counts in self.singles])
        shown = np.zeros(n_variables)
        for (a, b), table in zip(combinations(range(n_variables), 2), self.tables, strict=True):
            shown[[a, b]] = np.maximum(shown[[a, b]], table.sum())
        return shown


def dependence_in(counts: np.ndarray) -> float | None:
    """Return I(a; b) / min(H(a), H(b)) of a table of counts, less what chance alone gives; None if it has no rows.

    >>> dependence_in(np.array([[50.0, 0.0], [0.0, 50.0]]))
    0.9927865247955556
    >>> dependence_in(np.array([[25.0, 25.0], [25.0, 25.0]]))
    0.0
    """
    n = float(counts.sum())
    if n == 0:
        return None
    p = counts / n
    entropies = [entropy_of(p.sum(axis=axis)) for axis in (1, 0)]
    if min(entropies) <= _NO_ENTROPY:
        return 0.0
    seen = [np.count_nonzero(counts.sum(axis=axis)) for axis in (1, 0)]
    information = sum(entropies) - entropy_of(p) - (seen[0] - 1) * (seen[1] - 1) / (2 * n)
    return float(np.clip(information / min(entropies), 0.0, 1.0))


def counted_dependence(counted: PairTables, n_variables: int) -> list[list[float | None]]:
    """Return :func:`dependence_in` of every two variables, (N, N), with ones on the diagonal."""
    matrix: list[list[float | None]] = [[1.0] * n_variables for _ in range(n_variables)]
    for (a, b), table in zip(combinations(range(n_variables), 2), counted.tables, strict=True):
        matrix[a][b] = matrix[b][a] = dependence_in(table)
    return matrix


def together_facts(counted: PairTables, domain: Domain) -> dict[str, Any]:
    """Return which variables are never or seldom seen in the same row, the seldomest first.

    Returns
    -------
    dict
        ``n_never`` and ``n_seldom``, the number of pairs that no row shows, and that fewer than a tenth of the rows
        that show one of the two show; ``pairs``, the first of them: ``variables``, ``n`` rows that show both, and
        ``share`` of the rows that show the variable that is shown less.
    """
    shown = counted.shown(len(domain))
    found = []
    for (a, b), table in zip(combinations(range(len(domain)), 2), counted.tables, strict=True):
        n, of = float(table.sum()), float(min(shown[a], shown[b]))
        if n < SELDOM * of or of == 0:
            share = n / of if of else 0.0
            found.append({"variables": [domain[a].name, domain[b].name], "n": n, "share": share})
    found.sort(key=lambda pair: pair["share"])
    n_never = sum(pair["n"] == 0 for pair in found)
    return {"n_never": n_never, "n_seldom": len(found) - n_never, "pairs": found[:_MOST_NAMED]}
