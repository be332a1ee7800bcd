"""Gibbs sampling of classes, of a forest that they share, and of λ and the tables.

A variable without a parent either is as in :mod:`juror.solvers.gibbs`, A_n(:, f) ~ Dirichlet(c_n m_n), or it does not
depend on the class, A_n(:, f) = m_n. The second has the probability ρ ~ Beta(1, 10). A variable n with the parent p has
one column for each label x of p, and every column is Dirichlet(b m_n), where b is one of a few numbers. Either all
classes share these columns, or each class has its own. This and b are the *kind* of the edge. Given the classes, all
columns are summed out, which leaves a weight for every edge:

    E[p, n] = log Σ_k φ_k E_k(p → n) − log E(n) + log(x w_pn / N),    w_pn = (4 / (I_p I_n))²
    E(n) = (1 − ρ) p(C_n | c_n, m_n) + ρ Π_x m_n[x]^C_n[x]

with E_k the evidence of an edge of kind k (:mod:`juror.kernels.reference.edges`) and C_n the counts of labels, in every
class or in all of them. The forest is moved by these weights (:mod:`juror.solvers.forest_moves`), and kinds of edges
and roots are drawn given the forest. The more cells the table of an edge has, the less probable it is a priori. Thirty
rows can show an effect between two variables of two labels, but ten labels have many more ways to look dependent.
The weights of all rooted forests sum to det(1 + x L / N), with L the Laplacian of w (the matrix-tree theorem), so that
x has the density

    p(x | k edges) ∝ x^k / det(1 + x L / N) · p(x),    x / (1 + x) ~ Beta(100, 1)

x, ρ and φ, which has a Dirichlet prior, are drawn given the edges, so that edges become rare where no variable depends
on another. Numbers may have edges of further kinds, between normal scores (:mod:`juror.solvers.bell_edges`). Their
evidence has a weight w of its own and is added to that of the others.

Chains begin without edges. With a forest at the start, some chains kept a poor one, whose edges left little for
classes. If variables could not be the same in all classes, independent columns would use ten or twenty classes, because
the mean of many columns is more even than a single one. Then these classes would hide effects between other variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeGuard

import numpy as np

from juror.kernels import are_few_to_draw, kernels, kernels_to_draw
from juror.rows.expected import ExpectedCounts, tables_of
from juror.rows.forest import Forest
from juror.rows.in_memory import MemoryTable
from juror.rows.packed import PackedRows
from juror.rows.stacking import Stacking
from juror.rows.table import Table
from juror.solvers.bell_edges import N_BELLS, BellEdges
from juror.solvers.completing import Completed, RowsToComplete
from juror.solvers.edge_tables import PRIOR_OF_PHI, STRENGTHS, Edges, TablePrior, columns_of, draw_point
from juror.solvers.few_rows import FewCells, FewRows
from juror.solvers.forest_moves import moved
from juror.solvers.gibbs import PRIOR_EVERY
from juror.solvers.hyper import Hyper, first_hyper, log_columns, next_hyper, slice_draw
from juror.solvers.starts import random_start

_TINY = 1e-300
# ρ ~ Beta(1, 10): a variable is the same in all classes only if the rows show it. With Beta(1, 1), a hundred rows
# without visible dependence make independence almost certain, and intervals are too narrow.
_UNLIKE = 10.0
# Rounding must not make a case impossible for good.
_LEAST_RHO = 1e-12
# Kernels multiply several entries of base measures before they take logarithms.
_LEAST_BASE = 1e-100
# x / (1 + x) ~ Beta(100, 1): most variables of a table depend on some other.
_EDGES = 100.0
# The prior weight of an edge between two scores: that of a table of four by four labels. With the weight of two by two
# labels, whose table also has one free number, sixty rows of independent numbers got edges.
_OF_BELLS = 0.0625
# The scale of the prior of a, times the rank, if few classes are favoured. In a small table, an effect between two
# variables is lost if its rows are spread over classes.
_SPARSE = 0.02
# The forest is drawn in every tenth sweep, or less often for many variables, because their pairs cost more than sweeps.
# At most this many variables draw a parent then.
_EVERY, _VARIABLES_A_SWEEP, _MOST_MOVES = 10, 5, 200
# Ends of scores follow missing cells whenever the forest is drawn, or every second time if there are more intervals
# than this, whose tables cost more than a sweep.
_FEW_INTERVALS = 50
# Tables of fewer numbers are drawn in all classes. Of larger ones, a class without rows has new tables in every fourth
# sweep.
_FEWEST_NUMBERS, _TURNS = 2048, 4
# The part of the sweeps that are forgotten before the first edge
CLASSES_FIRST = 8
# Pairs with more cells than this have no edge.
_MOST_CELLS = 1_000_000
# Missing cells are drawn for each of the rows that a distinct row stands for.
_MOST_WITH_HOLES = 100_000.0


class ForestSampler:
    """A chain of draws as :class:`juror.solvers.gibbs.Sampler`, for rows in memory, with a forest.

    The forest has no edges before the sweep ``first``, an eighth of those that are forgotten. Numbers may be joined by
    ``bells`` too, whose ends follow missing cells as they are drawn until these sweeps are over.
    """

    def __init__(
        self,
        table: MemoryTable,
        rank: int,
        rng: np.random.Generator,
        *,
        sparse: bool,
        first: int = 0,
        bells: BellEdges | None = None,
    ):
        sizes = table.domain.cardinalities
        plain = Stacking(sizes)
        self._table = table
        self._rng = rng
        self._scale_of_a = _SPARSE / rank if sparse else 1.0
        self._to_complete = RowsToComplete(table.rows.codes, table.rows.weights)
        self._complete = self._to_complete.n_with_holes == 0
        self._possible = PossibleEdges.of(sizes, bells)
        self._kernels = kernels_to_draw(table.rows.codes.size)
        self._first = first
        n_intervals = sum(len(ends) - 1 for ends in self._possible.bells.ends.values())
        self._follows_every = 1 if n_intervals <= _FEW_INTERVALS else 2
        self._every = max(_EVERY, len(sizes) // _VARIABLES_A_SWEEP)
        self.hyper = first_hyper(sizes)
        self.point = random_start(plain.marginals(table.label_counts), rank, plain, rng)
        self.n_sweeps = 0
        self.edges = Edges.none(len(sizes))
        self.stacking = plain
        codes, weights = self._to_complete.codes, self._to_complete.weights
        self._are_few = FewRows.takes(codes, weights)
        self._rows = self._laid_out()

    @staticmethod
    def takes(table: Table) -> TypeGuard[MemoryTable]:
        """Say whether a forest can be drawn for these rows: they are in memory, and few if some cells are missing."""
        if not isinstance(table, MemoryTable):
            return False
        holes = np.any(table.rows.codes < 0, axis=1)
        return bool(table.rows.weights[holes].sum() <= _MOST_WITH_HOLES)

    def _grow(self, edges: Edges) -> None:
        """Take a forest, and lay the rows out for it."""
        if edges.forest != self.edges.forest:
            forest = edges.forest if edges.forest.has_edges else None
            self.stacking = Stacking(self._table.domain.cardinalities, forest)
            self._rows = self._laid_out()
        self.edges = edges

    def _laid_out(self) -> PackedRows | FewRows | FewCells:
        codes, weights = self._to_complete.codes, self._to_complete.weights
        if self._are_few:
            return FewRows(codes, weights.astype(np.int64), self.stacking)
        if are_few_to_draw(codes.size) and (rows := FewCells.of(codes, weights, self.stacking)) is not None:
            return rows
        forest = self.stacking.forest
        return self._table.packed if forest is None else self._table.along(forest)

    def sweep(self) -> ExpectedCounts:
        """Draw classes, in some sweeps forest and prior, and the next point; return the counts under the classes."""
        moves = self.n_sweeps % self._every == 0 and self.n_sweeps >= self._first
        if moves:
            drawn = self._completed()
            if not self._complete and self._follows():
                bells = self._possible.bells.following(drawn.codes, drawn.weights)
                self._possible = replace(self._possible, bells=bells)
            edges = next_edges(self.edges, drawn, self.hyper, self.point.rank, self._possible, self._rng, self._kernels)
            self._grow(next_prior(edges, self._possible, self._rng))
            counts = counted(drawn, self.stacking, self.point.rank)
        else:
            counts = self._rows.draw(self.point.lam, self.point.stack, self._rng)
        if moves or self.n_sweeps % PRIOR_EVERY == 0:
            columns = columns_of(counts, self.edges, self.stacking)
            given = [kind.strength for kind in self.edges.kinds]
            self.hyper = next_hyper(self.hyper, counts.classes, columns, self._rng, self._scale_of_a, given)
            self._prior = TablePrior.of(self.hyper, self.edges, self.stacking, self._possible.bells)
        chosen = None if moves else self._to_draw(counts)
        self.point = draw_point(counts, self.hyper.a, self._prior, self.stacking, self._rng, chosen, self.point.stack)
        self.n_sweeps += 1
        return counts

    def _follows(self) -> bool:
        """Whether ends of scores follow missing cells in this sweep."""
        is_forgotten = self.n_sweeps < CLASSES_FIRST * self._first
        return is_forgotten and self.n_sweeps // self._every % self._follows_every == 0

    @property
    def n_of_moves(self) -> float:
        """How many rows are counted in cells of pairs to draw the forest, for every sweep."""
        n_pairs = len(self._possible.pairs) + len(self._possible.bells.pairs)
        return n_pairs * len(self._to_complete.codes) / self._every

    def _to_draw(self, counts: ExpectedCounts) -> np.ndarray | None:
        """Return the classes whose tables are drawn: those that hold rows, and some of the others by turns; None: all.

        Whatever rule chooses them by the classes of the rows leaves the posterior as it is. Most of the time of a sweep
        would be for the tables of classes without rows.
        """
        if counts.cells.size < _FEWEST_NUMBERS:
            return None
        turn = np.arange(len(counts.classes)) % _TURNS == self.n_sweeps % _TURNS
        return np.flatnonzero((counts.classes > 0) | turn)

    def _completed(self) -> Completed:
        """Draw classes, and labels for missing cells."""
        lam, stack = self.point.lam, self.point.stack
        if self._complete and isinstance(self._rows, FewRows | FewCells):
            return self._to_complete.draw_complete(*self._rows.posterior(lam, stack), self._rng)
        if self._complete:
            assert isinstance(self._rows, PackedRows)
            cells = self._rows.sheets[0][0]
            logs, R = cells.kernels.posterior(cells.packed, tables_of(cells, lam, stack))
            return self._to_complete.draw_complete(logs, R, self._rng)
        return self._to_complete.draw(lam, self.stacking.tables(stack), self.edges.forest, self._rng)


@dataclass(frozen=True, eq=False)
class PossibleEdges:
    """The pairs of variables that may have an edge: those of two labels or more.

    Attributes
    ----------
    pairs : numpy.ndarray of int, (n_pairs, 2)
        The pairs.
    nodes : numpy.ndarray of int
        The variables in them.
    log_weights : numpy.ndarray, (N, N)
        log w of every pair, without bells.
    spectrum : numpy.ndarray, (N,)
        The eigenvalues of L / N, by which the weights of all forests are summed.
    several : frozenset of int
        The variables of two labels or more.
    bells : BellEdges
        The edges between two scores, of a weight of their own.
    """

    pairs: np.ndarray
    nodes: np.ndarray
    log_weights: np.ndarray
    spectrum: np.ndarray
    several: frozenset[int]
    bells: BellEdges

    @classmethod
    def of(cls, sizes: tuple[int, ...], bells: BellEdges | None = None) -> PossibleEdges:
        """Find the pairs of variables with these numbers of labels."""
        some = [n for n, size in enumerate(sizes) if size > 1]
        found = [(i, j) for j in some for i in some if i < j and sizes[i] * sizes[j] <= _MOST_CELLS]
        pairs = np.array(found, dtype=np.int64).reshape(-1, 2)
        weights = np.zeros((len(sizes), len(sizes)))
        for i, j in found:
            weights[i, j] = weights[j, i] = (4.0 / (sizes[i] * sizes[j])) ** 2
        nodes = np.unique(pairs)
        with np.errstate(divide="ignore"):
            log_weights = np.log(weights)
        bells = BellEdges.none() if bells is None else bells
        for above, n in bells.pairs:
            weights[above, n] += _OF_BELLS
        laplacian = np.diag(weights.sum(axis=0)) - weights
        spectrum = np.maximum(np.linalg.eigvalsh(laplacian) / max(len(nodes), 1), 0.0)
        return cls(pairs, nodes, log_weights, spectrum, frozenset(some), bells)

    def log_prior(self, odds: float, n_edges: int) -> float:
        """Return log p(x | k edges), up to a constant."""
        of_odds = (_EDGES - 1.0) * np.log(odds) - (_EDGES + 1.0) * np.log1p(odds)
        return float(n_edges * np.log(odds) - np.log1p(odds * self.spectrum).sum() + of_odds)


def next_edges(
    edges: Edges,
    drawn: Completed,
    hyper: Hyper,
    rank: int,
    possible: PossibleEdges,
    rng: np.random.Generator,
    passing: ModuleType | None = None,
) -> Edges:
    """Move the forest given the classes of complete rows, then draw the kinds of edges; ``passing`` are the kernels."""
    if not len(possible.pairs):
        return edges
    evidence = _edge_evidence(drawn, hyper, rank, possible.pairs, passing or kernels())
    evidence += np.log(np.maximum(edges.phi, _TINY))[:, None, None]
    top = evidence.max(axis=0)
    total = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        E = np.log(np.exp(evidence - total).sum(axis=0)) + total
    nodes = possible.nodes
    of_roots = _root_evidence(drawn, hyper, rank) + np.log([[1.0 - edges.rho], [edges.rho]])
    E += possible.log_weights + np.log(edges.odds / len(nodes)) - np.logaddexp(*of_roots)
    of_bells = _bell_evidence(drawn, possible)
    if len(of_bells):
        above, below = np.array(possible.bells.pairs).T
        weights = np.logaddexp.reduce(of_bells, axis=1) + np.log(edges.odds / len(nodes))
        E[above, below] = np.logaddexp(E[above, below], weights - np.logaddexp(*of_roots)[below])
    forest = moved(edges.forest, E, rng.choice(nodes, min(len(nodes), _MOST_MOVES)), rng)
    numbers, bells = edges.numbers.copy(), dict(zip(possible.bells.pairs, of_bells, strict=True))
    for above, n in forest.edges:
        logs = evidence[:, above, n]
        if (above, n) in bells:
            logs = np.append(logs + possible.log_weights[above, n], bells[above, n])
        p = np.exp(logs - logs.max())
        numbers[n] = rng.choice(len(p), p=p / p.sum())
    return replace(edges, forest=forest, numbers=numbers, alike=_drawn_alike(forest, of_roots, rng))


def _bell_evidence(drawn: Completed, possible: PossibleEdges) -> np.ndarray:
    """Return log E + log w of all kinds of edges between two scores, (pairs, kinds); all kinds are as probable."""
    found = possible.bells.evidence(drawn.codes, drawn.classes, drawn.weights)
    return found + np.log(_OF_BELLS / (2 * N_BELLS))


def _drawn_alike(forest: Forest, of_roots: np.ndarray, rng: np.random.Generator) -> frozenset[int]:
    """Draw which roots have the same column in all classes, given the log weights of both cases, (2, N)."""
    same = np.log(rng.random(of_roots.shape[1])) < of_roots[1] - np.logaddexp(*of_roots)
    return frozenset(n for n in forest.roots if same[n])


def next_prior(edges: Edges, possible: PossibleEdges, rng: np.random.Generator) -> Edges:
    """Draw x, φ and ρ given the edges."""
    below = [n for _, n in edges.forest.edges]
    odds = slice_draw(lambda x: possible.log_prior(x, len(below)), edges.odds, rng)
    phi = rng.dirichlet(PRIOR_OF_PHI + np.bincount(edges.numbers[below], minlength=len(edges.phi))[: len(edges.phi)])
    n_alike, n_roots = len(edges.alike & possible.several), len(possible.several - set(below))
    rho = np.clip(rng.beta(1.0 + n_alike, _UNLIKE + n_roots - n_alike), _LEAST_RHO, 1.0 - _LEAST_RHO)
    return replace(edges, odds=odds, phi=phi, rho=float(rho))


def _edge_evidence(drawn: Completed, hyper: Hyper, rank: int, pairs: np.ndarray, passing: ModuleType) -> np.ndarray:
    """Return log E_k(p → n), (2K, N, N)."""
    order = np.argsort(drawn.classes, kind="stable")
    columns = np.ascontiguousarray(drawn.codes[order].T, dtype=np.int32)
    bounds = np.searchsorted(drawn.classes[order], np.arange(rank + 1)).astype(np.int64)
    bases = np.maximum(np.concatenate(hyper.m), _LEAST_BASE)
    starts = np.cumsum([0, *(len(m) for m in hyper.m)]).astype(np.int64)
    weights = np.ascontiguousarray(drawn.weights[order], dtype=np.float64)
    found = passing.edge_evidence(columns, bounds, weights, pairs, bases, starts, STRENGTHS)
    return np.asarray(found).reshape(-1, *found.shape[2:])


def _root_evidence(drawn: Completed, hyper: Hyper, rank: int) -> np.ndarray:
    """Return log p(C_n | c_n, m_n) of every variable without a parent, and the same if its column is m_n, (2, N)."""
    found = np.empty((2, len(hyper.m)))
    for n, (c, m) in enumerate(zip(hyper.c, hyper.m, strict=True)):
        cells = drawn.codes[:, n] * rank + drawn.classes
        C = np.bincount(cells, drawn.weights, minlength=len(m) * rank).reshape(len(m), rank)
        base = np.maximum(m, _LEAST_BASE)
        found[:, n] = log_columns(c, C, base), C.sum(axis=1) @ np.log(base)
    return found


def counted(drawn: Completed, stacking: Stacking, rank: int) -> ExpectedCounts:
    """Count classes, and labels together with those of the parents."""
    cells = stacking.cells(drawn.codes).astype(np.int64) * rank + drawn.classes[:, None]
    weights = np.repeat(drawn.weights, cells.shape[1])
    counts = np.bincount(cells.ravel(), weights, minlength=stacking.n_rows * rank).reshape(-1, rank)
    classes = np.bincount(drawn.classes, drawn.weights, minlength=rank)
    return ExpectedCounts(drawn.log_likelihood, classes, counts)
