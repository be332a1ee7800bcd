"""The progress bar knows how long a fit will take."""

from __future__ import annotations

import numpy as np
import pytest

import juror
from juror.cli import bar
from juror.progress import Progress


class Clock:
    def __init__(self):
        self.now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("juror.cli.bar.time", clock)
    return clock


def step(seconds_left, start=1):
    return Progress("fitting", 3, start, 10, 1, 1, -2.5, seconds_left=seconds_left)


class TestExpectedEnd:
    def test_time_goes_on_between_reports(self, clock):
        end = bar.ExpectedEnd()
        assert end.in_words() == ""
        end.told(step(60.0))
        assert end.in_words() == "about 1 min left"
        clock.now += 30.0
        assert end.in_words() == "about 30 s left"
        clock.now += 28.0
        assert end.in_words() == "a few s left"
        clock.now += 20.0
        assert end.in_words() == "longer than expected"

    def test_reports_that_follow_closely_move_the_end_little(self, clock):
        end = bar.ExpectedEnd()
        end.told(step(60.0))
        for seconds_left in (20.0, 100.0) * 20:
            clock.now += 0.01
            end.told(step(seconds_left))
        assert end.in_words() in ("about 55 s left", "about 1 min left")
        # After a while a report counts nearly whole.
        clock.now += 30.0
        end.told(step(600.0))
        assert end.in_words() == "about 10 min left"

    def test_the_share_never_falls(self, clock):
        end, shares = bar.ExpectedEnd(), []
        for seconds_left in (10.0, 40.0, 30.0, 20.0, 200.0, 10.0, 0.0):
            clock.now += 10.0
            end.told(step(seconds_left))
            shares.append(end.share)
        assert shares == sorted(shares)
        assert 0.0 < shares[0] < shares[-1] <= 1.0

    def test_steps_are_counted_where_nothing_tells_the_time(self, clock):
        end = bar.ExpectedEnd()
        end.told(step(None, start=4))
        assert end.share == pytest.approx(0.4)
        assert end.in_words() == ""


def told(codes, **options):
    steps = []
    domain = juror.Domain.from_cardinalities([3] * codes.shape[1])
    juror.fit(codes, domain=domain, n_jobs=1, progress=steps.append, **options)
    return steps


CODES = np.random.default_rng(0).integers(0, 3, (300, 4))


@pytest.mark.filterwarnings("ignore:The chains have not mixed well")
@pytest.mark.parametrize("options", [{"method": "em", "ensemble": 3}, {"sweeps": 60, "draws": 10}])
def test_fits_tell_the_time_that_is_left(options):
    left = [each.seconds_left for each in told(CODES, **options)]
    assert all(each >= 0.0 for each in left)
    # Nothing is left after the last report.
    assert left[-1] == 0.0
    assert sum(each == 0.0 for each in left) == 1
