"""The gradient of the labels' conditional likelihood; :mod:`juror.kernels.reference.tilts` has the definition."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.exponentials import add_log_factors, exp_and_sum
from juror.kernels.reference.tilts import FARTHEST

# If the classes of a label have less than this share of all, their common exponentials may have underflowed.
_SMALL = 1e-100


@kernel
def label_gradient(cells, labels, offsets, scores, n_labels, tether):
    """Return Σ log p(y | c) over the rows with labels, and ∂ΣJ/∂b (F,) and ∂ΣJ/∂U (L, F)."""
    F, N = offsets.shape[0], cells.shape[1]
    size = F // n_labels
    shares, own, bits = np.empty(F), np.empty(size), np.empty(F)
    of_offsets, gradient, total = np.zeros(F), np.zeros(scores.shape), 0.0
    for i in range(cells.shape[0]):
        is_known = 1.0 if labels[i] >= 0 else 0.0
        first = max(labels[i], 0) * size
        for f in range(F):
            shares[f] = offsets[f]
        add_log_factors(cells, i, scores, shares)
        for f in range(size):
            own[f] = shares[first + f]
        whole, log_all = exp_and_sum(shares, bits)
        of_label = 0.0
        for f in range(first, first + size):
            of_label += shares[f]
        if is_known == 0.0:
            own[:], of_label = 0.0, 1.0
        elif of_label > _SMALL * whole:
            for f in range(size):
                own[f] = shares[first + f]
            total += np.log(of_label / whole)
        else:
            of_label, log_own = exp_and_sum(own, bits[:size])
            total += log_own - log_all
        pull = (is_known + tether * min(max(log_all, -FARTHEST), FARTHEST)) / whole
        for f in range(F):
            shares[f] *= -pull
        for f in range(size):
            shares[first + f] += own[f] / of_label
        for f in range(F):
            of_offsets[f] += shares[f]
        for n in range(N):
            into = gradient[cells[i, n]]
            for f in range(F):
                into[f] += shares[f]
    return total, of_offsets, gradient
