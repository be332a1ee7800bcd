"""EM for a tree with a hidden node behind every variable, in steps over a few rows each.

Every variable x_n depends on a hidden node z_n of K states alone, and the hidden nodes depend on each other along a
forest. Classes, which all variables share, follow a table of numbers badly: numbers that vary together in many
directions need a class for each place. Here each variable has its own states, and a state only needs to know about its
neighbours, so K states at N nodes say more than N K classes.

The column of a state over the intervals of a number is drawn to a bell: the normal distribution, in normal scores of
the column, with the mean and spread of the state's rows. A state then has two parameters a number instead of one an
interval, and makes rows probable that lie between those it has seen.

A step takes the expected counts C of some rows, scaled to all rows, and moves every table to

    A[y, x] = (C[y, x] + s B[y, x]) / (Σ_x C[y, x] + s)

by a part η that falls along the way (stepwise EM), and at the end by all of it with the counts of many rows
(:mod:`juror.solvers.grouped_trees`). B is the bell of state y, the marginal of a variable of labels, or for states the
share of each state. The first steps go all the way (η = 1): the noise of a few rows keeps states from settling at
their start. Sums are in single precision, because counts of a few rows have larger errors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from juror.domain import Domain
from juror.domain.law import Inside
from juror.domain.variable import Variable
from juror.kernels import kernels
from juror.kernels.reference.bells import ColumnPrior
from juror.rows.distinct import WeightedRows
from juror.rows.forest import NO_PARENT, Forest
from juror.rows.hidden_stack import HiddenNodes, HiddenTables
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking

# The rows of a step
BATCH = 500
# η at the first step and at the last
_FIRST_PART, _LAST_PART = 1.0, 0.1
# The spread of a bell before any row, in normal scores, and its rows
_LEAST_SPREAD, _SPREAD_ROWS = 0.1, 0.3
# The share of a bell that is the marginal, so that no row is impossible
_LEAK = 1e-3
# At the start: the spread of bells, and the share of the label of a state's row
_FIRST_SPREAD, _FIRST_SHARE = 0.5, 0.7


def hidden_forest(forest: Forest) -> Forest:
    """Return a forest over hidden nodes, those after the variables, each with its variable as a leaf.

    >>> hidden_forest(Forest((-1, 0))).parents
    (2, 3, -1, 2)
    """
    n = len(forest.parents)
    among = (NO_PARENT if parent == NO_PARENT else n + parent for parent in forest.parents)
    return Forest((*range(n, 2 * n), *among))


@dataclass(frozen=True)
class StateOptions:
    """The number of states of every hidden node, and how far their tables are drawn.

    Attributes
    ----------
    n_states : int
        The number of states K.
    smoothing : float
        The rows by which the states that follow a state are drawn to the shares of all, and its labels to the marginal.
    bell_rows : float
        The rows by which the column of a state over the intervals of a number is drawn to a bell.
    """

    n_states: int
    smoothing: float
    bell_rows: float


@dataclass(frozen=True)
class _Scores:
    """The intervals of a number, or the labels of a variable without order.

    Attributes
    ----------
    marginal : numpy.ndarray, (I,)
        The share of every label.
    ends : numpy.ndarray, (I' + 1,), or None
        The ends of the I' intervals in normal scores; None for labels without order. A missing label comes after the
        intervals.
    """

    marginal: np.ndarray
    ends: np.ndarray | None

    @classmethod
    def of(cls, counted: np.ndarray, is_number: bool, n_missing: int) -> _Scores:
        """Make scores from the counts of labels; the last ``n_missing`` labels of a number are no intervals."""
        marginal = (counted + 0.5) / (counted.sum() + 0.5 * len(counted))
        if not is_number:
            return cls(marginal, None)
        from scipy.special import ndtri

        inside = marginal[: len(marginal) - n_missing]
        below = np.concatenate([[0.0], np.cumsum(inside) / inside.sum()])
        return cls(marginal, ndtri(np.clip(below, 0.0, 1.0)))

    @cached_property
    def middles(self) -> np.ndarray:
        """The normal score in the middle of every interval, by its share, (I',)."""
        from scipy.special import ndtr, ndtri

        assert self.ends is not None
        below = ndtr(self.ends)
        return np.asarray(ndtri((below[:-1] + below[1:]) / 2))

    def start(self, labels: np.ndarray) -> np.ndarray:
        """Return columns of states, (K, I), that begin at some rows' labels, (K,), −1 for missing."""
        near = np.zeros((len(labels), len(self.marginal)))
        seen = labels >= 0
        near[seen, labels[seen]] = _FIRST_SHARE
        if self.ends is not None:
            seen &= labels < len(self.middles)
            means = self.middles[labels[seen]]
            columns = kernels().bells(self.ends, means, np.full(len(means), _FIRST_SPREAD)).T
            near[seen, : len(self.middles)] = _FIRST_SHARE * columns
        return near + (1.0 - near.sum(axis=1, keepdims=True)) * self.marginal


class _Columns(NamedTuple):
    """What is known of all variables, as :func:`juror.kernels.reference.bells.drawn_columns` wants it."""

    starts: np.ndarray
    n_inside: np.ndarray
    ends: np.ndarray
    middles: np.ndarray
    marginal: np.ndarray

    @classmethod
    def of(cls, scores: Sequence[_Scores], starts: np.ndarray) -> _Columns:
        """Stack the scores of all variables."""
        ends, middles = np.zeros(starts[-1] + len(scores)), np.zeros(starts[-1])
        n_inside = np.zeros(len(scores), dtype=np.int64)
        for n, (each, start) in enumerate(zip(scores, starts, strict=False)):
            if each.ends is not None:
                n_inside[n] = len(each.middles)
                middles[start : start + n_inside[n]] = each.middles
                ends[start + n : start + n + n_inside[n] + 1] = each.ends
        return cls(starts, n_inside, ends, middles, np.concatenate([each.marginal for each in scores]))


def counts_of(variable: Variable, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the weights of the rows that show each label, (I,); those of intervals follow the law of the column."""
    seen = column >= 0
    counted = np.bincount(column[seen], weights[seen], minlength=variable.cardinality)
    return counted if variable.edges is None else _by_law(counted, variable.inside)


def _by_law(counted: np.ndarray, inside: Inside) -> np.ndarray:
    """Return counts of intervals that follow the law of the column, so that bells have no noise of few rows.

    Intervals of a single value keep their own: such values may belong to some groups of rows only.
    """
    smooth = np.flatnonzero(~inside.are_single)
    masses = inside.masses[smooth]
    by_law = counted.astype(np.float64)
    if masses.sum() > 0:
        by_law[smooth] = counted[smooth].sum() * masses / masses.sum()
    return by_law


@dataclass(frozen=True, eq=False)
class HiddenTree:
    """The rows and the forest that a tree with hidden nodes is fitted to.

    Attributes
    ----------
    rows, domain : WeightedRows, Domain
        The rows and their variables.
    forest : Forest
        The forest over hidden nodes, see :func:`hidden_forest`.
    states : StateOptions
        How many states there are, and how far their tables are drawn.
    """

    rows: WeightedRows
    domain: Domain
    forest: Forest
    states: StateOptions

    @cached_property
    def _scores(self) -> list[_Scores]:
        return [
            _Scores.of(
                counts_of(variable, column, self.rows.weights),
                variable.edges is not None,
                int(variable.missing_label is not None),
            )
            for variable, column in zip(self.domain, self.rows.codes.T, strict=True)
        ]

    @cached_property
    def nodes(self) -> HiddenNodes:
        """Where the tables of every variable are."""
        return HiddenNodes.of(self.forest, self.domain.cardinalities)

    @cached_property
    def _columns(self) -> _Columns:
        return _Columns.of(self._scores, self.nodes.starts)

    def start(self, rng: np.random.Generator) -> HiddenTables:
        """Return tables whose states begin at random rows and follow each other at random."""
        n_states = self.states.n_states
        chosen = rng.choice(len(self.rows.codes), n_states, p=self.rows.weights / self.rows.total)
        tables = [scores.start(self.rows.codes[chosen, n]) for n, scores in enumerate(self._scores)]
        for n in range(len(self.domain), 2 * len(self.domain)):
            shares = rng.random((1 if self.forest.parents[n] == NO_PARENT else n_states, n_states))
            tables.append(shares / shares.sum(axis=1, keepdims=True))
        return HiddenTables.stacked(tables)

    def step(self, tables: HiddenTables, some: np.ndarray, done: float) -> None:
        """Move the tables in place by the counts of some rows; ``done`` of all steps, from zero to one, are behind."""
        part = np.float32(_FIRST_PART + (_LAST_PART - _FIRST_PART) * done)
        weights = self.rows.weights[some]
        scaled = weights * (self.rows.total / weights.sum())
        aim = self.aim(self.nodes.counts(tables, self.rows.codes[some], scaled))
        for table, wanted in ((tables.columns, aim.columns), (tables.follows, aim.follows)):
            wanted -= table
            wanted *= part
            table += wanted

    def batches(self, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the numbers of some rows for every step, all rows in turn and then in another order, without end."""
        left = np.empty(0, dtype=np.int64)
        while True:
            if len(left) < min(BATCH, len(self.rows.codes)):
                left = rng.permutation(len(self.rows.codes))
            some, left = left[:BATCH], left[BATCH:]
            yield some

    def aim(self, counted: HiddenTables) -> HiddenTables:
        """Return what the tables are moved to, from expected counts."""
        states = self.states
        prior = ColumnPrior(states.smoothing, states.bell_rows, _LEAST_SPREAD, _SPREAD_ROWS, _LEAK)
        columns = np.ones(counted.columns.shape, dtype=np.float32)
        seen = np.asarray(counted.columns[:-1], dtype=np.float32)
        columns[:-1] = kernels().drawn_columns(seen, *self._columns, prior)
        # The states that follow a state are drawn to the shares of all.
        totals = counted.follows.sum(axis=1, keepdims=True, dtype=np.float64)
        follows = counted.follows + states.smoothing * totals / totals.sum(axis=2, keepdims=True)
        follows /= follows.sum(axis=2, keepdims=True)
        return HiddenTables(columns, follows.astype(np.float32))

    def shares_of_states(self, tables: HiddenTables) -> list[np.ndarray]:
        """Return the share of every state at each hidden node, N times (K,)."""
        above, follows = self.nodes.above, tables.follows.astype(np.float64)
        shares = [np.empty(0)] * len(above)
        for n in self.nodes.order:
            shares[n] = follows[n, 0] if above[n] == NO_PARENT else shares[above[n]] @ follows[n]
        return shares

    def parameters(self, tables: HiddenTables) -> Parameters:
        """Return the tables as one class with hidden nodes."""
        hidden = (self.states.n_states,) * len(self.domain)
        whole = [table.astype(np.float64) for table in self.nodes.tables(tables)]
        whole = [(table / table.sum(axis=1, keepdims=True))[..., None] for table in whole]
        stacking = Stacking((*self.domain.cardinalities, *hidden), self.forest)
        return Parameters(np.ones(1), stacking.stack(whole), self.forest, hidden)
