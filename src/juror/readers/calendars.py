"""Dates and times as whole numbers: units since the beginning of 1970, in UTC if the column has a time zone."""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from juror.errors import DataError, ParameterError
from juror.readers.exact_numbers import Number

# slow to import, and codes do not need it
if TYPE_CHECKING:
    import pyarrow as pa

Unit = Literal["D", "s", "ms", "us", "ns"]
# From coarse to fine
UNITS: tuple[Unit, ...] = get_args(Unit)
_NANOSECONDS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_EPOCH = datetime.datetime(1970, 1, 1)
_FIRST, _LAST = datetime.datetime.min, datetime.datetime.max
_TEXT = re.compile(
    r"\s*(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?\s*(Z|[+-]\d\d:?\d\d(?::\d\d)?)?)?\s*", re.ASCII
)
# Local mean times of the nineteenth century have seconds
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)(?::(\d\d))?")


def finer(one: Unit | None, other: Unit | None) -> Unit:
    """Return the finer of two units; None stands for the coarsest."""
    return max(one or "D", other or "D", key=UNITS.index)


@dataclass(frozen=True)
class Calendar:
    """How whole numbers stand for dates or times.

    Attributes
    ----------
    unit : {"D", "s", "ms", "us", "ns"}
        What the numbers count: days, seconds or parts of a second since the beginning of 1970-01-01.
    zone : str, optional
        The time zone that times are written in, such as ``Europe/Berlin`` or ``+02:00``; the numbers are in UTC.
        Without one, times are those of a clock on the wall.
    stored : {"D", "s", "ms", "us", "ns"}, optional
        The unit of the column's type, dates for days, which is as fine as ``unit`` or finer; by default the same.

    Examples
    --------
    >>> days = Calendar("D")
    >>> days.number("2024-03-01"), days.number(datetime.date(1969, 12, 31)), days.text(19783)
    (19783, -1, '2024-03-01')
    >>> Calendar("s", "Europe/Berlin").number("2024-07-01 12:30")
    1719829800
    """

    unit: Unit
    zone: str | None = None
    stored: Unit | None = None

    def __post_init__(self) -> None:
        if self.stored is None:
            object.__setattr__(self, "stored", self.unit)
        for unit in (self.unit, self.stored):
            if unit not in UNITS:
                raise ParameterError(f"The unit of a calendar must be one of {list(UNITS)}. Got {unit!r}.")
        if finer(self.unit, self.stored) != self.stored:
            raise ParameterError(f"A column of unit {self.stored!r} has no room for numbers of unit {self.unit!r}.")
        if self.zone is not None:
            _zone_of(self.zone)
        if self.unit == "D" and self.zone not in (None, "UTC"):
            raise ParameterError(f"Days have no time zone. Got {self.zone!r} with the unit 'D'.")

    @classmethod
    def of_type(cls, type_: pa.DataType) -> Calendar:
        """Return the calendar of an Arrow type of dates or times."""
        import pyarrow as pa

        if pa.types.is_date(type_):
            return cls("D")
        return cls(type_.unit, type_.tz)

    @property
    def arrow_type(self) -> pa.DataType:
        """The Arrow type of the column."""
        import pyarrow as pa

        return pa.date32() if self.stored == "D" else pa.timestamp(self.stored, self.zone)

    def number(self, value: object) -> Number | None:
        """Return the number of a date or time; None if the value is none, or if only it has a time zone.

        The value is a date or time of Python, NumPy or pandas, or text such as ``2024-03-01``, ``2024-03-01 12:30`` or
        ``2024-03-01T12:30:00.5Z``. A time without a zone is one of the calendar's. The number has a fraction if the
        value is finer than the unit.
        """
        moment = _nanoseconds(value)
        if moment is None:
            return None
        nanoseconds, zone = moment
        if zone is not None and self.zone is None:
            return None
        if self.zone is not None and zone is None:
            zone = _zone_of(self.zone)
        if zone is not None:
            nanoseconds -= _offset(nanoseconds, zone, is_local=True) * 10**9
        whole, rest = divmod(nanoseconds, _NANOSECONDS[self.unit])
        if not rest:
            return whole
        # rounding must not move it to a whole number
        low, high = math.nextafter(whole, math.inf), math.nextafter(whole + 1, -math.inf)
        return min(max(whole + rest / _NANOSECONDS[self.unit], low), high)

    def fault(self, value: object) -> str:
        """Say why a value is no date or time of this calendar.

        >>> Calendar("D").fault("2024-02-30")
        'There is no such date.'
        """
        if _nanoseconds(value) is not None:
            return "It has a time zone, and the column has none: leave the zone out."
        if isinstance(value, str) and _TEXT.fullmatch(value):
            return "There is no such date." if ":" not in value else "There is no such time."
        return "Write dates like 2024-03-01, and times like 2024-03-01 12:30."

    def text(self, number: int) -> str:
        """Write a number as a date, with the time if it is not midnight: 2024-03-01, 2024-03-01 12:30.

        :meth:`number` reads it back. The offset of the zone is written only if a local time occurs twice, when clocks
        are put back.
        """
        if self.zone is None or self.unit == "D":
            return _written(int(number), self.unit)
        zone, per_second = _zone_of(self.zone), 10**9 // _NANOSECONDS[self.unit]
        nanoseconds = int(number) * _NANOSECONDS[self.unit]
        offset = _offset(nanoseconds, zone, is_local=False)
        text = _written(int(number) + offset * per_second, self.unit)
        is_again = _offset(nanoseconds + offset * 10**9, zone, is_local=True) != offset
        return f"{text if ':' in text else text + ' 00:00'}{_written_offset(offset)}" if is_again else text

    @property
    def nanoseconds(self) -> int:
        """How long one of its units is, in nanoseconds."""
        return _NANOSECONDS[self.unit]

    @property
    def ends(self) -> tuple[int, int]:
        """The numbers of the first and the last date or time that Python and the column's type can express.

        >>> [Calendar("D").text(end) for end in Calendar("D").ends]
        ['0001-01-01', '9999-12-31']
        """
        assert self.stored is not None
        most = np.iinfo(np.int64).max // (_NANOSECONDS[self.unit] // _NANOSECONDS[self.stored])
        # Python converts zoned times from UTC, so that both times must lie in its years
        clocks = (self, replace(self, zone=None))
        first, last = ([clock.number(end) or 0 for clock in clocks] for end in (_FIRST, _LAST))
        return max(-most, *map(math.ceil, first)), min(most, *map(math.floor, last))

    def coarsest(self, numbers: np.ndarray) -> Unit:
        """Return the coarsest unit in which all of some numbers are whole.

        >>> Calendar("s").coarsest(np.array([0, 86_400])), Calendar("ms").coarsest(np.array([-1000, 86_400_000]))
        ('D', 's')
        """
        for unit in UNITS[: UNITS.index(self.unit)]:
            # local midnights of other zones are no whole days of UTC
            if unit == "D" and self.zone not in (None, "UTC"):
                continue
            if not np.any(numbers % (_NANOSECONDS[unit] // _NANOSECONDS[self.unit])):
                return unit
        return self.unit

    def within(self, unit: Unit) -> Calendar:
        """Return the calendar of the same column whose numbers have another unit."""
        return replace(self, unit=unit, stored=finer(unit, self.stored))

    def converted(self, numbers: np.ndarray, unit: Unit, name: str = "") -> np.ndarray:
        """Return numbers in another unit, rounded down if it is coarser; refuse those that have no room in it."""
        here, there = _NANOSECONDS[self.unit], _NANOSECONDS[unit]
        if here <= there:
            return numbers // (there // here)
        factor = here // there
        most = np.iinfo(np.int64).max // factor
        beyond = (numbers > most) | (numbers < -most)
        if np.any(beyond):
            text = self.text(numbers[beyond][0])
            column = f"Column {name!r}" if name else "A column"
            raise DataError(f"{column} holds {text}, for which its type has no room in the unit {unit!r}. Convert it.")
        return numbers * factor

    def to_numpy(self, numbers: np.ndarray) -> np.ndarray:
        """Return whole numbers (n,) as dates or times of the column's unit, of NumPy's type; zoned ones in UTC."""
        assert self.stored is not None
        return self.converted(np.asarray(numbers, dtype=np.int64), self.stored).astype(f"M8[{self.stored}]")

    def to_python(self, numbers: np.ndarray) -> list[Any]:
        """Return whole numbers (n,) as dates or times of Python, those with nanoseconds of pandas."""
        low, high = self.ends
        beyond = (numbers < low) | (numbers > high)
        if np.any(beyond):
            raise DataError(
                f"The date {self.text(numbers[beyond][0])} is not between {self.text(low)} and {self.text(high)}, "
                "which Python and the type of its column can express. Replace such dates before fitting."
            )
        return self.to_arrow(numbers).to_pylist()

    def to_arrow(self, numbers: np.ndarray, missing: np.ndarray | None = None) -> pa.Array:
        """Return whole numbers (n,) as an Arrow array of the column's type, null where they are missing (n,)."""
        import pyarrow as pa

        assert self.stored is not None
        numbers = np.asarray(numbers, dtype=np.int64)
        if missing is not None:
            numbers = np.where(missing, 0, numbers)
        numbers = self.converted(numbers, self.stored)
        if self.stored == "D":
            if np.any(numbers != numbers.astype(np.int32)):
                raise DataError("A column of dates has no room for days so far from 1970.")
            numbers = numbers.astype(np.int32)
        # pa.array would import pandas
        valid = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
        buffers = [valid, pa.py_buffer(np.ascontiguousarray(numbers))]
        return pa.Array.from_buffers(self.arrow_type, len(numbers), buffers)


def united_calendar(name: str, one: Calendar | None, other: Calendar | None) -> Calendar | None:
    """Return the calendar for two pieces of a column, in the finer of their units; refuse dates beside numbers."""
    if one is None or other is None:
        if one is None and other is None:
            return None
        raise DataError(f"Column {name!r} holds dates or times in some rows and numbers in others. Convert it.")
    if (one.zone is None) != (other.zone is None):
        raise DataError(
            f"Column {name!r} holds times with a time zone in some rows and without in others. Convert it to one type."
        )
    return Calendar(finer(one.unit, other.unit), one.zone, finer(one.stored, other.stored))


@lru_cache(maxsize=64)
def _zone_of(name: str) -> datetime.tzinfo:
    offset = _OFFSET.fullmatch(name)
    if offset:
        hours, minutes, seconds = (int(part or 0) for part in offset.groups()[1:])
        length = datetime.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        return datetime.timezone(-length if offset[1] == "-" else length)
    if name.upper() in ("UTC", "Z"):
        return datetime.UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise DataError(
            f"The time zone {name!r} is not known here. Install the package tzdata, or convert the column to UTC."
        ) from None


def _offset(nanoseconds: int, zone: datetime.tzinfo, is_local: bool) -> int:
    """Return the offset of a zone from UTC in seconds, at a time that is local or in UTC."""
    # Zones have no rules beyond the years of Python, so that the nearest year has to do
    seconds = min(max(nanoseconds // 10**9, -62_135_510_400), 253_402_214_400)
    moment = _EPOCH + datetime.timedelta(seconds=seconds)
    moment = moment.replace(tzinfo=zone) if is_local else moment.replace(tzinfo=datetime.UTC).astimezone(zone)
    offset = moment.utcoffset()
    assert offset is not None
    return offset.days * 86_400 + offset.seconds


def _nanoseconds(value: object) -> tuple[int, datetime.tzinfo | None] | None:
    """Return the nanoseconds since 1970 by the clock of a date or time, and its zone; None for other values."""
    if isinstance(value, np.datetime64):
        return _of_numpy(value)
    if isinstance(value, datetime.datetime):
        if value != value:  # NaT is one
            return None
        since = value.replace(tzinfo=None, fold=0) - _EPOCH
        whole = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000
        # a Timestamp of pandas has nanoseconds besides; of two equal local times the offset tells which it is
        offset = value.utcoffset()
        zone = None if offset is None else datetime.timezone(offset)
        return whole + int(getattr(value, "nanosecond", 0)), zone
    if isinstance(value, datetime.date):
        return (value.toordinal() - _EPOCH.toordinal()) * _NANOSECONDS["D"], None
    return _of_text(value) if isinstance(value, str) else None


def _of_numpy(value: np.datetime64) -> tuple[int, None] | None:
    unit = np.datetime_data(value.dtype)[0]
    if np.isnat(value) or unit in ("ps", "fs", "as", "generic"):
        return None
    target = unit if unit in UNITS else "D" if unit in ("Y", "M", "W") else "s"
    return int(value.astype(f"M8[{target}]").astype(np.int64)) * _NANOSECONDS[target], None


def _of_text(text: str) -> tuple[int, datetime.tzinfo | None] | None:
    found = _TEXT.fullmatch(text)
    if not found:
        return None
    day, minutes, seconds, fraction, offset = found.groups()
    try:
        moment = datetime.datetime.fromisoformat(f"{day} {minutes or '00:00'}:{seconds or '00'}")
        zone = _zone_of(offset) if offset else None
    except ValueError:
        return None
    since = moment - _EPOCH
    return (since.days * 86_400 + since.seconds) * 10**9 + int((fraction or "").ljust(9, "0")), zone


def _written(number: int, unit: Unit) -> str:
    day, _, time = str(np.datetime64(number, unit)).partition("T")
    if "." in time:
        time = time.rstrip("0").rstrip(".")
    time = time.removesuffix(":00") if time.count(":") == 2 else time
    return day if time in ("", "00:00") else f"{day} {time}"


def _written_offset(seconds: int) -> str:
    minutes, rest = divmod(abs(seconds), 60)
    return f"{'-' if seconds < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (f":{rest:02}" if rest else "")
