"""What every runner promises. A class of tests inherits it, and has a fixture ``runner``.

    class TestMyRunner(RunnerContract):
        pass

All that workers need stands at the top of this module, so they must be able to import it by its name: those of a local
Dask cluster have this process's ``sys.path``, others need this folder on their ``PYTHONPATH``. Workers must see the
folder ``tmp_path`` too.
"""

from __future__ import annotations

import operator
import os
import time
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from juror.errors import DataError
from juror.readers.arrow import from_arrow
from juror.readers.columns import Column

COLOURS = ["red", "blue", "green", "teal", "grey"]


@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file, as files have them: the worker opens the file."""

    path: str
    number: int

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        table = pq.ParquetFile(self.path).read_row_group(self.number)
        yield [from_arrow(name, table[name]) for name in table.column_names if names is None or name in names]


class NoChunks:
    """A part without rows."""

    def chunks(self, names: Collection[str] | None = None) -> Iterator[list[Column]]:
        return iter(())


def itself(value: Any) -> tuple[Any, ...]:
    return (value,)


def first_are_slow(number: int, n_parts: int) -> tuple[int, ...]:
    """Return a number, the smaller the later, so that no result comes in the order of parts."""
    time.sleep(0.003 * (n_parts - number))
    return (number,)


def one_tenth_to(power: int) -> float:
    return 10.0**-power


def fail_at(number: int, bad: int) -> int:
    if number == bad:
        raise DataError(f"Column 'colour' is unreadable in part {number}.")
    return number


def colours_of(part: Any) -> Counter[str]:
    counts: Counter[str] = Counter()
    for columns in part.chunks(["colour"]):
        for column in columns:
            counts.update(column.values[i] for i in column.index if i >= 0)
    return counts


def block(number: int, size: int) -> np.ndarray:
    return np.full(size, float(number))


def scale(number: int, by: np.ndarray) -> np.ndarray:
    # kernels are compiled for arrays as they were here
    assert by.flags.writeable
    assert by.dtype == np.float64
    return number * by


def load_noted(part: Any, folder: str) -> np.ndarray:
    """Load something from a part, and leave a note of it."""
    Path(folder, f"{part}-{uuid4()}").touch()
    return np.arange(float(part), float(part) + 3)


def weighted_sum(values: np.ndarray, weights: np.ndarray) -> float:
    return float(values @ weights)


def loads(folder: Path) -> dict[int, int]:
    """Return how many times each part was loaded, by the notes."""
    return Counter(int(note.name.split("-")[0]) for note in folder.iterdir())


def count_when_told(part: Any, folder: str) -> Counter[Any]:
    """Say that a part is begun and by whom, and count it when there is a file ``go``."""
    Path(folder, f"{part}-{os.getpid()}").touch()
    while not Path(folder, "go").exists():
        time.sleep(0.01)
    return Counter([part])


def begun(folder: Path) -> list[int]:
    """Return the processes that have begun a part, one for each time."""
    return [int(note.name.split("-")[1]) for note in folder.glob("*-*")]


def die(part: Any) -> None:
    os._exit(1)


def too_large(part: Any) -> None:
    raise MemoryError


def rows_of(part: Any) -> tuple[list[tuple[Any, ...]], set[int]]:
    """Return every row of a part, and the process that read them."""
    rows: list[tuple[Any, ...]] = []
    for columns in part.chunks():
        cells = [[column.values[i] if i >= 0 else None for i in column.index] for column in columns]
        rows += zip(*cells, strict=True)
    return rows, {os.getpid()}


def both(first: tuple[Any, Any], second: tuple[Any, Any]) -> tuple[Any, Any]:
    return first[0] + second[0], first[1] | second[1]


def write_files(folder: Path) -> tuple[list[Any], Counter[str]]:
    """Write small Parquet files of several row groups; return their parts and how many rows have which colour."""
    rng = np.random.default_rng(7)
    parts, counts = [], Counter()
    for name in ("a.parquet", "b.parquet"):
        colours = rng.choice(COLOURS, size=50).tolist()
        pq.write_table(pa.table({"colour": colours, "size": list(range(50))}), folder / name, row_group_size=20)
        parts += [RowGroup(str(folder / name), number) for number in range(3)]
        counts.update(colours)
    return parts, counts


class RunnerContract:
    """The promises, a test each."""

    def test_results_are_merged_in_the_order_of_parts(self, runner: Any) -> None:
        # more than any tree of merges takes at once, and no multiple of it
        late = partial(first_are_slow, n_parts=21)
        assert runner.map_reduce(late, list(range(21)), operator.add) == tuple(range(21))

    def test_every_part_counts_once(self, runner: Any) -> None:
        assert runner.map_reduce(itself, [5, 5, 5], operator.add) == (5, 5, 5)

    def test_a_single_part_is_not_merged(self, runner: Any) -> None:
        assert runner.map_reduce(itself, ["only"], operator.add) == ("only",)

    def test_a_sum_has_the_same_bits_again(self, runner: Any) -> None:
        sums = {runner.map_reduce(one_tenth_to, list(range(19)), operator.add) for _ in range(3)}
        assert len(sums) == 1
        assert sums.pop() == pytest.approx(10 / 9)

    def test_a_merge_may_return_new_values(self, runner: Any) -> None:
        total = runner.map_reduce(partial(block, size=4), list(range(10)), np.maximum)
        np.testing.assert_array_equal(total, np.full(4, 9.0))

    def test_large_results_arrive(self, runner: Any) -> None:
        total = runner.map_reduce(partial(block, size=650_000), [1, 2, 3], operator.add)
        np.testing.assert_array_equal(total, np.full(650_000, 6.0))

    def test_functions_hold_arrays(self, runner: Any) -> None:
        by = np.linspace(0.0, 1.0, 150_000)
        np.testing.assert_array_equal(runner.map_reduce(partial(scale, by=by), [1, 2, 3], operator.add), 6 * by)

    def test_two_functions_of_one_name_are_two(self, runner: Any) -> None:
        totals = [runner.map_reduce(partial(scale, by=np.array([by])), [1, 2], operator.add) for by in (1.0, 2.0)]
        assert [float(total[0]) for total in totals] == [3.0, 6.0]

    def test_an_error_arrives_as_it_was(self, runner: Any) -> None:
        with pytest.raises(DataError, match=r"^Column 'colour' is unreadable in part 3\.$"):
            runner.map_reduce(partial(fail_at, bad=3), list(range(6)), operator.add)
        # and is over then
        assert runner.map_reduce(partial(fail_at, bad=9), list(range(6)), operator.add) == 15

    def test_files_are_read_where_the_work_is_done(self, runner: Any, tmp_path: Path) -> None:
        parts, counts = write_files(tmp_path)
        assert runner.map_reduce(colours_of, parts, operator.add) == counts

    def test_parts_may_have_no_chunks(self, runner: Any, tmp_path: Path) -> None:
        parts, counts = write_files(tmp_path)
        assert runner.map_reduce(colours_of, [NoChunks(), *parts, NoChunks()], operator.add) == counts
        assert runner.map_reduce(colours_of, [NoChunks()], operator.add) == Counter()

    def test_what_is_kept_is_loaded_once(self, runner: Any, tmp_path: Path) -> None:
        kept = runner.keep(partial(load_noted, folder=str(tmp_path)), list(range(11)))
        sums = [kept.map_reduce(partial(weighted_sum, weights=np.full(3, w)), operator.add) for w in (1.0, 2.0, 1.0)]
        assert sums == [198.0, 396.0, 198.0]
        assert loads(tmp_path) == dict.fromkeys(range(11), 1)
        kept.release()

    def test_what_is_kept_stays_in_order(self, runner: Any, tmp_path: Path) -> None:
        kept = runner.keep(partial(first_are_slow, n_parts=11), list(range(11)))
        assert kept.map_reduce(itself, operator.add) == tuple((number,) for number in range(11))
        kept.release()

    def test_two_can_be_kept_at_once(self, runner: Any, tmp_path: Path) -> None:
        load = partial(load_noted, folder=str(tmp_path))
        first, second = runner.keep(load, [1, 2]), runner.keep(load, [2])
        add = partial(weighted_sum, weights=np.ones(3))
        first.release()
        assert second.map_reduce(add, operator.add) == 9.0
        assert loads(tmp_path) == {1: 1, 2: 2}
        second.release()

    def test_what_is_kept_can_be_released(self, runner: Any, tmp_path: Path) -> None:
        kept = runner.keep(partial(load_noted, folder=str(tmp_path)), [1, 2])
        kept.release()
        # there is nothing any more, and nobody loads it in silence
        with pytest.raises(Exception):  # noqa: B017, PT011
            kept.map_reduce(itself, operator.add)
        assert loads(tmp_path) == {1: 1, 2: 1}

    def test_an_error_of_loading_arrives_as_it_was(self, runner: Any) -> None:
        with pytest.raises(DataError, match=r"^Column 'colour' is unreadable in part 1\.$"):
            runner.keep(partial(fail_at, bad=1), [0, 1])

    def test_an_error_of_a_pass_leaves_what_is_kept(self, runner: Any, tmp_path: Path) -> None:
        kept = runner.keep(partial(fail_at, bad=-1), [0, 1, 2])
        with pytest.raises(DataError, match="in part 2"):
            kept.map_reduce(partial(fail_at, bad=2), operator.add)
        assert kept.map_reduce(partial(fail_at, bad=9), operator.add) == 3
        kept.release()


def broken_promises(runner: Any, folder: Path) -> set[str]:
    """Return the names of the tests that a runner does not pass."""
    broken = set()
    for name in dir(RunnerContract):
        if name.startswith("test_"):
            arguments = (
                {"tmp_path": folder / name} if "tmp_path" in getattr(RunnerContract, name).__annotations__ else {}
            )
            (folder / name).mkdir(parents=True)
            try:
                getattr(RunnerContract(), name)(runner=runner, **arguments)
            except (AssertionError, pytest.fail.Exception, DataError):
                broken.add(name)
    return broken
