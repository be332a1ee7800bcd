"""Check plain values, as read from JSON, against type hints, so that nothing in a file surprises the code behind.

A schema is a dataclass, a typed dictionary or any other hint made of these, ``tuple``, ``list``, ``Mapping``, unions,
``Literal`` and plain types; unions are of plain types, or of one hint and None. ``Annotated`` bounds numbers: its
second argument must contain them.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "null"}


def check(value: Any, hint: Any, where: str) -> None:
    """Refuse a value that a hint does not allow, with a ValueError that names the place.

    A list may stand for a tuple, and a dictionary for a dataclass; entries that these do not have are ignored. A whole
    number may stand for a float if it is not too large. No number is NaN.

    >>> check({"a": [1, 2.5]}, dict[str, tuple[float, ...]], "header")
    >>> check({"a": [1, "x"]}, dict[str, tuple[float, ...]], "header")
    Traceback (most recent call last):
    ValueError: header.a[1] must be a number, and is 'x'
    """
    check_by_arguments = _BY_ORIGIN.get(get_origin(hint))
    if check_by_arguments is not None:
        check_by_arguments(value, get_args(hint), where)
    elif is_dataclass(hint) or is_typeddict(hint):
        _check_entries(value, hint, where)
    elif hint is not Any and not _is_plain(value, hint):
        raise _wrong(where, _NAMES[hint], value)


def _check_bounds(value: Any, kind_and_bounds: Sequence[Any], where: str) -> None:
    kind, bounds = kind_and_bounds
    check(value, kind, where)
    if value is not None and value not in bounds:
        raise _wrong(where, f"in {bounds}", value)


def _check_choice(value: Any, choices: Sequence[Any], where: str) -> None:
    if not isinstance(value, str) or value not in choices:
        raise _wrong(where, f"one of {', '.join(map(repr, choices))}", value)


def _check_union(value: Any, hints: Sequence[Any], where: str) -> None:
    if value is None and NoneType in hints:
        return
    others = [hint for hint in hints if hint is not NoneType]
    if len(others) == 1:
        # its own message says what is wrong inside
        check(value, others[0], where)
    elif not any(_is_plain(value, hint) for hint in others):
        raise _wrong(where, " or ".join(_NAMES[hint] for hint in hints), value)


def _check_items(value: Any, hints: Sequence[Any], where: str) -> None:
    if not isinstance(value, (list, tuple)):
        raise _wrong(where, "a list", value)
    if len(hints) == 1 or hints[1] is ...:
        hints = [hints[0]] * len(value)
    if len(value) != len(hints):
        raise _wrong(where, f"a list of {len(hints)}", value)
    for number, (item, hint) in enumerate(zip(value, hints, strict=True)):
        check(item, hint, f"{where}[{number}]")


def _check_mapping(value: Any, hints: Sequence[Any], where: str) -> None:
    _refuse_no_mapping(value, where)
    for key, item in value.items():
        check(item, hints[1], f"{where}.{key}")


_BY_ORIGIN: dict[Any, Callable[[Any, Sequence[Any], str], None]] = {
    Annotated: _check_bounds,
    Literal: _check_choice,
    **dict.fromkeys((Union, UnionType), _check_union),
    **dict.fromkeys((tuple, list, Sequence), _check_items),
    **dict.fromkeys((dict, Mapping), _check_mapping),
}


def _check_entries(value: Any, hint: Any, where: str) -> None:
    hints = _hints_of(hint)
    if is_dataclass(hint):
        absent = {each.name for each in fields(hint) if each.default is MISSING and each.default_factory is MISSING}
        value = vars(value) if isinstance(value, hint) else value  # type: ignore[arg-type]
    else:
        absent = {name for name, each in hints.items() if get_origin(each) is not NotRequired}
        hints = {name: get_args(e)[0] if get_origin(e) is NotRequired else e for name, e in hints.items()}
    _refuse_no_mapping(value, where)
    if absent - value.keys():
        raise ValueError(f"{where} has no {min(absent - value.keys())!r}")
    for name in hints.keys() & value.keys():
        check(value[name], hints[name], f"{where}.{name}")


@cache
def _hints_of(hint: Any) -> dict[str, Any]:
    return get_type_hints(hint, include_extras=True)


def _refuse_no_mapping(value: Any, where: str) -> None:
    if not isinstance(value, Mapping):
        raise _wrong(where, "an object", value)


def _is_plain(value: Any, kind: type) -> bool:
    """Tell whether a value is of a plain type. A number is not NaN, and no integer beyond all floats."""
    if kind not in (int, float):
        return isinstance(value, kind)
    if isinstance(value, bool) or not isinstance(value, int if kind is int else (int, float)):
        return False
    try:
        return not math.isnan(float(value))
    except OverflowError:
        return False


def _wrong(where: str, must_be: str, value: Any) -> ValueError:
    return ValueError(f"{where} must be {must_be}, and is {reprlib.repr(value)}")
