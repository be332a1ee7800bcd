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

    N = len(columns)
    out = np.full((2, len(strengths), N, N), -np.inf)
    n_rows = np.diff(bounds)
    # Empty classes say nothing.
    n_rows = n_rows[n_rows > 0]
    F, classes = len(n_rows), np.repeat(np.arange(len(n_rows)), n_rows)
    sizes = np.diff(starts)
    # b, and b m_n (K, 1, 1, I_n), of every strength
    b = strengths[:, None, None]
    pseudo = [b[..., None] * bases[starts[n] : starts[n + 1]] for n in range(N)]
    log_b, log_pseudo = gammaln(b), [gammaln(of) for of in pseudo]
    for i, j in pairs:
        shape = F, sizes[i], sizes[j]
        cell = (classes * sizes[i] + columns[i]) * sizes[j] + columns[j]
        C = np.bincount(cell, weights, minlength=F * sizes[i] * sizes[j]).reshape(shape)
        for scope, counts in enumerate((C.sum(axis=0, keepdims=True), C)):
            for p, n, table in ((i, j, counts), (j, i, counts.swapaxes(1, 2))):
                cells = gammaln(pseudo[n] + table) - log_pseudo[n]
                totals = log_b - gammaln(b + table.sum(axis=2))
                out[scope, :, p, n] = cells.sum(axis=(1, 2, 3)) + totals.sum(axis=(1, 2))
    return out
