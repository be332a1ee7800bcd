"""What a label adds to a model of the other variables: scores of classes, each of one label.

The other variables x have a density p(x) of their own. A *tilt* has n_labels · K classes f, K for each label, and

    p(x, y) ∝ p(x) Σ_{f of y} e^{s_f(x)},     s_f(x) = b_f + Σ_n U_n[x_n, f],

so p(y | x) = Σ_{f of y} e^{s_f} / Z(x), with Z(x) = Σ_f e^{s_f}, does not depend on p(x). With one class a label this
is logistic regression on the labels of all variables; more classes see what variables do together. Along a forest,
pairs may have scores too: s_f gains Σ V_n[x_pa, x_n, f] over its edges. If Z(x) is one everywhere, then x keeps its
density. A missing cell has the score zero, and so has its pair: scores are *centred* so that
Σ_x m_n[x] e^{U_n[x, f]} = 1, where m_n is the marginal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.domain import Domain
from juror.rows.forest import Forest
from juror.rows.stacking import Stacking
from juror.runners.local import partitions
from juror.solvers.neighbours import best_width, smoother

# How far the scores of a row by classes of one label are apart at the start, in nats
_APART = 1.5
# Pseudo-rows, spread as the marginal, that every label has in the first scores
_PRIOR = 5.0
# The width of scores in which classes of one label differ, as a share of the labels of a variable, and its least
_WIDE, _LEAST_WIDE = 0.12, 0.7
_ROWS_AT_ONCE = 1024


@dataclass(frozen=True)
class Tilt:
    """Scores of classes, K for the first label, K for the second, and so on.

    Attributes
    ----------
    offsets : numpy.ndarray, (F,)
        b.
    scores : numpy.ndarray, (stacked rows, F)
        U, and V after it; zero in the rows of missing cells.
    n_labels : int
        How many labels the target has.
    forest : Forest or None
        Its edges are the pairs that have scores.
    """

    offsets: np.ndarray
    scores: np.ndarray
    n_labels: int
    forest: Forest | None = None

    def copy(self) -> Tilt:
        """Return a tilt with arrays of its own."""
        return replace(self, offsets=self.offsets.copy(), scores=self.scores.copy())

    def log_labels(self, cells: np.ndarray) -> np.ndarray:
        """Return log Σ_{f of y} e^{s_f} of every label, (rows, n_labels), for the cells of rows."""
        logs = np.empty((len(cells), self.n_labels))
        for some in partitions(len(cells), _ROWS_AT_ONCE):
            joint = self.offsets + sum(self.scores[column] for column in cells[some].T)
            by_label = joint.reshape(len(joint), self.n_labels, -1)
            top = by_label.max(axis=2)
            logs[some] = top + np.log(np.exp(by_label - top[:, :, None]).sum(axis=2))
        return logs

    def centred(self, around: Surroundings) -> Tilt:
        """Return the same tilt with scores centred."""
        starts, heights = around.stacking.starts, np.diff(around.stacking.starts)
        log_means = np.log(np.add.reduceat(around.marginals * np.exp(self.scores), starts[:-1], axis=0))
        scores = self.scores - np.repeat(log_means, heights, axis=0)
        scores[around.stacking.missing_rows] = 0.0
        return replace(self, offsets=self.offsets + log_means.sum(axis=0), scores=scores)


@dataclass(frozen=True)
class Ordered:
    """A variable whose labels have an order: its stacked rows, and smoothers of what classes share and differ in."""

    rows: slice
    shared: np.ndarray
    own: np.ndarray


@dataclass(frozen=True, eq=False)
class Surroundings:
    """What is known of the variables before scores are found.

    Attributes
    ----------
    n_variables : int
        How many variables there are besides the target.
    stacking : Stacking
        The places of these variables, and of the pairs of the forest.
    forest : Forest or None
        Its edges are the pairs that have scores.
    marginals : numpy.ndarray, (stacked rows, 1)
        m_n[x], zero in the rows of missing cells.
    log_ratios : numpy.ndarray, (stacked rows, n_labels)
        log p(x_n | y) − log m_n[x_n] of rows with label y; zero for pairs.
    shares : numpy.ndarray, (n_labels,)
        p(y).
    ordered : sequence of Ordered
        Those with an order.
    """

    n_variables: int
    stacking: Stacking
    forest: Forest | None
    marginals: np.ndarray
    log_ratios: np.ndarray
    shares: np.ndarray
    ordered: Sequence[Ordered]

    @classmethod
    def of(
        cls,
        codes: np.ndarray,
        labels: np.ndarray,
        weights: np.ndarray,
        domain: Domain,
        n_labels: int,
        forest: Forest | None = None,
    ) -> Surroundings:
        """Count the labels of rows: codes (rows, N) without the target, its labels (rows,), and weights (rows,)."""
        stacking = scored_along(domain.cardinalities, forest)
        counts = np.zeros((n_labels, stacking.n_rows))
        for column in stacking.cells(_with_pairs(codes, domain.cardinalities, forest)).T:
            counts += np.bincount(
                labels * stacking.n_rows + column, weights, minlength=n_labels * stacking.n_rows
            ).reshape(counts.shape)
        counts[:, stacking.missing_rows] = 0.0
        of_all = np.bincount(labels, weights, minlength=n_labels)
        shares = (of_all + 0.5) / (of_all + 0.5).sum()
        marginals = stacking.marginals(counts.sum(axis=0)[:, None])
        ordered = []
        for n, variable in enumerate(domain):
            n_in_order = len(variable.present_labels)
            if variable.kind == "nominal" or n_in_order < 3:
                continue
            rows = slice(int(stacking.starts[n]), int(stacking.starts[n]) + n_in_order)
            each = Ordered(
                rows,
                smoother(n_in_order, best_width(counts[:, rows], shares)),
                smoother(n_in_order, max(_WIDE, _LEAST_WIDE / n_in_order)),
            )
            ordered.append(each)
            counts[:, rows] = _smoothed(counts[:, rows], each.shared)
        prior = _PRIOR * marginals
        ratios = stacking.normalise(counts.T + prior, otherwise=np.ones_like(counts.T)) / marginals
        marginals[stacking.missing_rows] = 0.0
        ratios[stacking.starts[len(domain)] :] = 1.0
        return cls(len(domain), stacking, forest, marginals, np.log(ratios), shares, ordered)

    def cells(self, codes: np.ndarray) -> np.ndarray:
        """Return the stacked rows that are scored, (rows, variables and pairs), of codes (rows, N)."""
        sizes = self.stacking.cardinalities[: self.n_variables]
        return self.stacking.cells(_with_pairs(codes, sizes, self.forest)).astype(np.int32)

    def start(self, per_label: int, rng: np.random.Generator) -> Tilt:
        """Return independent variables given the label, with noise that tells the classes apart."""
        n_labels = len(self.shares)
        noise = np.zeros((self.stacking.n_rows, n_labels * per_label))
        alone = noise[: self.stacking.starts[self.n_variables]]
        alone[:] = rng.standard_normal(alone.shape)
        for each in self.ordered:
            # Smooth noise, of the same variance
            noise[each.rows] = each.own @ noise[each.rows] / np.sqrt((each.own**2).sum(axis=1, keepdims=True))
        # The noise of a row is a sum over its variables.
        noise *= _APART / np.sqrt(self.n_variables)
        scores = np.repeat(self.log_ratios, per_label, axis=1) + noise
        scores[self.stacking.missing_rows] = 0.0
        offsets = np.repeat(np.log(self.shares / per_label), per_label)
        return Tilt(offsets, scores, n_labels, self.forest).centred(self)

    def smoothed(self, gradient: np.ndarray) -> np.ndarray:
        """Smooth a gradient (stacked rows, F) over neighbours: wide where classes of a label differ.

        What they share is smoothed as far as the variable alone allows.
        """
        gradient[self.stacking.missing_rows] = 0.0
        n_labels = len(self.shares)
        for each in self.ordered:
            of = gradient[each.rows]
            shared = of.reshape(len(of), n_labels, -1).mean(axis=2)
            finer = (each.shared - each.own) @ shared
            gradient[each.rows] = each.own @ of + np.repeat(finer, of.shape[1] // n_labels, axis=1)
        return gradient


def scored_along(sizes: tuple[int, ...], forest: Forest | None) -> Stacking:
    """Return the places of variables, and after them of the pairs of a forest, parents first."""
    pairs = () if forest is None else tuple(sizes[parent] * sizes[child] for parent, child in forest.edges)
    return Stacking((*sizes, *pairs))


def _with_pairs(codes: np.ndarray, sizes: tuple[int, ...], forest: Forest | None) -> np.ndarray:
    """Put columns of the joint codes of a forest's pairs beside codes (rows, N)."""
    if forest is None or not forest.has_edges:
        return codes
    joint = []
    for parent, child in forest.edges:
        above, own = codes[:, parent].astype(np.int32), codes[:, child]
        joint.append(np.where((above < 0) | (own < 0), -1, above * sizes[child] + own))
    return np.column_stack([codes, *joint])


def _smoothed(counts: np.ndarray, K: np.ndarray) -> np.ndarray:
    """Smooth the shares of labels among the counts (n_labels, n) of every value; the sums over labels stay."""
    of_all = counts.sum(axis=0)
    smooth = of_all @ K.T
    return np.asarray((counts @ K.T) * np.divide(of_all, smooth, out=np.zeros_like(smooth), where=smooth > 0))
