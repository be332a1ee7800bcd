"""Blocks of rows by products of scaled probabilities: no exponential a row, and vectors of classes throughout.

Every stacked row is divided by its largest entry, so that products of any number of them only fall, from one on. A row
whose sum over the classes falls below 1e-200 is done again in logarithms; in any other row, what underflowed has a
posterior below 1e-100.

Classes go in *chunks* of W floats, F padded with zeros. Tables lie chunk after chunk, (chunks, stacked rows, W): while
one chunk is worked on for all rows of a block, all that is needed of the tables stays near. Where the product of a row
and a chunk goes is up to the caller: at a place of its own, so many floats further for the next row and the next
chunk. Mostly they lie chunk after chunk too, (chunks, rows in block, W).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from juror.kernels.jit.logs import row_joint
from juror.kernels.jit.vectors import add, for_widths, load, multiply, spread, store, total

# Rows worked on together, fewer where their products of all classes would be more than so many floats
_BLOCK = 512
_MOST_PRODUCTS = 1 << 19
# The least sum of products that is taken as it is
SAFE = 1e-200


class Tables(NamedTuple):
    """What a pass reads of the parameters.

    Attributes
    ----------
    lam : numpy.ndarray, (F,)
        Class weights λ.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked factors S.
    parts : numpy.ndarray of int32, (L, width)
        The stacked rows that each of the L rows which cells select is the product of, −1 for none.
    scaled_lam : numpy.ndarray, (chunks · W,)
        Class weights, the largest one; empty where the pass is to go in logarithms.
    scaled : numpy.ndarray, (chunks · L · W,)
        Those rows, the largest entry of each one.
    log_scales : numpy.ndarray, (L + 1,)
        The logarithm of what every such row was divided by, and at the end of what the weights were.
    width : int
        W.
    """

    lam: np.ndarray
    stack: np.ndarray
    parts: np.ndarray
    scaled_lam: np.ndarray
    scaled: np.ndarray
    log_scales: np.ndarray
    width: int


@njit(cache=True, nogil=True)
def aligned(n):
    """Return room for n floats that begins where a line of the cache does."""
    room = np.empty(n + 8)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + n]


@njit(cache=True, nogil=True)
def _width(F):
    # long vectors are quicker, unless that adds many classes that are none
    by_8, by_16 = -(-F // 8) * 8, -(-F // 16) * 16
    return 16 if 4 * by_16 <= 5 * by_8 else 8


@njit(cache=True, nogil=True)
def _largest(numbers):
    largest = 0.0
    for f in range(numbers.shape[0]):
        largest = max(largest, numbers[f])
    return largest


@njit(cache=True, nogil=True)
def tables(lam, stack, parts, n_lookups):
    """Return what passes that look up about so many rows read of λ (F,) and the stack, see :class:`Tables`."""
    L, F = parts.shape[0], lam.shape[0]
    W = _width(F)
    if 4 * n_lookups < L:
        # scaling the tables would cost more than what is looked up
        nothing = np.empty(0)
        return Tables(lam, stack, parts, nothing, nothing, nothing, W)
    P = -(-F // W) * W
    scaled_lam, scaled, log_scales = aligned(P), aligned(P * L), np.empty(L + 1)
    tops = np.empty(stack.shape[0])
    for s in range(stack.shape[0]):
        tops[s] = _largest(stack[s])
    product = np.zeros(P)
    for row in range(L):
        log_scales[row] = _multiply_parts(parts[row], stack, tops, product[:F])
        for f in range(0, P, W):
            for lane in range(W):
                scaled[f * L + row * W + lane] = product[f + lane]
    top = _largest(lam)
    for f in range(P):
        scaled_lam[f] = lam[f] / top if f < F and top > 0.0 else 0.0
    log_scales[L] = np.log(top)
    return Tables(lam, stack, parts, scaled_lam, scaled, log_scales, W)


@njit(cache=True, nogil=True)
def _multiply_parts(parts, stack, tops, product):
    """Fill product (F,) with that of some stacked rows, scaled to a largest of one; return the scale's logarithm."""
    F, log_scale = product.shape[0], 0.0
    for f in range(F):
        product[f] = 1.0
    for part in parts:
        if part >= 0:
            row, top = stack[part], tops[part]
            log_scale += np.log(top)
            scale = 1.0 / top if top > 0.0 else 0.0
            for f in range(F):
                product[f] *= row[f] * scale
    top = _largest(product)
    if top > 0.0:
        log_scale += np.log(top)
        for f in range(F):
            product[f] /= top
    return log_scale


@njit(cache=True, nogil=True)
def unchunked(chunked, L, F, W):
    """Return a table that lies chunk after chunk as one of (L, F)."""
    table = np.empty((L, F))
    for f in range(0, F, W):
        here = min(W, F - f)
        for s in range(L):
            for lane in range(here):
                table[s, f + lane] = chunked[f * L + s * W + lane]
    return table


