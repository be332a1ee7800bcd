"""Passes over the rows of a table."""

from __future__ import annotations

import numpy as np
from numba import njit

_LOG2_E = 1.4426950408889634
# log 2 in two parts, the first with zeros at its end so that its multiples are exact
_LOG_2, _LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# adding it leaves the nearest whole number in the last bits
_ROUNDER = 1.5 * 2.0**52
_SMALLEST = -700.0


@njit(cache=True, nogil=True, fastmath={"contract"})
def _exp(values, top, bits):
    """Replace values (F,) by exp(values − top), to the last bit or so; zero below e⁻⁷⁰⁰. bits (F,) is scratch.

    With k whole and |r| ≤ ½ log 2, e^x = 2^k e^r, the latter by thirteen terms of its series. Written out so that it
    is done for several values at once, which a call of ``np.exp`` is not.
    """
    for f in range(values.shape[0]):
        below = values[f] - top
        x = max(below, _SMALLEST)
        rounded = x * _LOG2_E + _ROUNDER
        bits[f] = rounded
        k = rounded - _ROUNDER
        r = (x - k * _LOG_2) - k * _LOG_2_REST
        series = r / 6227020800.0 + 1.0 / 479001600.0
        series = series * r + 1.0 / 39916800.0
        series = series * r + 1.0 / 3628800.0
        series = series * r + 1.0 / 362880.0
        series = series * r + 1.0 / 40320.0
        series = series * r + 1.0 / 5040.0
        series = series * r + 1.0 / 720.0
        series = series * r + 1.0 / 120.0
        series = series * r + 1.0 / 24.0
        series = series * r + 1.0 / 6.0
        series = series * r + 0.5
        series = series * r + 1.0
        values[f] = series * r + 1.0 if below >= _SMALLEST else 0.0
    exponents = bits.view(np.int64)
    for f in range(values.shape[0]):
        exponents[f] = (exponents[f] + 1023) << 52
    for f in range(values.shape[0]):
        values[f] *= bits[f]


@njit(cache=True, nogil=True, fastmath={"reassoc", "nsz"})
def _sum(values):
    total = 0.0
    for f in range(values.shape[0]):
        total += values[f]
    return total


@njit(cache=True, nogil=True)
def _add_log_factors(cells, i, log_stack, out):
    """Add Σ_n log S[c_in, f] to out (F,), four factors at a time, so that out is read and written less often."""
    F, N = out.shape[0], cells.shape[1]
    n = 0
    while n + 4 <= N:
        a, b = log_stack[cells[i, n]], log_stack[cells[i, n + 1]]
        c, d = log_stack[cells[i, n + 2]], log_stack[cells[i, n + 3]]
        for f in range(F):
            out[f] += (a[f] + b[f]) + (c[f] + d[f])
        n += 4
    for last in range(n, N):
        a = log_stack[cells[i, last]]
        for f in range(F):
            out[f] += a[f]


@njit(cache=True, nogil=True)
def _row_joint(cells, i, log_lam, log_stack, out, bits):
    """Fill out (F,) with exp(L[i] − max L[i]); return that maximum and the sum, −inf and 0 for an impossible row."""
    F = log_lam.shape[0]
    for f in range(F):
        out[f] = log_lam[f]
    _add_log_factors(cells, i, log_stack, out)
    top = -np.inf
    for f in range(F):
        top = max(top, out[f])
    if top == -np.inf:
        out[:] = 0.0
        return top, 0.0
    _exp(out, top, bits)
    return top, _sum(out)


@njit(cache=True, nogil=True)
def _row_posterior(cells, i, log_lam, log_stack, out, bits):
    """Fill out (F,) with exp(L[i] − ℓ_i) and return ℓ_i; all zero and −inf for an impossible row."""
    top, total = _row_joint(cells, i, log_lam, log_stack, out, bits)
    if top == -np.inf:
        return top
    for f in range(out.shape[0]):
        out[f] /= total
    return top + np.log(total)


