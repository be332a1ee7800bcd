"""Climb the conditional likelihood of labels, Σ log p(y | x), until labels of rows held out become no more probable.

Steps are those of Adam (Kingma and Ba, 2015) on rows chosen by weight. The gradient of one row is what its classes are
given the label less what they are without it, see :mod:`juror.kernels.reference.tilts`. Scores *decay*: each step
also draws them to zero, so that they say no more than the rows support. What is scored and returned is a running mean
of the points.

The mass Z(x) = Σ_f e^{s_f(x)} is held near one by a *tether*, at the rows and at as many that the model p(x) has drawn.
Held at the rows alone, Z would be far from one elsewhere (decision 043).

Several tilts climb *together*, and held-out rows judge their average. If each were stopped where it alone is best, the
average could be less sure of labels than it is right: averaging takes away what single tilts are too sure of.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from juror.kernels import kernels
from juror.rows.distinct import WeightedRows
from juror.rows.mean_gain import mean_gain
from juror.runners.local import LocalRunner
from juror.solvers.tilt import Surroundings, Tilt

# Rows of a step, an eighth of all if these are fewer, and Adam's first rate and memories
_FEWEST_IN_BATCH, _BATCH, _RATE, _MEAN, _SQUARES, _TINY = 16, 256, 0.03, 0.9, 0.99, 1e-8
# The rate falls as one over the root of the steps, beginning at about this many
_SLOWER = 400
# How strongly Z(x) is held at one, so that variables besides the label keep their distribution
_TETHER = 0.15
# The memory of the running mean of the points
_RUNNING = 0.99
# Steps from one look at the rows held out to the next; looks in vain before the end, or a share of all steps
_LOOK, _PATIENCE, _SHARE_IN_VAIN = 64, 8, 0.25
# The least gain that counts, in nats a row
_LEAST_GAIN = 1e-5
# After the first steps, a gain must be this many standard errors: the best of many looks is partly the luckiest.
_FIRST, _ERRORS = 512, 1.0
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
        return cls(around.cells(codes), labels[known], rows.weights[known])

    def log_labels(self, tilt: Tilt) -> np.ndarray:
        """Return log Σ_{f of y} e^{s_f} of each row's own label y, and log Z, (2, rows)."""
        logs = tilt.log_labels(self.cells)
        return np.stack([logs[np.arange(len(logs)), self.labels], np.logaddexp.reduce(logs, axis=1)])

    def __len__(self) -> int:
        return len(self.labels)


