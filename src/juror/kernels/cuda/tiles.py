"""Triton kernels of a pass: tiles of rows, cells and classes, multiplied by the card's matrix units.

A *cell* is a label of a column, and selects a row of the tables. For a tile of rows i and cells s, the matrix
O[i, s] = [row i has s] is made on the fly, from words of 32 bits that are made before from the column of each s, its
*owner*. Then

    log joint    L = O T         T (cells, F): scaled logarithms, in two half-precision parts T = high + low
    counts       C = Oᵗ (w R)    R (rows, F): posteriors

are products of matrices. O is exact in half precision, and products are added up in single precision. Each program
writes its own part of every sum; the parts are added up in a fixed order, so the same card gives the same bits.

All arrays are padded to whole tiles. Rows of the padding have no cell.
"""

from __future__ import annotations

import triton
import triton.language as tl

# Stands for the logarithm of zero, which a matrix product cannot take. Sums below the second have met one of them.
ZERO, POSSIBLE = -60000.0, -50000.0
_POSSIBLE = tl.constexpr(POSSIBLE)
# The card has an instruction for powers of 2, exp(x) = 2^(x log₂ e), and one that multiplies and adds.
_LOG2_E = tl.constexpr(1.4426950408889634)


@triton.jit(do_not_specialize=["n_cells", "live_rows"])
def mark_rows(X, OWNER, STARTS, MARKS, n, rows, live_rows, n_cells, ROWS: tl.constexpr):
    """For rows and 32 cells: a word whose bits say which of the cells a row has."""
    block, word = tl.program_id(0), tl.program_id(1)
    row = block * ROWS + tl.arange(0, ROWS)
    live = row < live_rows
    first, last = word * 32, tl.minimum(word * 32 + 31, n_cells - 1)
    marks = tl.zeros((ROWS,), tl.int32)
    begin = tl.load(OWNER + first)
    labels = X + begin.to(tl.int64) * n + row
    for column in range(begin, tl.load(OWNER + last) + 1):
        at = tl.load(STARTS + column) - first + tl.load(labels, mask=live, other=0).to(tl.int32)
        labels += n
        here = live & (at >= 0) & (at < 32)
        marks |= tl.where(here, 1 << tl.where(here, at, 0), 0)
    tl.store(MARKS + word * rows + row, marks)


@triton.jit
def mark_cells(MARKS, BY_CELL, rows, n_cells, GROUPS: tl.constexpr):
    """For 32 cells and groups of 32 rows: a word whose bits say which of the rows have a cell."""
    group, word = tl.program_id(0) * GROUPS + tl.arange(0, GROUPS), tl.program_id(1)
    bit = tl.arange(0, 32)
    marks = tl.zeros((GROUPS, 32), tl.int32)
    for number in tl.static_range(32):
        of_row = tl.load(MARKS + word * rows + group * 32 + number)
        marks |= ((of_row[:, None] >> bit[None, :]) & 1) << number
    tl.store(BY_CELL + group[:, None] * n_cells + (word * 32 + bit)[None, :], marks)


@triton.jit
def _spread(words, value, BITS):
    """Return a matrix in half precision whose rows have the value, a scalar or (1, 32), where words have a bit.

    The bits are loaded: what the compiler finds in memory it brings to the threads that the matrix unit takes the
    matrix from. Numbers that it makes itself would leave the matrix with other threads, to be moved by shared memory.
    """
    has = words[:, None] & tl.load(BITS + tl.arange(0, 32))[None, :]
    return tl.where(has != 0, value, 0.0).to(tl.float16)


@triton.jit
def _awaited(sums, number):
    """Return the sums, when the matrix unit has added to them.

    The compiler believes that a number takes part, and so waits for the unit. Triton 3.6 goes on otherwise, and makes
    the next matrix in registers that the unit may still read: sums were wrong in rare places then, by other amounts
    each time (triton-lang/triton#9433). What is written here is deleted when that is settled, and costs nothing.
    """
    bits = sums.to(tl.int32, bitcast=True)
    return ((bits & number) | (bits & ~number)).to(tl.float32, bitcast=True)