def _multiply(W):
    def multiply_chunk(cells, first, n, lam, stack, f, L, products, place, row_step, sums):
        at = f * L
        for i in range(n):
            row = cells[first + i]
            product = load(lam, f, W)
            for g in range(row.shape[0]):
                product = multiply(product, load(stack, at + np.int64(row[g]) * W, W))
            store(products, place + i * row_step, product)
            sums[i] += total(product)

    return multiply_chunk


def _add(W):
    def add_chunk(cells, first, n, products, shares, f, L, counts, place):
        at = f * L
        for i in range(n):
            row = cells[first + i]
            share = multiply(load(products, place + i * W, W), spread(shares[i], W))
            for g in range(row.shape[0]):
                cell = at + np.int64(row[g]) * W
                store(counts, cell, add(load(counts, cell, W), share))

    return add_chunk


_multiply_8, _multiply_16 = for_widths(_multiply)
_add_8, _add_16 = for_widths(_add)


@njit(cache=True, nogil=True)
def padded(t):
    """The classes and the zeros that fill their last chunk."""
    return -(-t.lam.shape[0] // t.width) * t.width


@njit(cache=True, nogil=True)
def block_size(n_classes):
    """How many rows go together where the products of so many classes are kept."""
    return min(_BLOCK, max(16, _MOST_PRODUCTS // n_classes))


@njit(cache=True, nogil=True)
def multiply_chunk(cells, first, n, t, f, products, place, row_step, sums):
    """Store the products of the chunk from class f on for n rows from the first on, and add them to sums (n,)."""
    if t.width == 16:
        _multiply_16(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)
    else:
        _multiply_8(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)


@njit(cache=True, nogil=True)
def multiply_block(cells, first, n, t, products, place, row_step, chunk_step, sums, logs):
    """Fill, for n rows from the first on, products with λ_f Π S[c, f] up to a factor a row, sums (n,) and ℓ (n,).

    An impossible row has products and a sum of zero, and ℓ = −inf. With a chunk_step of zero only the last chunk is
    kept.
    """
    F, W = t.lam.shape[0], t.width
    sums[:n] = 0.0
    for f in range(0, t.scaled_lam.shape[0], W):
        multiply_chunk(cells, first, n, t, f, products, place + f // W * chunk_step, row_step, sums)
    for i in range(n):
        if sums[i] >= SAFE:
            row = cells[first + i]
            scale = t.log_scales[t.parts.shape[0]]
            for g in range(row.shape[0]):
                scale += t.log_scales[row[g]]
            logs[i] = scale + np.log(sums[i])
            continue
        joint = np.empty(F)
        sums[i], logs[i] = row_joint(cells, first + i, t.lam, t.stack, t.parts, joint)
        if chunk_step > 0:
            for f in range(padded(t)):
                products[place + i * row_step + f // W * chunk_step + f % W] = joint[f] if f < F else 0.0


@njit(cache=True, nogil=True)
def add_block(cells, first, n, t, block, products, shares, counts):
    """Add the products of n rows, each times its share, to counts of the cells of the row, chunk after chunk."""
    L, W = t.parts.shape[0], t.width
    for f in range(0, t.lam.shape[0], W):
        if W == 16:
            _add_16(cells, first, n, products, shares, f, L, counts, f * block)
        else:
            _add_8(cells, first, n, products, shares, f, L, counts, f * block)


def _find(W):
    def find_chunk(products, n, block, F, targets, classes):
        for i in range(n):
            # no branches, which the machine could only guess at
            first, reached, after = 0, 0.0, 0.0
            for f in range(0, F - W, W):
                after += total(load(products, f * block + i * W, W))
                first = f + W if after <= targets[i] else first
                reached = after if after <= targets[i] else reached
            place, passed = first * block + i * W, 0
            for lane in range(W):
                reached += products[place + lane]
                passed += 1 if reached <= targets[i] else 0
            classes[i] = first + passed if passed < W else F

    return find_chunk


_find_8, _find_16 = for_widths(_find)


@njit(cache=True, nogil=True)
def find_classes(products, n, block, F, W, targets, classes):
    """Fill classes (n,) with the first at which the products of a row add up to more than its target."""
    if W == 16:
        _find_16(products, n, block, F, targets, classes)
    else:
        _find_8(products, n, block, F, targets, classes)
    for i in range(n):
        if classes[i] == F:
            # rounding left all sums below the target: the last class that has a chance, or none
            classes[i] -= 1
            while classes[i] >= 0 and products[classes[i] // W * W * block + i * W + classes[i] % W] <= 0.0:
                classes[i] -= 1
