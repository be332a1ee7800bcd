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
from juror.kernels.jit.vectors import add, divide, for_widths, least, load, multiply, spread, store

_TINY = 1e-200


def _value(W):
    def value_of_state(rows, base, stride, first, end, size, G):
        for x in range(size):
            product = load(rows, (base[first] + x * stride[first]) * W, W)
            for link in range(first + 1, end):
                product = multiply(product, load(rows, (base[link] + x * stride[link]) * W, W))
            store(G, x * W, product)

    return value_of_state


def _up(W):
    def send_up(rows, table, first, end, size, n_stacked, G):
        for m in range(first, end):
            place, message = table[m] * W, spread(0.0, W)
            for x in range(size):
                message = add(message, multiply(load(rows, place + x * W, W), load(G, x * W, W)))
            store(rows, (n_stacked + m) * W, message)

    return send_up


def _down(W):
    def share_down(rows, counts, table, first, end, size, n_stacked, G, Q, ratios):
        for m in range(first, end):
            below = (n_stacked + m) * W
            message = load(rows, below, W)
            if least(message) < _TINY:
                return False
            store(ratios, (m - first) * W, divide(load(counts, below, W), message))
        for x in range(size):
            store(Q, x * W, spread(0.0, W))
        for m in range(first, end):
            place, ratio = table[m] * W, load(ratios, (m - first) * W, W)
            for x in range(size):
                q = multiply(multiply(load(rows, place + x * W, W), load(G, x * W, W)), ratio)
                store(counts, place + x * W, add(load(counts, place + x * W, W), q))
                store(Q, x * W, add(load(Q, x * W, W), q))
        return True

    return share_down


def _pass_on(W):
    def pass_on(counts, base, stride, first, end, size, Q):
        for x in range(size):
            q = load(Q, x * W, W)
            for link in range(first, end):
                place = (base[link] + x * stride[link]) * W
                store(counts, place, add(load(counts, place, W), q))

    return pass_on


_value_8, _value_16 = for_widths(_value)
_up_8, _up_16 = for_widths(_up)
_down_8, _down_16 = for_widths(_down)
_pass_on_8, _pass_on_16 = for_widths(_pass_on)


@kernel
def _chunk_width(F):
    return 8


@kernel
def _fill_chunk(matrix, f, W, first, rows):
    """Copy W classes of a matrix, beginning at class f, into rows of W floats; fill up with ones."""
    here = min(W, matrix.shape[1] - f)
    for row in range(matrix.shape[0]):
        place, of = (first + row) * W, matrix[row]
        for lane in range(here):
            rows[place + lane] = of[f + lane]
        for lane in range(here, W):
            rows[place + lane] = 1.0


@kernel
def _take_chunk(rows, f, W, first, matrix):
    """Copy rows of W floats back into W classes of a matrix."""
    here = min(W, matrix.shape[1] - f)
    for row in range(matrix.shape[0]):
        place, of = (first + row) * W, matrix[row]
        for lane in range(here):
            of[f + lane] = rows[place + lane]


@kernel
def _find_value(rows, states, s, W, G):
    first, end, size = states.first_link[s], states.first_link[s + 1], states.sizes[s]
    if W == 16:
        _value_16(rows, states.base, states.stride, first, end, size, G)
    else:
        _value_8(rows, states.base, states.stride, first, end, size, G)


@kernel
def _possible(rows, states, s, m, W, lane, n_stacked):
    """Whether some label of a state's node leaves its message above zero, before rounding."""
    for x in range(states.sizes[s]):
        above = rows[(states.table[m] + x) * W + lane] > 0.0
        for link in range(states.first_link[s], states.first_link[s + 1]):
            if not above:
                break
            above = rows[(states.base[link] + x * states.stride[link]) * W + lane] > 0.0
        if above:
            return True
    return False


@kernel
def _any_lost(rows, states, s, W, n_stacked):
    """Whether a message of a state is below 1e-200, but not zero."""
    for m in range(states.first_message[s], states.first_message[s + 1]):
        place = (n_stacked + m) * W
        if _least_of(rows, place, W) < _TINY:
            for lane in range(W):
                if rows[place + lane] < _TINY and (
                    rows[place + lane] > 0.0 or _possible(rows, states, s, m, W, lane, n_stacked)
                ):
                    return True
    return False


@kernel
def messages(stack, states):
    """Return all messages, (n_messages, F), and their logarithms if any of them is tiny but not zero, else (0, F)."""
    (n_stacked, F), n_states, n_messages = stack.shape, states.sizes.shape[0], states.table.shape[0]
    W, values = _chunk_width(F), np.empty((n_messages, F))
    rows, G = aligned((n_stacked + n_messages) * W), aligned(_largest_size(states) * W)
    lost = False
    for f in range(0, F, W):
        _fill_chunk(stack, f, W, 0, rows)
        for s in range(n_states):
            _find_value(rows, states, s, W, G)
            first, end = states.first_message[s], states.first_message[s + 1]
            if W == 16:
                _up_16(rows, states.table, first, end, states.sizes[s], n_stacked, G)
            else:
                _up_8(rows, states.table, first, end, states.sizes[s], n_stacked, G)
            lost = lost or _any_lost(rows, states, s, W, n_stacked)
        _take_chunk(rows, f, W, n_stacked, values)
    return values, _log_messages(stack, states, values) if lost else np.empty((0, F))


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
def _log_messages(stack, states, values):
    logs, shares = np.empty(values.shape), np.empty(_largest_size(states))
    for s in range(states.sizes.shape[0]):
        for m in range(states.first_message[s], states.first_message[s + 1]):
            for f in range(values.shape[1]):
                if values[m, f] >= _TINY:
                    logs[m, f] = np.log(values[m, f])
                    continue
                top, whole = _log_shares(stack, states, logs, s, m, f, shares), 0.0
                for x in range(states.sizes[s]):
                    whole += np.exp(shares[x] - top) if top > -np.inf else 0.0
                logs[m, f] = top + np.log(whole) if top > -np.inf else top
            # Without some of its digits, such a row is of no use; zeros make kernels take its logarithms.
            if values[m].max() < _TINY:
                values[m] = 0.0
    return logs


