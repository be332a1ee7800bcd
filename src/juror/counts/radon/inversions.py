"""Filtered back projection: a smoothing inversion, from histograms of projections to the masses of cells.

A density p with the projections g_θ(t) is p(x) = ∫_0^π (g_θ * k)(xᵗφ_θ) dθ, where k is the ramp filter |ω|. Cut off at
the frequency that bins of width h can carry, the ramp has the samples (Kak and Slaney, *Principles of Computerized
Tomographic Imaging*, section 3.3)

    k(0) = 1 / (4h²),    k(nh) = −1 / (π²n²h²) for odd n, 0 for even n.

A window that decreases towards that frequency smooths further. Unlike least squares, this does not recover the table
even from its exact histograms: it is better with few samples of a smooth density, and worse with many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from juror.counts.radon.bins import cell_shadows, strip_shadows
from juror.counts.radon.operator import Radon
from juror.errors import DataError, ParameterError, check_choice

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# By the frequency in cycles per bin, from −1/2 to 1/2.
_WINDOWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ramp": np.ones_like,
    "shepp-logan": np.sinc,
    "cosine": lambda frequency: np.cos(np.pi * frequency),
    "hamming": lambda frequency: 0.54 + 0.46 * np.cos(2 * np.pi * frequency),
    "hann": lambda frequency: 0.5 + 0.5 * np.cos(2 * np.pi * frequency),
}
FILTERS: tuple[str, ...] = tuple(_WINDOWS)

# Records are padded to at least this length, so that the window is sampled finely.
_SHORTEST_RECORD = 64


def filtered_back_projection(radon: Radon, histograms: np.ndarray, filter: str = "ramp") -> np.ndarray:  # noqa: A002
    """Return the mass of every cell by filtered back projection.

    The weight of a direction is the angle halfway to its neighbours on both sides, which corrects for the uneven
    spacing of random directions. The masses are density × area of the cell, without correction: some may be negative,
    and their sum is not exactly one; see `as_distribution`. A cell of area zero, a point, gets no mass: use least
    squares for it.

    Parameters
    ----------
    radon : Radon
        The operator that made the histograms. Those of kind ``"cells"`` are first spread over the shadow of a cell of
        mean size, because a histogram of points has gaps that the density has not; ``"strips"`` loses less.
    histograms : numpy.ndarray, (..., M, B)
        Probabilities of the bins along every direction.
    filter : {"ramp", "shepp-logan", "cosine", "hamming", "hann"}
        The window on the ramp, in order from the sharpest to the smoothest.

    Returns
    -------
    numpy.ndarray, (..., I_j, I_k)

    Examples
    --------
    >>> from juror.counts.radon import Axis, Radon, draw_directions
    >>> ten = Axis(tuple(range(11)), tuple(np.arange(10) + 0.5))
    >>> hill = np.exp(-((np.arange(10) - 4.5) ** 2) / 8)
    >>> table = np.outer(hill, hill) / hill.sum() ** 2
    >>> radon = Radon(ten, ten, draw_directions(200, (10, 10), seed=0), kind="strips")
    >>> masses = filtered_back_projection(radon, radon.forward(table), filter="hann")
    >>> bool(np.abs(masses - table).sum() < 0.2)
    True
    """
    check_choice("filter", filter, _WINDOWS)
    sinograms = radon.flat_histograms(histograms).reshape(-1, radon.n_directions, radon.n_bins)
    if radon.kind == "cells":
        sinograms = _spread(radon, sinograms)
    filtered = _filter(sinograms, _WINDOWS[filter])
    densities = (_back_projector(radon) @ filtered.reshape(len(sinograms), -1).T).T
    areas = np.outer(radon.rows.widths, radon.columns.widths)
    return densities.reshape(*np.shape(histograms)[:-2], *radon.shape) * areas


def _spread(radon: Radon, histograms: np.ndarray) -> np.ndarray:
    """Spread histograms of points (n, M, B) over boxes, in equal bins of the whole table's shadow."""
    reaches = strip_shadows(radon.rows, radon.columns, radon.directions).reaches
    ends = np.linspace(reaches[:, 0], reaches[:, 1], radon.n_bins + 1, axis=1)[:, 1:]
    middles = (radon.bin_edges[:, :-1] + radon.bin_edges[:, 1:]) / 2
    lengths = np.abs(radon.directions) @ [radon.rows.widths.mean(), radon.columns.widths.mean()]
    spread = np.empty_like(histograms)
    for m, length in enumerate(lengths):
        if length > 0:
            upto = np.clip((ends[m] - middles[m][:, None]) / length + 0.5, 0.0, 1.0)
        else:
            upto = (ends[m] > middles[m][:, None]).astype(float)
        # The part of a box beyond the last edge goes to the last bin, so that no mass is lost.
        upto[:, -1] = 1.0
        spread[:, m] = histograms[:, m] @ np.diff(upto, axis=1, prepend=0.0)
    return spread


