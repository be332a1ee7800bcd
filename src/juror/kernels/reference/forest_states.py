"""Missing cells in a forest: messages from observed cells up to the top of each missing region, and counts down again.

A missing node v with an observed descendant is in a *state* s: the label of every observed child c, and the state t of
every missing child that has observed descendants itself. With the tables T of a class f, and r for the parent's label
(r = 0 for a root),

    value      G_s[x, f] = Π_{c observed} T_c[x, x_c, f]  Π_{c in state t} M_t[x, f]
    message    M_s[r, f] = Σ_x T_v[r, x, f] G_s[x, f]
    counts     q[r, x, f] = K_s[r, f] T_v[r, x, f] G_s[x, f] / M_s[r, f]

The counts K of a message are shared by the labels x of its node: q is added to the counts of T_v[r, x], and Σ_r q to
those of T_c[x, x_c] and of the messages M_t[x].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juror.kernels.logarithms import log_of, log_sum_exp
from juror.kernels.reference.random_numbers import uniform

# Below this, a message may have lost digits or have underflowed, so that its logarithm is needed too.
TINY = 1e-200
# The random numbers of a message in a class
NUMBERS_OF_MESSAGE = 1 << 32


class States(NamedTuple):
    """The states of missing nodes, those of children before those of their parents, and their messages.

    A *link* of a state is a factor of its value: the factor of label x is row ``base + x · stride``, of the stack if
    that is less than the height of the stack, else of the messages that follow the stack.

    Attributes
    ----------
    sizes : numpy.ndarray of int64, (S,)
        The number of labels of the node of every state.
    first_link : numpy.ndarray of int64, (S + 1,)
        The first link of every state, and one past the last.
    base, stride : numpy.ndarray of int64, (n_links,)
        The links.
    first_message : numpy.ndarray of int64, (S + 1,)
        The first message of every state, and one past the last.
    table : numpy.ndarray of int64, (n_messages,)
        The stacked row T_v[r, 0] of every message; those of the other labels follow.
    first_state : numpy.ndarray of int64, (n_nodes + 1,)
        The first state of every node that has any, and one past the last.
    """

    sizes: np.ndarray
    first_link: np.ndarray
    base: np.ndarray
    stride: np.ndarray
    first_message: np.ndarray
    table: np.ndarray
    first_state: np.ndarray

    def links(self, s: int) -> list[np.ndarray]:
        """Return the rows of every link of a state, (I_v,) each."""
        some = slice(int(self.first_link[s]), int(self.first_link[s + 1]))
        x = np.arange(self.sizes[s])
        return [base + x * stride for base, stride in zip(self.base[some], self.stride[some], strict=True)]

    def messages(self, s: int) -> range:
        """Return the messages of a state."""
        return range(int(self.first_message[s]), int(self.first_message[s + 1]))


def messages(extended: np.ndarray, n_stacked: int, states: States, used: np.ndarray) -> np.ndarray:
    """Fill the rows below a stack with messages; return the logarithms of all, (n_messages, F), if needed, else (0, F).

    Logarithms are needed if any message is tiny but not zero. A message in use that is tiny in all classes is filled in
    as zeros: only its logarithms are of use.

    Parameters
    ----------
    extended : numpy.ndarray, (n_stacked + n_used, F)
        Stacked tables T, and below them room for messages.
    n_stacked : int
        The height of the stack.
    states : States
        The states of missing nodes.
    used : numpy.ndarray of int64, (n_used,)
        Which messages are filled in.
    """
    logs = log_rows(extended[:n_stacked], states)[n_stacked:]
    values, below = np.exp(logs), extended[n_stacked:]
    below[:] = values[used]
    if not np.any((values < TINY) & (logs > -np.inf)):
        return logs[:0]
    below[below.max(axis=1) < TINY] = 0.0
    return logs


def log_rows(stack: np.ndarray, states: States) -> np.ndarray:
    """Return the logarithms of the stack and of the messages, one below the other."""
    rows = np.concatenate([log_of(stack), np.empty((len(states.table), stack.shape[1]))])
    for s, size in enumerate(states.sizes):
        G = sum(rows[link] for link in states.links(s))
        for m in states.messages(s):
            table = rows[states.table[m] : states.table[m] + size]
            rows[len(stack) + m] = log_sum_exp((table + G).T)
    return rows


def spread_counts(counts: np.ndarray, stack: np.ndarray, states: States, used: np.ndarray, logs: np.ndarray) -> None:
    """Add the counts of messages, which stand below those of the stack, to the stacked rows they are made of.

    Parameters
    ----------
    counts : numpy.ndarray, (stacked rows + n_used, F)
        Counts of stacked rows, changed in place, and below them the counts K of messages in use.
    stack : numpy.ndarray, (stacked rows, F)
        Stacked tables T.
    states, used
        As in :func:`messages`.
    logs : numpy.ndarray, (n_messages or 0, F)
        What :func:`messages` returned.
    """
    rows = log_rows(stack, states)
    out = _counts_below(counts, stack, states, used)
    for s in range(len(states.sizes) - 1, -1, -1):
        size, links = states.sizes[s], states.links(s)
        G, Q = sum(rows[link] for link in links), np.zeros((size, stack.shape[1]))
        for m in states.messages(s):
            table = slice(states.table[m], states.table[m] + size)
            over = rows[len(stack) + m]
            shares = np.exp(rows[table] + G - np.where(over > -np.inf, over, 0.0))
            q = out[len(stack) + m] * shares
            out[table] += q
            Q += q
        for link in links:
            out[link] += Q
    counts[: len(stack)] += out[: len(stack)]


def _counts_below(counts: np.ndarray, stack: np.ndarray, states: States, used: np.ndarray) -> np.ndarray:
    """Return zeros for the stack, and below them the counts of messages."""
    out = np.zeros((len(stack) + len(states.table), stack.shape[1]))
    out[len(stack) + used] = counts[len(stack) :]
    return out


def draw_counts(
    counts: np.ndarray, key: int, stack: np.ndarray, states: States, used: np.ndarray, logs: np.ndarray
) -> None:
    """Draw labels for the rows that messages count, and add them to the counts of stacked rows.

    A message counted k times in a class draws ⌊k⌋ labels x with probabilities q / K, and one more that counts as the
    rest. Message m in class f has the random numbers from (m F + f) · 2³² on, in whatever order messages are visited.

    Parameters
    ----------
    counts, stack, states, used, logs
        As in :func:`spread_counts`.
    key : int
        The key of the random numbers, see :func:`juror.kernels.reference.random_numbers.uniform`.
    """
    out = _counts_below(counts, stack, states, used)
    every = log_rows(stack, states)
    for f, rows in enumerate(every.T):
        drawn = out[:, f]
        for s in range(len(states.sizes) - 1, -1, -1):
            links, size = states.links(s), states.sizes[s]
            for m in states.messages(s):
                table = states.table[m] + np.arange(size)
                left, number = drawn[len(stack) + m], (m * stack.shape[1] + f) * NUMBERS_OF_MESSAGE
                if left > 0:
                    chances = rows[table] + sum(rows[link] for link in links)
                    ladder = np.cumsum(np.exp(chances - chances.max()))
                while left > 0:
                    level = uniform(key, np.array([number]))[0] * ladder[-1]
                    x, one = int(np.argmax(ladder > level)), min(left, 1.0)
                    number, left = number + 1, left - one
                    for row in (table, *links):
                        drawn[row[x]] += one
    counts[: len(stack)] += out[: len(stack)]
