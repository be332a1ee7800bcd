"""Entropy and mutual information, in nats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from juror.answers.block import Mixture
from juror.answers.label_frames import to_frame
from juror.answers.marginals import marginal
from juror.answers.messages import node_marginals
from juror.answers.pairs import pair_tables
from juror.answers.sampling import sample
from juror.answers.scores import log_prob
from juror.answers.table_texts import align, html_table
from juror.errors import QueryError
from juror.kernels.logarithms import log_of

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

_EXACT_CELLS = 1_000_000
# Cells times classes: a second of work
_EXACT_WORK = 300_000_000
_NO_ENTROPY = 1e-12


class Estimate(float):
    """A number with its standard error, zero when the number is exact.

    >>> Estimate(1.5, 0.25)
    1.5 ± 0.25 (standard error)
    >>> Estimate(1.5) + 1
    2.5
    """

    standard_error: float

    def __new__(cls, value: float, standard_error: float = 0.0) -> Self:
        """Make the number, and attach its standard error."""
        estimate = super().__new__(cls, value)
        estimate.standard_error = standard_error
        return estimate

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.standard_error

    @classmethod
    def of_draws(cls, values: np.ndarray) -> Self:
        """Estimate a mean from its value for every draw, (n_draws,)."""
        return cls(float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values))))

    @property
    def is_exact(self) -> bool:
        """Whether the number is exact up to rounding."""
        return self.standard_error == 0.0

    def __repr__(self) -> str:
        if self.is_exact:
            return float.__repr__(self)
        return f"{float(self):.6g} ± {self.standard_error:.2g} (standard error)"


def entropy_of(probabilities: np.ndarray) -> float:
    """Return −Σ p log p of a table, with 0 log 0 = 0."""
    positive = probabilities[probabilities > 0]
    # Rounding may make the entropy of a certain outcome slightly negative.
    return max(0.0, float(-(positive * np.log(positive)).sum()))


def entropy(model: Mixture, draws: int, rng: np.random.Generator) -> Estimate:
    """Return the entropy of the joint: from the whole table if it is small, else as the mean of −log p over draws."""
    n_cells = int(np.prod(model.domain.cardinalities, dtype=object))
    if n_cells <= _EXACT_CELLS:
        return Estimate(entropy_of(marginal(model, range(len(model.domain)))))
    return Estimate.of_draws(-log_prob(model, sample(model, draws, rng)))


def divergence(p: Mixture, q: Mixture, draws: int, rng: np.random.Generator) -> Estimate:
    """Return D(p‖q) in nats: from both tables if these are little work, else as a mean over draws from p."""
    n_cells = int(np.prod(p.domain.cardinalities, dtype=object))
    n_classes = sum(block.rank for model in (p, q) for block in model.blocks)
    if n_cells <= _EXACT_CELLS and n_cells * n_classes <= _EXACT_WORK:
        return divergence_of(*(marginal(model, range(len(model.domain))) for model in (p, q)))
    rows = sample(p, draws, rng)
    return Estimate.of_draws(log_prob(p, rows) - log_prob(q, rows))


def divergence_of(P: np.ndarray, Q: np.ndarray) -> Estimate:
    """Return D(p‖q) of two whole tables; rounding may not leave it below zero."""
    possible = P > 0
    return Estimate(max(0.0, float((P[possible] * (np.log(P[possible]) - log_of(Q[possible]))).sum())))


def mutual_information(model: Mixture, a: int, b: int) -> float:
    """Return I(a; b) = H(a) + H(b) − H(a, b), never below zero."""
    if a == b:
        return entropy_of(marginal(model, [a]))
    return _information_in(marginal(model, [a, b]))


def _information_in(pair: np.ndarray) -> float:
    separate = entropy_of(pair.sum(axis=0)) + entropy_of(pair.sum(axis=1))
    return max(0.0, separate - entropy_of(pair))


@dataclass(frozen=True, eq=False)
class DependenceMatrix:
    """The mutual information of every pair of variables.

    Attributes
    ----------
    names : tuple of str
        The variables, along both axes.
    measure : str
        ``"normalised"``: from 0 (independent) to 1 (one determines the other), see :func:`normalised`; or
        ``"information"``: I(a; b) in nats, with the entropies of labels or intervals on the diagonal.
    are_numbers : tuple of bool
        Which variables are numbers; none by default.
    """

    names: tuple[str, ...]
    measure: str
    _matrix: np.ndarray
    are_numbers: tuple[bool, ...] = ()

    def to_numpy(self) -> np.ndarray:
        """Return the symmetric matrix, (N, N)."""
        return self._matrix.copy()

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame with the names along both axes."""
        frame: pd.DataFrame = to_frame(dict(zip(self.names, self._matrix, strict=True)), "pandas")
        return frame.set_axis(list(self.names), axis="index")

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame whose first column, ``variable``, names the rows."""
        columns: dict[str, Any] = {"variable": list(self.names)}
        return to_frame(columns | dict(zip(self.names, self._matrix, strict=True)), "polars")

    def strongest(self, n: int = 10) -> list[tuple[str, str, float]]:
        """Return the n most dependent pairs, strongest first."""
        rows, columns = np.triu_indices(len(self.names), k=1)
        order = np.argsort(-self._matrix[rows, columns], kind="stable")[:n]
        return [(self.names[rows[i]], self.names[columns[i]], float(self._matrix[rows[i], columns[i]])) for i in order]

    def clustered(self) -> DependenceMatrix:
        """Return the same matrix with dependent variables next to each other.

        The order comes from average linkage on the distance one minus the normalised measure, for both measures; among
        the orders of the tree, the one with the nearest neighbours is taken.

        >>> from juror import JointPMF
        >>> tied, loose = [[0.9, 0.1], [0.1, 0.9]], [[0.6, 0.5], [0.4, 0.5]]
        >>> JointPMF([0.5, 0.5], [tied, loose, tied]).dependence().clustered().names
        ('x0', 'x2', 'x1')
        """
        if len(self.names) < 3:
            return self
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.spatial.distance import squareform

        tied = self._matrix if self.measure == "normalised" else _all_normalised(self._matrix, self.are_numbers)
        # Round, so that the rounding errors of independent variables do not affect the order.
        distances = squareform(np.round(1 - tied, 9), checks=False)
        order = leaves_list(linkage(distances, method="average", optimal_ordering=True))
        # Of the two directions, begin at the end that comes first in the table.
        order = order if order[0] < order[-1] else order[::-1]
        names = tuple(self.names[n] for n in order)
        are_numbers = tuple(self.are_numbers[n] for n in order) if self.are_numbers else ()
        return DependenceMatrix(names, self.measure, self._matrix[np.ix_(order, order)], are_numbers)

    def _grid(self) -> tuple[list[str], list[list[str]]]:
        lines = zip(self.names, self._matrix, strict=True)
        return ["", *self.names], [[name, *(f"{x:.3f}" for x in row)] for name, row in lines]

    def __str__(self) -> str:
        if len(self.names) <= 12:
            head, body = self._grid()
            return align(["variable", *head[1:]], body, n_text=1)
        body = [[a, b, f"{x:.3f}"] for a, b, x in self.strongest(30)]
        return f"{len(self.names)} variables; the pairs that depend most:\n" + align(["", "and", self.measure], body, 2)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_table(f"Dependence ({self.measure})", *self._grid())


def dependence(model: Mixture, measure: str) -> DependenceMatrix:
    """Return the mutual information of all pairs."""
    if measure not in ("normalised", "information"):
        raise QueryError(f"measure must be 'normalised' or 'information'. Got {measure!r} instead.")
    shares = [(block.weights, node_marginals(block)) for block in model.blocks]
    overall = [reduce(np.add, ((own[n] * lam).sum(axis=1) for lam, own in shares)) for n in range(len(model.domain))]
    matrix = np.diag([entropy_of(marginal_of_one) for marginal_of_one in overall])
    for a, b, pair in pair_tables(model):
        matrix[a, b] = matrix[b, a] = _information_in(pair)
    are_numbers = tuple(variable.edges is not None for variable in model.domain)
    if measure == "normalised":
        matrix = _all_normalised(matrix, are_numbers)
    return DependenceMatrix(model.domain.names, measure, matrix, are_numbers)


def normalised(information: np.ndarray, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return mutual informations in nats on a scale from 0 (independent) to 1 (one variable determines the other).

    Two variables of labels have I / min(H, H′), the share of the smaller entropy. The entropy of a number has no bound:
    it grows with the number of intervals, which I does not. So a number and a variable of labels have I / H of the
    labels, and two numbers √(1 − exp(−2 I)), which is the size of the correlation if both are Gaussian.

    Parameters
    ----------
    information : numpy.ndarray, any shape
        Mutual informations.
    one, other : numpy.ndarray
        The entropies of both variables, infinite for numbers.

    Examples
    --------
    >>> normalised(np.array([0.2, 0.2]), np.array([0.5, np.inf]), np.array([np.inf, np.inf])).round(3).tolist()
    [0.4, 0.574]
    """
    smaller = np.minimum(one, other)
    # A variable with one certain label has no entropy; a ratio of its rounding errors would be meaningless.
    some = smaller > _NO_ENTROPY
    shares = np.divide(information, smaller, out=np.zeros_like(information), where=some)
    return np.where(np.isinf(smaller), np.sqrt(-np.expm1(-2 * np.maximum(information, 0.0))), np.minimum(shares, 1.0))


def _all_normalised(information: np.ndarray, are_numbers: Sequence[bool]) -> np.ndarray:
    """Return the normalised measure with ones on the diagonal, from I with the entropies on its diagonal."""
    entropies = np.diag(information)
    if are_numbers:
        entropies = np.where(are_numbers, np.inf, entropies)
    shares = normalised(information, entropies[:, None], entropies[None])
    np.fill_diagonal(shares, 1.0)
    return shares
