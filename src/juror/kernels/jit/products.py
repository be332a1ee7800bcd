"""Blocks of rows by products of scaled probabilities: no exponentials, and vectors of classes throughout.

Every stacked row is divided by its largest entry, so that products never exceed one. A row whose sum over the classes
falls below 1e-200 is computed again in log space; in any other row, classes that underflowed have a posterior below
1e-100.

Classes are handled in *chunks* of W floats, F padded with zeros. Tables are stored chunk after chunk, (chunks, stacked
rows, W), so that the part in use stays in the cache while one chunk is computed for all rows of a block. The caller
decides where products are stored: ``place`` is the position of the first, ``row_step`` and ``chunk_step`` the distances
to the next row and chunk. Most callers store them chunk after chunk too, (chunks, rows in block, W).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.exponentials import add_log_factors, add_logs_of_parts, exp_and_sum, joined, logs_of
from juror.kernels.jit.vectors import add, for_widths, larger, load, most, multiply, spread, store, total

# Rows in a block; fewer if their cells would not stay in the first-level cache, or if their products would leave the
# cache.
_BLOCK = 512
_MOST_CELLS = 1 << 13
_MOST_PRODUCTS = 1 << 19
# A row whose products sum to less is computed again in log space.
SAFE = 1e-200
# A zero that is not a literal: numba would compile a separate function for a literal.
NONE = np.int64(0)
# Above this many nats (uniform labels), products may underflow: prepare logarithms.
_MANY_NATS = 400.0


class ScaledTables(NamedTuple):
    """The parameters in the form that a pass over rows reads.

    Attributes
    ----------
    lam : numpy.ndarray, (F,)
        Class weights λ.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked factors S.
    parts : numpy.ndarray of int32, (L, width)
        Cells select one of L rows; each is the product of these stacked rows, −1 for none.
    log_lam : numpy.ndarray, (F,)
        Log class weights if many rows may need log space; else empty.
    log_rows : numpy.ndarray, (L, F)
        Logarithms of the L rows, or empty like ``log_lam``.
    scaled_lam : numpy.ndarray, (chunks · W,)
        Class weights divided by the largest; empty if the whole pass is in log space.
    scaled : numpy.ndarray, (chunks · L · W,)
        The L rows, each divided by its largest entry.
    log_scales : numpy.ndarray, (L + 1,)
        The logarithm of the divisor of each of the L rows, and last that of the weights.
    width : int
        The floats W in a chunk.
    """

    lam: np.ndarray
    stack: np.ndarray
    parts: np.ndarray
    log_lam: np.ndarray
    log_rows: np.ndarray
    scaled_lam: np.ndarray
    scaled: np.ndarray
    log_scales: np.ndarray
    width: int


def aligned_room(n):
    """Return an array of n floats, aligned to a cache line.

    Kernels of default fits get their arrays from Python: to make them inside would take longer to compile.
    """
    room = np.empty(n + 8)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + n]


aligned = part(aligned_room)


def _width(F):
    # Longer vectors are faster, unless they need much more padding.
    by_8, by_16 = -(-F // 8) * 8, -(-F // 16) * 16
    return 16 if 4 * by_16 <= 5 * by_8 else 8


@part
def _largest(numbers):
    F, eight, f = numbers.shape[0], spread(0.0, 8), 0
    while f + 8 <= F:
        eight = larger(load(numbers, f, 8), eight)
        f += 8
    largest = most(eight)
    for rest in range(f, F):
        largest = max(largest, numbers[rest])
    return largest


def tables(lam, stack, parts, n_rows, n_columns):
    """Return λ (F,) and the stack as :class:`ScaledTables`, for passes over a table of n_rows × n_columns cells."""
    L, F = len(parts), len(lam)
    W, nothing = _width(F), np.empty(0)
    if 4 * n_rows * n_columns < L:
        # Few cells: scaling the tables would cost more than log space.
        return ScaledTables(lam, stack, parts, nothing, np.empty((0, F)), nothing, nothing, nothing, W)
    P = -(-F // W) * W
    scaled_lam, scaled, log_scales = aligned_room(P), aligned_room(P * L), np.empty(L + 1)
    _scale(lam, stack, parts, scaled_lam, scaled, log_scales, W, np.empty((2, len(stack))), np.zeros(P))
    made = ScaledTables(lam, stack, parts, nothing, np.empty((0, F)), scaled_lam, scaled, log_scales, W)
    if n_columns * math.log(L / n_columns) > _MANY_NATS:
        return with_logs(made, logs_of(stack))
    return made


def with_logs(tables, log_stack):
    """Return the same tables with the logarithms of the stack, (stacked rows, F), given: its values may underflow."""
    return tables._replace(log_lam=logs_of(tables.lam[None, :])[0], log_rows=joined(tables.parts, log_stack))


@kernel
def _scale(lam, stack, parts, scaled_lam, scaled, log_scales, W, largest, product):
    """Fill the scaled weights and tables, (chunks · W,) and (chunks · L · W,), and log_scales (L + 1,).

    The last two arrays are scratch, (2, stacked rows) and zeros (chunks · W,).
    """
    L, F, P, tops, log_tops = parts.shape[0], lam.shape[0], scaled_lam.shape[0], largest[0], largest[1]
    for s in range(stack.shape[0]):
        tops[s] = _largest(stack[s])
        log_tops[s] = np.log(tops[s])
    for row in range(L):
        log_scales[row] = _multiply_parts(parts[row], stack, tops, log_tops, product[:F])
        for f in range(0, P, 8):
            store(scaled, f // W * W * L + row * W + f % W, load(product, f, 8))
    top = _largest(lam)
    for f in range(P):
        scaled_lam[f] = lam[f] / top if f < F and top > 0.0 else 0.0
    log_scales[L] = np.log(top)


@part
def _multiply_parts(parts, stack, tops, log_tops, product):
    """Fill product (F,) with the product of stacked rows, its largest entry scaled to one; return the log scale."""
    F = product.shape[0]
    row, top = stack[parts[0]], tops[parts[0]]
    log_scale, scale = log_tops[parts[0]], 1.0 / top if top >= SAFE else 0.0
    for f in range(F):
        product[f] = row[f] * scale
    if parts.shape[0] == 1:
        return log_scale
    for place in range(1, parts.shape[0]):
        part = parts[place]
        if part >= 0:
            row, top = stack[part], tops[part]
            log_scale += log_tops[part]
            scale = 1.0 / top if top >= SAFE else 0.0
            for f in range(F):
                product[f] *= row[f] * scale
    top = _largest(product)
    for f in range(F):
        # Near underflow: with a product of zero, the row is computed in log space.
        product[f] = product[f] / top if top >= SAFE else 0.0
    return log_scale + np.log(top)


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


def _fold(W):
    def fold_vectors(counts, parts, f, stacked, n_stacked, classes):
        every = load(classes, f, W)
        for row in range(parts.shape[0]):
            counted = load(counts, f * parts.shape[0] + row * W, W)
            every = add(every, counted)
            for number in range(parts.shape[1]):
                part = parts[row, number]
                if part >= 0:
                    place = f * n_stacked + part * W
                    store(stacked, place, add(load(stacked, place, W), counted))
        store(classes, f, every)

    return fold_vectors


_multiply_8, _multiply_16 = for_widths(_multiply)
_add_8, _add_16 = for_widths(_add)
_fold_8, _fold_16 = for_widths(_fold)


@part
def padded(t):
    """Return the number of classes, padded to whole chunks."""
    return -(-t.lam.shape[0] // t.width) * t.width


@part
def block_size(cells, n_classes):
    """Return the number of rows in a block if the products of n_classes classes are kept."""
    return min(_BLOCK, max(16, _MOST_PRODUCTS // n_classes), max(64, _MOST_CELLS // cells.shape[1]))


@part
def multiply_chunk(cells, first, n, t, f, products, place, row_step, sums):
    """Store the products of the chunk that begins at class f for n rows, and add them to sums (n,)."""
    if t.width == 16:
        _multiply_16(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)
    else:
        _multiply_8(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)


@part
def log_of_sum(cells, i, t, over):
    """Return ℓ of row i from the sum of its scaled products."""
    log_scale = t.log_scales[t.parts.shape[0]]
    for g in range(cells.shape[1]):
        log_scale += t.log_scales[cells[i, g]]
    return log_scale + np.log(over)


@part
def row_in_logs(cells, i, t, joint, bits):
    """Fill joint (F,) with e^(L[i] − max L[i]); return their sum and ℓ, 0 and −inf for an impossible row."""
    if t.log_rows.shape[0] > 0:
        for f in range(joint.shape[0]):
            joint[f] = t.log_lam[f]
        add_log_factors(cells, i, t.log_rows, joint)
    else:
        add_logs_of_parts(cells, i, t.lam, t.stack, t.parts, joint)
    return exp_and_sum(joint, bits)


@part
def multiply_block(cells, first, n, t, products, place, row_step, chunk_step, sums, logs):
    """Fill products with λ_f Π S[c, f], up to a factor per row, sums (n,) and ℓ (n,), for n rows.

    An impossible row has products and a sum of zero, and ℓ = −inf. With chunk_step = 0 only the last chunk is kept.
    """
    F, W = t.lam.shape[0], t.width
    sums[:n] = 0.0
    for f in range(0, t.scaled_lam.shape[0], W):
        multiply_chunk(cells, first, n, t, f, products, place + f // W * chunk_step, row_step, sums)
    joint, bits = np.empty(F), np.empty(F)
    for i in range(n):
        if sums[i] >= SAFE:
            logs[i] = log_of_sum(cells, first + i, t, sums[i])
            continue
        sums[i], logs[i] = row_in_logs(cells, first + i, t, joint, bits)
        if chunk_step > 0:
            for f in range(padded(t)):
                products[place + i * row_step + f // W * chunk_step + f % W] = joint[f] if f < F else 0.0


@part
def add_block(cells, first, n, t, block, products, shares, counts):
    """Add the products of n rows, each times its share, to the counts of the row's cells, chunk after chunk."""
    L, W = t.parts.shape[0], t.width
    for f in range(0, t.lam.shape[0], W):
        if W == 16:
            _add_16(cells, first, n, products, shares, f, L, counts, f * block)
        else:
            _add_8(cells, first, n, products, shares, f, L, counts, f * block)


