"""Candidate classes, each added alone to a background distribution."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.exponentials import add_log_factors, exp_below


@kernel
def lone_counts(cells, weights, log_base, log_odds, log_stack):
    """Return, for every class added alone to a background, Σ w log(1 + e^t) (F,), its rows (F,) and its counts."""
    F = log_odds.shape[0]
    gain, class_counts = np.zeros(F), np.zeros(F)
    counts = np.zeros(log_stack.shape)
    ratio, small, bits = np.empty(F), np.empty(F), np.empty(F)
    for i in range(cells.shape[0]):
        for f in range(F):
            ratio[f] = log_odds[f] - log_base[i]
        add_log_factors(cells, i, log_stack, ratio)
        for f in range(F):
            small[f] = -abs(ratio[f])
        # e^-|t| cannot overflow; log(1 + e^t) and the share follow from it.
        exp_below(small, 0.0, bits)
        for f in range(F):
            # log(1 + s) = 2 artanh(s / (2 + s)) by its series, which vectorises; s ≤ 1, so the first term left out is
            # below 1e-13.
            y = small[f] / (2.0 + small[f])
            z = y * y
            series = z / 25.0 + 1.0 / 23.0
            series = series * z + 1.0 / 21.0
            series = series * z + 1.0 / 19.0
            series = series * z + 1.0 / 17.0
            series = series * z + 1.0 / 15.0
            series = series * z + 1.0 / 13.0
            series = series * z + 1.0 / 11.0
            series = series * z + 1.0 / 9.0
            series = series * z + 1.0 / 7.0
            series = series * z + 1.0 / 5.0
            series = series * z + 1.0 / 3.0
            series = series * z + 1.0
            gain[f] += weights[i] * (max(ratio[f], 0.0) + 2.0 * y * series)
        for f in range(F):
            share = (1.0 if ratio[f] >= 0.0 else small[f]) / (1.0 + small[f])
            small[f] = weights[i] * share
            class_counts[f] += small[f]
        for n in range(cells.shape[1]):
            row = counts[cells[i, n]]
            for f in range(F):
                row[f] += small[f]
    return gain, class_counts, counts
