"""Dependence of two variables within classes, counted on the card."""

from __future__ import annotations

import numpy as np
import torch

from juror.kernels.cuda.card import as_array, as_tensor, on_own_stream


@on_own_stream
def within_classes(codes: np.ndarray, weights: np.ndarray, classes: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    """Return Σ_f n_f I_f / n − Σ_f (J_f − 1)(K_f − 1) / 2n of every two variables.

    I_f is their mutual information in class f, which has n_f of the n rows and shows J_f and K_f labels.

    Parameters
    ----------
    codes : numpy.ndarray of int, (rows, N)
        Codes, −1 for missing.
    weights : numpy.ndarray, (rows,)
        Whole numbers.
    classes : numpy.ndarray of int, (rows,)
        The class of every row.
    sizes : tuple of int
        The number of labels of every variable.

    Returns
    -------
    numpy.ndarray, (N, N)
        Symmetric, with zeros on the diagonal.
    """
    F, N = int(classes.max(initial=0)) + 1, len(sizes)
    columns, of_rows, in_class = as_tensor(codes).t().contiguous(), as_tensor(weights), as_tensor(classes)
    found = torch.zeros((N, N), dtype=torch.float64, device=columns.device)
    for j in range(N):
        for k in range(j):
            known = (columns[j] >= 0) & (columns[k] >= 0)
            # Rows that lack either label are counted last, and left out.
            keys = (in_class * sizes[j] + columns[j]) * sizes[k] + columns[k]
            n_keys = F * sizes[j] * sizes[k]
            counted = torch.bincount(torch.where(known, keys, n_keys), of_rows, minlength=n_keys + 1)[:n_keys]
            found[j, k] = found[k, j] = _of_table(counted.reshape(F, sizes[j], sizes[k]))
    return as_array(found)


def _of_table(counts: torch.Tensor) -> torch.Tensor:
    """Return the same of a table of counts, (F, J, K)."""
    first, second, every = counts.sum(2), counts.sum(1), counts.sum((1, 2))
    gain = _n_log_n(counts) + _n_log_n(every) - _n_log_n(first) - _n_log_n(second)
    shown = [((table > 0).sum(1) - 1).clamp(min=0) for table in (first, second)]
    return (gain - (shown[0] * shown[1]).sum() / 2) / every.sum().clamp(min=1.0)


def _n_log_n(counts: torch.Tensor) -> torch.Tensor:
    return torch.special.xlogy(counts, counts).sum()
