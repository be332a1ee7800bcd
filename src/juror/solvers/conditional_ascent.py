"""Climb the conditional likelihood of labels, Σ log p(y | x), until labels of rows held out become no more probable.

Steps are those of Adam (Kingma and Ba, 2015) on rows drawn by weight. The gradient of one row is what its classes are
given the label less what they are without it, see :mod:`juror.kernels.reference.tilts`. Scores *decay*: each step
also draws them to zero, so that they say no more than the rows support. What is scored and returned is a running mean
of the points.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from juror.kernels import kernels
from juror.rows.distinct import WeightedRows
from juror.solvers.tilt import Surroundings, Tilt

# Rows of a step, a quarter of all if these are fewer, and Adam's rate and memories
_FEWEST_IN_BATCH, _BATCH, _RATE, _MEAN, _SQUARES, _TINY = 16, 256, 0.02, 0.9, 0.99, 1e-8
# How strongly Z(x) is held at one, so that variables besides the label keep their distribution
_TETHER = 0.3
# The memory of the running mean of the points
_RUNNING = 0.99
# Steps from one look at the rows held out to the next; looks in vain before the end, or a share of all steps
_LOOK, _PATIENCE, _SHARE_IN_VAIN = 64, 8, 0.25
# The least gain that counts, in nats a row
_LEAST_GAIN = 1e-5
# The most steps, or the most passes over all rows if these are more
_MOST_STEPS, _MOST_PASSES = 4000, 3


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Rows with a label: cells of the other variables (rows, N), labels (rows,) and weights (rows,)."""

    cells: np.ndarray
    labels: np.ndarray
    weights: np.ndarray

    @classmethod
    def of(cls, rows: WeightedRows, target: int, around: Surroundings) -> LabelledRows:
        """Take the label from the other columns; rows without one are left out."""
        labels = rows.codes[:, target].astype(np.int64)
        known = labels >= 0
        codes = np.delete(rows.codes[known], target, axis=1)
        return cls(around.stacking.cells(codes).astype(np.int32), labels[known], rows.weights[known])

    def log_prob(self, tilt: Tilt) -> np.ndarray:
        """Return log p(y | x) of every row, (rows,)."""
        logs = tilt.log_labels(self.cells)
        return np.asarray(logs[np.arange(len(logs)), self.labels] - np.logaddexp.reduce(logs, axis=1))

    def score(self, tilt: Tilt) -> float:
        """Return the mean log-probability of the labels."""
        return float(self.weights @ self.log_prob(tilt) / self.weights.sum())

    def __len__(self) -> int:
        return len(self.labels)

    def __add__(self, other: LabelledRows) -> LabelledRows:
        both = ((self.cells, other.cells), (self.labels, other.labels), (self.weights, other.weights))
        return LabelledRows(*map(np.concatenate, both))


@dataclass(frozen=True)
class Climbed:
    """The tilt whose held-out labels were most probable, their score, and the step at which it was."""

    tilt: Tilt
    score: float
    n_steps: int


def climb_labels(
    start: Tilt,
    rows: LabelledRows,
    held: LabelledRows,
    around: Surroundings,
    rng: np.random.Generator,
    *,
    decay: float = 0.0,
    until: float = np.inf,
) -> Climbed:
    """Take steps from a start, in which scores lose the share rate · decay; none after the time ``until``."""
    walk = _Walk(start, rows, around, rng, decay)
    most = max(_MOST_STEPS, int(_MOST_PASSES * len(rows) / walk.batch))
    best, step, in_vain_since = Climbed(start, held.score(start), 0), 0, 0
    while step < most and step - in_vain_since < max(_PATIENCE * _LOOK, _SHARE_IN_VAIN * step):
        if time.monotonic() > until:
            break
        walk.go(_LOOK)
        step += _LOOK
        score = held.score(walk.mean)
        in_vain_since = step if score > best.score + _LEAST_GAIN else in_vain_since
        if score > best.score:
            best = Climbed(walk.mean.copy(), score, step)
    return best


def climb_as_far(
    start: Tilt, rows: LabelledRows, around: Surroundings, rng: np.random.Generator, *, decay: float, n_steps: int
) -> Tilt:
    """Take a given number of steps from a start."""
    walk = _Walk(start, rows, around, rng, decay)
    for first in range(0, n_steps, _LOOK):
        walk.go(min(_LOOK, n_steps - first))
    return walk.mean


class _Walk:
    """A point that takes Adam's steps, and the running mean of where it was."""

    def __init__(self, start: Tilt, rows: LabelledRows, around: Surroundings, rng: np.random.Generator, decay: float):
        self.tilt, self.mean = start.copy(), start.copy()
        self.batch = min(_BATCH, max(_FEWEST_IN_BATCH, len(rows) // 4))
        self._rows, self._around, self._rng, self._decay = rows, around, rng, decay
        self._ladder = np.cumsum(rows.weights)
        self._moments = [(np.zeros_like(p), np.zeros_like(p)) for p in (start.offsets, start.scores)]
        self._n_steps = 0

    def go(self, n_steps: int) -> None:
        """Take some steps, and then centre the point and the mean, which changes no label's probability."""
        for _ in range(n_steps):
            self._move(*self._gradients())
        self.tilt, self.mean = self.tilt.centred(self._around), self.mean.centred(self._around)

    def _gradients(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean gradients by offsets and by scores of some rows, drawn by weight."""
        rows, tilt = self._rows, self.tilt
        drawn = np.searchsorted(self._ladder, self._rng.random(self.batch) * self._ladder[-1], side="right")
        _, of_offsets, of_scores = kernels().label_gradient(
            rows.cells[drawn], rows.labels[drawn], tilt.offsets, tilt.scores, tilt.n_labels, _TETHER
        )
        return of_offsets / self.batch, self._around.smoothed(of_scores) / self.batch

    def _move(self, *gradients: np.ndarray) -> None:
        self._n_steps += 1
        np.multiply(self.tilt.scores, 1 - _RATE * self._decay, out=self.tilt.scores)
        rate, scale = _RATE / (1 - _MEAN**self._n_steps), 1 / (1 - _SQUARES**self._n_steps)
        share = 1 - min(_RUNNING, self._n_steps / (self._n_steps + 10))
        points = (self.tilt.offsets, self.mean.offsets), (self.tilt.scores, self.mean.scores)
        for (point, mean), (first, second), gradient in zip(points, self._moments, gradients, strict=True):
            first += (1 - _MEAN) * (gradient - first)
            second += (1 - _SQUARES) * (gradient * gradient - second)
            point += rate * first / (np.sqrt(scale * second) + _TINY)
            mean += share * (point - mean)
