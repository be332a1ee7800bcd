"""Missing cells in a forest; :mod:`juror.kernels.reference.forest_states` has the definitions in NumPy.

Classes are handled in chunks of W. Within a chunk, the stack and the messages below it are one array, (rows, W), which
stays in the cache. Messages are products and sums of probabilities. One that is below 1e-200 but not zero may have lost
digits: then logarithms are computed too, for one class at a time.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel
from juror.kernels.jit.products import aligned
from juror.kernels.jit.random_numbers import uniform
from juror.kernels.jit.vectors import add, divide, least, load, multiply, spread, store

_TINY = 1e-200
# The floats in a chunk. With longer ones, the tables of a chunk would not stay in the cache.
_W = 8


@kernel
def _value(rows, base, stride, first, end, size, G):
    """Fill G (I · W,) with the value of a state, the product of its links from first to end."""
    for x in range(size):
        product = load(rows, (base[first] + x * stride[first]) * _W, _W)
        for link in range(first + 1, end):
            product = multiply(product, load(rows, (base[link] + x * stride[link]) * _W, _W))
        store(G, x * _W, product)


@kernel
def _send_up(rows, table, first, end, size, n_stacked, G):
    """Store the messages of a state from first to end."""
    for m in range(first, end):
        place, message = table[m] * _W, spread(0.0, _W)
        for x in range(size):
            message = add(message, multiply(load(rows, place + x * _W, _W), load(G, x * _W, _W)))
        store(rows, (n_stacked + m) * _W, message)


@kernel
def _share_down(rows, counts, table, first, end, size, n_stacked, G, Q, ratios):
    """Share the counts of the messages of a state among the labels x of its node; return False if one is tiny."""
    for m in range(first, end):
        below = (n_stacked + m) * _W
        message = load(rows, below, _W)
        if least(message) < _TINY:
            return False
        store(ratios, (m - first) * _W, divide(load(counts, below, _W), message))
    for x in range(size):
        store(Q, x * _W, spread(0.0, _W))
    for m in range(first, end):
        place, ratio = table[m] * _W, load(ratios, (m - first) * _W, _W)
        for x in range(size):
            q = multiply(multiply(load(rows, place + x * _W, _W), load(G, x * _W, _W)), ratio)
            store(counts, place + x * _W, add(load(counts, place + x * _W, _W), q))
            store(Q, x * _W, add(load(Q, x * _W, _W), q))
    return True


@kernel
def _pass_on(counts, base, stride, first, end, size, Q):
    """Add the counts of the labels of a node, (I · W,), to those of the links of its state."""
    for x in range(size):
        q = load(Q, x * _W, _W)
        for link in range(first, end):
            place = (base[link] + x * stride[link]) * _W
            store(counts, place, add(load(counts, place, _W), q))


@kernel
def _fill_chunk(matrix, f, first, rows):
    """Copy W classes of a matrix, beginning at class f, into rows of W floats; fill up with ones."""
    here = min(_W, matrix.shape[1] - f)
    for row in range(matrix.shape[0]):
        place, of = (first + row) * _W, matrix[row]
        for lane in range(here):
            rows[place + lane] = of[f + lane]
        for lane in range(here, _W):
            rows[place + lane] = 1.0


@kernel
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


@kernel
def _any_lost(rows, states, s, n_stacked):
    """Whether a message of a state is below 1e-200, but not zero."""
    for m in range(states.first_message[s], states.first_message[s + 1]):
        place = (n_stacked + m) * _W
        if _least_of(rows, place) < _TINY:
            for lane in range(_W):
                if rows[place + lane] < _TINY and (rows[place + lane] > 0.0 or _possible(rows, states, s, m, lane)):
                    return True
    return False


@kernel
def messages(stack, states, used):
    """Return messages in use, (n_used, F), all messages as others here read them, and logarithms if any is tiny."""
    (n_stacked, F), n_messages = stack.shape, states.table.shape[0]
    below, size, lost = np.empty((used.shape[0], F)), n_messages * _W, False
    kept = np.empty(-(-F // _W) * size)
    rows, G = aligned((n_stacked + n_messages) * _W), aligned(_largest_size(states) * _W)
    for f in range(0, F, _W):
        _fill_chunk(stack, f, 0, rows)
        for s in range(states.sizes.shape[0]):
            first, end = states.first_link[s], states.first_link[s + 1]
            _value(rows, states.base, states.stride, first, end, states.sizes[s], G)
            first, end = states.first_message[s], states.first_message[s + 1]
            _send_up(rows, states.table, first, end, states.sizes[s], n_stacked, G)
            lost = lost or _any_lost(rows, states, s, n_stacked)
        kept[f // _W * size : (f // _W + 1) * size] = rows[n_stacked * _W :]
        here = min(_W, F - f)
        for u in range(used.shape[0]):
            place, of = (n_stacked + used[u]) * _W, below[u]
            for lane in range(here):
                of[f + lane] = rows[place + lane]
    if not lost:
        return below, kept, np.empty((0, F))
    for u in range(used.shape[0]):
        # Without some of its digits, such a row is of no use; zeros make kernels take its logarithms.
        if below[u].max() < _TINY:
            below[u] = 0.0
    return below, kept, _log_messages(stack, states, kept)


@kernel
def _largest_size(states):
    largest = 1
    for s in range(states.sizes.shape[0]):
        largest = max(largest, states.sizes[s])
    return largest


@kernel
def _log_row(stack, logs, row, f):
    n_stacked = stack.shape[0]
    return np.log(stack[row, f]) if row < n_stacked else logs[row - n_stacked, f]


@kernel
def _log_shares(stack, states, logs, s, m, f, shares):
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
def _log_messages(stack, states, kept):
    n_messages, F = states.table.shape[0], stack.shape[1]
    logs, shares = np.empty((n_messages, F)), np.empty(_largest_size(states))
    for s in range(states.sizes.shape[0]):
        for m in range(states.first_message[s], states.first_message[s + 1]):
            for f in range(F):
                value = kept[_place(n_messages, m, f)]
                if value >= _TINY:
                    logs[m, f] = np.log(value)
                    continue
                top, whole = _log_shares(stack, states, logs, s, m, f, shares), 0.0
                for x in range(states.sizes[s]):
                    whole += np.exp(shares[x] - top) if top > -np.inf else 0.0
                logs[m, f] = top + np.log(whole) if top > -np.inf else top
    return logs


@kernel
def _place(n_messages, m, f):
    """Return the place of message m in class f among all messages, which are stored chunk after chunk."""
    return (f // _W * n_messages + m) * _W + f % _W


@kernel
def spread_counts(counts, stack, states, used, kept, logs):
    """Share the counts of messages among the stacked rows that they are made of; return those, (stacked rows, F)."""
    (n_stacked, F), n_messages = stack.shape, states.table.shape[0]
    out, largest, size = np.empty(stack.shape), _largest_size(states), n_messages * _W
    rows, below = aligned(n_stacked * _W + size), aligned(n_stacked * _W + size)
    G, Q, shares = aligned(largest * _W), aligned(largest * _W), np.empty(largest)
    ratios = aligned(_most_messages(states) * _W)
    for f in range(0, F, _W):
        _fill_chunk(stack, f, 0, rows)
        rows[n_stacked * _W :] = kept[f // _W * size : (f // _W + 1) * size]
        below[:] = 0.0
        here = min(_W, F - f)
        for u in range(used.shape[0]):
            place, of = (n_stacked + used[u]) * _W, counts[u]
            for lane in range(here):
                below[place + lane] = of[f + lane]
        for s in range(states.sizes.shape[0] - 1, -1, -1):
            links, end_links, labels = states.first_link[s], states.first_link[s + 1], states.sizes[s]
            _value(rows, states.base, states.stride, links, end_links, labels, G)
            first, end = states.first_message[s], states.first_message[s + 1]
            if not _share_down(rows, below, states.table, first, end, labels, n_stacked, G, Q, ratios):
                _share_slowly(stack, states, logs, s, f, rows, below, G, shares, Q)
            _pass_on(below, states.base, states.stride, links, end_links, labels, Q)
        for row in range(n_stacked):
            place, into = row * _W, out[row]
            for lane in range(here):
                into[f + lane] = below[place + lane]
    return out


@kernel
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
            if message < _TINY:
                _log_shares(stack, states, logs, s, m, f + lane, shares)
            for x in range(size):
                cell = (states.table[m] + x) * _W + lane
                if message < _TINY:
                    q = counted * np.exp(shares[x] - logs[m, f + lane])
                else:
                    q = rows[cell] * G[x * _W + lane] * (counted / message)
                counts[cell] += q
                Q[x * _W + lane] += q


@kernel
def _most_messages(states):
    most = 1
    for s in range(states.sizes.shape[0]):
        most = max(most, states.first_message[s + 1] - states.first_message[s])
    return most


@kernel
def _least_of(rows, place):
    """Return the least of _W floats."""
    lowest = rows[place]
    for lane in range(1, _W):
        lowest = min(lowest, rows[place + lane])
    return lowest


@kernel
def draw_counts(counts, key, stack, states, used, kept, logs):
    """Draw labels for the rows that messages count; return how often each stacked row was drawn, (stacked rows, F)."""
    (n_stacked, F), n_messages = stack.shape, states.table.shape[0]
    out, inner = np.zeros(stack.shape), np.zeros((n_messages, F))
    inner[used] = counts
    ladder, number = np.empty(_largest_size(states)), 0
    for s in range(states.sizes.shape[0] - 1, -1, -1):
        last = states.sizes[s] - 1
        for m in range(states.first_message[s], states.first_message[s + 1]):
            for f in range(F):
                left = inner[m, f]
                if left <= 0.0:
                    continue
                _fill_ladder(stack, states, kept, logs, s, m, f, ladder)
                while left > 0.0:
                    level = uniform(key, number) * ladder[last]
                    x, one = 0, min(left, 1.0)
                    while ladder[x] <= level and x < last:
                        x += 1
                    number, left = number + 1, left - one
                    out[states.table[m] + x, f] += one
                    for link in range(states.first_link[s], states.first_link[s + 1]):
                        row = states.base[link] + x * states.stride[link]
                        if row < n_stacked:
                            out[row, f] += one
                        else:
                            inner[row - n_stacked, f] += one
    return out


@kernel
def _fill_ladder(stack, states, kept, logs, s, m, f, ladder):
    """Fill ladder (I,) with the cumulative probabilities of the labels of a message in class f, up to a factor."""
    n_stacked, n_messages, size, reached = stack.shape[0], states.table.shape[0], states.sizes[s], 0.0
    if kept[_place(n_messages, m, f)] < _TINY:
        top = _log_shares(stack, states, logs, s, m, f, ladder)
        for x in range(size):
            reached += np.exp(ladder[x] - top)
            ladder[x] = reached
        return
    for x in range(size):
        share = stack[states.table[m] + x, f]
        for link in range(states.first_link[s], states.first_link[s + 1]):
            row = states.base[link] + x * states.stride[link]
            share *= stack[row, f] if row < n_stacked else kept[_place(n_messages, row - n_stacked, f)]
        reached += share
        ladder[x] = reached
