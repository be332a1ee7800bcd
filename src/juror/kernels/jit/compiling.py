"""Compile kernels and cache them on disk.

numba caches compiled code by the time stamp of the file that holds the kernel. It ignores changes of the functions that
the kernel calls in other files. So this module clears the cache whenever any source file of the folder has changed.

By itself, numba makes machine code of every function that is compiled. That of a function which only kernels call would
never run, as each kernel takes in what it calls. So parts stop before that: see :func:`part`.
"""

from __future__ import annotations

import gc
import hashlib
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

from numba import njit
from numba.core.caching import FunctionCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

_HERE = Path(__file__).parent


def forget_stale(folder=_HERE):
    """Clear the cache of a folder if any of its source files has changed; do nothing if it cannot be written."""
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
        # numba then uses its cache folder in the user's home, if there is one.
        return


def kernel(function=None, **options):
    """Compile a function on its first call, to run without the GIL; cache it on disk if possible.

    Division by zero gives inf or nan as in NumPy, not an exception: that needs less code. Functions of one file must
    have different names: numba's cache may confuse functions of the same name.
    """
    if function is None:
        return lambda function: kernel(function, **options)
    compiled = njit(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    compiled.__class__ = _Kernel
    try:
        # as njit(cache=True) does, which has no way to pass another class
        compiled._cache = _ForgivingCache(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        _say_once()
    return compiled


def part(function=None, **options):
    """Compile a function that only kernels call, as far as they need it: neither to machine code nor for Python."""
    if function is None:
        return lambda function: part(function, **options)
    compiled = njit(
        nogil=True,
        error_model="numpy",
        no_cfunc_wrapper=True,
        no_cpython_wrapper=True,
        pipeline_class=_PartCompiler,
        **options,
    )(function)
    compiled.__class__ = _Part
    return compiled


class _Kernel(CPUDispatcher):
    """A compiled function that Python calls."""

    def compile(self, sig):
        # numba makes many objects and keeps most; Python would look through all of them for garbage again and again.
        collects = gc.isenabled()
        gc.disable()
        try:
            return super().compile(sig)
        finally:
            if collects:
                gc.enable()


class _PartLibrary(JITCodeLibrary):
    """The code of a part. A kernel that it is linked into optimises it, and makes machine code of what is left."""

    def _optimize_final_module(self):
        """Leave this to kernels."""

    def _finalize_final_module(self):
        self._finalized = True


class _PartCompiler(Compiler):
    """numba's compiler, except that it looks for no machine code at the end."""

    def define_pipelines(self):
        state = self.state
        state.flags.no_compile = True
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()


class _Part(CPUDispatcher):
    """A function without machine code: numba would run nothing, or crash, if Python called it."""

    def __call__(self, *arguments):
        raise TypeError(
            f"{self.__name__!r} is a part of kernels and has no wrapper for Python. Decorate it with @kernel."
        )

    def add_overload(self, compiled):
        # numba looks for the code of a function by its address; this one has none.
        compiled = compiled._replace(entry_point=object())
        self.targetctx.insert_user_function(compiled.entry_point, compiled.fndesc, [compiled.library])
        self.overloads[tuple(compiled.signature.args)] = compiled


class _ForgivingCache(FunctionCache):
    """A cache that never prevents a kernel from running: on a full disk it stores nothing, and it drops torn files."""

    def load_overload(self, sig, target_context):
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # unpickling torn files raises exceptions of many kinds
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except OSError:
            _say_once()


@cache
def _say_once():
    warnings.warn(
        "Compiled kernels cannot be cached on disk, so every process compiles them again, which takes seconds. Set "
        "NUMBA_CACHE_DIR to a writable folder that is not full.",
        RuntimeWarning,
        stacklevel=3,
    )


forget_stale()
