"""Filtered back projection: an inversion that smooths, from histograms of projections to the masses of cells.

A density p with the projections g_θ(t) is p(x) = ∫_0^π (g_θ * k)(xᵗφ_θ) dθ, where k is the ramp filter |ω|. Cut off at
the frequency that bins of width h can carry, the ramp has the samples (Kak and Slaney, *Principles of Computerized
Tomographic Imaging*, section 3.3)

    k(0) = 1 / (4h²),    k(nh) = −1 / (π²n²h²) for odd n, 0 for even n.

A window that falls towards that frequency smooths further. Unlike least squares this does not return the table, not
even from its exact histograms: what it gains with few samples of a smooth density it loses with many.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from juror.counts.radon.bins import cell_shadows, strip_shadows
from juror.counts.radon.operator import Radon
from juror.errors import DataError, ParameterError, shortlist

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# by the frequency in cycles a bin, from −1/2 to 1/2
_WINDOWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ramp": np.ones_like,
    "shepp-logan": np.sinc,
    "cosine": lambda frequency: np.cos(np.pi * frequency),
    "hamming": lambda frequency: 0.54 + 0.46 * np.cos(2 * np.pi * frequency),
    "hann": lambda frequency: 0.5 + 0.5 * np.cos(2 * np.pi * frequency),
}
FILTERS: tuple[str, ...] = tuple(_WINDOWS)

# short records are padded to this length at least, so that a window is sampled finely enough
_SHORTEST_RECORD = 64


def filtered_back_projection(radon: Radon, histograms: np.ndarray, filter: str = "ramp") -> np.ndarray:  # noqa: A002
    """Return the mass of every cell by filtered back projection.

    A direction counts by the angle it stands for, half the way to its neighbours on both sides, so that directions
    drawn at random do not favour where they happen to be dense. The masses are density × area of the cell as they come
    out: some may be negative, and their sum is not exactly one; see `as_distribution`. A cell of no area, a point, gets
    no mass this way: least squares is the inversion for it.

    Parameters
    ----------
    radon : Radon
        The operator that made the histograms. Those of kind ``"cells"`` are first spread over the shadow of a cell of
        mean size, for a histogram of points has gaps where the density has none; ``"strips"`` loses less.
    histograms : numpy.ndarray, (..., M, B)
        Probabilities of the bins along every direction.
    filter : {"ramp", "shepp-logan", "cosine", "hamming", "hann"}
        The window on the ramp, from the sharpest to the smoothest.

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
    if filter not in _WINDOWS:
        raise ParameterError(f"filter must be one of {shortlist(_WINDOWS)}. Got {filter!r} instead.")
    sinograms = radon.flat_histograms(histograms).reshape(-1, radon.n_directions, radon.n_bins)
    if radon.kind == "cells":
        sinograms = _spread(radon, sinograms)
    filtered = _filter(sinograms, _WINDOWS[filter])
    densities = (_back_projector(radon) @ filtered.reshape(len(sinograms), -1).T).T
    areas = np.outer(radon.rows.widths, radon.columns.widths)
    return densities.reshape(*np.shape(histograms)[:-2], *radon.shape) * areas


def _spread(radon: Radon, histograms: np.ndarray) -> np.ndarray:
    """Return histograms of points (n, M, B) as those of boxes over the equal parts of the whole table's shadow."""
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
        # what a box has beyond the last end stays in the last bin: nothing is lost
        upto[:, -1] = 1.0
        spread[:, m] = histograms[:, m] @ np.diff(upto, axis=1, prepend=0.0)
    return spread


def _filter(histograms: np.ndarray, window: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return histograms (n, M, B) filtered for bins of width one, (n, M, B + 2): a bin more on either side."""
    n_bins = histograms.shape[-1]
    # with zeros for as long again, no bin wraps round to another
    length = max(_SHORTEST_RECORD, 2 ** math.ceil(math.log2(2 * n_bins + 2)))
    lags = np.minimum(np.arange(length), length - np.arange(length))
    kernel = np.zeros(length)
    kernel[lags % 2 == 1] = -1.0 / (np.pi * lags[lags % 2 == 1]) ** 2
    kernel[0] = 0.25
    gain = np.fft.rfft(kernel).real * window(np.fft.rfftfreq(length))
    filtered = np.fft.irfft(np.fft.rfft(histograms, length) * gain, length)
    return np.concatenate([filtered[..., -1:], filtered[..., : n_bins + 1]], axis=-1)


def _back_projector(radon: Radon) -> csr_array:
    """Return the matrix (I_j I_k, M (B + 2)) that reads filtered histograms at the centres of cells and sums angles."""
    from scipy.sparse import csr_array

    B = radon.n_bins
    images = cell_shadows(radon.rows, radon.columns, radon.directions).middles
    shadows = strip_shadows(radon.rows, radon.columns, radon.directions)
    widths = np.diff(shadows.reaches, axis=1) / B
    # the first of the B + 2 values stands for the middle of the bin before the first
    places = shadows.positions(images, B) + 0.5
    left = np.clip(places.astype(np.int64), 0, B)
    right_share = places - left
    # a histogram is density × width, and the ramp goes as one over the width squared, times the width of a sum
    scale = np.divide(angle_weights(radon.directions)[:, None], widths**2, out=np.zeros_like(widths), where=widths > 0)
    columns = left + (B + 2) * np.arange(radon.n_directions)[:, None]
    values = np.stack([scale * (1 - right_share), scale * right_share])
    shape = (images.shape[1], radon.n_directions * (B + 2))
    cells = np.broadcast_to(np.arange(shape[0]), values.shape)
    return csr_array((values.ravel(), (cells.ravel(), np.stack([columns, columns + 1]).ravel())), shape=shape)


def angle_weights(directions: np.ndarray) -> np.ndarray:
    """Return the angle that every direction stands for, (M,): half the way to both neighbours, π in all.

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
    """Return tables (..., I_j, I_k) with negative cells set to zero, each then scaled to sum one.

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