@part
def fold_counts(counts, t, n_columns, stacked, every, classes, table):
    """Fill class counts (F,) and a table of counts (stacked rows, F) from counts stored chunk after chunk.

    Every row of the table was counted once per column. Two arrays of zeros are scratch: stacked, (chunks · stacked
    rows · W,), and every, (chunks · W,).
    """
    (n_stacked, F), W = t.stack.shape, t.width
    for f in range(0, F, W):
        if W == 16:
            _fold_16(counts, t.parts, f, stacked, n_stacked, every)
        else:
            _fold_8(counts, t.parts, f, stacked, n_stacked, every)
        here = min(W, F - f)
        for s in range(n_stacked):
            for lane in range(here):
                table[s, f + lane] = stacked[f * n_stacked + s * W + lane]
    for f in range(F):
        classes[f] = every[f] / n_columns


def _find(W):
    def find_chunk(products, n, block, F, targets, classes):
        for i in range(n):
            # Without branches, which the processor would mispredict.
            first, reached, after = 0, 0.0, 0.0
            for f in range(0, F - W, W):
                after += total(load(products, f * block + i * W, W))
                first = f + W if after <= targets[i] else first
                reached = after if after <= targets[i] else reached
            place, passed = first * block + i * W, 0
            for lane in range(W):
                reached += products[place + lane]
                passed += 1 if reached <= targets[i] else 0
            classes[i] = first + passed if passed < W else F + first

    return find_chunk


_find_8, _find_16 = for_widths(_find)


@part
def find_classes(products, n, block, F, W, targets, classes):
    """Fill classes (n,) with the first class at which the cumulative products of a row exceed its target."""
    if W == 16:
        _find_16(products, n, block, F, targets, classes)
    else:
        _find_8(products, n, block, F, targets, classes)
    for i in range(n):
        if classes[i] >= F:
            # Rounding left all sums at or below the target: take the last possible class of the chunk, or −1.
            classes[i] = min(F, classes[i] - F + W) - 1
            while classes[i] >= 0 and products[classes[i] // W * W * block + i * W + classes[i] % W] <= 0.0:
                classes[i] -= 1
