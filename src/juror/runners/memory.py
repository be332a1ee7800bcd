"""Amounts of memory, as people write them."""

from __future__ import annotations

import re
from numbers import Integral

from juror.errors import ParameterError

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}
_UNITS |= {"TIB": 2**40, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_AMOUNT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?)\s*([a-z]*)\s*", re.IGNORECASE)
_LEAST = 2_000_000


def read_memory(memory: object) -> int:
    """Return a number of bytes, from a number or from text such as ``"4GB"``.

    >>> read_memory("4GB"), read_memory("2.5 MiB")
    (4000000000, 2621440)
    """
    found = None
    if isinstance(memory, str):
        match = _AMOUNT.fullmatch(memory)
        if match and match[2].upper() in _UNITS:
            found = int(float(match[1]) * _UNITS[match[2].upper()])
    elif isinstance(memory, Integral) and memory not in (True, False):
        found = int(memory)
    if found is None:
        raise ParameterError(
            "{memory} must be a number of bytes or text like '4GB' or '500MB'. Got {got!r} instead.", got=memory
        )
    if found < _LEAST:
        raise ParameterError("{memory} must be at least 2 MB. Got {got!r} instead.", got=memory)
    return found
