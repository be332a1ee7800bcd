"""Passes over rows of a tree with a hidden node of K states behind every variable.

cells : (rows, N) int64
    The line of ``columns`` that each cell selects. The last line, of ones, is that of missing cells.
columns : (L, K) float32
    The chance of every label of every variable in each state of its node.
follows : (N, K, K) float32
    The chance of each state of a node, given the state of the node above; at a root the first line alone counts.
above, order : (N,) int64
    The node above each node, −1 for roots, and the nodes, those above before those below.
"""

from __future__ import annotations

import numpy as np


def _upwards(
    cells: np.ndarray, columns: np.ndarray, follows: np.ndarray, above: np.ndarray, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the beliefs and messages of all nodes, (N, rows, K), and the log-probability of every row, (rows,)."""
    beliefs = columns[cells.T]
    messages, logs = np.empty_like(beliefs), np.zeros(len(cells))
    for n in reversed(order):
        logs += _scaled(beliefs[n])
        if above[n] < 0:
            with np.errstate(divide="ignore"):
                logs += np.log(beliefs[n] @ follows[n, 0])
            continue
        messages[n] = beliefs[n] @ follows[n].T
        beliefs[above[n]] *= messages[n]
        # Children that contradict each other would underflow together.
        logs += _scaled(beliefs[above[n]])
    return beliefs, messages, logs


def _scaled(belief: np.ndarray) -> np.ndarray:
    """Divide the rows of a belief, in place, by their largest entries; return the logarithms of these."""
    top = belief.max(axis=1)
    belief /= np.where(top > 0, top, 1)[:, None]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(top))


def hidden_logs(
    cells: np.ndarray, columns: np.ndarray, follows: np.ndarray, above: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Return the log-probability of every row, (rows,)."""
    return _upwards(cells, columns, follows, above, order)[2]


def hidden_counts(
    cells: np.ndarray,
    weights: np.ndarray,
    columns: np.ndarray,
    follows: np.ndarray,
    above: np.ndarray,
    order: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the expected counts of columns (L, K) and of states that follow states (N, K, K)."""
    beliefs, messages, _ = _upwards(cells, columns, follows, above, order)
    of_columns, of_follows, shares = np.zeros_like(columns), np.zeros_like(follows), np.empty_like(beliefs)
    for n in order:
        if above[n] < 0:
            joint = follows[n, 0] * beliefs[n]
            whole = joint.sum(axis=1, keepdims=True)
            # A row that is impossible counts nowhere.
            shares[n] = np.divide(joint, whole, out=np.zeros_like(joint), where=whole > 0)
            of_follows[n, 0] = weights @ shares[n]
        else:
            upper = shares[above[n]]
            through = np.divide(upper, messages[n], out=np.zeros_like(upper), where=messages[n] > 0)
            shares[n] = beliefs[n] * (through @ follows[n])
            of_follows[n] = follows[n] * ((through * weights[:, None]).T @ beliefs[n])
        np.add.at(of_columns, cells[:, n], weights[:, None] * shares[n])
    return of_columns, of_follows
