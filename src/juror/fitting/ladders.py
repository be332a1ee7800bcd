"""Ranks and smoothings to try next, in the order in which they are tried."""

from __future__ import annotations

from collections.abc import Iterator

from juror.fitting.choose import FOREST_SMOOTHINGS, MEMBER_SMOOTHINGS, FitSetting
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
    above = [alpha for alpha in all_of_them if alpha > setting.smoothing]
    return [alpha for alpha in reversed(all_of_them) if alpha < setting.smoothing], above
