"""The kernels, over rows and over simplices: a definition in NumPy, a numba twin, and one place that chooses.

Set ``JUROR_KERNELS=numpy`` to run the definitions. Without numba they run too, only slower.
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
    """Return the module of kernels in use; importing numba waits until the first call."""
    fallback = "numba" if importlib.util.find_spec("numba") else "numpy"
    choice = os.environ.get("JUROR_KERNELS", fallback)
    if choice not in _MODULES:
        raise ParameterError(f"JUROR_KERNELS must be 'numba' or 'numpy'. Got {choice!r} instead.")
    return import_module(_MODULES[choice])
