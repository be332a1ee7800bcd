"""Ranks and smoothings to try next, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from juror.fitting.choose import FOREST_SMOOTHINGS, MEMBER_SMOOTHINGS, FitSetting
from juror.fitting.hidden_trees import BELL_ROWS
from juror.fitting.hidden_trees import SMOOTHINGS as HIDDEN_SMOOTHINGS


def doubling(rank: int, most: int) -> Iterator[int]:
    """Give 2, 4, 8, … times the rank, and the largest at last.

    >>> list(doubling(4, 20))
    [8, 16, 20]
    """
    while 2 * rank < most:
        rank *= 2
        yield rank
    if rank < most:
        yield most


def halving(rank: int) -> Iterator[int]:
    """Give a half, a quarter, … of the rank, down to one.

    >>> list(halving(16))
    [8, 4, 2, 1]
    """
    while rank > 1:
        rank //= 2
        yield rank


def ladders(setting: FitSetting) -> tuple[list[float], list[float]]:
    """Return the smoothings below and above, nearest first.

    >>> ladders(FitSetting(4, 0.1))
    ([0.03, 0.01], [0.3, 1.0])
    """
    all_of_them = FOREST_SMOOTHINGS if setting.forest else MEMBER_SMOOTHINGS
    if setting.is_hidden:
        all_of_them = HIDDEN_SMOOTHINGS
    return _around(setting.smoothing, all_of_them)


def bell_ladders(setting: FitSetting) -> tuple[list[float], list[float]]:
    """Return fewer and more rows by which columns of states are drawn to bells, nearest first.

    >>> bell_ladders(FitSetting(32, bell_rows=300.0))
    ([100.0, 30.0, 10.0], [1000.0, 3000.0])
    """
    return _around(setting.bell_rows, BELL_ROWS)


def _around(value: float, steps: Sequence[float]) -> tuple[list[float], list[float]]:
    """Return the steps below and above a value, nearest first."""
    return [step for step in reversed(steps) if step < value], [step for step in steps if step > value]
