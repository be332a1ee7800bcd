"""Missing cells in a forest for few rows: all states of a node at once, and only draws that count rows.

The definitions, :mod:`juror.kernels.reference.forest_states`, visit one state after the other, in log space. Here
messages are products and sums of probabilities as in numba, and all are found again in log space if one of them is
below 1e-200. Draws use the same random numbers for the same labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juror.kernels.logarithms import log_of, log_sum_exp
from juror.kernels.reference.forest_states import NUMBERS_OF_MESSAGE, TINY, States
from juror.kernels.reference.random_numbers import uniform

# The most numbers of the tables that messages are summed from at a time
_MOST_AT_ONCE = 1 << 20


class StatesOfNode(NamedTuple):
    """The states of a node and their messages.

    Attributes
    ----------
    messages : slice
        Which messages these are.
    state : numpy.ndarray of int, (messages,)
        The state of every message, numbered from the first of this node.
    tables : numpy.ndarray of int, (messages, I)
        The stacked rows of every message.
    links : numpy.ndarray of int, (links, I)
        The rows of every link.
    first_link, n_links : numpy.ndarray of int, (states,)
        The first link of every state, numbered from the first of this node, and the number of its links.
    """

    messages: slice
    state: np.ndarray
    tables: np.ndarray
    links: np.ndarray
    first_link: np.ndarray
    n_links: np.ndarray


class StackAndMessages(NamedTuple):
    """The stack and below it all messages, (n_stacked + n_messages, F), or the logarithms of these."""

    values: np.ndarray
    are_logs: bool


def nodes_of(states: States) -> list[StatesOfNode]:
    """Lay out the states of every node, children first."""
    found = []
    for first, last in zip(states.first_state[:-1].tolist(), states.first_state[1:].tolist(), strict=True):
        begin, end = int(states.first_message[first]), int(states.first_message[last])
        links, x = slice(int(states.first_link[first]), int(states.first_link[last])), np.arange(states.sizes[first])
        found.append(
            StatesOfNode(
                slice(begin, end),
                np.repeat(np.arange(last - first), np.diff(states.first_message[first : last + 1])),
                states.table[begin:end, None] + x,
                states.base[links, None] + states.stride[links, None] * x,
                states.first_link[first:last] - links.start,
                np.diff(states.first_link[first : last + 1]),
            )
        )
    return found


def messages(extended: np.ndarray, n_stacked: int, states: States, used: np.ndarray) -> np.ndarray:
    """Fill the rows below a stack with messages; return the logarithms of all if needed; see the definition."""
    return filled_in(all_messages(extended[:n_stacked], nodes_of(states)), extended, n_stacked, used)


def filled_in(rows: StackAndMessages, extended: np.ndarray, n_stacked: int, used: np.ndarray) -> np.ndarray:
    """Fill the rows below a stack with the messages in use, and return what :func:`messages` does."""
    below, found = extended[n_stacked:], rows.values[n_stacked:]
    if not rows.are_logs:
        below[:] = found.take(used, axis=0)
        return found[:0]
    values = np.exp(found)
    below[:] = values[used]
    if not np.any((values < TINY) & (found > -np.inf)):
        return found[:0]
    below[below.max(axis=1) < TINY] = 0.0
    return found


def all_messages(stack: np.ndarray, nodes: list[StatesOfNode]) -> StackAndMessages:
    """Find all messages below a stack (n_stacked, F)."""
    n_stacked, n_messages = len(stack), nodes[-1].messages.stop if nodes else 0
    rows = np.empty((n_stacked + n_messages, stack.shape[1]))
    rows[:n_stacked] = stack
    for node in nodes:
        _fill(rows, n_stacked, node, in_logs=False)
    if rows[n_stacked:].min(initial=1.0) >= TINY:
        return StackAndMessages(rows, are_logs=False)
    rows[:n_stacked] = log_of(stack)
    for node in nodes:
        _fill(rows, n_stacked, node, in_logs=True)
    return StackAndMessages(rows, are_logs=True)


def _fill(rows: np.ndarray, n_stacked: int, node: StatesOfNode, *, in_logs: bool) -> None:
    """Fill in the messages of a node below a stack."""
    values = rows.take(node.links, axis=0)
    if len(values) > len(node.first_link):
        values = (np.add if in_logs else np.multiply).reduceat(values, node.first_link, axis=0)
    at_once = max(1, _MOST_AT_ONCE // (node.tables.shape[1] * rows.shape[1]))
    for first in range(0, len(node.tables), at_once):
        some = slice(first, first + at_once)
        tables, of_states = rows.take(node.tables[some], axis=0), values.take(node.state[some], axis=0)
        begin = n_stacked + node.messages.start + first
        into = rows[begin : begin + len(tables)]
        if in_logs:
            tables += of_states
            into[:] = log_sum_exp(tables.transpose(0, 2, 1))
        else:
            tables *= of_states
            np.add.reduce(tables, axis=1, out=into)


def draw_counts(
    counts: np.ndarray, key: int, stack: np.ndarray, states: States, used: np.ndarray, logs: np.ndarray
) -> None:
    """Draw labels for the rows that messages count, and add them to the counts of stacked rows; see the definition."""
    nodes = nodes_of(states)
    draw_from(counts, key, all_messages(stack, nodes), nodes, used)


def draw_from(
    counts: np.ndarray, key: int, rows: StackAndMessages, nodes: list[StatesOfNode], used: np.ndarray
) -> None:
    """Do the same with all messages, which were found before."""
    F, n_stacked = counts.shape[1], len(counts) - len(used)
    # Counts of the stack, and below it those of all messages, flat
    drawn = np.zeros(rows.values.size)
    all_counts = drawn.reshape(-1, F)
    all_counts[n_stacked + used] = counts[n_stacked:]
    values = rows.values.reshape(-1)
    for node in reversed(nodes):
        (places,) = all_counts[n_stacked + node.messages.start : n_stacked + node.messages.stop].reshape(-1).nonzero()
        if not len(places):
            continue
        m, f = np.divmod(places, F)
        first = node.messages.start * F
        count, numbers = drawn[places + (n_stacked * F + first)], (places + first) * NUMBERS_OF_MESSAGE
        cells = node.tables[m] * F
        cells += f[:, None]
        state = node.state[m]
        n_links = node.n_links[state]
        of = np.repeat(np.arange(len(m)), n_links)
        starts = np.cumsum(n_links) - n_links
        links = node.links[(node.first_link[state] - starts)[of] + np.arange(len(of))] * F
        links += f[of, None]
        ladder = _ladders(values[cells], values[links], starts, are_logs=rows.are_logs)
        if count.max() > 1.0:
            _draw_several(drawn, key, numbers, count, ladder, cells, links, of)
            continue
        x = _labels(ladder, uniform(key, numbers))
        # Messages of one state share links, so cells may come more than once.
        np.add.at(drawn, cells[np.arange(len(m)), x], count)
        np.add.at(drawn, links[np.arange(len(of)), x[of]], count[of])
    counts[:n_stacked] += all_counts[:n_stacked]


def _draw_several(
    drawn: np.ndarray,
    key: int,
    numbers: np.ndarray,
    count: np.ndarray,
    ladder: np.ndarray,
    cells: np.ndarray,
    links: np.ndarray,
    of: np.ndarray,
) -> None:
    """Draw labels for messages that count more than one row: each draw counts one, and the last what is left."""
    n_draws = np.ceil(count).astype(np.int64)
    message = np.repeat(np.arange(len(count)), n_draws)
    place = np.arange(len(message)) - np.repeat(np.cumsum(n_draws) - n_draws, n_draws)
    worth = np.where(place == n_draws[message] - 1, (count - (n_draws - 1))[message], 1.0)
    x = _labels(ladder[message], uniform(key, numbers[message] + place))
    of_labels = np.bincount(message * ladder.shape[1] + x, worth, minlength=ladder.size).reshape(ladder.shape)
    np.add.at(drawn, cells, of_labels)
    np.add.at(drawn, links, of_labels[of])


def _labels(ladder: np.ndarray, levels: np.ndarray) -> np.ndarray:
    """Return the first label whose cumulative probability is above a level of the whole, (draws,)."""
    levels = levels * ladder[:, -1]
    return np.asarray(np.minimum((ladder <= levels[:, None]).sum(axis=1), ladder.shape[1] - 1))


def _ladders(tables: np.ndarray, factors: np.ndarray, first: np.ndarray, *, are_logs: bool) -> np.ndarray:
    """Return cumulative probabilities of labels up to factors, (messages, I), from tables and the factors of links."""
    if len(factors) > len(tables):
        factors = (np.add if are_logs else np.multiply).reduceat(factors, first, axis=0)
    if not are_logs:
        return np.cumsum(tables * factors, axis=1)
    logs = tables + factors
    return np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
