"""The evidence of edges: how probable columns are if each row's label depends on the label of another variable.

Rows of classes f have labels x of variable p and y of variable n, and C[x, y, f] counts them. With columns
Dirichlet(b m_n) for every label x and class, summed out,

    log E(p → n) = Σ_xf [ Γ(b) − Γ(b + C[x, ·, f]) + Σ_y (Γ(b m_n[y] + C[x, y, f]) − Γ(b m_n[y])) ]

where Γ stands for its logarithm. If all classes share the columns, the counts are added up over classes first.
"""

from __future__ import annotations

import numpy as np


def edge_evidence(
    columns: np.ndarray,
    bounds: np.ndarray,
    weights: np.ndarray,
    pairs: np.ndarray,
    bases: np.ndarray,
    starts: np.ndarray,
    strengths: np.ndarray,
) -> np.ndarray:
    """Return log E(p → n) of pairs in both directions, (2, K, N, N): shared columns, columns of every class.

    Entries [:, :, p, n] of pairs that are not asked for are −inf.

    Parameters
    ----------
    columns : numpy.ndarray of int32, (N, rows)
        Codes without missing cells, the rows of each class together.
    bounds : numpy.ndarray of int64, (F + 1,)
        The position at which each class begins, and the end of the last one.
    weights : numpy.ndarray, (rows,)
        How often each row counts.
    pairs : numpy.ndarray of int64, (n_pairs, 2)
        Pairs of variables.
    bases : numpy.ndarray, (Σ I_n,)
        The base measures m_n, one after the other, positive.
    starts : numpy.ndarray of int64, (N + 1,)
        The position at which each base measure begins, and the end of the last one.
    strengths : numpy.ndarray, (K,)
        The values of b.
    """
    from scipy.special import gammaln

    N, F = len(columns), len(bounds) - 1
    out = np.full((2, len(strengths), N, N), -np.inf)
    classes = np.repeat(np.arange(F), np.diff(bounds))
    m = [bases[starts[n] : starts[n + 1]] for n in range(N)]
    for i, j in pairs:
        C = np.zeros((F, len(m[i]), len(m[j])))
        np.add.at(C, (classes, columns[i], columns[j]), weights)
        for scope, counts in enumerate((C.sum(axis=0, keepdims=True), C)):
            for k, b in enumerate(strengths):
                for p, n, table in ((i, j, counts), (j, i, counts.swapaxes(1, 2))):
                    cells = gammaln(b * m[n] + table) - gammaln(b * m[n])
                    out[scope, k, p, n] = cells.sum() + (gammaln(b) - gammaln(b + table.sum(axis=2))).sum()
    return out
