"""Kernels over rows and simplices: each has a definition in NumPy and a numba twin; :func:`kernels` chooses.

Set ``JUROR_KERNELS=numpy`` to run the definitions. They also run, more slowly, where numba is not installed.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from importlib import import_module
from types import ModuleType

from juror.errors import ParameterError

_MODULES = {"numba": "juror.kernels.jit", "numpy": "juror.kernels.reference"}


@cache
def kernels() -> ModuleType:
    """Return the module of kernels in use; numba is imported on the first call."""
    fallback = "numba" if importlib.util.find_spec("numba") else "numpy"
    choice = os.environ.get("JUROR_KERNELS", fallback)
    if choice not in _MODULES:
        raise ParameterError(f"JUROR_KERNELS must be 'numba' or 'numpy'. Got {choice!r} instead.")
    return import_module(_MODULES[choice])
