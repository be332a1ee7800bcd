"""The pair counts of a model as they stand in its file: one array of compressed bytes.

The cells of all pair tables and then of every variable alone are one row of numbers: integers of the smallest type that
holds them, or floats if rows have fractions as weights. The bytes of all numbers stand in order of their place in the
number, first all lowest bytes, so that zeros stand together; then zlib makes them small.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import numpy as np

from juror.counts.counts import PairCounts
from juror.counts.groups import pairs_and_singles, pairs_of
from juror.domain import Domain

_TYPES = ("<u1", "<u2", "<u4", "<u8")
# Floats hold all integers up to this one.
_MOST_WHOLE = 2.0**53


def packed(counts: PairCounts) -> tuple[dict[str, Any], np.ndarray]:
    """Return what the header of a file says about counts, and their bytes."""
    cells = np.concatenate([table.ravel() for table in (*counts.tables, *(counts.singles or ()))] or [np.zeros(0)])
    kind = _smallest_type(cells)
    by_place = cells.astype(kind).view(np.uint8).reshape(len(cells), -1).T
    compressed = np.frombuffer(zlib.compress(by_place.tobytes(), level=9), dtype=np.uint8)
    return {"type": kind, "n_rows": counts.n_rows, "singles": counts.singles is not None}, compressed


def _smallest_type(cells: np.ndarray) -> str:
    largest = cells.max(initial=0.0)
    if largest > _MOST_WHOLE or np.any(cells != np.floor(cells)):
        return "<f8"
    return next(kind for kind in _TYPES if largest <= np.iinfo(kind).max)


def unpacked(domain: Domain, header: Mapping[str, Any], compressed: np.ndarray) -> PairCounts:
    """Return the counts of a file; a ValueError says what is wrong with them."""
    kind, sizes = header["type"], domain.cardinalities
    if kind not in (*_TYPES, "<f8"):
        raise ValueError(f"its counts have the type {kind!r}, which this juror does not know")
    groups = pairs_and_singles(len(domain)) if header["singles"] else pairs_of(len(domain))
    shapes = [tuple(sizes[place] for place in group) for group in groups]
    cells = _cells(compressed.tobytes(), kind, sum(map(math.prod, shapes)))
    ends = accumulate(map(math.prod, shapes))
    tables = [cells[end - math.prod(shape) : end].reshape(shape) for end, shape in zip(ends, shapes, strict=True)]
    most, n_rows = max((float(table.sum()) for table in tables), default=0.0), header["n_rows"]
    # weights that are added in another order differ by rounding
    if n_rows is not None and not 0 < n_rows >= most * (1 - 1e-9):
        raise ValueError(f"its counts are of {n_rows:g} rows, and one of its tables has {most:g}")
    n_pairs = len(pairs_of(len(domain)))
    singles = tuple(tables[n_pairs:]) if header["singles"] else None
    return PairCounts(domain, tuple(groups[:n_pairs]), tuple(tables[:n_pairs]), n_rows, singles)


def _cells(compressed: bytes, kind: str, n_cells: int) -> np.ndarray:
    """Return the numbers; no more bytes are expanded than the domain has cells for."""
    wanted = n_cells * np.dtype(kind).itemsize
    try:
        plain = zlib.decompressobj().decompress(compressed, wanted + 1)
    except zlib.error as error:
        raise ValueError(f"its counts cannot be read: {error}") from None
    if len(plain) != wanted:
        raise ValueError(f"its counts do not have the {n_cells:,} cells of its variables")
    by_place = np.frombuffer(plain, dtype=np.uint8).reshape(-1, n_cells)
    return np.ascontiguousarray(by_place.T).view(kind).ravel().astype(float)
