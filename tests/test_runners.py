"""Threads under the contract of runners, and runners that break it."""

from __future__ import annotations

import operator
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import reduce
from textwrap import dedent

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
