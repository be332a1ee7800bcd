"""Draw labels of missing cells in a forest for few rows, by visiting only messages that count rows.

The definition, :func:`juror.kernels.reference.forest_states.draw_counts`, visits every message in every class. Both use
the same random numbers in the same order.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from juror.kernels.reference.forest_states import States, log_rows
from juror.kernels.reference.random_numbers import uniform


def draw_counts(
    counts: np.ndarray, key: int, stack: np.ndarray, states: States, used: np.ndarray, logs: np.ndarray
) -> None:
    """Draw labels for the rows that messages count, and add them to the counts of stacked rows; see the definition."""
    n_stacked, rows = len(stack), log_rows(stack, states)
    of_state = np.repeat(np.arange(len(states.sizes)), np.diff(states.first_message)).tolist()
    factors: dict[int, np.ndarray] = {}
    number = 0
    for f in np.flatnonzero(counts[n_stacked:].any(axis=0)):
        left = {int(m): count for m, count in zip(used, counts[n_stacked:, f].tolist(), strict=True) if count > 0}
        # States are visited from the last to the first, because children come before their parents.
        waiting = [(-of_state[m], m) for m in left]
        heapify(waiting)
        while waiting:
            state, m = -waiting[0][0], heappop(waiting)[1]
            if state not in factors:
                factors[state] = np.array(states.links(state))
            links, count = factors[state], left.pop(m)
            first = states.table[m]
            drawn = _drawn(rows[first : first + links.shape[1], f] + rows[links, f].sum(axis=0), count, key, number)
            number += int(np.ceil(count))
            counts[first : first + len(drawn), f] += drawn
            for link in links:
                for row, more in zip(link[drawn > 0].tolist(), drawn[drawn > 0].tolist(), strict=True):
                    below = row - n_stacked
                    if below < 0:
                        counts[row, f] += more
                        continue
                    if below not in left:
                        heappush(waiting, (-of_state[below], below))
                    left[below] = left.get(below, 0.0) + more


def _drawn(log_chances: np.ndarray, count: float, key: int, first: int) -> np.ndarray:
    """Draw labels whose counts add up to ``count``, (I,). Each draw counts one, and the last what is left."""
    n_draws = int(np.ceil(count))
    ladder = np.cumsum(np.exp(log_chances - log_chances.max()))
    labels = np.searchsorted(ladder, uniform(key, np.arange(first, first + n_draws)) * ladder[-1], side="right")
    worth = np.ones(n_draws)
    worth[-1] = count - (n_draws - 1)
    return np.bincount(np.minimum(labels, len(ladder) - 1), worth, minlength=len(ladder))
