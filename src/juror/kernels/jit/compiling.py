"""How kernels are compiled, and kept on disk.

numba keeps what it compiled beside the source, by the time stamp of the file that a kernel is in. It does not look at
those of the functions that the kernel calls, so whatever was compiled from other sources is forgotten here first.
"""

from __future__ import annotations

import hashlib
import warnings
from functools import cache
from pathlib import Path

from numba import njit

_HERE = Path(__file__).parent


def forget_stale(folder=_HERE):
    """Remove what was compiled when any source of a folder was another; leave a folder that cannot be written alone."""
    sources = hashlib.sha256(b"".join(source.read_bytes() for source in sorted(folder.glob("*.py")))).hexdigest()
    compiled = folder / "__pycache__"
    stamp = compiled / "kernels.sha256"
    if stamp.exists() and stamp.read_text() == sources:
        return
    try:
        compiled.mkdir(exist_ok=True)
        for pattern in ("*.nbi", "*.nbc"):
            for file in compiled.glob(pattern):
                file.unlink(missing_ok=True)
        stamp.write_text(sources)
    except OSError:
        # numba then keeps what it compiles in the user's own folder, where there is one
        return


def kernel(function=None, **options):
    """Compile a function when it is first called, without the GIL; keep it on disk where that is possible.

    Division by zero gives what it does in NumPy, not an exception, which takes less code. Names must differ between
    functions of one file: numba may take those of one name for each other.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    try:
        return njit(cache=True, nogil=True, error_model="numpy", **options)(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _say_once()
        return njit(nogil=True, error_model="numpy", **options)(function)


@cache
def _say_once():
    warnings.warn(
        "Compiled kernels cannot be kept on disk, so every process compiles them anew, which takes seconds. Set "
        "NUMBA_CACHE_DIR to a folder that can be written.",
        RuntimeWarning,
        stacklevel=3,
    )


forget_stale()
