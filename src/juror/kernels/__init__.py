"""Kernels over rows and simplices: each has a definition in NumPy and a numba twin; :func:`kernels` chooses.

Set ``JUROR_KERNELS=numpy`` to run the definitions. They also run, more slowly, where numba is not installed.
Small tables are passed over without numba, see :func:`kernels_for`. Passes over rows have one more form, for a card:
:func:`card_kernels`.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from importlib import import_module
from types import ModuleType

from juror.errors import MissingDependencyError, ParameterError, check_choice

# Up to this many cells (distinct rows × columns) a fit by NumPy's passes takes about as long as one that first loads
# compiled kernels. So the first fit of a small table waits for no compiler.
_FEW_CELLS = 4096
# Up to this many cells a Gibbs sampler needs no compiled kernels: most of the time of a sweep is for random numbers.
_FEW_TO_DRAW = 16384
# Up to this many cells, NumPy makes a single pass in 0.1 s: less than it takes to compile one.
_FEW_FOR_ONCE = 1 << 22
# Up to this many rows times tables, NumPy counts in 0.1 s. The second number is how many rows take as long as a table.
_FEW_TO_COUNT, _ROWS_OF_A_TABLE = 1 << 23, 1 << 14
_MODULES = {"numba": "juror.kernels.jit", "numpy": "juror.kernels.reference"}
# From this many cells (rows × columns) on, "auto" passes over a table on a card: a pass with 16 classes, where searches
# for a rank begin, then takes as long as on two threads (docs/gpu.md). With more classes, fewer cells are enough.
_WORTH_A_CARD = 1 << 19


@cache
def kernels() -> ModuleType:
    """Return the module of kernels in use; numba is imported on the first call."""
    fallback = "numba" if importlib.util.find_spec("numba") else "numpy"
    choice = os.environ.get("JUROR_KERNELS", fallback)
    if choice not in _MODULES:
        raise ParameterError(f"JUROR_KERNELS must be 'numba' or 'numpy'. Got {choice!r} instead.")
    return import_module(_MODULES[choice])


@cache
def are_few(n_cells: int) -> bool:
    """Whether passes over a table of n_cells cells need no compiled kernels, unless they are asked for."""
    return n_cells <= _FEW_CELLS and "JUROR_KERNELS" not in os.environ


def kernels_for(n_cells: int) -> ModuleType:
    """Return the kernels for passes over a table of n_cells cells.

    Only the size decides, never what has been compiled before, so that the same data give the same bits.
    """
    return _kernels_for_few() if are_few(n_cells) else kernels()


@cache
def are_few_to_draw(n_cells: int) -> bool:
    """Whether a Gibbs sampler of a table of n_cells cells needs no compiled kernels, unless they are asked for."""
    return n_cells <= _FEW_TO_DRAW and "JUROR_KERNELS" not in os.environ


def kernels_to_draw(n_cells: int) -> ModuleType:
    """Return the kernels of a Gibbs sampler of a table of n_cells cells; only the size decides here too."""
    return _kernels_for_few() if are_few_to_draw(n_cells) else kernels()


def kernels_for_one_pass(n_cells: int) -> ModuleType:
    """Return the kernels for a single pass over a table of n_cells cells; only the size decides here too."""
    return _kernels_for_few() if n_cells <= _FEW_FOR_ONCE and "JUROR_KERNELS" not in os.environ else kernels()


def kernels_to_count(n_rows: int, n_tables: int) -> ModuleType:
    """Return the kernels that count some tables over n_rows rows; only the sizes decide here too."""
    few = (n_rows + _ROWS_OF_A_TABLE) * n_tables <= _FEW_TO_COUNT and "JUROR_KERNELS" not in os.environ
    return _kernels_for_few() if few else kernels()


@cache
def _kernels_for_few() -> ModuleType:
    return import_module("juror.kernels.few")


@cache
def card_kernels() -> ModuleType:
    """Return the kernels of passes on a card; PyTorch and Triton are imported on the first call."""
    for package in ("torch", "triton"):
        if importlib.util.find_spec(package) is None:
            raise MissingDependencyError(
                "{device:='cuda'} needs {package}, which is not installed. Run pip install 'juror[cuda]', or pass "
                "{device:='cpu'}.",
                package=package,
            )
    cuda = import_module("juror.kernels.cuda")
    cuda.device()
    return cuda


@cache
def _has_card() -> bool:
    try:
        card_kernels()
    except (MissingDependencyError, ParameterError):
        return False
    return True


def check_device(device: object) -> None:
    """Refuse a device that is not known, or a card if there is none."""
    check_choice("device", device, ("auto", "cpu", "cuda"))
    if device == "cuda":
        card_kernels()


def card_for(device: str, n_cells: int) -> ModuleType | None:
    """Return the kernels of a card if passes over a table of n_cells cells are to be made there, else None."""
    if device == "cpu" or (device == "auto" and (n_cells < _WORTH_A_CARD or not _has_card())):
        return None
    return card_kernels()
