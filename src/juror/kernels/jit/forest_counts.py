"""Counts of messages, down to the stacked rows; :mod:`juror.kernels.reference.forest_states` has the definitions."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part
from juror.kernels.jit.forest_states import TINY, find_fours, find_value, largest_size, log_shares, send_all_up
from juror.kernels.jit.products import aligned, aligned_room
from juror.kernels.jit.random_numbers import uniform
from juror.kernels.jit.vectors import add, divide, least, load, multiply, multiply_add, spread, store
from juror.kernels.reference.forest_states import NUMBERS_OF_MESSAGE

# The floats in a chunk, as in :mod:`juror.kernels.jit.forest_states`
_W = 8


def spread_counts(counts, stack, states, used, logs):
    """Add the counts of messages, which stand below those of the stack, to the stacked rows they are made of."""
    n_rows, largest = len(stack) + len(states.table), int(states.sizes.max(initial=1))
    most = int(np.diff(states.first_message).max(initial=1))
    rows, below = aligned_room(n_rows * _W), aligned_room(n_rows * _W)
    G, Q, ratios = aligned_room(4 * largest * _W), aligned_room(4 * largest * _W), aligned_room(4 * most * _W)
    at_once = np.empty(len(states.sizes), dtype=np.int64)
    _spread(counts, stack, states, used, logs, at_once, rows, below, G, Q, ratios, np.empty(largest))


@kernel
def _spread(counts, stack, states, used, logs, at_once, rows, below, G, Q, ratios, shares):
    """Do so with arrays for scratch."""
    n_stacked, F = stack.shape
    find_fours(states, at_once)
    flat = counts.reshape(counts.size)
    for f in range(0, F, _W):
        # It takes less time to find messages again than to keep those of all classes.
        send_all_up(stack, f, states, at_once, rows, G)
        below[:] = 0.0
        for u in range(used.shape[0]):
            place, of = (n_stacked + used[u]) * _W, (n_stacked + u) * F + f
            if f + _W <= F:
                store(below, place, load(flat, of, _W))
            else:
                for lane in range(F - f):
                    below[place + lane] = flat[of + lane]
        _share_all_down(stack, f, states, at_once, logs, rows, below, G, Q, ratios, shares)
        for row in range(n_stacked):
            place, into = row * _W, row * F + f
            if f + _W <= F:
                store(flat, into, add(load(flat, into, _W), load(below, place, _W)))
            else:
                for lane in range(F - f):
                    flat[into + lane] += below[place + lane]


@part
def _share_all_down(stack, f, states, at_once, logs, rows, counts, G, Q, ratios, shares):
    """Share the counts of W classes, from class f on, of all messages, those of parents first."""
    base, stride, links = states.base, states.stride, states.first_link
    n_stacked, s = stack.shape[0], states.sizes.shape[0]
    while s > 0:
        n = 4 if s >= 4 and at_once[s - 4] == 4 else 1
        s -= n
        size, first, end = states.sizes[s], states.first_message[s], states.first_message[s + 1]
        for k in range(n):
            find_value(rows, base, stride, links[s + k], links[s + k + 1], size, G, k * size * _W)
        if n == 4:
            quick = _share_four_down(rows, counts, states.table, first, end - first, size, n_stacked, G, Q, ratios)
        else:
            quick = _share_down(rows, counts, states.table, first, end, size, n_stacked, G, Q, ratios)
        for k in range(n):
            at = k * size * _W
            if not quick:
                _share_slowly(stack, states, logs, s + k, f, rows, counts, G[at:], shares, Q[at:])
            _pass_on(counts, base, stride, links[s + k], links[s + k + 1], size, Q, at)


@part
def _share_down(rows, counts, table, first, end, size, n_stacked, G, Q, ratios):
    """Share the counts of the messages of a state among the labels x of its node; return False if one is tiny."""
    for m in range(first, end):
        below = (n_stacked + m) * _W
        message = load(rows, below, _W)
        if least(message) < TINY:
            return False
        store(ratios, (m - first) * _W, divide(load(counts, below, _W), message))
    for x in range(size):
        store(Q, x * _W, spread(0.0, _W))
    m = first
    while m + 1 < end:
        a, b = load(ratios, (m - first) * _W, _W), load(ratios, (m + 1 - first) * _W, _W)
        place, beside = table[m] * _W, table[m + 1] * _W
        for x in range(size):
            of, value = x * _W, load(G, x * _W, _W)
            one = multiply(multiply(load(rows, place + of, _W), value), a)
            two = multiply(multiply(load(rows, beside + of, _W), value), b)
            store(counts, place + of, add(load(counts, place + of, _W), one))
            store(counts, beside + of, add(load(counts, beside + of, _W), two))
            store(Q, of, add(load(Q, of, _W), add(one, two)))
        m += 2
    if m < end:
        place, ratio = table[m] * _W, load(ratios, (m - first) * _W, _W)
        for x in range(size):
            q = multiply(multiply(load(rows, place + x * _W, _W), load(G, x * _W, _W)), ratio)
            store(counts, place + x * _W, add(load(counts, place + x * _W, _W), q))
            store(Q, x * _W, add(load(Q, x * _W, _W), q))
    return True


@part
def _share_four_down(rows, counts, table, first, n, size, n_stacked, G, Q, ratios):
    """Do what :func:`_share_down` does for four states that share their tables."""
    for m in range(first, first + 4 * n):
        message = load(rows, (n_stacked + m) * _W, _W)
        if least(message) < TINY:
            return False
        store(ratios, (m - first) * _W, divide(load(counts, (n_stacked + m) * _W, _W), message))
    step = size * _W
    for x in range(4 * size):
        store(Q, x * _W, spread(0.0, _W))
    for r in range(n):
        a, b = load(ratios, r * _W, _W), load(ratios, (n + r) * _W, _W)
        c, d = load(ratios, (2 * n + r) * _W, _W), load(ratios, (3 * n + r) * _W, _W)
        place = table[first + r] * _W
        for x in range(size):
            of, t = x * _W, load(rows, place + x * _W, _W)
            one = multiply_add(b, load(G, of + step, _W), multiply(a, load(G, of, _W)))
            two = multiply_add(d, load(G, of + 3 * step, _W), multiply(c, load(G, of + 2 * step, _W)))
            store(counts, place + of, multiply_add(t, add(one, two), load(counts, place + of, _W)))
            store(Q, of, multiply_add(a, t, load(Q, of, _W)))
            store(Q, of + step, multiply_add(b, t, load(Q, of + step, _W)))
            store(Q, of + 2 * step, multiply_add(c, t, load(Q, of + 2 * step, _W)))
            store(Q, of + 3 * step, multiply_add(d, t, load(Q, of + 3 * step, _W)))
    for x in range(4 * size):
        store(Q, x * _W, multiply(load(Q, x * _W, _W), load(G, x * _W, _W)))
    return True


@part
def _pass_on(counts, base, stride, first, end, size, Q, at):
    """Add the counts of the labels of a node, from place ``at`` of Q on, to those of the links of its state."""
    for x in range(size):
        q = load(Q, at + x * _W, _W)
        for link in range(first, end):
            place = (base[link] + x * stride[link]) * _W
            store(counts, place, add(load(counts, place, _W), q))


@part
def _share_slowly(stack, states, logs, s, f, rows, counts, G, shares, Q):
    """Share the counts of messages, some of which are tiny, class by class, where needed in log space."""
    size = states.sizes[s]
    Q[: size * _W] = 0.0
    for m in range(states.first_message[s], states.first_message[s + 1]):
        place = (stack.shape[0] + m) * _W
        for lane in range(min(_W, stack.shape[1] - f)):
            counted, message = counts[place + lane], rows[place + lane]
            if counted <= 0.0:
                continue
            if message < TINY:
                log_shares(stack, states, logs, s, m, f + lane, shares)
            for x in range(size):
                cell = (states.table[m] + x) * _W + lane
                if message < TINY:
                    q = counted * np.exp(shares[x] - logs[m, f + lane])
                else:
                    q = rows[cell] * G[x * _W + lane] * (counted / message)
                counts[cell] += q
                Q[x * _W + lane] += q


@kernel
def draw_counts(counts, key, stack, states, used, logs):
    """Draw labels for the rows that messages count, and add them to the counts of stacked rows."""
    (n_stacked, F), n_messages, largest = stack.shape, states.table.shape[0], largest_size(states)
    drawn = np.empty(n_stacked + n_messages)
    rows, G, ladder = aligned((n_stacked + n_messages) * _W), aligned(4 * largest * _W), np.empty(largest)
    at_once = np.empty(states.sizes.shape[0], dtype=np.int64)
    find_fours(states, at_once)
    for f in range(F):
        if f % _W == 0:
            send_all_up(stack, f, states, at_once, rows, G)
        drawn[:] = 0.0
        for u in range(used.shape[0]):
            drawn[n_stacked + used[u]] = counts[n_stacked + u, f]
        for s in range(states.sizes.shape[0] - 1, -1, -1):
            for m in range(states.first_message[s], states.first_message[s + 1]):
                if drawn[n_stacked + m] > 0.0:
                    _fill_ladder(stack, states, rows, logs, s, m, f, ladder)
                    number = (m * F + f) * NUMBERS_OF_MESSAGE
                    _draw_labels(states, s, m, key, number, ladder, drawn[n_stacked + m], drawn)
        for row in range(n_stacked):
            counts[row, f] += drawn[row]


@part
def _draw_labels(states, s, m, key, number, ladder, left, drawn):
    """Draw labels of a state's node until none is left."""
    last = states.sizes[s] - 1
    while left > 0.0:
        level, x, one = uniform(key, number) * ladder[last], 0, min(left, 1.0)
        while ladder[x] <= level and x < last:
            x += 1
        number, left = number + 1, left - one
        drawn[states.table[m] + x] += one
        for link in range(states.first_link[s], states.first_link[s + 1]):
            drawn[states.base[link] + x * states.stride[link]] += one


@part
def _fill_ladder(stack, states, rows, logs, s, m, f, ladder):
    """Fill ladder (I,) with the cumulative probabilities of the labels of a message in class f, up to a factor."""
    size, reached, lane = states.sizes[s], 0.0, f % _W
    if rows[(stack.shape[0] + m) * _W + lane] < TINY:
        top = log_shares(stack, states, logs, s, m, f, ladder)
        for x in range(size):
            reached += np.exp(ladder[x] - top)
            ladder[x] = reached
        return
    for x in range(size):
        share = rows[(states.table[m] + x) * _W + lane]
        for link in range(states.first_link[s], states.first_link[s + 1]):
            share *= rows[(states.base[link] + x * states.stride[link]) * _W + lane]
        reached += share
        ladder[x] = reached
