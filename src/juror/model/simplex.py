"""Check that arrays are distributions."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from juror.errors import ModelError

_SUM_TOLERANCE = 1e-6
# Sums this close to one are not rescaled, so that saving and loading gives the same bits.
_EXACT_SUM = 1e-14


def check_simplex(numbers: npt.ArrayLike, dimensions: int, name: str) -> np.ndarray:
    """Check that every column is a distribution, rescale rounding errors, and make the array read-only.

    Numbers (I,) or (I, F), as the dimensions say, must be non-negative, every column summing to one within 1e-6.

    Examples
    --------
    >>> check_simplex([0.25, 0.75], 1, "The weights").tolist()
    [0.25, 0.75]
    >>> check_simplex([0.25, 0.5], 1, "The weights")
    Traceback (most recent call last):
    juror.errors.ModelError: The weights must sum to one within 1e-06, every column by itself. The sum is off by 0.25.
    """
    try:
        array = np.array(numbers, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(f"{name} must be an array of numbers of {dimensions} dimension(s).") from None
    if array.ndim != dimensions or array.size == 0:
        raise ModelError(f"{name} must have {dimensions} dimension(s) and not be empty. Got shape {array.shape}.")
    if not np.all(np.isfinite(array)):
        raise ModelError(f"{name} must be finite. Got {array[~np.isfinite(array)][0]}.")
    if np.any(array < 0):
        raise ModelError(f"{name} must not be negative. Got {array.min():g}.")
    sums = array.sum(axis=0)
    off = float(np.abs(sums - 1).max())
    if off > _SUM_TOLERANCE:
        raise ModelError(
            f"{name} must sum to one within {_SUM_TOLERANCE:g}, every column by itself. The sum is off by {off:g}."
        )
    if off > _EXACT_SUM * max(1, len(array)):
        array = array / sums
    array.setflags(write=False)
    return array
