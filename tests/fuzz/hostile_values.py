"""Values that break programs, and random changes of plain values, as JSON has them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

TEXTS = (
    *("", " ", "a", "nan", "None", "-1", "1e400", "<b>&amp;</b>", "a\nb", "\r", "\0", "\x1b[31mred\x1b[0m", "\x9b2J"),
    *(
        "\ud800",
        "\ufeff",
        "\u202e",
        "e\u0301",
        "😀",
        "日本語",
        "{",
        "%s",
        "{0}",
        "x" * 300,
        "../../x",
        "not",
        "in",
        "'",
        '"',
    ),
)
NUMBERS = (
    *(0, 1, -1, 2, 3, 255, 2**31, 2**53 + 1, 2**63, -(2**63), 2**64, 10**30, 10**400, -(10**400)),
    *(0.0, -0.0, 0.5, 1e-320, 1e300, 1.8e308, -1.8e308, float("nan")),
)
OTHERS = (None, True, False, [], {}, [[]], [None], {"": None}, [[[[0]]]])
# Marks a place where text is written that Python itself cannot nest; see :func:`nested`.
NEST = "nest-{}-of-brackets"


def pick(rng: np.random.Generator, choices: Any) -> Any:
    """Choose one of some values, without NumPy's opinion of their type."""
    return choices[int(rng.integers(len(choices)))]


def hostile(rng: np.random.Generator) -> Any:
    """Draw one value of any type."""
    if rng.random() < 0.02:
        return NEST.format(pick(rng, (20, 400, 3000, 100_000)))
    if rng.random() < 0.02:
        return [copy.deepcopy(pick(rng, (*TEXTS, *NUMBERS, *OTHERS))) for _ in range(int(rng.integers(200)))]
    return copy.deepcopy(pick(rng, pick(rng, (TEXTS, NUMBERS, OTHERS))))


def nested(text: str) -> str:
    """Replace the marks of :data:`NEST` in JSON by brackets."""
    for depth in (20, 400, 3000, 100_000):
        text = text.replace(f'"{NEST.format(depth)}"', "[" * depth + "]" * depth)
    return text


def change(plain: Any, rng: np.random.Generator) -> None:
    """Change one random place of nested dicts and lists."""
    holder = plain
    while True:
        key = _key(holder, rng) if isinstance(holder, (dict, list)) else None
        if key is None:
            return
        below = holder[key]
        if not isinstance(below, (dict, list)) or not below or rng.random() < 0.25:
            break
        holder = below
    pick(rng, (_replace, _replace, _nudge, _nudge, _nudge, _drop, _add, _swap, _repeat))(holder, key, rng)


def _key(holder: Any, rng: np.random.Generator) -> Any:
    keys = list(holder) if isinstance(holder, dict) else range(len(holder))
    return pick(rng, keys) if len(keys) else None


def _replace(holder: Any, key: Any, rng: np.random.Generator) -> None:
    holder[key] = hostile(rng)


def _nudge(holder: Any, key: Any, rng: np.random.Generator) -> None:
    """Change a value a little, so that it may still be read."""
    value = holder[key]
    if isinstance(value, bool) or value is None:
        holder[key] = pick(rng, (True, False, None, 0, 1, "true"))
    elif isinstance(value, (int, float)) and abs(value) < 1e300:
        holder[key] = pick(rng, (value + 1, value - 1, -value, value / 2, str(value), [value], None))
    elif isinstance(value, str):
        holder[key] = pick(rng, (value + pick(rng, TEXTS), value[:-1], value[::-1], [value], len(value), None))
    elif isinstance(value, list):
        holder[key] = pick(
            rng, (value[:-1], value[::-1], value + value[-1:], value * 2, {str(n): v for n, v in enumerate(value)})
        )
    elif isinstance(value, dict) and value:
        value.pop(_key(value, rng))


def _drop(holder: Any, key: Any, rng: np.random.Generator) -> None:
    del holder[key]


def _add(holder: Any, key: Any, rng: np.random.Generator) -> None:
    if isinstance(holder, dict):
        holder[
            pick(rng, ("kind", "counts", "conditions", "n_blocks", "floats", "extra", "missing_label", "", "name"))
        ] = hostile(rng)
    else:
        holder.insert(key, hostile(rng))


def _swap(holder: Any, key: Any, rng: np.random.Generator) -> None:
    other = _key(holder, rng)
    holder[key], holder[other] = holder[other], holder[key]


def _repeat(holder: Any, key: Any, rng: np.random.Generator) -> None:
    holder[_key(holder, rng)] = copy.deepcopy(holder[key])
