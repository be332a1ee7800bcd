"""Missing cells in a forest; :mod:`juror.kernels.reference.forest_states` has the definitions in NumPy.

Classes are handled in chunks of W. Within a chunk, the stack and the messages below it are one array, (rows, W), which
stays in the cache. Messages are products and sums of probabilities. One that is below 1e-200 but not zero may have lost
digits: then logarithms are computed too, for one class at a time.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.products import NONE, aligned, aligned_room
from juror.kernels.jit.vectors import least, load, multiply, multiply_add, spread, store

TINY = 1e-200
# The floats in a chunk. With longer ones, the tables of a chunk would not stay in the cache.
_W = 8


@part
def find_value(rows, base, stride, first, end, size, G, at):
    """Fill G from place ``at`` on with the value of a state, the product of its links from first to end."""
    for x in range(size):
        product = load(rows, (base[first] + x * stride[first]) * _W, _W)
        for link in range(first + 1, end):
            product = multiply(product, load(rows, (base[link] + x * stride[link]) * _W, _W))
        store(G, at + x * _W, product)


@part
def _send_up(rows, table, first, end, size, n_stacked, G):
    """Store the messages of a state from first to end; return whether any is tiny."""
    tiny, m = False, first
    while m < end:
        # two at once, the last one twice if it is alone
        other = min(m + 1, end - 1)
        place, beside, message, second = table[m] * _W, table[other] * _W, spread(0.0, _W), spread(0.0, _W)
        for x in range(size):
            value = load(G, x * _W, _W)
            message = multiply_add(load(rows, place + x * _W, _W), value, message)
            second = multiply_add(load(rows, beside + x * _W, _W), value, second)
        store(rows, (n_stacked + m) * _W, message)
        store(rows, (n_stacked + other) * _W, second)
        tiny |= min(least(message), least(second)) < TINY
        m += 2
    return tiny


@part
def find_fours(states, at_once):
    """Fill in, for every state, how many are handled at once from there on: four that share their tables, or one.

    States share the table of their node if they have messages for all labels of its parent.
    """
    n_states, s = states.sizes.shape[0], NONE
    while s < n_states:
        at_once[s] = 4 if s + 4 <= n_states and _alike(states, s, s + 3) else 1
        s += at_once[s]


@part
def _alike(states, one, last):
    """Whether the states from one to the last have the same messages, for all labels of the same parent."""
    first, size = states.first_message[one], states.sizes[one]
    n = states.first_message[one + 1] - first
    for s in range(one, last + 1):
        begin, end = states.first_message[s], states.first_message[s + 1]
        if states.sizes[s] != size or end - begin != n or states.table[begin] != states.table[first]:
            return False
        if states.table[end - 1] - states.table[begin] != (n - 1) * size:
            return False
    return n > 1


@part
def _send_four_up(rows, table, first, n, size, n_stacked, G):
    """Store the n messages of each of four states, whose values G follow each other; return whether any is tiny."""
    tiny = False
    for r in range(n):
        place, zero = table[first + r] * _W, spread(0.0, _W)
        a, b, c, d = zero, zero, zero, zero
        for x in range(size):
            t, of = load(rows, place + x * _W, _W), x * _W
            a = multiply_add(t, load(G, of, _W), a)
            b = multiply_add(t, load(G, of + size * _W, _W), b)
            c = multiply_add(t, load(G, of + 2 * size * _W, _W), c)
            d = multiply_add(t, load(G, of + 3 * size * _W, _W), d)
        below = (n_stacked + first + r) * _W
        store(rows, below, a)
        store(rows, below + n * _W, b)
        store(rows, below + 2 * n * _W, c)
        store(rows, below + 3 * n * _W, d)
        tiny |= min(min(least(a), least(b)), min(least(c), least(d))) < TINY
    return tiny


@part
def copy_rows(flat, F, f, n, rows):
    """Copy W classes, from class f on, of n rows of a flat matrix into rows of W floats; fill up with ones."""
    here = min(_W, F - f)
    for row in range(n):
        if here == _W:
            store(rows, row * _W, load(flat, row * F + f, _W))
        else:
            for lane in range(_W):
                rows[row * _W + lane] = flat[row * F + f + lane] if lane < here else 1.0


@part
def _possible(rows, states, s, m, lane):
    """Whether some label of a state's node leaves its message above zero, before rounding."""
    for x in range(states.sizes[s]):
        above = rows[(states.table[m] + x) * _W + lane] > 0.0
        for link in range(states.first_link[s], states.first_link[s + 1]):
            if not above:
                break
            above = rows[(states.base[link] + x * states.stride[link]) * _W + lane] > 0.0
        if above:
            return True
    return False


@part
def _any_lost(rows, states, s, n_stacked):
    """Whether a message of a state is below 1e-200, but not zero."""
    for m in range(states.first_message[s], states.first_message[s + 1]):
        place = (n_stacked + m) * _W
        if least(load(rows, place, _W)) < TINY:
            for lane in range(_W):
                if rows[place + lane] < TINY and (rows[place + lane] > 0.0 or _possible(rows, states, s, m, lane)):
                    return True
    return False


