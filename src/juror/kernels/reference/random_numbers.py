"""Counter-based random numbers: they depend neither on the order of the calls nor on the threads.

The generator SplitMix64 (Steele, Lea and Flood, 2014) adds a constant to a 64-bit state and scrambles the sum. So the
n-th number can be computed directly from the key (the first state).
"""

from __future__ import annotations

import numpy as np

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(key: int, numbers: np.ndarray) -> np.ndarray:
    """Return random numbers in [0, 1) for a key below 2⁶⁴ and counters, whole numbers from 0 on.

    >>> uniform(7, np.arange(3)).round(3).tolist()
    [0.39, 0.017, 0.901]
    """
    bits = np.uint64(key) + (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits ^= bits >> np.uint64(31)
    return (bits >> np.uint64(11)).astype(float) * 2.0**-53
