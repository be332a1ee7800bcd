"""A mixture of trees with hidden nodes, one for each group of rows.

One forest cannot follow all pairs of numbers, and many states behind each number are a slow remedy: a step takes K²
products for each node. Rows are therefore divided into a few groups in which numbers vary together in different ways
(:mod:`juror.solvers.row_groups`). Each group has a forest and a tree of its own, and only the rows that belong to it
take part in the steps of its tree. At the end a few steps over many rows, with the shares r_ig ∝ w_g p_g(x_i) that the
trees themselves give the rows, fit the mixture p(x) = Σ_g w_g p_g(x) as a whole. At last the columns of numbers are
scaled to the marginals of the rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from juror.counts.counting import count_tables
from juror.counts.groups import pairs_of
from juror.domain import Domain
from juror.domain.variable import Variable
from juror.rows.distinct import WeightedRows
from juror.rows.hidden_stack import HiddenTables
from juror.rows.parameters import Parameters
from juror.runners.local import LocalRunner, partitions
from juror.solvers.chow_liu import strongest_forest
from juror.solvers.hidden_tree import BATCH, HiddenTree, StateOptions, counts_of, hidden_forest
from juror.solvers.row_groups import group_rows, normal_scores
from juror.solvers.shared_forest import n_log_n

# Steps over all rows at the end, which even out the noise of a few, or over an eighth of the rows of all steps before:
# a row takes longer here, as it may belong to several groups
_WHOLE_STEPS, _WHOLE_SHARE = 3, 8
# Intervals that forests are found with: of more, pairs would have too few rows to tell dependence from chance.
_COARSE = 32
# Rounds that scale columns to the marginals, and the rows that every interval is given besides its own
_ROUNDS, _LEAST_ROWS = 20, 0.01
# Neighbouring intervals form runs of about this many rows. The marginal has the right number of rows in each run.
_ROWS_OF_RUN, _FEWEST_RUNS, _MOST_RUNS = 200, 4, 32
# A law is taken to be that of other rows if the chi-square of the runs is this many times that of rows of the law.
_ODD = 4.0
# A share of a row below this does not count in the last steps
_LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Grouped:
    """The share of every group, (G,), and the tables of its tree."""

    shares: np.ndarray
    tables: list[HiddenTables]


@dataclass(frozen=True, eq=False)
class GroupedTrees:
    """The trees of all groups, each with the rows that belong to it.

    Attributes
    ----------
    rows, domain : WeightedRows, Domain
        All rows and their variables.
    trees : sequence of HiddenTree
        A tree for each group. The weights of its rows are their weights in the table times their shares in the group.
    """

    rows: WeightedRows
    domain: Domain
    trees: Sequence[HiddenTree]

    @classmethod
    def of(
        cls, rows: WeightedRows, domain: Domain, n_groups: int, states: StateOptions, rng: np.random.Generator
    ) -> GroupedTrees:
        """Divide the rows into groups, and find a forest for each; groups of fewer rows than states are left out."""
        shares = _shares(rows, domain, n_groups, rng)
        totals = rows.weights @ shares
        large = np.flatnonzero(totals >= min(states.n_states, totals.max()))
        trees = []
        for g in large:
            weights = rows.weights * shares[:, g]
            some = np.flatnonzero(weights)
            own = WeightedRows(rows.codes[some], weights[some], rows.n_merged[some])
            forest = hidden_forest(strongest_forest(_links(own, domain)))
            trees.append(HiddenTree(own, domain, forest, states))
        return cls(rows, domain, trees)

    def start(self, rng: np.random.Generator) -> Grouped:
        """Return tables whose states begin at random rows of their group."""
        totals = np.array([tree.rows.total for tree in self.trees])
        return Grouped(totals / totals.sum(), [tree.start(rng) for tree in self.trees])

    def steps(self, found: Grouped, n_steps: int, rng: np.random.Generator) -> Iterator[Grouped]:
        """Move the tables in place, and yield them after every few rows, so that a caller may stop there."""
        turns = self._turns(n_steps)
        taken = np.zeros(len(turns))
        batches = [tree.batches(rng) for tree in self.trees]
        for _ in range(round(turns.sum())):
            # All groups are about equally far on the way at any time.
            g = int(np.argmin((taken + 0.5) / turns))
            self.trees[g].step(found.tables[g], next(batches[g]), min(taken[g] / turns[g], 1.0))
            taken[g] += 1
            yield found
        for _ in range(_WHOLE_STEPS):
            sums = [
                HiddenTables(np.zeros(tables.columns.shape), np.zeros(tables.follows.shape)) for tables in found.tables
            ]
            totals = np.zeros(len(turns))
            for some, weights in self._many(_most_whole(n_steps), rng):
                totals += self._add_counts(found, some, weights, sums)
                yield found
            # A group of which no row was taken stays as it is.
            tables = [
                tree.aim(counted) if total > 0 else before
                for tree, counted, total, before in zip(self.trees, sums, totals, found.tables, strict=True)
            ]
            found = Grouped(totals / totals.sum(), tables)
        self._scale_to_margins(found)
        yield found

    def _scale_to_margins(self, found: Grouped) -> None:
        """Scale the columns of numbers, in place, so that all trees together have the marginals of the rows.

        Bells change them a little. A column with missing cells is left alone: the rows that lack it may differ.
        """
        shares = [tree.shares_of_states(tables) for tree, tables in zip(self.trees, found.tables, strict=True)]
        for n, variable in enumerate(self.domain):
            column = self.rows.codes[:, n]
            if variable.edges is None or np.any(column < 0):
                continue
            least = _LEAST_ROWS * self.rows.total / len(self.rows.codes)
            wanted = _margin(variable, column, self.rows.weights) + least
            weights = np.concatenate([share * of[n] for share, of in zip(found.shares, shares, strict=True)])
            lines = self.trees[0].nodes.lines(n)
            columns = np.concatenate([tables.columns[lines].T for tables in found.tables]).astype(np.float64)
            for _ in range(_ROUNDS):
                columns *= wanted / wanted.sum() / (weights @ columns)
                columns /= columns.sum(axis=1, keepdims=True)
            for tables, own in zip(found.tables, np.split(columns, len(self.trees)), strict=True):
                tables.columns[lines] = own.T

    def _turns(self, n_steps: int) -> np.ndarray:
        """Return the steps of each tree, (G,), so that it passes over its rows as often as one tree over all rows."""
        return n_steps * np.array([len(tree.rows.codes) for tree in self.trees]) / len(self.rows.codes)

    def n_yields(self, n_steps: int) -> int:
        """Return how often :meth:`steps` yields."""
        n_rows = min(len(self.rows.codes), _most_whole(n_steps))
        return round(self._turns(n_steps).sum()) + _WHOLE_STEPS * len(list(partitions(n_rows, BATCH))) + 1

    def _many(self, most: int, rng: np.random.Generator) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield all rows, or random ones if there are more than ``most``, a few at a time: codes and weights.

        The weights add up to those of all rows.
        """
        n_rows = len(self.rows.codes)
        many = np.arange(n_rows) if n_rows <= most else rng.choice(n_rows, most, replace=False)
        weights = self.rows.weights[many]
        scaled = weights * (self.rows.total / weights.sum())
        for some in partitions(len(many), BATCH):
            yield self.rows.codes[many[some]], scaled[some]

    def _add_counts(
        self, found: Grouped, codes: np.ndarray, weights: np.ndarray, sums: Sequence[HiddenTables]
    ) -> np.ndarray:
        """Add the expected counts of some rows to those of all trees; return the weight of each group, (G,)."""
        shares = self._shares_of(found, codes)
        for g, tree in enumerate(self.trees):
            some = np.flatnonzero(shares[:, g] >= _LEAST_SHARE)
            if not len(some):
                continue
            counted = tree.nodes.counts(found.tables[g], codes[some], weights[some] * shares[some, g])
            sums[g].columns[:] += counted.columns
            sums[g].follows[:] += counted.follows
        return np.asarray(weights @ shares)

    def _shares_of(self, found: Grouped, codes: np.ndarray) -> np.ndarray:
        """Return how much of every row belongs to each group by their trees, (rows, G)."""
        if len(self.trees) == 1:
            return np.ones((len(codes), 1))
        logs = self._logs(found, codes)
        shares = np.exp(logs - logs.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _logs(self, found: Grouped, codes: np.ndarray) -> np.ndarray:
        both = zip(self.trees, found.tables, strict=True)
        logs = [tree.nodes.logs(tables, codes) for tree, tables in both]
        # A group that lost all its rows has no share.
        return np.log(np.maximum(found.shares, 1e-300)) + np.stack(logs, axis=1)

    def log_prob(self, found: Grouped, codes: np.ndarray) -> np.ndarray:
        """Return the log-probability of every row of codes (rows, N), (rows,)."""
        return np.asarray(np.logaddexp.reduce(self._logs(found, codes), axis=1))

    def parameters(self, found: Grouped) -> tuple[Parameters, ...]:
        """Return one part for each group, whose weights sum to one."""
        parts = (tree.parameters(tables) for tree, tables in zip(self.trees, found.tables, strict=True))
        return tuple(replace(part, lam=np.array([share])) for part, share in zip(parts, found.shares, strict=True))


def _margin(variable: Variable, column: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return the rows of every interval, (I,): by the law of the column, but as many as there are in runs of many rows.

    The law is smooth, and may be off by some rows in a thousand. If it is off by more, it is that of other rows, as in
    a domain that was given, and the counts are returned.
    """
    counted = np.bincount(column, weights, minlength=variable.cardinality)
    by_law = counts_of(variable, column, weights)
    n_runs = int(np.clip(len(column) / _ROWS_OF_RUN, _FEWEST_RUNS, _MOST_RUNS))
    run = np.minimum(np.cumsum(by_law) / by_law.sum() * n_runs, n_runs - 1).astype(np.int64)
    there, expected = (np.bincount(run, rows, minlength=n_runs) for rows in (counted, by_law))
    held = expected > 0
    # The chi-square, about one for each run if the law is right. With weights, rows vary more than their sum says.
    square = np.sum((there - expected)[held] ** 2 / expected[held]) * weights.sum() / (weights @ weights)
    if variable.law is None or square > _ODD * n_runs:
        return np.asarray(counted, dtype=np.float64)
    return np.asarray(by_law * np.divide(there, expected, out=np.ones(n_runs), where=held)[run])


def _most_whole(n_steps: int) -> int:
    """Return how many rows one of the last steps takes at most."""
    return max(BATCH, n_steps * BATCH // _WHOLE_SHARE)


def _shares(rows: WeightedRows, domain: Domain, n_groups: int, rng: np.random.Generator) -> np.ndarray:
    """Return how much of every row belongs to each group, (rows, n_groups)."""
    if n_groups == 1:
        return np.ones((len(rows.codes), 1))
    scores = []
    for variable, codes in zip(domain, rows.codes.T, strict=True):
        if variable.edges is not None:
            seen = codes >= 0
            counts = np.bincount(codes[seen], rows.weights[seen], minlength=variable.cardinality)
            scores.append(normal_scores(codes, counts[: len(variable.present_labels)], rng))
    return group_rows(np.stack(scores, axis=1), rows.weights, n_groups, rng)


def _links(rows: WeightedRows, domain: Domain) -> np.ndarray:
    """Return by how much the mutual information of every two variables exceeds chance, in coarser intervals, (N, N)."""
    codes, sizes = rows.codes.astype(np.int64), list(domain.cardinalities)
    for n, variable in enumerate(domain):
        n_intervals = len(variable.present_labels)
        if variable.edges is not None and n_intervals > _COARSE:
            some = (codes[:, n] >= 0) & (codes[:, n] < n_intervals)
            codes[some, n] = codes[some, n] * _COARSE // n_intervals
            # A missing label comes after the intervals.
            codes[codes[:, n] >= n_intervals, n] = _COARSE
            sizes[n] = _COARSE + variable.cardinality - n_intervals
    pairs = pairs_of(len(sizes))
    found = np.zeros((len(sizes),) * 2)
    for (j, k), table in zip(pairs, count_tables(codes, sizes, pairs, rows.weights, LocalRunner(1)), strict=True):
        found[j, k] = found[k, j] = _beyond_chance(table)
    return found


def _beyond_chance(table: np.ndarray) -> float:
    """Return the mutual information of a table of counts (I, J) less (I − 1)(J − 1) / 2n, its mean if independent.

    Weak edges are kept too: between hidden nodes, an edge costs less than a table of labels.
    """
    rows, columns, n = table.sum(axis=1), table.sum(axis=0), max(float(table.sum()), 1.0)
    gain = n_log_n(table) - n_log_n(rows) - n_log_n(columns) + n_log_n(table.sum())
    return (gain - (np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1) / 2) / n
