"""Dependence of two variables within classes, counted on the card."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from juror.kernels.cuda.card import as_array, as_tensor, on_own_stream

# Numbers of the matrix of the rows' labels in memory at once
_AT_ONCE = 1 << 26


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
    columns, of_rows, in_class = as_tensor(codes.T), as_tensor(weights), as_tensor(classes)
    lengths, N = torch.tensor(sizes, device=columns.device), len(sizes)
    gain, chance, total = (torch.zeros((N, N), dtype=torch.float64, device=columns.device) for _ in range(3))
    n_rows = torch.bincount(in_class).tolist()
    for rows in in_class.argsort(stable=True).split(n_rows):
        more = _of_class(_pairs(columns, of_rows, rows, lengths), lengths)
        gain, chance, total = (summed + own for summed, own in zip((gain, chance, total), more, strict=True))
    return as_array(((gain - chance / 2) / total.clamp(min=1.0)).fill_diagonal_(0.0))


def _pairs(columns: torch.Tensor, weights: torch.Tensor, rows: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Return how often some rows have every two labels, (L, L): the product of their one-hot matrix with itself."""
    starts, L = lengths.cumsum(0) - lengths, int(lengths.sum())
    counted = torch.zeros((L, L), dtype=torch.float64, device=columns.device)
    for some in rows.split(max(1, _AT_ONCE // L)):
        codes = columns[:, some].long()
        # Missing labels are marked last, and left out.
        marked = torch.zeros((L + 1, len(some)), dtype=torch.float64, device=columns.device)
        marked.scatter_(0, torch.where(codes >= 0, codes + starts[:, None], L), 1.0)
        counted += (marked[:L] * weights[some]) @ marked[:L].t()
    return counted


def _of_class(counts: torch.Tensor, lengths: torch.Tensor) -> Sequence[torch.Tensor]:
    """Return n_f I_f, (J_f − 1)(K_f − 1) and n_f of every two variables in a class, (N, N) each, from (L, L) counts."""

    def by_variable(table: torch.Tensor) -> torch.Tensor:
        return torch.segment_reduce(table.contiguous(), "sum", lengths=lengths, axis=0)

    # How often each label is seen together with each variable, (L, N)
    single = by_variable(counts.t()).t()
    every = by_variable(single)
    both, of_first = by_variable(by_variable(_n_log_n(counts)).t()).t(), by_variable(_n_log_n(single))
    shown = (by_variable((single > 0).double()) - 1).clamp(min=0)
    return both + _n_log_n(every) - of_first - of_first.t(), shown * shown.t(), every


def _n_log_n(counts: torch.Tensor) -> torch.Tensor:
    return torch.special.xlogy(counts, counts)