def log_average(log_labels: Sequence[np.ndarray], log_x: np.ndarray) -> np.ndarray:
    """Return log p(y | x) and log p(x) of rows, (2, rows), under the mean of tilted models.

    Their masses are taken as one, as they are if Z is one on average.

    Parameters
    ----------
    log_labels : sequence of numpy.ndarray, (2, rows)
        By tilt, what :meth:`LabelledRows.log_labels` returns.
    log_x : numpy.ndarray, (tilts, rows)
        log p(x) of the model that each tilt belongs to. Models that find a row more probable count for more.
    """
    of_label, of_all = np.logaddexp.reduce(log_x[:, None] + np.stack(log_labels), axis=0)
    return np.stack([of_label - of_all, of_all - np.log(len(log_x))])


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Rows with labels, some of them held out, as a tilt sees them.

    Attributes
    ----------
    rows, held : LabelledRows
        Those that give the steps, and those that decide when they end.
    around : Surroundings
        What is known of the variables.
    log_x : numpy.ndarray, (held-out rows,)
        log p(x) of held-out rows under a model like that of the tilt, which has not seen them.
    """

    rows: LabelledRows
    held: LabelledRows
    around: Surroundings
    log_x: np.ndarray


@dataclass(frozen=True, eq=False)
class Start:
    """Where a tilt starts, and what decides its steps besides the rows.

    Attributes
    ----------
    tilt : Tilt
        The scores at the start.
    drawn : numpy.ndarray of int32, (rows, N)
        Cells of rows that the model p(x) has drawn, where Z(x) is held near one as well.
    rng : numpy.random.Generator
        Chooses the rows of each step.
    """

    tilt: Tilt
    drawn: np.ndarray
    rng: np.random.Generator


@dataclass(frozen=True)
class Climbed:
    """Tilts whose average made held-out labels most probable, and after how many steps it did.

    Attributes
    ----------
    tilts : sequence of sequences of Tilt
        By split, one for each start.
    log_prob, log_x : numpy.ndarray, (rows,)
        log p(y | x) of the labels held out, and log p(x), of all splits one after the other, under the averages.
    score : float
        The weighted mean of ``log_prob``.
    n_steps : int
        Steps of each tilt.
    """

    tilts: Sequence[Sequence[Tilt]]
    log_prob: np.ndarray
    log_x: np.ndarray
    score: float
    n_steps: int


def climb_together(
    splits: Sequence[Sequence[HeldOutLabels]],
    starts: Sequence[Sequence[Start]],
    runner: LocalRunner,
    *,
    decay: float = 0.0,
    until: float = np.inf,
) -> Climbed:
    """Take steps with the tilts of all splits, until held-out labels become no more probable under their averages.

    Parameters
    ----------
    splits : sequence of sequences of HeldOutLabels
        By split, the rows as each tilt sees them: with the scores of its own pairs.
    starts : sequence of sequences of Start
        By split, where tilts start.
    runner : LocalRunner
        Threads; each takes the steps of one tilt.
    decay : float
        Scores lose the share rate · decay in each step.
    until : float
        No step is taken after this time.
    """
    walks = [
        (rows, _Walk(start, rows.rows, rows.around, decay))
        for split, some in zip(splits, starts, strict=True)
        for rows, start in zip(split, some, strict=True)
    ]
    weights = np.concatenate([split[0].held.weights for split in splits])

    def go(n_steps: int, walk: tuple[HeldOutLabels, _Walk]) -> np.ndarray:
        walk[1].go(n_steps)
        return walk[0].held.log_labels(walk[1].mean)

    def after(n_steps: int, step: int) -> Climbed:
        seen = iter(runner.map(partial(go, n_steps), walks))
        tilts = iter(walk.mean.copy() for _, walk in walks)
        averages = [
            log_average(list(islice(seen, len(split))), np.stack([rows.log_x for rows in split])) for split in splits
        ]
        log_prob, log_x = np.concatenate(averages, axis=1)
        score = float(weights @ log_prob / weights.sum())
        return Climbed([list(islice(tilts, len(some))) for some in starts], log_prob, log_x, score, step)

    most = max(_MOST_STEPS, *(int(_MOST_PASSES * len(rows.rows) / walk.batch) for rows, walk in walks))
    best, step, in_vain_since = after(0, 0), 0, 0
    top = best.score
    while step < most and step - in_vain_since < max(_PATIENCE * _LOOK, _SHARE_IN_VAIN * step):
        if time.monotonic() > until:
            break
        step += _LOOK
        seen = after(_LOOK, step)
        if seen.score > top + _LEAST_GAIN:
            top, in_vain_since = seen.score, step
        gain, error = mean_gain(seen.log_prob - best.log_prob, weights)
        best = seen if gain > (_ERRORS * error if step > _FIRST else 0.0) else best
    return best


def climb_as_far(start: Start, rows: LabelledRows, around: Surroundings, *, decay: float, n_steps: int) -> Tilt:
    """Take a given number of steps from a start."""
    walk = _Walk(start, rows, around, decay)
    for first in range(0, n_steps, _LOOK):
        walk.go(min(_LOOK, n_steps - first))
    return walk.mean


class _Walk:
    """A point that takes Adam's steps, and the running mean of where it was."""

    def __init__(self, start: Start, rows: LabelledRows, around: Surroundings, decay: float):
        self.tilt, self.mean = start.tilt.copy(), start.tilt.copy()
        self.batch = min(_BATCH, max(_FEWEST_IN_BATCH, len(rows) // 8))
        self._rows, self._around, self._drawn, self._rng, self._decay = rows, around, start.drawn, start.rng, decay
        self._ladder = np.cumsum(rows.weights)
        self._no_labels = np.full(self.batch, -1)
        self._moments = [(np.zeros_like(p), np.zeros_like(p)) for p in (start.tilt.offsets, start.tilt.scores)]
        self._n_steps = 0

    def go(self, n_steps: int) -> None:
        """Take some steps, and then centre the point and the mean, which changes no label's probability."""
        for _ in range(n_steps):
            self._move(*self._gradients())
        self.tilt, self.mean = self.tilt.centred(self._around), self.mean.centred(self._around)

    def _gradients(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean gradients by offsets and by scores of some rows, chosen by weight, and as many drawn ones."""
        rows, tilt = self._rows, self.tilt
        chosen = np.searchsorted(self._ladder, self._rng.random(self.batch) * self._ladder[-1], side="right")
        drawn = self._rng.integers(0, len(self._drawn), self.batch)
        cells = np.concatenate([rows.cells[chosen], self._drawn[drawn]])
        labels = np.concatenate([rows.labels[chosen], self._no_labels])
        _, of_offsets, of_scores = kernels().label_gradient(
            cells, labels, tilt.offsets, tilt.scores, tilt.n_labels, _TETHER
        )
        return of_offsets / self.batch, self._around.smoothed(of_scores) / self.batch

    def _move(self, *gradients: np.ndarray) -> None:
        self._n_steps += 1
        slower = _RATE / np.sqrt(1 + self._n_steps / _SLOWER)
        np.multiply(self.tilt.scores, 1 - slower * self._decay, out=self.tilt.scores)
        rate, scale = slower / (1 - _MEAN**self._n_steps), 1 / (1 - _SQUARES**self._n_steps)
        share = 1 - min(_RUNNING, self._n_steps / (self._n_steps + 10))
        points = (self.tilt.offsets, self.mean.offsets), (self.tilt.scores, self.mean.scores)
        for (point, mean), (first, second), gradient in zip(points, self._moments, gradients, strict=True):
            first += (1 - _MEAN) * (gradient - first)
            second += (1 - _SQUARES) * (gradient * gradient - second)
            point += rate * first / (np.sqrt(scale * second) + _TINY)
            mean += share * (point - mean)
