"""Probabilities as text of a page: doubles, floats, or logarithms in 16 bits, whose step is a thousandth.

The first two are base64 of the numbers. The last is deflated before: classes that say the same about a variable then
take hardly any room. The page scales columns to sum to one after reading them.
"""

from __future__ import annotations

import base64
import zlib
from typing import Literal

import numpy as np

Bits = Literal[64, 32, 16]

# The smallest number above zero of 16 bits, and the code of zero; page/src/model.js has the same.
_LEAST, _ZERO = 1e-30, 65535
_STEP = -np.log(_LEAST) / (_ZERO - 1)


def encode(numbers: np.ndarray, bits: Bits) -> np.ndarray:
    """Return the codes of probabilities, of the same shape; what is above zero stays above zero.

    >>> encode(np.array([0.0, 1.0]), 16).tolist()
    [65535, 0]
    """
    if bits == 64:
        return numbers.astype("<f8")
    if bits == 32:
        least = np.where(numbers > 0, np.finfo(np.float32).tiny, 0.0)
        return np.maximum(numbers, least).astype("<f4")
    logs = np.log(np.clip(numbers, _LEAST, 1.0))
    return np.where(numbers > 0, np.round(-logs / _STEP), _ZERO).astype("<u2")


def decode(codes: np.ndarray, bits: Bits) -> np.ndarray:
    """Return the numbers of codes, as doubles."""
    if bits != 16:
        return codes.astype(np.float64)
    return np.asarray(np.where(codes == _ZERO, 0.0, np.exp(-_STEP * codes)))


def as_base64(codes: np.ndarray, bits: Bits) -> str:
    """Return codes as text."""
    plain = codes.tobytes()
    return base64.b64encode(zlib.compress(plain) if bits == 16 else plain).decode()


def deflated(codes: np.ndarray) -> str:
    """Return numbers as deflated text: all first bytes, then all second bytes, …, as these deflate better together."""
    planes = codes.view(np.uint8).reshape(-1, codes.dtype.itemsize).T.tobytes()
    return base64.b64encode(zlib.compress(planes)).decode()
