"""Draw a class for every row, and labels for its missing cells, under a model whose classes share a forest.

Messages go from the leaves to the roots: μ_n[y, f] is the probability of all that is observed below node n, if its
label is y and the class f. An observed node has no message; a missing one without observed descendants has μ_n = 1.
Then classes are drawn given what is observed, and missing labels from the roots to the leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels_to_draw
from juror.kernels.logarithms import log_of
from juror.rows.drawn import without_rounding
from juror.rows.forest import NO_PARENT, Forest

_TINY = 1e-300
# Rows whose messages are in memory at the same time
_AT_ONCE = 2048


@dataclass(frozen=True)
class Completed:
    """Complete rows with classes: what was drawn for distinct rows.

    Attributes
    ----------
    codes : numpy.ndarray, (groups, N)
        Codes without missing cells.
    classes : numpy.ndarray of int, (groups,)
        The class of every row.
    weights : numpy.ndarray, (groups,)
        How often each row counts.
    log_likelihood : float
        Σ_i w_i log p(x_i) of what is observed.
    """

    codes: np.ndarray
    classes: np.ndarray
    weights: np.ndarray
    log_likelihood: float


class RowsToComplete:
    """Distinct rows of codes (n_distinct, N), −1 for missing, with their weights, (n_distinct,)."""

    def __init__(self, codes: np.ndarray, weights: np.ndarray):
        self.codes = np.ascontiguousarray(codes, dtype=np.int32)
        self.weights = without_rounding(weights)
        self._whole = np.floor(self.weights).astype(np.int64)

    @property
    def n_with_holes(self) -> float:
        """How many rows the distinct rows with missing cells stand for."""
        return float(self.weights[np.any(self.codes < 0, axis=1)].sum())

    def draw(
        self, lam: np.ndarray, tables: Sequence[np.ndarray], forest: Forest, rng: np.random.Generator
    ) -> Completed:
        """Draw classes and missing labels under λ (F,) and tables (I_pa or 1, I_n, F)."""
        parts = [
            self._draw_some(slice(first, first + _AT_ONCE), lam, tables, forest, rng)
            for first in range(0, len(self.codes), _AT_ONCE)
        ]
        if len(parts) == 1:
            return parts[0]
        return Completed(
            np.concatenate([part.codes for part in parts]),
            np.concatenate([part.classes for part in parts]),
            np.concatenate([part.weights for part in parts]),
            sum(part.log_likelihood for part in parts),
        )

    def _draw_some(
        self, rows: slice, lam: np.ndarray, tables: Sequence[np.ndarray], forest: Forest, rng: np.random.Generator
    ) -> Completed:
        codes, weights = self.codes[rows], self.weights[rows]
        logs, messages = upward(codes, tables, forest)
        logs += log_of(lam)
        top = logs.max(axis=1, keepdims=True)
        R = np.exp(logs - top)
        total = R.sum(axis=1, keepdims=True)
        groups = self._classes(rows, R / total, rng)
        for n in forest.order:
            groups.fill(n, forest.parents[n], tables[n], messages[n], rng)
        return groups.completed(float(weights @ (top + np.log(total))[:, 0]))

    def draw_complete(self, logs: np.ndarray, R: np.ndarray, rng: np.random.Generator) -> Completed:
        """Draw the classes of rows without missing cells, given their log-probabilities (rows,) and R (rows, F)."""
        return self._classes(slice(None), R, rng).completed(float(self.weights @ logs))

    def _classes(self, rows: slice, R: np.ndarray, rng: np.random.Generator) -> _Groups:
        """Draw the classes of some rows from their posterior (rows, F)."""
        whole, rest = self._whole[rows], (self.weights - self._whole)[rows]
        single, draw = np.flatnonzero(whole == 1), kernels_to_draw(self.codes.size).draw_columns
        row, classes = [single], [draw(R[single], rng.random(len(single)))]
        counts, unit = [np.ones(len(single), dtype=np.int64)], [np.ones(len(single))]
        several = np.flatnonzero(whole > 1)
        if len(several):
            drawn = rng.multinomial(whole[several], R[several])
            place, chosen = np.nonzero(drawn)
            row, classes = [*row, several[place]], [*classes, chosen]
            counts, unit = [*counts, drawn[place, chosen]], [*unit, np.ones(len(place))]
        parts = np.flatnonzero(rest > 0)
        if len(parts):
            row, classes = [*row, parts], [*classes, draw(R[parts], rng.random(len(parts)))]
            counts, unit = [*counts, np.ones(len(parts), dtype=np.int64)], [*unit, rest[parts]]
        where = np.concatenate(row)
        return _Groups(self.codes[rows][where], where, *map(np.concatenate, (classes, counts, unit)))


@dataclass
class NodeMessage:
    """μ_n of the rows whose node n is missing: the place of every row, (rows,), and values (places, I_n, F)."""

    place: np.ndarray
    values: np.ndarray


def upward(
    codes: np.ndarray, tables: Sequence[np.ndarray], forest: Forest
) -> tuple[np.ndarray, list[NodeMessage | None]]:
    """Return log p(what is observed | class) of every row (rows, F), and the messages, None where all are one."""
    logs = np.zeros((len(codes), tables[0].shape[-1]))
    messages: list[NodeMessage | None] = [None] * len(tables)
    for n in reversed(forest.order):
        above, seen, A = forest.parents[n], codes[:, n] >= 0, tables[n]
        known = np.ones(len(codes), dtype=bool) if above == NO_PARENT else codes[:, above] >= 0
        given = np.zeros(len(codes), dtype=np.intp) if above == NO_PARENT else codes[:, above]
        rows = np.flatnonzero(seen & known)
        logs[rows] += log_of(A)[given[rows], codes[rows, n]]
        rows = np.flatnonzero(seen & ~known)
        if len(rows):
            _multiply(messages, above, tables, codes, rows, A.transpose(1, 0, 2)[codes[rows, n]], logs)
        message = messages[n]
        if message is None:
            continue
        rows = np.flatnonzero(~seen & known)
        below = message.values[message.place[rows]]
        logs[rows] += log_of(np.einsum("kyf,kyf->kf", A[given[rows]], below))
        rows = np.flatnonzero(~seen & ~known)
        if len(rows):
            summed = np.einsum("pyf,kyf->kpf", A, message.values[message.place[rows]])
            _multiply(messages, above, tables, codes, rows, summed, logs)
    return logs, messages


def _multiply(
    messages: list[NodeMessage | None],
    n: int,
    tables: Sequence[np.ndarray],
    codes: np.ndarray,
    rows: np.ndarray,
    factor: np.ndarray,
    logs: np.ndarray,
) -> None:
    """Multiply the message of node n in some rows by a factor (rows, I_n, F); its size goes to the logs."""
    message = messages[n]
    if message is None:
        holes = codes[:, n] < 0
        values = np.ones((np.count_nonzero(holes), *tables[n].shape[1:]))
        message = messages[n] = NodeMessage(np.cumsum(holes) - 1, values)
    place = message.place[rows]
    product = message.values[place] * factor
    top = np.maximum(product.max(axis=1), _TINY)
    message.values[place] = product / top[:, None]
    logs[rows] += np.log(top)


@dataclass
class _Groups:
    """Rows being completed: how many equal ones there are of each, and how often one of them counts."""

    codes: np.ndarray
    row: np.ndarray
    classes: np.ndarray
    counts: np.ndarray
    unit: np.ndarray

    def completed(self, log_likelihood: float) -> Completed:
        """Return the rows, when all cells are filled."""
        return Completed(self.codes, self.classes, self.counts * self.unit, log_likelihood)

    def fill(self, n: int, above: int, A: np.ndarray, message: NodeMessage | None, rng: np.random.Generator) -> None:
        """Draw the missing labels of node n; equal rows part where they get different ones."""
        holes = np.flatnonzero(self.codes[:, n] < 0)
        if not len(holes):
            return
        given = np.zeros(len(holes), dtype=np.intp) if above == NO_PARENT else self.codes[holes, above]
        P = A[given, :, self.classes[holes]]
        if message is not None:
            P = P * message.values[message.place[self.row[holes]], :, self.classes[holes]]
        P = np.maximum(P, _TINY)
        drawn = rng.multinomial(self.counts[holes], P / P.sum(axis=1, keepdims=True))
        group, label = np.nonzero(drawn)
        if len(group) == len(holes):
            self.codes[holes, n] = label
            return
        chosen = np.concatenate([np.flatnonzero(self.codes[:, n] >= 0), holes[group]])
        n_complete = len(chosen) - len(group)
        for name in ("codes", "row", "classes", "counts", "unit"):
            setattr(self, name, getattr(self, name)[chosen])
        self.codes[n_complete:, n] = label
        self.counts[n_complete:] = drawn[group, label]
