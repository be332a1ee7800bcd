"""Which bins the cells of a pair's table fall into along a direction, and with what share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from juror.counts.radon.axes import Axis

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# a cell narrower than this, in bins, is treated as a point, as its reciprocal would overflow
_POINT = 1e-300
# equally spaced scores put whole diagonals on bin ends; within this distance, in bins, rounding must not decide
_AT_AN_END = 1e-9


@dataclass(frozen=True)
class Shadows:
    """The images φᵗ[s_j, s_k] of the cells of a table along M directions.

    Attributes
    ----------
    middles : numpy.ndarray, (M, I_j I_k)
        The image of every cell's centre, cells in C order.
    reaches : numpy.ndarray, (M, 2)
        The outermost ends of the images, by the rule of the kind.
    """

    middles: np.ndarray
    reaches: np.ndarray

    def positions(self, images: np.ndarray, n_bins: int) -> np.ndarray:
        """Return images (M, …) in bins from the start of the first, zero for all where there is no span."""
        spans = self.reaches[:, 1:] - self.reaches[:, :1]
        return np.divide(images - self.reaches[:, :1], spans, out=np.zeros_like(images), where=spans > 0) * n_bins


def cell_shadows(rows: Axis, columns: Axis, directions: np.ndarray) -> Shadows:
    """Return the images of the cells as points: their centres."""
    middles = _sums(directions[:, :1] * rows.centres, directions[:, 1:] * columns.centres)
    return Shadows(middles, np.stack([middles.min(axis=1), middles.max(axis=1)], axis=1))


def strip_shadows(rows: Axis, columns: Axis, directions: np.ndarray) -> Shadows:
    """Return the images of the cells as rectangles."""
    middles = [(np.asarray(axis.edges[:-1]) + axis.edges[1:]) / 2 for axis in (rows, columns)]
    along = [directions[:, [d]] * [axis.edges[0], axis.edges[-1]] for d, axis in enumerate((rows, columns))]
    reaches = np.sort(along[0], axis=1) + np.sort(along[1], axis=1)
    return Shadows(_sums(directions[:, :1] * middles[0], directions[:, 1:] * middles[1]), reaches)


def cell_matrix(rows: Axis, columns: Axis, directions: np.ndarray, n_bins: int) -> csr_array:
    """Return R (M B, I_j I_k) with a one where the centre of a cell falls into a bin, on an end into the upper bin."""
    from scipy.sparse import csc_array, csr_array

    shadows = cell_shadows(rows, columns, directions)
    positions = shadows.positions(shadows.middles, n_bins) + _AT_AN_END
    places = np.minimum(positions.astype(np.int64), n_bins - 1)
    M, n_cells = places.shape
    places += n_bins * np.arange(M)[:, None]
    ends = M * np.arange(n_cells + 1)
    return csr_array(csc_array((np.ones(places.size), places.T.ravel(), ends), shape=(M * n_bins, n_cells)))


def strip_matrix(rows: Axis, columns: Axis, directions: np.ndarray, n_bins: int) -> csr_array:
    """Return R (M B, I_j I_k) with the share of a cell's rectangle that lies over a bin."""
    from scipy.sparse import coo_array, csr_array

    shadows = strip_shadows(rows, columns, directions)
    M, n_cells = shadows.middles.shape
    spans = np.diff(shadows.reaches, axis=1)
    scales = np.divide(n_bins, spans, out=np.zeros_like(spans), where=spans > 0)
    halves = [np.abs(directions[:, [d]]) * scales * axis.widths / 2 for d, axis in enumerate((rows, columns))]
    wide = _pairs(np.maximum, *halves).ravel()
    narrow = _pairs(np.minimum, *halves).ravel()
    middles = shadows.positions(shadows.middles, n_bins).ravel()
    first = np.clip(np.floor(middles - wide - narrow), 0, n_bins - 1)
    last = np.clip(np.ceil(middles + wide + narrow) - 1, first, n_bins - 1)

    # for every bin, the cells that reach it: their share left of the bin's end minus that left of its start
    reaching = np.arange(middles.size)
    before = np.zeros(middles.size)
    places, cells, shares = [], [], []
    while len(reaching):
        ends = first[reaching] + 1
        within = _share_left_of(ends - middles[reaching], wide[reaching], narrow[reaching])
        upto = np.where(first[reaching] < last[reaching], np.maximum(within, before), 1.0)
        places.append(first[reaching].astype(np.int64) + n_bins * (reaching // n_cells))
        cells.append(reaching % n_cells)
        shares.append(upto - before)
        first[reaching] = ends
        further = ends <= last[reaching]
        reaching, before = reaching[further], upto[further]
    where = (np.concatenate(places), np.concatenate(cells))
    matrix = csr_array(coo_array((np.concatenate(shares), where), shape=(M * n_bins, n_cells)))
    matrix.eliminate_zeros()
    return matrix


def _share_left_of(ends: np.ndarray, wide: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    """Return P(u + v < end) for u uniform on ±wide and v on ±narrow, narrow ≤ wide: a trapezoid's distribution.

    From its nearer end, at distance d, the share is d² / (8 wide narrow) along the slope of length 2 narrow, and
    (d − narrow) / (2 wide) along the top.
    """
    d = np.maximum(wide + narrow - np.abs(ends), 0.0)
    on_slope = d < 2 * narrow
    height = np.divide(0.5, wide, out=np.zeros_like(wide), where=wide > _POINT)
    # d / narrow is below two here, so that no square of a tiny number is divided by another
    slope = np.divide(d, narrow, out=np.zeros_like(d), where=on_slope) * d * height / 4
    share = np.where(on_slope, slope, (d - narrow) * height)
    return np.where(ends > 0, 1.0 - share, share)


def _pairs(operation: Callable[..., np.ndarray], left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return operation(left_a, right_b) for every pair, (M, I_j) and (M, I_k) to (M, I_j I_k) in C order."""
    return operation(left[:, :, None], right[:, None, :]).reshape(len(left), -1)


def _sums(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return _pairs(np.add, left, right)
