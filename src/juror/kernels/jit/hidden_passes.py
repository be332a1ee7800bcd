"""Passes over rows of trees with hidden nodes; :mod:`juror.kernels.reference.hidden_passes` has the definition.

Rows are passed over in blocks whose messages stay in the cache, by matrix products of BLAS.
"""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel, part

_BLOCK = 128


@part
def _scale(belief, r, logs, i):
    """Divide a row of beliefs by its largest entry, and add the logarithm of that to the row's."""
    top = belief[r, 0]
    for k in range(1, belief.shape[1]):
        top = max(top, belief[r, k])
    logs[i] += np.log(top)
    if top > 0:
        for k in range(belief.shape[1]):
            belief[r, k] /= top


@part
def _upwards(cells, first, n_rows, columns, follows, above, order, beliefs, messages, logs):
    """Send messages of a block of rows, which begins at ``first``, from the cells to the roots."""
    n_states = columns.shape[1]
    for n in range(order.shape[0]):
        for r in range(n_rows):
            cell = cells[first + r, n]
            for k in range(n_states):
                beliefs[n, r, k] = columns[cell, k]
    for place in range(order.shape[0] - 1, -1, -1):
        n = order[place]
        for r in range(n_rows):
            _scale(beliefs[n], r, logs, first + r)
        if above[n] < 0:
            for r in range(n_rows):
                whole = np.float32(0.0)
                for k in range(n_states):
                    whole += follows[n, 0, k] * beliefs[n, r, k]
                logs[first + r] += np.log(whole)
            continue
        np.dot(beliefs[n, :n_rows], follows[n].T, messages[n, :n_rows])
        upper = beliefs[above[n]]
        for r in range(n_rows):
            for k in range(n_states):
                upper[r, k] *= messages[n, r, k]
            # Children that contradict each other would underflow together.
            _scale(upper, r, logs, first + r)


def _rooms(n_nodes, n_rows, n_states):
    """Return room for the beliefs and the messages of a block, (N, rows, K) each."""
    shape = n_nodes, min(_BLOCK, n_rows), n_states
    return np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)


def hidden_logs(cells, columns, follows, above, order):
    """Return the log-probability of every row, (rows,)."""
    logs = np.zeros(len(cells))
    _fill_logs(cells, columns, follows, above, order, *_rooms(len(order), len(cells), columns.shape[1]), logs)
    return logs


@kernel
def _fill_logs(cells, columns, follows, above, order, beliefs, messages, logs):
    """Add the log-probability of every row to logs, (rows,)."""
    for first in range(0, cells.shape[0], _BLOCK):
        n_rows = min(_BLOCK, cells.shape[0] - first)
        _upwards(cells, first, n_rows, columns, follows, above, order, beliefs, messages, logs)


def hidden_counts(cells, weights, columns, follows, above, order):
    """Return the expected counts of columns (L, K) and of states that follow states (N, K, K)."""
    n_states, of_columns, of_follows = columns.shape[1], np.zeros_like(columns), np.zeros_like(follows)
    rooms = _rooms(len(order), len(cells), n_states)
    shares = np.empty((2, min(_BLOCK, len(cells)), n_states), dtype=np.float32)
    both, logs = np.empty((n_states, n_states), dtype=np.float32), np.zeros(len(cells))
    _count(cells, weights, columns, follows, above, order, *rooms, *shares, both, logs, of_columns, of_follows)
    return of_columns, of_follows


@kernel
def _count(
    cells,
    weights,
    columns,
    follows,
    above,
    order,
    beliefs,
    messages,
    through,
    shares,
    both,
    logs,
    of_columns,
    of_follows,
):
    """Add expected counts to those of columns and of states that follow states; the other arrays are scratch."""
    n_states = columns.shape[1]
    for first in range(0, cells.shape[0], _BLOCK):
        size = min(_BLOCK, cells.shape[0] - first)
        _upwards(cells, first, size, columns, follows, above, order, beliefs, messages, logs)
        for place in range(order.shape[0]):
            n = order[place]
            belief = beliefs[n, :size]
            if above[n] < 0:
                for r in range(size):
                    whole = np.float32(0.0)
                    for k in range(n_states):
                        belief[r, k] *= follows[n, 0, k]
                        whole += belief[r, k]
                    for k in range(n_states):
                        # A row that is impossible counts nowhere.
                        belief[r, k] = belief[r, k] / whole if whole > 0 else np.float32(0.0)
                        of_follows[n, 0, k] += weights[first + r] * belief[r, k]
            else:
                upper, message = beliefs[above[n]], messages[n]
                for r in range(size):
                    for k in range(n_states):
                        through[r, k] = upper[r, k] / message[r, k] if message[r, k] > 0 else np.float32(0.0)
                np.dot(through[:size], follows[n], shares[:size])
                for r in range(size):
                    for k in range(n_states):
                        through[r, k] *= weights[first + r]
                np.dot(through[:size].T, belief, both)
                for y in range(n_states):
                    for x in range(n_states):
                        of_follows[n, y, x] += follows[n, y, x] * both[y, x]
                for r in range(size):
                    for k in range(n_states):
                        belief[r, k] *= shares[r, k]
            # From here on the beliefs of the node are its posterior.
            for r in range(size):
                into = of_columns[cells[first + r, n]]
                for k in range(n_states):
                    into[k] += weights[first + r] * belief[r, k]
