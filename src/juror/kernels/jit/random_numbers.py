"""Counter-based random numbers: they depend neither on the order of the calls nor on the threads."""

from __future__ import annotations

import numpy as np

from juror.kernels.jit.compiling import kernel

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@kernel
def uniform(key, number):
    """Return a random number in [0, 1) from a key and a counter; see the definition in NumPy."""
    bits = np.uint64(key) + (np.uint64(number) + np.uint64(1)) * _STEP
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * _SECOND
    bits ^= bits >> np.uint64(31)
    return np.float64(bits >> np.uint64(11)) * 2.0**-53
