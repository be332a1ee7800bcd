"""One row at a time, in logarithms: nothing underflows, at the price of an exponential a class."""

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
def exp_below(values, top, bits):
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
def add_log_factors(cells, i, log_stack, out):
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
def row_joint(cells, i, lam, stack, parts, out):
    """Fill out (F,) with e^(L[i] − max L[i]); return their sum and ℓ, 0 and −inf for an impossible row."""
    F = lam.shape[0]
    for f in range(F):
        out[f] = np.log(lam[f])
    for cell in cells[i]:
        for part in parts[cell]:
            if part >= 0:
                row = stack[part]
                for f in range(F):
                    out[f] += np.log(row[f])
    top = -np.inf
    for f in range(F):
        top = max(top, out[f])
    if top == -np.inf:
        out[:] = 0.0
        return 0.0, top
    exp_below(out, top, np.empty(F))
    over = _sum(out)
    return over, top + np.log(over)
