"""The projection operator R of the paper: from a pair's table to the histograms of its projections, and back.

For two variables with scores s_j and s_k and M directions φ_m, the histograms of φ_mᵗ[s_j(x_j), s_k(x_k)] over B bins
are a linear image of the pair's table,

    Y = R z,    z = vec(Z_jk) in C order (I_j I_k),    R (M B, I_j I_k),

whose matrix depends only on the scores, the directions and the bins. All that a solver needs of R follows from one
eigen-decomposition of its Gram matrix G = RᵗR = V diag(μ) Vᵗ.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from juror.counts.radon.axes import Axis
from juror.counts.radon.bins import cell_matrix, cell_shadows, strip_matrix, strip_shadows
from juror.errors import ParameterError, check_choice, check_count
from juror.kernels.random_streams import Stream
from juror.runners.blas import one_blas_thread

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_MATRICES = {"cells": cell_matrix, "strips": strip_matrix}
_SHADOWS = {"cells": cell_shadows, "strips": strip_shadows}

# G has a row and a column for every cell of a pair: with more cells it would fill the memory.
_MOST_CELLS = 5000
# Eigenvalues of G below this share of the largest count as zero; rounding leaves about 1e-15.
_NO_EIGENVALUE = 1e-12
# How far the length of a direction may be from one
_UNIT = 1e-6


def draw_directions(n_directions: int, shape: tuple[int, int], seed: int) -> np.ndarray:
    """Draw directions for tables of one shape: Gaussian, scaled to length one.

    Parameters
    ----------
    n_directions : int
        The number M. A larger M extends the directions of a smaller one.
    shape : tuple of int
        The numbers of labels (I_j, I_k); each shape has its own directions.
    seed : int
        The same seed gives the same bits.

    Returns
    -------
    numpy.ndarray, (M, 2)

    Examples
    --------
    >>> draw_directions(2, (10, 10), seed=0).shape
    (2, 2)
    """
    check_count("n_directions", n_directions)
    check_count("seed", seed, least=0)
    for name, size in zip(("shape[0]", "shape[1]"), shape, strict=True):
        check_count(name, size)
    directions = Stream.DIRECTIONS.generator(seed, *shape).standard_normal((n_directions, 2))
    return directions / np.hypot(directions[:, :1], directions[:, 1:])


@dataclass(frozen=True, eq=False)
class Radon:
    """The projection operator of tables over two axes.

    Parameters
    ----------
    rows, columns : Axis
        The positions of the I_j and I_k labels of the two variables.
    directions : array_like, (M, 2)
        Directions of length one.
    bins : int, optional
        Bins per direction, B; by default max(I_j, I_k), or one more if that is even. Bins divide the range of the
        projected table equally. If that range is a single point, all falls into the first bin. With an even number, a
        bin edge lies in the middle of the table in every direction, so that a chequered pattern of the middle four
        cells is invisible; for two variables of two labels this pattern is their whole dependence.
    kind : {"cells", "strips"}
        ``"cells"``: a cell falls into the bin of its centre, so that R z is the histogram of projected scores and R
        holds zeros and ones. ``"strips"``: a cell is a rectangle of uniform density, divided among the bins that it
        overlaps: the strip-integral Radon transform of a piecewise constant density, for binned variables.

    Examples
    --------
    >>> two = Axis((-1.0, 0.0, 1.0), (-0.5, 0.5))
    >>> radon = Radon(two, two, [[1.0, 0.0], [0.6, 0.8]], bins=2)
    >>> table = np.array([[0.1, 0.2], [0.3, 0.4]])
    >>> radon.forward(table)
    array([[0.3, 0.7],
           [0.4, 0.6]])
    >>> radon.rank
    3
    """

    rows: Axis
    columns: Axis
    directions: np.ndarray
    bins: int | None = None
    kind: str = "cells"

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, _MATRICES)
        bins = max(self.shape) // 2 * 2 + 1 if self.bins is None else self.bins
        check_count("bins", bins)
        object.__setattr__(self, "bins", int(bins))
        object.__setattr__(self, "directions", _read_directions(self.directions))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (I_j, I_k) of a table."""
        return len(self.rows), len(self.columns)

    @property
    def n_directions(self) -> int:
        """The number of directions, M."""
        return len(self.directions)

    @property
    def n_bins(self) -> int:
        """The number of bins per direction, B."""
        assert self.bins is not None
        return self.bins

    @cached_property
    def bin_edges(self) -> np.ndarray:
        """The ends of the bins of every direction, (M, B + 1)."""
        reaches = _SHADOWS[self.kind](self.rows, self.columns, self.directions).reaches
        return np.linspace(reaches[:, 0], reaches[:, 1], self.n_bins + 1, axis=1)

    @cached_property
    def matrix(self) -> csr_array:
        """R, sparse, (M B, I_j I_k); every column sums to M, because a cell has mass one in every direction."""
        return _MATRICES[self.kind](self.rows, self.columns, self.directions, self.n_bins)

    def forward(self, tables: np.ndarray) -> np.ndarray:
        """Return R z: the histograms (..., M, B) of tables (..., I_j, I_k)."""
        flat = self._flat_tables(tables)
        histograms = (self.matrix @ flat.T).T
        return histograms.reshape(*np.shape(tables)[:-2], self.n_directions, self.n_bins)

    def adjoint(self, histograms: np.ndarray) -> np.ndarray:
        """Return Rᵗ Y: for every cell the sum (..., I_j, I_k) over its bins, from histograms (..., M, B)."""
        return (self.matrix.T @ self.flat_histograms(histograms).T).T.reshape(*np.shape(histograms)[:-2], *self.shape)

    @cached_property
    def gram(self) -> np.ndarray:
        """G = RᵗR, dense, (I_j I_k, I_j I_k)."""
        (rows, columns), n_cells = self.shape, math.prod(self.shape)
        if n_cells > _MOST_CELLS:
            raise ParameterError(
                f"A table of {rows} × {columns} = {n_cells:,} cells is too large for the Gram matrix of its "
                f"projections; the bound is {_MOST_CELLS:,} cells. Use fewer labels or bins for these variables."
            )
        return (self.matrix.T @ self.matrix).toarray()

    @cached_property
    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of G (increasing, none below zero) and the eigenvectors, one per column."""
        with one_blas_thread():
            values, vectors = np.linalg.eigh(self.gram)
        return np.where(values > _NO_EIGENVALUE * values[-1], values, 0.0), vectors

    @property
    def rank(self) -> int:
        """The rank of R: the number of eigenvalues of G above 1e-12 of the largest (singular values above 1e-6)."""
        return int(np.count_nonzero(self._spectrum[0]))

    @property
    def condition(self) -> float:
        """The largest singular value of R divided by the smallest non-zero one."""
        values = self._spectrum[0]
        return math.sqrt(values[-1] / values[-self.rank])

    def ridge(self, right: np.ndarray, rho: float) -> np.ndarray:
        """Return (G + ρI)⁻¹ b for right-hand sides b (..., I_j, I_k); a new ρ > 0 needs no new factorisation."""
        given: object = rho
        if isinstance(given, bool) or not isinstance(given, (int, float, np.number)) or not 0 < rho < math.inf:
            raise ParameterError("{rho} must be a number in the range (0, inf). Got {got!r} instead.", got=rho)
        return self._filtered(right, 1.0 / (self._spectrum[0] + rho))

    def least_squares(self, histograms: np.ndarray, non_negative: bool = False) -> np.ndarray:
        """Return the tables z (..., I_j, I_k) that minimise ‖Y − R z‖², from histograms Y (..., M, B).

        Parameters
        ----------
        histograms : numpy.ndarray, (..., M, B)
            Histograms of the tables.
        non_negative : bool
            Whether to require z ≥ 0. If the minimum is not unique, the one of least norm is returned without this
            constraint, and any of them with it.

        Examples
        --------
        >>> two = Axis((-1.0, 0.0, 1.0), (-0.5, 0.5))
        >>> radon = Radon(two, two, [[1.0, 0.0], [0.6, 0.8], [0.8, -0.6]], bins=4)
        >>> table = np.array([[0.1, 0.2], [0.3, 0.4]])
        >>> np.allclose(radon.least_squares(radon.forward(table)), table)
        True
        """
        right = self.adjoint(histograms)
        values, vectors = self._spectrum
        kept = values > 0
        free = self._filtered(right, np.divide(1.0, values, out=np.zeros_like(values), where=kept))
        if not non_negative:
            return free
        # ‖Y − R z‖² = ‖S z − t‖² + constant for S = μ^½ Vᵗ, t = μ^-½ Vᵗ Rᵗ Y: with rank(R) equations instead of M B
        from scipy.optimize import nnls

        roots = np.sqrt(values[kept])
        S = roots[:, None] * vectors[:, kept].T
        flat_right, tables = self._flat_tables(right), self._flat_tables(free).copy()
        for n in np.flatnonzero(np.any(tables < 0, axis=1)):
            tables[n] = nnls(S, (flat_right[n] @ vectors[:, kept]) / roots, maxiter=20 * S.shape[1])[0]
        return tables.reshape(right.shape)

    def project_on_range(self, tables: np.ndarray) -> np.ndarray:
        """Return R⁺R z (..., I_j, I_k): the least-squares tables from the exact histograms of tables z."""
        return self._filtered(tables, (self._spectrum[0] > 0).astype(float))

    def _filtered(self, tables: np.ndarray, gains: np.ndarray) -> np.ndarray:
        """Return V diag(gains) Vᵗ z for tables z."""
        vectors = self._spectrum[1]
        return (((self._flat_tables(tables) @ vectors) * gains) @ vectors.T).reshape(np.shape(tables))

    def flat_histograms(self, histograms: np.ndarray) -> np.ndarray:
        """Return histograms (..., M, B) as rows (n, M B); refuse another shape."""
        return self._flat(histograms, (self.n_directions, self.n_bins), "Histograms", "directions × bins")

    def _flat_tables(self, tables: np.ndarray) -> np.ndarray:
        return self._flat(tables, self.shape, "Tables", "labels × labels")

    def _flat(self, arrays: np.ndarray, shape: tuple[int, int], what: str, meaning: str) -> np.ndarray:
        """Return arrays (..., *shape) as rows (n, prod(shape)); refuse another shape."""
        arrays = np.asarray(arrays, dtype=float)
        if arrays.shape[-2:] != shape:
            raise ParameterError(
                f"{what} must end in the shape {shape}, {meaning}, to fit this operator. Got {arrays.shape} instead."
            )
        return arrays.reshape(-1, math.prod(shape))


def _read_directions(directions: np.ndarray) -> np.ndarray:
    """Return directions as a read-only array (M, 2) after checking them."""
    directions = np.array(directions, dtype=float)
    if directions.ndim != 2 or directions.shape[1] != 2 or len(directions) == 0:
        raise ParameterError(
            f"directions must have the shape (M, 2), one direction per row and at least one. Got "
            f"{directions.shape} instead."
        )
    lengths = np.hypot(directions[:, 0], directions[:, 1])
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= _UNIT))
    if len(wrong):
        raise ParameterError(
            f"Every direction must have length one within {_UNIT:g}; direction {wrong[0]} has length "
            f"{lengths[wrong[0]]:g}. Divide each by its length."
        )
    directions.setflags(write=False)
    return directions
