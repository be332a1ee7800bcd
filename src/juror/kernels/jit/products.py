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

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.exponentials import add_log_factors, add_logs_of_parts, exp_and_sum, joined, logs_of
from juror.kernels.jit.vectors import add, for_widths, load, multiply, spread, store, total

# Rows worked on together, fewer where they have more cells than are read again for every chunk from the nearest cache,
# or where their products of all classes are too many floats to stay near
_BLOCK = 512
_MOST_CELLS = 1 << 13
_MOST_PRODUCTS = 1 << 19
# The least sum of products that is taken as it is
SAFE = 1e-200
# A zero that is no literal: for those numba compiles functions of their own
NONE = np.int64(0)
# Rows of more nats than this, were all labels of a column alike, may well have less
_MANY_NATS = 400.0


class ScaledTables(NamedTuple):
    """What a pass reads of the parameters.

    Attributes
    ----------
    lam : numpy.ndarray, (F,)
        Class weights λ.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked factors S.
    parts : numpy.ndarray of int32, (L, width)
        The stacked rows that each of the L rows which cells select is the product of, −1 for none.
    log_lam : numpy.ndarray, (F,)
        Log class weights, where so many columns are multiplied that many rows may need logarithms; else empty.
    log_rows : numpy.ndarray, (L, F)
        The logarithm of the rows which cells select, likewise.
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
    log_lam: np.ndarray
    log_rows: np.ndarray
    scaled_lam: np.ndarray
    scaled: np.ndarray
    log_scales: np.ndarray
    width: int


@kernel
def aligned(n):
    """Return room for n floats that begins where a line of the cache does."""
    room = np.empty(n + 8)
    first = -(room.ctypes.data // 8) % 8
    return room[first : first + n]


@kernel
def _width(F):
    # long vectors are quicker, unless that adds many classes that are none
    by_8, by_16 = -(-F // 8) * 8, -(-F // 16) * 16
    return 16 if 4 * by_16 <= 5 * by_8 else 8


@kernel
def _largest(numbers):
    largest = 0.0
    for f in range(numbers.shape[0]):
        largest = max(largest, numbers[f])
    return largest


@kernel
def tables(lam, stack, parts, n_rows, n_columns):
    """Return what passes over so many rows and columns of cells read of λ (F,) and the stack, see :class:`ScaledTables`."""
    L, F = parts.shape[0], lam.shape[0]
    W, nothing, no_rows = _width(F), np.empty(0), np.empty((0, F))
    if 4 * n_rows * n_columns < L:
        # scaling the tables would cost more than what is looked up
        return ScaledTables(lam, stack, parts, nothing, no_rows, nothing, nothing, nothing, W)
    log_lam, log_rows = nothing, no_rows
    if n_columns * np.log(L / n_columns) > _MANY_NATS:
        log_lam, log_rows = logs_of(lam.reshape(1, F))[0], joined(parts, logs_of(stack))
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
    return ScaledTables(lam, stack, parts, log_lam, log_rows, scaled_lam, scaled, log_scales, W)


@kernel
def _multiply_parts(parts, stack, tops, product):
    """Fill product (F,) with that of some stacked rows, scaled to a largest of one; return the scale's logarithm."""
    F = product.shape[0]
    row, top = stack[parts[0]], tops[parts[0]]
    log_scale, scale = np.log(top), 1.0 / top if top > 0.0 else 0.0
    for f in range(F):
        product[f] = row[f] * scale
    if parts.shape[0] == 1:
        return log_scale
    for place in range(1, parts.shape[0]):
        part = parts[place]
        if part >= 0:
            row, top = stack[part], tops[part]
            log_scale += np.log(top)
            scale = 1.0 / top if top > 0.0 else 0.0
            for f in range(F):
                product[f] *= row[f] * scale
    top = _largest(product)
    for f in range(F):
        # what came near to underflow is left to logarithms, where rows without any product end
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
    def fold_chunk(counts, parts, f, stacked, n_stacked, classes):
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

    return fold_chunk


