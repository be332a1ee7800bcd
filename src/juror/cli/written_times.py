"""Write times in the form of the other cells of a CSV file: with or without a T, seconds, and an offset from UTC."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

_ZERO = datetime.timedelta()
_TIME = re.compile(
    r"\s*\d{4}-\d\d-\d\d(?P<gap>[ T])\d\d:\d\d(?P<rest>:\d\d(?:\.\d+)?)?(?P<zone>Z|[+-]\d\d(?::?\d\d)?)?\s*"
)


class _Form(NamedTuple):
    """What stands between date and time, whether seconds are written, and the zone."""

    gap: str
    seconds: bool
    zone: str


def writer_like(cells: Iterable[str]) -> Callable[[Any], str] | None:
    """Return a function that writes times in the most frequent form of some cells; None if no cell is a time.

    >>> write = writer_like(["2024-03-01T12:30:00+02:00", "2024-03-02T09:00:00+02:00", "2024-12-01T09:00:00+01:00"])
    >>> write(datetime.datetime(2024, 1, 1, 22, 15, tzinfo=datetime.UTC))
    '2024-01-02T00:15:00+02:00'
    """
    found = (_TIME.fullmatch(cell) for cell in cells)
    forms = Counter(_Form(m["gap"], m["rest"] is not None, m["zone"] or "") for m in found if m is not None)
    if not forms:
        return None
    form = forms.most_common(1)[0][0]
    return lambda moment: _written(moment, form)


def _written(moment: datetime.datetime, form: _Form) -> str:
    if moment.tzinfo is not None:
        moment = moment.astimezone(datetime.timezone(_offset(form.zone))).replace(tzinfo=None)
    has_seconds = form.seconds or moment.second or moment.microsecond or getattr(moment, "nanosecond", 0)
    return moment.isoformat(form.gap, "auto" if has_seconds else "minutes") + form.zone


def _offset(zone: str) -> datetime.timedelta:
    if zone in ("", "Z"):
        return _ZERO
    digits = zone[1:].replace(":", "")
    length = datetime.timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    return -length if zone[0] == "-" else length
