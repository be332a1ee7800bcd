"""Numbers as they are written, and comparisons that round nothing: whole numbers of any size and floats.

NumPy compares an integer and a float, or signed and unsigned integers, as floats, which merges numbers beyond 2⁵³.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np

Number = int | float
_WHOLE = re.compile(r"\s*([-+]?[0-9]+)(?:\.0*)?\s*")
_WIDE: dict[str, type[Any]] = {"i": np.int64, "u": np.uint64, "f": np.float64}


def plain(value: Any) -> Any:
    """Return what has a ``tolist``, such as NumPy's numbers and arrays, as values of Python; all else as it is.

    Floats of 32 bits or less are read as they are written: 0.1 stays 0.1, as in columns.

    >>> plain(np.float32(0.1)), plain(np.array([1, 2])), plain("a")
    (0.1, [1, 2], 'a')
    """
    if not hasattr(value, "tolist"):
        return value
    is_short = getattr(value, "dtype", None) in (np.float16, np.float32)
    return np.asarray(value, np.float32).astype(str).astype(np.float64).tolist() if is_short else value.tolist()


def as_number(value: object) -> Number | None:
    """Return a number, which may be written as text; None for other values. Whole numbers are not rounded.

    >>> as_number("9007199254740993"), as_number("0.5"), as_number("1_000")
    (9007199254740993, 0.5, None)
    """
    value = plain(value)
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    if isinstance(value, str):
        return _read(value)
    # NaN; math.isnan refuses large integers
    return None if value != value else value


def _read(text: str) -> Number | None:
    # Python reads 1_000 as a number, but in data it is a label
    if "_" in text:
        return None
    whole = _WHOLE.fullmatch(text)
    try:
        number = int(whole[1]) if whole else float(text)
    except ValueError:
        # a number of thousands of digits is none to Python
        return None
    return None if number != number else number


def as_float(number: Number) -> float:
    """Return a number as a float, infinite if it is beyond all finite ones."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def equal_to(numbers: np.ndarray, number: Number) -> np.ndarray:
    """Return which numbers of an array equal a number as their type holds it, (n,): floats round it, integers do not.

    >>> equal_to(np.array([2**53, 2**53 + 1]), 2.0**53).tolist()
    [True, False]
    >>> equal_to(np.array([0.1, 0.2], dtype=np.float32), 0.1).tolist()
    [True, False]
    """
    kind = numbers.dtype
    if kind.kind == "f":
        with np.errstate(over="ignore"):
            held = kind.type(as_float(number))
        has_room = bool(np.isfinite(held)) or abs(number) == math.inf
    else:
        has_room = number == math.floor(number) if abs(number) < math.inf else False
        has_room = has_room and np.iinfo(kind).min <= number <= np.iinfo(kind).max
        held = kind.type(int(number)) if has_room else kind.type(0)
    return numbers == held if has_room else np.zeros(numbers.shape, dtype=bool)


def n_at_most(edges: Sequence[Number], numbers: np.ndarray, strict: bool = False) -> np.ndarray:
    """Return for every number how many of the rising edges are at most the number, or if strict below it."""
    numbers = _widened(numbers)
    # a number is at least an edge if it is at least the lowest number of its type that is
    lowest = [_lowest(edge, numbers.dtype, strict) for edge in edges]
    reached = np.array([edge for edge in lowest if edge is not None], dtype=numbers.dtype)
    return np.searchsorted(reached, numbers, side="right")


def intervals_of(edges: Sequence[Number], numbers: np.ndarray, open_ended: bool) -> np.ndarray:
    """Return the interval of every number, −1 if it lies outside all of them.

    Intervals are closed on the left, and the last one on both sides. If open-ended, the outer ones have no end.
    """
    reached = n_at_most(edges, numbers)
    codes = np.clip(reached - 1, 0, len(edges) - 2)
    if open_ended:
        return codes
    beyond = n_at_most(edges[-1:], numbers, strict=True) > 0
    return np.where((reached > 0) & ~beyond, codes, -1)


def interval_of(edges: Sequence[Number], number: Number, open_ended: bool) -> int:
    """Return the interval of a number of any size, as :func:`intervals_of` does."""
    if not open_ended and not edges[0] <= number <= edges[-1]:
        return -1
    return min(max(bisect_right(edges, number) - 1, 0), len(edges) - 2)


def _widened(numbers: np.ndarray) -> np.ndarray:
    """Return numbers in 64 bits: NumPy would round a bound to the type of shorter ones."""
    return numbers.astype(_WIDE[numbers.dtype.kind], copy=False)


def _lowest(bound: Number, kind: np.dtype[Any], strict: bool) -> Number | None:
    """Return the lowest number of a type that is at least a bound, or if strict above it; None if there is none."""
    if kind.kind == "f":
        rounded = as_float(bound)
        is_low = rounded < bound or (strict and rounded == bound)
        return None if is_low and rounded == math.inf else math.nextafter(rounded, math.inf) if is_low else rounded
    limits = np.iinfo(kind)
    if math.isinf(bound):
        return None if bound > 0 else int(limits.min)
    whole = math.floor(bound) + 1 if strict else math.ceil(bound)
    return None if whole > limits.max else max(whole, int(limits.min))