@kernel
def spread_counts(counts, stack, states, values, logs):
    """Share the counts of messages among the stacked rows that they are made of; return those, (stacked rows, F)."""
    (n_stacked, F), n_messages = stack.shape, states.table.shape[0]
    W, out, largest = _chunk_width(F), np.empty(stack.shape), _largest_size(states)
    rows, below = aligned((n_stacked + n_messages) * W), aligned((n_stacked + n_messages) * W)
    G, Q, shares = aligned(largest * W), aligned(largest * W), np.empty(largest)
    ratios = aligned(_most_messages(states) * W)
    for f in range(0, F, W):
        _fill_chunk(stack, f, W, 0, rows)
        _fill_chunk(values, f, W, n_stacked, rows)
        below[: n_stacked * W] = 0.0
        _fill_chunk(counts, f, W, n_stacked, below)
        for s in range(states.sizes.shape[0] - 1, -1, -1):
            size = states.sizes[s]
            _find_value(rows, states, s, W, G)
            first, end = states.first_message[s], states.first_message[s + 1]
            if W == 16:
                quick = _down_16(rows, below, states.table, first, end, size, n_stacked, G, Q, ratios)
            else:
                quick = _down_8(rows, below, states.table, first, end, size, n_stacked, G, Q, ratios)
            if not quick:
                _share_slowly(stack, states, logs, s, f, rows, below, W, G, shares, Q)
            first, end = states.first_link[s], states.first_link[s + 1]
            if W == 16:
                _pass_on_16(below, states.base, states.stride, first, end, size, Q)
            else:
                _pass_on_8(below, states.base, states.stride, first, end, size, Q)
        _take_chunk(below, f, W, 0, out)
    return out


@kernel
def _share_slowly(stack, states, logs, s, f, rows, counts, W, G, shares, Q):
    """Share the counts of messages, some of which are tiny, class by class, where needed in log space."""
    size = states.sizes[s]
    Q[: size * W] = 0.0
    for m in range(states.first_message[s], states.first_message[s + 1]):
        place = (stack.shape[0] + m) * W
        for lane in range(min(W, stack.shape[1] - f)):
            counted, message = counts[place + lane], rows[place + lane]
            if counted <= 0.0:
                continue
            if message < _TINY:
                _log_shares(stack, states, logs, s, m, f + lane, shares)
            for x in range(size):
                cell = (states.table[m] + x) * W + lane
                if message < _TINY:
                    q = counted * np.exp(shares[x] - logs[m, f + lane])
                else:
                    q = rows[cell] * G[x * W + lane] * (counted / message)
                counts[cell] += q
                Q[x * W + lane] += q


@kernel
def _most_messages(states):
    most = 1
    for s in range(states.sizes.shape[0]):
        most = max(most, states.first_message[s + 1] - states.first_message[s])
    return most


@kernel
def _least_of(rows, place, W):
    """Return the least of W floats."""
    lowest = rows[place]
    for lane in range(1, W):
        lowest = min(lowest, rows[place + lane])
    return lowest


@kernel
def draw_counts(counts, key, stack, states, values, logs):
    """Draw labels for the rows that messages count; return how often each stacked row was drawn, (stacked rows, F)."""
    n_stacked, F = stack.shape
    out, inner = np.zeros(stack.shape), counts.copy()
    shares, number = np.empty(_largest_size(states)), 0
    for s in range(states.sizes.shape[0] - 1, -1, -1):
        for m in range(states.first_message[s], states.first_message[s + 1]):
            for f in range(F):
                left = inner[m, f]
                if left <= 0.0:
                    continue
                _fill_ladder(stack, states, values, logs, s, m, f, shares)
                last = states.sizes[s] - 1
                while left > 0.0:
                    level = uniform(key, number) * shares[last]
                    x, one = 0, min(left, 1.0)
                    while shares[x] <= level and x < last:
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
def _fill_ladder(stack, states, values, logs, s, m, f, ladder):
    """Fill ladder (I,) with the cumulative probabilities of the labels of a message in class f, up to a factor."""
    n_stacked, size, reached = stack.shape[0], states.sizes[s], 0.0
    if values[m, f] < _TINY:
        top = _log_shares(stack, states, logs, s, m, f, ladder)
        for x in range(size):
            reached += np.exp(ladder[x] - top)
            ladder[x] = reached
        return
    for x in range(size):
        share = stack[states.table[m] + x, f]
        for link in range(states.first_link[s], states.first_link[s + 1]):
            row = states.base[link] + x * states.stride[link]
            share *= stack[row, f] if row < n_stacked else values[row - n_stacked, f]
        reached += share
        ladder[x] = reached
