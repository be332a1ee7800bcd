"""The gradient of the labels' conditional likelihood; :mod:`juror.kernels.reference.tilts` has the definition."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.reference.tilts import FARTHEST


@kernel
def _exponentials(joint, first, last, out):
    """Fill out[first:last] with e^(joint − its largest entry there); return that entry and the sum."""
    top, whole = joint[first], 0.0
    for f in range(first + 1, last):
        top = max(top, joint[f])
    for f in range(first, last):
        out[f] = np.exp(joint[f] - top)
        whole += out[f]
    return top, whole


@kernel
def label_gradient(cells, labels, offsets, scores, n_labels, tether):
    """Return Σ log p(y | c) over the rows, and ∂ΣJ/∂b (F,) and ∂ΣJ/∂U (L, F)."""
    F, N = offsets.shape[0], cells.shape[1]
    joint, shares, own = np.empty(F), np.empty(F), np.empty(F)
    of_offsets, gradient, total = np.zeros(F), np.zeros(scores.shape), 0.0
    for i in range(cells.shape[0]):
        joint[:] = offsets
        for n in range(N):
            row = scores[cells[i, n]]
            for f in range(F):
                joint[f] += row[f]
        first = labels[i] * (F // n_labels)
        last = first + F // n_labels
        top, whole = _exponentials(joint, 0, F, shares)
        own_top, own_whole = _exponentials(joint, first, last, own)
        log_all = top + np.log(whole)
        total += own_top + np.log(own_whole) - log_all
        pull = (1.0 + tether * min(max(log_all, -FARTHEST), FARTHEST)) / whole
        for f in range(F):
            shares[f] *= -pull
        for f in range(first, last):
            shares[f] += own[f] / own_whole
        for f in range(F):
            of_offsets[f] += shares[f]
        for n in range(N):
            into = gradient[cells[i, n]]
            for f in range(F):
                into[f] += shares[f]
    return total, of_offsets, gradient
