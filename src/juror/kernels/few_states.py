"""Missing cells in a forest for few rows: all states of a node at once, and only draws that count rows.

The definitions, :mod:`juror.kernels.reference.forest_states`, visit one state after the other, in log space. Here
messages are products and sums of probabilities as in numba, and all are found again in log space if one of them is below
1e-200. Draws use the same random numbers for the same labels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from juror.kernels.logarithms import log_of, log_sum_exp
from juror.kernels.reference.forest_states import NUMBERS_OF_CLASS, TINY, States
from juror.kernels.reference.random_numbers import uniform

# The most numbers of the tables that messages are summed from at a time
_MOST_AT_ONCE = 1 << 20


class Rows(NamedTuple):
    """The stack and below it all messages, (n_stacked + n_messages, F), or the logarithms of these."""

    values: np.ndarray
    are_logs: bool


def messages(extended: np.ndarray, n_stacked: int, states: States, used: np.ndarray) -> np.ndarray:
    """Fill the rows below a stack with messages; return the logarithms of all if needed; see the definition."""
    rows = all_messages(extended[:n_stacked], states)
    return filled_in(rows, extended, n_stacked, used)


def filled_in(rows: Rows, extended: np.ndarray, n_stacked: int, used: np.ndarray) -> np.ndarray:
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


def all_messages(stack: np.ndarray, states: States) -> Rows:
    """Find all messages below a stack (n_stacked, F)."""
    rows = np.empty((len(stack) + len(states.table), stack.shape[1]))
    rows[: len(stack)] = stack
    _fill(rows, len(stack), states, in_logs=False)
    if not len(states.table) or rows[len(stack) :].min() >= TINY:
        return Rows(rows, are_logs=False)
    rows[: len(stack)] = log_of(stack)
    _fill(rows, len(stack), states, in_logs=True)
    return Rows(rows, are_logs=True)


def _fill(rows: np.ndarray, n_stacked: int, states: States, *, in_logs: bool) -> None:
    """Fill in the messages below a stack, node after node."""
    for first, last in zip(states.first_state[:-1].tolist(), states.first_state[1:].tolist(), strict=True):
        size, begin, end = int(states.sizes[first]), int(states.first_message[first]), int(states.first_message[last])
        links = slice(int(states.first_link[first]), int(states.first_link[last]))
        x = np.arange(size)
        factors = rows.take(states.base[links, None] + states.stride[links, None] * x, axis=0)
        if len(factors) > last - first:
            combine = np.add if in_logs else np.multiply
            factors = combine.reduceat(factors, states.first_link[first:last] - links.start, axis=0)
        of_state = np.repeat(np.arange(last - first), np.diff(states.first_message[first : last + 1]))
        at_once = max(1, _MOST_AT_ONCE // (size * rows.shape[1]))
        for some in range(begin, end, at_once):
            until = min(some + at_once, end)
            tables = rows.take(states.table[some:until, None] + x, axis=0)
            values = factors.take(of_state[some - begin : until - begin], axis=0)
            if in_logs:
                tables += values
                rows[n_stacked + some : n_stacked + until] = log_sum_exp(tables.transpose(0, 2, 1))
            else:
                tables *= values
                np.add.reduce(tables, axis=1, out=rows[n_stacked + some : n_stacked + until])


def draw_counts(
    counts: np.ndarray, key: int, stack: np.ndarray, states: States, used: np.ndarray, logs: np.ndarray
) -> None:
    """Draw labels for the rows that messages count, and add them to the counts of stacked rows; see the definition."""
    draw_from(counts, key, all_messages(stack, states), len(stack), states, used)


def draw_from(counts: np.ndarray, key: int, rows: Rows, n_stacked: int, states: States, used: np.ndarray) -> None:
    """Do the same with all messages, which were found before."""
    F = counts.shape[1]
    left = np.zeros((len(states.table), F))
    left[used] = counts[n_stacked:]
    numbers = np.arange(F) * NUMBERS_OF_CLASS
    bounds = zip(states.first_state[:-1].tolist(), states.first_state[1:].tolist(), strict=True)
    for first, last in reversed(list(bounds)):
        begin, end = int(states.first_message[first]), int(states.first_message[last])
        m, f = np.nonzero(left[begin:end])
        if not len(m):
            continue
        state = np.searchsorted(states.first_message[first : last + 1], m + begin, side="right") - 1 + first
        # States are visited from the last to the first, and their messages in order.
        order = np.argsort(-state, kind="stable")
        m, f, state = m[order] + begin, f[order], state[order]
        count = left[m, f]
        n_draws = np.ceil(count).astype(np.int64)
        from_number, numbers = _numbered(f, n_draws, numbers)
        ladder = _ladders(rows, states, m, f, state)
        if n_draws.max() > 1:
            draw = np.repeat(np.arange(len(m)), n_draws)
            place = np.arange(len(draw)) - np.repeat(np.cumsum(n_draws) - n_draws, n_draws)
            worth = np.where(place == n_draws[draw] - 1, (count - (n_draws - 1))[draw], 1.0)
            ladder, from_number, f, m, state = ladder[draw], from_number[draw] + place, f[draw], m[draw], state[draw]
        else:
            worth = count
        levels = uniform(key, from_number) * ladder[:, -1]
        x = np.minimum((ladder <= levels[:, None]).sum(axis=1), ladder.shape[1] - 1)
        np.add.at(counts, (states.table[m] + x, f), worth)
        link, of = _links(states, state)
        row, in_class, more = states.base[link] + states.stride[link] * x[of], f[of], worth[of]
        below = row >= n_stacked
        np.add.at(counts, (row[~below], in_class[~below]), more[~below])
        np.add.at(left, (row[below] - n_stacked, in_class[below]), more[below])


def _numbered(f: np.ndarray, n_draws: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of the first draw of every message and class f, and the next number of every class."""
    order = np.argsort(f, kind="stable")
    before = np.cumsum(n_draws[order]) - n_draws[order]
    in_class = np.bincount(f, n_draws, minlength=len(numbers)).astype(np.int64)
    of_class = np.cumsum(in_class) - in_class
    found = np.empty_like(n_draws)
    found[order] = numbers[f[order]] + before - of_class[f[order]]
    return found, numbers + in_class


def _links(states: States, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the links of some states one after the other, and the place of the state of each."""
    n_links = (states.first_link[1:] - states.first_link[:-1])[state]
    of = np.repeat(np.arange(len(state)), n_links)
    return np.arange(len(of)) - (np.cumsum(n_links) - n_links)[of] + states.first_link[state][of], of


def _ladders(rows: Rows, states: States, m: np.ndarray, f: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Return the cumulative probabilities of the labels of messages in classes, up to factors, (messages, I)."""
    x = np.arange(states.sizes[state[0]])
    chances = rows.values[states.table[m, None] + x, f[:, None]]
    link, of = _links(states, state)
    factors = rows.values[states.base[link, None] + states.stride[link, None] * x, f[of, None]]
    if len(link) > len(m):
        combine = np.add if rows.are_logs else np.multiply
        n_links = np.bincount(of, minlength=len(m))
        factors = combine.reduceat(factors, np.cumsum(n_links) - n_links, axis=0)
    if not rows.are_logs:
        return np.cumsum(chances * factors, axis=1)
    logs = chances + factors
    return np.cumsum(np.exp(logs - logs.max(axis=1, keepdims=True)), axis=1)
