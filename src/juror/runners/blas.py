"""One thread in BLAS while juror computes, so that the same seed gives the same bits on any machine.

The order of the sums in a matrix product depends on the number of threads. The limit holds for the whole process, so
fits that run at the same time share it: the first sets it and the last lifts it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_lock = Lock()
_inside = 0
_limits: Any = None
# The BLAS libraries of the process, and the number of modules when they were looked for: imports can load others
_libraries: Any = None
_n_modules = 0


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread inside the block."""
    from threadpoolctl import ThreadpoolController

    global _inside, _limits, _libraries, _n_modules
    with _lock:
        if _inside == 0:
            if _n_modules != len(sys.modules):
                _libraries, _n_modules = ThreadpoolController(), len(sys.modules)
            _limits = _libraries.limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
                _limits = None
