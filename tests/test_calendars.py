"""Dates and times are numbers with a calendar: conversions, and the same numbers from every source."""

from __future__ import annotations

import datetime
import math
import sqlite3
from contextlib import nullcontext
from itertools import permutations
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import juror
from juror.domain import Domain
from juror.domain.binning import binned_variable
from juror.errors import DataError, ParameterError, QueryError
from juror.readers import open_source
from juror.readers.calendars import UNITS, Calendar, finer, united_calendar
from juror.readers.columns import Column
from juror.readers.databases import scan_query
from juror.readers.files import scan_path
from juror.readers.joining import read_whole
from juror.readers.opening import open_scan
from juror.readers.scans import scan_columns
from juror.readers.tallies import Tally, take_census
from juror.runners.local import LocalRunner

units = st.sampled_from(UNITS)
# Python's years, less those at the ends, in which a zone may lead out of them
moments = st.datetimes(datetime.datetime(2, 1, 1), datetime.datetime(9998, 12, 31))
ZONES = [None, "UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "+05:45", "-03:00"]
zones = st.sampled_from(ZONES)


LENGTHS = {"D": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}


def in_unit(nanoseconds, unit):
    return nanoseconds // LENGTHS[unit]


def nanoseconds_of(moment):
    """The definition: nanoseconds since 1970 by the clock."""
    since = moment.replace(tzinfo=None) - datetime.datetime(1970, 1, 1)
    return (since // datetime.timedelta(microseconds=1)) * 1000


# Conversions


@settings(deadline=None)
@given(moment=moments, unit=units, zone=zones)
def test_a_number_is_written_and_read_back(moment, unit, zone):
    assume(unit != "ns" or 1678 <= moment.year < 2262)  # NumPy has no others
    assume(unit != "D" or zone in (None, "UTC"))
    calendar = Calendar(unit, zone)
    number = in_unit(nanoseconds_of(moment), unit)
    assert calendar.number(calendar.text(number)) == number


@settings(deadline=None)
@given(moment=moments, unit=units)
def test_all_forms_of_a_moment_are_one_number(moment, unit):
    calendar, exact = Calendar(unit), nanoseconds_of(moment)
    number = calendar.number(moment)
    assert math.floor(number) == in_unit(exact, unit)
    assert isinstance(number, int) == (exact % LENGTHS[unit] == 0)
    assert number == pytest.approx(exact / LENGTHS[unit], rel=1e-15)
    for other in (moment.isoformat(), moment.isoformat(" "), np.datetime64(moment), pd.Timestamp(moment)):
        assert calendar.number(other) == number
    assert Calendar("D").number(moment.date()) == moment.date().toordinal() - datetime.date(1970, 1, 1).toordinal()


@settings(deadline=None)
@given(moment=moments, zone=st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"]))
def test_zoned_times_are_numbers_of_utc(moment, zone):
    aware = moment.replace(tzinfo=ZoneInfo(zone))
    calendar = Calendar("us", zone)
    expected = nanoseconds_of(aware.astimezone(datetime.UTC)) // 1000
    assert calendar.number(aware) == expected
    # without a zone a time is one of the calendar's
    assert calendar.number(moment) == expected
    assert calendar.number(aware.isoformat()) == expected
    assert Calendar("us", "UTC").number(aware) == expected
    assert Calendar("us").number(aware) is None


def test_an_hour_that_occurs_twice_has_its_offset():
    berlin = Calendar("s", "Europe/Berlin")
    first = berlin.number("2023-10-29 02:30")
    assert berlin.text(first) == "2023-10-29 02:30"
    assert berlin.text(first + 3600) == "2023-10-29 02:30+01:00"
    assert berlin.number("2023-10-29 02:30+01:00") == first + 3600
    again = datetime.datetime(2023, 10, 29, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin"))
    assert berlin.number(again) == berlin.number(pd.Timestamp(again)) == first + 3600
    midnight = Calendar("s", "America/Havana")  # clocks are put back from 1 to 0 there
    twice = midnight.number("2023-11-05") + 3600
    assert midnight.number(midnight.text(twice)) == twice


@pytest.mark.parametrize(
    ("unit", "number", "text"),
    [
        ("D", 0, "1970-01-01"),
        ("D", -1, "1969-12-31"),
        ("s", 60, "1970-01-01 00:01"),
        ("s", 61, "1970-01-01 00:01:01"),
        ("ns", -1, "1969-12-31 23:59:59.999999999"),
        ("us", 500_000, "1970-01-01 00:00:00.5"),
        ("ms", 86_400_000, "1970-01-02"),
        ("D", 2_932_896, "9999-12-31"),
        ("D", -719_162, "0001-01-01"),
    ],
)
def test_how_a_number_is_written(unit, number, text):
    assert Calendar(unit).text(number) == text
    assert Calendar(unit).number(text) == number


@pytest.mark.parametrize(
    "value",
    [
        "2024-02-30", "2024-13-01", "2024-3-1", "2024-03", "2024", "20240301", "01.03.2024", "2024-03-01 25:00",
        "today", "", "2024-03-01 12", "٢٠٢٤-03-01", None, 5, 2.5, True, pd.NaT, np.datetime64("NaT"), datetime.time(1),
        [1],
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_date(value):
    assert Calendar("s").number(value) is None


def test_a_time_in_a_calendar_of_days_has_a_fraction():
    days = Calendar("D")
    assert days.number("2024-03-01 12:00") == 19_783.5
    assert 19_783 < days.number("2024-03-01 00:00:00.000000001") < 19_784
    assert 19_782 < days.number("2024-02-29 23:59:59.999999999") < 19_783
    assert Calendar("s").number("2300-01-01 00:00:00.000000001") > Calendar("s").number("2300-01-01")


@pytest.mark.parametrize("unit", ["Y", "M", "W", "h", "m"])
def test_other_units_of_numpy(unit):
    assert Calendar("s").number(np.datetime64(-3, unit)) == Calendar("s").number(
        str(np.datetime64(-3, unit).astype("M8[s]"))
    )


def test_calendars_that_make_no_sense():
    with pytest.raises(ParameterError, match=r"must be one of \['D', 's', 'ms', 'us', 'ns'\]\. Got 'h'"):
        Calendar("h")
    with pytest.raises(ParameterError, match="no room for numbers of unit 's'"):
        Calendar("s", stored="D")
    with pytest.raises(
        DataError, match=r"The time zone 'Europe/Atlantis' is not known here\. Install the package tzdata"
    ):
        Calendar("s", "Europe/Atlantis")


@pytest.mark.parametrize(("one", "other"), list(permutations(UNITS, 2)))
def test_the_finer_unit(one, other):
    assert finer(one, other) == UNITS[max(UNITS.index(one), UNITS.index(other))]
    united = united_calendar("a", Calendar(one), Calendar(other))
    assert united == Calendar(finer(one, other))
    with pytest.raises(DataError, match="'a' holds times with a time zone in some rows and without in others"):
        united_calendar("a", Calendar(one, "UTC"), Calendar(other))
    with pytest.raises(DataError, match="'a' holds dates or times in some rows and numbers in others"):
        united_calendar("a", Calendar(one), None)


# Arrays

TYPES = [
    pa.date32(), pa.timestamp("s"), pa.timestamp("ms"), pa.timestamp("us"), pa.timestamp("ns"),
    pa.timestamp("s", "UTC"), pa.timestamp("ns", "Europe/Berlin"), pa.timestamp("us", "+02:00"),
]  # fmt: skip
CELLS = [datetime.datetime(1912, 4, 15), None, datetime.datetime(2024, 2, 29), datetime.datetime(1912, 4, 15)]


def typed(type_):
    """The cells as an Arrow array; those of a zone are at midnight in UTC."""
    return pa.array(CELLS, pa.timestamp("s", getattr(type_, "tz", None) and "UTC")).cast(type_)


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_a_column_comes_back_as_it_went_in(type_):
    array = typed(type_)
    (column,) = open_source(pa.table({"a": array}))
    assert (column.form, column.values.dtype) == ("number", np.int64)
    assert column.calendar == Calendar.of_type(type_)
    assert column.calendar.arrow_type == type_
    missing = column.index < 0
    assert missing.tolist() == [False, True, False, False]
    numbers = np.append(column.values, 0)[column.index]
    assert column.calendar.to_arrow(numbers, missing).equals(array)
    whole = array.drop_null()
    assert column.calendar.to_arrow(numbers[~missing]).equals(whole)
    # the same in the coarsest unit
    days = Tally.of(column).in_needed_unit()
    assert days.calendar.arrow_type == type_
    assert days.calendar.to_arrow(days.values).equals(whole.unique())
    expected = [np.datetime64(cell) for cell in CELLS if cell is not None]
    assert (
        column.calendar.to_numpy(numbers[~missing]).tolist()
        == np.array(expected, f"M8[{days.calendar.stored}]").tolist()
    )


def test_days_of_milliseconds():
    array = pa.array([datetime.date(1969, 12, 31), None], pa.date64())
    (column,) = open_source(pa.table({"a": array}))
    assert (column.values.tolist(), column.calendar) == ([-1], Calendar("D"))


def test_numbers_that_have_no_room():
    with pytest.raises(DataError, match="'a' holds 9999-12-31, for which its type has no room in the unit 'ns'"):
        Calendar("D").converted(np.array([0, 2_932_896]), "ns", "a")
    with pytest.raises(DataError, match="no room for days so far from 1970"):
        Calendar("D").to_arrow(np.array([2**40]))


# Sources

DAYS = [datetime.date(1969, 7, 20), None, datetime.date(2024, 2, 29), datetime.date(1969, 7, 20)]
TIMES = [None if day is None else datetime.datetime(day.year, day.month, day.day, 12, 30) for day in DAYS]
TEXTS = {"day": [day and day.isoformat() for day in DAYS], "at": [time and time.isoformat(" ") for time in TIMES]}


def written(folder, name, write):
    write(folder / name)
    return open_scan(folder / name)


def small_csv(path):
    rows = [",".join(cell or "" for cell in row) for row in zip(*TEXTS.values(), strict=True)]
    path.write_text("day,at\n" + "\n".join(rows) + "\n")


def small_sqlite(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (day DATE, at TIMESTAMP)")
    connection.executemany("INSERT INTO t VALUES (?, ?)", zip(*TEXTS.values(), strict=True))
    connection.commit()
    connection.close()


def from_sqlite(folder):
    small_sqlite(folder / "t.db")
    return scan_query("SELECT * FROM t", f"sqlite:///{folder / 't.db'}")


ARROW = pa.table({"day": pa.array(DAYS), "at": pa.array(TIMES)})
# What has no dates has times at midnight
MIDNIGHTS = [day and datetime.datetime(day.year, day.month, day.day) for day in DAYS]
SOURCES = {
    "lists": lambda folder: open_scan({"day": DAYS, "at": TIMES}),
    "one row": lambda folder: open_scan({"day": DAYS[0], "at": TIMES[0]}),
    "pandas": lambda folder: open_scan(pd.DataFrame({"day": pd.to_datetime(MIDNIGHTS), "at": pd.to_datetime(TIMES)})),
    "pandas in nanoseconds": lambda folder: open_scan(
        pd.DataFrame({"day": MIDNIGHTS, "at": TIMES}).astype("datetime64[ns]")
    ),
    "pandas, objects": lambda folder: open_scan(pd.DataFrame({"day": DAYS, "at": pd.Series(TIMES, dtype=object)})),
    "pandas, Arrow's types": lambda folder: open_scan(ARROW.to_pandas(types_mapper=pd.ArrowDtype)),
    "pandas, categories": lambda folder: open_scan(
        pd.DataFrame({"day": pd.Categorical(pd.to_datetime(MIDNIGHTS)), "at": pd.to_datetime(TIMES)})
    ),
    "polars": lambda folder: open_scan(pl.DataFrame({"day": DAYS, "at": TIMES})),
    "polars, lazy": lambda folder: open_scan(pl.LazyFrame({"day": DAYS, "at": TIMES})),
    "arrow": lambda folder: open_scan(ARROW),
    "arrow, two chunks": lambda folder: open_scan(pa.concat_tables([ARROW.slice(0, 2), ARROW.slice(2)])),
    "arrow, stored as dictionaries": lambda folder: open_scan(
        pa.table({name: ARROW[name].dictionary_encode() for name in ARROW.column_names})
    ),
    "stream": lambda folder: open_scan(ARROW.to_reader(2)),
    "array of objects": lambda folder: open_scan(
        np.array([DAYS, TIMES], dtype=object).T.copy(), expected=None
    ),
    "csv": lambda folder: written(folder, "t.csv", small_csv),
    "parquet": lambda folder: written(folder, "t.parquet", lambda path: parquet.write_table(ARROW, path)),
    "feather": lambda folder: written(folder, "t.arrow", lambda path: feather.write_feather(ARROW, path)),
    "duckdb": lambda folder: open_scan(duckdb.sql("SELECT * FROM ARROW")),
    "sqlite": from_sqlite,
}  # fmt: skip


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_has_the_same_dates(source, tmp_path):
    scan = SOURCES[source](tmp_path)
    columns = read_whole(scan)
    names = [column.name for column in columns]
    assert scan.numbers == set(names)
    n_rows = 1 if source == "one row" else 4
    for column, cells in zip(columns, (DAYS, TIMES), strict=True):
        expected = [column.calendar.number(cell) for cell in cells[:n_rows]]
        assert [None if i < 0 else column.values[i].item() for i in column.index] == expected
        assert column.values.dtype == np.int64
    with LocalRunner(1) as runner:
        tallies = take_census(scan, runner, 1000).tallies
    day, at = (tally.in_needed_unit() for tally in tallies)
    assert (day.calendar.unit, at.calendar.unit) == ("D", "s")
    assert [day.calendar.text(number) for number in day.values] == ["1969-07-20", "2024-02-29"][: n_rows // 2 + 1]
    assert at.counts.tolist() == [2, 1][: n_rows // 2 + 1] or n_rows == 1


@pytest.mark.parametrize(
    ("cells", "form", "zone"),
    [
        (["2024-03-01", "1890-05-01"], "number", None),
        (["2024-03-01", "2024-03-01 12:30"], "number", None),
        (["2024-03-01T12:30:00.25", "2024-03-01 12:30"], "number", None),
        (["2024-03-01T12:30:00Z", "2024-03-01 12:30:00+02:00"], "number", "UTC"),
        (["2024-03-01", "unknown"], "text", None),
        (["2024-03-01", "2024-02-30"], "text", None),
        (["2024-03-01", "5"], "text", None),
        (["2024-03-01T12:30:00Z", "2024-03-01 12:30"], "text", None),
        (["01.03.2024", "02.03.2024"], "text", None),
    ],
)
@pytest.mark.parametrize("blocks", ["one block", "many blocks"])
def test_columns_of_csv_files(cells, form, zone, blocks, tmp_path, monkeypatch):
    """A column is dates if all its cells are, wherever in the file they are."""
    if blocks == "many blocks":
        monkeypatch.setattr("juror.readers.csv_types.SMALL_FILE", 1)
        monkeypatch.setattr("juror.readers.csv_files.SMALL_BYTES", 0)
        monkeypatch.setattr("juror.readers.csv_files.settle_types.__defaults__", ((), 1, 256))
    rows = [cells[0]] * 40 + cells[1:] + [""]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join(f"{cell},x" for cell in rows) + "\n")
    has_offset = any("+02:00" in cell for cell in cells)
    with pytest.warns(juror.DataWarning, match="'2024-03-01 12:30:00.02:00'") if has_offset else nullcontext():
        column = read_whole(scan_path(tmp_path / "t.csv"))[0]
    assert (column.form, column.calendar and column.calendar.zone) == (form, zone)
    assert column.index[-1] == -1
    if form == "number":
        assert [column.values[i] for i in column.index[:-1]] == [column.calendar.number(cell) for cell in rows[:-1]]


def test_markers_among_dates(tmp_path):
    (tmp_path / "t.csv").write_text("a\n2024-03-01\n9999-12-31\nn/a\n")
    for missing in (["n/a", "9999-12-31"],):
        (column,) = read_whole(scan_path(tmp_path / "t.csv", missing))
        assert (column.values.tolist(), column.index.tolist()) == ([19_783], [0, -1, -1])
    (column,) = open_source({"a": [datetime.date(2024, 3, 1), datetime.date(9999, 12, 31)]}, ["9999-12-31", 19_783])
    # a number is no date
    assert (column.values.tolist(), column.index.tolist()) == ([19_783], [0, -1])


def test_dates_in_the_names_of_folders(tmp_path):
    for day in ("2024-03-01", "2024-03-02"):
        (tmp_path / f"day={day}").mkdir()
        parquet.write_table(pa.table({"a": ["x"]}), tmp_path / f"day={day}" / "t.parquet")
    by_name = {column.name: column for column in read_whole(scan_path(tmp_path))}
    assert (by_name["day"].values.tolist(), by_name["day"].calendar) == ([19_783, 19_784], Calendar("D"))
    as_text = {column.name: column for column in read_whole(scan_path(tmp_path, text=["day"]))}
    assert as_text["day"].form == "text"


def test_files_whose_dates_have_different_types(tmp_path):
    types = {"a": pa.timestamp("s"), "b": pa.timestamp("ns")}
    for name, type_ in types.items():
        parquet.write_table(pa.table({"at": typed(type_)}), tmp_path / f"{name}.parquet")
    (column,) = read_whole(scan_path(tmp_path))
    assert column.calendar == Calendar("ns")
    assert len(column.values) == 2
    parquet.write_table(pa.table({"at": typed(pa.date32())}), tmp_path / "c.parquet")
    with pytest.raises(DataError, match=r"holds times \(timestamp\[ms\]\) in .* and dates \(date32\[day\]\) in"):
        scan_path(tmp_path)


def test_text_that_looks_like_dates_in_sqlite(tmp_path):
    small_sqlite(tmp_path / "t.db")
    uri = f"sqlite:///{tmp_path / 't.db'}"
    (day, at) = read_whole(scan_query("SELECT * FROM t", uri, text=["day"]))
    assert (day.form, at.form) == ("text", "number")
    (odd, none) = read_whole(scan_query("SELECT day || 'x' AS odd, NULL AS none FROM t", uri))
    assert (odd.form, none.calendar) == ("text", None)
    (marked,) = read_whole(scan_query("SELECT coalesce(day, 'it''s') AS day FROM t", uri, ["it's"]))
    assert (marked.index < 0).tolist() == [False, True, False, False]


# Tallies


def column_of(numbers, calendar):
    values, index = np.unique(np.asarray(numbers, dtype=np.int64), return_inverse=True)
    return Column("at", "number", values, index.astype(np.int32), calendar=calendar)


@settings(deadline=None)
@given(pieces=st.lists(st.lists(st.integers(-(10**6), 10**6), min_size=1), min_size=1, max_size=4), unit=units)
def test_tallies_of_pieces_are_those_of_the_whole(pieces, unit):
    numbers = [number for piece in pieces for number in piece]
    whole = Tally.of(column_of(numbers, Calendar(unit)))
    joined = Tally.of(column_of(pieces[0], Calendar(unit)))
    for piece in pieces[1:]:
        joined += Tally.of(column_of(piece, Calendar(unit)))
    assert np.array_equal(whole.values, joined.values)
    assert np.array_equal(whole.counts, joined.counts)
    assert (whole.calendar, whole.needed, whole.highest) == (joined.calendar, joined.needed, joined.highest)
    coarse = joined.in_needed_unit()
    assert coarse.counts.sum() == len(numbers)
    assert coarse.calendar.unit == whole.needed
    assert Calendar(coarse.calendar.unit).converted(coarse.values, unit).tolist() == whole.values.tolist()


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_tallies_of_different_units(order):
    """Midnights in days, a noon in seconds, a midnight in nanoseconds: the whole is in seconds."""
    pieces = [
        column_of([0, 1], Calendar("D")),
        column_of([43_200, 86_400], Calendar("s")),
        column_of([-86_400 * 10**9], Calendar("ns")),
    ]
    first, second, third = (Tally.of(pieces[n]) for n in order)
    whole = (first + second + third).in_needed_unit()
    assert whole.values.tolist() == [-86_400, 0, 43_200, 86_400]
    assert whole.counts.tolist() == [1, 1, 1, 2]
    assert whole.calendar == Calendar("s", stored="ns")
    assert whole.highest == 86_400


def test_many_times_are_grouped_and_keep_their_unit(monkeypatch):
    monkeypatch.setattr("juror.readers.tallies._MOST_NUMBERS", 8)
    seconds = np.arange(100) * 10**9
    tally = Tally.of(column_of(seconds[:50], Calendar("ns"))) + Tally.of(column_of(seconds[50:], Calendar("ns")))
    assert tally.dropped
    coarse = tally.in_needed_unit()
    assert (coarse.calendar.unit, coarse.highest, coarse.counts.sum()) == ("s", 99, 100)
    assert len(coarse.values) <= 8


def test_dates_beside_numbers_are_refused():
    dates, numbers = Tally.of(column_of([1], Calendar("D"))), Tally.of(column_of([1], None))
    with pytest.raises(DataError, match="'at' holds dates or times in some rows and numbers in others"):
        dates + numbers
    scan = scan_columns([column_of([1], Calendar("D"))])
    assert scan.numbers == {"at"}
    with pytest.raises(DataError, match="must hold a number in every row to be the weights"):
        Domain.infer({"a": ["x", "y"], "w": [datetime.date(2024, 1, 1)] * 2}, sample_weight="w")
    with pytest.raises(DataError, match="Column 'a' holds dates or times, and variable 'a' has none"):
        Domain.infer({"a": [1, 2]}).encode({"a": [datetime.date(1970, 1, 2)]})


# Edges

SIXTY_DAYS = pd.date_range("2020-01-01", periods=60)
EDGES = ["2020-01-01", "2020-02-01", "2022-01-01"]


@pytest.mark.parametrize(
    "column",
    [
        SIXTY_DAYS,
        pl.Series(SIXTY_DAYS.to_numpy()).cast(pl.Datetime("us")),
        SIXTY_DAYS.to_numpy(),
        [*SIXTY_DAYS],
        SIXTY_DAYS.tz_localize("UTC"),
        [*SIXTY_DAYS.date],
    ],
    ids=["pandas", "polars", "numpy", "timestamps", "UTC", "dates"],
)
def test_days_that_are_cut_at_edges_stay_days(column):
    variable = Domain.infer({"a": column}, edges={"a": EDGES})["a"]
    assert variable.calendar.unit == "D"
    assert variable.labels == ("[2020-01-01, 2020-02-01)", "[2020-02-01, 2022-01-01]")
    assert variable.has_mass(variable.number("2020-01-05"))


def test_days_of_a_file_that_are_cut_at_edges_stay_days(tmp_path):
    path = tmp_path / "days.parquet"
    pd.DataFrame({"a": SIXTY_DAYS}).to_parquet(path)
    model = juror.fit(path, 1, "em", edges={"a": EDGES})
    assert model.prob("a = 2020-01-05") == pytest.approx(1 / 60, rel=0.1)
    assert set(model.sample(20, seed=0)["a"].dt.hour) == {0}


def test_an_edge_at_a_time_of_day_makes_days_seconds():
    edges = ["2020-01-01", "2020-02-01 12:00", "2022-01-01"]
    variable = Domain.infer({"a": SIXTY_DAYS}, edges={"a": edges})["a"]
    assert variable.calendar.unit == "s"
    assert variable.labels == ("[2020-01-01, 2020-02-01 12:00)", "[2020-02-01 12:00, 2022-01-01]")


def test_a_column_without_any_date_may_be_cut_at_edges():
    empty = pd.DataFrame({"a": pd.Series([None] * 3, dtype="datetime64[us]")})
    assert Domain.infer(empty, edges={"a": EDGES})["a"].calendar.unit == "D"


def test_an_edge_may_lie_beyond_what_the_type_of_the_column_holds():
    frame = pd.DataFrame({"a": SIXTY_DAYS.astype("datetime64[ns]")})
    assert Domain.infer(frame, edges={"a": ["0001-01-01", "9999-12-31"]})["a"].labels == ("[0001-01-01, 9999-12-31]",)


# Dates that stand for never and always

RECENT = [datetime.datetime(2020, 1, 1) + datetime.timedelta(3 * n) for n in range(97)]


@pytest.mark.parametrize("sentinel", [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31)])
@pytest.mark.parametrize("type_", [pa.date32(), pa.timestamp("s"), pa.timestamp("us", "Asia/Kolkata")], ids=str)
def test_the_law_ends_with_the_calendar(sentinel, type_):
    column = pa.array([sentinel] * 3 + RECENT).cast(type_)
    model = juror.fit({"end": column}, 1, "em")
    low, high = model.domain["end"].calendar.ends
    ends = model.domain["end"].inside.at(np.array([0, model.domain["end"].cardinality - 1]), np.array([0.0, 1.0]))
    assert low <= ends[0] < ends[1] <= high
    lowest, highest = model.quantile("end", [0.0, 1.0])
    assert (lowest.year == 1) == (sentinel.year == 1)
    assert (highest.year == 9999) == (sentinel.year == 9999)


def test_the_last_microsecond_is_a_date():
    moments = [datetime.datetime.max] * 3 + [day + datetime.timedelta(microseconds=1) for day in RECENT]
    model = juror.fit({"end": pa.array(moments)}, 1, "em")
    assert model.domain["end"].calendar.unit == "us"
    assert model.quantile("end", 1.0).year == 9999
    assert model.sample(100, seed=0)["end"].max().year <= 9999


def test_only_the_tail_beyond_the_calendar_is_left_out():
    days = np.array([datetime.date(9999, 12, day).toordinal() - 719_163 for day in range(1, 31)])
    counts, edges = np.ones(len(days)), [int(days[0]), int(days[9]), int(days[-1])]
    free = binned_variable("a", edges, days, counts, open_ended=True).law
    law = binned_variable("a", edges, days, counts, open_ended=True, calendar=Calendar("D")).law
    inner = law.grid.positions(np.arange(days[0] - 200, days[-1] + 3))
    np.testing.assert_allclose(law.below(inner), free.below(inner) / free.below(inner[-1:]))
    assert law.below(inner[-1:])[0] == pytest.approx(1)
    assert free.below(inner[-1:])[0] < 0.999


def test_dates_that_python_does_not_have_are_named():
    far = np.array(["12000-04-11"] * 10 + [str(day.date()) for day in RECENT], dtype="M8[s]")
    model = juror.fit({"end": far}, 1, "em")
    with pytest.raises(DataError, match="The date 12000-04-11 is not between 0001-01-01 and 9999-12-31"):
        model.quantile("end", 1.0)
    assert model.sample(200, frame="pyarrow", seed=0).num_rows == 200


# What is said of dates that a column does not have

ADMISSIONS = pd.DataFrame({"day": SIXTY_DAYS, "sex": ["f", "m"] * 30})
OPEN, CLOSED = juror.fit(ADMISSIONS, 1, "em"), juror.fit(ADMISSIONS, 1, "em", edges={"day": EDGES})
FORMS = "Write dates like 2024-03-01, and times like 2024-03-01 12:30."
ZONE = "It has a time zone, and the column has none: leave the zone out."


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("day = 2020-02-30", "Variable 'day' has no label '2020-02-30'. There is no such date."),
        ("day != 2020-02-30", "Variable 'day' has no label '2020-02-30'. There is no such date."),
        ("day = '2020-02-03 25:00'", "Variable 'day' has no label '2020-02-03 25:00'. There is no such time."),
        ("day = '2020-02-03 12:00Z'", f"Variable 'day' has no label '2020-02-03 12:00Z'. {ZONE}"),
        ("day = 18300", f"Variable 'day' has no label '18300'. {FORMS}"),
        ("day >= 2020-03", f"'2020-03' is neither a date nor an interval of 'day'. {FORMS}"),
        ("day >= 2020-02-30", "'2020-02-30' is neither a date nor an interval of 'day'. There is no such date."),
        (
            "day < '2020-02-03 12:00+01:00'",
            f"'2020-02-03 12:00+01:00' is neither a date nor an interval of 'day'. {ZONE}",
        ),
    ],
)
def test_questions_about_what_is_no_date(condition, words):
    with pytest.raises(QueryError) as caught:
        OPEN.prob(condition)
    assert str(caught.value).splitlines()[0] == words


def test_edges_of_dates_are_shown_as_dates():
    with pytest.raises(QueryError, match=r"Its edges are \['2020-01-01', '2020-02-01', '2022-01-01'\]\."):
        CLOSED.prob("day = 2026-01-01")


@pytest.mark.parametrize(
    ("cell", "written"), [(pd.Timestamp("2026-01-01"), "2026-01-01"), ("2026-01-01", "'2026-01-01'")]
)
def test_a_cell_outside_edges_of_dates(cell, written):
    words = f"Column 'day' holds {written} in row 0, which is outside its edges 2020-01-01 to 2022-01-01. Pass unknown="
    with pytest.raises(DataError, match=words):
        CLOSED.log_prob({"day": [cell]})


# Filling


HOLES = pd.DataFrame(
    {
        "seen": pd.Series(pd.date_range("2021-01-01", periods=60)).mask(np.arange(60) % 7 == 0),
        "left": pd.Series(pd.date_range("2021-01-01 00:30", periods=60, freq="7h", tz="Europe/Berlin")).mask(
            np.arange(60) % 5 == 0
        ),
        "kind": ["a", "b"] * 30,
    }
)


@pytest.fixture(scope="module")
def of_holes():
    return juror.fit(HOLES, 2, "em", missing_as={})


@pytest.mark.parametrize("kind", ["dict", "lists", "parquet", "lazy", "relation"])
def test_what_is_no_frame_is_filled_with_dates(kind, of_holes, tmp_path):
    HOLES.to_parquet(tmp_path / "holes.parquet")
    table = pa.Table.from_pandas(HOLES)
    data = {
        "dict": lambda: dict(HOLES),
        "lists": table.to_pydict,
        "parquet": lambda: str(tmp_path / "holes.parquet"),
        "lazy": lambda: pl.from_pandas(HOLES).lazy(),
        "relation": lambda: duckdb.from_arrow(table),
    }[kind]()
    filled, expected = of_holes.impute(data), of_holes.impute(HOLES)
    assert filled.dtypes.astype(str).str.startswith(("datetime64", "str", "object")).all()
    for name in HOLES:
        assert filled[name].tolist() == expected[name].tolist()


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_days_fill_a_column_of_times(kind):
    days = [datetime.date(2021, 1, 1) + datetime.timedelta(days=d) for d in range(60)]
    model = juror.fit({"seen": days}, 1, "em")
    (filled,) = model.impute({"seen": [None]})["seen"]
    holes = kind({"seen": [datetime.datetime(2021, 2, 3), None]})
    assert pa.table(model.impute(holes))["seen"].to_pylist()[1] == datetime.datetime.combine(filled, datetime.time())


def test_times_that_a_column_of_days_cannot_hold_are_named():
    noons = [datetime.datetime(2021, 1, 1, 12) + datetime.timedelta(days=d) for d in range(60)]
    model = juror.fit({"seen": noons}, 1, "em")
    with pytest.raises(DataError, match=r"has no room for \['2021-\d\d-\d\d 12:00'\] in its holes"):
        model.impute(pl.DataFrame({"seen": [datetime.date(2021, 2, 3), None]}))