@part
def send_all_up(stack, f, states, at_once, rows, G):
    """Fill rows with W classes of the stack, from class f on, and the messages below it; return whether any is lost.

    A message is lost if it is tiny but not zero.
    """
    base, stride, links = states.base, states.stride, states.first_link
    n_stacked, n_states, s, lost = stack.shape[0], states.sizes.shape[0], 0, False
    copy_rows(stack.reshape(stack.size), stack.shape[1], f, n_stacked, rows)
    while s < n_states:
        first, end, size, n = states.first_message[s], states.first_message[s + 1], states.sizes[s], at_once[s]
        for k in range(n):
            find_value(rows, base, stride, links[s + k], links[s + k + 1], size, G, k * size * _W)
        if n == 4:
            tiny = _send_four_up(rows, states.table, first, end - first, size, n_stacked, G)
        else:
            tiny = _send_up(rows, states.table, first, end, size, n_stacked, G)
        if tiny and not lost:
            for k in range(n):
                lost = lost or _any_lost(rows, states, s + k, n_stacked)
        s += n
    return lost


def messages(extended, n_stacked, states, used):
    """Fill the rows below a stack with messages; return the logarithms of all if any is tiny but not zero."""
    n_rows, largest = n_stacked + len(states.table), int(states.sizes.max(initial=1))
    at_once = np.empty(len(states.sizes), dtype=np.int64)
    scratch = aligned_room(n_rows * _W), aligned_room(4 * largest * _W), at_once
    if not _fill_messages(extended, n_stacked, states, used, *scratch):
        return np.empty((0, extended.shape[1]))
    # Without some of its digits, such a row is of no use; zeros make kernels take its logarithms.
    below = extended[n_stacked:]
    below[below.max(axis=1) < TINY] = 0.0
    return _log_messages(extended[:n_stacked], states)


@kernel
def _fill_messages(extended, n_stacked, states, used, rows, G, at_once):
    """Fill the rows below a stack with messages; return whether any is tiny but not zero."""
    F, stack, flat, lost = extended.shape[1], extended[:n_stacked], extended.reshape(extended.size), False
    find_fours(states, at_once)
    for f in range(0, F, _W):
        lost |= send_all_up(stack, f, states, at_once, rows, G)
        for u in range(used.shape[0]):
            place, into = (n_stacked + used[u]) * _W, (n_stacked + u) * F + f
            if f + _W <= F:
                store(flat, into, load(rows, place, _W))
            else:
                for lane in range(F - f):
                    flat[into + lane] = rows[place + lane]
    return lost


@part
def largest_size(states):
    """Return the most labels of a state's node."""
    largest = 1
    for s in range(states.sizes.shape[0]):
        largest = max(largest, states.sizes[s])
    return largest


@part
def _log_row(stack, logs, row, f):
    n_stacked = stack.shape[0]
    return np.log(stack[row, f]) if row < n_stacked else logs[row - n_stacked, f]


@part
def log_shares(stack, states, logs, s, m, f, shares):
    """Fill shares (I,) with log T[x] G[x] of a message in class f; return the largest."""
    top = -np.inf
    for x in range(states.sizes[s]):
        share = np.log(stack[states.table[m] + x, f])
        for link in range(states.first_link[s], states.first_link[s + 1]):
            if share == -np.inf:
                break
            share += _log_row(stack, logs, states.base[link] + x * states.stride[link], f)
        shares[x] = share
        top = max(top, share)
    return top


@kernel
def _log_messages(stack, states):
    """Return the logarithms of all messages; it is compiled where some are tiny, which is rare."""
    n_stacked, F = stack.shape
    logs, shares = np.empty((states.table.shape[0], F)), np.empty(largest_size(states))
    rows, G = aligned((n_stacked + logs.shape[0]) * _W), aligned(4 * largest_size(states) * _W)
    at_once = np.empty(states.sizes.shape[0], dtype=np.int64)
    find_fours(states, at_once)
    for f in range(0, F, _W):
        send_all_up(stack, f, states, at_once, rows, G)
        for s in range(states.sizes.shape[0]):
            for m in range(states.first_message[s], states.first_message[s + 1]):
                for lane in range(min(_W, F - f)):
                    value = rows[(n_stacked + m) * _W + lane]
                    logs[m, f + lane] = (
                        np.log(value) if value >= TINY else _log_message(stack, states, logs, s, m, f + lane, shares)
                    )
    return logs


@part
def _log_message(stack, states, logs, s, m, f, shares):
    top, whole = log_shares(stack, states, logs, s, m, f, shares), 0.0
    if top == -np.inf:
        return top
    for x in range(states.sizes[s]):
        whole += np.exp(shares[x] - top)
    return top + np.log(whole)