_multiply_8, _multiply_16 = for_widths(_multiply)
_add_8, _add_16 = for_widths(_add)
_fold_8, _fold_16 = for_widths(_fold)


@kernel
def padded(t):
    """The classes and the zeros that fill their last chunk."""
    return -(-t.lam.shape[0] // t.width) * t.width


@kernel
def block_size(cells, n_classes):
    """How many rows go together where the products of so many classes are kept."""
    return min(_BLOCK, max(16, _MOST_PRODUCTS // n_classes), max(64, _MOST_CELLS // cells.shape[1]))


@kernel
def multiply_chunk(cells, first, n, t, f, products, place, row_step, sums):
    """Store the products of the chunk from class f on for n rows from the first on, and add them to sums (n,)."""
    if t.width == 16:
        _multiply_16(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)
    else:
        _multiply_8(cells, first, n, t.scaled_lam, t.scaled, f, t.parts.shape[0], products, place, row_step, sums)


@kernel
def log_of_sum(cells, i, t, over):
    """Return ℓ of row i, whose scaled products sum to so much."""
    log_scale = t.log_scales[t.parts.shape[0]]
    for g in range(cells.shape[1]):
        log_scale += t.log_scales[cells[i, g]]
    return log_scale + np.log(over)


@kernel
def row_in_logs(cells, i, t, joint, bits):
    """Fill joint (F,) with e^(L[i] − max L[i]); return their sum and ℓ, 0 and −inf for an impossible row."""
    if t.log_rows.shape[0] > 0:
        for f in range(joint.shape[0]):
            joint[f] = t.log_lam[f]
        add_log_factors(cells, i, t.log_rows, joint)
    else:
        add_logs_of_parts(cells, i, t.lam, t.stack, t.parts, joint)
    return exp_and_sum(joint, bits)


@kernel
def multiply_block(cells, first, n, t, products, place, row_step, chunk_step, sums, logs):
    """Fill, for n rows from the first on, products with λ_f Π S[c, f] up to a factor a row, sums (n,) and ℓ (n,).

    An impossible row has products and a sum of zero, and ℓ = −inf. With a chunk_step of zero only the last chunk is
    kept.
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


@kernel
def add_block(cells, first, n, t, block, products, shares, counts):
    """Add the products of n rows, each times its share, to counts of the cells of the row, chunk after chunk."""
    L, W = t.parts.shape[0], t.width
    for f in range(0, t.lam.shape[0], W):
        if W == 16:
            _add_16(cells, first, n, products, shares, f, L, counts, f * block)
        else:
            _add_8(cells, first, n, products, shares, f, L, counts, f * block)


@kernel
def fold_counts(counts, t, n_columns):
    """Return the classes (F,) and the stacked rows (stacked rows, F) that counts, chunk after chunk, are of.

    Every row of the table was counted once a column.
    """
    (n_stacked, F), W, P = t.stack.shape, t.width, padded(t)
    stacked, every = np.zeros(P * n_stacked), np.zeros(P)
    classes, table = np.empty(F), np.empty((n_stacked, F))
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
    return classes, table


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
            classes[i] = first + passed if passed < W else F + first

    return find_chunk


_find_8, _find_16 = for_widths(_find)


@kernel
def find_classes(products, n, block, F, W, targets, classes):
    """Fill classes (n,) with the first at which the products of a row add up to more than its target."""
    if W == 16:
        _find_16(products, n, block, F, targets, classes)
    else:
        _find_8(products, n, block, F, targets, classes)
    for i in range(n):
        if classes[i] >= F:
            # rounding left all sums of the chunk below the target: the last class there that has a chance, or none
            classes[i] = min(F, classes[i] - F + W) - 1
            while classes[i] >= 0 and products[classes[i] // W * W * block + i * W + classes[i] % W] <= 0.0:
                classes[i] -= 1