@njit(cache=True, nogil=True)
def log_prob(cells, log_lam, log_stack):
    """Return ℓ, the log-probability of every row, (rows,)."""
    rows = cells.shape[0]
    total = np.empty(rows)
    scratch, bits = np.empty(log_lam.shape[0]), np.empty(log_lam.shape[0])
    for i in range(rows):
        top, over = _row_joint(cells, i, log_lam, log_stack, scratch, bits)
        total[i] = top if top == -np.inf else top + np.log(over)
    return total


@njit(cache=True, nogil=True)
def posterior(cells, log_lam, log_stack):
    """Return ℓ (rows,) and the class posterior R (rows, F)."""
    rows = cells.shape[0]
    total = np.empty(rows)
    R = np.empty((rows, log_lam.shape[0]))
    bits = np.empty(log_lam.shape[0])
    for i in range(rows):
        total[i] = _row_posterior(cells, i, log_lam, log_stack, R[i], bits)
    return total, R


@njit(cache=True, nogil=True)
def expected_counts(cells, weights, log_lam, log_stack):
    """Return Σ w ℓ, the class counts (F,) and the expected counts C (stacked rows, F)."""
    F = log_lam.shape[0]
    class_counts = np.zeros(F)
    counts = np.zeros(log_stack.shape)
    scratch, bits = np.empty(F), np.empty(F)
    log_likelihood = 0.0
    for i in range(cells.shape[0]):
        log_likelihood += weights[i] * _row_posterior(cells, i, log_lam, log_stack, scratch, bits)
        for f in range(F):
            scratch[f] *= weights[i]
            class_counts[f] += scratch[f]
        for n in range(cells.shape[1]):
            row = counts[cells[i, n]]
            for f in range(F):
                row[f] += scratch[f]
    return log_likelihood, class_counts, counts


@njit(cache=True, nogil=True)
def add_counts(cells, drawn, counts):
    """Add to counts, (stacked rows, F), how often the cells of every row were drawn in every class, drawn (rows, F)."""
    for i in range(cells.shape[0]):
        for f in range(drawn.shape[1]):
            # most rows are drawn in a few classes only
            if drawn[i, f] > 0.0:
                for n in range(cells.shape[1]):
                    counts[cells[i, n], f] += drawn[i, f]


@njit(cache=True, nogil=True)
def draw_classes(cells, uniform, log_lam, log_stack):
    """Draw a class for every row from its posterior; return Σ ℓ, the class counts (F,) and the cell counts."""
    F = log_lam.shape[0]
    class_counts = np.zeros(F)
    counts = np.zeros(log_stack.shape)
    scratch, bits = np.empty(F), np.empty(F)
    log_likelihood = 0.0
    for i in range(cells.shape[0]):
        top, total = _row_joint(cells, i, log_lam, log_stack, scratch, bits)
        if top == -np.inf:
            log_likelihood += top
            continue
        log_likelihood += top + np.log(total)
        reached, chosen = 0.0, 0
        for f in range(F):
            # rounding may leave the sum below u at the end, and a class without a chance is not chosen for that
            if scratch[f] > 0.0:
                chosen = f
            reached += scratch[f]
            if uniform[i] * total < reached:
                break
        class_counts[chosen] += 1.0
        for n in range(cells.shape[1]):
            counts[cells[i, n], chosen] += 1.0
    return log_likelihood, class_counts, counts


@njit(cache=True, nogil=True)
def lone_counts(cells, weights, log_base, log_odds, log_stack):
    """Return, for every class alone before a background, Σ w log(1 + e^t), its rows (F,) and its counts."""
    F = log_odds.shape[0]
    gain, class_counts = np.zeros(F), np.zeros(F)
    counts = np.zeros(log_stack.shape)
    ratio, small, bits = np.empty(F), np.empty(F), np.empty(F)
    for i in range(cells.shape[0]):
        for f in range(F):
            ratio[f] = log_odds[f] - log_base[i]
        _add_log_factors(cells, i, log_stack, ratio)
        for f in range(F):
            small[f] = -abs(ratio[f])
        # e^-|t| cannot overflow, and both log(1 + e^t) and the share follow from it
        _exp(small, 0.0, bits)
        for f in range(F):
            # log(1 + s) = 2 artanh(s / (2 + s)), by its series, which no call interrupts; s ≤ 1, so the first term left
            # out is below 1e-13
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
