"""The edges of a sampled forest, their kinds, and the prior of the tables of all variables that follows from these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from juror.rows.expected import ExpectedCounts
from juror.rows.forest import Forest
from juror.rows.parameters import Parameters
from juror.rows.stacking import Stacking
from juror.solvers.bell_edges import N_BELLS, BellEdges
from juror.solvers.hyper import Hyper

# The values of b: from columns that are almost certain to columns almost alike
STRENGTHS = np.array([0.5, 2.0, 8.0])
# φ ~ Dirichlet(1, 1, 0.1, …): columns almost alike cost little where variables are independent. So they become probable
# only if many edges have them.
PRIOR_OF_PHI = np.tile([1.0, 1.0, 0.1], 2)
_TINY = 1e-300


class Kind(NamedTuple):
    """How the columns of a node are drawn, for each label of its parent if it has one.

    Attributes
    ----------
    shared : bool
        Whether all classes have the same columns.
    strength : float, optional
        The b of columns Dirichlet(b m_n): infinite if they are m_n, 0 if they say nothing about m_n, and None if they
        have c_n instead.
    bell : int, optional
        Which of the tables of :class:`juror.solvers.bell_edges.BellEdges` the columns are drawn to in place of m_n.
    """

    shared: bool
    strength: float | None
    bell: int | None = None


# The kinds of edges, by number: those of :mod:`juror.solvers.forest_gibbs`, whose prior probabilities are φ, then bells
KINDS = tuple(
    [Kind(shared, float(b)) for shared in (True, False) for b in STRENGTHS]
    + [Kind(shared, 0.0, bell) for shared in (True, False) for bell in range(N_BELLS)]
)
# Nodes without a parent: c_n m_n in every class, or m_n in all
_OF_CLASSES, _ALIKE = Kind(False, None), Kind(True, np.inf)


@dataclass(frozen=True)
class Edges:
    """A forest, the kind of the edge to every node's parent (N,), and the prior of both.

    Attributes
    ----------
    forest : Forest
        The parents.
    numbers : numpy.ndarray of int, (N,)
        The place among ``KINDS`` of every node's edge; of no meaning for nodes without a parent.
    odds : float
        x, the prior odds that a variable has a parent, if all had two labels.
    phi : numpy.ndarray, (2K,)
        The prior probabilities of all kinds but bells.
    alike : frozenset of int
        The nodes without a parent whose column is m_n in all classes.
    rho : float
        ρ, the prior probability that a variable without a parent is one of these.
    """

    forest: Forest
    numbers: np.ndarray
    odds: float
    phi: np.ndarray
    alike: frozenset[int] = frozenset()
    rho: float = 0.1

    @classmethod
    def none(cls, n: int) -> Edges:
        """Return the state in which the sampler begins: no edges, and the kinds as probable as in the prior."""
        return cls(Forest.empty(n), np.zeros(n, dtype=np.int64), 1.0, PRIOR_OF_PHI / PRIOR_OF_PHI.sum())

    @property
    def kinds(self) -> list[Kind]:
        """How the columns of every node are drawn."""
        found = [KINDS[number] for number in self.numbers]
        for n in self.forest.roots:
            found[n] = _ALIKE if n in self.alike else _OF_CLASSES
        return found


def columns_of(counts: ExpectedCounts, edges: Edges, stacking: Stacking) -> list[np.ndarray]:
    """Return the counts of every variable as columns of the prior's, (I_n, columns).

    Columns of a bell say nothing about m_n, so they are zero.
    """
    found = []
    for table, kind in zip(stacking.tables(counts.cells), edges.kinds, strict=True):
        if kind.bell is not None:
            found.append(np.zeros((table.shape[1], 1)))
            continue
        columns = table.sum(axis=2).T if kind.shared else table.transpose(1, 0, 2).reshape(table.shape[1], -1)
        if len(table) > 1:
            # Columns without rows say nothing, but one must be left.
            some = np.asarray(columns.any(axis=0))
            some[0] = True
            columns = columns[:, some]
        found.append(columns)
    return found


@dataclass(frozen=True)
class TablePrior:
    """The prior of all tables: pseudo-counts of every stacked row, and rows that are the same in all classes.

    Attributes
    ----------
    alpha : numpy.ndarray, (stacked rows,)
        c_n m_n, b m_n or b m_r, m_n itself where it is the column, and one for rows of ones.
    own, shared, known : numpy.ndarray of int
        The stacked rows that each class has for itself, those that all classes share, and those of variables whose
        column is m_n, which are not drawn.
    """

    alpha: np.ndarray
    own: np.ndarray
    shared: np.ndarray
    known: np.ndarray

    @classmethod
    def of(cls, hyper: Hyper, edges: Edges, stacking: Stacking, bells: BellEdges) -> TablePrior:
        """Lay out the prior of a forest."""
        alpha, (shared, known) = np.ones(stacking.n_rows), np.zeros((2, stacking.n_rows), dtype=bool)
        for n, kind in enumerate(edges.kinds):
            rows, is_known = stacking.rows(n), kind == _ALIKE
            if kind.bell is not None:
                own = bells.alpha(edges.forest.parents[n], n, kind.bell)
            else:
                strength = hyper.c[n] if kind.strength is None else kind.strength
                own = hyper.m[n] if is_known else strength * hyper.m[n]
            alpha[rows].reshape(-1, len(hyper.m[n]))[:] = own
            shared[rows], known[rows] = kind.shared and not is_known, is_known
        return cls(alpha, np.flatnonzero(~shared & ~known), np.flatnonzero(shared), np.flatnonzero(known))


def draw_point(
    counts: ExpectedCounts,
    a: float,
    prior: TablePrior,
    stacking: Stacking,
    rng: np.random.Generator,
    chosen: np.ndarray | None = None,
    before: np.ndarray | None = None,
) -> Parameters:
    """Draw λ ~ Dirichlet(a + classes) and the tables given the counts.

    If classes are ``chosen``, (n,), all others keep the columns of their own that they had ``before``, in a stack.
    """
    cells = counts.cells if chosen is None else counts.cells[:, chosen]
    if len(prior.own) < len(prior.alpha):
        gamma = np.empty_like(cells)
        gamma[prior.known] = prior.alpha[prior.known, None]
        gamma[prior.own] = rng.standard_gamma(cells[prior.own] + prior.alpha[prior.own, None])
        together = counts.cells[prior.shared].sum(axis=1) + prior.alpha[prior.shared]
        gamma[prior.shared] = rng.standard_gamma(together)[:, None]
    else:
        gamma = rng.standard_gamma(cells + prior.alpha[:, None])
    gamma = np.maximum(gamma, _TINY)
    lam = np.maximum(rng.standard_gamma(counts.classes + a), _TINY)
    stack = stacking.normalise(gamma, otherwise=gamma)
    if chosen is not None and before is not None:
        drawn, stack = stack, before.copy()
        stack[:, chosen] = drawn
        for rows in (prior.known, prior.shared):
            stack[rows] = drawn[rows, :1]
    return Parameters(lam / lam.sum(), stack, stacking.forest)