@triton.jit(do_not_specialize=["n_cells"])
def weigh_classes(
    MARKS,
    BITS,
    HIGH,
    LOW,
    LOG_LAM,
    E,
    TOP,
    SUM,
    rows,
    n_cells,
    stride,
    KEEP: tl.constexpr,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """For rows × classes: E = exp(L − top), which is kept if wanted, with top and Σ E of every row of the tile."""
    block, chunk = tl.program_id(0), tl.program_id(1)
    row = block * ROWS + tl.arange(0, ROWS)
    f = chunk * CLASSES + tl.arange(0, CLASSES)
    z = tl.zeros((ROWS, CLASSES), tl.float32)
    for start in range(0, n_cells, 32):
        ones = _spread(tl.load(MARKS + start // 32 * rows + row), 1.0, BITS)
        at = (start + tl.arange(0, 32))[:, None] * stride + f[None, :]
        z = tl.dot(ones, tl.load(HIGH + at), z)
        z = tl.dot(ones, tl.load(LOW + at), z)
        z = _awaited(z, n_cells)
    z += tl.load(LOG_LAM + f)[None, :]
    top = tl.max(z, 1)
    # Where a class is impossible, L is at least ZERO − POSSIBLE below that of any possible class.
    e = tl.exp2(z * _LOG2_E - (tl.where(top > _POSSIBLE, top, 0.0) * _LOG2_E)[:, None])
    if KEEP:
        tl.store(E + row[:, None] * stride + f[None, :], e.to(E.dtype.element_ty))
    tl.store(TOP + chunk * rows + row, top)
    tl.store(SUM + chunk * rows + row, tl.sum(e, 1))


@triton.jit(do_not_specialize=["live_rows", "n_columns", "n_chunks"])
def join_classes(
    X,
    STARTS,
    SCALES,
    TOP,
    SUM,
    WEIGHTS,
    SHARE,
    LOGS,
    TOTALS,
    n,
    rows,
    live_rows,
    n_columns,
    n_chunks,
    WEIGHTED: tl.constexpr,
    ROWS: tl.constexpr,
):
    """For rows: ℓ, Σ w ℓ of the tile, and w / Σ E of all classes, relative to the top of every tile of classes."""
    block = tl.program_id(0)
    row = block * ROWS + tl.arange(0, ROWS)
    live = row < live_rows
    scale = tl.zeros((ROWS,), tl.float32)
    at = X + row
    for column in range(n_columns):
        scale += tl.load(SCALES + tl.load(STARTS + column) + tl.load(at, mask=live, other=0).to(tl.int32))
        at += n
    top = tl.full((ROWS,), float("-inf"), tl.float32)
    for chunk in range(n_chunks):
        top = tl.maximum(top, tl.load(TOP + chunk * rows + row))
    shift = tl.where(top > _POSSIBLE, top, 0.0)
    total = tl.zeros((ROWS,), tl.float32)
    for chunk in range(n_chunks):
        total += tl.load(SUM + chunk * rows + row) * tl.exp(tl.load(TOP + chunk * rows + row) - shift)
    weight = tl.where(live, 1.0, 0.0)
    if WEIGHTED:
        weight = tl.load(WEIGHTS + row, mask=live, other=0.0)
    possible = total > 0.0
    share = tl.where(possible, weight / tl.where(possible, total, 1.0), 0.0)
    for chunk in range(n_chunks):
        tl.store(SHARE + chunk * rows + row, share * tl.exp(tl.load(TOP + chunk * rows + row) - shift))
    logs = tl.where(possible, scale + shift + tl.log(tl.where(possible, total, 1.0)), float("-inf"))
    tl.store(LOGS + row, logs)
    tl.store(TOTALS + block, tl.sum(weight * tl.where(weight > 0.0, logs, 0.0), 0))


@triton.jit
def _times(ones, r, acc, HALF: tl.constexpr):
    """Add O r to acc, with r in half precision, or in two parts of 11 bits with the range of single precision."""
    if HALF:
        acc = tl.dot(ones, r, acc)
    else:
        high = (r.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
        ones = ones.to(tl.float32)
        acc = tl.dot(ones, high, acc, input_precision="tf32")
        acc = tl.dot(ones, r - high, acc, input_precision="tf32")
    return acc


@triton.jit(do_not_specialize=["n_blocks", "per_part"])
def count_cells(
    MARKS,
    BITS,
    E,
    SHARE,
    OUT,
    rows,
    n_cells,
    stride,
    n_blocks,
    per_part,
    DRAWN: tl.constexpr,
    HALF: tl.constexpr,
    ROWS: tl.constexpr,
    CELLS: tl.constexpr,
    CLASSES: tl.constexpr,
    RUN: tl.constexpr,
):
    """For cells × classes: the sum of share · E over a part of the rows; or of 1 for the class drawn for each row.

    Matrix units cut sums off and do not round them, so that long sums would come out too small: every RUN blocks, the
    sum is added to the total, with rounding. The total is in memory: registers have no place for both.
    """
    tile, chunk, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    cell = tile * CELLS + tl.arange(0, CELLS)
    f = chunk * CLASSES + tl.arange(0, CLASSES)
    total = OUT + (part * n_cells + cell)[:, None] * stride + f[None, :]
    begin, end = part * per_part, tl.minimum((part + 1) * per_part, n_blocks)
    for run in range(begin, end, RUN):
        acc = tl.zeros((CELLS, CLASSES), tl.float32)
        for block in range(run, tl.minimum(run + RUN, end)):
            row = block * ROWS + tl.arange(0, ROWS)
            share = tl.full((ROWS,), 1.0, tl.float32)
            if DRAWN:
                r = tl.where(tl.load(E + row)[:, None] == f[None, :], 1.0, 0.0).to(tl.float16)
            elif HALF:
                # The share is in the matrix unit's other factor, so that E gets to its memory as it is.
                r = tl.load(E + row[:, None] * stride + f[None, :])
                share = tl.load(SHARE + chunk * rows + row)
            else:
                r = tl.load(E + row[:, None] * stride + f[None, :]) * tl.load(SHARE + chunk * rows + row)[:, None]
            ones = _spread(tl.load(MARKS + block * n_cells + cell), share[None, :], BITS)
            acc = _awaited(_times(ones, r, acc, HALF), n_blocks)
        if run > begin:
            acc += tl.load(total)
        tl.store(total, acc)


@triton.jit
def _uniform(key, number):
    """Return random numbers in [0, 1) by their number, as :mod:`juror.kernels.reference.random_numbers` does."""
    bits = key + (number.to(tl.uint64) + 1) * 0x9E3779B97F4A7C15
    bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9
    bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB
    bits = bits ^ (bits >> 31)
    # Single precision holds 24 bits.
    return (bits >> 40).to(tl.float32) * (1.0 / 16777216.0)


@triton.jit(do_not_specialize=["first_number", "n_chunks"])
def draw_of_posterior(
    E,
    SHARE,
    KEY,
    DRAWN,
    first_number,
    rows,
    stride,
    n_chunks,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """For rows: the first class at which the sum of posteriors exceeds a random number; −1 if all are zero."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    u = _uniform(tl.load(KEY).to(tl.uint64), first_number + row.to(tl.int64))
    reached = tl.zeros((ROWS,), tl.float32)
    passed = tl.zeros((ROWS,), tl.int32)
    last = tl.full((ROWS,), -1, tl.int32)
    for chunk in range(n_chunks):
        f = chunk * CLASSES + tl.arange(0, CLASSES)
        r = tl.load(E + row[:, None] * stride + f[None, :]) * tl.load(SHARE + chunk * rows + row)[:, None]
        passed += tl.sum((reached[:, None] + tl.cumsum(r, 1) <= u[:, None]).to(tl.int32), 1)
        last = tl.maximum(last, tl.max(tl.where(r > 0.0, f[None, :], -1), 1))
        reached += tl.sum(r, 1)
    # Rounding may leave all sums at or below the random number.
    tl.store(DRAWN + row, tl.minimum(passed, last))


@triton.jit(do_not_specialize=["first", "n_classes"])
def share_at_random(
    KEY,
    E,
    SUM,
    first,
    rows,
    stride,
    n_classes,
    POWER: tl.constexpr,
    ROWS: tl.constexpr,
    CLASSES: tl.constexpr,
):
    """For rows × classes: random numbers to a power, and their sum for every row of the tile."""
    block, chunk = tl.program_id(0), tl.program_id(1)
    row = block * ROWS + tl.arange(0, ROWS)
    f = chunk * CLASSES + tl.arange(0, CLASSES)
    number = (first + row.to(tl.int64))[:, None] * n_classes + f[None, :]
    u = _uniform(tl.load(KEY).to(tl.uint64), number)
    e = tl.where(f[None, :] < n_classes, u, 0.0)
    for _ in tl.static_range(POWER - 1):
        e *= u
    tl.store(E + row[:, None] * stride + f[None, :], e)
    tl.store(SUM + chunk * rows + row, tl.sum(e, 1))
