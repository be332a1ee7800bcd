"""Threads under the contract of runners, and runners that break it."""

from __future__ import annotations

import gc
import operator
import subprocess
import sys
import weakref
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import reduce
from textwrap import dedent
from threading import Barrier, Event

import pytest

from juror.runners.local import LocalRunner
from runner_contract import RunnerContract, broken_promises, first_are_slow


@pytest.fixture(params=[1, 4])
def runner(request):
    with LocalRunner(request.param) as runner:
        yield runner


class TestLocalRunner(RunnerContract):
    pass


class Wrong(LocalRunner):
    """Threads, and one thing that they do wrong."""

    def __init__(self):
        super().__init__(2)


class MergesWhatComesFirst(Wrong):
    def map_reduce(self, fn, parts, merge):
        with ThreadPoolExecutor(8) as pool:
            done = as_completed([pool.submit(fn, part) for part in parts])
            return reduce(merge, (future.result() for future in done))


class CountsARetryTwice(Wrong):
    def map_reduce(self, fn, parts, merge):
        return super().map_reduce(fn, [*parts, parts[-1]], merge)


class WrapsErrors(Wrong):
    def map_reduce(self, fn, parts, merge):
        try:
            return super().map_reduce(fn, parts, merge)
        except Exception as error:
            raise AssertionError("A task failed.") from error


class RemembersFunctionsByName(Wrong):
    def __init__(self):
        super().__init__()
        self._results = {}

    def map_reduce(self, fn, parts, merge):
        name = (getattr(fn, "func", fn).__name__, str(parts))
        if name not in self._results:
            self._results[name] = super().map_reduce(fn, parts, merge)
        return self._results[name]


class LoadsAtEveryPass(Wrong):
    def keep(self, load, parts):
        runner = self

        class Kept:
            def map_reduce(self, fn, merge):
                return runner.map_reduce(lambda part: fn(load(part)), parts, merge)

            def release(self):
                pass

        return Kept()


BROKEN = {
    MergesWhatComesFirst: {"test_results_are_merged_in_the_order_of_parts"},
    CountsARetryTwice: {"test_every_part_counts_once", "test_files_are_read_where_the_work_is_done"},
    WrapsErrors: {"test_an_error_arrives_as_it_was"},
    RemembersFunctionsByName: {"test_two_functions_of_one_name_are_two"},
    LoadsAtEveryPass: {
        "test_what_is_kept_is_loaded_once",
        "test_what_is_kept_can_be_released",
        "test_an_error_of_loading_arrives_as_it_was",
    },
}


@pytest.mark.parametrize("wrong", BROKEN, ids=lambda wrong: wrong.__name__)
def test_a_wrong_runner_is_found(wrong, tmp_path):
    with wrong() as runner:
        assert broken_promises(runner, tmp_path) >= BROKEN[wrong]


def test_a_right_runner_breaks_nothing(tmp_path):
    with LocalRunner(2) as runner:
        assert broken_promises(runner, tmp_path) == set()


class TestWorkInsideOfWork:
    """A task may ask the runner that runs it. Free threads help it; it waits for no thread that is busy."""

    def test_a_free_thread_helps(self):
        both = Barrier(2, timeout=60)

        def task(number):
            # Only the first task is long, so a thread is free while it asks.
            return list(runner.map(lambda _: both.wait(), range(2))) if number == 0 else []

        with LocalRunner(2) as runner:
            waited = [len(found) for found in runner.map(task, range(2))]
        assert waited == [2, 0]

    @pytest.mark.parametrize("n_jobs", [1, 2, 3])
    def test_results_are_those_of_one_thread(self, n_jobs):
        def total(number):
            return runner.map_reduce(lambda part: (number, part), range(5), operator.add)

        with LocalRunner(n_jobs) as runner:
            found = list(runner.map(total, range(7)))
        assert found == [sum(((number, part) for part in range(5)), ()) for number in range(7)]

    def test_an_error_inside_arrives(self):
        with LocalRunner(2) as runner, pytest.raises(ZeroDivisionError):
            list(runner.map(lambda number: list(runner.map(lambda part: 1 / part, [1, number])), [1, 0, 2]))

    def test_nothing_is_kept_for_a_thread_that_is_busy(self):
        """A long task may ask thousands of times, while the other thread is busy with another long task."""

        class Large:
            pass

        class Asks:
            def __init__(self):
                self.large = Large()

            def __call__(self, part):
                return part

        done, found = Event(), []

        def task(number):
            if number == 1:
                return done.wait(60)
            asks = Asks()
            found.append(weakref.ref(asks.large))
            list(runner.map(asks, range(2)))
            del asks
            gc.collect()
            found.append(found[0]() is None)
            return done.set()

        with LocalRunner(2) as runner:
            list(runner.map(task, range(2)))
        assert found[1]


def test_late_results_do_come_late():
    """The contract's slow function is what makes the order of completion differ from the order of parts."""
    with ThreadPoolExecutor(8) as pool:
        done = as_completed([pool.submit(first_are_slow, number, 8) for number in range(8)])
        assert reduce(operator.add, (future.result() for future in done)) != tuple(range(8))


def test_libraries_that_are_loaded_during_a_fit_have_one_thread_too():
    """In a new process, where scipy's library is not loaded yet; afterwards all limits are lifted."""
    code = """
    import threadpoolctl
    from juror.runners.blas import load_blas_of_kernels, one_blas_thread
    def threads():
        return [each["num_threads"] for each in threadpoolctl.threadpool_info() if each["user_api"] == "blas"]
    import numpy
    alone = max(threads())
    with one_blas_thread():
        before = len(threads())
        load_blas_of_kernels()
        print(len(threads()) > before, set(threads()))
    print(set(threads()) == {alone})
    """
    ran = subprocess.run([sys.executable, "-c", dedent(code)], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines() == ["True {1}", "True"]
