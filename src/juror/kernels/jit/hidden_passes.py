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
def _upwards(cells, first, columns, follows, above, order, beliefs, messages, logs):
    """Send messages of a block of rows, which begins at ``first``, from the cells to the roots."""
    n_rows, n_states = beliefs.shape[1], columns.shape[1]
    for n in range(len(order)):
        for r in range(n_rows):
            cell = cells[first + r, n]
            for k in range(n_states):
                beliefs[n, r, k] = columns[cell, k]
    for place in range(len(order) - 1, -1, -1):
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
        np.dot(beliefs[n], follows[n].T, messages[n])
        upper = beliefs[above[n]]
        for r in range(n_rows):
            for k in range(n_states):
                upper[r, k] *= messages[n, r, k]
            # Children that contradict each other would underflow together.
            _scale(upper, r, logs, first + r)


@kernel
def hidden_logs(cells, columns, follows, above, order):
    """Return the log-probability of every row, (rows,)."""
    n_rows, n_nodes, n_states = len(cells), len(order), columns.shape[1]
    logs = np.zeros(n_rows)
    for first in range(0, n_rows, _BLOCK):
        size = min(_BLOCK, n_rows - first)
        beliefs = np.empty((n_nodes, size, n_states), dtype=np.float32)
        messages = np.empty_like(beliefs)
        _upwards(cells, first, columns, follows, above, order, beliefs, messages, logs)
    return logs


@kernel
def hidden_counts(cells, weights, columns, follows, above, order):
    """Return the expected counts of columns (L, K) and of states that follow states (N, K, K)."""
    n_rows, n_nodes, n_states = len(cells), len(order), columns.shape[1]
    of_columns, of_follows, logs = np.zeros_like(columns), np.zeros_like(follows), np.zeros(n_rows)
    for first in range(0, n_rows, _BLOCK):
        size = min(_BLOCK, n_rows - first)
        beliefs = np.empty((n_nodes, size, n_states), dtype=np.float32)
        messages, through = np.empty_like(beliefs), np.empty((size, n_states), dtype=np.float32)
        shares, both = np.empty((size, n_states), dtype=np.float32), np.empty((n_states, n_states), dtype=np.float32)
        _upwards(cells, first, columns, follows, above, order, beliefs, messages, logs)
        for n in order:
            belief = beliefs[n]
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
                np.dot(through, follows[n], shares)
                for r in range(size):
                    for k in range(n_states):
                        through[r, k] *= weights[first + r]
                np.dot(through.T, belief, both)
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
    return of_columns, of_follows
