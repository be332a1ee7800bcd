"""One thread in BLAS while juror computes, so that the same seed gives the same bits on any machine.

The order of the sums in a matrix product depends on the number of threads. The limit holds for the whole process, so
fits that run at the same time share it: the first sets it and the last lifts it. Libraries that are loaded in between
are limited by whoever loads them, with :func:`load_blas_of_kernels`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_lock = Lock()
_inside = 0
_limits: list[Any] = []
# The BLAS libraries of the process, and the number of modules when they were looked for: imports can load others
_libraries: Any = None
_n_modules = 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block."""
    global _inside
    with _lock:
        if _inside == 0:
            _limit()
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            while _inside == 0 and _limits:
                # Later limits found earlier ones in force.
                _limits.pop().restore_original_limits()


def load_blas_of_kernels() -> None:
    """Load the library that compiled kernels multiply matrices with, which numba would load at their first product."""
    from scipy.linalg import cython_blas  # noqa: F401

    with _lock:
        if _inside and _n_modules != len(sys.modules):
            _limit()


def _limit() -> None:
    """Hold all libraries that are loaded to one thread."""
    from threadpoolctl import ThreadpoolController

    global _libraries, _n_modules
    if _n_modules != len(sys.modules):
        _libraries, _n_modules = ThreadpoolController(), len(sys.modules)
    _limits.append(_libraries.limit(limits=1, user_api="blas"))
