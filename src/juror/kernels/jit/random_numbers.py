"""Random numbers by number: the same for any order and any threads that ask for them."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def uniform(key, number):
    """Return the random number from 0 up to but not including 1 of a key and a number; see the definition."""
    bits = np.uint64(key) + (np.uint64(number) + np.uint64(1)) * _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits ^= bits >> np.uint64(31)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
