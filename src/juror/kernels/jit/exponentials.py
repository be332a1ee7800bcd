"""Rows in log space: nothing underflows, at the cost of one exponential per row and class."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part

_LOG2_E = 1.4426950408889634
# log 2 in two parts; the first ends in zero bits, so that its multiples are exact.
_LOG_2, _LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Adding this leaves the nearest whole number in the lowest bits.
_ROUNDER = 1.5 * 2.0**52
_SMALLEST = -700.0


@part(fastmath={"contract"})
def exp_below(values, top, bits):
    """Replace values (F,) by exp(values − top), accurate to about one bit; zero below e⁻⁷⁰⁰. bits (F,) is scratch.

    e^x = 2^k e^r with k whole and |r| ≤ ½ log 2; e^r by thirteen terms of its series. It is written out so that the
    compiler vectorises it, which it does not do for ``np.exp``.
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


@part(fastmath={"reassoc", "nsz"})
def _sum(values):
    # All values lie in [0, 1], so that reordering is the only effect of these flags.
    total = 0.0
    for f in range(values.shape[0]):
        total += values[f]
    return total


@part
def add_log_factors(cells, i, log_stack, out):
    """Add Σ_n log S[c_in, f] to out (F,), four factors at a time, for fewer loads and stores of out."""
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


@part
def add_logs_of_parts(cells, i, lam, stack, parts, out):
    """Fill out (F,) with log λ + Σ log S over the parts of all cells of a row, taking the logarithms here."""
    for f in range(out.shape[0]):
        out[f] = np.log(lam[f])
    for g in range(cells.shape[1]):
        for number in range(parts.shape[1]):
            part = parts[cells[i, g], number]
            if part >= 0:
                row = stack[part]
                for f in range(out.shape[0]):
                    out[f] += np.log(row[f])


@kernel
def logs_of(numbers):
    """Return the logarithms of a matrix."""
    logs = np.empty(numbers.shape)
    for row in range(numbers.shape[0]):
        for f in range(numbers.shape[1]):
            logs[row, f] = np.log(numbers[row, f])
    return logs


@kernel
def joined(parts, log_stack):
    """Return, for every packed row, the sum of the log stack over its parts (L, width), −1 for none: (L, F)."""
    out = np.zeros((parts.shape[0], log_stack.shape[1]))
    for row in range(parts.shape[0]):
        into = out[row]
        for number in range(parts.shape[1]):
            part = parts[row, number]
            if part >= 0:
                of = log_stack[part]
                for f in range(of.shape[0]):
                    into[f] += of[f]
    return out


@part
def exp_and_sum(logs, bits):
    """Replace logs (F,) by e^(logs − max); return their sum and log Σ e^logs, which are 0 and −inf if all are −inf."""
    top = -np.inf
    for f in range(logs.shape[0]):
        top = max(top, logs[f])
    if top == -np.inf:
        logs[:] = 0.0
        return 0.0, top
    exp_below(logs, top, bits)
    over = _sum(logs)
    return over, top + np.log(over)
