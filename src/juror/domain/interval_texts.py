"""How intervals of numbers are written, as labels and as conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from juror.domain.law import Law
from juror.readers.calendars import Calendar
from juror.readers.exact_numbers import Number, as_float, as_number

# How many characters fewer a round number has than the float that follows
_FEWER = 3
# The fewest significant digits of a number, and the share of rows by which a condition may move when it is written
_FEWEST_DIGITS, _MOVED = 6, 1e-6
# The text of an end, and whether the interval includes it; None if there is no end
_End = tuple[str, bool] | None


class IntervalTexts:
    """The texts of the intervals between edges.

    Without a grid, a cut just after a number lies at the next float. It is written as the number before it, so that
    the interval of zero alone is ``0``, not ``[0, 4.94066e-324)``.

    Parameters
    ----------
    edges : sequence of int or float, (n_intervals + 1,)
        Rising interval ends.
    open_ended : bool
        Whether the outer intervals include numbers beyond the edges.
    law : Law, optional
        The law of the numbers.
    calendar : Calendar, optional
        How the numbers stand for dates or times.

    Examples
    --------
    >>> from juror.domain.grid import Grid
    >>> texts = IntervalTexts([0.0, 0.5, math.nextafter(0.5, 1.0), 2.0], True, Law(Grid(), (0.0,), (2.0,), (1.0,)))
    >>> texts.labels(), texts.condition("x", 2, 2)
    (('<0.5', '0.5', '>0.5'), 'x > 0.5')
    """

    def __init__(
        self, edges: Sequence[Number], open_ended: bool, law: Law | None = None, calendar: Calendar | None = None
    ):
        self._n, self._open_ended, self._law, self._calendar = len(edges) - 1, open_ended, law, calendar
        numbers = list(edges)
        if law is not None and law.grid.decimals is None and calendar is None:
            numbers = [_number_before(edge, edges, law) for edge in edges]
        self._numbers = numbers
        self._are_after = [number != edge for number, edge in zip(numbers, edges, strict=True)]
        self.written = distinct_texts(numbers, calendar)

    def labels(self) -> tuple[str, ...]:
        """Return the labels of all intervals."""
        return tuple(self._label(*self._ends(i, i, self.written.__getitem__)) for i in range(self._n))

    def condition(self, name: str, first: int, last: int) -> str:
        """Return the condition that a variable lies in one of neighbouring intervals."""
        low, high = self._ends(first, last, self.exact)
        if low is None and high is None:
            return f"{name} = any"
        if low is not None and low == high:
            return f"{name} = {low[0]}"
        upper = "" if high is None else f" {'<=' if high[1] else '<'} {high[0]}"
        if low is not None and high is None:
            return f"{name} {'>=' if low[1] else '>'} {low[0]}"
        return f"{name}{upper}" if low is None else f"{low[0]} {'<=' if low[1] else '<'} {name}{upper}"

    def number(self, code: int) -> str | None:
        """Return the only number of an interval; None if it holds more."""
        low, high = self._ends(code, code, self.exact)
        return low[0] if low is not None and low == high else None

    def exact(self, edge: int) -> str:
        """Return how an edge is written in a condition: with enough digits that no rows lie between it and its text."""
        number, text, digits = self._numbers[edge], self.written[edge], _FEWEST_DIGITS
        while self._moves(number, text):
            digits += 1
            text = f"{number:.{digits}g}"
        return text

    def _moves(self, number: Number, text: str) -> bool:
        """Say whether a condition with the text of a number divides the law elsewhere than one with the number."""
        read = None if self._calendar is not None else as_number(text)
        if self._law is None or read is None or read == number:
            return False
        grid = self._law.grid
        below = [self._law.below(np.array([grid.cut(x, after) for x in (number, read)])) for after in (False, True)]
        is_point = grid.decimals is None and self._law.has_point(as_float(number))
        return is_point or bool(np.abs(np.diff(below)).max() > _MOVED)

    def _ends(self, first: int, last: int, text_of: Callable[[int], str]) -> tuple[_End, _End]:
        low: _End = (text_of(first), not self._are_after[first])
        high: _End = (text_of(last + 1), self._are_after[last + 1] or last == self._n - 1)
        if self._open_ended and first == 0:
            # below the least number of the law there is nothing
            low = high if self._are_after[last + 1] and self._is_least(self._numbers[last + 1]) else None
        return low, None if self._open_ended and last == self._n - 1 else high

    def _is_least(self, number: Number) -> bool:
        return self._law is not None and not self._law.below(np.array([as_float(number)]))[0]

    @staticmethod
    def _label(low: _End, high: _End) -> str:
        if low is None or high is None:
            if low is not None:
                return f"{'>=' if low[1] else '>'}{low[0]}"
            return "any" if high is None else f"{'<=' if high[1] else '<'}{high[0]}"
        if low == high:
            return low[0]
        return f"{'[' if low[1] else '('}{low[0]}, {high[0]}{']' if high[1] else ')'}"


def _number_before(edge: Number, edges: Sequence[Number], law: Law) -> Number:
    """Return the float before an edge if it is an edge too, a number of its own in the law, or round; else the edge.

    A round number is written with fewer digits than the edge: the condition ``x > 0.1`` cuts at 0.10000000000000002.
    """
    before = math.nextafter(as_float(edge), -math.inf)
    is_round = len(repr(before)) + _FEWER <= len(repr(as_float(edge)))
    return before if is_round or before in edges or law.has_point(before) else edge


def distinct_texts(ends: Sequence[Number], calendar: Calendar | None) -> list[str]:
    """Write numbers with as few digits as keep them distinct, integers in full, and dates as dates."""
    if calendar is not None:
        return [calendar.text(int(end)) for end in ends]
    for digits in range(_FEWEST_DIGITS, 18):
        texts = [str(end) if isinstance(end, int) else f"{end:.{digits}g}" for end in ends]
        if len(set(texts)) == len(set(ends)):
            break
    return texts