def _filter(histograms: np.ndarray, window: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return histograms (n, M, B) filtered for bins of width one, (n, M, B + 2): one more bin on either side."""
    n_bins = histograms.shape[-1]
    # Pad with zeros to twice the length, so that the convolution does not wrap around.
    length = max(_SHORTEST_RECORD, 2 ** math.ceil(math.log2(2 * n_bins + 2)))
    lags = np.minimum(np.arange(length), length - np.arange(length))
    kernel = np.zeros(length)
    kernel[lags % 2 == 1] = -1.0 / (np.pi * lags[lags % 2 == 1]) ** 2
    kernel[0] = 0.25
    gain = np.fft.rfft(kernel).real * window(np.fft.rfftfreq(length))
    filtered = np.fft.irfft(np.fft.rfft(histograms, length) * gain, length)
    return np.concatenate([filtered[..., -1:], filtered[..., : n_bins + 1]], axis=-1)


def _back_projector(radon: Radon) -> csr_array:
    """Return the matrix (I_j I_k, M (B + 2)) that interpolates at the centres of cells and sums over angles."""
    from scipy.sparse import csr_array

    B = radon.n_bins
    images = cell_shadows(radon.rows, radon.columns, radon.directions).middles
    shadows = strip_shadows(radon.rows, radon.columns, radon.directions)
    widths = np.diff(shadows.reaches, axis=1) / B
    # The first of the B + 2 values belongs to the middle of the bin before the first.
    places = shadows.positions(images, B) + 0.5
    left = np.clip(places.astype(np.int64), 0, B)
    right_share = places - left
    # A histogram is density × width; the ramp is ∝ 1 / width², and the sum over bins has another factor width.
    scale = np.divide(angle_weights(radon.directions)[:, None], widths**2, out=np.zeros_like(widths), where=widths > 0)
    columns = left + (B + 2) * np.arange(radon.n_directions)[:, None]
    values = np.stack([scale * (1 - right_share), scale * right_share])
    shape = (images.shape[1], radon.n_directions * (B + 2))
    cells = np.broadcast_to(np.arange(shape[0]), values.shape)
    return csr_array((values.ravel(), (cells.ravel(), np.stack([columns, columns + 1]).ravel())), shape=shape)


def angle_weights(directions: np.ndarray) -> np.ndarray:
    """Return the angle of every direction's sector, (M,): halfway to both neighbours; the sum is π.

    A direction and its opposite are the same line, so angles are taken modulo π.

    >>> angle_weights(np.array([[1.0, 0.0], [0.0, -1.0]])) / np.pi
    array([0.5, 0.5])
    """
    angles = np.arctan2(directions[:, 1], directions[:, 0]) % np.pi
    order = np.argsort(angles, kind="stable")
    gaps = np.diff(angles[order], append=angles[order[0]] + np.pi)
    weights = np.empty(len(angles))
    weights[order] = (gaps + np.roll(gaps, 1)) / 2
    return weights


def as_distribution(tables: np.ndarray) -> np.ndarray:
    """Set negative cells of tables (..., I_j, I_k) to zero, and scale each table to sum one.

    Examples
    --------
    >>> as_distribution(np.array([[0.6, -0.1], [0.2, 0.0]]))
    array([[0.75, 0.  ],
           [0.25, 0.  ]])
    """
    tables = np.asarray(tables, dtype=float)
    if tables.ndim < 2:
        raise ParameterError(f"Tables must have the shape (..., I_j, I_k). Got {tables.shape} instead.")
    if not np.all(np.isfinite(tables)):
        raise DataError("A table holds a cell that is not a finite number, so it cannot be made a distribution.")
    positive = np.maximum(tables, 0.0)
    totals = positive.sum(axis=(-2, -1), keepdims=True)
    if not np.all(totals > 0):
        raise DataError("A table has no cell above zero, so it cannot be scaled to sum one. Check the histograms.")
    return positive / totals
